"""`--reductions` of `thence explore`: the chosen reductions, and those that were applied or refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.cli.output import BadInput
from thence.dsl.find import known
from thence.proofs.engines import FEW
from thence.proofs.explore.exploration import Engine
from thence.proofs.explore.reductions import AUTO, REDUCTIONS, kept_by
from thence.spec.verdict import Result


def reductions_of(given: str | None, engine: Engine) -> tuple[str, ...]:
    """The chosen reductions; by default the automatic ones, and none where the interpreter takes part.

    Raises:
        BadInput: for an unknown reduction, or one that the engine does not apply.
    """
    if given is None:
        return (AUTO,) if engine in ("auto", "native") else ()
    if given == "none":
        return ()
    names = [name.strip() for name in given.split(",")]
    for name in names:
        known(name, (AUTO, "none", *REDUCTIONS), "reduction")
    if "none" in names:
        raise BadInput(f"--reductions {given}: none stands alone")
    if engine == "interpreted":
        raise BadInput(f"--reductions {given}: the interpreter makes none")
    return tuple(dict.fromkeys(names))


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
    """The scopes of each reason; small scopes are never reduced, and are left out."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for result in results:
        where = f"{result.subject} {result.name.rpartition(': ')[0]}"
        for name, why in result.facts.get("refused", {}).items():
            if why != FEW:
                reasons.setdefault((where, why), {})[name] = None
    for (where, why), names in reasons.items():
        yield f"not reduced by {', '.join(names)}: {where}: {why}"
