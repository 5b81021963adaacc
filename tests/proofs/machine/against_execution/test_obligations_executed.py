"""Who checks the checker: each obligation of a machine, evaluated as a formula, says what executing the machine does.

In a structure, with values for the constants, the premise of an obligation (axioms, what is known, guards) must be true
exactly where it is of the executed machine, and where the step is possible its goal must be true exactly where the
state that the step leads to has what the goal is about. A sample is asked of a solver, too, as the text that proofs are
made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.proofs.machine.against_execution.closed_smt import closed_text
from tests.proofs.machine.against_execution.drawn_machines import BY_HAND, drawn_machine
from tests.proofs.machine.against_execution.drawn_structures import NUMBERS_BELOW, NoState, drawn_structures
from tests.proofs.machine.against_execution.executed import same, stepped
from tests.proofs.machine.against_execution.leads_to_cases import suite
from tests.proofs.machine.against_execution.obligation_cases import Case, conjunct_names

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Sort, Type
from thence.dsl.load import library, load
from thence.proofs.logic import smt
from thence.proofs.logic.formula import (
    TRUE,
    Unsupported,
    conditional,
    conj,
    equal,
    free_locals,
    map_children,
    negation,
    substitute,
)
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import Structure, evaluate, tuples
from thence.proofs.machine import obligations, transitions
from thence.proofs.machine.obligations import conjuncts
from thence.proofs.machine.steps import leads_to
from thence.proofs.machine.transitions import actions, enabled, step
from thence.proofs.solving.solver import Check, SolverPool

EFFORT = 500_000
"""A limit on each question, in the solver's own measure, so that it is the same on every machine."""

RESULTS = ("kept", "lost", "not premised", "not enabled", "unsupported")


class Evaluated:
    """Formulas in one structure; of closed ones the values are kept."""

    def __init__(self, state: Structure) -> None:
        self.state = state
        self._closed: dict[int, tuple[ir.Expr, Any]] = {}

    def __call__(self, body: ir.Expr, environment: Mapping[str, Any]) -> bool:
        if id(body) not in self._closed:
            self._closed[id(body)] = (body, None if free_locals(body) else evaluate(body, self.state, {}))
        _, closed = self._closed[id(body)]
        return bool(evaluate(body, self.state, environment) if closed is None else closed)


def compared(pool: SolverPool, machine: ir.Machine, seed: int, structures: int, each: int) -> Counter[str]:
    """Compares `each` obligations in each of some structures; returns what was met."""
    happened: Counter[str] = Counter()
    chance = Random(seed)
    everything = conjuncts(machine)
    assert [conjunct.name for conjunct in everything] == conjunct_names(machine)
    some = tuple(conjunct for conjunct in everything if chance.random() < 0.6)
    suites = [suite(machine, known) for known in (everything, some, ())]
    formulas = [*(conjunct.formula for conjunct in everything)]
    for kind, state in drawn_structures(pool, machine, formulas, seed, structures):
        evaluated = Evaluated(state)
        possible = list(moves(machine, state, chance))
        fitting = {None, *(transition for transition, _, _ in possible)}
        for transition, arguments, then in possible:
            compare_step(machine, transition, arguments, state, then)
        for _ in range(each):
            case = next(
                case for case in drawn_cases(suites, chance) if case.transition in fitting or chance.random() < 0.1
            )
            environment = drawn_environment(case, state, possible, chance)
            result = compare(machine, case, state, environment, evaluated)
            happened[result] += 1
            happened[f"{kind} {result}"] += 1
    return happened


def drawn_cases(suites: Sequence[Sequence[Sequence[Case]]], chance: Random) -> Iterator[Case]:
    """Cases without end, of all kinds alike."""
    while True:
        yield chance.choice(chance.choice(chance.choice(suites)))


