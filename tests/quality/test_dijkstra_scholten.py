"""Termination detection: how much its scopes explore, what its link follows, and where its mutants break it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.links.link_run import Broken
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import LinkCheck, check_link
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

COUNTS = {
    "line": (3_863, 12_406),
    "triangle": (3_187, 9_140),
    "diamond": (1_735, 4_674),
    "one_way": (7, 9),
}

LINKED = ("line", "triangle", "diamond")


def specification() -> ir.Specification:
    found = load("dijkstra_scholten").specification
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
    assert tuple(scope.name for scope in specification().links[0].scopes) == LINKED


@pytest.mark.parametrize("scope", COUNTS)
def test_states_of_the_scopes(scope: str) -> None:
    [protocol] = specification().protocols
    explored = explore(protocol, workload_of(scope), ("never_too_early", "fault"))
    assert explored.complete and explored.violations.keys() == ({"fault"} if scope == "one_way" else set())
    assert (explored.states, explored.transitions) == COUNTS[scope]


@pytest.mark.long(but=("diamond",))
@pytest.mark.parametrize("scope", LINKED)
def test_the_link_is_followed(scope: str) -> None:
    """The machine's state is a function of the protocol's, as the invariants of the link say: no pair is new."""
    [link] = specification().links
    followed = check_link(link, link.protocol, workload_of(scope))
    assert (followed.complete, followed.refuted) == (True, None)
    assert (followed.states, followed.transitions) == COUNTS[scope]


@pytest.mark.parametrize(
    ("mutant", "scope", "why"),
    [
        ("answers_last_sender", "triangle", "answer"),
        ("leaves_early", "line", "announced"),
        ("leaves_working", "line", "announced"),
    ],
)
def test_the_link_breaks_where_the_fault_is(mutant: str, scope: str, why: str) -> None:
    [link] = specification().links
    mutated = next(known.mutated for known in specification().mutants if known.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    assert why_refuted(check_link(link, mutated, workload_of(scope))) == why


def test_proved_for_any_number_of_processes_and_any_graph() -> None:
    alone = replace(specification(), mutants=())
    results = {result.name: result for result in prove_specification(alone, options=Options(workers=2))}
    for stated in ("never_too_early", "tree", "by_a_child", "stays_ended"):
        assert (results[stated].verdict, results[stated].level) == (Verdict.PROVED, Level.L3), stated
    assert [result.name for result in results.values() if not result.expected] == []
