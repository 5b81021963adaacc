"""Several systems in one campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from thence.conformance.campaign.case import load_runner
from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.campaign.several_systems import several_runner

RUNNER = "thence.conformance.campaign.several_systems:several_runner"
RIGHT = {"system": "thence.impl.mf:MF", "protocol": "mf"}
WRONG = {"system": "faults.rst:MergeDiscarded", "protocol": "rst"}
PARAMS: dict[str, Any] = {"systems": [RIGHT, WRONG], "scheduler": "portfolio", "operations": 14}


def test_each_system_runs_what_it_runs_in_a_campaign_of_its_own() -> None:
    run = several_runner(PARAMS)
    for place, each in enumerate((RIGHT, WRONG)):
        alone = campaign_runner({**each, "scheduler": "portfolio", "operations": 14})
        for turn in range(12):
            assert run(2 * turn + place) == replace(alone(turn), seed=2 * turn + place)


@pytest.mark.long
def test_only_the_wrong_one_fails_and_what_it_does_is_counted_under_its_name() -> None:
    run = load_runner(RUNNER, PARAMS)
    outcomes = [run(seed) for seed in range(80)]
    assert {outcome.system for outcome in outcomes if outcome.findings} == {WRONG["system"]}
    assert [outcome.seed for outcome in outcomes] == list(range(80))
    assert [several_runner(PARAMS).cell(outcome.seed) for outcome in outcomes[:20]] == [
        (outcome.system, outcome.group) for outcome in outcomes[:20]
    ]


def test_the_facts_are_of_each_system() -> None:
    facts = several_runner(PARAMS).facts["systems"]
    assert list(facts) == [RIGHT["system"], WRONG["system"]]
    assert facts[WRONG["system"]] == campaign_runner(WRONG).facts


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "systems is a list"),
        ({"systems": []}, "systems is a list"),
        ({"systems": ["thence.impl.mf:MF"]}, "systems is a list"),
        ({"systems": [RIGHT, RIGHT]}, "thence.impl.mf:MF comes twice"),
        ({"systems": [{"protocol": "mf"}]}, "module:Class"),
        ({"systems": [RIGHT], "sytem": 1}, "unknown parameter sytem"),
    ],
)
def test_impossible_parameters(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        several_runner(params)
