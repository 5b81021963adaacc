"""Kinds of executions: the conditions on their order, against machines that run them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Literal

import pytest

from thence.proofs.executions.figures import FIGURES
from thence.proofs.executions.kinds import KINDS, kinds_of, strictest
from thence.proofs.executions.ordering import Ordering, orderings

SMALL = [
    ordering
    for processes, messages in ((2, 1), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (4, 3), (2, 4))
    for ordering in orderings(processes, messages)
]
SOME = [*SMALL, *FIGURES.values(), *[o for o in orderings(4, 4) if "causal" in kinds_of(o)][::9]]

Machine = Literal["synchronous", "buffered", "mailbox"]
_Run = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]


def runs(ordering: Ordering, machine: Machine) -> bool:
    """Whether a machine can make the execution: rendezvous; output and input buffers; one mailbox for each receiver."""
    count = len(ordering.processes)
    start: _Run = ((0,) * count, ((),) * count, ((),) * count)
    seen, stack = {start}, [start]
    while stack:
        run = stack.pop()
        if all(place == len(line) for place, line in zip(run[0], ordering.processes, strict=True)):
            return True
        for after in steps(ordering, machine, run):
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return False


def steps(ordering: Ordering, machine: Machine, run: _Run) -> Iterator[_Run]:
    places, outs, ins = run
    for process, line in enumerate(ordering.processes):
        if machine == "buffered" and outs[process]:
            first, *rest = outs[process]
            to = ordering.ends[first][1]
            yield places, put(outs, process, tuple(rest)), put(ins, to, (*ins[to], first))
        if places[process] == len(line):
            continue
        kind, message = line[places[process]]
        moved = put(places, process, places[process] + 1)
        if kind == "receive":
            if ins[process][:1] == (message,):
                yield moved, outs, put(ins, process, ins[process][1:])
            continue
        to = ordering.ends[message][1]
        if machine == "buffered":
            yield moved, put(outs, process, (*outs[process], message)), ins
        elif machine == "mailbox":
            yield moved, outs, put(ins, to, (*ins[to], message))
        elif ordering.processes[to][places[to] : places[to] + 1] == (("receive", message),):
            yield put(moved, to, places[to] + 1), outs, ins


def put(items: tuple, at: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:at], item, *items[at + 1 :])


@pytest.mark.parametrize("machine", ["synchronous", "buffered", "mailbox"])
def test_a_machine_makes_just_the_executions_of_its_kind(machine: Machine) -> None:
    answers = {(machine in kinds_of(ordering), runs(ordering, machine)) for ordering in SOME}
    assert answers == {(True, True), (False, False)}


def test_each_kind_contains_the_stricter_ones() -> None:
    for ordering in SOME:
        found = kinds_of(ordering)
        assert found == set(KINDS[KINDS.index(strictest(ordering)) :])


def test_buffered_and_mailbox_are_the_same() -> None:
    assert all(("buffered" in kinds_of(o)) == ("mailbox" in kinds_of(o)) for o in (*SOME, *orderings(3, 4)))


def without_some_receives(ordering: Ordering) -> Iterator[Ordering]:
    """The execution with each set of its messages never received."""
    messages = range(len(ordering.ends))
    for count in range(1, len(messages) + 1):
        for lost in combinations(messages, count):
            kept = tuple(
                tuple(event for event in line if event.kind == "send" or event.message not in lost)
                for line in ordering.processes
            )
            yield replace(ordering, processes=kept)


def precedes_has_no_cycle(ordering: Ordering) -> bool:
    """The relation of the theory `run` (`buffered_mailbox`): by sender, by relay, and by receiver."""
    before: dict[int, set[int]] = {message: set() for message in range(len(ordering.ends))}
    for process, line in enumerate(ordering.processes):
        for (_, first), (kind, later) in combinations(line, 2):
            if kind == "send":
                before[later].add(first)
        taken = [message for kind, message in line if kind == "receive"]
        for place, message in enumerate(taken):
            for other, (_, to) in enumerate(ordering.ends):
                if to == process and other not in taken[: place + 1]:
                    before[other].add(message)
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return False
    return True


def test_buffered_and_mailbox_are_the_same_where_messages_are_never_received() -> None:
    answers = {
        (runs(partial, "buffered"), runs(partial, "mailbox"), precedes_has_no_cycle(partial))
        for ordering in (*SMALL, *FIGURES.values())
        for partial in (ordering, *without_some_receives(ordering))
    }
    assert answers == {(True, True, True), (False, False, False)}


def test_the_smallest_causal_execution_that_buffers_cannot_make_is_the_only_one() -> None:
    assert not any(strictest(ordering) == "causal" for ordering in (*SMALL, *orderings(3, 4)))
    assert sum(strictest(ordering) == "causal" for ordering in orderings(4, 4)) == 1


def test_the_figures_are_of_the_kinds_that_the_paper_says() -> None:
    assert {name: strictest(ordering) for name, ordering in FIGURES.items()} == {
        "Figure 3": "buffered",
        "Figure 4": "fifo",
        "Figures 5 and 6": "synchronous",
        "Figure 7": "buffered",
        "Figure 8": "causal",
    }
