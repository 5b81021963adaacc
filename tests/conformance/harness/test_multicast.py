"""Messages to sets of processes and to all: harness, replay, shrinking, recorded cases, campaigns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Hashable, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from faults import cbcast, hybrid_multicast, ks, newtop

from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.cases.schedule import Lose, React, Receive, Schedule, Send
from thence.conformance.cases.shrink import minimise
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_case
from thence.conformance.replay.replay import Replay, delivers_to_senders
from thence.conformance.systems.subject import Subject, SubjectError, load_subject
from thence.dsl import ir
from thence.impl.commands import Command
from thence.impl.commands import Deliver as HandOver
from thence.impl.commands import Send as Transmit
from thence.impl.hybrid_multicast import HybridMulticast
from thence.impl.newtop import Newtop
from thence.spec.events import Deliver
from thence.spec.events import Send as CausalSend

Library = Callable[[str], ir.Protocol]

MULTICAST = Settings(delivery="multicast")
BROADCAST = Settings(delivery="broadcast")


class Plain:
    """A packet with a message and nothing else."""

    kind = "MSG"

    def __init__(self, message: Hashable) -> None:
        self.message = message


class AtOnce:
    """Delivers whatever arrives, and remembers what its application sent where."""

    delivery = "multicast"
    calls: list[Any] = []  # noqa: RUF012  # of all of them: the harness makes its own

    def __init__(self, identity: int, processes: int) -> None:
        self.others = set(range(processes)) - {identity}

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        self.calls.append(destinations)
        return [Transmit(destination, Plain(message)) for destination in sorted(destinations)]

    def receive(self, sender: int, packet: Any) -> list[Command]:
        return [HandOver(sender, packet.message)]


class ToAll(AtOnce):
    delivery = "broadcast"

    def causal_send(self, message: Hashable) -> list[Command]:  # type: ignore[override]
        return super().causal_send(self.others, message)


def test_a_multicast_goes_to_its_destinations_at_once() -> None:
    AtOnce.calls.clear()
    outcome = run_case(AtOnce, (Send(0, (2, 1)), Send(1, 0), Send(2), Send(0, ()), Send(0, (0, 1))), MULTICAST)
    assert AtOnce.calls == [frozenset({1, 2}), frozenset({0}), frozenset({0, 1})]
    assert outcome.operations == (Send(0, (1, 2)), Send(1, (0,)), Send(2, (0, 1)))
    sends = [event for event in outcome.execution.events if isinstance(event, CausalSend)]
    assert [send.destinations for send in sends] == [(1, 2), (0,), (0, 1)]
    assert sum(isinstance(event, Deliver) for event in outcome.execution.events) == 5
    assert outcome.findings == ()


def test_a_broadcast_goes_to_all_others_or_to_all() -> None:
    outcome = run_case(ToAll, (Send(0), Send(1, 2)), BROADCAST)
    assert outcome.operations == (Send(0), Send(1))
    assert [event.destinations for event in outcome.execution.events if isinstance(event, CausalSend)] == [
        (1, 2),
        (0, 2),
    ]
    assert outcome.findings == ()
    told = run_case(ToAll, (Send(0),), replace(BROADCAST, self_sends=True))
    assert [str(finding) for finding in told.findings] == ["stuck: p0 never delivers m0.1"]


def test_each_destination_is_judged() -> None:
    lossy = replace(MULTICAST, loss=True)
    lost = run_case(AtOnce, (Send(0, (1, 2)), Lose(0, (0, 2))), lossy)
    assert [str(finding) for finding in lost.findings] == ["stuck: p2 never delivers m0.1"]
    relayed: Schedule = (Send(0, (1, 2)), Receive(0, (0, 1)), Send(1, (2,)), Receive(0, (1, 2)))
    assert run_case(AtOnce, relayed, MULTICAST).kinds == {"causal"}


def test_an_answer_goes_where_it_is_told() -> None:
    outcome = run_case(AtOnce, (React(1, (0, 2)), Send(0, (1,))), MULTICAST)
    assert outcome.operations == (React(1, (0, 2)), Send(0, (1,)))
    assert [event for event in outcome.execution.events if isinstance(event, CausalSend)][1].destinations == (0, 2)


def test_the_packets_of_a_multicast_are_replayed(library: Library) -> None:
    outcome = run_case(HybridMulticast, (Send(0, (1, 2)),), MULTICAST, Replay(library("hybrid_multicast"), 3))
    assert outcome.findings == ()
    # causal_send and two MSG; each received, acknowledged, delivered; two ACK; two PERMIT sent and received; timers.
    assert outcome.matched == 3 + 2 * 3 + 2 + 2 + 2 + 3
    diverged = run_case(
        hybrid_multicast.MulticastsUnflagged, (Send(0, (1, 2)),), MULTICAST, Replay(library("hybrid_multicast"), 3)
    )
    [finding] = diverged.findings
    assert finding.divergence is not None
    assert finding.divergence.input == "causal_send to p1, p2"
    assert finding.divergence.expected == "sends MSG(m0.1, 1, 0, true) to p1"
    assert finding.divergence.wrong_message == "`per` of the subject's MSG is False, the protocol's is true"


def test_crossing_deliveries_are_a_finding_where_a_total_order_is_promised(library: Library) -> None:
    settings = settings_for(library("newtop"))
    crossed: Schedule = (Send(0), Send(1))
    outcome = run_case(newtop.DoesNotWait, crossed, settings)
    [finding] = outcome.findings
    assert str(finding) == "total_order: p1 delivers m1.1 before m0.1, p0 the other way round"
    assert outcome.execution.events[finding.event_index] == Deliver(finding.process, "m1.1")
    assert run_case(newtop.DoesNotWait, crossed, replace(settings, total_order=False)).findings == ()
    assert run_case(Newtop, crossed, settings).findings == ()


def test_what_a_total_order_withholds_is_counted_and_no_finding(library: Library) -> None:
    settings = settings_for(library("newtop"))
    promised = run_case(Newtop, (Send(0),), settings)
    assert (promised.findings, promised.withheld) == ((), 2)
    assert run_case(Newtop, (Send(0),), replace(settings, total_order=False, prompt=True)).kinds == {"over_delay"}


def test_whether_a_broadcast_is_delivered_at_its_sender_is_seen_in_the_protocol(library: Library) -> None:
    assert delivers_to_senders(library("newtop"))
    assert not delivers_to_senders(library("cbcast"))
    assert not delivers_to_senders(library("cbcast"), 4)


def test_a_multicast_loses_the_destinations_that_are_not_needed() -> None:
    def causal(schedule: Schedule) -> Schedule | None:
        outcome = run_case(ks.MergeDiscarded, schedule, replace(MULTICAST, processes=4))
        return outcome.operations if "causal" in outcome.kinds else None

    relayed: Schedule = (
        Send(3, (0, 1, 2)),
        Send(3, (2,)),
        Receive(0, (3, 2)),
        Receive(0, (3, 2)),
        Send(2, (0, 1)),
        Receive(0, (2, 1)),
        Send(1, (0, 2, 3)),
        Receive(0, (1, 0)),
    )
    assert causal(relayed) is not None
    shortest = minimise(relayed, causal)
    # p2 hears of the first message by the second one, and does not tell p1 of it.
    assert shortest == (Send(0, (1,)), Send(0, (2,)), Receive(0, (0, 2)), Send(2, (1,)), Receive(0, (2, 1)))


@pytest.mark.parametrize(
    ("subject", "settings", "operations"),
    [
        (ks.SenderLeftOut, MULTICAST, (Send(0, (1, 2)), Send(0, (1,)), Receive(1, (0, 1)))),
        (cbcast.SenderLeftOut, BROADCAST, (Send(0), Send(0), Receive(1, (0, 1)))),
    ],
    ids=["multicast", "broadcast"],
)
def test_a_recorded_case_outlives_its_run(subject: Any, settings: Settings, operations: Schedule) -> None:
    outcome = run_case(subject, operations, settings)
    assert "fifo" in outcome.kinds
    name = f"{subject.__module__}:{subject.__name__}"
    recorded = RecordedCase(name, None, settings, outcome.operations)
    again = read_case(recorded.text())
    assert again == recorded
    assert run_case(load_subject(again.system).make_process, again.operations, again.settings) == outcome


def test_a_class_is_driven_as_it_says() -> None:
    subject = load_subject("thence.impl.ks:KS")
    assert subject.delivery == "multicast"
    subject.require(Settings(delivery="multicast"))
    with pytest.raises(SubjectError, match="is a multicast system"):
        subject.require(Settings())
    assert load_subject("thence.impl.mf:MF").delivery == "unicast"
    assert Subject("any", AtOnce, None).require(Settings(delivery="broadcast")) is None  # type: ignore[arg-type,func-returns-value]


def test_a_class_with_another_delivery_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "l2a_anycast.py").write_text(
        "from thence.impl.mf import MF\n\nclass Anycast(MF):\n    delivery = 'anycast'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SubjectError, match="has delivery 'anycast'; it is unicast, multicast, broadcast"):
        load_subject("l2a_anycast:Anycast")


@pytest.mark.parametrize("name", ["ks", "newtop"])
def test_a_campaign_runs_them(name: str) -> None:
    system = {"ks": "thence.impl.ks:KS", "newtop": "thence.impl.newtop:Newtop"}[name]
    run = campaign_runner({"system": system, "protocol": name, "scheduler": "portfolio"})
    outcomes = [run(seed) for seed in range(20)]
    assert all(outcome.findings == () and outcome.events > 0 for outcome in outcomes)
    faulty = campaign_runner({"system": "faults.ks:OwnEntriesDropped", "protocol": "ks"})
    failed = next(outcome for outcome in map(faulty, range(100)) if outcome.findings)
    assert failed.operations_json is not None
    assert json.loads(failed.operations_json)["settings"]["delivery"] == "multicast"
    with pytest.raises(SubjectError, match="unicast system"):
        campaign_runner({"system": "thence.impl.mf:MF", "protocol": name})


@pytest.mark.long
def test_from_the_shell(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("thence")
    faulty = [command, "conform", "ks", "--impl", "faults.ks:OwnEntriesDropped", "--cases", "60"]
    tests = Path(__file__).resolve().parents[2]
    saved = tmp_path / "case.json"
    found = subprocess.run([*faulty, "--save", saved, "--json"], cwd=tests, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    [result] = [each for each in json.loads(found.stdout)["results"] if each["name"] == "causal"]
    assert (result["verdict"], result["settings"]["delivery"]) == ("refuted", "multicast")
    assert any(finding.startswith("causal: ") for finding in result["findings"])
    again = subprocess.run(
        [command, "conform", "--replay", saved, "--trust-file"], cwd=tests, capture_output=True, text=True, check=False
    )
    assert again.returncode == 1, again.stderr
    assert "p0 sends to p1" in again.stdout
    wrong = subprocess.run(
        [command, "conform", "cbcast", "--impl", "thence.impl.mf:MF"], capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, "is a unicast system" in wrong.stderr) == (2, True)
