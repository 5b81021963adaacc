"""A step that is the protocol's is carried out in one go; it comes to what `_carry_out` makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from faults import FAULTS, TEXTBOOK

from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.case import Case
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.implementations import SHIPPED
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.permissive import PermissiveReplay
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.subject import load_subject
from thence.dsl import ir

Library = Callable[[str], ir.Protocol]

NAMES = ("cbcast", "hybrid_basic", "rst", "skeen")
SEEDS = range(30)


def outcomes(make: Any, protocol: ir.Protocol, replay: Replay) -> list[CaseOutcome]:
    settings = settings_for(protocol)
    return [
        run_scheduled(make, scheduler, seed, 12, settings, replay)
        for scheduler in SCHEDULERS.values()
        for seed in SEEDS
    ]


def drawn(name: str, protocol: ir.Protocol, *, strictly: bool) -> list[list[CaseOutcome]]:
    """The outcomes of the shipped implementation, and of its planted faults."""
    faults = [*FAULTS.get(name, []), *TEXTBOOK.get(name, [])][:4]
    subjects = [load_subject(SHIPPED[name]).make_process, *faults]
    return [
        outcomes(make, protocol, Replay(protocol, 3) if strictly else PermissiveReplay(protocol, 3))
        for make in subjects
    ]


@pytest.mark.parametrize("strictly", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_step_in_one_go_comes_to_the_same(
    name: str, strictly: bool, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PermissiveReplay, "settled", lambda _, outcome: outcome)
    protocol, taken = library(name), [0, 0]
    in_one_go = Case._is_expected

    def counted(case: Case, *arguments: Any) -> bool:
        found = in_one_go(case, *arguments)
        taken[found] += 1
        return found

    monkeypatch.setattr(Case, "_is_expected", counted)
    fast = drawn(name, protocol, strictly=strictly)
    monkeypatch.setattr(Case, "_is_expected", lambda *_: False)
    slow = drawn(name, protocol, strictly=strictly)
    assert fast == slow
    assert taken[True] > 1_000 and taken[False] > 10
