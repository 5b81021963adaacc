"""Bounded search from the initial states of a machine, over a small universe, breadth by depth.

The initial states come first, as runs of no steps. One propositional query per depth has all choices of the initial
state (who sends to whom) and all sequences of transitions; the shortest first. Every run is replayed step by step by
evaluation. A search without a run proves nothing beyond the universe and depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT
from thence.proofs.logic.formula import Unsupported, conj, disj, equal, forall, free_locals, local, negation
from thence.proofs.logic.ground import Cells, Grounding, Mark, Term, all_of, any_of, choose, negated, quoted
from thence.proofs.logic.number_window import NUMBERS_BELOW, WINDOW
from thence.proofs.logic.structure import CrossCheckError, Structure, beyond_window, evaluate, tuples
from thence.proofs.machine.transitions import (
    Action,
    actions,
    enabled,
    environment_of,
    free_at_first,
    initial,
    step,
    symbols,
)
from thence.proofs.machine.universe import Fitting, universe_of
from thence.proofs.solving.finite_models import confirmed, describe_size
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import PATIENCE, SEARCH_EFFORT_A_MS, Answer, Stage, StagedSearch
from thence.spec.words import counted


@dataclass(frozen=True, slots=True)
class Falsification:
    """Goal: a reachable state in which the formula is false; with free names, a state before a `deliver` of them."""

    formula: ir.NamedFormula


def reaching(formula: ir.NamedFormula) -> Falsification:
    """A reachable state in which the formula is true."""
    return Falsification(ir.NamedFormula(f"never {formula.name}", negation(formula.body)))


@dataclass(frozen=True, slots=True)
class Firing:
    """Goal: the transition of this name happens."""

    action: str


@dataclass(frozen=True, slots=True)
class Change:
    """Goal: a step before which `before` is true and after which `after` is true, for some values of the parameters.

    `exempt` (name, n): no step by the transition of this name whose arguments are the values of the first n parameters.
    """

    parameters: tuple[ir.Variable, ...]
    before: ir.Expr
    after: ir.Expr
    exempt: tuple[str, int] | None = None


Goal: TypeAlias = Falsification | Firing | Change


@dataclass(frozen=True, slots=True)
class TransitionRun:
    """An initial structure and the transitions from it, each with its arguments; replayed by evaluation."""

    start: Structure
    steps: tuple[tuple[Action, tuple[int, ...]], ...]

    def states(self) -> tuple[Structure, ...]:
        """The structures before the first and after each step. Raises: CrossCheckError where a guard is false."""
        states = [self.start]
        for action, arguments in self.steps:
            if not enabled(action, arguments, states[-1]):
                raise CrossCheckError(f"`{action.name}` is not enabled where the solver takes it")
            states.append(step(action, arguments, states[-1]))
        return tuple(states)


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A universe, a number of steps, and bounds on numbers if there are any."""

    universe: Mapping[str, int]
    depth: int
    numbers_below: int | None = None
    arguments_below: int | None = None

    def __str__(self) -> str:
        numbers = "" if self.numbers_below is None else f", with numbers below {self.numbers_below}"
        if self.arguments_below is not None:
            numbers += f", below {self.arguments_below} as arguments"
        among = f" among {describe_size(self.universe)}" if self.universe else ""
        return f"up to {counted(self.depth, 'step')}{among}{numbers}"


@dataclass(frozen=True, slots=True)
class Searched:
    """The runs that were found, by goal, and the scope that was searched for the others.

    Attributes:
        unknown: the reason why the search ended before its scope did.
        unsearchable: by goal, the reason why no finite structure decides it, so that no run was looked for.
    """

    runs: Mapping[str, TransitionRun]
    scope: SearchScope
    unknown: str = ""
    unsearchable: Mapping[str, str] = field(default_factory=dict)


