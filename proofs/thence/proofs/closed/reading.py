"""Reads a folder that somebody sent: its files up to a size, their form, and that they belong together."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from thence.dsl import ir
from thence.dsl.load import SourceError, load_bytes
from thence.dsl.run.actions import State
from thence.dsl.run.system import System
from thence.proofs.certificate.directory import contents, shown
from thence.proofs.certificate.forms.json_form import value_of
from thence.proofs.closed.check import Checker
from thence.proofs.closed.claim import FORMAT, Claim, claim_of, claimed_system, protocol_of, refuse, workload_in
from thence.proofs.closed.emitted import CITATION, CLAIM, FILES, LOCALS, PACKETS, README, STATES
from thence.proofs.closed.texts import citation, readme
from thence.proofs.closed.written import Malformed, demand, local_of, packet_of, state_of
from thence.spec.user_error import UserError

MOST_BYTES: Final = {"": 128 << 20, "sources": 2 << 20}
"""Limits on the bytes of a file, by folder."""

LONGEST_LINE: Final = 1 << 16

MOST_TEXT: Final = {LOCALS: 32 << 20, PACKETS: 32 << 20, STATES: 4 << 30}
"""Limits on the bytes of the text in a compressed file."""


class NotAClosedSet(UserError):
    """The directory has no closed set that this version of Thence reads; the message says why."""


def is_closed_set(directory: Path) -> bool:
    """Whether the directory is one of these, as far as its files' names tell."""
    return (directory / CLAIM).exists()


def may_be_replaced(directory: Path) -> bool:
    """Whether the directory has a closed set and nothing else."""
    there = {path.relative_to(directory).as_posix() for path in directory.rglob("*") if not path.is_dir()}
    try:
        source = json.loads((directory / CLAIM).read_bytes())["source"]
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return there == {*FILES, source}


@dataclass(frozen=True, slots=True)
class Reading:
    """The files, by their paths, and the claim; it has no fault of form."""

    claim: Claim
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> bytes:
        return self.files[self.claim.source]

    def checker(self) -> Checker:
        """A checker of the claim. Raises: Malformed."""
        claim = self.claim
        specification = _specification(claim, self.source)
        protocol = protocol_of(specification, claim.subject)
        workload = workload_in(protocol, claim.settings)
        refuse(claim, specification, workload)
        system = claimed_system(protocol, workload, claim.properties)
        locals_ = [system.local_number(local_of(each, system)) for each in _values(self.files, LOCALS)]
        packets = [system.number_of(packet_of(each, system)) for each in _values(self.files, PACKETS)]
        states = partial(_states, self, system, locals_, packets)
        return Checker(system, claim.properties, claim.renamings, states)


def read(directory: Path) -> Reading:
    """The closed set in the directory. Raises: NotAClosedSet; Malformed where it is not as Thence writes it."""
    where = shown(str(directory))
    try:
        found = contents(directory, MOST_BYTES)
    except OSError as error:
        raise NotAClosedSet(f"{where} cannot be read: {error.strerror or error}") from error
    if CLAIM not in found.files:
        raise NotAClosedSet(f"{where} has no {CLAIM} that can be read{''.join(f': {each}' for each in found.faults)}")
    try:
        value = value_of(found.files[CLAIM])
    except ValueError as fault:
        raise Malformed(f"{CLAIM} is not JSON of the form that Thence writes: {shown(str(fault))}") from fault
    named = value.get("format") if isinstance(value, dict) else None
    if named != FORMAT:
        said = shown(named) if isinstance(named, str) else "none"
        raise NotAClosedSet(f"{where}/{CLAIM} has the format {said}; Thence {version('thence')} reads {FORMAT}")
    demand(not found.faults, "; ".join(found.faults[:5]))
    claim = _in_file(CLAIM, lambda: claim_of(value))
    expected = {*FILES, claim.source}
    for file in sorted({*found.files} - expected):
        raise Malformed(f"{shown(file)} is no part of it")
    for file in sorted(expected - {*found.files}):
        raise Malformed(f"{shown(file)} is missing")
    demand(claim.source.startswith("sources/"), "the source is not in `sources`")
    source = found.files[claim.source]
    same = claim.content(source) == found.files[CLAIM]
    demand(same, f"{CLAIM} is not in its form, or its ids are not those of {shown(claim.source)} and the scope")
    notes: tuple[str, ...] = ()
    if claim.thence != version("thence"):
        notes = (f"written by Thence {shown(claim.thence)}, another version: {README} and {CITATION} are not compared",)
    else:
        for file, text in ((README, readme(claim, source)), (CITATION, citation(claim, source))):
            demand(found.files[file] == text.encode(), f"{file} is not what {CLAIM} gives")
    return Reading(claim, found.files, notes)


def _specification(claim: Claim, source: bytes) -> ir.Specification:
    name = claim.source.removeprefix("sources/")
    try:
        loaded = load_bytes(Path(name), source, len(source))
    except (SourceError, RecursionError) as fault:
        raise Malformed(f"the text cannot be read: {shown(str(fault))}") from fault
    if loaded.specification is None:
        raise Malformed(f"the text has errors: {shown(loaded.diagnostics[0].message)}")
    return loaded.specification


def _in_file(file: str, make: Any) -> Any:
    try:
        return make()
    except Malformed as fault:
        raise Malformed(f"{file}: {fault}") from fault


def _states(
    reading: Reading, system: System, locals_: list[int], packets: list[int], first: int, step: int
) -> Iterator[tuple[int, State]]:
    """The states on lines `first`, `first + step`, ..., with their lines, from 0. Raises: Malformed."""
    count, last = 0, b""
    for count, line in enumerate(_lines(reading.files, STATES), 1):
        at = count - 1
        demand(last < line, f"{STATES}, line {count}: the lines are not in ascending order, each once")
        last = line
        if at < first or (at - first) % step:
            continue
        value = _value(line, STATES, count)
        try:
            state = state_of(value, system, locals_, packets)
        except Malformed as fault:
            raise Malformed(f"{STATES}, line {count}: {fault}") from fault
        yield at, state
    demand(count == reading.claim.states, f"{STATES} has {count:,} states, and the claim says {reading.claim.states:,}")


def _values(files: Mapping[str, bytes], file: str) -> Iterator[Any]:
    """The JSON values of the lines of a compressed file. Raises: Malformed."""
    return (_value(line, file, number) for number, line in enumerate(_lines(files, file), 1))


def _value(line: bytes, file: str, number: int) -> Any:
    try:
        return value_of(line)
    except ValueError as fault:
        raise Malformed(f"{file}, line {number}: {shown(str(fault))}") from fault


def _lines(files: Mapping[str, bytes], file: str) -> Iterator[bytes]:
    """The lines of a compressed file. Raises: Malformed, also where it is too long."""
    number = length = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(files[file])) as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                number += 1
                length += len(line)
                demand(length <= MOST_TEXT[file], f"more than {MOST_TEXT[file]:,} bytes of text")
                demand(len(line) <= LONGEST_LINE, f"line {number} is longer than {LONGEST_LINE:,} bytes")
                yield line
    except (OSError, EOFError, zlib.error) as fault:
        raise Malformed(f"{file} is not compressed as Thence does it: {shown(str(fault))}") from fault
    except Malformed as fault:
        raise Malformed(f"{file}: {fault}") from fault
