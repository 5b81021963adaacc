"""A search that is ended says what there is, and proves nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.infer.links.inference import LinkInference, as_kept, infer_link, without_invariants
from thence.proofs.infer.search.inference import INTERRUPTED, Aids
from thence.proofs.infer.search.kept import Kept
from thence.proofs.infer.search.outcome import Limits
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession


def searched(limits: Limits, end_at: str = "never", hide: str = "all", kept: Kept | None = None) -> LinkInference:
    specification = load("fifo").specification
    assert specification is not None
    (link,) = specification.links

    def note(doing: str) -> None:
        if end_at in doing:
            raise KeyboardInterrupt

    options = Options()
    with solver_pool(options) as pool:
        return infer_link(ProofSession(pool, options), without_invariants(link, (hide,)), limits, note, Aids(kept))


@pytest.mark.long
def test_an_interrupt_shows_what_proofs_rest_on() -> None:
    found = searched(Limits(), "clauses are enough")
    assert not found.proved and found.reason == INTERRUPTED and found.refuted is None
    assert {"MSG_in_flight", "in_unacked"} <= {each.formula.name for each in found.conjuncts}
    early = searched(Limits(), "random runs")
    assert not early.proved and not early.conjuncts and early.kept is None


@pytest.mark.long
def test_what_an_interrupted_search_found_is_gone_on_with() -> None:
    """Once clauses are enough, the next search begins with these; one that is interrupted at once leaves them be."""
    found = searched(Limits(), "clauses are enough")
    kept = found.kept
    assert kept is not None and kept.base and not kept.wanted
    again = searched(Limits(), kept=kept)
    assert again.proved and again.facts == {"clauses": len(kept.base)} and again.kept is None
    assert searched(Limits(), "the machine", kept=kept).kept == kept
    assert searched(Limits(), "clauses that are true", kept=kept).kept == kept


@pytest.mark.long
def test_a_search_that_is_settled_can_be_begun_with() -> None:
    settled = searched(Limits(), hide="delayed")
    again = searched(Limits(), hide="delayed", kept=as_kept(settled))
    assert again.proved and again.facts == {"clauses": 1}
    assert [each.formula for each in again.conjuncts] == [each.formula for each in settled.conjuncts]


def test_what_is_proved_stays_proved_where_what_it_excludes_is_not_said() -> None:
    found = searched(Limits(), "what each invariant excludes", hide="delayed")
    assert found.proved and found.interrupted and found.kept is None
    assert [each.without for each in found.conjuncts] == [""]


def test_the_time_limit_ends_a_search() -> None:
    found = searched(Limits(seconds=0.001))
    assert not found.proved and "time limit" in found.reason


@pytest.mark.long
def test_what_is_not_hidden_is_kept() -> None:
    """One of four invariants is hidden, and found again; the others are not found a second time."""
    found = searched(Limits(), hide="delayed")
    assert found.proved and len(found.link.invariants) == 3
    assert [each.formula.name for each in found.conjuncts] == ["in_early"]


@pytest.mark.long
def test_a_false_link_ends_in_a_run() -> None:
    """Of these mutants random runs show nothing; small scopes do."""
    specification = load("client_server").specification
    assert specification is not None
    link = next(each for each in specification.links if each.protocol.name == "client_server")
    wrong = {each.name: each.mutated for each in specification.mutants}
    options = Options()
    for name in ("compares_nothing", "clients_forget"):
        protocol = wrong[name]
        assert isinstance(protocol, ir.Protocol)
        false = replace(without_invariants(link, ("all",)), protocol=protocol)
        with solver_pool(options) as pool:
            found = infer_link(ProofSession(pool, options), false, Limits(60.0), lambda _doing: None)
        assert found.refuted is not None and "this run breaks the link after 5 steps" in found.refuted.text
        assert not found.proved and found.kept is None


@pytest.mark.long
def test_counts_and_clauses_that_states_choose_prove_a_link() -> None:
    """All eleven invariants are hidden. Of the protocol's mutants that are no such machine, none is proved."""
    specification = load("ricart_agrawala").specification
    assert specification is not None
    (link,) = specification.links
    bare, options = without_invariants(link, ("all",)), Options()
    with solver_pool(options) as pool:
        found = infer_link(ProofSession(pool, options), bare, Limits(120.0), lambda _doing: None)
    assert found.proved and any("count q: process. asked(p, q)" in each.text for each in found.conjuncts)
    wrong = {each.name: each.mutated for each in specification.mutants}
    for name in ("no_ties", "deaf", "only_inside", "unfair"):
        protocol = wrong[name]
        assert isinstance(protocol, ir.Protocol)
        with solver_pool(options) as pool:
            false = infer_link(
                ProofSession(pool, options), replace(bare, protocol=protocol), Limits(60.0), lambda _doing: None
            )
        assert false.refuted is not None and not false.proved, name
