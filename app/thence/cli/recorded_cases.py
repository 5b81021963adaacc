"""Recorded cases from files, with the user's word for what they name to be run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from thence.cli.output import BadInput
from thence.conformance.cases.recorded_case import RecordedCase, read_case_file
from thence.conformance.systems.trust import Word
from thence.dsl.find import Rejected, named_protocol


def read_recorded(path: str, protocol: str | None, system: str, trusted: bool) -> RecordedCase:
    """The case of a file, with the given protocol and system, or else with its own.

    Raises:
        BadInput: it is no recorded case.
        Untrusted: it names what is to be run, and is not trusted.
    """
    try:
        recorded = read_case_file(Path(path))
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    if not system:
        Word(path, trusted).require(recorded.system, nameable=True)
    if recorded.protocol is not None and protocol is None:
        try:
            named_protocol(recorded.protocol)
        except Rejected as error:  # whose lines are not shown: the file chose what is read
            raise BadInput(f"{path}: the protocol that it names, {recorded.protocol}, has errors") from error
    return replace(recorded, system=system or recorded.system, protocol=protocol or recorded.protocol)
