"""Which properties of deliveries a scope cannot refute, whatever the protocol does.

Each answer is about all protocols: where it says that a property cannot be violated, no sequence of sends and deliveries
that the scope allows violates it. The tests hold the rules against all such sequences, by brute force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl import ir

Choice: TypeAlias = tuple[int, ...]
"""The destinations of a message."""

MANY = 2
"""As many sends as no rule asks for more than."""


def cannot_refute(workload: ir.Workload, property_: str) -> str | None:
    """Why no protocol violates the property in the scope; None where one may."""
    sending = _Sending.of(workload)
    if not any(sending.messages()):
        return "nobody sends a message" if property_ in _RULES else None
    rule = _RULES.get(property_)
    return None if rule is None or rule[0](sending) else rule[1]


@dataclass(frozen=True, slots=True)
class _Sending:
    """Who can send, how often (at most MANY), and to which sets of processes; who can be handed messages of whom."""

    counts: tuple[int, ...]
    choices: tuple[tuple[Choice, ...], ...]

    @staticmethod
    def of(workload: ir.Workload) -> _Sending:
        counts, choices = [], []
        for process in range(workload.processes):
            possible = tuple(choice for choice in workload.choices(process) if choice)
            number = MANY if isinstance(workload.sending, ir.AnyNumber) else workload.sends[process]
            counts.append(min(number, MANY) if possible else 0)
            choices.append(possible)
        return _Sending(tuple(counts), tuple(choices))

    @property
    def processes(self) -> range:
        return range(len(self.counts))

    def messages(self) -> Iterator[tuple[int, Choice]]:
        """The senders and destinations that a message may have."""
        for sender in self.processes:
            if self.counts[sender]:
                yield from ((sender, choice) for choice in self.choices[sender])

    def repeated(self) -> Iterator[tuple[int, Choice]]:
        """The messages that a sender may send another message after."""
        return ((sender, choice) for sender, choice in self.messages() if self.counts[sender] == MANY)

    def informed(self, sender: int, start: Choice) -> frozenset[int]:
        """The processes that may have a message of `sender` in their past, if those of `start` have; not the sender."""
        found, frontier = set(start) - {sender}, [*start]
        while frontier:
            process = frontier.pop()
            if process == sender or not self.counts[process]:
                continue
            for choice in self.choices[process]:
                frontier += [each for each in choice if each not in found]
                found |= {*choice} - {sender}
        return frozenset(found)


def _fifo(sending: _Sending) -> bool:
    return any(True for _ in sending.repeated())


def _causal(sending: _Sending) -> bool:
    return _fifo(sending) or any(
        late in choice
        for sender, first in sending.messages()
        for late in first
        for process in sending.informed(sender, tuple(other for other in first if other != late))
        if sending.counts[process]
        for choice in sending.choices[process]
    )


def _total_order(sending: _Sending) -> bool:
    found = list(sending.messages())
    return any(
        len({*one} & {*other}) > 1
        for at, (sender, one) in enumerate(found)
        for second, (process, other) in enumerate(found)
        if at < second or (at == second and sending.counts[sender] == MANY)
        if sender != process or sending.counts[sender] == MANY
    )


def _no_creation(sending: _Sending) -> bool:
    return any(len({*choice}) < len(sending.counts) for _, choice in sending.messages())


def _csps(sending: _Sending) -> bool:
    if len(sending.counts) > 1 and _fifo(sending):
        return True
    return any(
        len(choice) > 1 and sending.counts[process]
        for sender, choice in sending.messages()
        for process in choice
        if process != sender
    )


def _sps(sending: _Sending) -> bool:
    for sender, first in sending.messages():
        later = [choice for choice in sending.choices[sender] if sending.counts[sender] == MANY]
        later += [
            choice
            for process in sending.informed(sender, first if len(first) > 1 else ())
            if sending.counts[process]
            for choice in sending.choices[process]
        ]
        apart = any(other != sender and any(due != other for due in first) for other in sending.processes)
        if apart and any(destination != sender for choice in later for destination in choice):
            return True
    return False


_RULES = {
    "fifo": (_fifo, "no process sends two messages, of which one could overtake the other"),
    "causal": (_causal, "no message can come causally before another one to the same process"),
    "total_order": (_total_order, "no two messages have two destinations in common"),
    "at_most_once": (lambda sending: True, ""),
    "no_creation": (_no_creation, "every message goes to every process"),
    "csps": (_csps, "no message can be network-sent while one of another process in its causal past is undelivered"),
    "sps": (_sps, "no message can be network-sent while one in its causal past is undelivered elsewhere"),
}
