"""docs/library/errata.md, from the faults and the verdicts of their statements."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from thence.dsl.load import load
from thence.pages.errata.fault import Errata, Fault, Nature, Statement
from thence.spec.words import counted

Verdicts = Mapping[str, Mapping[str, Any]]
"""The record of each statement, by its key."""

LONGEST: Final = 60
"""The most lines of an execution that are shown."""


def page(errata: Errata, verdicts: Verdicts, pictures: Mapping[str, str]) -> str:
    """The page, in Markdown. `pictures` are the names of files, by fault."""
    lines = [_HEADING, "| | where | what | kind | shown | repair |", "|---|---|---|---|---|---|"]
    for fault in errata.faults:
        mark = "†" if fault.layout else ""
        shown = ", ".join(dict.fromkeys(_brief(verdicts[one.key]) for one in fault.shown))
        repaired = ", ".join(dict.fromkeys(_brief(verdicts[one.key]) for one in fault.holds))
        cells = [
            f"[{fault.id}](#{_anchor(fault)}){mark}",
            fault.place,
            fault.title,
            kind_of(fault),
            shown,
            repaired,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "† hangs on the layout, or on a single sign, of the text that we have, which is a conversion.", ""]
    lines += [_counted(errata.faults)]
    lines += ["", "Withdrawn:", "", *(f"- {one.id}: {one.why}" for one in errata.withdrawn)]
    for paper in errata.papers:
        lines += ["", f"## {paper.citation}", "", f"What was read: {paper.read}.", ""]
        lines += [f"Told to the authors: not yet. [A letter](letters/{paper.key}.md) is ready."]
        for printed, repaired in paper.printed:
            lines += ["", *_beside(printed, repaired)]
        for fault in errata.faults:
            if fault.paper == paper.key:
                lines += ["", *_section(fault, verdicts, pictures.get(fault.id))]
    return "\n".join(lines) + "\n"


def _counted(faults: tuple[Fault, ...]) -> str:
    """How many entries there are, by kind."""
    kinds = [(sum(fault.kind == kind for fault in faults), name) for kind, name in _COUNTED.items()]
    parts = ", ".join(f"{count} {name}" for count, name in kinds if count)
    return (
        f"{len(faults)} entries: {parts}. {sum(fault.harmless for fault in faults)} of them are harmless, and"
        f" {sum(fault.layout for fault in faults)} hang on the copy (†)."
    )


def _anchor(fault: Fault) -> str:
    """The anchor of the fault's heading, as readers of Markdown form it."""
    kept = "".join(sign for sign in f"{fault.id} {fault.title}".lower() if sign.isalnum() or sign in " -_")
    return kept.replace(" ", "-")


def _section(fault: Fault, verdicts: Verdicts, picture: str | None) -> Iterator[str]:
    yield f"### {fault.id} {fault.title}"
    yield ""
    layout = "; as the text that we have prints it" if fault.layout else ""
    yield f"*{fault.place}{layout}: {kind_of(fault)}.*"
    yield ""
    yield f"Printed: {' ... '.join(f'`{quote}`' for quote in fault.printed)}"
    yield ""
    if fault.prose:
        yield f"Elsewhere: {' ... '.join(map(quotation, fault.prose))}"
        yield ""
    yield fault.happens
    yield ""
    yield f"**For the result.** {fault.follows}"
    if picture is not None:
        yield ""
        yield f"![{fault.id}: {fault.title}]({picture})"
    yield ""
    yield f"Shown ({', '.join(fault.shows)}):"
    yield ""
    for one in fault.shown:
        yield f"- {_cited(one)}: {_verdict(verdicts[one.key])}"
    yield from _execution(fault, verdicts)
    yield ""
    yield f"**Repair.** {fault.repair}"
    yield ""
    yield "That it holds:"
    yield ""
    for one in fault.holds:
        yield f"- {_cited(one)}: {_verdict(verdicts[one.key])}"


def kind_of(fault: Fault) -> str:
    """What kind of entry it is, in words."""
    return f"{_KINDS[fault.kind]}; harmless" if fault.harmless else _KINDS[fault.kind]


def quotation(quote: str) -> str:
    """A quote; one of another paper with the name of that paper."""
    key, _, rest = quote.partition(": ")
    return f'"{rest}" ({_BY[key]})' if key in _BY else f'"{quote}"'


def _execution(fault: Fault, verdicts: Verdicts) -> Iterator[str]:
    """The steps of the first statement that has an explanation."""
    explained = next((one for one in fault.shown if verdicts[one.key]["explanation"]), None)
    if explained is None:
        return
    lines = str(verdicts[explained.key]["explanation"]).splitlines()
    rest = len(lines) - LONGEST
    yield ""
    yield f"<details><summary>{explained.name}: what was found</summary>"
    yield ""
    yield "```text"
    yield from lines[:LONGEST] if rest > 3 else lines
    if rest > 3:
        yield f"... and {rest} more lines"
    yield "```"
    yield ""
    yield "</details>"


