"""Recorded cases run again, and the tests that are written of them."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.cases.schedule import Receive, Schedule, Send
from thence.conformance.conform.rerun import assert_case_passes, opposite, pytest_file, rerun
from thence.conformance.conform.trials import Opposite
from thence.conformance.replay.findings import CaseFinding
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl.load import SourceError

TRIANGLE: Schedule = (Send(0, 1), Send(0, 2), Receive(0, (0, 2)), Send(2, 1), Receive(0, (2, 1)))


def case(system: str, protocol: str | None = None, **settings: Any) -> RecordedCase:
    return RecordedCase(system, protocol, Settings(**settings), TRIANGLE)


def test_a_case_is_judged_by_the_oracle_and_its_protocol() -> None:
    assert rerun(case("thence.impl.rst:RST", "rst")).findings == ()
    assert rerun(case("faults.rst:MergeDiscarded")).kinds == {"causal"}
    assert rerun(case("faults.rst:MergeDiscarded", "rst")).kinds == {"causal", "nonconformance"}


def test_what_cannot_be_run_is_said() -> None:
    with pytest.raises(SubjectError, match="there is no module nothing"):
        rerun(case("nothing:X"))
    with pytest.raises(SourceError, match="there is no file nothing"):
        rerun(case("thence.impl.rst:RST", "nothing"))
    with pytest.raises(SubjectError, match="the case has unicast messages; cbcast is broadcast"):
        rerun(case("thence.impl.cbcast:CBCAST", "cbcast"))
    with pytest.raises(SubjectError, match="to be driven as broadcast"):
        rerun(case("thence.impl.rst:RST", delivery="broadcast"))


def test_a_test_shows_what_is_wrong() -> None:
    assert_case_passes(case("thence.impl.rst:RST").text())
    with pytest.raises(AssertionError, match=r"(?s)^causal: p1 delivers m2.1 .*5  p1 receives .*m0.1, too late"):
        assert_case_passes(case("faults.rst:MergeDiscarded").to_json())


def test_a_written_test_is_python_whatever_was_found() -> None:
    found = case("exec:x 'y' \"z\" \\")
    text = pytest_file(
        found, [CaseFinding("phantom", 0, 'p0 delivers """\\u0041\\', 0), CaseFinding("crash", 1, "p1 ends", 0)]
    )
    tree = ast.parse(text)
    assert "p0 delivers '''\\u0041\\" in (ast.get_docstring(tree, clean=False) or "")
    [test] = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert test.name == "test_no_phantom_crash"
    [value] = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(value) == json.loads(found.text())


def test_a_class_is_held_against_any_protocol(library: Callable[[str], Any]) -> None:
    subject = load_subject("thence.impl.rst:RST")
    held = opposite(subject, Settings(), library("rst"))
    assert held == Opposite(library("rst"))
    assert opposite(subject, Settings(), library("rst"), strict=True) == Opposite(library("rst"), "strictly")
    assert opposite(subject, Settings(), None) is None
