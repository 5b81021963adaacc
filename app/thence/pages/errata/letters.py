"""Letters to the authors of the papers, made from the entries: ready, and not sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from thence.pages.errata.claims import claim
from thence.pages.errata.fault import Errata, Fault, Paper, Statement
from thence.pages.errata.page import kind_of, quotation

Verdicts = Mapping[str, Mapping[str, Any]]

FINDINGS: Final = {
    "violates": "the property `{}` is violated",
    "keeps": "the property `{}` is kept",
    "breaks": "the invariant `{}` is violated",
    "preserves": "the invariant `{}` is kept",
    "refutes": "the statement `{}` does not hold",
    "proves": "the statement `{}` holds",
    "plays": "the scenario `{}` is a run of the protocol",
}
"""For each verb of a claim, the sentence that a reader of the letter gets."""


def letters(errata: Errata, verdicts: Verdicts) -> dict[str, str]:
    """For each paper a letter in Markdown, by the paper's key."""
    return {
        paper.key: "\n".join(_letter(paper, [one for one in errata.faults if one.paper == paper.key], verdicts)) + "\n"
        for paper in errata.papers
    }


def _letter(paper: Paper, faults: list[Fault], verdicts: Verdicts) -> Iterator[str]:
    yield f"# Letter to {paper.authors}"
    yield ""
    yield "Not sent. Made from the entries of [errata.md](../errata.md)."
    yield ""
    yield f"Dear {paper.authors},"
    yield ""
    yield f"thank you for *{paper.title}*. {_THENCE}"
    yield ""
    yield f"First, what holds: {paper.stands}."
    yield ""
    yield _NOTED
    yield ""
    yield f"What we read is {paper.read}. Where an item is marked †, it may be our copy and not your text."
    yield ""
    yield _VERDICTS
    for fault in faults:
        yield ""
        yield f"## {fault.id}{'†' if fault.layout else ''} {fault.title}"
        yield ""
        yield f"{fault.place}: {kind_of(fault)}."
        yield ""
        for quote in fault.printed:
            yield f"> {quote}"
            yield ">"
        yield ""
        if fault.prose:
            yield f"Elsewhere: {' ... '.join(map(quotation, fault.prose))}"
            yield ""
        yield fault.happens
        yield ""
        yield f"*Suggested repair.* {fault.repair}"
        yield ""
        yield f"*Consequence for the results.* {fault.follows}"
        yield ""
        yield "| command | finds | verdict |"
        yield "|---|---|---|"
        yield from dict.fromkeys(_row(one, verdicts[one.key]) for one in fault.shown)
    yield ""
    yield "With thanks for the work that this rests on,"
    yield ""
    yield "the authors of Thence"


def _row(statement: Statement, verdict: Mapping[str, Any]) -> str:
    verb, _, name = claim(statement, verdict["verdict"]).partition(" ")
    return (
        f"| `thence {command(statement)}` | {FINDINGS[verb].format(name)} | {verdict['verdict']}, {verdict['level']} |"
    )


def command(statement: Statement) -> str:
    """What to type after `thence` to check the statement."""
    _, _, mutant = statement.subject.partition("/")
    scope = statement.name.rpartition(": ")[0]
    match statement.kind:
        case "scope":
            return f"explore {statement.file} --scope {scope}"
        case "mutant" if mutant:
            return f"explore {statement.file} --mutant {mutant}"
        case "mutant":
            return f"prove {statement.file} {scope}"
        case "theorem":
            return f"prove {statement.file} {statement.name}"
        case "scenario":
            return f"run {statement.file} --scenario {statement.name.partition(': ')[0]}"
        case "machine":
            return f"prove {statement.file} {statement.subject}"
        case _:
            return f"verify {statement.file}"


_THENCE: Final = """\
Thence is a language in which protocols of causal delivery are written down so that they
can be run, explored and proved. Your text is one of five that we state in it: algorithms line by line, definitions,
and theorems."""

_NOTED: Final = """\
While we wrote this down we noted what follows. Most of it is small, and often your own prose has it right; then we
quote it. We may well have misread something, and would be glad to be told: we correct an entry as soon as we know."""

_VERDICTS: Final = """\
After each item stand the commands that check it, with their verdicts. L1: every run of a small system was explored,
or a run of it is shown. L2: one solver decided, or a finite counterexample was evaluated again. L3: two solvers agree,
for any number of processes and messages. What is proved of an algorithm is proved of a machine with its idea; that the
algorithm, line by line, keeps to the machine is explored (L1). Among properties, `delivered` is that every message
that was sent is delivered in the end; `causally_ordered` is about two messages that were both delivered, and `causal`
asks besides that what happened before a message was delivered at all; a `fault` is a step that cannot be carried out.
Invariants are ours."""
