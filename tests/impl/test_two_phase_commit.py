"""Two-phase commit, by itself."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import MustWait, ProtocolError, Send
from thence.impl.two_phase_commit import Packet, TwoPhaseCommit

REQUEST, AGREE, REFUSE = Packet("REQUEST"), Packet("AGREE"), Packet("REFUSE")
COMMIT, ABORT, ACK = Packet("COMMIT"), Packet("ABORT"), Packet("ACK")


def group() -> tuple[TwoPhaseCommit, TwoPhaseCommit, TwoPhaseCommit]:
    return TwoPhaseCommit(0, 3), TwoPhaseCommit(1, 3), TwoPhaseCommit(2, 3)


def ask(participant: TwoPhaseCommit, *, yes: bool) -> list[Send]:
    assert participant.receive(0, REQUEST) == []
    return participant.vote(yes)


def agreed() -> tuple[TwoPhaseCommit, TwoPhaseCommit, TwoPhaseCommit]:
    """A group in which the coordinator has heard from both participants that they agree, and its COMMITs are lost."""
    coordinator, one, two = group()
    assert coordinator.begin() == [Send(1, REQUEST), Send(2, REQUEST)]
    assert ask(one, yes=True) == ask(two, yes=True) == [Send(0, AGREE)]
    assert coordinator.receive(1, AGREE) == []
    assert coordinator.receive(2, AGREE) == [Send(1, COMMIT), Send(2, COMMIT)]
    return coordinator, one, two


def test_all_agree() -> None:
    coordinator, one, two = agreed()
    assert (coordinator.verdict, one.verdict, one.in_doubt) == ("COMMIT", None, True)
    assert one.receive(0, COMMIT) == two.receive(0, COMMIT) == [Send(0, ACK)]
    assert (one.verdict, one.in_doubt) == ("COMMIT", False)
    assert coordinator.receive(1, ACK) == []
    assert coordinator.tick("retransmit") == [Send(2, COMMIT)]
    assert two.receive(0, COMMIT) == [Send(0, ACK)]
    assert coordinator.receive(2, ACK) == coordinator.tick("retransmit") == []
    assert coordinator.complete


def test_one_refuses() -> None:
    coordinator, one, two = group()
    coordinator.begin()
    assert ask(one, yes=False) == [Send(0, REFUSE)]
    assert coordinator.receive(1, REFUSE) == [Send(1, ABORT), Send(2, ABORT)]
    assert two.receive(0, ABORT) == [Send(0, ACK)]
    assert two.receive(0, REQUEST) == [Send(0, REFUSE)]
    assert coordinator.receive(2, REFUSE) == []
    assert coordinator.verdict == one.verdict == two.verdict == "ABORT"


def test_who_has_answered_is_not_asked_again() -> None:
    coordinator, one, _ = group()
    coordinator.begin()
    assert ask(one, yes=True) == [Send(0, AGREE)]
    assert one.receive(0, REQUEST) == []
    with pytest.raises(MustWait):
        one.vote(False)
    one.receive(0, ABORT)
    assert one.receive(0, REQUEST) == []


def test_one_does_not_answer() -> None:
    coordinator, one, _ = group()
    assert coordinator.tick("time_limit") == coordinator.tick("retransmit") == []
    coordinator.begin()
    ask(one, yes=True)
    assert coordinator.receive(1, AGREE) == one.tick("time_limit") == []
    assert coordinator.tick("time_limit") == [Send(1, ABORT), Send(2, ABORT)]
    assert coordinator.tick("time_limit") == coordinator.receive(2, AGREE) == []
    assert one.receive(0, ABORT) == [Send(0, ACK)]
    with pytest.raises(ValueError, match="no timer"):
        coordinator.tick("periodically")


def test_a_commit_outlives_failures() -> None:
    coordinator, one, two = agreed()
    assert coordinator.fail() == one.fail() == []
    assert coordinator.receive(1, AGREE) == coordinator.tick("retransmit") == []
    assert one.receive(0, COMMIT) == []
    assert coordinator.restart() == [Send(1, COMMIT), Send(2, COMMIT)]
    assert one.restart() == []
    assert one.in_doubt and two.in_doubt
    assert one.receive(0, COMMIT) == [Send(0, ACK)]


def test_without_a_verdict_on_the_log_a_restart_aborts() -> None:
    coordinator, one, two = group()
    coordinator.begin()
    ask(one, yes=True)
    coordinator.receive(1, AGREE)
    coordinator.fail()
    two.fail()
    assert coordinator.restart() == [Send(1, ABORT), Send(2, ABORT)]
    assert two.restart() == [Send(0, REFUSE)]
    assert (one.verdict, two.verdict) == (None, "ABORT")


def test_a_complete_transaction_is_not_told_again() -> None:
    coordinator, _, _ = agreed()
    coordinator.receive(1, ACK)
    coordinator.receive(2, ACK)
    coordinator.fail()
    assert coordinator.restart() == []
    assert coordinator.complete


@pytest.mark.parametrize(
    "had",
    [
        lambda coordinator, one: one.begin(),
        lambda coordinator, one: one.vote(True),
        lambda coordinator, one: coordinator.vote(False),
        lambda coordinator, one: one.restart(),
        lambda coordinator, one: (coordinator.begin(), coordinator.begin()),
        lambda coordinator, one: (one.fail(), one.fail()),
        lambda coordinator, one: (coordinator.fail(), coordinator.begin()),
        lambda coordinator, one: (coordinator.fail(), coordinator.restart(), coordinator.begin()),
        lambda coordinator, one: (one.receive(0, REQUEST), one.fail(), one.restart(), one.vote(True)),
    ],
)
def test_what_the_application_cannot_have(had: Callable[[TwoPhaseCommit, TwoPhaseCommit], Any]) -> None:
    coordinator, one, _ = group()
    with pytest.raises(MustWait):
        had(coordinator, one)


@pytest.mark.parametrize(
    ("identity", "sender", "packet", "reason"),
    [
        (0, 1, COMMIT, "sends process 0 COMMIT"),
        (1, 0, AGREE, "sends process 1 AGREE"),
        (1, 2, COMMIT, "sends process 1 COMMIT"),
        (0, 0, ACK, "sends process 0 ACK"),
        (1, 1, ABORT, "sends process 1 ABORT"),
        (1, 0, COMMIT, "has not agreed"),
        (0, 1, ACK, "there is none"),
        (0, 3, ACK, "not one of"),
        (0, 1, Packet("PREPARE"), "not a packet"),
        (0, 1, None, "not a packet"),
    ],
)
def test_what_no_correct_peer_sends(
    identity: int, sender: int, packet: Any, reason: str, snapshot: Callable[[Any], Any]
) -> None:
    process = TwoPhaseCommit(identity, 3)
    before = snapshot(process)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert snapshot(process) == before


def test_a_verdict_is_never_another(snapshot: Callable[[Any], Any]) -> None:
    _, one, _ = agreed()
    one.receive(0, COMMIT)
    before = snapshot(one)
    with pytest.raises(ProtocolError, match="COMMIT is on the log"):
        one.receive(0, ABORT)
    assert snapshot(one) == before


def random_run(seed: int) -> tuple[set[str | None], bool]:
    """The verdicts of a group in which everything goes wrong for a while, and then nothing; and whether all agreed."""
    choice = random.Random(seed)
    processes = choice.randrange(2, 6)
    everybody = [TwoPhaseCommit(identity, processes) for identity in range(processes)]
    voters: set[int] = set()
    flight: list[tuple[int, Send]] = []

    def had(process: int, name: str, *arguments: bool) -> None:
        try:
            flight.extend((process, each) for each in getattr(everybody[process], name)(*arguments))
        except MustWait:
            return
        if arguments == (True,):
            voters.add(process)

    def arrive(place: int) -> None:
        sender, sent = flight.pop(place)
        flight.extend((sent.destination, each) for each in everybody[sent.destination].receive(sender, sent.packet))

    had(0, "begin")
    for _ in range(choice.randrange(60)):
        process, place = choice.randrange(processes), choice.randrange(len(flight)) if flight else 0
        match choice.choice(["fail", "restart", "vote", "vote", "tick", "lose", "copy", *["arrive"] * 6]):
            case "vote":
                had(process, "vote", choice.random() < 0.9)
            case "tick":
                flight += [
                    (process, each) for each in everybody[process].tick(choice.choice(["time_limit", "retransmit"]))
                ]
            case "lose" if flight:
                flight.pop(place)
            case "copy" if flight:
                flight.append(flight[place])
            case "arrive" if flight:
                arrive(place)
            case "fail" | "restart" as name:
                had(process, name)
            case _:
                continue
    for process in range(processes):
        had(process, "restart")
    had(0, "begin")
    for timer in ("time_limit", "retransmit"):
        flight += [(0, each) for each in everybody[0].tick(timer)]
        while flight:
            arrive(0)
    assert everybody[0].complete
    return {each.verdict for each in everybody}, voters == set(range(1, processes))


def test_random_networks() -> None:
    """All reach the same verdict once nothing goes wrong any more, and commit only where all have agreed."""
    seen: Counter[str] = Counter()
    for seed in range(2000):
        verdicts, unanimous = random_run(seed)
        [verdict] = verdicts
        assert verdict == "ABORT" or unanimous
        seen[f"{verdict} {unanimous}"] += 1
    assert set(seen) == {"COMMIT True", "ABORT True", "ABORT False"}
