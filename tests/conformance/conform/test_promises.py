"""By default a system is held to its protocol's promises, not to the text's order; each claim has its own verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, get_args

import pytest
from faults import FAULTS
from textbook import layers, vector_clocks

from thence.api.driving import Drive, Terms, driven, driven_results
from thence.conformance.cases.network import CLAIMS, Claim, Settings
from thence.conformance.cases.recorded_case import read_case
from thence.conformance.conform.conform import conform, settings_for
from thence.conformance.conform.rerun import opposite, rerun
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.replay.findings import REFUTES, FindingKind
from thence.conformance.systems.subject import Subject, load_subject
from thence.dsl import ir
from thence.impl.commands import Send
from thence.impl.rst import RST
from thence.spec.value import value
from thence.spec.verdict import Result, Verdict, exit_code

Library = Callable[[str], ir.Protocol]

BROADCAST = Settings(delivery="broadcast")


@value
class Junk:
    """A packet of no protocol."""

    kind: ClassVar[str] = "JUNK"
    message: ClassVar[None] = None


ALL_FAULTS = [(name, fault) for name, faults in FAULTS.items() for fault in faults]


@pytest.mark.long(but=("Sorted",))
@pytest.mark.parametrize("name", ["ByArrival", "Reversed", "Sorted", "Descending"])
def test_another_order_of_concurrent_messages_conforms(name: str, library: Library) -> None:
    """It is said once, with an example; strictly, it is a difference."""
    make, protocol = getattr(vector_clocks, name), library("cbcast")
    report = conform(make, Opposite(protocol), BROADCAST, Sampling(cases=200))
    assert (report.failures, report.undecided) == (0, 0)
    assert report.other_order is not None and report.other_order.cases > 0
    assert ": the protocol delivers m" in report.other_order.first.other_order
    assert "; the subject delivers m" in report.other_order.first.other_order
    strict = conform(make, Opposite(protocol, "strictly"), BROADCAST, Sampling(cases=200))
    assert {kind for shown in strict.counterexamples for kind in shown.kinds} == {"nonconformance"}


def test_packets_of_other_kinds_are_not_compared(library: Library) -> None:
    subject = Subject("OtherKind", vector_clocks.OtherKind, "broadcast")  # type: ignore[arg-type]
    held = opposite(subject, BROADCAST, library("cbcast"))
    assert held is not None
    assert (held.closely, held.why_not) == ("as observed", "the protocol has no packets of the kind DATA")
    assert conform(subject.make_process, held, BROADCAST, Sampling(cases=60)).failures == 0


@pytest.mark.long(but=("cykas:TellsTwice", "rst:TimerDelivers", "cbcast:OneRound", "mf:AckMissing"), share=1)
@pytest.mark.parametrize(("name", "fault"), ALL_FAULTS, ids=[f"{name}:{fault.__name__}" for name, fault in ALL_FAULTS])
def test_no_planted_fault_is_only_another_order(name: str, fault: Any, library: Library) -> None:
    protocol = library(name)
    settings = settings_for(protocol)
    settings = replace(
        settings,
        channels="fifo" if "fifo" in fault.NEEDS else settings.channels,
        loss="loss" in fault.NEEDS,
        duplication="duplication" in fault.NEEDS,
    )
    report = conform(fault, Opposite(protocol), settings, Sampling(cases=120))
    assert report.failures > 0
    assert min(len(shown.operations) for shown in report.counterexamples) <= 10


# --- timers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Layers", "Slow"])
def test_timers_run_until_nothing_changes(name: str) -> None:
    settings = Settings().claiming(("fifo", "delivered", "once"))
    assert conform(getattr(layers, name), None, settings, Sampling(cases=60)).failures == 0


def test_what_never_comes_is_stuck_and_the_wait_is_said() -> None:
    report = conform(layers.Loses, None, Settings().claiming(("delivered",)), Sampling(cases=60))
    [finding] = {str(found) for shown in report.counterexamples for found in shown.findings}
    assert finding == "stuck: p1 never delivers m0.2, after 15 rounds of timers without a delivery"


# --- claims -----------------------------------------------------------------------------------


def judged(system: str, *claims: Claim, **network: Any) -> dict[str, Result]:
    drive = Drive(network.pop("protocol", None), f"textbook.vector_clocks:{system}", 3, 80, 12, 0)
    results = driven_results(drive, driven(drive, Terms(network, claims)))
    return {result.name: result for result in results}


def refuted(results: dict[str, Result]) -> dict[str, bool]:
    """The claims that are refuted, and whether they were made."""
    return {name: result.facts["claimed"] for name, result in results.items() if result.verdict is Verdict.REFUTED}


def test_each_claim_is_a_result() -> None:
    results = judged("Sorted", delivery="broadcast")
    assert list(results) == ["started", "causal", "fifo", "delivered", "once", "prompt"]
    assert [name for name, result in results.items() if not result.facts["claimed"]] == ["prompt"]
    assert refuted(results) == {}
    held = judged("Sorted", delivery="broadcast", protocol="cbcast")
    assert list(held) == ["started", "conforming", "causal", "fifo", "delivered", "once", "prompt"]
    assert held["conforming"].facts["in_another_order"]["cases"] > 0
    assert held["conforming"].facts["replay"] == "as promised"


def test_the_claim_that_fails_is_the_one_that_is_named() -> None:
    """A system that delivers twice is causal, and one that delivers late is right, only not prompt."""
    twice = judged("Twice", delivery="broadcast", duplication=True)
    assert (refuted(twice), exit_code(twice.values())) == ({"once": True}, 1)
    assert twice["once"].facts["findings"][0].startswith("duplicate: ")
    unclaimed = judged("Twice", "causal", delivery="broadcast", duplication=True)
    assert (refuted(unclaimed), exit_code(unclaimed.values())) == ({"once": False}, 0)
    late = judged("Late", delivery="broadcast")
    assert (refuted(late), exit_code(late.values())) == ({"prompt": False}, 0)
    asked = judged("Late", "prompt", delivery="broadcast")
    assert (refuted(asked), exit_code(asked.values())) == ({"prompt": True}, 1)


def test_what_refutes_a_claim_that_is_not_made_can_be_run_again() -> None:
    found = judged("Late", delivery="broadcast")["prompt"].facts
    case = read_case(json.dumps(found["counterexample"]))
    assert case.settings.prompt
    assert rerun(case).kinds == {"over_delay"}


@pytest.mark.parametrize("claim", sorted(set(CLAIMS) - {"started", "total_order"}))
def test_each_claim_can_be_chosen(claim: Claim) -> None:
    protocol = "cbcast" if claim == "conforming" else None
    results = judged("CountsTooLate", claim, delivery="broadcast", protocol=protocol)
    made = {name for name, result in results.items() if result.facts["claimed"]}
    assert made == {"started", claim}
    wrong = {"causal"} | ({"conforming"} if protocol else set())
    assert set(refuted(results)) == wrong
    assert exit_code(results.values()) == (claim in wrong)


def test_every_kind_of_finding_has_a_claim() -> None:
    assert set(REFUTES) == set(get_args(FindingKind))
    assert set(REFUTES.values()) == set(CLAIMS)


class Chatty(RST):
    """From the third send on, a packet of a kind that the protocol does not have follows each message."""

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._identity, self._processes, self._sends = identity, processes, 0

    def causal_send(self, destination: int, message: Any) -> list[Any]:
        self._sends += 1
        junk = [Send((self._identity + 1) % self._processes, Junk())] if self._sends > 2 else []
        return [*super().causal_send(destination, message), *junk]

    def receive(self, sender: int, packet: Any) -> Any:
        return [] if isinstance(packet, Junk) else super().receive(sender, packet)


def test_a_system_of_the_protocols_kinds_that_adds_others_does_not_conform(library: Library) -> None:
    report = conform(Chatty, Opposite(library("rst")), Settings(), Sampling(cases=60))
    assert report.refuting["conforming"] > 0
    assert not any(report.refuting.get(claim) for claim in ("started", "causal", "fifo", "delivered", "once"))


@pytest.mark.parametrize("system", ["newtop:Newtop", "mf_pipelined:MFPipelined", "tree:Tree"])
@pytest.mark.parametrize("place", ["", "isolated:"])
def test_a_class_is_driven_over_the_channels_that_it_is_made_for(system: str, place: str) -> None:
    """Without a protocol: FIFO channels, and broadcasts that come back, where the class says so."""
    subject = load_subject(f"{place}thence.impl.{system}", 3)
    try:
        settings = subject.settings(3)
        assert settings.channels == "fifo" and settings.self_sends == (system == "newtop:Newtop")
        if not place:
            assert conform(subject.make_process, None, settings, Sampling(cases=60)).failures == 0
    finally:
        subject.close()
