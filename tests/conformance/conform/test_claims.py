"""What is claimed, and what refutes a claim."""

from __future__ import annotations

from typing import get_args

import pytest

from thence.conformance.cases.recorded_case import read_case
from thence.conformance.conform.claims import CLAIMS, can_be_imported, plan, subject_of
from thence.conformance.replay.findings import FindingKind
from thence.conformance.systems.subject import SubjectError
from thence.impl.mf import MF


def test_every_kind_of_finding_refutes_one_claim() -> None:
    refuting = [kind for kinds in CLAIMS.values() for kind in kinds]
    assert sorted(refuting) == sorted(set(refuting)), "each refutes one claim"
    assert set(refuting) == set(get_args(FindingKind))


def test_a_right_system_keeps_its_claims() -> None:
    judged = plan(MF, "mf", cases=30).run()
    always = ("runs", "causal", "fifo", "delivered", "prompt", "at_most_once", "no_creation")
    assert judged.plan.claims == (*always, "conforms")
    assert [judged.refutation(claim) for claim in judged.plan.claims] == [None] * 8
    assert [report.cases for report in judged.reports] == [30]


def test_a_refutation_can_be_run_again() -> None:
    judged = plan("faults.rst:MergeDiscarded", "rst", cases=100).run()
    causal, conforms = judged.refutation("causal"), judged.refutation("conforms")
    assert causal is not None and conforms is not None
    assert (causal.recorded.protocol, conforms.recorded.protocol) == (None, "rst")
    assert read_case(causal.recorded.text()) == causal.recorded
    assert causal.text.startswith("causal: ") and conforms.text.startswith("nonconformance: ")
    assert "of 100 cases failed against rst; this one has" in causal.text
    assert judged.refutation("runs") is None


def test_claims_follow_what_is_promised() -> None:
    assert plan(MF).claims == ("runs", "causal", "fifo", "delivered", "prompt", "at_most_once", "no_creation")
    assert "total_order" in plan("thence.impl.newtop:Newtop", "newtop").claims
    assert "prompt" not in plan("thence.impl.newtop:Newtop", "newtop").claims
    assert plan(MF, causal=False, delivered=False).claims == ("runs", "fifo", "at_most_once", "no_creation")


def test_settings_are_those_of_the_protocol_unless_said() -> None:
    assert plan(MF, "mf").settings.channels == "reordering"
    assert plan(MF, "mf", channels="fifo", processes=5).settings.channels == "fifo"
    assert plan(MF, processes=1).settings.self_sends


def test_impossible_plans() -> None:
    with pytest.raises(ValueError, match="unknown setting colour"):
        plan(MF, colour="red")
    with pytest.raises(ValueError, match="at least one case"):
        plan(MF, cases=0)
    with pytest.raises(SubjectError, match="unicast system"):
        plan(MF, delivery="broadcast")


def test_names_of_classes() -> None:
    assert subject_of(MF).name == "thence.impl.mf:MF"
    assert can_be_imported("thence.impl.mf:MF")

    class Local(MF):
        pass

    assert not can_be_imported(subject_of(Local).name)
