"""What is claimed, and what refutes a claim."""

from __future__ import annotations

from typing import get_args

import pytest

from thence.conformance.cases.network import CLAIMS
from thence.conformance.cases.recorded_case import read_case
from thence.conformance.conform.claims import can_be_imported, kinds_of, plan
from thence.conformance.replay.findings import FindingKind
from thence.conformance.systems.subject import SubjectError, class_name
from thence.impl.mf import MF

ALWAYS = ("started", "causal", "fifo", "delivered", "once")


def test_every_kind_of_finding_refutes_one_claim() -> None:
    refuting = [kind for claim in CLAIMS for kind in kinds_of(claim)]
    assert sorted(refuting) == sorted(set(refuting)), "each refutes one claim"
    assert set(refuting) == set(get_args(FindingKind))
    assert all(kinds_of(claim) for claim in CLAIMS)


def test_a_right_system_keeps_its_claims() -> None:
    judged = plan(MF, "mf", cases=30).run()
    assert judged.plan.claims == ("started", "conforming", "causal", "fifo", "delivered", "once")
    assert [judged.refutation(claim) for claim in judged.plan.claims] == [None] * 6
    assert judged.report.cases == 30


def test_a_refutation_can_be_run_again() -> None:
    judged = plan("faults.rst:MergeDiscarded", "rst", cases=100).run()
    causal, conforming = judged.refutation("causal"), judged.refutation("conforming")
    assert causal is not None and conforming is not None
    assert (causal.recorded.protocol, conforming.recorded.protocol) == (None, "rst")
    assert read_case(causal.recorded.text()) == causal.recorded
    assert causal.text.startswith("causal: ") and conforming.text.startswith("nonconformance: ")
    assert "of 100 cases failed against rst; this one has" in causal.text
    assert judged.refutation("started") is None


def test_claims_follow_what_is_promised() -> None:
    assert plan(MF).claims == ALWAYS
    assert "total_order" in plan("thence.impl.newtop:Newtop", "newtop").claims
    assert plan(MF, causal=False, delivered=False).claims == ("started", "fifo", "once")
    assert plan(MF, claims=["prompt"]).claims == ("started", "prompt")
    assert plan(MF, "mf", claims=["conforming", "once"]).claims == ("started", "conforming", "once")
    assert not plan(MF, "mf").strict and plan(MF, "mf", strict=True).strict


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
    assert class_name(MF) == "thence.impl.mf:MF"
    assert can_be_imported("thence.impl.mf:MF")

    class Local(MF):
        pass

    assert not can_be_imported(class_name(Local))
