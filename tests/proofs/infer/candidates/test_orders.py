"""Ordered sorts in inference: atoms that compare, clauses that mean what their literals say, and no false symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random

import pytest
from tests.proofs.machine.against_execution.drawn_machines import drawn_machine
from tests.proofs.machine.against_execution.drawn_structures import arbitrary

from thence.dsl import ir
from thence.dsl.ir.types import Sort
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.candidates.clauses import clause_of
from thence.proofs.infer.candidates.orders import as_premise, order_atoms
from thence.proofs.infer.candidates.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.infer.finite import steps as finite_steps
from thence.proofs.infer.finite.solver_process import SolverProcess
from thence.proofs.infer.finite.steps import FiniteSteps, Violation
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Limits
from thence.proofs.logic.formula import Unsupported, disj, free_locals, negation
from thence.proofs.logic.structure import elements, evaluate, tuples
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.transitions import step
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.finite_models import full_universe
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool

ROUND = Sort("round")

FAR = 16
"""Numbers below it are tried, the highest of which are beyond all that a state has."""

Specify = Callable[[str], ir.Specification]

VIEWS = """
machine views:
  delivery off
  sort view ordered
  function latest(): view
  relation closed(v: view)
  relation led(v: view)
  transition advance(v: view):
    require latest() < v
    latest() := v
    forall w: closed(w) := closed(w) or w < v
    forall w: led(w) := false
  transition lead():
    forall v: led(v) := led(v) or v = latest()
  invariant open_ones: forall v. not (led(v) and closed(v))
