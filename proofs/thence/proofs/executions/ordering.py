"""Asynchronous executions as message orderings: the sends and receives of each process, in order; no network.

Every message is received once, by another process than its sender. Two executions are the same if they differ only in
the numbers of processes and messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import permutations, product
from typing import Literal, NamedTuple, TypeAlias

from thence.dsl.text.programs import Program, Programs
from thence.spec.events import Deliver, Event, Execution, Send


class Occurrence(NamedTuple):
    """A message is sent or received, by the process in whose list this stands."""

    kind: Literal["send", "receive"]
    message: int


Form: TypeAlias = tuple[tuple[tuple[int, ...], ...], ...]
"""The common form of isomorphic executions; see `Ordering.form`."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """The events of each process, in order. `ends[m]` is the sender and the receiver of message m."""

    processes: tuple[tuple[Occurrence, ...], ...]
    ends: tuple[tuple[int, int], ...]

    def programs(self) -> Programs:
        """The programs that ask for this execution: the sends and receives of each process, with their senders."""
        return tuple(
            tuple(
                ("send", (self.ends[message][1],)) if kind == "send" else ("receive", (self.ends[message][0],))
                for kind, message in line
            )
            for line in self.processes
        )

    def linear(self) -> tuple[tuple[int, Occurrence], ...] | None:
        """The events in a global order, each with its process; None where there is none, so that it is no execution."""
        waits: dict[tuple[int, Occurrence], set[tuple[int, Occurrence]]] = {}
        for process, line in enumerate(self.processes):
            for place, event in enumerate(line):
                before = waits.setdefault((process, event), set())
                if place:
                    before.add((process, line[place - 1]))
                if event.kind == "receive":
                    before.add((self.ends[event.message][0], Occurrence("send", event.message)))
        try:
            return tuple(TopologicalSorter(waits).static_order())
        except CycleError:
            return None

    def execution(self) -> Execution:
        """The execution, for drawing. Raises: ValueError where it is no execution."""
        order = self.linear()
        if order is None:
            raise ValueError("the sends and receives wait for one another in a circle")
        events: list[Event] = [
            Send(process, f"m{event.message + 1}", (self.ends[event.message][1],))
            if event.kind == "send"
            else Deliver(process, f"m{event.message + 1}")
            for process, event in order
        ]
        return Execution(len(self.processes), tuple(events))

    def renamed(self, names: Sequence[int]) -> Ordering:
        """The ordering with process p renamed to names[p]."""
        lines = sorted(zip(names, self.processes, strict=True), key=lambda pair: pair[0])
        ends = tuple((names[sender], names[receiver]) for sender, receiver in self.ends)
        return Ordering(tuple(line for _, line in lines), ends)

    def form(self) -> Form:
        """An encoding that isomorphic executions share: the least one over all numberings of processes.

        An event is (0, receiver) for a send, and (1, sender, n) for a receive of the n-th message of the sender.
        """
        count = [0] * len(self.processes)
        number: dict[int, int] = {}
        for process, line in enumerate(self.processes):
            for kind, message in line:
                if kind == "send":
                    number[message] = count[process]
                    count[process] += 1
        return min(self._encoded(names, number) for names in permutations(range(len(self.processes))))

    def _encoded(self, names: Sequence[int], number: dict[int, int]) -> Form:
        lines: list[tuple[tuple[int, ...], ...]] = [()] * len(names)
        for process, line in enumerate(self.processes):
            lines[names[process]] = tuple(
                (0, names[self.ends[message][1]])
                if kind == "send"
                else (1, names[self.ends[message][0]], number[message])
                for kind, message in line
            )
        return tuple(lines)


def of_programs(programs: Sequence[Program]) -> Iterator[Ordering]:
    """Every execution of the programs: each receive takes a message of a sender that it allows."""
    ends: list[tuple[int, int]] = []
    sent: dict[int, list[int]] = {process: [] for process in range(len(programs))}
    for process, program in enumerate(programs):
        for verb, others in program:
            if verb == "send":
                (receiver,) = others
                sent[process].append(len(ends))
                ends.append((process, receiver))
    options = [
        list(_received(program, [m for m, (_, receiver) in enumerate(ends) if receiver == process], ends))
        for process, program in enumerate(programs)
    ]
    for chosen in product(*options):
        lines = []
        for process, program in enumerate(programs):
            sends, receives = iter(sent[process]), iter(chosen[process])
            lines.append(
                tuple(
                    Occurrence("send", next(sends)) if verb == "send" else Occurrence("receive", next(receives))
                    for verb, _ in program
                )
            )
        ordering = Ordering(tuple(lines), tuple(ends))
        if ordering.linear() is not None:
            yield ordering


def _received(program: Program, messages: Sequence[int], ends: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """The orders in which the program can receive exactly these messages."""
    wanted = [others for verb, others in program if verb == "receive"]
    if len(wanted) == len(messages):
        for order in permutations(messages):
            if all(not others or ends[m][0] in others for others, m in zip(wanted, order, strict=True)):
                yield order


def orderings(processes: int, messages: int) -> Iterator[Ordering]:
    """Every execution with these numbers of messages and processes, one of each form, in a fixed order."""
    seen: set[Form] = set()
    pairs = [(a, b) for a in range(processes) for b in range(processes) if a != b]
    for ends in _choices(pairs, messages):
        if len({process for pair in ends for process in pair}) < processes:
            continue
        own = [
            [Occurrence("send", m) for m, (sender, _) in enumerate(ends) if sender == process]
            + [Occurrence("receive", m) for m, (_, receiver) in enumerate(ends) if receiver == process]
            for process in range(processes)
        ]
        for lines in product(*(permutations(events) for events in own)):
            ordering = Ordering(tuple(lines), ends)
            if (form := ordering.form()) not in seen and ordering.linear() is not None:
                seen.add(form)
                yield ordering


def _choices(pairs: Sequence[tuple[int, int]], messages: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Senders and receivers of the messages, as multisets: messages have no names."""
    if not messages:
        yield ()
        return
    for place, pair in enumerate(pairs):
        for rest in _choices(pairs[place:], messages - 1):
            yield (pair, *rest)