def not_found(searched: Searched | None, goals: Iterable[str], verb: str) -> str:
    """The limits of a search that found no run to any of these goals.

    `verb` says what the run does to the statement: violates, refutes.
    """
    if searched is None:
        return "no run was looked for"
    for goal in goals:
        if goal in searched.unsearchable:
            return f"no run was looked for: {searched.unsearchable[goal]}"
    if searched.unknown:
        return f"the search for a run gave up: {searched.unknown}"
    return f"no run of {searched.scope} {verb} it"


SCOPES = (SearchScope({"process": 3, "message": 3}, 12), SearchScope({"process": 3, "message": 4}, 16))
"""The scopes that are searched for runs: the second one only for goals that the first one does not have."""

GROUP = SearchScope({"process": 2, "message": 2}, 12)
"""The first scope of machines whose messages go to several processes: there every process adds steps to a run."""


def scopes_of(machine: ir.Machine) -> tuple[SearchScope, ...]:
    """The scopes that are searched for runs of the machine, in order."""
    return SCOPES if machine.delivery == "unicast" else (GROUP, *SCOPES)


Changes: TypeAlias = dict[tuple[int, ...], list[tuple[str, Term]]]
"""Of a symbol, by its arguments: what it becomes, each with the choice of a transition that makes it so."""


