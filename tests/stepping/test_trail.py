"""The way of a step through the text: the lines that were executed, the conditions that decided, the fault."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.system import System
from thence.stepping.session import Session
from thence.stepping.trail import Decision, Follower, Trail

TEXT = """\
protocol gate:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    open: bool
    kept: queue of message
    left: nat
  procedure pass_on():
    while kept is not empty:
      let m = kept.first
      kept.pop()
      deliver m
  on causal_send(m):
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    kept.push(m)
    if open:
      pass_on()
    else:
      open := true
      left := left + 2
    left := left - 1
  property causal
"""


def gate() -> Session:
    """A run of the protocol above, where nothing has happened."""
    found = load_bytes(Path("gate.thence"), TEXT.encode()).specification
    assert found is not None
    workload = ir.Workload(2, (3, 0), ((1,), ()))
    return Session("gate", found.protocols[0], workload)


def line(text: str) -> int:
    """The number of a line."""
    return next(number for number, each in enumerate(TEXT.split("\n"), 1) if each.strip() == text)


def trails(session: Session) -> list[Trail]:
    follower = Follower.of(session.system)
    states = session.states
    return [follower.trail(state, step.action) for state, step in zip(states, session.steps, strict=False)]


def take(session: Session, title: str) -> None:
    session.take(next(each.number for each in session.choices if each.title.startswith(title)))


def test_the_branch_that_ran_is_there_and_the_other_one_is_not() -> None:
    session = gate()
    for title in ("p0: causal_send", "p1: receive", "p0: causal_send", "p1: receive"):
        take(session, title)
    sent, first, _, second = trails(session)
    assert sent.lines == (line("send MSG(m) to m.dst"),) and sent.decisions == ()
    assert first.handler == (line("on receive MSG(m) from j:"), line("left := left - 1"))
    assert line("open := true") in first.lines and line("pass_on()") not in first.lines
    assert first.decisions == (Decision(line("if open:"), "open", False, (("open", "false"),)),)
    assert second.lines[:3] == (line("kept.push(m)"), line("if open:"), line("pass_on()"))
    assert line("deliver m") in second.lines and line("open := true") not in second.lines
    assert [each.outcome for each in second.decisions] == [True, True, True, False]
    assert second.decisions[1].values == (("kept", "<m0.1, m0.2>"),)


def test_of_a_step_at_fault_the_last_line_is_the_one_at_fault() -> None:
    session = gate()
    for title in ("p0: causal_send", "p1: receive") * 3:
        take(session, title)
    assert session.failed
    last = trails(session)[-1]
    assert last.lines[-1] == line("left := left - 1")
    assert "below zero" in last.fault
    assert last.decisions == ()
    assert trails(session)[1].fault == ""


@pytest.mark.parametrize("name", ["cykas", "mf", "rst", "ses", "tree"])
def test_following_changes_nothing_and_agrees_with_the_guards_that_the_system_observes(name: str) -> None:
    found = load(name).specification
    assert found is not None
    scope = found.scopes[0]
    protocol = next(one for one in found.protocols if one.name == scope.protocol)
    session = Session(protocol.name, protocol, scope.workload)
    draw = random.Random(4)
    for _ in range(25):
        session.take_random(draw)
    before = [step.outcome for step in session.steps]
    follower = Follower.of(session.system)
    other: System = system_of(protocol, scope.workload)
    other.adopt_packets(session.system)
    state = other.initial()
    for step in session.steps:
        trail = follower.trail(state, step.action)
        observed = other.apply(state, step.action, observe=True)
        assert [(each.line, each.outcome) for each in trail.decisions] == [
            (guard.statement.span.line, guard.outcome) for guard in observed.guards
        ]
        assert {each.line for each in trail.decisions} <= {*trail.lines}
        state = observed.state
    assert [step.outcome for step in session.steps] == before


def test_what_the_network_does_has_no_way_through_the_text() -> None:
    found = load("ses").specification
    assert found is not None
    text = TEXT.replace("network reliable, reordering", "network lossy, reordering")
    lossy = load_bytes(Path("gate.thence"), text.encode()).specification
    assert lossy is not None
    session = Session("gate", lossy.protocols[0], ir.Workload(2, (1, 0), ((1,), ()), losses=1))
    take(session, "p0: causal_send")
    take(session, "network: loses")
    assert trails(session)[1] == Trail()
