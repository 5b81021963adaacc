"""Smallest finite models of formulas, found by Z3 over a growing universe and believed only after evaluation.

A model is minimal: no earlier universe of the list has one, and, within a limited effort of the solver, no model over
the same universe has fewer true facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias, TypeVar, cast

from thence.dsl import ir
from thence.dsl.ir.types import NAT, Sort
from thence.proofs.logic.formula import free_locals, negation
from thence.proofs.logic.ground import Grounding, Term
from thence.proofs.logic.number_window import WINDOW
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import CrossCheckError, Structure, Value, evaluate, least_relations
from thence.proofs.solving.solver import PATIENCE, SEARCH_EFFORT_A_MS, Answer, SolverPool, Stage, StagedSearch

Read = TypeVar("Read")

_Texts: TypeAlias = dict[int, tuple[ir.Expr, str]]
"""What a grounding over one universe says of closed formulas, by identity: the obligations of a machine share most
hypotheses. Each with the formula, so that no other has its place in memory."""

_LONGEST_KEPT = 50_000
"""Texts of formulas with more characters are not kept."""

GOAL = "the goal"
"""The truth value that a model makes true. No symbol of a file has this name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Formulas that a model makes true together.

    Attributes:
        inductives: relations that must be the least ones closed under their rules, exactly.
        constants: free names of the formulas.
    """

    signature: Signature
    formulas: tuple[ir.NamedFormula, ...]
    inductives: tuple[ir.Inductive, ...] = ()
    constants: tuple[ir.Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """A finite structure, with elements for the constants, in which a problem's formulas are true."""

    structure: Structure
    environment: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A model; or none over the universes `sizes`, and, where the solver gave up, the reason `unknown`."""

    model: Model | None
    sizes: tuple[Mapping[str, int], ...]
    unknown: str = ""


SIZES: tuple[Mapping[str, int], ...] = tuple(
    {"message": messages, "process": processes}
    for messages, processes in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 3))
)
"""Universes from small to large. Sorts other than message and process get as many elements as there are messages."""

STEP_SIZES: tuple[Mapping[str, int], ...] = tuple(
    {"message": messages, "process": processes} for messages in range(1, 5) for processes in range(1, 4)
)
"""Universes for a step that breaks an invariant: fewest messages first, then fewest processes."""


def negated_obligation(obligation: Obligation) -> Problem:
    """The problem whose models are the counterexamples of an obligation."""
    goal = ir.NamedFormula(f"not {obligation.goal.name}", negation(obligation.goal.body))
    return Problem(obligation.signature, (*obligation.hypotheses, goal), (), obligation.constants)


def find_model(
    pool: SolverPool,
    problem: Problem,
    *,
    timeout_ms: int,
    seed: int,
    sizes: Sequence[Mapping[str, int]] = SIZES,
    least: bool = True,
) -> Outcome:
    """The first model over the universes in their order; with `least`, one of few true facts, which takes longer.

    Raises: Unsupported for a symbol without a finite table; CrossCheckError where the evaluator disagrees with Z3.
    """
    tried: list[Mapping[str, int]] = []
    searched: list[Mapping[str, int]] = []
    for size in sizes:
        universe = full_universe(problem.signature, size)
        if universe in searched:
            continue  # the sizes differ in a sort that the problem does not have
        searched.append(universe)
        answer, model = _find_in(pool, problem, universe, timeout_ms, seed, least)
        if answer.status == "unknown":
            return Outcome(None, tuple(tried), f"finite search at {describe_size(size)}: {answer.reason}")
        tried.append(size)
        if model is not None:
            return Outcome(model, tuple(tried))
    return Outcome(None, tuple(tried))


def _find_in(
    pool: SolverPool, problem: Problem, universe: Mapping[str, int], timeout_ms: int, seed: int, least: bool
) -> tuple[Answer, Model | None]:
    same = ("grounded", problem.signature, tuple(universe.items()))
    known = cast(_Texts, pool.computed.setdefault(same, {}))
    grounding, state, environment = _grounded(problem, universe, known)
    stage = Stage(tuple(grounding.assertions), {"model": GOAL})

    def read(answer: Answer) -> Model | None:
        if "model" not in answer.models:
            return None
        values = answer.models["model"].values
        tables = {name: grounding.table(cells, values) for name, cells in state.items()}
        found = grounding.table({(n,): term for n, term in enumerate(environment.values())}, values)
        elements = {name: found[(number,)] for number, name in enumerate(environment)}
        return checked(problem, Model(Structure(universe, tables), elements))

    facts = _facts(problem, grounding) if least else ()
    request = StagedSearch(
        grounding.constants, (stage,), facts, timeout_ms * PATIENCE, seed, effort=timeout_ms * SEARCH_EFFORT_A_MS
    )
    return confirmed(pool, request, read)


def confirmed(pool: SolverPool, request: StagedSearch, read: Callable[[Answer], Read]) -> tuple[Answer, Read]:
    """The answer, and the value read from it. A kept answer that evaluation does not confirm is asked for anew.

    Raises: CrossCheckError where the solver's own answer is not confirmed either.
    """
    answer = pool.ask(request)
    try:
        return answer, read(answer)
    except (CrossCheckError, LookupError):
        if not answer.cached:
            raise
    answer = pool.ask(request, anew=True)
    return answer, read(answer)


def full_universe(signature: Signature, size: Mapping[str, int]) -> Mapping[str, int]:
    """Sizes for all sorts. An ordered sort whose size is not given is large enough for all values to be different that
    the functions into it have, at arguments of sorts that have a size before it.

    A signature with symbols over numbers gets the window of numbers, too.
    """
    universe = {"nat": WINDOW} if any(p.type == NAT for s in signature.symbols for p in s.parameters) else {}
    universe |= {
        sort.name: size.get(sort.name, size.get("message", 1))
        for sort in signature.sorts
        if sort.name not in signature.ordered or sort.name in size
    }
    for name in signature.ordered:
        if name in size:
            continue
        into = [_sorts_of(symbol) for symbol in signature.symbols if symbol.result == Sort(name)]
        cells = (
            prod(universe[sort.name] for sort in sorts)
            for sorts in into
            if all(sort.name in universe for sort in sorts)
        )
        universe[name] = max(size.get("message", 1), sum(cells))
    return universe


def _sorts_of(symbol: ir.Symbol) -> list[Sort]:
    return [each.type for each in symbol.parameters if isinstance(each.type, Sort)]


def _grounded(
    problem: Problem, universe: Mapping[str, int], known: _Texts
) -> tuple[Grounding, dict[str, Mapping[tuple[int, ...], Term]], dict[str, Term]]:
    """The problem over a universe. `known` gets what it says of formulas that others may have, too."""
    grounding = Grounding(universe, frozenset(problem.signature.ordered))
    exact = {inductive.name for inductive in problem.inductives}
    state: dict[str, Mapping[tuple[int, ...], Term]] = {
        symbol.name: grounding.fresh_cells(symbol) for symbol in problem.signature.symbols if symbol.name not in exact
    }
    for together in ir.built_together(problem.inductives):
        state |= grounding.least_fixpoint(together, state)
    environment: dict[str, Term] = {
        constant.name: grounding.fresh_term(f"${constant.name}", constant.type) for constant in problem.constants
    }
    grounding.constants[GOAL] = "Bool"
    for formula in problem.formulas:
        body = formula.body
        if id(body) in known and not exact:
            text = known[id(body)][1]
        else:
            text = grounding.formula(body, state, environment)
            # where quantifiers have bounded the numbers, more was said than the text
            if len(text) <= _LONGEST_KEPT and grounding.mark().highest is None and not exact and not free_locals(body):
                known[id(body)] = body, text
        grounding.assertions.append(text)
    return grounding, state, environment


def _facts(problem: Problem, grounding: Grounding) -> tuple[str, ...]:
    """The constants to make false or small where possible: cells of relations, and numbers."""
    relations = tuple(f"{symbol.name}!" for symbol in problem.signature.symbols if symbol.result not in (NAT,))
    return tuple(
        name
        for name, sort in grounding.constants.items()
        if sort == "Int" or (name.startswith(relations) and "=" not in name)
    )


def checked(problem: Problem, model: Model) -> Model:
    """The model, after the evaluator has agreed with it. Raises: CrossCheckError."""
    for together in ir.built_together(problem.inductives):
        for name, table in least_relations(together, model.structure).items():
            if dict(table) != dict(model.structure.tables[name]):
                raise CrossCheckError(f"`{name}` is not the least relation closed under its rules")
    for formula in problem.formulas:
        if not evaluate(formula.body, model.structure, model.environment):
            raise CrossCheckError(f"Z3's model does not satisfy `{formula.name}`")
    return model


def describe_size(size: Mapping[str, int]) -> str:
    """`3 processes, 2 messages`."""
    plural = {"process": "processes", "message": "messages"}
    return ", ".join(
        f"numbers below {count}" if name == "nat" else f"{count} {name if count == 1 else plural.get(name, name + 's')}"
        for name, count in sorted(size.items(), key=lambda item: (item[0] != "nat", item[0]))[::-1]
    )
