"""The meaning of FILE and FILE:PROTOCOL on command lines and in recorded cases. A library file has a bare name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from thence.dsl import ir
from thence.dsl.load import SUFFIX, Loaded, load, locate
from thence.dsl.text.diagnostics import nearest
from thence.spec.user_error import UserError


class Rejected(UserError):
    """The text of a file has errors; `loaded` has the diagnostics."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__(f"{loaded.path} has errors; see thence check {loaded.path}")
        self.loaded = loaded


class NotThere(UserError):
    """A file does not declare what was asked for."""


def specification(name: str) -> ir.Specification:
    """The typed content of a file. Raises: SourceError; Rejected where the text has errors."""
    loaded = load(name)
    if loaded.specification is None:
        raise Rejected(loaded)
    return loaded.specification


def parted(name: str) -> tuple[str, str]:
    """FILE and PROTOCOL, "" where the name has none. A name that exists as a file is that file."""
    file, colon, wanted = name.rpartition(":")
    if not colon or not wanted.isidentifier() or Path(name).exists():
        return name, ""
    return file, wanted


def protocol_of(name: str, found: ir.Specification | None = None) -> ir.Protocol:
    """The protocol of a file that systems are held against: the only one, or the one named like the file.

    Raises: SourceError, Rejected; NotThere where there is none.
    """
    protocols = (specification(name) if found is None else found).protocols
    stem = Path(name).name.removesuffix(SUFFIX)
    for protocol in protocols:
        if len(protocols) == 1 or protocol.name == stem:
            return protocol
    there = ", ".join(protocol.name for protocol in protocols)
    raise NotThere(
        f"{name} has several protocols ({there}), none named like the file" if there else f"{name} has no protocol"
    )


def named_protocol(name: str) -> ir.Protocol:
    """The protocol that FILE or FILE:PROTOCOL names, as `protocol_of`.

    Raises: SourceError, Rejected; NotThere where there is none.
    """
    file, wanted = parted(name)
    if not wanted:
        return protocol_of(file)
    protocols = specification(file).protocols
    known(wanted, [protocol.name for protocol in protocols], "protocol")
    return next(protocol for protocol in protocols if protocol.name == wanted)


def mutants_named(found: ir.Specification, name: str) -> tuple[ir.Mutant, ...]:
    """The mutants that NAME or SUBJECT/NAME names: each subject may have one of the name."""
    return tuple(each for each in found.mutants if name in (each.name, f"{each.subject}/{each.name}"))


def known_mutants(found: ir.Specification, name: str) -> tuple[ir.Mutant, ...]:
    """The same. Raises: NotThere where there is none."""
    named = mutants_named(found, name)
    if not named:
        known(name, (each.name for each in found.mutants), "mutant")
    return named


def mutant_of_a_protocol(found: ir.Specification, name: str) -> ir.Mutant | None:
    """The mutant of a protocol that NAME or SUBJECT/NAME names; None where there is none.

    Raises: NotThere where several protocols have a mutant of the name.
    """
    of_protocols = [each for each in mutants_named(found, name) if isinstance(each.mutated, ir.Protocol)]
    if len(of_protocols) > 1:
        there = " or ".join(f"{each.subject}/{each.name}" for each in of_protocols)
        raise NotThere(f"several protocols have a mutant {name}; name one of them: {there}")
    return of_protocols[0] if of_protocols else None


def place_of_library_file(name: str) -> Path | None:
    """Where the library file is that FILE or FILE:PROTOCOL means; None for a file that is named by its path.

    Raises: SourceError.
    """
    file, _ = parted(name)
    path = locate(file)
    return None if Path(file) == path else path


def known(name: str, names: Iterable[str], what: str) -> None:
    """Raises NotThere where the name is none of these, with the one that was meant if one is near."""
    there = tuple(dict.fromkeys(names))
    if name not in there:
        near = nearest(name, there)
        hint = f"did you mean {near}?" if near else f"there is {', '.join(there)}" if there else "the file has none"
        raise NotThere(f"there is no {what} {name}; {hint}")
