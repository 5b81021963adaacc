"""Scenarios: what is played is an execution of the protocol; what is said of it is judged where it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.narrate import record, replay
from thence.dsl.run.scenario import Played, play
from thence.dsl.run.system import System
from thence.dsl.write.format import format_source

Library: TypeAlias = Callable[[str], ir.Specification]

PROTOCOL = """\
protocol counted:
  network lossy, duplicating, fifo
  message MSG(m: message, n: nat) carries m
  message ACK(n: nat)
  state:
    sent: nat
    early: queue of message
  on causal_send(m):
    sent := sent + 1
    send MSG(m, sent) to m.dst
  on receive MSG(m, n) from j:
    deliver m
    send ACK(n) to j
  on receive ACK(n) from j:
    early.clear()
  periodically: sent := sent - 1
  property at_most_once

scenario it of counted:
  processes Alice, Bob
"""


def played(steps: str) -> Played:
    """The scenario with these steps, one a line."""
    lines = [f"  {line.strip()}\n" for line in steps.strip().splitlines()]
    loaded = load_bytes(Path("test.thence"), (PROTOCOL + "".join(lines)).encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return play(loaded.specification.scenarios[0])


def failure(steps: str) -> str:
    """Why the last line of the steps, and no earlier one, fails."""
    found = played(steps)
    assert found.failure is not None
    assert found.failure.line == PROTOCOL.count("\n") + len(steps.strip().splitlines())
    return found.failure.why


def test_steps_are_played_in_order_and_called_by_their_names() -> None:
    found = played("""Alice sends first to Bob
                      Bob receives MSG(first, 1) from Alice
                      Alice receives ACK(1) from Bob""")
    assert found.failure is None
    assert [step.title for step in found.steps] == [
        "Alice sends first to Bob",
        "Bob receives MSG(first, 1) from Alice",
        "Alice receives ACK(1) from Bob",
    ]
    assert found.steps[0].details == ("sent: 0 -> 1", "sends MSG(first, 1) to Bob")
    assert found.steps[1].details[0] == "delivers first"
    assert {message.name: name for message, name in found.messages.items()} == {"m0.1": "first"}


def test_the_record_of_a_scenario_replays() -> None:
    found = played("""Alice sends a to Bob
                      network duplicates MSG(a, ...) from Alice to Bob
                      network loses MSG(...) from Alice to Bob
                      Alice ticks
                      Bob receives MSG(a, 1) from Alice""")
    assert found.failure is None
    again = System(found.system.protocol, found.system.workload)
    assert [step.outcome.state for step in replay(again, record(found.system, found.steps))] == [
        step.outcome.state for step in found.steps
    ]


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ("Bob receives MSG(...) from Alice", "in flight: nothing"),
        (
            "Alice sends a to Bob\nAlice sends b to Bob\nBob receives MSG(b, 2) from Alice",
            "another packet is before it",
        ),
        ("Alice sends a to Bob\nAlice sends b to Bob\nBob receives MSG(...) from Alice", "can mean `MSG(m0.1, 1)` or"),
        ("Alice sends a to Bob\nBob receives MSG(a, 2) from Alice", "in flight: `MSG(m0.1, 1)` from Alice to Bob"),
        ("Alice sends a to Bob\nBob cannot receive MSG(a, ...) from Alice", "but it can"),
        ("Alice sends a to Bob\nBob receives MSG(a, 1 - 2) from Alice", "an argument has no value"),
        ("assert sent@Alice = 1", "`sent@Alice = 1` is false here"),
        ("assert early@Alice.first = early@Bob.first", "has no value here"),
        ("Alice sends a to Bob\nassert delivered(a)", "is false here"),
    ],
)
def test_what_is_not_possible_or_not_true_is_said(steps: str, why: str) -> None:
    assert why in failure(steps)


def test_a_fault_leaves_the_state_and_is_found() -> None:
    found = played("""Alice ticks
                      assert sent@Alice = 0""")
    assert found.failure is None
    assert {finding.property for finding in found.violated} == {"fault"}


def test_assertions_know_the_history() -> None:
    found = played("""Alice sends a to Bob
                      assert network_sent(a) and not arrived(a, Bob) and not delivered(a)
                      Bob receives MSG(a, 1) from Alice
                      assert arrived(a, Bob) and delivered(a) and delivered_at(a, Bob) and not delivered_at(a, Alice)
                      Bob sends b to Alice
                      Alice sends c to Bob
                      assert hb(a, b) and hb(a, c) and not hb(b, c) and not hb(c, b)
                      assert forall x, y: message. not (hb(x, y) and hb(y, x))
                      assert 1 = count m: message. delivered(m)""")
    assert found.failure is None
    assert found.assertions == 5


def test_what_its_sender_buffers_and_how_long(library: Library) -> None:
    run = play(next(known for known in library("mf").scenarios if known.name == "mf_figure_6"))
    assert run.buffered == {"y": (2, 4)}
    assert played("Alice sends a to Bob").buffered == {}


def test_happens_before_is_closed_along_deliveries(library: Library) -> None:
    scenario = next(known for known in library("rst").scenarios if known.name == "blog_run")
    found = play(scenario)
    assert found.failure is None
    assert found.assertions == sum(isinstance(step, ir.NamedFormula) for step in scenario.steps) > 10


def test_the_canonical_form_keeps_every_step() -> None:
    source = PROTOCOL + (
        "  Alice  sends a to Bob   # first\n  network loses MSG( ... ) from Alice to Bob\n"
        "  assert not(delivered(a))\n  Bob cannot receive ACK(1,...) from Alice\n  expect holds at_most_once\n"
    )
    text, diagnostics = format_source(source, "test.thence")
    assert not diagnostics
    assert text is not None
    assert text.splitlines()[-5:] == [
        "  Alice sends a to Bob    # first",
        "  network loses MSG(...) from Alice to Bob",
        "  assert not delivered(a)",
        "  Bob cannot receive ACK(1, ...) from Alice",
        "  expect holds at_most_once",
    ]
    assert format_source(text, "test.thence")[0] == text


TIMED = PROTOCOL.replace("  periodically:", "  periodically down:")


def timed(step: str) -> list[str]:
    """The faults of a scenario with this step, or why it fails."""
    loaded = load_bytes(Path("test.thence"), f"{TIMED}  Alice sends m to Bob\n  {step}\n".encode())
    if loaded.specification is None:
        return [diagnostic.message for diagnostic in loaded.diagnostics]
    (scenario,) = loaded.specification.scenarios
    failed = play(scenario).failure
    return [] if failed is None else [failed.why]


def test_a_timer_with_a_name_ticks_by_its_name() -> None:
    assert timed("Alice ticks down") == []
    assert timed("Alice ticks") == ["the timers of `counted` have names: write `ticks down`"]
    assert timed("Alice ticks up") == ["`counted` has no timer `up`"]


ASKED = """\
protocol asked:
  message ASK(k: nat)
  state: busy: bool
  on ask(k: nat) when not busy:
    busy := true
    for p in process: send ASK(k) to p
  on receive ASK(k) from j: pass

scenario it of asked:
  processes Alice, Bob
"""


def asked(*steps: str) -> list[str]:
    """The faults of a scenario with these steps, or why it fails."""
    text = ASKED + "".join(f"  {step}\n" for step in steps)
    loaded = load_bytes(Path("test.thence"), text.encode())
    if loaded.specification is None:
        return [diagnostic.message for diagnostic in loaded.diagnostics]
    failed = play(loaded.specification.scenarios[0]).failure
    return [] if failed is None else [failed.why]


def test_an_input_is_a_step_with_any_arguments() -> None:
    assert asked("Alice does ask(70)", "Bob receives ASK(70) from Alice", "assert busy@Alice and not busy@Bob") == []
    assert asked("Alice does ask(1)", "Alice does ask(2)") == ["`Alice does ask(2)` is not possible here"]
    assert asked("Alice does beg(1)") == ["`asked` has no input `beg`"]
