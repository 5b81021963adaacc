"""Reachable states of a machine in a small universe, by random runs, and the run that leads to each of them.

The samples depend on the machine, the universe and the seed. They prove nothing but that a formula which is false in
one of them is no invariant.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort
from thence.proofs.infer.candidates.vocabulary import Template
from thence.proofs.logic.compiled import Compiled, compiled, compiled_choices, value_in
from thence.proofs.logic.formula import Unsupported, conj, equal, free_locals, negation
from thence.proofs.logic.structure import Structure, Table, Value, elements, tuples
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.steps.statements import split
from thence.proofs.machine.transitions import Action, actions, free_at_first, initial, step, symbols
from thence.proofs.machine.universe import Fitting, uneven, universe_of
from thence.proofs.solving.finite_models import Problem
from thence.proofs.solving.session import ProofSession

SAMPLED: tuple[Mapping[str, int], ...] = (
    {"process": 3, "message": 3},
    {"process": 2, "message": 4},
    {"process": 3, "message": 4},
)
"""The universes of random runs. Sorts of the machine's own get as many elements as there are messages."""

FIRST = 700
"""Number of samples of each universe from which templates learn at first."""

FEW_STATES = 150
"""Samples of each universe with more elements of one sort than of others."""

STARTS = 40
"""Number of different initial states that are tried to be found where axioms restrict them."""

DRAWS = 300
"""Random tables that are drawn before a solver is asked for one that satisfies the axioms."""

LENGTH = 60
"""Steps of one walk, at most."""

TRIES = 6
"""So many steps are tried for one that leads to a new state; most steps of a walk would change nothing otherwise."""

KNOWN = 12
"""So many steps of one walk lead to states that are known, at most."""

ARGUMENTS_BELOW = 4
"""Bound on the numbers that a transition is given as arguments."""


@dataclass(slots=True)
class Samples:
    """Reachable states of one universe, no two alike; `origins` say for each from which one it comes, and by what."""

    universe: Mapping[str, int]
    states: list[Structure] = field(default_factory=list)
    origins: list[tuple[int, Action, tuple[int, ...]] | None] = field(default_factory=list)
    starved: tuple[str, ...] = ()

    def run_to(self, number: int) -> TransitionRun:
        """The run to one of the states."""
        steps: list[tuple[Action, tuple[int, ...]]] = []
        while (origin := self.origins[number]) is not None:
            number, action, arguments = origin
            steps.append((action, arguments))
        return TransitionRun(self.states[number], tuple(reversed(steps)))


@dataclass(frozen=True, slots=True)
class _Step:
    action: Action
    enabled: Compiled


