"""A search that is ended says what there is, and proves nothing."""

from __future__ import annotations

from thence.dsl.load import load
from thence.proofs.infer.inference import INTERRUPTED, Limits
from thence.proofs.infer.links.inference import LinkInference, infer_link, without_invariants
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession


def searched(limits: Limits, end_at: str = "never", hide: str = "all") -> LinkInference:
    specification = load("fifo").specification
    assert specification is not None
    (link,) = specification.links

    def note(doing: str) -> None:
        if end_at in doing:
            raise KeyboardInterrupt

    options = Options()
    with solver_pool(options) as pool:
        return infer_link(ProofSession(pool, options), without_invariants(link, (hide,)), limits, note)


def test_an_interrupt_shows_what_proofs_rest_on() -> None:
    found = searched(Limits(), "clauses are enough")
    assert not found.proved and found.reason == INTERRUPTED and found.refuted is None
    assert {"MSG_in_flight", "in_unacked"} <= {each.formula.name for each in found.conjuncts}
    early = searched(Limits(), "random runs")
    assert not early.proved and not early.conjuncts


def test_the_time_limit_ends_a_search() -> None:
    found = searched(Limits(seconds=0.001))
    assert not found.proved and "time limit" in found.reason


def test_what_is_not_hidden_is_kept() -> None:
    """One of four invariants is hidden, and found again; the others are not found a second time."""
    found = searched(Limits(), hide="delayed")
    assert found.proved and len(found.link.invariants) == 3
    assert [each.formula.name for each in found.conjuncts] == ["in_early"]