def moves(
    machine: ir.Machine, state: Structure, chance: Random
) -> Iterator[tuple[ir.Transition, tuple[Any, ...], Structure]]:
    """Steps that are possible in the state."""
    bounded = {**state.universe, "nat": NUMBERS_BELOW}
    for transition in machine.transitions:
        every = list(tuples([parameter.type for parameter in transition.parameters], bounded))
        for arguments in chance.sample(every, min(len(every), 24)):
            then = stepped(machine, transition, arguments, state)
            if then is not None:
                yield transition, arguments, then


def compare_step(
    machine: ir.Machine, transition: ir.Transition, arguments: tuple[Any, ...], state: Structure, then: Structure
) -> None:
    """The prover's own step leads to the same state."""
    action = next(action for action in actions(machine) if action.name == transition.name)
    assert enabled(action, arguments, state), (machine.name, transition.name, arguments)
    try:
        assert same(step(action, arguments, state), then), (machine.name, transition.name, arguments, state)
    except Unsupported as reason:
        assert "infinitely many" in str(reason)


def drawn_environment(
    case: Case, state: Structure, possible: list[tuple[ir.Transition, tuple[Any, ...], Structure]], chance: Random
) -> dict[str, Any]:
    """Values of an obligation's constants; often such that its step is possible."""
    found = {constant.name: _element(constant.type, state, chance) for constant in case.obligation.constants}
    fitting = [arguments for transition, arguments, _ in possible if transition == case.transition]
    if case.transition is not None and fitting and chance.random() < 0.85:
        names = (parameter.name for parameter in case.transition.parameters)
        found |= zip(names, chance.choice(fitting), strict=True)
    return found


def _element(type_: Type, state: Structure, chance: Random) -> int:
    return chance.randrange(NUMBERS_BELOW if type_ == NAT else state.universe[str(type_)])


def compare(
    machine: ir.Machine, case: Case, state: Structure, environment: dict[str, Any], evaluated: Evaluated
) -> str:
    """Holds the obligation against its meaning; returns what it is: not premised, kept or lost."""
    obligation, executed = case.obligation, case.step(machine, state, environment)
    assert len({constant.name for constant in obligation.constants}) == len(obligation.constants), obligation.name
    told = f"{machine.name}: {obligation.name} at {environment} in {state}"
    try:
        premise = all(evaluated(hypothesis.body, environment) for hypothesis in obligation.hypotheses)
        goal = evaluated(obligation.goal.body, environment)
    except Unsupported:
        return "unsupported"
    assert premise == case.premise(executed), f"the premise is {premise} of {told}"
    if executed.then is None:
        return "not enabled"
    assert goal == case.goal(executed), f"the goal is {goal} of {told}"
    if not premise:
        return "not premised"
    return "kept" if goal else "lost"


FOLDER = library()[0].parent
FILES = {
    str(path.relative_to(FOLDER).with_suffix("")): path
    for path in (*library(), *sorted((FOLDER / "benchmarks").glob("*.thence")))
    if "\nmachine " in path.read_text(encoding="utf-8")
}


def machines_of(path: Path) -> tuple[list[ir.Machine], list[ir.Machine]]:
    """The machines of a file, and those of its mutants."""
    found = load(path).specification
    assert found is not None
    mutants = (mutant.mutated for mutant in found.mutants)
    return list(found.machines), [mutant for mutant in mutants if isinstance(mutant, ir.Machine)]


@pytest.mark.long(but=tuple(name for name in FILES if name != "hybrid_optimal_indices"))
@pytest.mark.parametrize("name", FILES)
def test_library(name: str, pool: SolverPool) -> None:
    """The machines of a file, and one machine of its mutants."""
    own, mutated = machines_of(FILES[name])
    for machine in [*own, *Random(name).sample(mutated, min(1, len(mutated)))]:
        check_shares(machine, compared(pool, machine, 1, 8, 30))


@pytest.mark.long(share=1)
@pytest.mark.parametrize("name", FILES)
def test_library_and_its_mutants(name: str, pool: SolverPool) -> None:
    own, mutated = machines_of(FILES[name])
    for seed in (2, 3):
        for machine in (*own, *mutated):
            check_shares(machine, compared(pool, machine, seed, 12, 40))