@dataclass(slots=True)
class Unrolling:
    """The machine's steps as constants: a choice for every step, cells for every state.

    Once a state differs from the one before in the numbers of steps only, so does the text of what may happen next: it
    is not derived again, but renamed (`repeats`).

    `may_end`: from some step on nothing may happen, so that also shorter runs are found at once, and those of machines
    that come to rest.
    """

    machine: ir.Machine
    grounding: Grounding
    symbols: tuple[ir.Symbol, ...]
    actions: tuple[Action, ...]
    states: list[dict[str, Cells]] = field(default_factory=list)
    choices: list[dict[tuple[str, tuple[int, ...]], str]] = field(default_factory=list)
    may_end: bool = False
    repeats: bool = False
    _marks: list[tuple[Mark, Mark]] = field(default_factory=list)

    def start(self) -> None:
        free = free_at_first(self.machine)
        state: dict[str, Cells] = {}
        for symbol in self.symbols:
            arbitrary = symbol.name in free
            state[symbol.name] = self.grounding.fresh_cells(symbol) if arbitrary else self.grounding.known_cells(symbol)
        if self.machine.initial:
            action, changes = Action("initial", (), (), self.machine.initial), dict[str, Changes]()
            self._collect(action, {}, state, "true", changes)
            state = self._changed_cells(0, state, changes)
        self.states.append(state)
        for axiom in self.machine.axioms:
            self.grounding.assertions.append(self.grounding.formula(axiom.body, state, {}))

    def advance(self) -> None:
        """One more step: exactly one transition happens, and its guard is true; or none any more, if runs may end."""
        begin = self.grounding.mark()
        self.repeats = self._is_like_the_last(begin)
        if self.repeats:
            self.grounding.repeat(*self._marks[-1], a_step_later)
            self.choices.append({key: a_step_later(choice) for key, choice in self.choices[-1].items()})
            self.states.append(_later(self.states[-1]))
        else:
            self._derive_step()
        self._marks.append((begin, self.grounding.mark()))

    def _is_like_the_last(self, begin: Mark) -> bool:
        """Whether the next step is the last one, renamed. The first step says less than others about an end."""
        if len(self.choices) < 2 or begin.highest != self._marks[-1][0].highest:
            return False
        return self.states[-1] == _later(self.states[-2])

    def _derive_step(self) -> None:
        number, before = len(self.choices), self.states[-1]
        choices: dict[tuple[str, tuple[int, ...]], str] = {}
        changes: dict[str, Changes] = {}
        for action in self.actions:
            try:
                self._offer(action, number, before, choices, changes)
            except Unsupported as reason:
                raise Unsupported(f"transition {action.name}: {reason}") from reason
        one_of = [*choices.values(), *self._end(number)]
        self.grounding.assertions.append(any_of(one_of))
        self.grounding.assertions.extend(
            any_of((negated(one), negated(other))) for one, other in combinations(one_of, 2)
        )
        self.choices.append(choices)
        self.states.append(self._changed_cells(number + 1, before, changes))

    def _changed_cells(
        self, number: int, before: Mapping[str, Cells], changes: Mapping[str, Changes]
    ) -> dict[str, Cells]:
        """The cells of the state of this number."""
        return {
            symbol.name: {
                key: self._next(f"{symbol.name}@{number}", symbol, key, cell, changes)
                for key, cell in before[symbol.name].items()
            }
            for symbol in self.symbols
        }

    def _end(self, number: int) -> tuple[str, ...]:
        """The choice that nothing happens any more, if there is one: it stays."""
        if not self.may_end:
            return ()
        name = f"@{number}~end"
        self.grounding.constants[name] = "Bool"
        if number:
            self.grounding.assertions.append(any_of((negated(quoted(f"@{number - 1}~end")), quoted(name))))
        return (quoted(name),)

    def _offer(
        self,
        action: Action,
        number: int,
        before: Mapping[str, Cells],
        choices: dict[tuple[str, tuple[int, ...]], str],
        changes: dict[str, Changes],
    ) -> None:
        """Makes the transition one of the choices of a step, for each of its arguments."""
        for arguments in tuples([parameter.type for parameter in action.parameters], self.grounding.universe):
            environment = self._environment(action, arguments)
            guard = all_of(
                (
                    *(self.grounding.formula(guard.body, before, environment) for guard in action.guards),
                    self._in_order(action, arguments, before),
                )
            )
            if guard == "false":
                continue
            name = "!".join([f"@{number}", action.name, *map(str, arguments)])
            self.grounding.constants[name] = "Bool"
            choices[(action.name, arguments)] = quoted(name)
            self.grounding.assertions.append(any_of((negated(quoted(name)), guard)))
            self._collect(action, environment, before, quoted(name), changes)

    def _environment(self, action: Action, arguments: Sequence[int]) -> dict[str, Term]:
        return {
            parameter.name: self.grounding.element(value, parameter.type)
            for parameter, value in zip(action.parameters, arguments, strict=True)
        }

    def _in_order(self, action: Action, arguments: Sequence[int], before: Mapping[str, Cells]) -> str:
        """Messages are alike, so they are causal-sent in the order of their numbers."""
        if action.name != "causal_send" or arguments[0] == 0:
            return "true"
        earlier = before["sent"][(arguments[0] - 1,)]
        assert isinstance(earlier, str)
        return earlier

    def _collect(
        self,
        action: Action,
        environment: Mapping[str, Term],
        before: Mapping[str, Cells],
        choice: str,
        changes: dict[str, Changes],
    ) -> None:
        for update in action.updates:
            cells = changes.setdefault(update.symbol, {})
            self._stays_in_window(update, environment, before, choice)
            for values in tuples([binder.type for binder in update.binders], self.grounding.universe):
                inner = {
                    **environment,
                    **{
                        binder.name: self.grounding.element(value, binder.type)
                        for binder, value in zip(update.binders, values, strict=True)
                    },
                }
                terms = [self.grounding.term(argument, before, inner) for argument in update.arguments]
                key = tuple(int(term) if isinstance(term, str) else next(iter(term)) for term in terms)
                cells.setdefault(key, []).append((choice, self.grounding.term(update.value, before, inner)))

    def _stays_in_window(
        self, update: ir.Update, environment: Mapping[str, Term], before: Mapping[str, Cells], choice: str
    ) -> None:
        """An update over numbers changes nothing beyond the window: runs that do are not searched."""
        numbers = [binder for binder in update.binders if binder.type == NAT]
        if not numbers:
            return
        window = ir.Literal_(NAT, self.grounding.universe["nat"])
        inside = conj(ir.Comparison(BOOL, "<", local(binder), window) for binder in numbers)
        nothing = ir.Literal_(update.value.type, beyond_window(update.value.type))
        kept = forall(update.binders, disj((inside, equal(update.value, nothing))))
        self.grounding.assertions.append(any_of((negated(choice), self.grounding.formula(kept, before, environment))))

    def _next(
        self,
        prefix: str,
        symbol: ir.Symbol,
        key: tuple[int, ...],
        cell: Term,
        changes: Mapping[str, Changes],
    ) -> Term:
        """The cell after the step: the new value of the transition that happened, if it updates the cell."""
        written = changes.get(symbol.name, {}).get(key, ())
        if not written:
            return cell
        name = "!".join([prefix, *map(str, key)])
        if symbol.result == BOOL:
            assert isinstance(cell, str)
            touched = any_of(choice for choice, _ in written)
            set_true = [all_of((choice, value)) for choice, value in written if isinstance(value, str)]
            return self.grounding.named(name, any_of((*set_true, all_of((negated(touched), cell)))))
        after = cell
        for choice, value in written:
            after = choose(choice, value, after)
        if isinstance(after, str):
            if after.isdigit():
                self.grounding.keep_in_window(after)
                return after
            self.grounding.constants[name] = "Int"
            self.grounding.assertions.append(f"(= {quoted(name)} {after})")
            self.grounding.keep_in_window(quoted(name))
            return quoted(name)
        return {value: self.grounding.named(f"{name}={value}", when) for value, when in after.items()}

    def goal(self, goal: Goal) -> str:
        """The condition under which the last state, or the last step, reaches the goal."""
        state = self.states[-1]
        match goal:
            case Firing():
                return any_of(choice for (name, _), choice in self.choices[-1].items() if name == goal.action)
            case Change():
                return any_of(self._changed(goal, values) for values in self._values(goal.parameters))
            case Falsification() if not free_locals(goal.formula.body):
                return self.grounding.formula(negation(goal.formula.body), state, {})
            case Falsification():
                action = next(action for action in self.actions if action.name == "deliver")
                return any_of(
                    all_of(
                        (
                            choice,
                            self.grounding.formula(
                                negation(goal.formula.body), self.states[-2], self._environment(action, arguments)
                            ),
                        )
                    )
                    for (name, arguments), choice in self.choices[-1].items()
                    if name == "deliver"
                )

    def _values(self, parameters: Sequence[ir.Variable]) -> Iterator[tuple[int, ...]]:
        return tuples([parameter.type for parameter in parameters], self.grounding.universe)

    def _changed(self, goal: Change, values: tuple[int, ...]) -> str:
        environment = {
            parameter.name: self.grounding.element(value, parameter.type)
            for parameter, value in zip(goal.parameters, values, strict=True)
        }
        exempted = "false"
        if goal.exempt is not None:
            name, number = goal.exempt
            exempted = self.choices[-1].get((name, values[:number]), "false")
        before = self.grounding.formula(goal.before, self.states[-2], environment)
        if before == "false":
            return before
        return all_of((before, self.grounding.formula(goal.after, self.states[-1], environment), negated(exempted)))


