"""An entry of the errata, and the list of entries: `faults.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias, cast, get_args

from thence.spec.verdict import Kind

Nature: TypeAlias = Literal["algorithm", "slip", "assumption", "proof", "optimality"]
"""Kind of an entry: a fault of the algorithm as printed, a slip of the pen, an assumption that is not stated, a gap in
a proof, or a loss of optimality only."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the library: that result of its file which has this kind, subject and name."""

    file: str
    kind: Kind
    subject: str
    name: str

    @property
    def key(self) -> str:
        """Unique among all statements of the library; the form in `faults.toml`."""
        return f"{self.file} | {self.kind} | {self.subject} | {self.name}"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, or an article.

    `title` is its title alone. `stands` says which of its results the library confirms. `read` says which version was
    read. `printed` are its algorithms: the file with the text as printed, and the file with the repaired protocol.
    """

    key: str
    authors: str
    title: str
    stands: str
    citation: str
    read: str
    printed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing in a paper that does not hold as printed.

    Attributes:
        kind: what kind of fault it is.
        place: algorithm or figure and line, or definition.
        printed: the printed text, in exact quotes.
        prose: what the paper says of it elsewhere, as it is meant where it says so, in exact quotes; a quote of another
            paper begins with its key and a colon.
        happens: the behaviour of the printed text, taken literally.
        repair: the text to write instead.
        follows: what follows for the paper's result.
        layout: whether it depends on the indentation, or on a single sign, of our text, which is a conversion.
        harmless: whether what is printed keeps all that the paper says.
        shown: the statements that show it; the picture is of the first that has one.
        shows: what their verdicts come to, see `claims`.
        holds: the statements that say that the repair holds.
    """

    id: str
    paper: str
    kind: Nature
    place: str
    title: str
    printed: tuple[str, ...]
    happens: str
    repair: str
    follows: str
    shown: tuple[Statement, ...]
    shows: tuple[str, ...]
    holds: tuple[Statement, ...]
    layout: bool = False
    harmless: bool = False
    prose: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """An entry that was in the list and was not true, or not fair, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Errata:
    """All entries, in the order of the page."""

    papers: tuple[Paper, ...]
    faults: tuple[Fault, ...]
    withdrawn: tuple[Withdrawn, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements that the entries name, each once."""
        return tuple(dict.fromkeys(one for fault in self.faults for one in (*fault.shown, *fault.holds)))


def read_errata() -> Errata:
    """The entries of `faults.toml`, which is part of the package; any fault in it raises."""
    text = (files("thence.pages.errata") / "faults.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    papers = tuple(
        Paper(**{**one, "printed": tuple((printed, repaired) for printed, repaired in one.get("printed", ()))})
        for one in found["paper"]
    )
    withdrawn = tuple(Withdrawn(**one) for one in found.get("withdrawn", ()))
    errata = Errata(papers, tuple(map(_fault, found["fault"])), withdrawn)
    assert len({fault.id for fault in errata.faults}) == len(errata.faults), "an id is used twice"
    assert {fault.paper for fault in errata.faults} <= {paper.key for paper in papers}
    assert {fault.kind for fault in errata.faults} <= {*get_args(Nature)}
    return errata


def _fault(entry: dict[str, Any]) -> Fault:
    shown, holds = tuple(map(_statement, entry.pop("shown"))), tuple(map(_statement, entry.pop("holds")))
    quotes: dict[str, Any] = {name: tuple(entry.pop(name, ())) for name in ("printed", "prose", "shows")}
    return Fault(**entry, **quotes, shown=shown, holds=holds)


def _statement(text: str) -> Statement:
    file, kind, subject, name = text.split(" | ")
    assert kind in get_args(Kind), text
    return Statement(file, cast(Kind, kind), subject, name)
