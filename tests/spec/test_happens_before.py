"""Happens-before: Figure 1 of Almeida, and the errors."""

from __future__ import annotations

import pytest

from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.happens_before import HappensBefore


def test_figure_1_of_almeida() -> None:
    """A message that was received, but not delivered, before c is causal-sent does not happen before c."""
    relation = HappensBefore(
        Execution(
            3,
            (
                Send(0, "a", (2,)),
                Send(1, "b", (2,)),
                Receive(2, "a", 0),
                Deliver(2, "a"),
                Receive(2, "b", 1),
                Send(2, "c", (0,)),
                Deliver(2, "b"),
            ),
        )
    )
    assert relation.before("a", "c")
    assert not relation.before("b", "c")
    assert not relation.before("c", "a")
    assert list(relation.past("c")) == ["a"]
    assert relation.chain("a", "c") == ("a", "c")
    assert relation.chain("b", "c") == ()


def test_the_chain_is_a_shortest_one() -> None:
    relation = HappensBefore(
        Execution(
            3,
            (
                Send(0, "a", (2,)),
                Send(0, "b", (1,)),
                Send(0, "c", (1,)),
                Deliver(1, "b"),
                Deliver(1, "c"),
                Send(1, "d", (2,)),
                Send(1, "e", (2,)),
            ),
        )
    )
    assert len(relation.chain("a", "e")) == 3
    assert list(relation.past("e")) == ["a", "b", "c", "d"]


def test_a_second_delivery_adds_nothing() -> None:
    relation = HappensBefore(Execution(2, (Send(0, "a", (1,)), Deliver(1, "a"), Deliver(1, "a"), Send(1, "b", (0,)))))
    assert relation.chain("a", "b") == ("a", "b")


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ((Deliver(0, "a"),), "delivered before it is sent"),
        ((Send(0, "a", (1,)), Send(1, "a", (0,))), "sent a second time"),
        ((Send(4, "a", (1,)),), "no process 4"),
    ],
)
def test_what_is_not_an_execution(events: tuple[Event, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        HappensBefore(Execution(2, events))
