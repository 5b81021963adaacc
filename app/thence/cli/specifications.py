"""The specification that a command works on."""

from __future__ import annotations

from pathlib import Path

from thence.cli.session import BadInput, Rejected
from thence.conformance.harness.protocols import parted
from thence.dsl import ir
from thence.dsl.load import SUFFIX, load
from thence.dsl.text.diagnostics import nearest


def specification(name: str) -> ir.Specification:
    """The typed content of a file. Raises SourceError, and Rejected where the text has errors."""
    loaded = load(name)
    if loaded.specification is None:
        raise Rejected(loaded)
    return loaded.specification


def protocol_of(name: str, found: ir.Specification | None = None) -> ir.Protocol:
    """The protocol of a file that systems are held against: the only one, or the one named like the file.

    Raises: SourceError, Rejected; BadInput where there is none.
    """
    protocols = (specification(name) if found is None else found).protocols
    stem = Path(name).name.removesuffix(SUFFIX)
    for protocol in protocols:
        if len(protocols) == 1 or protocol.name == stem:
            return protocol
    there = ", ".join(protocol.name for protocol in protocols)
    raise BadInput(
        f"{name} has several protocols ({there}), none named like the file" if there else f"{name} has no protocol"
    )


def named_protocol(name: str) -> ir.Protocol:
    """The protocol that FILE or FILE:PROTOCOL names, as `protocol_of`.

    Raises: SourceError, Rejected; BadInput where there is none.
    """
    file, wanted = parted(name)
    if not wanted:
        return protocol_of(file)
    protocols = specification(file).protocols
    known(wanted, tuple(protocol.name for protocol in protocols), "protocol")
    return next(protocol for protocol in protocols if protocol.name == wanted)


def known(name: str, names: tuple[str, ...], what: str) -> None:
    """Raises BadInput where the name is none of these, with the one that was meant if one is near."""
    if name not in names:
        near = nearest(name, names)
        there = ", ".join(dict.fromkeys(names))
        hint = f"did you mean {near}?" if near else f"there is {there}" if there else "the file has none"
        raise BadInput(f"there is no {what} {name}; {hint}")