_STEP = re.compile(r"@(\d+)")
"""The number of a step in a name. No name of a file has an `@`."""


def a_step_later(text: str) -> str:
    """The text, about what comes one step later."""
    return _STEP.sub(lambda found: f"@{int(found[1]) + 1}", text)


def _later(state: Mapping[str, Cells]) -> dict[str, Cells]:
    return {symbol: {key: _later_term(cell) for key, cell in cells.items()} for symbol, cells in state.items()}


def _later_term(term: Term) -> Term:
    if isinstance(term, str):
        return a_step_later(term)
    return {value: a_step_later(when) for value, when in term.items()}


def changed_values(goal: Change, run: TransitionRun) -> dict[str, int] | None:
    """Values of the goal's parameters for which the last step of the run is such a change, by evaluation."""
    before, after = run.states()[-2:]
    action, arguments = run.steps[-1]
    for values in tuples([parameter.type for parameter in goal.parameters], before.universe):
        environment = {parameter.name: value for parameter, value in zip(goal.parameters, values, strict=True)}
        exempted = goal.exempt is not None and (action.name, arguments) == (goal.exempt[0], values[: goal.exempt[1]])
        if not exempted and evaluate(goal.before, before, environment) and evaluate(goal.after, after, environment):
            return environment
    return None