class Sampler:
    """Random runs of one machine in one universe; each call of `more` adds states.

    Walks begin more often at states that show something new: a row (see NOTE(rows)) that no sample has. Where a step
    leads is computed once: where there are few states, most steps of walks are known. `shown` has the rows of the
    first ones.

    Raises: Unsupported where a guard has no meaning in a finite universe.
    """

    def __init__(
        self,
        session: ProofSession,
        machine: ir.Machine,
        universe: Mapping[str, int],
        seed: int,
        shows: Mapping[Template, Compiled] | None = None,
    ) -> None:
        self.shown = {template: set[int]() for template in shows or {}}
        functions = (shows or {}).values()
        self._shows = [
            (function, set[int](), first) for function, first in zip(functions, self.shown.values(), strict=True)
        ]
        self._novel: list[int] = []
        self._machine = machine
        self._chance = random.Random(seed)
        whole = universe_of(machine, universe)
        self.samples = Samples(whole)
        self._steps = [_possible(action) for action in actions(machine)]
        self._known: dict[object, int] = {}
        self._possible: dict[int, list[tuple[Action, list[tuple[int, ...]]]]] = {}
        self._led: dict[tuple[int, str, tuple[int, ...]], int] = {}
        self._visits: list[int] = []
        self._fired = {step.action.name: 1 for step in self._steps}
        self._axioms = compiled(conj(axiom.body for axiom in machine.axioms), ())
        self._session = session
        self._starts: list[Structure] | None = None

    def restore(
        self, states: Sequence[Structure | None], origins: Sequence[tuple[int, Action, tuple[int, ...]] | None]
    ) -> int:
        """Takes in reachable states with their origins, as numbers among them; returns how many there are now."""
        numbers: dict[int, int] = {}
        for at, (state, origin) in enumerate(zip(states, origins, strict=True)):
            if state is not None:
                moved = None if origin is None else (numbers[origin[0]], *origin[1:])
                numbers[at], new = self._add(state, moved)
                if new and origin is not None:
                    self._fired[origin[1].name] += 1
        return len(self.samples.states)

    def more(self, states: int, stop: Callable[[], bool]) -> Samples:
        """Adds up to so many states, or fewer where walks meet nothing new, or `stop` is true."""
        wanted = len(self.samples.states) + states
        idle = 0
        while len(self.samples.states) < wanted and idle < 60 and not stop():
            before = len(self.samples.states)
            self._walk(wanted, stop)
            idle = 0 if len(self.samples.states) > before else idle + 1
        self.samples.starved = tuple(name for name, fired in self._fired.items() if fired == 1)
        return self.samples

    def _walk(self, wanted: int, stop: Callable[[], bool]) -> None:
        at = self._from(stop)
        if at is None:
            return
        known = 0
        for _ in range(LENGTH):
            self._visits[at] += 1
            there, found = len(self.samples.states), self._onward(at)
            known += len(self.samples.states) == there
            if found is None or known > KNOWN:
                return
            at = found
            if len(self.samples.states) >= wanted or stop():
                return

    def _onward(self, at: int) -> int | None:
        """A state after one step, a new one where a few tries find one; None where no step is possible."""
        state, found = self.samples.states[at], None
        if at not in self._possible:
            every = ((each.action, value_in(each.enabled, state)) for each in self._steps)
            self._possible[at] = [(action, enabled) for action, enabled in every if enabled]
        choices = self._possible[at]
        weights = [self._fired[action.name] ** -0.5 for action, _ in choices]
        for _ in range(TRIES if choices else 0):
            ((action, possible),) = self._chance.choices(choices, weights)
            arguments = self._chance.choice(possible)
            if (known := self._led.get((at, action.name, arguments))) is not None:
                found = known
                continue
            try:
                after = step(action, arguments, state)
            except Unsupported:
                return None
            found, new = self._add(after, (at, action, arguments))
            self._led[at, action.name, arguments] = found
            if new:
                self._fired[action.name] += 1
                break
        return found

    def _from(self, stop: Callable[[], bool]) -> int | None:
        """Where a walk begins: at an initial state, or at a state that was seldom left."""
        known, novel = len(self.samples.states), self._novel
        if known > 20 and self._chance.random() < 0.8:
            among: Sequence[int] = novel if novel and self._chance.random() < 0.75 else range(known)
            some = [self._chance.choice(among) for _ in range(4)]
            return min(some, key=lambda number: self._visits[number])
        start = self._start(stop)
        return None if start is None else self._add(start, None)[0]

    def _add(self, state: Structure, origin: tuple[int, Action, tuple[int, ...]] | None) -> tuple[int, bool]:
        key = _key(state)
        if key in self._known:
            return self._known[key], False
        number = self._known[key] = len(self.samples.states)
        self.samples.states.append(state)
        self.samples.origins.append(origin)
        self._visits.append(0)
        if self._is_novel(state, number):
            self._novel.append(number)
        return number, True

    def _is_novel(self, state: Structure, number: int) -> bool:
        """Whether the state shows something that no sample before it shows."""
        novel = False
        shared: dict[str, object] = {}
        for function, known, first in self._shows:
            rows = {row for _, row in function(state.universe, state.tables, shared)}
            novel = novel or not rows <= known
            known |= rows
            if number < FIRST:
                first |= rows
        return novel

    def _start(self, stop: Callable[[], bool]) -> Structure | None:
        """An initial state with random values of what is free."""
        if self._starts is not None:
            return self._chance.choice(self._starts) if self._starts else None
        for _ in range(DRAWS):
            if stop():
                return None
            start = self._drawn()
            if value_in(self._axioms, start):
                return start
        self._starts = self._solved(stop)
        return self._start(stop)

    def _drawn(self) -> Structure:
        free = free_at_first(self._machine)
        universe = self.samples.universe
        given: dict[str, Table] = {}
        for symbol in symbols(self._machine):
            if symbol.name in free:
                density = self._chance.choice((0.2, 0.5, 0.8))
                keys = tuples([parameter.type for parameter in symbol.parameters], universe)
                given[symbol.name] = {key: self._value(symbol, density) for key in keys}
        return initial(self._machine, universe, given)

    def _value(self, symbol: ir.Symbol, density: float) -> Value:
        if symbol.result == BOOL:
            return self._chance.random() < density
        if symbol.result == NAT:
            return self._chance.randrange(3)
        return self._chance.choice(elements(symbol.result, self.samples.universe))

    def _solved(self, stop: Callable[[], bool]) -> list[Structure]:
        """Initial states that satisfy the axioms, by a solver: each with some random values prescribed. One at least,
        if there is one."""
        found: dict[object, Structure] = {}
        free = free_at_first(self._machine)
        signature = signature_of(self._machine)
        for number in range(STARTS):
            if found and stop():
                break
            draft = self._drawn()
            wanted = [
                (symbol, key, value)
                for symbol in symbols(self._machine)
                if symbol.name in free
                for key, value in draft.tables[symbol.name].items()
            ]
            self._chance.shuffle(wanted)
            model = None
            for share in (number % 6, 1, 0):
                model = self._with(signature, wanted[:share])
                if model is not None:
                    break
            if model is None:
                break
            given = {name: model.tables[name] for name in free}
            start = initial(self._machine, self.samples.universe, given)
            found.setdefault(_key(start), start)
        return list(found.values())

    def _with(self, signature: object, wanted: Sequence[tuple[ir.Symbol, tuple[int, ...], Value]]) -> Structure | None:
        """A structure that satisfies the axioms and has these values."""
        constants: dict[str, ir.Variable] = {}
        formulas = list(self._machine.axioms)
        for symbol, key, value in wanted:
            arguments: list[ir.Expr] = []
            for parameter, element in zip(symbol.parameters, key, strict=True):
                name = f"{parameter.type}{element}"
                constants[name] = ir.Variable(name, parameter.type)
                arguments.append(ir.Local(parameter.type, name))
            application = ir.Apply(symbol.result, symbol.name, tuple(arguments))
            if symbol.result == BOOL:
                said: ir.Expr = application if value else negation(application)
            elif symbol.result == NAT:
                said = equal(application, ir.Literal_(NAT, int(value)))
            else:
                name = f"{symbol.result}{value}"
                constants[name] = ir.Variable(name, symbol.result)
                said = equal(application, ir.Local(symbol.result, name))
            formulas.append(ir.NamedFormula("a value", said))
        names = list(constants.values())
        for at, one in enumerate(names):
            for other in names[:at]:
                if one.type == other.type:
                    apart = negation(equal(ir.Local(one.type, one.name), ir.Local(other.type, other.name)))
                    formulas.append(ir.NamedFormula("different", apart))
        problem = Problem(signature_of(self._machine), tuple(formulas), (), tuple(names))
        outcome = self._session.find_model(problem, (self.samples.universe,), least=False)
        return None if outcome.model is None else outcome.model.structure


def few(session: ProofSession, fitting: Fitting, seed: int, stop: Callable[[], bool]) -> list[Sampler]:
    """A few runs in each universe with more elements of one sort than of others."""
    found = [Sampler(session, fitting.machine, fitting(size), seed) for size in uneven(fitting.machine)]
    for each in found:
        each.more(FEW_STATES, stop)
    return found


def _possible(action: Action) -> _Step:
    conditions = [part for guard in action.guards for part in split(guard.body)]
    return _Step(action, compiled_choices(conditions, action.parameters, ARGUMENTS_BELOW))


def _key(state: Structure) -> object:
    """What tells a state from others."""
    return tuple(
        tuple(table.values()) if "nat" not in state.universe else tuple(sorted(table.items()))
        for table in state.tables.values()
    )


def violated_in(formula: ir.Expr, samples: Samples) -> int | None:
    """The first of the states in which a closed formula is false. Raises: Unsupported."""
    assert not free_locals(formula)
    function = compiled(formula, ())
    for number, state in enumerate(samples.states):
        if not value_in(function, state):
            return number
    return None


def sorts_of(variables: Collection[ir.Variable]) -> tuple[Sort, ...]:
    return tuple(dict.fromkeys(each.type for each in variables if isinstance(each.type, Sort)))
