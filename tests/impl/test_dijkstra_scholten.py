"""Termination detection for diffusing computations."""

from __future__ import annotations

from typing import Any

import pytest

from thence.impl.commands import MustWait, ProtocolError, Send
from thence.impl.dijkstra_scholten import DijkstraScholten, Job, Signal


def test_a_job_that_engages_is_answered_last() -> None:
    root, one = DijkstraScholten(0, 2), DijkstraScholten(1, 2)
    assert root.begin() == [] and root.work(1) == [Send(1, Job())] and root.work(1) == [Send(1, Job())]
    assert root.rest() == [] and not root.ended
    assert one.receive(0, Job()) == []
    assert one.receive(0, Job()) == [Send(0, Signal())]
    assert root.receive(1, Signal()) == [] and not root.ended
    assert one.rest() == [Send(0, Signal())]
    assert root.receive(1, Signal()) == [] and root.ended


def test_who_is_owed_an_answer_stays() -> None:
    one = DijkstraScholten(1, 3, {0, 2})
    assert one.receive(0, Job()) == [] and one.work(2) == [Send(2, Job())]
    assert one.rest() == []
    assert one.receive(2, Job()) == [Send(2, Signal())] and one.active
    assert one.rest() == []
    assert one.receive(2, Signal()) == [Send(0, Signal())]
    assert one.receive(2, Job()) == [], "it is engaged anew"


def test_the_application_waits() -> None:
    root, other = DijkstraScholten(0, 3, {1}), DijkstraScholten(1, 3)
    for wrong in (root.rest, other.begin, lambda: root.work(1)):
        with pytest.raises(MustWait):
            wrong()
    root.begin()
    for wrong in (root.begin, lambda: root.work(2)):
        with pytest.raises(MustWait):
            wrong()
    assert root.work(1) == [Send(1, Job())]


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Signal(), "was given no job"),
        (2, Job(), "not a neighbor"),
        (0, Job(), "not a neighbor"),
        (3, Job(), "not one of"),
        (1, "JOB", "not a packet"),
    ],
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = DijkstraScholten(0, 3, {1})
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert not process.active
