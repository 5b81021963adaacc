"""What is no event of a run, in pictures: timers that change something, losses and duplicates."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from thence.dsl.load import load_bytes
from thence.dsl.run.narrate import execution
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
from thence.spec.diagram import draw_svg, draw_text, text_without_packets
from thence.spec.events import Aside, Execution, Input, Passage, Send

TEXT = """
protocol beats:
  network lossy, duplicating, reordering
  message ASK(k: nat)
  message MSG(m: message)
  state:
    asked: nat
    beats: nat
  on causal_send(m): send MSG(m) to m.dst
  on ask(): for p in process: if p != self: send ASK(1) to p
  on receive MSG(m) from j: deliver m
  on receive ASK(k) from j: asked := asked + 1
  periodically beat: beats := beats + 1
  periodically rest: asked := asked

scope s of beats:
  processes 3
  sends 1
  ask 1, 1, 0
  losses 2
  duplicates 2
  ticks 1
"""


@pytest.mark.parametrize("seed", range(20))
def test_no_step_that_changes_something_is_missing(seed: int) -> None:
    """Each step is a row of its number, but for timers that change nothing; a duplicated or lost packet is named."""
    loaded = load_bytes(Path("beats.thence"), TEXT.encode())
    assert loaded.specification is not None, loaded.diagnostics
    (protocol,) = loaded.specification.protocols
    system = System(protocol, loaded.specification.scopes[0].workload)
    steps = simulate(system, seed, 25)
    found = execution(system, steps)
    drawn = draw_text(found)
    rows = {int(number): row for number, row in re.findall(r"^ *(\d+)  (.*)$", drawn, re.MULTILINE)}
    before = system.initial()
    silent = set()
    for number, step in enumerate(steps, 1):
        if step.action.kind == "tick" and step.outcome.state.locals == before.locals and number < len(steps):
            silent.add(number)
        before = step.outcome.state
    assert list(rows) == [number for number in range(1, len(steps) + 1) if number not in silent]
    kinds = {"tick": "◆", "lose": "✗", "duplicate": "⊕"}
    for number, row in rows.items():
        sign = kinds.get(steps[number - 1].action.kind)
        assert {each for each in "◆✗⊕" if each in row} == ({sign} if sign else set()), row
    svg = draw_svg(found)
    told = Counter(aside.kind for aside in found.asides)
    assert svg.count('-5 -6Z"/>') == told["timer"] + bool(told["timer"])
    assert svg.count('m0 -3l6 6m0 -6l-6 6"/>') == told["lost"] + bool(told["lost"])
    assert svg.count('h6m-3 -3v6"/>') == told["duplicated"] + bool(told["duplicated"])


def test_a_run_of_timers_only_is_drawn() -> None:
    found = Execution(2, (), asides=(Aside("timer", "beat", None, 1, 1, 1, -1),))
    assert draw_text(found) == "    p0              p1\n 1  │               ◆beat\n\n◆ timer\n"
    assert ">beat</text>" in draw_svg(found) and ">timer</text>" in draw_svg(found)


def test_what_is_repeated_stands_below_the_rule() -> None:
    """The first of what is repeated need be no event."""
    found = Execution(
        2, (Input(0, "ask", ()), Input(1, "ask", ())), steps=(1, 5),
        packets=(Passage("ASK", None, 0, 1, 1, 2), Passage("ASK", None, 0, 1, 1, 4)),
        asides=(Aside("timer", "beat", None, 1, 1, 3, -1),),
    )  # fmt: skip
    for first in (1, 2, 3, 4, 5):
        lines = draw_text(found, repeats_from=first).splitlines()
        assert [number for number, line in enumerate(lines[1:], 1) if "for ever:" in line] == [first], lines
    assert "for ever" in draw_svg(found, repeats_from=3)


def test_a_lost_message_is_no_control_packet() -> None:
    asides = (Aside("lost", "MSG", "m0.1", 0, 1, 2, -1), Aside("duplicated", "ACK", None, 1, 0, 3, -1))
    found = Execution(2, (Send(0, "m0.1", (1,)),), steps=(1,), asides=asides)
    drawn = draw_text(found)
    assert [line for line in drawn.splitlines() if line.startswith((" 2", " 3"))] == [
        " 2  │─────m0.1─────✗│", " 3  │⊕┄┄┄┄┄ACK┄┄┄┄┄┄│",
    ]  # fmt: skip
    assert "m0.1─────✗" in text_without_packets(drawn) and "ACK" not in text_without_packets(drawn)
