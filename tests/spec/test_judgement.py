"""Judgements: the recorded executions, the definition spelled out naively, and the words one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.happens_before import HappensBefore
from thence.spec.judgement import KEPT, judge
from thence.spec.oracle import Finding
from thence.spec.trace import read_trace

TRACES = Path(__file__).parent.parent / "traces"
EXPECTED: dict[str, Any] = json.loads((TRACES / "EXPECTED.json").read_text(encoding="utf-8"))
CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 4), st.integers(0, 40)), max_size=60)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded_executions_get_their_verdict(name: str) -> None:
    found = judge(read_trace(TRACES / name).execution).to_json()
    expected = EXPECTED[name]
    for word in ("causal", "fifo", "stuck", "duplicate", "first_violation"):
        assert found[word] == expected[word], word
    for fact, value in expected["detail"].items():
        if fact != "oracles_agree":
            assert found["detail"][fact] == value, fact


def test_every_recording_is_judged_and_every_class_occurs() -> None:
    assert {path.name for path in TRACES.glob("*.ndjson")} == set(EXPECTED)
    classes = {tuple(e[word] for word in ("causal", "fifo", "stuck", "duplicate")) for e in EXPECTED.values()}
    assert classes == {
        (True, True, False, False),
        (True, True, False, True),
        (True, True, True, False),
        (False, True, False, False),
        (False, False, False, False),
        (False, True, True, False),
    }


@settings(derandomize=True, deadline=None, max_examples=300)
@given(processes=st.integers(2, 5), choices=CHOICES)
def test_agrees_with_the_definition(execution_of: Build, processes: int, choices: list[tuple[int, int, int]]) -> None:
    execution = execution_of(processes, choices)
    relation = HappensBefore(execution)
    first: dict[tuple[int, str], int] = {}
    for index, event in enumerate(execution.events):
        if isinstance(event, Deliver):
            first.setdefault((event.process, event.message), index)
    sends = {event.message: event for event in execution.events if isinstance(event, Send)}
    overtakings = sorted(
        (later_at, earlier, later, here)
        for (here, later), later_at in first.items()
        for earlier in sends
        if relation.before(earlier, later) and first.get((here, earlier), -1) > later_at
    )
    gaps = {
        (here, later)
        for (here, later) in first
        for earlier, send in sends.items()
        if relation.before(earlier, later) and here in send.destinations and (here, earlier) not in first
    }
    stuck = {(p, name) for name, send in sends.items() for p in send.destinations if (p, name) not in first}
    arrived = {(e.process, e.message) for e in execution.events if isinstance(e, Receive)}
    judgement = judge(execution)
    assert judgement.causal == (not overtakings)
    assert judgement.fifo == all(sends[earlier].process != sends[later].process for _, earlier, later, _ in overtakings)
    assert judgement.violating_pairs == len(overtakings)
    assert judgement.violating_deliveries == len({(later, here) for _, _, later, here in overtakings})
    assert {(f.process, f.message) for f in judgement.gaps} == gaps
    assert {(f.process, f.message) for f in judgement.undelivered} == stuck
    assert judgement.stuck == bool(stuck)
    if arrived:
        assert {(f.process, f.message) for f in judgement.withheld or ()} == stuck & arrived
        assert {(f.process, f.message) for f in judgement.lost or ()} == stuck - arrived
    else:
        assert judgement.withheld is None and judgement.lost is None
    assert judgement.duplicate == (judgement.deliveries > len(first))
    if judgement.first_violation:
        assert judgement.first_violation.event_index == overtakings[0][0]
        assert judgement.first_violation.chain[0] == judgement.first_violation.missing[0]


TRIANGLE: tuple[Event, ...] = (
    Send(0, "a", (2,)),
    Send(0, "b", (1,)),
    Deliver(1, "b"),
    Send(1, "c", (2,)),
    Deliver(2, "c"),
)


def test_a_predecessor_that_comes_late_is_a_violation() -> None:
    judgement = judge(Execution(3, (*TRIANGLE, Deliver(2, "a"))))
    assert judgement.violations == (Finding("causal", 2, "c", ("a",), 4, ("a", "b", "c")),)
    assert judgement.first_violation == judgement.violations[0]
    assert (judgement.causal, judgement.fifo, judgement.stuck, judgement.gaps) == (False, True, False, ())
    assert not judgement.faultless
    assert judgement.findings() == judgement.violations


def test_what_is_not_told_is_said() -> None:
    wrong = judge(Execution(2, (*(Send(0, f"m{number}", (1,)) for number in range(9)),)))
    assert wrong.told(5) == [*map(str, wrong.findings()[:5]), "more was found, and is not shown"]
    assert wrong.told(9) == wrong.told() == [*map(str, wrong.findings())]
    many = judge(Execution(2, (*(Send(0, f"m{number}", (1,)) for number in range(KEPT + 1)),)))
    assert len(many.findings()) == KEPT and many.told()[-1] == "more was found, and is not shown"


def test_a_predecessor_that_never_comes_is_a_gap() -> None:
    judgement = judge(Execution(3, TRIANGLE))
    assert (judgement.causal, judgement.stuck, judgement.first_violation) == (True, True, None)
    assert judgement.gaps == (Finding("gap", 2, "c", ("a",), 4, ("a", "b", "c")),)
    assert str(judgement.gaps[0]) == "gap: p2 delivers c and never a (a -> b -> c)"
    assert not judgement.faultless


def test_an_arrival_tells_withheld_from_lost() -> None:
    judgement = judge(Execution(3, (Send(0, "a", (1, 2)), Receive(1, "a", 0))))
    assert [f.process for f in judgement.withheld or ()] == [1]
    assert [f.process for f in judgement.lost or ()] == [2]


def test_a_delivery_where_it_was_not_sent_is_judged() -> None:
    judgement = judge(Execution(3, (Send(0, "a", (1,)), Deliver(1, "a"), Deliver(2, "a"))))
    assert [f.kind for f in judgement.findings()] == ["phantom"]
    assert judgement.causal and not judgement.faultless


def test_phantoms_are_counted_beyond_those_that_are_kept() -> None:
    judgement = judge(Execution(2, (Send(0, "a", ()), *[Deliver(1, "a")] * (KEPT + 5))))
    assert (len(judgement.phantoms), judgement.phantom_count) == (KEPT, KEPT + 5)
    assert judgement.to_json()["detail"]["phantoms"] == KEPT + 5


def test_an_execution_without_fault() -> None:
    judgement = judge(Execution(3, (*TRIANGLE[:4], Deliver(2, "a"), Deliver(2, "c"))))
    assert judgement.faultless
    assert judgement.findings() == ()


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ((Deliver(0, "a"),), "event 0: message 'a' is delivered before it is sent"),
        ((Send(0, "a", (1,)), Send(1, "a", (0,))), "event 1: message 'a' is sent a second time"),
        ((Send(0, "a", (7,)),), "event 0: no process 7"),
        ((Send(0, "a", (1,)), Deliver(7, "a")), "event 1: no process 7"),
    ],
)
def test_what_is_not_an_execution(events: tuple[Event, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        judge(Execution(2, events))
