"""Text diagrams: two pictures in full, and bounds for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from thence.spec.diagram import draw_text, highlight_of
from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.judgement import judge
from thence.spec.oracle import Finding

CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 7), st.integers(0, 200)), max_size=60)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]

VIOLATION = """\
causal: p2 delivers c before a (a -> b -> c)

    p0              p1              p2
 1  ■a→2            │               │   a is sent
 2  ■b→1            │               │   a -> b
 4  ├───────b──────▶●               │   p1 knows b
 5  │               ■c→2            │   b -> c
 6  │               ├───────c──────▶●   <== before a
 7  ├───────────────┼───────a──────▶●   a, too late

■ causal send to   ● delivery
"""

BUFFERED = """\
    p0              p1
 1  ■a→1            │
 2  ■b→1            │
 3  ├───────b──────▶○
 4  │               ■c→0
 5  ●◀──────c───────┤
 7  ├───────a──────▶●
 8  │               ●b

■ causal send to   ● delivery   ○ arrival   ┊ a message waits
"""


def test_a_violation() -> None:
    execution = Execution(
        3,
        (
            Send(0, "a", (2,)),
            Send(0, "b", (1,)),
            Receive(1, "b", 0),
            Deliver(1, "b"),
            Send(1, "c", (2,)),
            Deliver(2, "c"),
            Deliver(2, "a"),
        ),
    )
    assert draw_text(execution, highlight_of(judge(execution).violations[0])) == VIOLATION


def test_a_buffered_message() -> None:
    execution = Execution(
        2,
        (
            Send(0, "a", (1,)),
            Send(0, "b", (1,)),
            Receive(1, "b", 0),
            Send(1, "c", (0,)),
            Deliver(0, "c"),
            Receive(1, "a", 0),
            Deliver(1, "a"),
            Deliver(1, "b"),
        ),
    )
    assert draw_text(execution) == BUFFERED


def test_what_never_comes_stands_below() -> None:
    execution = Execution(2, (Send(0, "a", (1,)),))
    text = draw_text(execution, highlight_of(Finding("stuck", 1, "a", (), 0)))
    assert "×a   a is not delivered" in text
    assert "stuck: p1 never delivers a" in text


def test_a_process_with_a_waiting_message_is_dashed() -> None:
    execution = Execution(2, (Send(0, "a", (1,)), Receive(1, "a", 0), Send(0, "b", (1,))))
    assert draw_text(execution).splitlines()[3].endswith("┊")


def test_long_and_strange_names() -> None:
    name = "a very long name\n\x1b[31m of a message\ud800"
    text = draw_text(Execution(9, (Send(8, name, tuple(range(8))), Deliver(0, name), Deliver(7, name))))
    assert "\x1b" not in text
    assert text.replace("\n", "").isprintable()
    assert "→all" in text


@settings(derandomize=True, deadline=None, max_examples=150)
@given(processes=st.integers(2, 6), choices=CHOICES)
def test_it_fits(execution_of: Build, processes: int, choices: list[tuple[int, int, int]]) -> None:
    execution = execution_of(processes, choices)
    findings = judge(execution).findings()
    lines = draw_text(execution, highlight_of(findings[0]) if findings else None).splitlines()
    drawn = lines[2:] if findings else lines
    assert all(len(line) <= 100 for line in drawn)
    assert all(f"p{process}" in drawn[0] for process in range(processes))
    assert all(line == line.rstrip() for line in lines)
