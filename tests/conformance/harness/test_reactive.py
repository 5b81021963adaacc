"""Sends from inside deliveries are part of every default run: a system that fails there, and only there, is found."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from thence.api.driving import Drive, conform_result
from thence.cli.commands.study.matrix import tried_assumptions
from thence.cli.session import Session
from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.cases.recorded_case import read_case
from thence.conformance.conform.claims import plan
from thence.conformance.conform.rerun import rerun
from thence.conformance.systems.system import Limits
from thence.spec.verdict import Verdict

PROGRAM = Path(__file__).with_name("hasty.py")
COMMAND = f"exec:{shlex.join([sys.executable, str(PROGRAM)])}"
SYSTEMS = {"class": ("hasty:Hasty", "hasty:Patient"), "program": (COMMAND, f"{COMMAND} --patient")}

Found = Callable[[str, str | None], bool]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))


def conform(system: str, protocol: str | None) -> bool:
    return conform_result(Drive(protocol, system, 3, 250, 12, 0)).verdict is Verdict.REFUTED


def the_plugin(system: str, protocol: str | None) -> bool:
    return plan(system, protocol, cases=250).run().refutation("causal") is not None


def the_matrix(system: str, protocol: str | None) -> bool:
    request = Drive(protocol, system, 3, 60, 12, 0, Limits())
    results = {result.name: result for result in tried_assumptions(Session("matrix", True), request).results}
    without, with_ = results["reordering, unicast"], results["reordering, reactive, unicast"]
    assert without.verdict is Verdict.TESTED, "without answers nothing is wrong"
    return with_.verdict is Verdict.REFUTED


def a_campaign(system: str, protocol: str | None) -> bool:
    run = campaign_runner({"system": system, "protocol": protocol, "scheduler": "portfolio"})
    failing = [outcome for outcome in map(run, range(120)) if any("causal" in found for found in outcome.findings)]
    for outcome in failing[:1]:
        assert outcome.operations_json is not None
        assert "causal" in rerun(read_case(outcome.operations_json)).kinds, "what is recorded shows it again"
    return bool(failing)


@pytest.mark.long(but=("None-class-a_campaign", "None-class-the_plugin", "None-class-conform", "None-class-the_matrix"))
@pytest.mark.parametrize("found", [conform, the_plugin, the_matrix, a_campaign])
@pytest.mark.parametrize("kind", SYSTEMS)
@pytest.mark.parametrize("protocol", [None, "rst"])
def test_it_is_found(found: Found, kind: str, protocol: str | None) -> None:
    hasty, patient = SYSTEMS[kind]
    assert found(hasty, protocol)
    assert not found(patient, protocol)
