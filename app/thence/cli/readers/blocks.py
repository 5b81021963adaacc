"""Results as blocks of rows: a block is one exploration, one proof or one run, and a row is one statement of it.

The remarks that all statements of a block share stand once, in its title. A mutant whose verdicts are all as expected
is one row, beside the other mutants of its subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from thence.pages.result_lines import limits, numbers_of, own
from thence.spec.verdict import Level, Result, Verdict

SUCCESSES = (Verdict.PROVED, Verdict.HOLDS, Verdict.TESTED)

MUTANTS = "mutants of"
"""How the title of a block of mutants begins."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: a statement, or a mutant with all that is expected of it.

    Attributes:
        results: those that the row is about, one for a statement.
        said: what the file expects, in words; empty where it states nothing.
        remarks: those that are not in the title of the block.
    """

    results: tuple[Result, ...]
    name: str
    verdict: Verdict
    level: Level
    said: str
    remarks: tuple[str, ...]

    @property
    def surprises(self) -> bool:
        """Whether a verdict is not the one that the file, or the command, expects."""
        return any(not result.expected for result in self.results)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows with one title; `remarks` are those that all of them share, `seconds` the time of the whole block."""

    title: str
    remarks: tuple[str, ...]
    rows: tuple[Row, ...]
    seconds: float


def blocks(results: Sequence[Result], *, whole_mutants: bool) -> list[Block]:
    """The blocks, in the order of the results. With `whole_mutants`, a mutant as expected is one row."""

    def folded(result: Result) -> bool:
        return whole_mutants and is_of_mutant(result) and result.name in unsurprising[mutant_of(result)]

    by_mutant: dict[str, list[Result]] = {}
    for result in filter(is_of_mutant, results):
        by_mutant.setdefault(mutant_of(result), []).append(result)
    unsurprising = {
        mutant: {one.name for one in of_it} if all(one.expected for one in of_it) else set[str]()
        for mutant, of_it in by_mutant.items()
    }

    def together(result: Result) -> tuple[str, ...]:
        if folded(result):
            return MUTANTS, subject_of(result)
        return result.kind, title(result)

    return [
        _of_mutants(group) if key[0] == MUTANTS else _of_statements(group)
        for key, same in groupby(results, together)
        for group in [list(same)]
    ]


def is_of_mutant(result: Result) -> bool:
    """Whether it is an expectation of a mutant that the file declares."""
    return result.kind == "mutant" and "score" not in result.facts


SYSTEMS = ("conform", "trace", "campaign")
"""Kinds of results about a system or a recording. These are named by commands and paths."""


def mutant_of(result: Result) -> str:
    """`SUBJECT/MUTANT`."""
    named = result.facts.get("mutant")
    return result.subject if named is None else f"{result.subject}/{named}"


def subject_of(result: Result) -> str:
    """The subject without the mutant. A tested system and a recording are named by paths, which may hold slashes."""
    return result.subject if result.kind in SYSTEMS else result.subject.partition("/")[0]


def title(result: Result) -> str:
    """The title of the block that a result belongs to: its subject, and the scope or scenario if that has a name."""
    if result.kind == "scenario":
        return f"{result.subject}, scenario {result.name.partition(': ')[0]}"
    if is_of_mutant(result) and "/" not in result.subject:
        return mutant_of(result)
    if result.kind in ("scope", "mutant", "link") and ": " in result.name:
        named = result.facts.get("scope")
        within = result.name.rpartition(": ")[0]
        unnamed = isinstance(named, dict) and named.get("name") is None
        return result.subject if unnamed else f"{result.subject}, scope {within}"
    return result.subject


def statement(result: Result) -> str:
    """The statement without what the title says."""
    if result.kind == "scenario":
        return result.name.partition(": ")[2] or "the execution"
    if is_of_mutant(result) and result.name == result.facts.get("mutant"):
        return "every statement"
    if result.kind in ("scope", "mutant", "link"):
        said = result.name.rpartition(": ")[2]
        return "no fault" if said == "fault" else said
    return result.name


def expectation(result: Result) -> str:
    """What the file expects, in words; empty where it states nothing of that kind."""
    if result.facts.get("claimed") is False:
        return "not claimed"
    if result.expected:
        if result.verdict is Verdict.UNKNOWN and is_stated(result):
            return "not shown, as expected"
        return "as expected" if is_stated(result) else ""
    if result.wanted is not None and result.wanted is not result.verdict:
        return f"expected: {result.wanted.value}"
    return "not as stated" if is_stated(result) else ""


def is_stated(result: Result) -> bool:
    """Whether the file states which verdict it expects. A claim without `expect` states none."""
    return result.wanted is not None or result.expected is not (result.verdict in SUCCESSES)


def _of_statements(results: Sequence[Result]) -> Block:
    each = [[*numbers_of(result), *own(result)] for result in results]
    common = [remark for remark in each[0] if all(remark in other for other in each)]
    shared = tuple(remark for remark in common if len(results) > 1 or remark not in own(results[0]))
    rows = tuple(
        Row(
            (result,), statement(result), result.verdict, result.level, expectation(result),
            tuple(remark for remark in found if remark not in shared),
        )
        for result, found in zip(results, each, strict=True)
    )  # fmt: skip
    explored = "scope" in results[0].facts and results[0].kind in ("scope", "mutant", "link")
    seconds = max(result.seconds for result in results) if explored else sum(result.seconds for result in results)
    return Block(title(results[0]), shared, rows, seconds)


def _of_mutants(results: Sequence[Result]) -> Block:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(mutant_of(result), []).append(result)
    rows = tuple(_mutant_row(of_it) for of_it in found.values())
    return Block(f"{MUTANTS} {subject_of(results[0])}", (), rows, sum(result.seconds for result in results))


def _mutant_row(results: Sequence[Result]) -> Row:
    """A mutant as expected: the verdict `refuted` if anything is, and the statements of each verdict."""
    first = min(results, key=lambda result: _GRAVITY.index(result.verdict))
    by_verdict: dict[Verdict, dict[str, None]] = {first.verdict: {}}
    for result in results:
        by_verdict.setdefault(result.verdict, {})[statement(result)] = None
    parts = [
        ", ".join(names) + ("" if verdict is first.verdict else f": {verdict.value}")
        for verdict, names in by_verdict.items()
    ]
    marks = dict.fromkeys(mark for result in results for mark in limits(result))
    level = min(result.level for result in results if result.verdict is first.verdict)
    name = mutant_of(first).partition("/")[2]
    return Row(tuple(results), name, first.verdict, level, "as expected", ("; ".join(parts), *marks))


_GRAVITY = (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.TESTED, Verdict.HOLDS, Verdict.PROVED)


def rows_of(found: Sequence[Block]) -> Iterator[Row]:
    """The rows of all blocks."""
    for block in found:
        yield from block.rows
