"""A packet whose `message` is not the protocol's is named as such."""

from __future__ import annotations

from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Send
from thence.conformance.harness.harness import run_case
from thence.conformance.replay.replay import Replay
from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.parse import parse
from thence.impl.commands import Deliver as HandOver
from thence.impl.commands import Send as Transmit

TEXT = """\
protocol simple:
  network reliable, reordering
  message MSG(m: message) carries m
  message ACK()
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m; send ACK() to j
  on receive ACK() from j: pass
"""


SCHEDULE = (Send(0, 1), Send(0, 1), Receive(1, (0, 1)))


class Packet:
    """Of a kind, with a body that the receiver reads."""

    def __init__(self, kind: str, body: Any) -> None:
        self.kind = kind
        self.body = body


class Carrying(Packet):
    @property
    def message(self) -> Any:
        return self.body


class Raising(Packet):
    @property
    def message(self) -> Any:
        return self.payload  # type: ignore[attr-defined]


class Fixed(Packet):
    """Its `message` has nothing to do with the body."""

    fixed: Any = None

    @property
    def message(self) -> Any:
        return self.fixed


def fixed(value: Any) -> type[Packet]:
    return type("Packet", (Fixed,), {"fixed": value})


def finding(message: type[Packet], acknowledgement: type[Packet] = Carrying) -> str | None:
    class System:
        def __init__(self, identity: int, processes: int) -> None:
            del identity, processes

        def causal_send(self, destination: int, name: str) -> list[Any]:
            return [Transmit(destination, message("MSG", name))]  # type: ignore[arg-type]

        def receive(self, sender: int, packet: Packet) -> list[Any]:
            if packet.kind == "ACK":
                return []
            back = acknowledgement("ACK", None)
            return [HandOver(sender, packet.body), Transmit(sender, back)]  # type: ignore[arg-type]

    tree, _ = parse(TEXT, "x.thence")
    assert tree is not None
    specification, _ = elaborate(tree, "x.thence")
    assert specification is not None
    replay = Replay(specification.protocols[0], 2)
    outcome = run_case(System, SCHEDULE, Settings(processes=2), replay)
    found = [one.divergence for one in outcome.findings if one.kind == "nonconformance"]
    if not found:
        return None
    assert found[0] is not None
    assert found[0].wrong_message is None or found[0].lines()[-1] == found[0].wrong_message
    return found[0].wrong_message or "something else"


def test_a_packet_with_its_message_conforms() -> None:
    assert finding(Carrying) is None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (Packet, "is missing; the protocol's packet moves m0.1"),
        (Raising, "raises AttributeError"),
        (fixed(None), "is None; the protocol's packet moves m0.1"),
        (fixed(7), "is 7, which is no message of the application; the protocol's packet moves m0.1"),
        (fixed((0, "m0.1")), "which is no message of the application"),
        (fixed("m0.1x"), "is m0.1x, which is no message of the application"),
        (fixed("m0.1"), "is m0.1; the protocol's packet moves m0.2"),
    ],
)
def test_a_wrong_message_is_named(message: type[Packet], said: str) -> None:
    found = finding(message)
    assert found is not None and found.startswith("the packet's `message` ") and said in found


def test_a_packet_that_moves_none_has_none() -> None:
    found = finding(Carrying, fixed("m0.1"))
    assert found == (
        "the packet's `message` is m0.1; the protocol's packet moves no message, and its `message` is None"
    )


def test_another_difference_is_not_blamed_on_the_message() -> None:
    class Other(Carrying):
        def __init__(self, kind: str, body: Any) -> None:
            super().__init__("ACK" if kind == "MSG" else kind, body)

    assert finding(Other) == "something else"
