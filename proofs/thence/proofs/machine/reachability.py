"""Bounded search from the initial states of a machine, over a small universe, breadth by depth.

The initial states come first, as runs of no steps. One propositional query per depth has all choices of the initial
state (who sends to whom) and all sequences of transitions; the shortest first. Every run is replayed step by step by
evaluation. A search without a run proves nothing beyond the universe and depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.ir.types import NAT
from thence.proofs.logic.formula import Unsupported, free_locals
from thence.proofs.logic.ground import Grounding, any_of, negated, quoted
from thence.proofs.logic.number_window import NUMBERS_BELOW, WINDOW
from thence.proofs.machine.goals import Falsification, Goal, TransitionRun
from thence.proofs.machine.transitions import (
    actions,
    symbols,
)
from thence.proofs.machine.universe import Fitting, universe_of
from thence.proofs.machine.unrolling import Unrolling, a_step_later, replayed
from thence.proofs.solving.finite_models import confirmed, describe_size
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import PATIENCE, SEARCH_EFFORT_A_MS, Answer, Stage, StagedSearch
from thence.spec.words import counted


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
            numbers += f" (as arguments below {self.arguments_below})"
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
