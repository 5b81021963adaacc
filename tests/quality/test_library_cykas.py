"""Cykas: what is proved of its machines, what is not true of it, and the link that carries it to the protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Result, Verdict

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("cykas")]  # the proofs of the file are made once


@pytest.fixture(scope="module")
def cykas() -> ir.Specification:
    found = load("cykas").specification
    assert found is not None
    return found


@pytest.fixture(scope="module")
def results(cykas: ir.Specification) -> dict[tuple[str, str], Result]:
    found = prove_specification(cykas, options=Options(workers=2))
    return {(result.subject, result.name): result for result in found}


INVARIANTS = {"secrets": 11, "secret_counter": 17}
PROPERTIES = ("csps", "fifo", "causal", "at_most_once", "no_creation")


@pytest.mark.parametrize("machine", INVARIANTS)
def test_cykas_is_causal_for_any_number_of_processes(
    cykas: ir.Specification, results: dict[tuple[str, str], Result], machine: str
) -> None:
    declared = next(known for known in cykas.machines if known.name == machine)
    assert len(declared.invariants) == INVARIANTS[machine]
    for name in ("history", *(invariant.name for invariant in declared.invariants), *PROPERTIES):
        assert (results[machine, name].verdict, results[machine, name].level) == (Verdict.PROVED, Level.L3), name
    assert results[machine, "vacuity"].verdict is Verdict.PROVED


def test_cykas_does_not_deadlock(results: dict[tuple[str, str], Result]) -> None:
    """Stated where it is stable: over sets, Z3 needs luck."""
    assert results["secret_counter", "without deadlock"].verdict is Verdict.PROVED


@pytest.mark.parametrize(("machine", "transition"), [("secrets", "send_normal"), ("secret_counter", "network_send")])
def test_what_a_message_waits_for_grows(results: dict[tuple[str, str], Result], machine: str, transition: str) -> None:
    """Proposition 3.2 and Lemma 3.5: another secret is told to the process that has a message to send."""
    starving = results[machine, f"without starvation {transition}"]
    assert (starving.verdict, starving.expected, starving.facts["depth"]) == (Verdict.REFUTED, True, 6)
    steps = [step["step"] for step in starving.facts["counterexample"]["steps"]]
    assert steps[-1].startswith("deliver(")


def test_everything_is_as_the_file_expects(results: dict[tuple[str, str], Result]) -> None:
    assert [key for key, result in results.items() if not result.expected] == []
    assert results["secret_counter", "answers_the_latest: causal"].facts["depth"] == 8


def small(cykas: ir.Specification) -> ir.Workload:
    return next(scope.workload for scope in cykas.scopes if scope.name == "links")


def to_secrets(cykas: ir.Specification) -> ir.Link:
    return next(link for link in cykas.links if link.machine.name == "secrets")


def test_the_protocol_conforms_to_the_machine(cykas: ir.Specification) -> None:
    link = to_secrets(cykas)
    found = check_link(link, link.protocol, small(cykas))
    assert (found.complete, found.broken) == (True, None)
    assert (found.states, found.transitions) == (691, 1_274)


@pytest.mark.parametrize(("mutant", "transition"), [("no_secret_mode", "send_normal"), ("tells_too_early", "send_yct")])
def test_mutants_break_the_link(cykas: ir.Specification, mutant: str, transition: str) -> None:
    link = to_secrets(cykas)
    mutated = next(known.mutated for known in cykas.mutants if known.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    broken = check_link(link, mutated, small(cykas)).broken
    assert broken is not None and broken.refusal.transition == transition


@pytest.mark.parametrize("left_out", range(7))
def test_no_clause_can_be_left_out(cykas: ir.Specification, left_out: int) -> None:
    link = to_secrets(cykas)
    assert len(link.clauses) == 7
    clauses = tuple(clause for number, clause in enumerate(link.clauses) if number != left_out)
    assert check_link(replace(link, clauses=clauses), link.protocol, small(cykas)).broken is not None
