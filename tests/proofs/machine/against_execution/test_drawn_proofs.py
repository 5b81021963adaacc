"""Drawn machines whose invariants need one another, from text to verdict, against a search of small universes.

The invariants are drawn formulas that are true in what a first search explores. So many are proved, some by others,
and some are false in what it did not explore.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.proofs.machine.against_execution.drawn_machines import candidates, drawn_machine
from tests.proofs.machine.against_execution.drawn_structures import arbitrary
from tests.proofs.machine.against_execution.executed import value
from tests.proofs.machine.against_execution.explored_machines import explored, shown_by

from thence.dsl import ir
from thence.proofs.machine import inductive_set
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.steps.prover import WITNESS
from thence.proofs.prove import proofs_by
from thence.proofs.solving.assessment import REFUTATION
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.finite_models import full_universe
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

LIMITS = Options(timeout_ms=1_000)
DRAWN = (*range(1, 15), *range(20, 41))
"""Seed 15 and others draw terms inside one another, such as `s(m, s(m, s(m, ...)))`, that are proved slowly."""

SHORT = (4, 5, 26, 29, 30)


def with_lemmas(seed: int, specify: Specify) -> ir.Specification | None:
    """The drawn machine of this seed, with invariants that may be true; None where no run begins."""
    lines = [line for line in drawn_machine(seed).splitlines() if not line.startswith(("  invariant", "  prove i0"))]
    drawn = candidates(seed, 60)
    tried = specify("\n".join([*lines, *(f"  invariant c{n}: {text}" for n, text in enumerate(drawn))]) + "\n")
    (machine,) = tried.machines
    found = explored(machine, seed)
    if not found.states:
        return None
    chance = Random(seed)
    sizes = dict.fromkeys(("process", "message", *(sort.name for sort in machine.sorts)), 2)
    universe = {**sizes, **full_universe(signature_of(machine), sizes)}
    anything = [arbitrary(machine, universe, chance) for _ in range(40)]
    true = [each.name for each in machine.invariants if not found.violates(each.body)]
    telling = [
        each.name
        for each in machine.invariants
        if each.name in true and not all(value(each.body, state, {}) for state in anything)
    ]
    kept = [*telling[:6], *[name for name in true if name not in telling][:1]]
    kept += [each.name for each in machine.invariants if each.name not in true][:1]
    texts = {f"c{n}": text for n, text in enumerate(drawn)}
    lines += [f"  invariant {name}: {texts[name]}" for name in kept]
    lines += [f"  reachable r{n}: not ({texts[name]})" for n, name in enumerate(telling[:2])]
    lines += ["  reachable never: not true"]
    return specify("\n".join(lines) + "\n")


def judged(pool: SolverPool, specification: ir.Specification, seed: int) -> Counter[str]:
    """Holds every verdict against a search with another seed, and every run against what the machine does."""
    (machine,) = specification.machines
    happened: Counter[str] = Counter()
    found = explored(machine, seed + 1_000, universes=6, begun=6, limit=80)
    for proof in proofs_by(pool, specification, (), LIMITS):
        name, assessment = proof.result.name, proof.assessment
        if name in ("history", "vacuity") or name in {each.name for each in machine.eventually}:
            continue
        if name.startswith("without"):
            continue
        happened[str(assessment.verdict)] += 1
        run = assessment.runs.get(WITNESS) or assessment.runs.get(REFUTATION)
        if run is not None:
            shown = shown_by(machine, run)
            assert shown.is_false(name), f"{name} is not false at the end of the run"
            happened["run"] += 1
        elif assessment.verdict in (Verdict.PROVED, Verdict.REFUTED):
            assert (assessment.verdict is Verdict.REFUTED) == (name in {each.name for each in machine.reachable})
            assert not found.is_false(name), f"{name} is {assessment.verdict.value} and false"
            happened["for all"] += 1
    return happened


@pytest.mark.long(but=SHORT)
@pytest.mark.parametrize("seed", DRAWN)
def test_nothing_false_is_proved_and_every_run_is_one(seed: int, specify: Specify, pool: SolverPool) -> None:
    specification = with_lemmas(seed, specify)
    if specification is not None:
        assert judged(pool, specification, seed)


def test_counts_with_variables_from_outside_are_drawn() -> None:
    texts = [text for seed in DRAWN for text in candidates(seed, 60)]
    assert any(text.startswith("forall") and "count" in text and "<= 1" in text for text in texts)


def test_a_planted_fault_is_found(specify: Specify, pool: SolverPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariants that are said to be kept by every step that is no send."""
    plain = inductive_set.preservations

    def forgetful(*arguments: Any) -> Any:
        return [each for each in plain(*arguments) if each.action is None or each.action.name == "causal_send"]

    monkeypatch.setattr(inductive_set, "preservations", forgetful)
    specifications = [(seed, with_lemmas(seed, specify)) for seed in SHORT]
    with pytest.raises(AssertionError, match="proved and false"):
        for seed, specification in specifications:
            assert specification is not None
            judged(pool, specification, seed)
