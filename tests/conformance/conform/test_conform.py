"""`conform`: the shipped implementations follow their protocols, and every planted fault is caught and shortened."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from faults import FAULTS

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Send
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.claims import claims_of, plan
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.harness.harness import run_case
from thence.conformance.implementations import SYSTEMS
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl import ir
from thence.impl.commands import Command
from thence.impl.commands import Send as SendPacket
from thence.impl.mf import MF

Library = Callable[[str], ir.Protocol]

EXPECTED: dict[str, dict[str, dict[str, int]]] = {
    "mf": {
        "NoAckWait": {"causal": 3, "fifo": 3, "nonconformance": 2},
        "PerReceiverWait": {"causal": 5, "nonconformance": 2},
        "AnyAck": {"causal": 3, "fifo": 3, "nonconformance": 2},
        "StackedOutput": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "AckMissing": {"stuck": 2, "nonconformance": 1},
        "NoPostOnAck": {"stuck": 2, "nonconformance": 2},
        "AckBeforeInsert": {"causal": 2, "fifo": 2, "stuck": 1, "nonconformance": 1},
        "RetransmissionWithoutFilter": {"duplicate": 2, "nonconformance": 2},
    },
    "rst": {
        "MergeDiscarded": {"causal": 5, "nonconformance": 5},
        "ColumnOnly": {"causal": 5, "nonconformance": 5},
        "OwnEntriesDropped": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "ClockAfterDelivery": {"causal": 5, "nonconformance": 5},
        "HeadOnly": {"stuck": 3, "nonconformance": 3},
        "NoRescan": {"stuck": 3, "nonconformance": 3},
        "SenderLeftOut": {"fifo": 3, "nonconformance": 3},
        "OffByOne": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "RowOverwritten": {"causal": 5, "fifo": 5, "nonconformance": 5, "crash": 4},
        "RowOverwrittenOnSend": {"causal": 5, "fifo": 5, "nonconformance": 5, "crash": 3},
        "TimerDelivers": {"over_delay": 1, "nonconformance": 1},
        "AbsentDropped": {"causal": 5, "fifo": 5, "nonconformance": 5, "crash": 3},
    },
    "cykas": {
        "SecretModeIgnored": {"causal": 5, "nonconformance": 4},
        "AnswersEagerSender": {"causal": 10, "nonconformance": 4},
        "SecretAsFlag": {"nonconformance": 6},
        "TellsTooEarly": {"causal": 7, "nonconformance": 3},
        "AlwaysNormal": {"causal": 5, "nonconformance": 2},
        "SeveralPerReceiver": {"causal": 3, "fifo": 3, "nonconformance": 2},
        "EagerNotAcknowledged": {"stuck": 3, "nonconformance": 2},
        "NoSendOnYct": {"stuck": 4, "nonconformance": 4},
        "AsPrinted": {"stuck": 2, "nonconformance": 2},
        "TellsTwice": {"nonconformance": 2},
    },
    "cykas_live": {
        "WaitsForAll": {"nonconformance": 4},
        "WaitsForNone": {"causal": 5, "nonconformance": 3},
        "OneSecretOfEach": {"causal": 12, "nonconformance": 7},
        "AnyYctCounts": {"causal": 15, "nonconformance": 6},
        "NeverForgets": {"stuck": 3, "nonconformance": 3},
        "TellsTooEarly": {"causal": 7, "nonconformance": 3},
        "NoSendOnYct": {"stuck": 3, "nonconformance": 3},
    },
    "hybrid_basic": {
        "ClockFromZero": {"causal": 2, "fifo": 2, "stuck": 1, "nonconformance": 1},
        "PermitNotAwaited": {"causal": 5, "nonconformance": 4},
        "OnePermitTolerated": {"causal": 5, "nonconformance": 4},
        "NeverFlagged": {"causal": 5, "nonconformance": 4},
        "PermitTooEarly": {"causal": 7, "nonconformance": 1},
        "AnyAckSlides": {"causal": 7, "nonconformance": 3},
        "ArrivalOrder": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "NoDuplicateFilter": {"duplicate": 2, "nonconformance": 2},
        "DuplicateFilterOffByOne": {"stuck": 6, "nonconformance": 2},
        "NoRetransmission": {"stuck": 2, "nonconformance": 2},
        "NoPermitRequest": {"stuck": 7, "nonconformance": 5},
        "NoAck": {"stuck": 4, "nonconformance": 1},
        "PredecessorOfAnyReceiver": {"stuck": 2, "nonconformance": 2},
    },
    "hybrid_optimal": {
        "ClockFromZero": {"causal": 2, "fifo": 2, "stuck": 1, "nonconformance": 1},
        "U2StaysBehind": {"crash": 3, "nonconformance": 2},
        "PermitsIgnored": {"causal": 5, "nonconformance": 3},
        "AnySenderTolerated": {"causal": 5, "nonconformance": 3},
        "SameReceiverForgotten": {"causal": 10, "nonconformance": 3},
        "NeverFlagged": {"causal": 5, "nonconformance": 2},
        "PermitTooEarly": {"causal": 7, "nonconformance": 1},
        "P2StaysBehind": {"nonconformance": 6},
        "ArrivalOrder": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "NoDuplicateFilter": {"duplicate": 2, "nonconformance": 2},
        "OnlyTheFlagged": {"causal": 3, "fifo": 3, "stuck": 1, "nonconformance": 1},
        "NoRetransmission": {"stuck": 2, "nonconformance": 2},
        "NoPermitRequest": {"stuck": 6, "nonconformance": 5},
        "PredecessorOfAnyReceiver": {"stuck": 2, "nonconformance": 2},
    },
    "hybrid_remembering": {
        "ForgetsEarlyPermits": {"nonconformance": 5},
        "LatestByArrival": {"nonconformance": 7},
        "SpeaksForItselfOnly": {"nonconformance": 8},
        "ArrivalOrder": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "NoDuplicateFilter": {"duplicate": 2, "nonconformance": 2},
    },
    "cbcast": {
        "MergeDiscarded": {"causal": 4, "nonconformance": 4},
        "OwnEntryDropped": {"causal": 6, "fifo": 6, "stuck": 2, "nonconformance": 2},
        "ClockAfterDelivery": {"causal": 4, "nonconformance": 4},
        "SenderLeftOut": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "OthersLeftOut": {"causal": 4, "nonconformance": 4},
        "OffByOne": {"causal": 4, "nonconformance": 4},
        "LastSenderOnly": {"stuck": 4, "over_delay": 4, "nonconformance": 4},
        "OneRound": {"stuck": 4, "over_delay": 4, "nonconformance": 4},
        "SelfDelivery": {"phantom": 1, "nonconformance": 1},
        "NoDuplicateFilter": {"duplicate": 2, "nonconformance": 2},
        "LastProcessForgotten": {"stuck": 1, "nonconformance": 1},
        "OldClock": {"causal": 2, "fifo": 2, "stuck": 1, "nonconformance": 1},
    },
    "newtop": {
        "Silent": {"stuck": 1, "nonconformance": 1},
        "ClockNotAdvanced": {"stuck": 1, "nonconformance": 1},
        "DoesNotWait": {"causal": 4, "total_order": 2, "nonconformance": 1},
        "OneIsEnough": {"causal": 4, "total_order": 2, "nonconformance": 1},
        "LastProcessLeftOut": {"causal": 9, "total_order": 5, "nonconformance": 1},
        "OffByOne": {"total_order": 2, "nonconformance": 1},
        "TiesByArrival": {"total_order": 2, "nonconformance": 2},
        "ByArrival": {"total_order": 2, "nonconformance": 2},
        "NotToOneself": {"causal": 2, "stuck": 1, "nonconformance": 1},
        "AtOnceAtItsSender": {"total_order": 2, "nonconformance": 1},
        "NullTooHigh": {"crash": 4, "nonconformance": 1},
    },
    "hybrid_multicast": {
        "MulticastsUnflagged": {"causal": 4, "nonconformance": 1},
        "UnackedUnflagged": {"causal": 5, "nonconformance": 2},
        "PermitNotAwaited": {"causal": 4, "nonconformance": 2},
        "OnePermitTolerated": {"causal": 4, "nonconformance": 2},
        "OneAckIsEnough": {"causal": 6, "nonconformance": 1},
        "PermitTooEarly": {"causal": 6, "nonconformance": 1},
        "PermitToTheLast": {"stuck": 2, "nonconformance": 1},
        "OnePredecessor": {"stuck": 2, "over_delay": 2, "nonconformance": 2},
        "LastReceiverForgotten": {"causal": 3, "fifo": 3, "stuck": 3, "over_delay": 3, "nonconformance": 3},
        "ArrivalOrder": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "NoDuplicateFilter": {"duplicate": 2, "nonconformance": 2},
        "NoRetransmission": {"stuck": 2, "nonconformance": 2},
        "NoAck": {"stuck": 3, "nonconformance": 1},
        "FlagNotSent": {"causal": 4, "nonconformance": 2},
    },
    "ks": {
        "MergeDiscarded": {"causal": 5, "nonconformance": 5},
        "DestinationOnly": {"causal": 6, "nonconformance": 6},
        "OwnEntriesDropped": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "DestinationLeftOut": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "MessageNotAdded": {"causal": 6, "nonconformance": 6},
        "LogAfterDelivery": {"causal": 4, "nonconformance": 4},
        "HeadOnly": {"stuck": 3, "over_delay": 3, "nonconformance": 3},
        "SenderLeftOut": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "OffByOne": {"causal": 3, "fifo": 3, "nonconformance": 3},
        "Intersected": {"causal": 6, "nonconformance": 6},
        "LogOverwritten": {"causal": 5, "nonconformance": 5},
        "SendsForget": {"causal": 4, "nonconformance": 4},
        "NoDuplicateFilter": {"duplicate": 2},
        "LastDestinationForgotten": {"stuck": 1, "nonconformance": 1},
    },
}
"""By protocol and planted fault: each kind of finding that has to show, and the most operations to show it."""

LONGER_TO_FIND = {"SpeaksForItselfOnly": 8, "LatestByArrival": 7, "OneSecretOfEach": 7}
"""Faults that no six operations show, even with the replay: two permits or two secrets come first."""

CASES = [(protocol, fault) for protocol, faults in FAULTS.items() if protocol in EXPECTED for fault in faults]


def settings_under_which(fault: Any, protocol: ir.Protocol) -> Settings:
    """What the network has to do for a planted fault to show."""
    settings = settings_for(protocol)
    return replace(
        settings,
        channels="fifo" if "fifo" in fault.NEEDS else settings.channels,
        loss="loss" in fault.NEEDS,
        duplication="duplication" in fault.NEEDS,
        prompt=not settings.total_order,
    )


def shortest(report: Report) -> dict[str, int]:
    return {kind: len(example.operations) for example in report.counterexamples for kind in example.kinds}


def test_where_messages_go_and_what_is_promised_is_as_the_protocol_says(library: Library) -> None:
    assert settings_for(library("mf")) == Settings()
    assert settings_for(library("hybrid_multicast")) == Settings(loss=True, duplication=True, delivery="multicast")
    assert settings_for(library("cbcast"), 4) == Settings(4, delivery="broadcast")
    # Newtop hands over a process's own broadcasts, in the order of all others.
    newtop = Settings(channels="fifo", self_sends=True, delivery="broadcast", total_order=True)
    assert settings_for(library("newtop")) == newtop
    # The negative control promises FIFO and no more.
    assert settings_for(library("fifo")) == Settings(loss=True, duplication=True, causal=False)
    assert claims_of(settings_for(library("fifo")), protocol=False) == ("started", "fifo", "delivered", "once")
    silent = replace(library("fifo"), properties=(), eventually=())
    assert claims_of(settings_for(silent), protocol=False) == ("started", "causal", "fifo", "delivered", "once")
    careless = replace(library("fifo"), properties=("causal",))
    assert claims_of(settings_for(careless), protocol=False) == ("started", "causal", "fifo", "delivered")


@pytest.mark.long(but=("synchronous", "tree", "mf"))
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_shipped_implementation_conforms(name: str, library: Library) -> None:
    protocol = library(name)
    settings = settings_for(protocol)
    assert (settings.loss, settings.duplication) == (protocol.network.lossy, protocol.network.duplicating)
    report = conform(
        load_subject(SYSTEMS[name]).make_process, Opposite(protocol, "strictly"), settings, Sampling(cases=300, seed=1)
    )
    assert (report.cases, report.failures, report.counterexamples) == (300, 0, ())
    assert [reach.name for reach in report.reaches] == ["directed", "hypothesis", *SCHEDULERS, "guided"]
    assert report.matched >= report.events > (2_500 if name == "synchronous" else 5_000)
    # Newtop withholds what causal delivery alone would let it deliver.
    assert (report.withheld > 0) == settings.total_order
    assert report.arrivals > 0


@pytest.mark.long(but=("2-synchronous", "fifo-synchronous", "2-tree", "5-synchronous"))
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(("channels", "processes"), [("fifo", 3), (None, 2), (None, 5)], ids=["fifo", "2", "5"])
def test_it_conforms_under_other_settings(
    name: str, channels: Literal["fifo"] | None, processes: int, library: Library
) -> None:
    protocol = library(name)
    settings = settings_for(protocol, processes)
    settings = replace(settings, channels=channels or settings.channels, loss=False, duplication=False)
    report = conform(
        load_subject(SYSTEMS[name]).make_process, Opposite(protocol, "strictly"), settings, Sampling(cases=60)
    )
    assert (report.failures, report.counterexamples) == (0, ())


@pytest.mark.parametrize("name", ["mf", "cykas", "hybrid_basic", "hybrid_multicast"])
def test_messages_to_oneself_conform_where_the_protocol_has_them(name: str, library: Library) -> None:
    settings = Settings(self_sends=True, delivery=library(name).delivery)
    report = conform(
        load_subject(SYSTEMS[name]).make_process, Opposite(library(name), "strictly"), settings, Sampling(cases=60)
    )
    assert report.counterexamples == ()


@pytest.mark.long(but=("mf:AckMissing", "mf:NoAckWait", "cbcast:LastProcessForgotten", "ks:LastDestinationForgotten"))
@pytest.mark.parametrize(("name", "fault"), CASES, ids=[f"{p}:{fault.__name__}" for p, fault in CASES])
def test_a_planted_fault_is_caught_and_shortened(name: str, fault: Any, library: Library) -> None:
    expected = EXPECTED[name][fault.__name__]
    settings = settings_under_which(fault, library(name))
    report = conform(fault, Opposite(library(name), "strictly"), settings, Sampling(cases=250))
    found = shortest(report)
    assert expected.keys() <= found.keys()
    assert {kind: found[kind] for kind in expected if found[kind] > expected[kind]} == {}
    assert min(found.values()) <= LONGER_TO_FIND.get(fault.__name__, 6)
    assert report.failures > 0
    for example in report.counterexamples:
        again = run_case(fault, example.operations, settings, Replay(library(name), 3))
        assert set(example.kinds) <= again.kinds
        assert example.reproduced
        assert example.outcome == again


def test_only_faults_that_need_more_take_more_than_six_operations() -> None:
    """Without the replay: a permit or YCT has to be on its way first, or five messages are needed (section 2.3)."""
    longer = {
        fault
        for faults in EXPECTED.values()
        for fault, kinds in faults.items()
        if min([length for kind, length in kinds.items() if kind != "nonconformance"], default=0) > 6
    }
    assert longer == {
        "AnswersEagerSender",
        "TellsTooEarly",
        "PermitTooEarly",
        "AnyAckSlides",
        "NoPermitRequest",
        "SameReceiverForgotten",
        "OneSecretOfEach",
        "AnyYctCounts",
    }


@pytest.mark.long(but=("SecretAsFlag",))
@pytest.mark.parametrize("fault", ["SecretAsFlag", "TellsTwice"])
def test_faults_of_counting_are_causal_in_the_end(fault: str) -> None:
    """They take many messages: the oracle alone finds them rarely, and the replay at once."""
    subject = next(known for known in FAULTS["cykas"] if known.__name__ == fault)
    report = conform(subject, None, Settings(), Sampling(cases=3_000))
    assert "causal" in shortest(report)
    assert report.matched == 0


def test_a_report_does_not_depend_on_anything_but_the_seed(library: Library) -> None:
    def summary(seed: int) -> Any:
        report = conform(MF, Opposite(library("mf")), Settings(), Sampling(cases=80, seed=seed))
        return report.events, report.matched, report.reaches

    assert summary(3) == summary(3) != summary(4)


def test_a_counterexample_reads_well(at_once: Any) -> None:
    report = conform(at_once, None, Settings(), Sampling(cases=100))
    example = report.counterexamples[0]
    assert example.kinds == ("causal", "fifo")
    assert example.operations == (Send(0, 1), Send(0, 1), Receive(1, (0, 1)))
    assert example.text().splitlines() == [
        "  1  p0 sends to p1",
        "  2  p0 sends to p1",
        "  3  p1 receives the 2nd packet from p0",
        "     then everything in flight arrives, oldest first, and timers fire",
        "  => causal, fifo: p1 delivers m0.2 before m0.1 (m0.1 -> m0.2)",
    ]


def test_a_subject_that_hangs_or_crashes_does_not_end_the_run() -> None:
    class Crashes(MF):
        def receive(self, sender: int, packet: Any) -> list[Command]:
            raise KeyError(sender)

    report = conform(Crashes, None, Settings(), Sampling(cases=50))
    assert report.cases == 50
    assert shortest(report) == {"crash": 1}


def test_a_subject_that_does_not_always_do_the_same_is_said_to() -> None:
    calls = 0

    class Sometimes(MF):
        def receive(self, sender: int, packet: Any) -> list[Command]:
            nonlocal calls
            calls += 1
            if calls == 40:
                raise RuntimeError("once")
            return super().receive(sender, packet)

    report = conform(Sometimes, None, Settings(), Sampling(cases=60))
    assert [example.reproduced for example in report.counterexamples] == [False]
    assert "came out otherwise" in report.counterexamples[0].text()
    assert report.failures == 1


def test_an_interruption_keeps_what_there_is(library: Library) -> None:
    def stop(done: int, planned: int) -> None:
        assert planned == 1_000
        if done >= 200:
            raise KeyboardInterrupt

    report = conform(MF, Opposite(library("mf")), Settings(), Sampling(cases=1_000), progress=stop)
    assert report.interrupted
    assert 200 <= report.cases < 1_000


def test_progress_is_told(library: Library) -> None:
    told: list[tuple[int, int]] = []
    conform(
        MF,
        Opposite(library("mf")),
        Settings(),
        Sampling(cases=60),
        progress=lambda done, planned: told.append((done, planned)),
    )
    assert told == [(20, 60), (40, 60), (60, 60)]


def test_the_current_directory_stays_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    conform(MF, None, Settings(), Sampling(cases=40))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("numbers", [{"cases": 0}, {"operations": 0}])
def test_nothing_to_run_is_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least one case of one operation"):
        conform(MF, None, Settings(), Sampling(**numbers))  # type: ignore[arg-type]


class Silent:
    """Takes everything, and hands over nothing."""

    def __init__(self, identity: int, processes: int) -> None:
        pass

    def causal_send(self, destination: int, message: str) -> list[Any]:
        return []

    def receive(self, sender: int, packet: Any) -> list[Any]:
        return []


class Unlabelled(MF):
    """Its packets do not say which message they move."""

    def causal_send(self, destination: int, message: str) -> list[Any]:
        return [_unlabelled(command) for command in super().causal_send(destination, message)]

    def receive(self, sender: int, packet: Any) -> list[Any]:
        return [_unlabelled(command) for command in super().receive(sender, packet.inside)]


@dataclass(frozen=True)
class Envelope:
    inside: Any


def _unlabelled(command: Any) -> Any:
    return replace(command, packet=Envelope(command.packet)) if isinstance(command, SendPacket) else command


def test_that_nothing_is_late_is_not_tested_where_no_arrival_is_seen() -> None:
    prompt = Settings().claiming(("prompt",))
    unseen = conform(Unlabelled, None, prompt, Sampling(cases=20))
    assert (unseen.failures, unseen.arrivals, unseen.vacuous) == (0, 0, "")
    assert unseen.untried["prompt"].startswith("no packet says which message it moves")
    assert "prompt" not in conform(MF, None, prompt, Sampling(cases=20)).untried
    with pytest.raises(SubjectError, match="not judged: prompt: no packet says"):
        plan(Unlabelled, cases=20, claims=("prompt",)).run()


def test_a_total_order_of_messages_with_one_destination_is_not_tested() -> None:
    ordered = Settings(total_order=True)
    assert conform(MF, None, ordered, Sampling(cases=20)).untried["total_order"].startswith("each message has one")


def test_cases_without_a_delivery_say_nothing() -> None:
    """Where delivery is promised its lack is a finding; where it is not, there is no success either."""
    promised = conform(Silent, None, Settings(), Sampling(cases=20))
    assert promised.failures and not promised.interrupted
    unpromised = conform(Silent, None, Settings(delivered=False), Sampling(cases=20))
    assert (unpromised.failures, unpromised.vacuous) == (0, "nothing was delivered in 20 cases")
    assert conform(MF, None, Settings(), Sampling(cases=20)).vacuous == ""
    with pytest.raises(SubjectError, match="not judged: nothing was delivered in 20 cases"):
        plan(Silent, cases=20, delivered=False).run()
    assert plan(Silent, cases=20).run().refutation("delivered") is not None


class Stays:
    """Is never made."""

    def __init__(self, identity: int, processes: int) -> None:
        time.sleep(60)


def test_a_class_that_hangs_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.conformance.conform.trials.LIMIT_S", 0.05)
    report = conform(Stays, None, Settings(), Sampling(cases=500))  # type: ignore[arg-type]
    assert (report.cases, report.failures) == (3, 3)
    assert report.stopped == "3 cases had no end in 0.05 s"
