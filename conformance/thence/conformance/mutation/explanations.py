"""Why mutants survive, in words: a file that people write, and that is checked against the fates.

A mutant that is explained still counts as one that survived. An explanation of a mutant that does not survive is an
error of the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from thence.conformance.mutation.workers import Judged

FILE = "explanations.toml"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why some mutants of a subject survive.

    Attributes:
        row, subject: the file, and the protocol, machine or implementation in it.
        changes: the mutants, each by its changed lines, as in `- old` and `+ new` of its diff, without indentation.
        why: the reason.
    """

    row: str
    subject: str
    changes: tuple[str, ...]
    why: str


@cache
def library_explanations() -> tuple[Explanation, ...]:
    """The explanations of the shipped library."""
    return read(files("thence.conformance.mutation").joinpath(FILE).read_text(encoding="utf-8"))


def read(text: str) -> tuple[Explanation, ...]:
    """From TOML: `[[explained]]` with file, subject, changes, why. Raises: ValueError."""
    found: list[Any] = tomllib.loads(text).get("explained", [])
    try:
        return tuple(
            Explanation(
                one["file"], one["subject"], tuple(_plain(change) for change in one["changes"]),
                " ".join(one["why"].split()),
            )
            for one in found
        )  # fmt: skip
    except KeyError as missing:
        raise ValueError(f"an explanation has no {missing}") from missing


def change_of(one: Judged) -> str:
    """The changed lines of a mutant, as explanations name it."""
    return _plain("\n".join(line for line in one.mutant.diff.splitlines()[3:] if line.startswith(("-", "+"))))


def _plain(change: str) -> str:
    return "\n".join(f"{line[:1]} {' '.join(line[1:].split())}" for line in change.strip().splitlines())


def explained(one: Judged, row: str, explanations: Sequence[Explanation]) -> str:
    """Why the mutant of that file survives, or ""."""
    change = change_of(one)
    subject = one.mutant.subject
    found = (known for known in explanations if (known.row, known.subject) == (row, subject))
    return next((known.why for known in found if change in known.changes), "")


def unused(explanations: Sequence[Explanation], alive: Sequence[tuple[str, Judged]]) -> list[str]:
    """Which changes are explained although no mutant that is alive makes them. `alive` names the files, too."""
    there = {(row, one.mutant.subject, change_of(one)) for row, one in alive}
    return [
        f"{known.row} {known.subject}:\n{change}"
        for known in explanations
        for change in known.changes
        if (known.row, known.subject, change) not in there
    ]
