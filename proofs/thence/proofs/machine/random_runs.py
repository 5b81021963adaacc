"""Random runs of a machine: for transitions that happen late, where exhaustive search takes too long.

A random run proves that a transition can happen; the lack of one proves nothing. The result depends on the machine and
the seed only: effort is counted in guards evaluated, not in seconds. Steps that a run does not need are removed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS
from thence.proofs.logic.compiled import compiled, value_in
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import Structure, Table, evaluate, tuples
from thence.proofs.machine.goals import Goal, TransitionRun, reaches
from thence.proofs.machine.smallest_run import Steps, needed
from thence.proofs.machine.transitions import Action, actions, enabled, initial, rigid, step
from thence.proofs.machine.universe import universe_of

UNIVERSE = {PROCESS.name: 3, MESSAGE.name: 5}
"""Large enough for permits of two senders, each for a message that followed another."""

GUARDS = 400_000
"""Limit on the guards that are evaluated."""

LENGTH = 30
"""Steps of one walk, at most."""

MISSES = 400
"""A walk ends after this many transitions in a row that are not enabled, or change nothing."""

_Guard: TypeAlias = Callable[[Sequence[int], Structure], bool]
_Step: TypeAlias = Callable[[Sequence[int], Structure], Structure]


@dataclass(frozen=True, slots=True)
class _Quick:
    """A transition's guard and step as compiled functions, since walks ask them very often."""

    guard: _Guard
    step: _Step


def walk(
    machine: ir.Machine, names: Collection[str], seed: int, universe: Mapping[str, int] = UNIVERSE, guards: int = GUARDS
) -> dict[str, TransitionRun]:
    """For each of the named transitions that was met a run in which it happens last.

    Only for machines whose initial states differ in `src` and `dst` alone, and whose transitions have processes and
    messages as parameters; {} for all others.
    """
    found: dict[str, TransitionRun] = {}
    for run in _walks(machine, names, seed, universe, guards):
        last = run.steps[-1][0].name
        if last in names and last not in found:
            found[last] = _without_detours(run)
        if found.keys() >= set(names):
            break
    return found


def walk_to(
    machine: ir.Machine, goal: Goal, seed: int, universe: Mapping[str, int], guards: int
) -> TransitionRun | None:
    """A run that ends with the goal, if a walk meets it; machines as for `walk`."""
    whole = universe_of(machine, universe)
    return next((run for run in _walks(machine, (), seed, whole, guards) if reaches(goal, run)), None)


def _walks(
    machine: ir.Machine, names: Collection[str], seed: int, universe: Mapping[str, int], guards: int
) -> Iterator[TransitionRun]:
    """The beginnings of random walks, each with one step more than the one before."""
    choices = actions(machine)
    sorts = {parameter.type for action in choices for parameter in action.parameters}
    if rigid(machine) != {"src", "dst"} or not sorts <= {PROCESS, MESSAGE}:
        return
    chance = random.Random(seed)
    quick = {action.name: _quick(action) for action in choices}
    sizes = {action.name: [_size(parameter, universe) for parameter in action.parameters] for action in choices}
    fired = Counter({action.name: 1 for action in choices})
    weights = _weights(choices, fired)
    while guards > 0:
        start = _start(machine, universe, chance)
        if start is None:
            return
        state, steps, misses = start, list[tuple[Action, tuple[int, ...]]](), 0
        while len(steps) < LENGTH and misses < MISSES:
            (action,) = chance.choices(choices, cum_weights=weights)
            arguments = tuple(map(chance.randrange, sizes[action.name]))
            guards, misses = guards - 1, misses + 1
            if not quick[action.name].guard(arguments, state):
                continue
            after = quick[action.name].step(arguments, state)
            if after.tables == state.tables and action.name not in names:
                continue
            state, misses = after, 0
            steps.append((action, arguments))
            fired[action.name] += 1
            weights = _weights(choices, fired)
            yield TransitionRun(start, tuple(steps))


def _weights(choices: Sequence[Action], fired: Mapping[str, int]) -> list[float]:
    """How likely each transition is tried, summed up: less often what happened more often."""
    return list(accumulate(fired[action.name] ** -0.3 for action in choices))


def _quick(action: Action) -> _Quick:
    """The compiled transition; one that cannot be compiled, or changes symbols at numbers, is evaluated."""
    names = [parameter.name for parameter in action.parameters]
    try:
        guard = compiled(action.guard, names)
        writers = [_writer(update, names) for update in action.updates]
    except Unsupported:
        return _Quick(
            lambda arguments, state: enabled(action, arguments, state),
            lambda arguments, state: step(action, arguments, state),
        )
    return _Quick(
        lambda arguments, state: bool(value_in(guard, state, *arguments)),
        lambda arguments, state: state.with_tables({name: made(arguments, state) for name, made in writers}),
    )


def _writer(update: ir.Update, names: Sequence[str]) -> tuple[str, Callable[[Sequence[int], Structure], Table]]:
    """The symbol that an update changes, and a function for its new table. Raises: Unsupported."""
    if any(each.type == NAT for each in (*update.binders, *update.arguments)):
        raise Unsupported("changed at numbers")
    inside = [*names, *(binder.name for binder in update.binders)]
    places = [compiled(argument, inside) for argument in update.arguments]
    value = compiled(update.value, inside)
    types = [binder.type for binder in update.binders]

    def made(arguments: Sequence[int], state: Structure) -> Table:
        table = dict(state.tables[update.symbol])
        for bound in tuples(types, state.universe):
            key = tuple(int(value_in(place, state, *arguments, *bound)) for place in places)
            table[key] = value_in(value, state, *arguments, *bound)
        return table

    return update.symbol, made


def _size(parameter: ir.Variable, universe: Mapping[str, int]) -> int:
    return universe[PROCESS.name if parameter.type == PROCESS else MESSAGE.name]


def _start(machine: ir.Machine, universe: Mapping[str, int], chance: random.Random) -> Structure | None:
    """An initial structure with random ends that satisfies the axioms; None where a thousand did not."""
    for _ in range(1_000):
        ends: dict[str, Table] = {
            name: {(message,): chance.randrange(universe[PROCESS.name]) for message in range(universe[MESSAGE.name])}
            for name in ("src", "dst")
        }
        start = initial(machine, universe, ends)
        if all(evaluate(axiom.body, start, {}) for axiom in machine.axioms):
            return start
    return None


def _without_detours(run: TransitionRun) -> TransitionRun:
    """The run without those steps that the last one does not need: no single step can be left out any more.

    Raises: CrossCheckError where evaluation says that the walk was none.
    """
    quick = {action.name: _quick(action) for action, _ in run.steps}

    def suffices(steps: Steps) -> bool:
        return steps[-1:] == run.steps[-1:] and _possible(run.start, steps, quick)

    found = TransitionRun(run.start, needed(run.steps, suffices))
    found.states()
    return found


def _possible(start: Structure, steps: Steps, quick: Mapping[str, _Quick]) -> bool:
    state = start
    for action, arguments in steps:
        if not quick[action.name].guard(arguments, state):
            return False
        state = quick[action.name].step(arguments, state)
    return True
