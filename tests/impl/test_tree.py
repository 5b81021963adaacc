"""Causal delivery by a tree of FIFO links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.tree import Msg, Tree

STAR = (0, 0, 0, 0)
BRANCHES = (0, 0, 0, 1, 1)
FIGURE_1 = (1, 2, 2, 2)
"""Figure 1, i1 to i4: the root is i3."""


def test_figure_1_the_customer_the_shop_and_the_bank() -> None:
    customer, between, bank, shop = (Tree(identity, 4, FIGURE_1) for identity in range(4))
    credit, buy, debit = Msg("credit", 0, 2), Msg("buy", 0, 3), Msg("debit", 3, 2)
    assert customer.causal_send(2, "credit") == [Send(1, credit)]
    assert customer.causal_send(3, "buy") == [Send(1, buy)]
    assert between.receive(0, credit) == [Send(2, credit)]
    assert between.receive(0, buy) == [Send(2, buy)]
    assert bank.receive(1, credit) == [Deliver(0, "credit")]
    assert bank.receive(1, buy) == [Send(3, buy)]
    assert shop.receive(2, buy) == [Deliver(0, "buy")]
    assert shop.causal_send(2, "debit") == [Send(2, debit)]
    assert bank.receive(3, debit) == [Deliver(3, "debit")]


@pytest.mark.parametrize(
    ("parents", "start", "end", "hop"),
    [
        (None, 0, 3, 1), (None, 3, 0, 2), (None, 1, 2, 2), (STAR, 1, 2, 0), (STAR, 0, 3, 3),
        (BRANCHES, 3, 4, 1), (BRANCHES, 3, 2, 1), (BRANCHES, 0, 4, 1), (BRANCHES, 1, 2, 0), (FIGURE_1, 0, 3, 1),
    ],
)  # fmt: skip
def test_figure_4_the_next_hop(parents: tuple[int, ...] | None, start: int, end: int, hop: int) -> None:
    node = Tree(start, 4 if parents is None else len(parents), parents)
    assert node.causal_send(end, "m") == [Send(hop, Msg("m", start, end))]


@pytest.mark.parametrize(
    "parents", [(0,), (0, 0, 3), (0, 1, 1), (1, 0, 0), (0, 2, 1), (0, "0", 0), (0, 0, 0, 0), (1, 2, 0)]
)
def test_what_is_no_tree(parents: Any) -> None:
    with pytest.raises(ValueError, match=r"parent|root"):
        Tree(0, 3, parents)


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (3, Msg("x", 3, 1), "no neighbour"),
        (1, Msg("x", 0, 2), "no neighbour"),
        (0, Msg("x", 2, 1), "does not come by way of process 0"),
        (0, Msg("x", 0, 0), "comes here"),
        (0, Msg("x", 1, 2), "comes here"),
        (2, Msg("x", 3, 2), "comes back"),
        (0, Msg("x", 4, 1), "no process"),
        (0, Msg("x", 0, None), "no process"),  # type: ignore[arg-type]
        (0, Msg(None, 0, 1), "no message"),
    ],
    ids=str,
)
def test_what_cannot_have_come_that_way(sender: int, packet: Msg, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        Tree(1, 4).receive(sender, packet)


def test_there_is_no_way_to_oneself() -> None:
    with pytest.raises(ValueError, match="itself"):
        Tree(1, 3).causal_send(1, "x")


@pytest.mark.parametrize("parents", [None, STAR, BRANCHES, FIGURE_1], ids=["line", "star", "branches", "figure 1"])
def test_random_networks(simulate: Callable[..., Any], parents: tuple[int, ...] | None) -> None:
    processes = 4 if parents is None else len(parents)
    for seed in range(400):
        outcome = simulate(lambda identity, count: Tree(identity, count, parents), seed, processes=processes, fifo=True)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.delivered == outcome.sent == 12
