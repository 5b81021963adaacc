"""The page of figures, figures.md: the scenarios of the library, each with its text, its verdicts and its picture.

`python -m thence.pages.figures FOLDER` plays them all, and writes the page and the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from thence.dsl import ir
from thence.dsl.load import Loaded, library, load
from thence.pages.folder import run_page
from thence.proofs.scopes.scenarios import play_scenario
from thence.spec.verdict import Result, Verdict
from thence.spec.words import counted

PAGE: Final = "figures.md"


@dataclass(frozen=True, slots=True)
class Figure:
    """A scenario of a library file, its text, and its results; `picture` is the name of a file."""

    file: str
    scenario: ir.Scenario
    text: str
    results: tuple[Result, ...]

    @property
    def picture(self) -> str:
        """Unique among the figures."""
        return f"pictures/figure-{self.file}-{self.scenario.name.replace('_', '-')}.svg"

    @property
    def drawing(self) -> str:
        """The picture as SVG, with the refuted property brought out, if there is one."""
        refuted = [result for result in self.results if result.verdict is Verdict.REFUTED]
        return (refuted or [*self.results])[0].picture


def figures() -> tuple[Figure, ...]:
    """All scenarios of the library, played."""
    return tuple(figure for path in library() for figure in figures_of(path.stem, load(str(path))))


def figures_of(file: str, loaded: Loaded) -> Iterator[Figure]:
    """The scenarios of one file, played."""
    assert loaded.specification is not None, file
    for scenario in loaded.specification.scenarios:
        lines = loaded.source.lines[scenario.span.line - 1 : scenario.span.end_line]
        yield Figure(file, scenario, "\n".join(lines).rstrip(), play_scenario(scenario))


def page(found: Sequence[Figure]) -> str:
    """The page, in Markdown."""
    lines = [_HEADING, "| file | scenario | what |", "|---|---|---|"]
    for figure in found:
        first = " ".join(figure.scenario.doc.split()).split(". ")[0].rstrip(".")
        lines.append(f"| `{figure.file}` | [{figure.scenario.name}](#{_anchor(figure)}) | {first} |")
    for figure in found:
        lines += ["", f"## {figure.file} {figure.scenario.name}", ""]
        lines += [f"![{figure.scenario.name} of {figure.scenario.subject}]({figure.picture})", ""]
        lines += ["```thence", figure.text, "```", ""]
        lines += [f"- {_said(figure, result)}" for result in figure.results]
        lines += [f"- {line}" for line in _buffered(figure.results[0])]
    return "\n".join(lines) + "\n"


def _anchor(figure: Figure) -> str:
    """The anchor of the figure's heading, as readers of Markdown form it."""
    return f"{figure.file}-{figure.scenario.name}"


def _said(figure: Figure, result: Result) -> str:
    surprise = "" if result.expected else ", **not expected**"
    facts = f"{counted(result.facts['events'], 'step')}, {counted(result.facts['assertions'], 'assertion')}"
    about = result.facts.get("property", f"possible in `{figure.scenario.subject}`")
    return f"{about}: {result.verdict.value} ({result.level.name}, {facts}){surprise}"


def _buffered(result: Result) -> Iterator[str]:
    for name, (sent, left) in result.facts["buffered"].items():
        until = "to the end" if left is None else f"to step {left}"
        yield f"{name} stays buffered at its sender from step {sent} {until}"


_HEADING: Final = """\
# The papers' figures, as executions

Each figure of the papers is a scenario of a library file. The interpreter plays it step by step, and assertions on the
way compare the states with those that the paper prints. Some scenarios are in no paper: they show which messages a
protocol keeps back, and when it lets them go. `thence run FILE --list` lists the scenarios of a file, and
`thence run FILE --scenario NAME` plays one and draws it. [Scenarios](../reference/language.md#scenarios) explains the
form.

The pictures show messages of the application; the steps name the other packets, such as acknowledgements. The figures
of Tong, Liittschwager and Kuper are named `cykas_...`. Their Figure 1 has the names that its parts have in Mattern and
Fünfrocken's paper: left is `mf_figure_4`, center `blog_run`, right `mf_figure_6`, which is also Figure 2, left.
"""


def make(folder: Path, _sources: Sequence[Path]) -> int:
    """Writes the page and the pictures. Exit code 1 if a scenario is not as its text says."""
    return write(folder, figures())


def write(folder: Path, found: Sequence[Figure]) -> int:
    """Writes a page of these figures, and their pictures. Exit code 1 if one is not as its text says."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for figure in found:
        (folder / figure.picture).write_text(figure.drawing, encoding="utf-8")
    (folder / PAGE).write_text(page(found), encoding="utf-8")
    return 0 if all(result.expected for figure in found for result in figure.results) else 1


if __name__ == "__main__":
    run_page(make, "figures")
