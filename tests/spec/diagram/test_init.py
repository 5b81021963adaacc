"""Highlights: what of a finding is brought out, and the cut to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.spec.diagram import Highlight, focus, highlight_of
from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.happens_before import HappensBefore
from thence.spec.judgement import judge
from thence.spec.oracle import Finding

CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 4), st.integers(0, 40)), max_size=60)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]


@pytest.mark.parametrize("kind", ["causal", "fifo", "gap"])
def test_an_overtaking(kind: str) -> None:
    finding = Finding(kind, 2, "c", ("a", "x"), 4, ("a", "b", "c"))  # type: ignore[arg-type]
    highlight = highlight_of(finding)
    assert highlight == Highlight(2, "c", ("a", "x"), ("a", "b", "c"), 4, finding=finding)
    assert highlight.caption_in(Execution(3, ())) == str(finding)
    assert "P3" in highlight.caption_in(Execution(3, (), ("P1", "P2", "P3")))
    assert "p2" not in highlight.caption_in(Execution(3, (), ("P1", "P2", "P3")))
    assert [highlight.role(m) for m in "abcxy"] == ["missing", "chain", "overtaking", "missing", "plain"]


def test_a_duplicate_and_a_stuck_message() -> None:
    assert highlight_of(Finding("duplicate", 1, "m", (), 3)).role("m") == "overtaking"
    assert highlight_of(Finding("phantom", 1, "m", (), 3)).event_index == 3
    stuck = highlight_of(Finding("stuck", 1, "m", (), 3))
    assert (stuck.role("m"), stuck.event_index, stuck.message) == ("missing", None, None)
    assert stuck.caption_in(Execution(2, ())) == "stuck: p1 never delivers m"
    cut = highlight_of(Finding("stuck", 1, "m", (), 3), ended=False)
    assert cut.caption_in(Execution(2, (), ("A", "B"))) == "B has not delivered m"


def test_focus_keeps_what_the_finding_is_about() -> None:
    execution = Execution(
        4,
        (
            Send(3, "noise", (0,)),
            Send(0, "a", (2, 3)),
            Deliver(3, "a"),
            Send(0, "b", (1, 3)),
            Receive(1, "b", 0),
            Deliver(1, "b"),
            Deliver(3, "b"),
            Send(1, "c", (2,)),
            Deliver(2, "c"),
            Deliver(0, "noise"),
            Deliver(2, "a"),
        ),
    )
    finding = judge(execution).violations[0]
    small, highlight = focus(execution, highlight_of(finding))
    assert small.events == (
        Send(0, "a", (2,)),
        Send(0, "b", (1,)),
        Receive(1, "b", 0),
        Deliver(1, "b"),
        Send(1, "c", (2,)),
        Deliver(2, "c"),
        Deliver(2, "a"),
    )
    assert highlight.event_index == 5
    assert judge(small).violations == (Finding("causal", 2, "c", ("a",), 5, ("a", "b", "c")),)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(processes=st.integers(2, 5), choices=CHOICES)
def test_the_finding_stands_in_its_focus(
    execution_of: Build, processes: int, choices: list[tuple[int, int, int]]
) -> None:
    execution = execution_of(processes, choices)
    for finding in judge(execution).findings()[:3]:
        small, highlight = focus(execution, highlight_of(finding))
        assert len(small.events) <= len(execution.events)
        found = [f for f in judge(small).findings() if f.kind == finding.kind and f.process == finding.process]
        assert finding.message in {f.message for f in found}
        if finding.missing:
            assert HappensBefore(small).before(finding.missing[0], finding.message)
        if highlight.event_index is not None:
            event = small.events[highlight.event_index]
            assert (event.process, event.message) == (finding.process, finding.message)
