"""Two-phase commit: how much its scopes explore, and what its link to a machine without messages follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load, load_bytes, locate
from thence.proofs.engines import explore
from thence.proofs.links.link_run import Broken
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import LinkCheck, check_link
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

COUNTS = {
    "three": (163, 311),
    "impatient": (2_868, 10_120),
    "failures": (11_450, 39_754),
    "pair": (3_442, 11_665),
    "blocked": (710, 1_925),
}


def specification() -> ir.Specification:
    found = load("two_phase_commit").specification
    assert found is not None
    return found


def workload_of(scope: str) -> ir.Workload:
    return next(known.workload for known in specification().scopes if known.name == scope)


def why_refuted(found: LinkCheck) -> str:
    """The transition that refuses an event, or the invariant of the link that is false."""
    assert found.refuted is not None
    return found.refuted.refusal.transition if isinstance(found.refuted, Broken) else found.refuted.invariant.name


def test_every_scope_is_pinned() -> None:
    assert [scope.name for scope in specification().scopes] == list(COUNTS)


@pytest.mark.long(but=("three", "blocked"))
@pytest.mark.parametrize("scope", COUNTS)
def test_states_of_the_scopes_and_of_the_link(scope: str) -> None:
    """The machine's state is a function of the protocol's, as the invariants of the link say: no pair is new."""
    [protocol], [link] = specification().protocols, specification().links
    explored = explore(protocol, workload_of(scope), protocol.properties)
    assert explored.complete
    assert (explored.states, explored.transitions) == COUNTS[scope]
    followed = check_link(link, protocol, workload_of(scope))
    assert (followed.complete, followed.refuted) == (True, None)
    assert (followed.states, followed.transitions) == COUNTS[scope]


@pytest.mark.parametrize(
    ("mutant", "scope", "why"),
    [
        ("commits_at_once", "three", "decide_commit"),
        ("votes_again", "pair", "is_asked"),
        ("agrees_in_memory", "failures", "votes_on_the_logs"),
        ("gives_up_in_doubt", "impatient", "verdicts_on_the_logs"),
    ],
)
def test_a_link_breaks_where_the_fault_is(mutant: str, scope: str, why: str) -> None:
    [link] = specification().links
    mutated = next(known.mutated for known in specification().mutants if known.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    assert why_refuted(check_link(link, mutated, workload_of(scope))) == why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("is agree(self)", "is refuse(self)", "votes_on_the_logs"),
        ("is decide_commit(self)", "is decide_abort(self)", "verdicts_on_the_logs"),
        ("is decide_commit(self)", "is decide_commit(p)", "decide_commit"),
    ],
)
def test_a_wrong_clause_breaks_the_link(old: str, new: str, why: str) -> None:
    text = locate("two_phase_commit").read_text(encoding="utf-8")
    assert old in text
    found = load_bytes(Path("changed.thence"), text.replace(old, new, 1).encode()).specification
    assert found is not None
    [link] = found.links
    assert why_refuted(check_link(link, link.protocol, workload_of("three"))) == why


def test_proved_for_any_number_of_participants() -> None:
    alone = replace(specification(), mutants=())
    results = {result.name: result for result in prove_specification(alone, options=Options(workers=2))}
    for stated in ("agreement", "validity", "commit_stays", "abort_stays", "agreed_stays"):
        assert (results[stated].verdict, results[stated].level) == (Verdict.PROVED, Level.L3), stated
    assert [result.name for result in results.values() if not result.expected] == []
