"""A cell for tables: which faults of the errata the results of a run show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from thence.pages.errata.fault import Fault, read_errata


def faults_of(files: Collection[str]) -> tuple[Fault, ...]:
    """The faults that are shown, first of all, by a statement of one of the files."""
    return tuple(fault for fault in read_errata().faults if fault.shown[0].file in files)


def cell(results: Sequence[Mapping[str, Any]], files: Collection[str]) -> str:
    """`2 shown: A1, A2; harmless: A4`: the entries all of whose statements came out as expected; empty without any.

    Args:
        results: results as JSON objects, such as `thence verify --json` prints.
        files: names of library files.
    """
    known = {(one["kind"], one["subject"], one["name"]): one["expected"] for one in results}
    shown: list[str] = []
    harmless: list[str] = []
    missing: list[str] = []
    for fault in faults_of(files):
        held = all(known.get((one.kind, one.subject, one.name), False) for one in fault.shown)
        (missing if not held else harmless if fault.harmless else shown).append(fault.id)
    parts = [f"{len(shown)} shown: {', '.join(shown)}"] if shown else []
    if harmless:
        parts.append(f"harmless: {', '.join(harmless)}")
    if missing:
        parts.append(f"not shown: {', '.join(missing)}")
    return "; ".join(parts)
