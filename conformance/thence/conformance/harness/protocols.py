"""The protocol that a name means: FILE, or FILE:PROTOCOL, where FILE may be the bare name of a library file."""

from __future__ import annotations

from pathlib import Path

from thence.dsl import ir
from thence.dsl.load import SourceError, load, locate


def parted(name: str) -> tuple[str, str]:
    """FILE and PROTOCOL, "" where the name has none. What is there as a file is one, whatever its name."""
    file, colon, wanted = name.rpartition(":")
    if not colon or not wanted.isidentifier() or Path(name).exists():
        return name, ""
    return file, wanted


def find_specification(name: str) -> ir.Specification:
    """What is in the file that FILE or FILE:PROTOCOL names.

    Raises:
        ValueError: there is no such file, or it has errors.
    """
    try:
        found = load(parted(name)[0]).specification
    except SourceError as error:
        raise ValueError(str(error)) from error
    if found is None:
        raise ValueError(f"{name} has errors; see thence check {name}")
    return found


def find_protocol(name: str) -> ir.Protocol:
    """The protocol of a file: the one that is named, or else the only one in it, or the one named like the file.

    Raises:
        ValueError: there is none, or the file has errors.
    """
    file, wanted = parted(name)
    protocols = find_specification(name).protocols
    for protocol in protocols:
        if protocol.name == (wanted or locate(file).stem) or (not wanted and len(protocols) == 1):
            return protocol
    if wanted:
        raise ValueError(f"{file} has no protocol {wanted}")
    raise ValueError(f"{name} has no protocol of its own name, and not just one")
