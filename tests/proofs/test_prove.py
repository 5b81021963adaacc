"""Everything that a file states: one result per statement, in order, with what the file expects; names; progress."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.prove import UnknownName, provable_names, prove_specification
from thence.proofs.solving.discharge import Options, ProofProgress
from thence.spec.verdict import Level, Verdict

ONE_SOLVER = ("vacuity", "without deadlock")
"""Vacuity is shown by runs; of the orders that show that nothing deadlocks, one is `unknown` in cvc5."""

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]


@pytest.mark.long
@pytest.mark.parametrize("name", ["execution", "mf", "hybrid_basic"])
def test_the_library_comes_out_as_expected(library: Library, name: str) -> None:
    specification = library(name)
    results = prove_specification(specification)
    surprises = [(result.name, result.verdict, result.explanation) for result in results if not result.expected]
    assert not surprises
    assert len({(result.kind, result.subject, result.name) for result in results}) == len(results)
    assert all(json.dumps(result.to_json()) for result in results)
    for result in results:
        if result.verdict is Verdict.PROVED and result.name not in ONE_SOLVER:
            assert result.level is Level.L3, result.name
        if result.verdict is Verdict.REFUTED:
            assert result.facts["counterexample"], result.name


@pytest.mark.parametrize(("name", "mutants"), [("mf", 3), ("hybrid_basic", 3)])
def test_every_machine_has_mutants_that_are_refuted(library: Library, name: str, mutants: int) -> None:
    of_machines = [each for each in library(name).mutants if isinstance(each.mutated, ir.Machine)]
    refuting = [each for each in of_machines if any(expect.verdict == "refuted" for expect in each.expects)]
    assert len(refuting) >= mutants


@pytest.mark.long
def test_names_choose(library: Library) -> None:
    specification = library("hybrid_remembering")
    assert [result.name for result in prove_specification(specification, ["causal"])] == ["causal"]
    (machine,) = specification.machines
    whole = [result.name for result in prove_specification(specification, [machine.name])]
    assert whole == [name for name in provable_names(specification) if name in whole]
    assert "vacuity" in whole and "history" in whole


def test_an_unknown_name_is_refused_with_those_there_are(library: Library) -> None:
    with pytest.raises(UnknownName, match="fifo_sps_causal"):
        prove_specification(library("execution"), ["causality"])


def test_progress_is_told(library: Library) -> None:
    told: list[ProofProgress] = []
    prove_specification(library("execution"), ["csps_implies_sps"], progress=told.append)
    assert told and told[-1].done == told[-1].total
    assert told[-1].statement == "csps_implies_sps"


def test_a_mutant_that_survives_is_not_as_expected(specify: Specify) -> None:
    specification = specify(
        """
machine plain:
  transition causal_send(m):
    pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove no_creation, at_most_once

mutant harmless of plain:
  transition deliver(m):
    require not delivered(m) and sent(m)
  expect refuted no_creation
"""
    )
    (result,) = prove_specification(specification, ["harmless"])
    assert (result.kind, result.verdict, result.expected) == ("mutant", Verdict.PROVED, False)


PLAIN = """
machine plain:
  transition causal_send(m):
    pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove no_creation
  {expect}

mutant lawless of plain:
  transition deliver(m):
    require not delivered(m)
  expect refuted
  expect refuted no_creation
"""


@pytest.mark.long(but=("expect refuted-no_creation-Verdict.PROVED-False",))
@pytest.mark.parametrize(
    ("expect", "name", "verdict", "expected"),
    [
        ("expect refuted causal", "causal", Verdict.REFUTED, True),
        ("expect proved causal", "causal", Verdict.REFUTED, False),
        ("expect refuted csps", "csps", Verdict.UNKNOWN, False),
        ("expect proved", "no_creation", Verdict.PROVED, True),
        ("expect refuted", "no_creation", Verdict.PROVED, False),
        ("expect refuted fifo\n  expect refuted", "no_creation", Verdict.PROVED, True),
    ],
)
def test_what_is_expected_is_looked_at_though_not_under_prove(
    specify: Specify, expect: str, name: str, verdict: Verdict, expected: bool
) -> None:
    results = prove_specification(specify(PLAIN.format(expect=expect)), ["plain"])
    found = {result.name: result for result in results}
    assert (found[name].verdict, found[name].expected) == (verdict, expected)


def test_a_mutant_as_a_whole_is_refuted_if_anything_is(specify: Specify) -> None:
    results = prove_specification(specify(PLAIN.format(expect="")), ["lawless"])
    assert [(result.name, result.verdict, result.expected) for result in results] == [
        ("lawless", Verdict.REFUTED, True),
        ("lawless: no_creation", Verdict.REFUTED, True),
    ]


def test_the_seed_and_the_limit_are_in_every_result(library: Library) -> None:
    options = Options(timeout_ms=9_000, seed=17)
    for result in prove_specification(library("mf"), ["causal", "vacuity"], options):
        assert result.facts["seed"] == 17
        assert result.facts["timeout_ms"] == 9_000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"solvers": ()}, "at least one"), ({"solvers": ("z3", "z3")}, "once"), ({"timeout_ms": 0}, "time limit")],
)
def test_options_are_checked(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**wrong)  # type: ignore[arg-type]


def test_guards_that_keep_each_other_false_are_vacuous(specify: Specify) -> None:
    """No invariant says so: that neither guard ever holds is shown by induction over both."""
    found = specify(
        """machine stuck:
  relation ready(m: message)
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m) and ready(m)
  transition grow(m):
    require ready(m)
    ready(m) := true
  prove no_creation
"""
    )
    vacuity = next(result for result in prove_specification(found) if result.name == "vacuity")
    assert vacuity.verdict is Verdict.REFUTED
    assert sorted(vacuity.facts["impossible"]) == ["deliver", "grow"]
