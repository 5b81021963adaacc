"""What an invariant of a link excludes: a state in which a step goes wrong, and which all other invariants allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.proofs.refinement.obligations import claims
from thence.proofs.refinement.prover import failing_state
from thence.proofs.solving.discharge import QUICK_MS
from thence.proofs.solving.session import ProofSession

STATES = 3
"""For so many obligations that are not proved a state is looked for."""


def wrong_without(session: ProofSession, link: ir.Link, known: Sequence[ir.NamedFormula], name: str) -> str:
    """What goes wrong in the link without this of its invariants, in words.

    A state is shown in which an obligation fails, or else an obligation is named that is not proved in a short time.
    It is empty where all obligations are proved without the invariant.

    Args:
        known: what is proved of the machine.

    Raises: CrossCheckError where a solver and the evaluator disagree; OutOfTime, from the session's budget.
    """
    fewer = replace(link, invariants=tuple(each for each in link.invariants if each.name != name))
    claimed = claims(fewer, tuple(known))
    done = session.within(QUICK_MS).discharge([each.obligation for each in claimed], look_for_models=False)
    left = [one for one, each in zip(claimed, done, strict=True) if not each.proved]
    for each in left[:STATES]:
        shown = failing_state(session, fewer, known, each)
        if shown is not None:
            return "\n".join(shown[1])
    return f"not proved: {left[0].obligation.name}" if left else ""
