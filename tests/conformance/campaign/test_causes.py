"""Failures of a campaign grouped by cause."""

from __future__ import annotations

from thence.conformance.campaign.causes import Cause, causes
from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.campaign.reporting import FailingCase
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.rerun import rerun
from thence.conformance.systems.trust import Word

PARAMETERS = {"system": "faults.rst:MergeDiscarded", "protocol": "rst", "scheduler": "portfolio", "operations": 12}


def failing(system: str, cases: int = 60, **params: object) -> list[FailingCase]:
    run = campaign_runner({**PARAMETERS, "system": system, **params})
    outcomes = [run(seed) for seed in range(cases)]
    return [
        FailingCase(one.seed, one.group, one.events, one.findings, None, one.operations_json)
        for one in outcomes
        if one.findings
    ]


def grouped(cases: list[FailingCase], *, run_again: bool = True) -> list[Cause]:
    return causes(cases, word=Word("there", given=True) if run_again else None, progress=lambda _done, _of: None)


def test_one_fault_is_one_cause_shortened_and_drawn() -> None:
    cases = failing("faults.rst:MergeDiscarded")
    assert len(cases) > 5
    [cause] = grouped(cases)
    assert cause.cases == len(cases) and cause.shortened
    assert cause.kinds[0] == "causal" and "nonconformance" in cause.kinds
    assert cause.guard == "`meta` of the subject's MSG"
    assert cause.recorded is not None and len(cause.recorded.operations) <= 6
    assert cause.picture.startswith("<svg") and "causal" in cause.explanation
    assert cause.seeds == tuple(case.seed for case in cases[:5])
    assert "causal" in rerun(cause.recorded).kinds
    assert cause.to_json()["cases"] == len(cases)


def test_two_faults_are_two_causes() -> None:
    merged, headed = failing("faults.rst:MergeDiscarded", 40), failing("faults.rst:NoRescan", 40)
    found = grouped([*merged, *headed])
    assert len(found) >= 2
    assert sum(cause.cases for cause in found) == len(merged) + len(headed)
    systems = {cause.recorded.system for cause in found if cause.recorded is not None}
    assert systems == {"faults.rst:MergeDiscarded", "faults.rst:NoRescan"}
    assert [cause.cases for cause in found] == sorted((cause.cases for cause in found), reverse=True)


def test_without_running_again_they_are_grouped_by_what_was_found() -> None:
    found = grouped(failing("faults.rst:MergeDiscarded"), run_again=False)
    assert found and not any(cause.shortened or cause.picture for cause in found)
    assert all(isinstance(cause.recorded, RecordedCase) for cause in found)


def test_a_system_that_is_not_here_and_cases_of_other_runners() -> None:
    text = failing("faults.rst:MergeDiscarded", 8)[0].operations_json or ""
    text = text.replace("faults.rst:Merge", "no.where:Merge")
    others = [
        FailingCase(3, "uniform", 5, ("causal: x",), None, text),
        FailingCase(4, "", 5, ("above: 12",), None, "[1, 2]"),
        FailingCase(5, "", 0, (), "RuntimeError: fell over", None),
        FailingCase(6, "", 0, (), "RuntimeError: fell again", None),
    ]
    found = grouped(others)
    assert [(cause.kinds, cause.cases) for cause in found] == [
        (("error: RuntimeError",), 2), (("causal",), 1), (("above",), 1),
    ]  # fmt: skip
    assert not any(cause.shortened for cause in found)