def _cited(statement: Statement) -> str:
    match statement.kind:
        case "mutant":
            subject, _, changed = statement.subject.partition("/")
            name = statement.name if not changed else f"{changed}, {statement.name}"
            return f"`{statement.file}.thence`, mutant of `{subject}`: {name}"
        case "theorem":
            return f"`{statement.file}.thence`, theorem in `{statement.subject}`: {statement.name}"
        case "machine":
            return f"`{statement.file}.thence`, machine `{statement.subject}`: {statement.name}"
        case kind:
            return f"`{statement.file}.thence`, {kind} of `{statement.subject}`: {statement.name}"


def _brief(verdict: Mapping[str, Any]) -> str:
    return f"{verdict['verdict']} {verdict['level']}"


def _verdict(verdict: Mapping[str, Any]) -> str:
    counts = []
    if "obligations" in verdict and verdict["verdict"] == "proved":
        counts.append(counted(verdict["obligations"], "obligation"))
    if "states" in verdict:
        counts.append(counted(verdict["states"], "state"))
    if "lasso" in verdict:
        counts.append(f"stem of {counted(verdict['lasso']['stem'], 'step')}, cycle of {verdict['lasso']['cycle']}")
    elif "steps" in verdict:
        counts.append(f"an execution of {counted(verdict['steps'], 'step')}")
    surprise = "" if verdict["expected"] else ", **not expected**"
    return f"{verdict['verdict']} ({', '.join([verdict['level'], *counts])}){surprise}"


def _beside(printed: str, repaired: str) -> Iterator[str]:
    """A protocol as printed, as a diff to the repaired one."""
    before, after = _protocol(printed), _protocol(repaired)
    yield f"<details><summary>`{printed}.thence`, as printed, and what `{repaired}.thence` changes</summary>"
    yield ""
    yield "```diff"
    matcher = difflib.SequenceMatcher(None, [_code(line) for line in before], [_code(line) for line in after], False)
    for group in matcher.get_grouped_opcodes(2):
        yield "@@"
        for operation, start, end, other_start, other_end in group:
            if operation == "equal":
                yield from (f" {line}" for line in before[start:end])
            else:
                yield from (f"-{line}" for line in before[start:end])
                yield from (f"+{line}" for line in after[other_start:other_end])
    yield "```"
    yield ""
    yield "</details>"


def _code(line: str) -> str:
    """A line without its label."""
    return line.partition("#")[0].rstrip()


def _protocol(file: str) -> list[str]:
    """The lines of the first protocol of a file: its code, without documentation and remarks."""
    loaded = load(file)
    assert loaded.specification is not None, file
    span = loaded.specification.protocols[0].span
    lines = loaded.source.lines[span.line : span.end_line]
    code, quoted = [], False
    for line in lines:
        signs = line.count('"""')
        if not quoted and not signs and line.partition("#")[0].strip():
            text, hash_, label = line.partition("#")
            place = label.split(",")[0].split(":")[0].strip() if hash_ else ""
            code.append(f"{text.rstrip():<72}# {place}" if place else text.rstrip())
        quoted ^= signs % 2 == 1
    return code


_KINDS: Final[Mapping[Nature, str]] = {
    "algorithm": "fault of the algorithm as printed",
    "slip": "slip of the pen",
    "assumption": "unstated assumption",
    "proof": "gap in a proof",
    "optimality": "costs optimality only",
}

_COUNTED: Final[Mapping[Nature, str]] = {
    "algorithm": "faults of an algorithm as printed",
    "slip": "slips of the pen",
    "assumption": "unstated assumptions",
    "proof": "gaps in a proof",
    "optimality": "that cost optimality only",
}

_BY: Final[Mapping[str, str]] = {
    "cykas": "Tong, Liittschwager and Kuper",
    "almeida": "Almeida",
    "tree": "Blessing, Clebsch and Drossopoulou",
    "mf": "Mattern and Fünfrocken",
    "rst": "Kuper",
}

_HEADING: Final = """\
# Errata of the papers

What the papers print, taken at its word, and what does not hold of it. Every repaired text keeps its theorem, but for
C3, and E11 in its general form. Most entries are slips of the pen. Where the paper's own prose has it right, that is
said. The copies that were read are text conversions, in which some symbols and the layout were lost; quotes are exact
but for typesetting.

What the verdicts come to is in brackets: `violates` and `keeps` are about what the papers promise, `breaks` and
`preserves` about an invariant of ours. `causal` is the strict reading of causal delivery, in which what happened before
a message must have been delivered; `causally_ordered` is that of the papers, about two messages that were both
delivered. A test holds claims, kinds and verdicts together.

Each entry has the verdicts that show it, a minimal execution (breadth-first, replayed by the interpreter) or a
countermodel, the repair, and the verdicts that say that the repair holds. The page is made by `make errata` from the
statements of the library, and a test holds it against them. Verdicts and levels are those of
[proofs](../explanation/proofs.md): *holds* and L1 are about every run of a finite scope, *proved* about any number of
processes and messages. What is proved of an algorithm is proved of a machine with its idea; that the algorithm, line by
line, keeps to the machine is a link, explored in scopes.

The whole text of an algorithm as printed is a file of its own, such as `cykas_printed.thence`. As one fault hides
another there, each fault is also shown by itself: a mutant of the repaired protocol puts it back.
"""