def check_shares(machine: ir.Machine, happened: Counter[str]) -> None:
    """Premises are met, goals are lost, and most formulas have a value: else nothing was compared."""
    everything = sum(happened[result] for result in RESULTS)
    assert happened["kept"] > everything / 12, (machine.name, happened)
    assert happened["lost"] > 0, (machine.name, happened)
    assert happened["near kept"] > 0, (machine.name, happened)
    assert happened["unsupported"] < everything / 4, (machine.name, happened)


SHORT = tuple(map(str, range(1, 31)))


@pytest.mark.long(but=SHORT)
@pytest.mark.parametrize("seed", range(1, 101))
def test_drawn_machines(seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool) -> None:
    text = drawn_machine(seed)
    (machine,) = specify(text).machines
    try:
        happened = compared(pool, machine, seed, 8, 30)
    except NoState:
        return
    assert happened["kept"] and happened["not premised"], happened


def test_drawn_machines_are_of_every_kind(specify: Callable[[str], ir.Specification]) -> None:
    machines = [machine for seed in range(1, 13) for machine in specify(drawn_machine(seed)).machines]
    assert {machine.delivery for machine in machines} == {"unicast", "multicast", "broadcast", "off"}
    symbols = [symbol for machine in machines for symbol in machine.symbols]
    assert any(machine.axioms for machine in machines)
    assert {machine.ordered for machine in machines} == {(), ("key",), ("process",), ("key", "process")}
    compared = (node for node in nodes(tuple((each.transitions, each.invariants) for each in machines)))
    orders = [node for node in compared if isinstance(node, ir.Comparison) and node.operator != "="]
    assert {Sort("key"), PROCESS, NAT} <= {order.left.type for order in orders}
    assert {NAT, Sort("key"), MESSAGE, PROCESS} <= {symbol.result for symbol in symbols}
    assert any(parameter.type == NAT for symbol in symbols for parameter in symbol.parameters)


@pytest.mark.parametrize("name", BY_HAND)
def test_machines_by_hand(name: str, specify: Callable[[str], ir.Specification], pool: SolverPool) -> None:
    (machine,) = specify(BY_HAND[name]).machines
    check_shares(machine, compared(pool, machine, 1, 12, 120))
    asked = asked_of_solver(pool, machine, 1, 8, 20)
    assert asked["premised sat"] and asked["premised unsat"] and asked["unsat"], asked


def _at_other_places(application: ir.Apply, update: ir.Update) -> ir.Expr:
    """The value after an update, found where all arguments but the first match: the first is forgotten."""
    binders = {binder.name for binder in update.binders}
    pairs = [(each.name, at) for each, at in zip(update.arguments, application.arguments, strict=True)]  # type: ignore[attr-defined]
    bound = {name: at for name, at in pairs if name in binders}
    matches = [
        equal(at, pattern) for pattern, (name, at) in zip(update.arguments, pairs, strict=True) if name not in binders
    ]
    return conditional(conj(matches[1:]), substitute(update.value, bound), application)


def _as_it_is(expr: ir.Expr, machine: ir.Machine) -> ir.Expr:
    """The formula at first, with everything as it is."""
    return expr


def _anything(steps: Any, action: Any) -> ir.Expr:
    """Something before the step is always said to shrink."""
    return TRUE


