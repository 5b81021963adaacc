"""Which properties a protocol's declarations let anybody see."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from thence.dsl import ir
from thence.dsl.ir.observability import unobservable, unsaid_kinds
from thence.dsl.load import library, load

Specify = Callable[[str], ir.Specification]

TEXT = """
protocol moves:
  network reliable, reordering
  message MSG(m: message){carries}
  message RELAY(batch: {batch}){relays}
  message ACK(m: message)
  state:
    kept: set of message
    acked: set of message
  on causal_send(m): send {first} to m.dst
  on receive MSG(m) from j:
    send ACK(m) to j
    {taking}
  on receive RELAY(b) from j:
    {relaying}
  on receive ACK(m) from j: acked.add(m)
  periodically:
    for m in kept: deliver m
    kept.clear()
  property causal
"""


def moves(specify: Specify, **parts: str) -> ir.Protocol:
    usual = {"carries": " carries m", "batch": "message", "relays": "", "first": "MSG(m)", "taking": "deliver m"}
    return specify(TEXT.format(**{**usual, "relaying": "pass", **parts})).protocols[0]


def test_an_acknowledgement_names_a_message_and_carries_none(specify: Specify) -> None:
    protocol = moves(specify)
    assert unsaid_kinds(protocol) == ()
    assert unobservable(protocol, "csps") is None


def test_nothing_carries_anything(specify: Specify) -> None:
    protocol = moves(specify, carries="")
    assert [kind.name for kind in unsaid_kinds(protocol)] == ["MSG", "RELAY", "ACK"]
    for name in ("csps", "sps"):
        assert "no packet that is sent says" in str(unobservable(protocol, name))
    for name in ("causal", "fifo", "at_most_once", "no_creation", "total_order", "delivered", "deadlock_free"):
        assert unobservable(protocol, name) is None


def test_what_carries_is_never_sent(specify: Specify) -> None:
    protocol = moves(specify, first="RELAY(m)", relaying="kept.add(b)")
    assert unobservable(protocol, "sps") is not None


@pytest.mark.parametrize(
    ("relaying", "batch"),
    [
        ("deliver b", "message"),
        ("kept.add(b)", "message"),
        ("let x = b\n    kept.add(x)", "message"),
        ("for x in b: deliver x", "queue of message"),
        ("deliver b.first", "queue of message"),
    ],
)
def test_what_is_handed_over_was_moved(specify: Specify, relaying: str, batch: str) -> None:
    first = "RELAY(m)" if batch == "message" else "MSG(m)"
    if batch != "message":
        relaying += "\n    send RELAY(b) to j"
    protocol = moves(specify, first=first, relaying=relaying, batch=batch)
    assert [kind.name for kind in unsaid_kinds(protocol)] == ["RELAY"]


def test_nothing_is_delivered(specify: Specify) -> None:
    text = TEXT.format(
        carries=" carries m", batch="message", relays="", first="MSG(m)", taking="pass", relaying="pass"
    ).replace("for m in kept: deliver m", "pass")
    protocol = specify(text).protocols[0]
    for name in ("causal", "fifo", "at_most_once", "no_creation", "total_order"):
        assert "delivers nothing" in str(unobservable(protocol, name))


def test_everything_that_the_library_claims_can_be_observed() -> None:
    claimed = 0
    for path in library():
        specification = load(str(path)).specification
        assert specification is not None
        for protocol in specification.protocols:
            assert unsaid_kinds(protocol) == ()
            for name in protocol.properties:
                assert unobservable(protocol, name) is None
                claimed += 1
    assert claimed > 100


def test_every_built_in_property_of_what_says_nothing(specify: Specify) -> None:
    """No combination of declarations leaves a property of network sends observable where no packet carries anything."""
    for batch, taking in product(("message", "queue of message", "nat"), ("deliver m", "kept.add(m)")):
        protocol = moves(specify, carries="", batch=batch, taking=taking)
        assert all(unobservable(protocol, name) is not None for name in ("csps", "sps"))
