"""The protocol that a name means."""

from __future__ import annotations

from whence.dsl import ir
from whence.dsl.load import SourceError, load


def find_specification(name: str) -> ir.Specification:
    """What is in a file or library file.

    Raises:
        ValueError: there is no such file, or it has errors.
    """
    try:
        found = load(name).specification
    except SourceError as error:
        raise ValueError(str(error)) from error
    if found is None:
        raise ValueError(f"{name} has errors; see whence check {name}")
    return found


def find_protocol(name: str) -> ir.Protocol:
    """The protocol of a file or library file: the only one in it, or the one named like the file.

    Raises:
        ValueError: there is none, or the file has errors.
    """
    try:
        loaded = load(name)
    except SourceError as error:
        raise ValueError(str(error)) from error
    if loaded.specification is None:
        raise ValueError(f"{name} has errors; see whence check {name}")
    protocols = loaded.specification.protocols
    fitting = [protocol for protocol in protocols if len(protocols) == 1 or protocol.name == loaded.path.stem]
    if not fitting:
        raise ValueError(f"{name} has no protocol of its own name, and not just one")
    return fitting[0]
