"""The specification that a command works on."""

from __future__ import annotations

from whence.conformance.cli.session import BadInput, Rejected
from whence.dsl import ir
from whence.dsl.diagnostics import nearest
from whence.dsl.load import load


def specification(name: str) -> ir.Specification:
    """The typed content of a file. Raises SourceError, and Rejected where the text has errors."""
    loaded = load(name)
    if loaded.specification is None:
        raise Rejected(loaded)
    return loaded.specification


def known(name: str, names: tuple[str, ...], what: str) -> None:
    """Raises BadInput where the name is none of these, with the one that was meant if one is near."""
    if name not in names:
        near = nearest(name, names)
        there = ", ".join(dict.fromkeys(names))
        hint = f"did you mean {near}?" if near else f"there is {there}" if there else "the file has none"
        raise BadInput(f"there is no {what} {name}; {hint}")
