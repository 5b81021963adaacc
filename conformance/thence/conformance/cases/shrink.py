"""Delta debugging: a failing schedule made as short and as plain as possible.

Every sub-sequence of a schedule is a schedule, so the search leaves out operations (Zeller and Hildebrandt, Simplifying
and isolating failure-inducing input, 2002), in the end every single one and every pair, and then makes the others
plainer. The result is a local minimum, unless the budget ran out. The budget counts attempts and never looks at a
clock, so that a busy machine and an idle one have the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, TypeAlias, assert_never

from thence.conformance.cases.network import Destination
from thence.conformance.cases.schedule import Duplicate, Have, Lose, Operation, React, Receive, Schedule, Send, Tick

Attempt: TypeAlias = Callable[[Schedule], Schedule | None]
"""Runs a schedule: the operations of it that were possible, if it still fails; else None."""

ATTEMPTS: Final = 5_000
"""Default budget of a search."""

HANGING_S: Final = 0.02
"""Seconds of waiting for a subject that hangs that cost as much as an attempt without a hang."""

_PAIRS_UP_TO: Final = 24
"""Length of schedules up to which every pair is left out; the number of pairs is quadratic."""


@dataclass(slots=True)
class Budget:
    """The attempts that are left. Each costs 1; an attempt that costs more charges the rest."""

    left: int = ATTEMPTS

    def charge_hang(self, limit_s: float) -> None:
        """Charges a wait until the time limit: the price depends on the limit, not on the clock."""
        self.left -= int(limit_s / HANGING_S)


def minimise(schedule: Schedule, attempt: Attempt, budget: Budget | None = None) -> Schedule:
    """A schedule that still fails, and passes without any one operation or any pair of them.

    `schedule` itself has to fail; if it does not, it comes back as it is. The budget, `ATTEMPTS` unless given, bounds
    the search. Ctrl-C ends the attempt, and goes on to the caller.
    """
    search = _Shrinking(attempt, Budget() if budget is None else budget)
    current = search.run(schedule)
    if current is None:
        return schedule
    while True:
        before = current
        current = search.without_chunks(current)
        current = search.first_that_fails(current, _without_pairs)
        current = search.first_that_fails(current, _answering)
        current = search.first_that_fails(current, _together)
        current = search.first_that_fails(current, _plainer)
        if current == before:
            return current


class _Shrinking:
    """Attempts, each schedule once, until the budget is spent."""

    def __init__(self, attempt: Attempt, budget: Budget) -> None:
        self._attempt = attempt
        self._budget = budget
        self._seen: set[Schedule] = set()

    def run(self, schedule: Schedule) -> Schedule | None:
        if schedule in self._seen or self._budget.left <= 0:
            return None
        self._seen.add(schedule)
        self._budget.left -= 1
        possible = self._attempt(schedule)
        if possible is not None:
            self._seen.add(possible)
        return possible

    def without_chunks(self, schedule: Schedule) -> Schedule:
        """Leaves out ever smaller chunks, down to single operations."""
        size = max(1, len(schedule) // 2)
        while True:
            start, shorter = 0, False
            while start < len(schedule):
                smaller = self.run(schedule[:start] + schedule[start + size :])
                if smaller is not None and len(smaller) < len(schedule):
                    schedule, shorter = smaller, True
                else:
                    start += size
            if size == 1 and not shorter:
                return schedule
            size = max(1, size // 2)

    def first_that_fails(self, schedule: Schedule, candidates: Callable[[Schedule], Iterator[Schedule]]) -> Schedule:
        """Goes to the first candidate that fails, again and again, as long as there is one."""
        while True:
            for candidate in candidates(schedule):
                smaller = self.run(candidate)
                if smaller is not None and len(smaller) <= len(schedule):
                    schedule = smaller
                    break
            else:
                return schedule


def _without_pairs(schedule: Schedule) -> Iterator[Schedule]:
    """Two operations less. Packets that these sent are then missing, so other positions may have to be lower."""
    if len(schedule) > _PAIRS_UP_TO:
        return
    pairs = list(combinations(range(len(schedule)), 2))
    for left_out in pairs:
        yield _without(schedule, left_out)
    for place, operation in enumerate(schedule):
        if isinstance(operation, Receive | Duplicate | Lose) and operation.position:
            lower = replace(operation, position=operation.position - 1)
            shifted = (*schedule[:place], lower, *schedule[place + 1 :])
            for index in range(len(schedule)):
                yield _without(shifted, (index,))
            for left_out in pairs:
                yield _without(shifted, left_out)


def _answering(schedule: Schedule) -> Iterator[Schedule]:
    """One operation less: a send that follows an arrival at its process answers a delivery there instead, which the
    drain brings about.
    """
    for place, operation in enumerate(schedule):
        if isinstance(operation, Send):
            for index, before in enumerate(schedule[:place]):
                if isinstance(before, Receive) and (before.channel is None or before.channel[1] == operation.process):
                    yield (React(operation.process, operation.destination), *_without(schedule, (index, place)))


def _together(schedule: Schedule) -> Iterator[Schedule]:
    """One operation less: two multicasts of a process in one, in the place of the one or of the other."""
    for later, second in enumerate(schedule):
        for earlier, first in enumerate(schedule[:later]):
            match first, second:
                case Send(process, tuple(one)), Send(other, tuple(two)) if process == other:
                    joined = Send(process, tuple(sorted({*one, *two})))
                    yield (*schedule[:earlier], joined, *_without(schedule[earlier + 1 :], (later - earlier - 1,)))
                    yield (*_without(schedule[:later], (earlier,)), joined, *schedule[later + 1 :])


def _without(schedule: Schedule, left_out: tuple[int, ...]) -> Schedule:
    return tuple([operation for index, operation in enumerate(schedule) if index not in left_out])


def _plainer(schedule: Schedule) -> Iterator[Schedule]:
    """The same with plainer operations: fewer answers, older packets, processes in the order of their numbers."""
    for index, operation in enumerate(schedule):
        match operation:
            case React(process, destination):
                rest = schedule[:index] + schedule[index + 1 :]
                for place in range(index, len(schedule)):
                    yield (*rest[:place], Send(process, destination), *rest[place:])
                yield from _fewer_destinations(schedule, index, operation)
            case Receive(position, _) | Duplicate(position, _) | Lose(position, _):
                if position:
                    yield (*schedule[:index], replace(operation, position=0), *schedule[index + 1 :])
            case Send():
                yield from _fewer_destinations(schedule, index, operation)
            case Have(_, _, arguments):
                for place, argument in enumerate(arguments):
                    if argument:
                        plainer = (*arguments[:place], type(argument)(0), *arguments[place + 1 :])
                        yield (*schedule[:index], replace(operation, arguments=plainer), *schedule[index + 1 :])
            case Tick():
                continue
            case _:
                assert_never(operation)
    renamed = _renamed(schedule)
    if renamed != schedule:
        yield renamed


def _fewer_destinations(schedule: Schedule, index: int, operation: Send | React) -> Iterator[Schedule]:
    """The schedule with one destination less for the multicast at `index`."""
    destinations = operation.destination
    if isinstance(destinations, tuple) and len(destinations) > 1:
        for left_out in reversed(destinations):
            fewer = tuple([destination for destination in destinations if destination != left_out])
            yield (*schedule[:index], replace(operation, destination=fewer), *schedule[index + 1 :])


def _renamed(schedule: Schedule) -> Schedule:
    """The processes numbered in the order in which they appear."""
    numbers: dict[int, int] = {}

    def number(process: int) -> int:
        return numbers.setdefault(process, len(numbers))

    def renamed(destination: Destination) -> Destination:
        if isinstance(destination, tuple):
            return tuple(sorted(map(number, destination)))
        return None if destination is None else number(destination)

    def rename(operation: Operation) -> Operation:
        match operation:
            case Send(process, destination):
                return Send(number(process), renamed(destination))
            case React(process, destination):
                return React(number(process), renamed(destination))
            case Tick(process, timer):
                return Tick(number(process), timer)
            case Have(process, name, arguments):
                return Have(number(process), name, arguments)
            case Receive(_, channel) | Duplicate(_, channel) | Lose(_, channel):
                if channel is None:
                    return operation
                return replace(operation, channel=(number(channel[0]), number(channel[1])))
            case _:
                assert_never(operation)

    return tuple(map(rename, schedule))
