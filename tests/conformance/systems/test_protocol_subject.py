"""Protocols as systems under test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.protocol_subject import ProtocolSystem, subject_protocol
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl import ir
from thence.dsl.load import library as library_files

Library = Callable[[str], ir.Protocol]


@pytest.mark.parametrize("name", ["mf", "cykas", "hybrid_basic", "cbcast", "newtop", "hybrid_multicast"])
def test_a_protocol_follows_itself(name: str, library: Library) -> None:
    protocol = library(name)
    settings = settings_for(protocol)
    replay = Replay(protocol, 3)
    for seed, scheduler in enumerate([*SCHEDULERS.values()] * 4):
        outcome = run_scheduled(ProtocolSystem(protocol), scheduler, seed, 14, settings, replay)
        assert outcome.findings == (), [str(finding) for finding in outcome.findings]
        assert outcome.matched > 0


def test_names() -> None:
    assert subject_protocol("protocol:mf").name == "mf"
    mutant = subject_protocol("protocol:cykas#no_secret_mode")
    assert mutant.name == "cykas" and mutant != subject_protocol("protocol:cykas")
    assert load_subject("protocol:cbcast").delivery == "broadcast"
    for name, said in [("protocol:nothing", "no file"), ("protocol:cykas#nothing", "no mutant"),
                       ("protocol:execution", "no protocol")]:  # fmt: skip
        with pytest.raises(SubjectError, match=said):
            load_subject(name)


def test_a_mutant_of_a_protocol_is_found_out() -> None:
    run = campaign_runner({"system": "protocol:cykas#no_secret_mode", "protocol": "cykas", "scheduler": "portfolio"})
    failed = [outcome for outcome in map(run, range(150)) if outcome.findings]
    assert any("causal" in finding for outcome in failed for finding in outcome.findings)


def test_many_processes_and_messages() -> None:
    """Beyond what can be explored: ten processes, and over a hundred messages in a case."""
    run = campaign_runner({"system": "protocol:rst", "processes": 10, "operations": 300, "scheduler": "portfolio"})
    outcomes = [run(seed) for seed in range(2)]
    assert all(outcome.findings == () and outcome.events > 300 for outcome in outcomes)


def test_invariants_of_the_protocol_are_judged(tmp_path: Path) -> None:
    """A campaign over a protocol checks what its file states of states."""
    source = next(path for path in library_files() if path.stem == "mf").read_text(encoding="utf-8")
    file = tmp_path / "mf.thence"
    before = source.partition("\n  property ")
    file.write_text(f"{before[0]}\n  invariant nothing_waits: forall p: process. OB@p is empty\n  property {before[2]}")
    run = campaign_runner({"system": f"protocol:{file}", "protocol": str(file), "scheduler": "uniform"})
    found = [finding for outcome in map(run, range(20)) for finding in outcome.findings]
    assert "invariant: nothing_waits is false" in found
