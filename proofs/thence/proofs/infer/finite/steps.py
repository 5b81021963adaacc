"""Induction in one small universe: does a transition keep a clause where others are true? Search decides it.

Elements of a sort without an order are alike, so of all arguments of a transition only those are tried that differ in
which of them are the same. So it is with the values for which a clause is false, where it is hard to say whether the
clause follows from others. What is kept here need not be kept in a larger universe: the prover says.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.types import NAT, Type
from thence.proofs.infer.candidates.orders import is_ordered
from thence.proofs.infer.finite.solver_process import Asked, FiniteAnswer, SolverProcess
from thence.proofs.logic.formula import forall, outer_foralls, symbols_of
from thence.proofs.logic.ground import Cells, Grounding, Term, any_of, negated, quoted
from thence.proofs.logic.structure import Structure, Value, elements
from thence.proofs.machine.transitions import Action, actions, after, symbols
from thence.proofs.machine.universe import Fitting, distinct, universe_of
from thence.proofs.solving.finite_models import Model

INDUCTIVE: tuple[Mapping[str, int], ...] = ({"process": 2, "message": 3}, {"process": 3, "message": 3})
"""The universes of finite induction: a larger one once a smaller one has nothing more to say."""


NUMBERS_BELOW = 8
"""Bound on the numbers of a state before a step."""

ARGUMENTS_BELOW = 4
"""Bound on the numbers that a transition is given as arguments."""

EASY_S = 0.3
"""A question about states that takes more effort than so many seconds is asked again with fewer values, and so are all
after it: of a machine of which one such question is hard, most are."""

CORES = 4
"""So many answers about a goal and a transition are remembered, the last ones first."""


def inductive_sizes(fitting: Fitting) -> tuple[Mapping[str, int], ...]:
    """The universes of `INDUCTIVE`, as the axioms of the machine allow them, each once."""
    return distinct(fitting.machine, map(fitting, INDUCTIVE))


@dataclass(frozen=True, slots=True)
class Violation:
    """A state, in which all that was assumed is true, and a step from it that loses the goal."""

    state: Structure
    action: Action
    arguments: tuple[int, ...]

    @property
    def model(self) -> Model:
        """The state, with the arguments by the names of the parameters."""
        names = (parameter.name for parameter in self.action.parameters)
        return Model(self.state, dict(zip(names, self.arguments, strict=True)))


@dataclass(frozen=True, slots=True)
class Precondition:
    """A formula about the parameters of a transition that must be true wherever the transition is enabled."""

    transition: str
    formula: ir.Expr


@dataclass(slots=True)
class _Case:
    """One transition with its arguments: a solver that has the guard, and names for formulas before and after.

    `enough` has for a goal sets of formulas, each of which is enough for the transition to keep it. `up_to_names`: the
    values for which a goal is false are tried but for those that differ from others only in the names of elements.
    """

    action: Action | None
    arguments: tuple[int, ...]
    solver: int
    grounding: Grounding
    cells: dict[str, Cells]
    environment: Mapping[str, Term]
    before: dict[Hashable, str] = field(default_factory=dict)
    broken: dict[Hashable, str] = field(default_factory=dict)
    enough: dict[Hashable, list[frozenset[ir.Expr]]] = field(default_factory=dict)
    up_to_names: bool = False
    sent: int = 0
    declared: int = 0


class FiniteSteps:
    """The steps of a machine in one universe.

    Raises: OutOfTime; Unsupported where the machine has no meaning in a finite universe.
    """

    def __init__(
        self, machine: ir.Machine, universe: Mapping[str, int], facts: Sequence[ir.Expr], process: SolverProcess
    ) -> None:
        self.universe = universe_of(machine, universe)
        self._machine = machine
        self._facts = (*(axiom.body for axiom in machine.axioms), *facts)
        self._process = process
        self._states: tuple[_Case, _Case] | None = None
        self._is_hard = False
        self._cases = [
            self._case(action, arguments)
            for action in actions(machine)
            for arguments in _different(action, self.universe, machine.ordered)
        ]

    def lost_or_used(self, goal: ir.Expr, known: Sequence[ir.Expr], *, again: bool = False) -> Violation | set[ir.Expr]:
        """A step from a state in which `known` is true that makes the goal false; or, where there is none, formulas
        of `known` that are enough for that.

        With `again`, what was enough before is not asked again.

        Raises: Unsupported; OutOfTime.
        """
        used, there = set[ir.Expr](), dict.fromkeys(known)
        for case in self._cases:
            found = self._in_case(case, goal, there, again=again)
            if isinstance(found, Violation):
                return found
            used |= found
        return used

    def losing(self, goal: ir.Expr | Precondition, known: Sequence[ir.Expr]) -> tuple[set[str], set[ir.Expr]]:
        """The transitions that lose the goal from a state in which `known` is true (those that are enabled against it,
        of a precondition); and formulas of `known` that are enough for all others.

        Raises: Unsupported; OutOfTime.
        """
        lost, used, there = set[str](), set[ir.Expr](), dict.fromkeys(known)
        for case in self._cases:
            assert case.action is not None
            name = case.action.name
            if name in lost or (isinstance(goal, Precondition) and name != goal.transition):
                continue
            found = self._in_case(case, goal, there)
            if isinstance(found, Violation):
                lost.add(name)
            else:
                used |= found
        return lost, used

    def enabled_against(
        self, precondition: Precondition, known: Sequence[ir.Expr], *, again: bool = False
    ) -> Structure | set[ir.Expr]:
        """A state in which the transition is enabled and the formula about its parameters is false; or formulas of
        `known` that exclude that. With `again`, what was enough before is not asked again."""
        used, there = set[ir.Expr](), dict.fromkeys(known)
        for case in self._cases:
            if case.action is not None and case.action.name == precondition.transition:
                found = self._in_case(case, precondition, there, again=again)
                if isinstance(found, Violation):
                    return found.state
                used |= found
        return used

    def state_against(
        self, goals: Sequence[ir.Expr], known: Sequence[ir.Expr], seconds: float | None = None
    ) -> Structure | None:
        """A state in which the facts and `known` are true and one of the goals is false; None: all of them follow.

        With a limit in seconds, None may also mean that the solver did not say it in time.
        """
        if self._states is None:
            self._states = self._case(None, ()), self._case(None, ())
            self._states[1].up_to_names = True
        case, few = self._states
        answer = None
        if seconds is not None and not self._is_hard:
            answer = self._answer(case, goals, known, min(seconds, EASY_S))
            self._is_hard = answer is None
        if answer is None:
            case = few
            answer = self._answer(case, goals, known, seconds)
        return None if answer is None or answer.values is None else self._structure(case, answer.values)

    def _answer(
        self, case: _Case, goals: Sequence[ir.Expr], known: Sequence[ir.Expr], seconds: float | None
    ) -> FiniteAnswer | None:
        """Whether one of the goals can be false where `known` is true; None where that is not said in time."""
        assumed = [self._before(case, formula) for formula in known]
        broken = [self._broken(case, goal) for goal in goals]
        some = broken[0]
        if len(broken) > 1:
            some = f"some~{len(case.grounding.constants)}"
            case.grounding.constants[some] = "Bool"
            case.grounding.assertions.append(any_of((negated(quoted(some)), *map(quoted, broken))))
        self._tell(case)
        asked = Asked((*assumed, some), tuple(self._cell_names(case)))
        if seconds is None:
            return self._process.check(case.solver, asked)
        return self._process.try_check(case.solver, asked, seconds)

    def _structure(self, case: _Case, values: Mapping[str, Value]) -> Structure:
        return Structure(
            self.universe, {name: case.grounding.table(cells, values) for name, cells in case.cells.items()}
        )

    def _in_case(
        self, case: _Case, goal: ir.Expr | Precondition, known: Mapping[ir.Expr, None], *, again: bool = False
    ) -> Violation | Set[ir.Expr]:
        assert case.action is not None
        if not isinstance(goal, Precondition) and not symbols_of(goal) & case.action.changed:
            return {goal}
        remembered = case.enough.setdefault(goal, [])
        if again:
            for enough in remembered:
                if all(each in known for each in enough):
                    return enough
        assumed = {self._before(case, formula): formula for formula in known}
        asked = Asked((*assumed, self._broken(case, goal)), tuple(self._cell_names(case)))
        self._tell(case)
        answer = self._process.check(case.solver, asked)
        if answer.values is not None:
            return Violation(self._structure(case, answer.values), case.action, case.arguments)
        core = frozenset(assumed[name] for name in answer.core if name in assumed)
        remembered[:] = [core, *remembered[: CORES - 1]]
        return core

    # --- encoding ------------------------------------------------------------------------------

    def _case(self, action: Action | None, arguments: tuple[int, ...]) -> _Case:
        """The solver of a transition; without one, of states. Raises: OutOfTime."""
        self._process.budget.check()
        grounding = Grounding(self.universe)
        cells: dict[str, Cells] = {symbol.name: grounding.fresh_cells(symbol) for symbol in symbols(self._machine)}
        environment = {
            parameter.name: grounding.element(value, parameter.type)
            for parameter, value in zip(action.parameters if action else (), arguments, strict=True)
        }
        for formula in self._facts:
            grounding.assertions.append(grounding.formula(formula, cells, {}))
        for guard in action.guards if action else ():
            grounding.assertions.append(grounding.formula(guard.body, cells, environment))
        return _Case(action, arguments, self._process.new_solver(), grounding, cells, environment)

    def _before(self, case: _Case, formula: ir.Expr) -> str:
        """A name that is true only where the formula is, in the state before the step."""
        if formula not in case.before:
            name = case.before[formula] = f"before~{len(case.before)}"
            case.grounding.constants[name] = "Bool"
            said = case.grounding.formula(formula, case.cells, {})
            case.grounding.assertions.append(any_of((negated(quoted(name)), said)))
        return case.before[formula]

    def _broken(self, case: _Case, formula: ir.Expr | Precondition) -> str:
        """A name that is true only where the formula is false in the state after the step, if there is a step."""
        if formula not in case.broken:
            name = case.broken[formula] = f"broken~{len(case.broken)}"
            case.grounding.constants[name] = "Bool"
            match formula:
                case Precondition():
                    then = formula.formula
                case _:
                    then = formula if case.action is None else after(formula, case.action)
            said = self._false_for_some(case, then)
            case.grounding.assertions.append(any_of((negated(quoted(name)), *said)))
        return case.broken[formula]

    def _false_for_some(self, case: _Case, formula: ir.Expr) -> Iterator[str]:
        """Alternatives, of which one is true where the formula is false: one for each choice of values of its outer
        variables, if the case leaves out some of them."""
        variables, body = outer_foralls(formula)
        chosen = [variable for variable in variables if case.up_to_names and variable.type != NAT]
        body = forall([variable for variable in variables if variable not in chosen], body)
        parameters = case.action.parameters if case.action else ()
        types = [each.type for each in (*parameters, *chosen)]
        for values in _more(case.arguments, types, self.universe, self._machine.ordered):
            named = {
                variable.name: case.grounding.element(value, variable.type)
                for variable, value in zip(chosen, values[len(parameters) :], strict=True)
            }
            yield negated(case.grounding.formula(body, case.cells, {**case.environment, **named}))

    def _tell(self, case: _Case) -> None:
        """Sends what the solver does not have yet."""
        new = dict(list(case.grounding.constants.items())[case.declared :])
        constants = {name: sort if sort == "Bool" else str(NUMBERS_BELOW) for name, sort in new.items()}
        self._process.tell(case.solver, constants, case.grounding.assertions[case.sent :])
        case.declared, case.sent = len(case.grounding.constants), len(case.grounding.assertions)

    def _cell_names(self, case: _Case) -> Iterator[str]:
        for cells in case.cells.values():
            for term in cells.values():
                yield from (name.strip("|") for name in ([term] if isinstance(term, str) else term.values()))


def _different(action: Action, universe: Mapping[str, int], ordered: Collection[str]) -> Iterator[tuple[int, ...]]:
    """Arguments that differ in which elements of a sort are the same: the n-th new element is n. Of an ordered sort,
    all elements."""
    types = [parameter.type for parameter in action.parameters]
    yield from _more((), types, universe, ordered)


def _more(
    chosen: tuple[int, ...], types: Sequence[Type], universe: Mapping[str, int], ordered: Collection[str]
) -> Iterator[tuple[int, ...]]:
    """All that begin with the chosen ones."""
    if len(chosen) == len(types):
        yield chosen
        return
    own = types[len(chosen)]
    if own == NAT:
        choices = range(ARGUMENTS_BELOW)
    elif is_ordered(own, ordered):
        choices = elements(own, universe)
    else:
        used = [value for value, type_ in zip(chosen, types, strict=False) if type_ == own]
        choices = range(min(len(elements(own, universe)), max(used, default=-1) + 2))
    for value in choices:
        yield from _more((*chosen, value), types, universe, ordered)
