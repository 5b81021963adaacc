"""Cases in files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.cases.schedule import Receive, ScheduleError, Send

CASE = RecordedCase("thence.impl.mf:MF", "mf", Settings(4, "fifo"), (Send(0, 1), Receive(0, (0, 1)), Receive(500)))


def test_a_case_survives_its_file() -> None:
    assert read_case(CASE.text()) == CASE
    assert read_case(json.dumps(CASE.to_json(), indent=2)) == CASE


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "thence-case/2"}, "its format is thence-case/1"),
        ({"system": 3}, "module:Class"),
        ({"protocol": 3}, "a name or null"),
        ({"settings": {"processes": 0}}, "settings of the recorded case: .*at least one"),
        ({"settings": 3}, "settings are an object"),
        ({"operations": [["send"]]}, "operation 1 is none"),
        ({"more": 1}, "a recorded case is an object"),
    ],
)
def test_another_object_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ScheduleError, match=said):
        read_case(json.dumps({**CASE.to_json(), **change}))


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.one_of(st.text(max_size=30), st.just("[" * 100_000), st.integers().map(str)))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError):
        read_case(text)


@pytest.mark.parametrize("key", ["system", "processes", "loss"])
def test_a_key_that_stands_twice_is_refused(key: str) -> None:
    text = CASE.text()
    place = text.index(f'"{key}":')
    with pytest.raises(ScheduleError, match=f"the key {key} stands twice"):
        read_case(f'{text[:place]}"{key}":1,{text[place:]}')
