"""A run made small for a reader: no detours, small values, few elements. Evaluation says that it still works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import CrossCheckError, Table, Value, evaluate
from thence.proofs.machine.goals import Goal, TransitionRun, reaches
from thence.proofs.machine.transitions import Action, free_at_first, initial, symbols

Steps: TypeAlias = tuple[tuple[Action, tuple[int, ...]], ...]
"""Transitions with their arguments."""

ATTEMPTS = 400
"""Limit on the smaller runs that are tried."""

SHORT = 24
"""A run of at most so many steps is also tried without any two of them, and without a few that follow each other."""

Stop: TypeAlias = Callable[[], bool]
"""Says when the time for making a run smaller is over."""

ROUND = 6
"""So many steps that follow each other are left out together, at most: to come in, to stay, to leave."""


def without_detours(machine: ir.Machine, goal: Goal, run: TransitionRun, stop: Stop = lambda: False) -> TransitionRun:
    """A run of some of its steps that reaches the goal, and does not without any one of them; of a short run, without
    any two, or a few that follow each other: what is done, and what undoes it. Where `stop` ends this, it is as small
    as it is then.
    """

    def suffices(steps: Steps) -> bool:
        return not stop() and is_run_to(machine, goal, TransitionRun(run.start, steps))

    return TransitionRun(run.start, needed(run.steps, suffices, pairs_up_to=SHORT))


def needed(steps: Steps, suffices: Callable[[Steps], bool], *, pairs_up_to: int = 0) -> Steps:
    """Some of the steps that suffice, and do not without any one of them.

    Where they are no more than `pairs_up_to`, they do not without any two of them, either, nor without up to `ROUND`
    that follow each other.
    """
    progress = True
    while progress:
        progress = False
        numbers = range(len(steps))
        several: Iterable[Sequence[int]] = ()
        if len(numbers) <= pairs_up_to:
            several = chain(combinations(numbers, 2), _rounds(numbers))
        for gone in chain(((number,) for number in numbers), several):
            fewer = tuple(step for at, step in enumerate(steps) if at not in gone)
            if suffices(fewer):
                steps, progress = fewer, True
                break
    return steps


def _rounds(numbers: range) -> Iterator[range]:
    """Three of the numbers or more that follow each other, the most first."""
    for length in range(min(ROUND, len(numbers)), 2, -1):
        yield from (range(first, first + length) for first in numbers[: len(numbers) - length + 1])


def smallest(machine: ir.Machine, goal: Goal, run: TransitionRun, stop: Stop = lambda: False) -> TransitionRun:
    """A run of the same transitions that reaches the goal: no single value of it can be made smaller.

    Values of the parameters and arguments become as small as they can, one after the other; then elements that the
    run does not need are left out. Where `stop` ends this, it is as small as it is then.
    """
    left = ATTEMPTS
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in (*_fewer_elements(machine, run), *_smaller_values(machine, run)):
            left = 0 if stop() else left - 1
            if is_run_to(machine, goal, smaller):
                run, progress = smaller, True
                break
            if left <= 0:
                break
    return run


def is_run_to(machine: ir.Machine, goal: Goal, run: TransitionRun) -> bool:
    """Whether it starts in an initial state of the machine, its guards are true, and it ends with the goal."""
    try:
        return all(bool(evaluate(axiom.body, run.start, {})) for axiom in machine.axioms) and reaches(goal, run)
    except (CrossCheckError, Unsupported, LookupError):
        return False


def _fewer_elements(machine: ir.Machine, run: TransitionRun) -> Iterator[TransitionRun]:
    """The runs without one element, for each element that no step and no value names."""
    for sort, size in run.start.universe.items():
        if sort == str(NAT):
            continue
        for element in reversed(range(size if size > 1 else 0)):
            without = _without(machine, run, sort, element)
            if without is not None:
                yield without


def _without(machine: ir.Machine, run: TransitionRun, sort: str, element: int) -> TransitionRun | None:
    """The run without an element; None where the run speaks about it. What pointed to it points to the first one."""

    def renumbered(value: Value) -> int:
        return int(value) - (int(value) > element)

    for action, arguments in run.steps:
        for parameter, value in zip(action.parameters, arguments, strict=True):
            if str(parameter.type) == sort and value == element:
                return None
    given: dict[str, Table] = {}
    free = free_at_first(machine)
    for symbol in symbols(machine):
        if symbol.name not in free:
            continue
        own = [str(parameter.type) == sort for parameter in symbol.parameters]
        table: dict[tuple[int, ...], Value] = {}
        for key, value in run.start.tables[symbol.name].items():
            if any(of_sort and item == element for of_sort, item in zip(own, key, strict=True)):
                continue
            moved = tuple(renumbered(item) if of_sort else item for of_sort, item in zip(own, key, strict=True))
            if str(symbol.result) == sort:
                value = 0 if value == element else renumbered(value)
            table[moved] = value
        given[symbol.name] = table
    universe = {**run.start.universe, sort: run.start.universe[sort] - 1}
    steps = tuple(
        (
            action,
            tuple(
                renumbered(value) if str(parameter.type) == sort else value
                for parameter, value in zip(action.parameters, arguments, strict=True)
            ),
        )
        for action, arguments in run.steps
    )
    return TransitionRun(initial(machine, universe, given), steps)


def _smaller_values(machine: ir.Machine, run: TransitionRun) -> Iterator[TransitionRun]:
    """The runs with one smaller value: of a parameter at some arguments, or a number that a transition is given."""
    free = free_at_first(machine)
    for symbol in symbols(machine):
        if symbol.name in free:
            table = run.start.tables[symbol.name]
            for key, value in table.items():
                for less in _less(symbol, value, run.start.universe):
                    tables = {**run.start.tables, symbol.name: {**table, key: less}}
                    yield TransitionRun(initial(machine, run.start.universe, tables), run.steps)
    for position, (action, arguments) in enumerate(run.steps):
        for place, parameter in enumerate(action.parameters):
            for number in range(arguments[place] if parameter.type == NAT else 0):
                changed = (*arguments[:place], number, *arguments[place + 1 :])
                yield TransitionRun(run.start, (*run.steps[:position], (action, changed), *run.steps[position + 1 :]))


def _less(symbol: ir.Symbol, value: Value, universe: Mapping[str, int]) -> Iterator[Value]:
    if symbol.result == BOOL:
        if value:
            yield False
    elif symbol.result == NAT or isinstance(symbol.result, Sort):
        yield from range(int(value))