@pytest.mark.parametrize(
    ("name", "fault"), [("_updated", _at_other_places), ("initially", _as_it_is), ("takes_something", _anything)]
)
def test_planted_faults_are_found(
    name: str, fault: Any, specify: Callable[[str], ir.Specification], pool: SolverPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = {"_updated": transitions, "initially": obligations, "takes_something": leads_to}[name]
    monkeypatch.setattr(module, name, fault)
    (machine,) = specify(BY_HAND["stages"]).machines
    with pytest.raises(AssertionError, match="the goal is"):
        compared(pool, machine, 1, 12, 120)


def _reversed(one: ir.Expr) -> ir.Expr:
    """Every comparison of a sort the other way round."""
    turned = map_children(one, _reversed)
    if isinstance(turned, ir.Comparison) and turned.operator != "=" and turned.left.type != NAT:
        return replace(turned, left=turned.right, right=turned.left)
    return turned


def test_an_order_the_wrong_way_round_is_found(
    specify: Callable[[str], ir.Specification], pool: SolverPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine,) = specify(BY_HAND["orders"]).machines
    plain, written = transitions.with_applications, smt.without_counts
    monkeypatch.setattr(transitions, "with_applications", lambda expr, change: plain(_reversed(expr), change))
    with pytest.raises(AssertionError, match="the goal is"):
        compared(pool, machine, 1, 12, 120)
    monkeypatch.setattr(transitions, "with_applications", plain)

    def turned(obligation: Obligation, counts: Callable[[ir.Expr], bool]) -> Obligation:
        goal = replace(obligation.goal, body=_reversed(obligation.goal.body))
        return written(replace(obligation, goal=goal), counts)

    monkeypatch.setattr(smt.Written, "counts", lambda *_: True)
    monkeypatch.setattr(smt, "without_counts", turned)
    with pytest.raises(AssertionError, match="z3 says"):
        asked_of_solver(pool, machine, 1, 8, 40)


SOME = ("mf", "cykas", "newtop", "two_phase_commit", "benchmarks/paxos", "benchmarks/lock_server")


@pytest.mark.long(but=SOME)
@pytest.mark.parametrize("name", FILES)
def test_solvers_are_given_the_same(name: str, pool: SolverPool) -> None:
    """The text of an obligation, with a structure prescribed, is satisfiable exactly where it is false in that."""
    own, _ = machines_of(FILES[name])
    for machine in own:
        asked = asked_of_solver(pool, machine, 4, 6, 5)
        assert asked["premised unsat"] > 0


@pytest.mark.long(but=SHORT)
@pytest.mark.parametrize("seed", range(1, 101))
def test_solvers_are_given_the_same_of_drawn_machines(
    seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    (machine,) = specify(drawn_machine(seed)).machines
    with suppress(NoState):
        asked = asked_of_solver(pool, machine, seed, 4, 4)
        assert asked["premised unsat"] + asked["premised sat"] > 0


def asked_of_solver(pool: SolverPool, machine: ir.Machine, seed: int, structures: int, each: int) -> Counter[str]:
    """Asks a solver about `each` obligations in each of some structures; returns what it answers."""
    asked: Counter[str] = Counter()
    chance = Random(seed)
    everything = conjuncts(machine)
    suites = [suite(machine, known) for known in (everything, ())]
    formulas = [conjunct.formula for conjunct in everything]
    for _, state in drawn_structures(pool, machine, formulas, seed, structures):
        evaluated = Evaluated(state)
        possible = list(moves(machine, state, chance))
        fitting = {None, *(transition for transition, _, _ in possible)}
        for _ in range(each):
            case = next(case for case in drawn_cases(suites, chance) if case.transition in fitting)
            environment = drawn_environment(case, state, possible, chance)
            asked[solved(pool, case.obligation, state, environment, evaluated)] += 1
    return asked


def solved(
    pool: SolverPool, obligation: Obligation, state: Structure, environment: Mapping[str, Any], evaluated: Evaluated
) -> str:
    """The solver's answer, which agrees with the evaluator. Where the premise is true the denied goal is asked, too."""
    try:
        premise = all(evaluated(hypothesis.body, environment) for hypothesis in obligation.hypotheses)
        goal = evaluated(obligation.goal.body, environment)
    except Unsupported:
        return "unsupported"
    if premise and goal:
        denied = replace(obligation, goal=replace(obligation.goal, body=negation(obligation.goal.body)))
        solved(pool, denied, state, environment, evaluated)
    text = closed_text(obligation, state, environment)
    status = pool.ask(Check("z3", text, 20_000, 0, effort=EFFORT)).status
    expected = "sat" if premise and not goal else "unsat"
    assert status in (expected, "unknown"), f"z3 says {status} of {obligation.name} at {environment} in {state}"
    return f"premised {status}" if premise else status
