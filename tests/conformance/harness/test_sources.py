"""Executions from elsewhere, as schedules: what the prover and the explorer printed, cases, traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.cases.schedule import Receive, ScheduleError, Send
from thence.conformance.harness.guided import TRIANGLE, Corpus
from thence.conformance.harness.sources import PROVER, known_schedules, schedules_from
from thence.dsl.find import specification
from thence.spec.events import Deliver, Execution
from thence.spec.events import Send as SendEvent
from thence.spec.trace import Trace, TraceError, write_trace

CASE = RecordedCase("m:C", None, Settings(), (Send(0, 1), Send(0, 1), Receive(1, (0, 1))))


def written(path: Path, value: Any) -> str:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def test_the_prover_itself_is_asked() -> None:
    corpus = schedules_from(PROVER, specification("ses"))
    assert len(corpus.scripts) >= 3 and not corpus.schedules
    with pytest.raises(ScheduleError, match="name a protocol"):
        schedules_from(PROVER, None)


def test_cases_corpora_and_traces(tmp_path: Path) -> None:
    assert schedules_from(written(tmp_path / "a", CASE.text()), None) == Corpus((), (CASE.operations,))
    result = {"results": [{"counterexample": CASE.to_json()}, {"over_delay": {"worst": {"case": CASE.to_json()}}}]}
    assert schedules_from(written(tmp_path / "b", result), None) == Corpus((), (CASE.operations,))
    corpus = Corpus((TRIANGLE,), (CASE.operations,))
    assert schedules_from(written(tmp_path / "c", corpus.to_json()), None) == corpus
    trace = Trace(Execution(2, (SendEvent(0, "a", (1,)), Deliver(1, "a"))))
    write_trace(tmp_path / "t.ndjson", trace)
    expected = Corpus(((("send", 0, (1,)), ("deliver", 1, 0)),))
    assert schedules_from(str(tmp_path / "t.ndjson"), None) == expected
    both = known_schedules(None, None, [str(tmp_path / "a"), str(tmp_path / "t.ndjson")])
    assert both == Corpus(expected.scripts, (CASE.operations,))
    assert known_schedules(None, None, ()) == Corpus()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "trace"),
        ("[]", "has no execution"),
        ('{"results": []}', "has no execution"),
        ('{"results": [{"counterexample": {"format": "thence-case/1"}}]}', "a recorded case is an object"),
        ('{"scripts": [[["fly"]]], "schedules": []}', "is no step of a script"),
        ('{"subject": "rst", "scope": {}, "counterexample": [{}]}', "the scope of the steps"),
        (
            '{"subject": "rst", "scope": {"settings": ["sends 1 to 2"]}, "counterexample": [{}]}',
            "cannot be read: `sends",
        ),
        ('{"subject": "rst", "scope": {"settings": []}, "counterexample": [{}]}', "do not fit its text"),
        ('{"subject": "rst", "scope": {"settings": []}, "counterexample": [7]}', "do not fit its text"),
        ("[" * 3_000 + "]" * 3_000, "trace|execution"),
        ('{"events": [{"event": "deliver", "process": 9, "message": "m"}], "processes": 2}', "has no execution"),
    ],
)
def test_what_has_no_schedules(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises((ScheduleError, TraceError), match=said):
        schedules_from(written(tmp_path / "x.json", text), specification("rst"))
