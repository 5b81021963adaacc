"""Outcomes of cases."""

from __future__ import annotations

from dataclasses import replace

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Send
from thence.conformance.harness.harness import run_case
from thence.conformance.replay.findings import CaseFinding, CaseOutcome
from thence.impl.mf import MF


def outcome_of(destination: int) -> CaseOutcome:
    return run_case(MF, (Send(0, destination),), Settings())


def test_the_digest_is_pinned() -> None:
    assert outcome_of(1).digest() == PINNED


def test_the_digest_covers_events_and_findings() -> None:
    outcome = outcome_of(1)
    finding = CaseFinding("crash", 0, "p0 raises <object at 0x7f0123456789>", 1)
    crashed = replace(outcome, findings=(finding,))
    assert len({outcome.digest(), outcome_of(2).digest(), crashed.digest()}) == 3
    elsewhere = replace(finding, text="p0 raises <object at 0x7fffffffffff>")
    assert replace(outcome, findings=(elsewhere,)).digest() == crashed.digest()
    assert -(2**63) <= crashed.digest() < 2**63


PINNED = -3136985145228792935
