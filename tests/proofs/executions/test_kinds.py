"""Kinds of executions: the conditions on their order, against machines that run them."""

from __future__ import annotations

from collections.abc import Iterator
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
