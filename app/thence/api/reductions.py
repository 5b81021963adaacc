"""The reductions of an exploration, by name."""

from __future__ import annotations

from thence.api.errors import BadRequest
from thence.dsl.find import known
from thence.proofs.explore.exploration import Engine
from thence.proofs.explore.reductions import AUTO, REDUCTIONS


def reductions_of(given: str | None, engine: Engine) -> tuple[str, ...]:
    """The chosen reductions; by default the automatic ones, and none where the interpreter takes part.

    Raises:
        BadRequest: for an unknown reduction, or one that the engine does not apply.
    """
    if given is None:
        return (AUTO,) if engine in ("auto", "native") else ()
    if given == "none":
        return ()
    names = [name.strip() for name in given.split(",")]
    for name in names:
        known(name, (AUTO, "none", *REDUCTIONS), "reduction")
    if "none" in names:
        raise BadRequest(f"--reductions {given}: none stands alone")
    if engine == "interpreted":
        raise BadRequest(f"--reductions {given}: the interpreter makes none")
    return tuple(dict.fromkeys(names))