"""


def test_of_two_variables_one_comparison_is_enough() -> None:
    a, b = ir.Local(ROUND, "a"), ir.Local(ROUND, "b")
    first = ir.Apply(ROUND, "first", ())
    assert [str(atom.operator) for atom in order_atoms((a, b), ("round",)) if isinstance(atom, ir.Comparison)] == ["<"]
    assert len(list(order_atoms((a, b, first), ("round",)))) == 1 + 2 * 2
    assert not list(order_atoms((a, b, first), ("other",)))
    (atom,) = order_atoms((a, b), ("round",))
    turned, affirmed = as_premise(atom, True)
    assert (turned, affirmed) != (atom, True) and as_premise(turned, affirmed) == (turned, affirmed)


def drawn_with_order(specify: Specify) -> Iterator[ir.Machine]:
    for seed in range(1, 200):
        (machine,) = specify(drawn_machine(seed)).machines
        if machine.ordered:
            yield machine


def test_clauses_mean_what_their_literals_say(specify: Specify) -> None:
    """Under whatever names, and with comparisons turned: for all different values of the variables."""
    chance = Random(1)
    compared = 0
    machines = drawn_with_order(specify)
    for machine in (next(machines) for _ in range(12)):
        universe = {**full_universe(signature_of(machine), {"message": 2, "process": 3, "key": 3})}
        vocabulary = vocabulary_of(machine, [])
        several = [each for number in (1, 2, 3) for each in templates(vocabulary, sorts_of(machine), number)]
        states = [arbitrary(machine, universe, chance) for _ in range(4)]
        for _ in range(30):
            template = chance.choice(several)
            orders = [atom for atom in template.atoms if isinstance(atom, ir.Comparison) and atom.operator != "="]
            chosen = chance.sample(template.atoms, min(len(template.atoms), chance.randrange(1, 4)))
            chosen += chance.sample(orders, min(len(orders), 1))
            literals = [(atom, chance.random() < 0.5) for atom in dict.fromkeys(chosen)]
            formula = clause_of(template, literals).formula
            free = {name for atom, _ in literals for name in free_locals(atom)}
            used = [variable for variable in template.variables if variable.name in free]
            said = disj(atom if affirmed else negation(atom) for atom, affirmed in literals)
            for state in states:
                try:
                    meant = all(evaluate(said, state, each) for each in _different_values(used, universe))
                    assert bool(evaluate(formula, state, {})) == meant, (machine.name, literals)
                except Unsupported:
                    continue
                compared += bool(orders)
    assert compared > 200


def _different_values(variables: Sequence[ir.Variable], universe: dict[str, int]) -> Iterator[dict[str, int]]:
    names, wide = [variable.name for variable in variables], {**universe, "nat": FAR}
    for values in product(*(elements(variable.type, wide) for variable in variables)):
        pairs = list(zip(variables, values, strict=True))
        if all(one[0].type != other[0].type or one[1] != other[1] for one in pairs for other in pairs if one != other):
            yield dict(zip(names, values, strict=True))


# --- arguments that are alike ----------------------------------------------------------------------


def losses(machine: ir.Machine, universe: dict[str, int]) -> dict[str, bool]:
    """Which invariants a step loses where the axioms alone are known. Each step is computed again."""
    found: dict[str, bool] = {}
    with SolverProcess(Budget(300)) as process:
        steps = FiniteSteps(machine, universe, (), process)
        for invariant in machine.invariants:
            lost = steps.lost_or_used(invariant.body, [invariant.body])
            found[invariant.name] = isinstance(lost, Violation)
            if isinstance(lost, Violation):
                assert evaluate(invariant.body, lost.state, {})
                assert not evaluate(invariant.body, step(lost.action, lost.arguments, lost.state), {})
    return found


def every(action: ir.Transition, universe: dict[str, int], ordered: object) -> Iterator[tuple[int, ...]]:
    """All arguments: no two elements are alike."""
    return tuples(
        [parameter.type for parameter in action.parameters], {**universe, "nat": finite_steps.ARGUMENTS_BELOW}
    )


def small_with_order(specify: Specify) -> list[ir.Machine]:
    """Machines without messages, and so of few cases; one with an order of processes."""
    drawn = (each for each in drawn_with_order(specify) if each.delivery == "off" and not _speaks_of_numbers(each))
    return [next(drawn) for _ in range(6)]


def _speaks_of_numbers(machine: ir.Machine) -> bool:
    return any(str(parameter.type) == "nat" for symbol in machine.symbols for parameter in symbol.parameters)


def test_arguments_that_are_left_out_would_lose_nothing_more(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    machines = small_with_order(specify)
    few = [losses(machine, {"process": 2, "message": 2, "key": 3}) for machine in machines]
    monkeypatch.setattr(finite_steps, "_different", every)
    assert few == [losses(machine, {"process": 2, "message": 2, "key": 3}) for machine in machines]
    assert any(lost for each in few for lost in each.values())


UP = """
machine up:
  delivery off
  sort round ordered
  sort process ordered
  relation used(r: round)
  relation done(p: process)
  transition use(r: round):
    require exists s. s < r and not used(s)
    used(r) := true
  transition finish(p: process):
    require exists q. q < p
    done(p) := true
  invariant never: forall r. not used(r)
  invariant nobody: forall p. not done(p)
"""
"""The least element can neither be used nor finish: whoever takes all elements for alike tries nothing else."""


def test_elements_of_an_ordered_sort_are_not_alike(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine,) = specify(UP).machines
    universe = {"process": 2, "message": 2, "round": 2}
    assert losses(machine, universe) == {"never": True, "nobody": True}
    monkeypatch.setattr(finite_steps, "is_ordered", lambda type_, ordered: False)
    assert losses(machine, universe) == {"never": False, "nobody": False}  # so the test sees the fault


# --- the whole ----------------------------------------------------------------------------------------


def test_a_conjunct_about_the_order_is_found(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(VIEWS).machines
    found = infer(ProofSession(pool, Options(workers=1)), machine, Limits(300.0), lambda _: None)
    assert found.proved, found.reason
    texts = [str(each.formula.body) for each in found.conjuncts]
    assert any("operator='<'" in text for text in texts)
