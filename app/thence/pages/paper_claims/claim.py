"""A claim of a paper, and the lists of claims: `papers/*.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from thence.pages.errata.fault import Statement
from thence.spec.verdict import Kind

Standing: TypeAlias = Literal[
    "confirmed", "in part", "not as printed", "measured", "written down", "open question", "not covered"
]
"""What the library says of a claim.

`confirmed`: the verdicts say what the claim says. `in part`: they say less; `lacks` names what they do not say.
`not as printed`: an erratum is about it. `measured`: figures stand on a page or come from a command. `written
down`: a definition, an algorithm or a figure that claims nothing by itself, with its formal text. `open question`:
a page of its own answers it, or will. `not covered`: nothing is said, for the reason given.
"""

PAPERS: Final = ("cykas", "almeida", "mf", "tree", "rst")
"""The keys of the papers, which are those of the errata, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A statement of the library with the verdict and the level that the claim expects of it."""

    statement: Statement
    verdict: str
    level: str


@dataclass(frozen=True, slots=True)
class Run:
    """A command, its exit code, and what it must print."""

    command: str
    exit: int
    prints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One item of a paper.

    Attributes:
        item: as the paper numbers it, such as `Lemma 3.3`; of an unnumbered claim its section and a word.
        also: other numbers that the paper uses for it.
        says: the claim in our words.
        shown: the statements, in the order of importance.
        runs: the commands, for what is no statement of the library.
        pages: pages of docs/library with figures or text about it.
        lacks: what the statements do not say of the claim; the difference between the paper's reading and ours.
        errata: the entries of the errata about it.
        reason: why nothing is said.
    """

    item: str
    says: str
    standing: Standing
    shown: tuple[Shown, ...] = ()
    runs: tuple[Run, ...] = ()
    pages: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    lacks: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PaperClaims:
    """The claims of one paper in its order."""

    paper: str
    claims: tuple[Claim, ...]


def read_claims() -> tuple[PaperClaims, ...]:
    """The entries of all papers, which are part of the package; any fault in them raises."""
    return tuple(PaperClaims(key, _claims(key)) for key in PAPERS)


def _claims(paper: str) -> tuple[Claim, ...]:
    text = (files("thence.pages.paper_claims") / "papers" / f"{paper}.toml").read_text(encoding="utf-8")
    found = tuple(map(_claim, tomllib.loads(text)["claim"]))
    assert len({one.item for one in found}) == len(found), f"{paper}: an item is there twice"
    return found


def _claim(entry: dict[str, Any]) -> Claim:
    shown = tuple(one for text in entry.pop("shown", ()) for one in shown_of(text))
    runs = tuple(Run(one["command"], one["exit"], tuple(one["prints"])) for one in entry.pop("runs", ()))
    lists: dict[str, Any] = {name: tuple(entry.pop(name, ())) for name in ("pages", "also", "errata")}
    claim = Claim(**entry, **lists, shown=shown, runs=runs)
    assert claim.standing in get_args(Standing), claim
    return claim


def shown_of(text: str) -> tuple[Shown, ...]:
    """`FILE | KIND | SUBJECT | NAMES | VERDICT LEVEL`; names after the last colon are separated by commas."""
    file, kind, subject, name, outcome = text.split(" | ")
    assert kind in get_args(Kind), text
    scope, colon, names = name.rpartition(": ")
    verdict, level = outcome.split()
    return tuple(
        Shown(Statement(file, cast(Kind, kind), subject, f"{scope}{colon}{one}"), verdict, level)
        for one in names.split(", ")
    )
