"""Which properties of deliveries a scope cannot refute, whatever the protocol does.

Each answer is about all protocols: where it says that a property cannot be violated, no sequence of sends and
deliveries that the scope allows violates it. The tests hold the rules against all such sequences, by brute force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.run.causality import History, delivered, network_sent, sent
from thence.dsl.run.values import Message
from thence.dsl.text.programs import receives

Choice: TypeAlias = tuple[int, ...]
"""The destinations of a message."""

MANY = 2
"""As many sends as no rule asks for more than."""

MOST_EXECUTIONS = 3_000
"""Prefixes of executions that are tried where a scope has programs; beyond, nothing is said."""


def cannot_refute(workload: ir.Workload, property_: str) -> str | None:
    """Why no protocol violates the property in the scope; None where one may."""
    if property_ not in _RULES:
        return None
    if workload.programs:
        if property_ == "delivered":
            return None
        return _UNDER_PROGRAMS if violable(workload, property_, MOST_EXECUTIONS) is False else None
    sending = _Sending.of(workload)
    if not any(sending.messages()) and not (property_ == "no_creation" and sending.to_nobody):
        return "nobody sends a message to anybody"
    possible, otherwise = _RULES[property_]
    return None if possible(sending) else otherwise


_UNDER_PROGRAMS = "no run that follows the programs can violate it"


@dataclass(frozen=True, slots=True)
class _Sending:
    """Who can send, how often (at most MANY), and to which sets of processes; whether some message goes to nobody."""

    counts: tuple[int, ...]
    choices: tuple[tuple[Choice, ...], ...]
    to_nobody: bool

    @staticmethod
    def of(workload: ir.Workload) -> _Sending:
        counts, choices, to_nobody = [], [], False
        for process in range(workload.processes):
            possible = tuple(choice for choice in workload.choices(process) if choice)
            number = MANY if isinstance(workload.sending, ir.AnyNumber) else workload.sends[process]
            counts.append(min(number, MANY) if possible else 0)
            choices.append(possible)
            to_nobody |= bool(number) and len(possible) < len(workload.choices(process))
        return _Sending(tuple(counts), tuple(choices), to_nobody)

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


def _anything(sending: _Sending) -> bool:
    return any(True for _ in sending.messages())


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
    return sending.to_nobody or any(len({*choice}) < len(sending.counts) for _, choice in sending.messages())


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
    "causally_ordered": (_causal, "no message can come causally before another one to the same process"),
    "total_order": (_total_order, "no two messages have two destinations in common"),
    "at_most_once": (_anything, ""),
    "delivered": (_anything, ""),
    "no_creation": (_no_creation, "every message goes to every process"),
    "csps": (_csps, "no message can be network-sent while one of another process in its causal past is undelivered"),
    "sps": (_sps, "no message can be network-sent while one in its causal past is undelivered elsewhere"),
}


# --- by brute force ----------------------------------------------------------------------------


def violable(workload: ir.Workload, property_: str, most: int) -> bool | None:
    """Whether some sequence of sends and deliveries in the scope violates the property; tries all, shortest first.

    Anybody may be handed any message that was sent, at any time, and may network-send it. None where more than `most`
    states would have to be visited.
    """
    search = _Executions(workload, property_)
    start = _Point((), History((0,) * workload.processes, ()), (0,) * workload.processes)
    seen, frontier = {start}, [start]
    while frontier:
        following = []
        for point in frontier:
            if search.violates(point):
                return True
            for after in search.after(point):
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        if len(seen) > most:
            return None
        frontier = following
    return False


@dataclass(frozen=True, slots=True)
class _Point:
    """A prefix of an execution, as far as it matters: what was sent, its history, and the places in the programs."""

    sent: tuple[Message, ...]
    history: History
    places: tuple[int, ...]


@dataclass(slots=True)
class _Executions:
    """All sequences of sends and deliveries in a scope. Deliveries that violate the property are not made."""

    workload: ir.Workload
    property_: str
    _bases: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._bases = (0, *accumulate(self.workload.sends))

    def _bit(self, message: Message) -> int:
        return 1 << (self._bases[message.src] + message.number)

    def _takes(self, point: _Point, process: int, message: Message) -> bool:
        """Whether the application of the process can be handed the message."""
        program = self.workload.programs[process] if self.workload.programs else None
        return program is None or receives(program, point.places[process], message.src)

    def _handed(self, point: _Point, process: int, message: Message) -> tuple[History, set[str]]:
        history, findings = delivered(point.history, process, message, self._bit, {self.property_})
        return history, {finding.property for finding in findings}

    def violates(self, point: _Point) -> bool:
        """Whether the property can be violated by the next event."""
        processes = range(self.workload.processes)
        for process in processes:
            for message in point.sent:
                if self._takes(point, process, message) and self.property_ in self._handed(point, process, message)[1]:
                    return True
                findings = network_sent(point.history, process, message, self._bit)
                if any(finding.property == self.property_ for finding in findings):
                    return True
        return False

    def after(self, point: _Point) -> Iterator[_Point]:
        """The points one event later."""
        for process in range(self.workload.processes):
            places = (*point.places[:process], point.places[process] + 1, *point.places[process + 1 :])
            number = sum(message.src == process for message in point.sent)
            if number < self.workload.sends[process]:
                for choice in self._next(point, process):
                    message = Message(process, number, choice)
                    history = sent(point.history, process, message, self._bit(message))
                    yield _Point(tuple(sorted((*point.sent, message))), history, places)
            for entry in point.history.pending:
                if process in entry.due and self._takes(point, process, entry.message):
                    history, findings = self._handed(point, process, entry.message)
                    if self.property_ not in findings:
                        yield _Point(point.sent, history, places)

    def _next(self, point: _Point, process: int) -> tuple[Choice, ...]:
        program = self.workload.programs[process] if self.workload.programs else None
        if program is None:
            return self.workload.choices(process)
        place = point.places[process]
        verb, others = program[place] if place < len(program) else ("receive", ())
        return (tuple(sorted(others)),) if verb == "send" else ()
