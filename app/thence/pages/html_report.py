"""The HTML report of `thence verify`: one file that opens without a network, readable without JavaScript too."""

from __future__ import annotations

import base64
import gzip
import json
import os
import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from thence.pages.result_lines import Line, counts, lines
from thence.spec.diagram.style import STYLE
from thence.spec.verdict import Result, Verdict


@dataclass(frozen=True, slots=True)
class Verified:
    """What one run of `thence verify` found.

    Attributes:
        files: the results by file, in the order in which they are shown.
        seconds: wall time of the run.
        left: the checks that were not made, since the run was interrupted.
        chosen: what was checked, where not everything was: a sentence; or empty.
        date: when it ended.
        player: the page on which one plays runs, and the runs, as `thence.play.report_runs` packs them; or empty.
        runs: the number of the run that a result shows, by the `id` of the result.
    """

    files: Mapping[str, Sequence[Result]]
    seconds: float
    _: KW_ONLY
    left: Sequence[str] = ()
    chosen: str = ""
    date: datetime = field(default_factory=lambda: datetime.now(UTC))
    player: str = ""
    runs: Mapping[int, int] = field(default_factory=dict)

    @property
    def results(self) -> list[Result]:
        """All of them."""
        return [result for results in self.files.values() for result in results]


VERDICTS: Final = tuple(verdict.value for verdict in Verdict)

_OF_MUTANTS: Final = ("mutant", "scenario")
"""Kinds of results with subjects `PROTOCOL/MUTANT`."""

_SHORT: Final = 100
"""An explanation of more characters stands once in its section."""

_DRAWN: Final = frozenset("│┊■●○")
"""The signs of diagrams in text."""

_STYLE_IN_PICTURE: Final = re.compile(r"<style>.*?</style>\n?", re.DOTALL)


def render(verified: Verified) -> str:
    """The report on these results."""
    environment = Environment(
        loader=PackageLoader("thence.pages", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["text"] = _text
    gallery = _Gallery()
    sections = [
        _section(number, file, results, gallery, verified.runs)
        for number, (file, results) in enumerate(verified.files.items())
    ]
    results = verified.results
    return environment.get_template("report.html").render(
        facts=_facts(verified),
        summary=_summary(results),
        left=verified.left,
        chosen=verified.chosen,
        sections=sections,
        surprises=[row for section in sections for row in section["rows"] if not row["expected"]],
        kinds=sorted({result.kind for result in results}),
        verdicts=[verdict for verdict in VERDICTS if any(result.verdict.value == verdict for result in results)],
        all_verdicts=VERDICTS,
        diagram_style=STYLE,
        gallery=gallery.packed(),
        player=verified.player,
    )


def _summary(results: Sequence[Result]) -> dict[str, int]:
    """The numbers that answer first."""
    unknown = [result for result in results if result.verdict is Verdict.UNKNOWN]
    return {
        "statements": len(results),
        "expected": sum(result.expected for result in results),
        "surprises": sum(not result.expected for result in results),
        "refuted": sum(result.expected and result.verdict is Verdict.REFUTED for result in results),
        "unknown": len(unknown),
        "unknown_expected": sum(result.expected for result in unknown),
        "not_tried": sum(bool(result.facts.get("not_tried")) for result in results),
    }


def _facts(verified: Verified) -> list[tuple[str, str]]:
    """Date, versions and machine: a verdict is worth what it can be traced to."""
    solvers: dict[str, str] = {}
    for result in verified.results:
        for name, each in (result.facts.get("solvers") or {}).items():
            if isinstance(each, Mapping) and "version" in each:
                solvers[name] = str(each["version"])
    found = [
        ("Date", verified.date.strftime("%Y-%m-%d %H:%M UTC")),
        ("Thence", version("thence")),
        ("Python", platform.python_version()),
        *(sorted(solvers.items())),
        ("Machine", f"{platform.system()} {platform.machine()}, {_count(os.cpu_count() or 1, 'processors')}"),
        ("Time", _time(verified.seconds)),
    ]
    return [(name, value) for name, value in found if value]


def _section(
    number: int, file: str, results: Sequence[Result], gallery: _Gallery, runs: Mapping[int, int]
) -> dict[str, Any]:
    """A file: its lines in order, and how many of its statements have which verdict."""
    verdicts = Counter(result.verdict.value for result in results)
    rows = [
        {**_row(f"r{number}-{at}", file, line, gallery), "run": runs.get(id(line.first))}
        for at, line in enumerate(lines(results, explained=True))
    ]
    first: dict[str, str] = {}
    for row in rows:
        known = first.setdefault(row["explanation"], row["id"])
        row["same"] = known if known != row["id"] and len(row["explanation"]) > _SHORT else ""
    return {
        "id": f"f{number}",
        "file": file,
        "rows": rows,
        "total": len(results),
        "verdicts": verdicts,
        "surprises": sum(not result.expected for result in results),
        "seconds": f"{sum(row['took'] for row in rows):.1f}",
    }


def _row(identity: str, file: str, line: Line, gallery: _Gallery) -> dict[str, Any]:
    result = line.first
    subject, _, mutant = result.subject.partition("/")
    if result.kind not in _OF_MUTANTS:
        subject, mutant = result.subject, ""
    return {
        "id": identity,
        "file": file,
        "subject": "" if subject == file else subject,
        "name": f"{mutant}: {line.statement}" if mutant else line.statement,
        "statements": line.statements,
        "kind": result.kind,
        "verdict": result.verdict.value,
        "level": result.level.name,
        "expected": result.expected,
        "took": line.seconds,
        "seconds": f"{line.seconds:.2f}",
        "counts": counts(result),
        "explanation": _without_drawing(result) if result.expected and result.picture else result.explanation,
        "picture": gallery.add(result.picture),
    }


class _Gallery:
    """The pictures of a report, each once, without the style that they share.

    They are packed, and unfolded by a script where a reader wants one; a reader without scripts has the text.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, picture: str) -> int | None:
        """The number of the picture; None for an empty one."""
        if not picture:
            return None
        return self._numbers.setdefault(_STYLE_IN_PICTURE.sub("", picture).strip(), len(self._numbers))

    def packed(self) -> str:
        """A list of SVG texts as JSON, by gzip, in base 64; empty without pictures."""
        if not self._numbers:
            return ""
        data = json.dumps([*self._numbers], ensure_ascii=False).encode()
        return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _without_drawing(result: Result) -> str:
    """The explanation without its diagram in text: the picture shows the same."""
    paragraphs = result.explanation.split("\n\n")
    return "\n\n".join(each for each in paragraphs if not _DRAWN & {*each})


def _text(content: str) -> Markup:
    """Text between tags, where quotes and `>` are nothing special; escaping them makes a report a tenth longer."""
    return Markup(content.replace("&", "&amp;").replace("<", "&lt;"))


def _time(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} min {seconds % 60:.0f} s" if minutes else f"{seconds:.1f} s"


def _count(number: int, nouns: str) -> str:
    return f"1 {nouns.removesuffix('s')}" if number == 1 else f"{number:,} {nouns}"
