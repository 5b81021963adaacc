"""The result of an export."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exported:
    """The files of an export by name, the module that TLC is given, and what a reader has to know."""

    module: str
    files: dict[str, str]
    notes: tuple[str, ...] = ()
