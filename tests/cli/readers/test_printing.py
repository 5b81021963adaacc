"""Answers on random results: they fit, they say each surprise, and every number is that of the rows."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.cli.output import Output
from thence.cli.readers.blocks import blocks, expectation, rows_of
from thence.cli.readers.colours import Ink, painter
from thence.cli.readers.layout import length
from thence.cli.readers.printing import ALL, BRIEF, EXPLAINED, print_output
from thence.cli.readers.sums import by_verdict, marked, summed
from thence.spec.verdict import Level, Result, Verdict

from .results import results

SOME = st.lists(results(), min_size=1, max_size=30)


def printed(output: Output, width: int, verbosity: int = BRIEF) -> str:
    stream = io.StringIO()
    with patch("sys.stdout", stream), patch.dict("os.environ", {"COLUMNS": str(width)}):
        print_output(output, 1.0, verbosity)
    return stream.getvalue()


def numbers(text: str) -> list[int]:
    """The numbers outside of brackets."""
    text = re.sub(r" \([^)]*\)", "", text)
    return [int(number.replace(",", "")) for number in re.findall(r"(?<![\w(])\d[\d,]*(?!\w)", text)]


@given(SOME)
def test_rows_are_about_every_result_once(found: Sequence[Result]) -> None:
    for whole_mutants in (True, False):
        rows = list(rows_of(blocks(found, whole_mutants=whole_mutants)))
        assert sorted(id(result) for row in rows for result in row.results) == sorted(map(id, found))
        assert all(row.surprises == any(not result.expected for result in row.results) for row in rows)
        assert all(len(row.results) == 1 or not row.surprises for row in rows)


@given(SOME)
def test_sums_add_up_to_their_rows(found: Sequence[Result]) -> None:
    claimed = [result for result in found if result.facts.get("claimed") is not False]
    verdicts = by_verdict(found).partition(";")[0]
    assert sum(numbers(re.sub(r"\(L\d\)", "", verdicts))) == len(found)
    said = summed(found)
    if " of " in said:
        good, every, *others = numbers(re.sub(r", \d+ of them unknown", "", said))
        assert (good, every) == (sum(result.expected for result in claimed), len(claimed))
        assert good + sum(others) == len(found)
    else:
        assert sum(numbers(said)) == len(found)
    assert ("as expected" in said.replace("not as expected", "")) == any(map(_states, claimed))


def _states(result: Result) -> bool:
    """Whether the file states what it expects: in so many words, or by a verdict that differs from a claim."""
    good = result.verdict in (Verdict.PROVED, Verdict.HOLDS, Verdict.TESTED)
    return result.wanted is not None or result.expected is not good


@given(SOME, st.integers(60, 200), st.sampled_from([BRIEF, ALL, EXPLAINED]))
def test_lines_fit_and_every_surprise_is_said(found: list[Result], width: int, verbosity: int) -> None:
    said = printed(Output(tuple(found)), width, verbosity)
    for line in said.splitlines():
        assert length(line) <= max(width, 60) or len(line.split()) == 1, line
    words = set(re.split(r"[\s;,:]+", said))
    for result in found:
        if not result.expected:
            assert result.name.rpartition(": ")[2] in words
    hidden = [result for result in found if result.verdict is Verdict.UNKNOWN]
    if hidden and verbosity == BRIEF:
        assert "unknown" in said


@given(SOME)
def test_what_limits_verdicts_is_counted_where_it_is_not_shown(found: Sequence[Result]) -> None:
    said = marked(found)
    for name, words in (("not_tried", "not tried"), ("cannot_refute", "cannot be refuted")):
        count = sum(name in result.facts for result in found)
        assert (f"{count:,} " in said and words in said) if count else words not in said


def result(name: str, verdict: Verdict, *, expected: bool, wanted: Verdict | None = None) -> Result:
    return Result(f"scope: {name}", "scope", "mine", verdict, Level.L1, expected, wanted=wanted)


def test_expected_is_said_only_of_what_states_an_expectation() -> None:
    mine = [result("fifo", Verdict.HOLDS, expected=True), result("causal", Verdict.REFUTED, expected=False)]
    said = printed(Output(tuple(mine)), 80)
    assert "expected" not in said.lower()
    assert said.splitlines()[-1].startswith("mine: 1 of 2 holds, 1 refuted (causal)")
    stated = result("causal", Verdict.HOLDS, expected=False, wanted=Verdict.REFUTED)
    assert expectation(stated) == "expected: refuted"
    assert "1 of 2 as expected, 1 not as expected (causal)" in printed(Output((mine[0], stated)), 80)
    assert expectation(result("causal", Verdict.REFUTED, expected=True, wanted=Verdict.REFUTED)) == "as expected"


def test_unknown_is_no_success_where_it_is_expected() -> None:
    open_ = result("served", Verdict.UNKNOWN, expected=True, wanted=Verdict.UNKNOWN)
    stated = result("causal", Verdict.HOLDS, expected=True, wanted=Verdict.HOLDS)
    assert expectation(open_) == "not shown, as expected"
    assert summed([open_]) == "1 of 1 as expected, unknown"
    assert summed([open_, stated]) == "2 of 2 as expected, 1 of them unknown"


def test_what_is_refuted_is_seen_where_nothing_is_claimed() -> None:
    verdicts = [Verdict.REFUTED] + [Verdict.HOLDS] * 6
    found = [
        Result(f"one: p{at}", "mutant", "mine/broken", verdict, Level.L1, True, facts={"claimed": False},
               explanation=f"run {at}")
        for at, verdict in enumerate(verdicts)
    ]  # fmt: skip
    assert summed(found) == "1 refuted (p0) and 6 others, not claimed"
    said = printed(Output(tuple(found), asked=True), 80)
    assert "p0: refuted" in said and "run 0" in said and "run 1" not in said


def test_what_a_line_says_is_not_explained_again() -> None:
    reason, state = "the time is over; no violation within 3 steps", "a state from which a step loses it"
    found = [
        Result(f"scope: {name}", "scope", "mine", Verdict.UNKNOWN, Level.L1, False, 1.0, {"unknown": reason}, said)
        for name, said in (("causal", reason), ("fifo", f"{reason}\n{state}"))
    ]
    said = printed(Output(tuple(found)), 120)
    assert "causal: unknown" not in said and "fifo: unknown" in said and state in said
    assert said.count(reason) == 2  # in the title of the block, and above the state
    alone = printed(Output((found[0],)), 120)
    assert alone.count(reason) == 1 and "with -v" not in alone


def test_of_many_results_only_surprises_are_shown() -> None:
    many = [result(f"invariant_{number}", Verdict.HOLDS, expected=True) for number in range(40)]
    quiet = printed(Output(tuple(many), files=(("mine", 40),)), 80)
    assert len(quiet.splitlines()) == 3 and quiet.startswith("mine: 40 of 40 hold")
    loud = printed(Output((*many, result("causal", Verdict.REFUTED, expected=False))), 80)
    assert "causal" in loud and "invariant_1" not in loud
    assert "invariant_39" in printed(Output(tuple(many)), 80, ALL)


def test_the_end_of_many_files_fits_on_a_screen() -> None:
    fine = [result(f"statement_{number}", Verdict.HOLDS, expected=True, wanted=Verdict.HOLDS) for number in range(2080)]
    files = tuple((f"file_number_{number}_of_the_library", 80) for number in range(26))
    stream = Terminal()
    with patch("sys.stdout", stream), patch.dict("os.environ", {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1"}):
        print_output(Output(tuple(fine), files=files), 1.0)
    lines = stream.getvalue().splitlines()
    assert len(lines) <= 24 and all(len(line) <= 80 for line in lines)
    assert sum(line.count(": 80 of 80") for line in lines) == 26
    piped = printed(Output(tuple(fine), files=files), 80)
    assert piped.count(": 80 of 80 as expected\n") == 26


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (Terminal(), {"FORCE_COLOR": "0"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours(stream: io.StringIO, environment: dict[str, str], coloured: bool) -> None:
    with patch.dict("os.environ", environment):
        for name in {"NO_COLOR", "FORCE_COLOR", "TERM"} - {*environment}:
            __import__("os").environ.pop(name, None)
        assert (painter(stream)("refuted", Ink.BAD) != "refuted") == coloured
