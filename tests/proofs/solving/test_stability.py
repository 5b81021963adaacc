"""Stability: the same obligation in another dress; flakes and slow ones are named; the verdict says it is sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS
from thence.proofs.logic.formula import forall, holds, local
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.smt import smt_text
from thence.proofs.prove import proofs
from thence.proofs.solving.discharge import Discharge, Options, discharge_all
from thence.proofs.solving.solver import Answer, SolverPool
from thence.proofs.solving.stability import Measured, Trial, measure, proved_obligations, shuffled, stability_result
from thence.spec.verdict import Level, Verdict

Specify = Callable[[str], ir.Specification]

M, P = ir.Variable("m", MESSAGE), ir.Variable("p", PROCESS)
NAMES = ("sent", "posted", "got", "held")
SIGNATURE = Signature((PROCESS, MESSAGE), (), tuple(ir.Symbol(name, (M,), BOOL) for name in NAMES))
ALL = tuple(ir.NamedFormula(f"all_{name}", forall([M], holds(name, local(M)))) for name in NAMES)
VALID = Obligation("instance", SIGNATURE, ALL, ir.NamedFormula("one", holds("got", local(M))), (M, P))


def test_a_shuffled_obligation_says_the_same() -> None:
    texts = {smt_text(shuffled(VALID, seed)) for seed in range(8)}
    assert len(texts) > 4
    for seed in range(8):
        other = shuffled(VALID, seed)
        assert shuffled(VALID, seed) == other
        assert set(other.hypotheses) == set(VALID.hypotheses) and other.goal == VALID.goal
        assert set(other.constants) == set(VALID.constants)
        assert set(other.signature.symbols) == set(SIGNATURE.symbols)
        assert set(other.signature.sorts) == set(SIGNATURE.sorts)


def test_symbols_are_called_otherwise() -> None:
    def declared(seed: int) -> list[str]:
        lines = smt_text(shuffled(VALID, seed)).splitlines()
        return [line for line in lines if line.startswith("(declare-fun f0")]

    assert len({line for seed in range(8) for line in declared(seed)}) > 1


def test_what_is_proved_is_measured_under_every_seed(pool: SolverPool) -> None:
    options = Options(seed=10)
    told: list[tuple[int, int, str]] = []
    done = discharge_all(pool, (VALID,), options)
    (measured,) = measure(done, options, 4, lambda *said: told.append(said))
    assert [trial.seed for trial in measured.trials] == [11, 12, 13, 14]
    assert not measured.flakes and measured.slowest >= 0
    assert told[-1][:2] == (4, 4)
    result = stability_result("plain", (measured,), 4, options)
    assert (result.verdict, result.level, result.expected) == (Verdict.TESTED, Level.L0, True)
    assert (result.facts["cases"], result.facts["failures"], result.facts["seeds"]) == (4, 0, [11, 12, 13, 14])


def test_one_that_flakes_is_named(pool: SolverPool) -> None:
    """An obligation that is not valid after all is never proved again: as flaky as can be."""
    claimed = Discharge(replace(VALID, hypotheses=()), {"z3": Answer("unsat", "", 0.0)})
    options = Options(timeout_ms=2_000)
    measured = measure((claimed,), options, 2)
    result = stability_result("plain", measured, 2, options)
    assert (result.verdict, result.expected) == (Verdict.REFUTED, False)
    assert result.facts["failures"] == 2
    assert result.facts["flaky"] == [{"obligation": "instance", "seeds": [1, 2], "answers": ["sat"]}]
    assert "flaky: instance is not proved under seeds 1, 2: sat" in result.explanation


def test_slow_ones_are_named_too() -> None:
    slow = Measured(VALID, (Trial(1, Answer("unsat", "", 0.1)), Trial(2, Answer("unsat", "", 2.5))))
    result = stability_result("plain", (slow,), 2, Options())
    assert result.verdict is Verdict.TESTED
    assert result.facts["slow"] == [{"obligation": "instance", "seconds": 2.5}]
    assert "slow: instance" in result.explanation


def test_without_a_seed_nothing_is_measured() -> None:
    with pytest.raises(ValueError, match="at least one seed"):
        measure((), Options(), 0)


def test_only_what_proofs_rest_on_is_measured_and_once(specify: Specify) -> None:
    text = """
machine plain:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant wrong: forall m. not sent(m)
  prove no_creation, at_most_once
"""
    found = tuple(proofs(specify(text)))
    obligations = proved_obligations(found)
    names = [each.obligation.name for each in obligations]
    assert len(names) == len(set(names))
    assert all(each.proved for each in obligations)
    assert "causal_send keeps wrong" not in names and "deliver only what is not delivered" in names
