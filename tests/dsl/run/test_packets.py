"""The packets of random runs, in data and in pictures: each is there once, and none arrives before it is sent."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from thence.dsl.find import specification
from thence.dsl.run.narrate import execution
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
from thence.spec.diagram import draw_svg, draw_text, text_without_packets, without_packets
from thence.spec.diagram.layout import place
from thence.spec.events import Execution, Passage, Receive, Send

PROTOCOLS = ("mf", "cykas", "rst", "hybrid_basic", "hybrid_optimal", "fifo", "tree", "cbcast", "newtop")


def random_run(name: str, seed: int) -> Execution:
    loaded = specification(name)
    protocol = loaded.protocols[0]
    own = [scope for scope in loaded.scopes if scope.protocol == protocol.name]
    scope = next(scope for scope in own if max(scope.workload.sends) > 1)
    system = System(protocol, scope.workload)
    return execution(system, simulate(system, seed, 60))


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_packet_is_drawn_once_and_forwards(name: str, seed: int) -> None:
    found = random_run(name, seed)
    control = [packet for packet in found.packets if packet.message is None]
    assert all(packet.arrived is None or packet.sent < packet.arrived for packet in found.packets)
    layout = place(found)
    assert Counter(signal.kind for signal in layout.signals) == Counter(packet.kind for packet in control)
    assert all(signal.end is None or signal.start < signal.end for signal in layout.signals)
    assert all(arrow.end is None or arrow.start.column < arrow.end.column for arrow in layout.arrows)
    drawn = draw_svg(found)
    in_picture = len(re.findall(r'^<path class="packet ', drawn, re.MULTILINE))
    assert in_picture >= len(control) and (not control or "<text" in drawn)
    left = without_packets(drawn)
    assert 'class="packet' not in left and left.count("<rect") == drawn.count("<rect")


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("seed", [4, 5, 6])
def test_every_arrival_of_a_control_packet_is_a_row_of_the_text(name: str, seed: int) -> None:
    found = random_run(name, seed)
    arrived = [packet for packet in found.packets if packet.message is None and packet.arrived is not None]
    drawn = draw_text(found)
    rows = [line for line in drawn.split("\n") if "┄" in line and "control packet" not in line]
    numbers = [int(line.split()[0]) for line in rows]
    assert Counter(numbers) == Counter(packet.arrived for packet in arrived)
    assert numbers == sorted(numbers)
    assert all(max(map(len, rows), default=0) <= 100 for _ in rows)
    heads = [line for line in rows if "▷" in line or "◁" in line]
    assert len(heads) == sum(packet.source != packet.destination for packet in arrived)
    assert text_without_packets(drawn) == draw_text(replace(found, packets=()))


def test_a_message_that_waits_at_its_sender_leaves_later() -> None:
    """MF posts the second message of a process when the first is acknowledged."""
    for seed in range(20):
        layout = place(random_run("mf", seed))
        waits = [one for one in layout.waiting if one.start.kind == "send"]
        if waits:
            assert all(one.end is None or one.end.column > one.start.column for one in waits)
            assert any(arrow.start.kind == "post" for arrow in layout.arrows)
            return
    raise AssertionError("no message waits in twenty runs of MF")


def test_what_is_not_posted_is_not_in_flight() -> None:
    events = (Send(0, "a", (1,)), Send(0, "b", (1,)), Receive(1, "a", 0))
    packets = (Passage("MSG", "a", 0, 1, 1, 3),)
    layout = place(Execution(2, events, steps=(1, 2, 3), packets=packets))
    assert [arrow.message for arrow in layout.arrows] == ["a"]
    assert [(one.start.message, one.end) for one in layout.waiting if one.start.kind == "send"] == [("b", None)]
