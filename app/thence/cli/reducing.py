"""`--reductions` of `thence explore`: the reductions that were applied or refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.proofs.engines import FEW
from thence.proofs.explore.reductions import REDUCTIONS, kept_by
from thence.spec.verdict import Result


def reductions_text(results: Sequence[Result]) -> str:
    """The reductions that counts are up to, the properties that they keep, and the refused ones with their reasons.

    Empty where every state is visited.
    """
    return "".join(f"{line}\n" for line in (*_made(results), *_refused(results)))


def _made(results: Sequence[Result]) -> Iterator[str]:
    made = [name for name in REDUCTIONS if any(name in result.facts.get("reductions", ()) for result in results)]
    if made:
        yield "states are counted up to reductions; --reductions none visits all of them"
    for name in made:
        yield f"  {name}: {REDUCTIONS[name].does}; keeps {', '.join(kept_by([name]))}"


def _refused(results: Sequence[Result]) -> Iterator[str]:
    """Each reason once, with its scopes; small scopes are never reduced, and are left out."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for result in results:
        scope = result.facts.get("scope") or {}
        where = f"{result.subject} {scope.get('name') or ''}".strip()
        for name, why in result.facts.get("refused", {}).items():
            if why != FEW:
                reasons.setdefault((name, why), {})[where] = None
    for (name, why), scopes in reasons.items():
        yield f"not reduced by {name}: {', '.join(scopes)}: {why}"