def search(
    session: ProofSession,
    machine: ir.Machine,
    goals: Mapping[str, Goal],
    *,
    scopes: Sequence[SearchScope] = (),
    effort: int | None = None,
    alternatives: Mapping[str, str] | None = None,
) -> Searched:
    """A run to every goal that can be reached in one of the scopes: a shortest one of the first scope that has any.

    Where the axioms exclude a scope's universe, the nearest one that they allow is searched.

    `alternatives`: by goal, the group that it belongs to; once a goal of a group is reached, its others are left.

    Without `scopes`, those of the machine are searched. `effort` limits the search of each scope, in Z3's own measure.

    A machine that no finite structure can follow gives no runs: the result says why. Raises: CrossCheckError where the
    replay disagrees with Z3.
    """
    runs: dict[str, TransitionRun] = {}
    unsearchable: dict[str, str] = {}
    scopes = scopes or scopes_of(machine)
    found = Searched({}, scopes[0])
    group = {name: name for name in goals} if alternatives is None else alternatives
    waiting, fitting = list(scopes), Fitting(session, machine)
    while waiting and not found.unknown:
        done = {group[name] for name in runs}
        left = {name: goal for name, goal in goals.items() if group[name] not in done and name not in unsearchable}
        if not left:
            break
        among = {} if alternatives is None else {name: group[name] for name in left}
        scope = replace(waiting[0], universe=fitting(waiting[0].universe))
        found = _search_in(session, machine, _Wanted(left, among), scope, effort)
        runs |= found.runs
        unsearchable |= found.unsearchable
        if not (among and found.unsearchable):  # a goal that no run decides may have ended the search for its group
            waiting.pop(0)
    return Searched(runs, found.scope, found.unknown, unsearchable)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The goals of one search, and the groups of which one goal is enough."""

    goals: Mapping[str, Goal]
    alternatives: Mapping[str, str]


def _search_in(
    session: ProofSession,
    machine: ir.Machine,
    wanted: _Wanted,
    scope: SearchScope,
    effort: int | None,
) -> Searched:
    """The search of one scope. The pool keeps complete results, which do not depend on the limit on effort."""
    behaviour = replace(machine, invariants=(), prove=(), expects=(), stable=(), reachable=())
    limits = (session.options.timeout_ms, session.options.seed)
    asked = (tuple(wanted.goals.items()), tuple(wanted.alternatives.items()))
    same = ("search", behaviour, *asked, scope.depth, tuple(scope.universe.items()), *limits)
    found = session.pool.computed.get(same)
    if not isinstance(found, Searched):
        try:
            found = _searched_in(session, machine, wanted, scope, effort)
        except Unsupported as reason:
            return Searched({}, scope, str(reason))
        if not found.unknown:
            session.pool.computed[same] = found
    return found


def _searched_in(
    session: ProofSession,
    machine: ir.Machine,
    wanted: _Wanted,
    scope: SearchScope,
    effort: int | None,
) -> Searched:
    goals = wanted.goals
    universe = universe_of(machine, scope.universe)
    if any(parameter.type == NAT for action in actions(machine) for parameter in action.parameters):
        universe.setdefault("nat", WINDOW)
    unrolling = Unrolling(machine, Grounding(universe), symbols(machine), actions(machine))
    unrolling.start()
    grounding = unrolling.grounding
    stages: list[Stage] = []
    said = 0
    unsearchable: dict[str, str] = {}
    conditions: dict[str, str] = {}
    for number in range(scope.depth + 1):
        if number:
            unrolling.advance()
        literals: dict[str, str] = {}
        for name, goal in goals.items():
            if name in unsearchable or (number == 0 and not _is_of_a_state(goal)):
                continue
            try:
                known = conditions.get(name) if unrolling.repeats else None
                conditions[name] = unrolling.goal(goal) if known is None else a_step_later(known)
            except Unsupported as reason:
                unsearchable[name] = str(reason)
                continue
            grounding.constants[f"goal@{number} {name}"] = "Bool"
            literals[name] = f"goal@{number} {name}"
            grounding.assertions.append(any_of((negated(quoted(literals[name])), conditions[name])))
        stages.append(Stage(tuple(grounding.assertions[said:]), literals))
        said = len(grounding.assertions)

    def read(answer: Answer) -> dict[str, TransitionRun]:
        runs: dict[str, TransitionRun] = {}
        for name, found in answer.models.items():
            try:
                runs[name] = replayed(unrolling, goals[name], found.stage, found.values)
            except Unsupported as reason:
                unsearchable[name] = str(reason)
        return runs

    options = session.options
    request = StagedSearch(
        grounding.constants, tuple(stages), (), options.timeout_ms * PATIENCE, options.seed, NUMBERS_BELOW,
        options.timeout_ms * SEARCH_EFFORT_A_MS if effort is None else effort, wanted.alternatives,
    )  # fmt: skip
    answer, runs = confirmed(session.pool, request, read)
    if "Int" in grounding.constants.values():
        scope = replace(scope, numbers_below=NUMBERS_BELOW)
    if "nat" in universe:
        scope = replace(scope, arguments_below=universe["nat"])
    if machine.sorts or machine.delivery == "off":
        scope = replace(scope, universe=_spoken_of(machine, universe))
    return Searched(runs, scope, answer.reason if answer.status == "unknown" else "", unsearchable)


def _spoken_of(machine: ir.Machine, universe: Mapping[str, int]) -> Mapping[str, int]:
    """The sizes of the sorts that the machine speaks of."""
    types = {each.type for symbol in symbols(machine) for each in symbol.parameters}
    types |= {symbol.result for symbol in symbols(machine)}
    types |= {each.type for transition in machine.transitions for each in transition.parameters}
    return {sort: size for sort, size in universe.items() if sort != "nat" and sort in {str(type_) for type_ in types}}


def _is_of_a_state(goal: Goal) -> bool:
    """Whether an initial state may be the goal, without a step."""
    return isinstance(goal, Falsification) and not free_locals(goal.formula.body)


def replayed(unrolling: Unrolling, goal: Goal, length: int, values: Mapping[str, int | bool]) -> TransitionRun:
    """The run of a model, replayed; the goal must be reached. Raises: CrossCheckError."""
    grounding = unrolling.grounding
    given = {name: grounding.table(cells, values) for name, cells in unrolling.states[0].items()}
    start = initial(unrolling.machine, grounding.universe, given)
    by_name = {action.name: action for action in unrolling.actions}
    steps: list[tuple[Action, tuple[int, ...]]] = []
    for choices in unrolling.choices[:length]:
        chosen = [key for key, choice in choices.items() if values[choice.strip("|")]]
        if len(chosen) != 1:
            raise CrossCheckError("a step with other than one transition")
        name, arguments = chosen[0]
        steps.append((by_name[name], arguments))
    run = TransitionRun(start, tuple(steps))
    if not reaches(goal, run):
        raise CrossCheckError("the replayed run does not reach what the solver says it reaches")
    return run


def reaches(goal: Goal, run: TransitionRun) -> bool:
    """Whether the run ends with the goal, by evaluation. Raises: CrossCheckError where it is no run."""
    states = run.states()
    match goal:
        case Firing():
            return bool(run.steps) and run.steps[-1][0].name == goal.action
        case Change():
            return bool(run.steps) and changed_values(goal, run) is not None
        case Falsification() if free_locals(goal.formula.body):
            if not run.steps or run.steps[-1][0].name != "deliver":
                return False
            action, arguments = run.steps[-1]
            return not evaluate(goal.formula.body, states[-2], environment_of(action, arguments))
        case Falsification():
            return not evaluate(goal.formula.body, states[-1], {})
        case _ as never:
            assert_never(never)
