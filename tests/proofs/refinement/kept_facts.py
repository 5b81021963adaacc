"""Of what may be true of both sides of a drawn link: what a run refutes, and what a solver soon sees to be kept."""

from __future__ import annotations

from collections.abc import Iterable

from thence.dsl import ir
from thence.proofs.explore.exploration import Method
from thence.proofs.refinement.following import Kept
from thence.proofs.refinement.obligations import claims
from thence.proofs.scopes.link import LinkCheck
from thence.proofs.solving.session import ProofSession

BY_INTERPRETER = Method("interpreted")

SOON_MS = 100
"""Time limit for what is asked many times."""


def refuted_facts(checks: Iterable[LinkCheck]) -> set[str]:
    """The invariants of a link of which a run of a scope shows that they are false."""
    return {each.unlike.invariant.name for each in checks if each.unlike is not None}


def facts_not_kept(session: ProofSession, link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> set[str]:
    """The invariants of a link that are not soon proved to be kept by each step. Raises: Unsupported."""
    asked = claims(link, known)
    done = session.within(SOON_MS).discharge([each.obligation for each in asked], look_for_models=False)
    return {
        each.claim.invariant.name
        for each, found in zip(asked, done, strict=True)
        if not found.proved and isinstance(each.claim, Kept)
    }
