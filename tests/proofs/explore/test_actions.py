"""Formulas about actions, held against a walk over every transition, over random protocols."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.proofs.fairness.random_protocols import random_text, random_workload, with_input

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.execute import Delivered
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.stepping.judging import judge
from thence.stepping.session import Session

MOST = 3_000
"""States of a random protocol; larger ones are passed over."""


@dataclass(frozen=True)
class Step:
    """A transition as the test sees it: the state after it, the process, and what it did."""

    states: tuple[LocalState, ...]
    flying: tuple[Packet, ...]
    process: int
    delivered: tuple[Message, ...]
    packet: Packet | None
    entered: bool


Judge = Callable[[Step], Iterator[bool]]
"""The values of a formula in a step: one for each action that it is about."""


def flag(step: Step, process: int) -> bool:
    value = step.states[process][0]
    assert isinstance(value, bool)
    return value


def kept(step: Step, process: int) -> tuple[Message, ...]:
    value = step.states[process][1]
    assert isinstance(value, tuple)
    return value


def deliveries(body: Callable[[Step, Message], bool]) -> Judge:
    return lambda step: (body(step, message) for message in step.delivered)


def arrivals(kind: str, body: Callable[[Step, Packet], bool]) -> Judge:
    def judged(step: Step) -> Iterator[bool]:
        if step.packet is not None and step.packet.kind == kind:
            yield body(step, step.packet)

    return judged


def entries(body: Callable[[Step], bool]) -> Judge:
    return lambda step: iter((body(step),) if step.entered else ())


FORMULAS: tuple[tuple[str, Judge], ...] = (
    ("when p delivers m: false", deliveries(lambda step, m: False)),
    ("when p delivers m: m.dst = p", deliveries(lambda step, m: m.dsts == (step.process,))),
    ("when p delivers m: kept@p is empty", deliveries(lambda step, m: not kept(step, step.process))),
    ("when p delivers m: m not in kept@p", deliveries(lambda step, m: m not in kept(step, step.process))),
    ("when p delivers m: forall q: process. flag@q", deliveries(lambda step, m: flag(step, 0) and flag(step, 1))),
    ("when p delivers m: flag@(m.src)", deliveries(lambda step, m: flag(step, m.src))),
    (
        "when p delivers m: (count MSG(...) in flight. true) = 0",
        deliveries(lambda step, m: all(packet.kind != "MSG" for packet in step.flying)),
    ),
    (
        "when p receives MSG(m) from q: q = m.src",
        arrivals("MSG", lambda step, packet: packet.src == packet.arguments[0].src),
    ),
    (
        "when p receives GO(f) from q: flag@p = f",
        arrivals("GO", lambda step, packet: flag(step, packet.dst) == packet.arguments[0]),
    ),
    (
        "when p receives PING() from q: flag@q or kept@q is empty",
        arrivals("PING", lambda step, packet: flag(step, packet.src) or not kept(step, packet.src)),
    ),
    ("when p receives TRY(...): flag@p", arrivals("TRY", lambda step, packet: flag(step, packet.dst))),
    ("when p does poke(): flag@p", entries(lambda step: flag(step, step.process))),
)


def protocol_of(text: str) -> ir.Protocol:
    loaded = load_bytes(Path("acting.thence"), text.encode())
    assert loaded.specification is not None, [(each.message, each.span.line) for each in loaded.diagnostics]
    return loaded.specification.protocols[0]


def seen(system: System, action: Action, outcome: Outcome) -> Step:
    delivered = tuple(each.message for each in outcome.emissions if isinstance(each, Delivered))
    packet = system.packet(action.packet) if action.kind == "receive" else None
    flying = tuple(system.packet(number) for number in outcome.state.network)
    states = system.locals_of(outcome.state)
    return Step(states, flying, action.process, delivered, packet, action.kind == "input")


def transitions(system: System) -> list[Step]:
    """Every step that can be made in a run; none where there are too many states."""
    met: set[State] = {system.initial()}
    frontier, steps = [*met], list[Step]()
    while frontier:
        for action in list(system.enabled(state := frontier.pop())):
            outcome = system.apply(state, action)
            if any(finding.property == "fault" for finding in outcome.findings):
                continue
            if action.kind not in ("duplicate", "lose"):
                steps.append(seen(system, action, outcome))
            if outcome.state not in met:
                met.add(outcome.state)
                frontier.append(outcome.state)
        if len(met) > MOST:
            return []
    return steps


@pytest.mark.parametrize("seed", range(24))
def test_the_verdicts_are_those_of_a_walk_over_every_transition(seed: int) -> None:
    draw = random.Random(seed)
    text, workload = random_text(draw), random_workload(draw)
    asks = seed % 2 == 1
    if asks:
        text = with_input(text, draw)
        workload = replace(workload, inputs=(ir.InputUse("poke", (1, 1)),))
    steps = transitions(System(protocol_of(text), workload))
    if not steps:
        pytest.skip("too many states")
    stated = [(number, *each) for number, each in enumerate(FORMULAS) if asks or "poke" not in each[0]]
    lines = [f"  invariant a{number}: {formula}" for number, formula, _ in stated]
    lines += [f"  reachable r{number}: {formula}" for number, formula, _ in stated]
    protocol = protocol_of(text.rstrip() + "\n" + "\n".join(lines) + "\n")
    found = explore(protocol, workload, [each.name for each in protocol.invariants])
    assert found.complete
    for number, _, values in stated:
        judged = [value for step in steps for value in values(step)]
        assert (f"a{number}" in found.violations) == (False in judged)
        assert (f"r{number}" in found.violations) == (True in judged)
        assert (f"acts a{number}" in found.never) == (not judged)
    for name, violation in found.violations.items():
        *before, last = [{finding.property for finding in step.outcome.findings} for step in violation.steps]
        assert name in last and not any(name in earlier for earlier in before)
        session = Session("p", protocol, workload)
        session.steps = list(violation.steps)
        answer = judge(session, name)
        assert (answer.standing, answer.step) == ("reached" if name[0] == "r" else "violated", len(violation.steps))


BATCH = """
protocol batch:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    held: queue of message
    given: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    held.push(m)
    if held.size = 2:
      while held is not empty:
        given := given + 1
        deliver held.first
        held.pop()
  invariant after: when p delivers m: held@p is empty and given@p = 2
  invariant each: when p delivers m: m.src = p
  reachable first: when p delivers m: m.dst = p
  reachable between: when p delivers m: given@p = 1

scope two of batch:
  processes 2
  sends 2, 0
"""


def judged(text: str) -> frozenset[str]:
    loaded = load_bytes(Path("batch.thence"), text.encode())
    assert loaded.specification is not None
    protocol, workload = loaded.specification.protocols[0], loaded.specification.scopes[0].workload
    return frozenset(explore(protocol, workload, [each.name for each in protocol.invariants]).violations)


def test_each_delivery_of_a_step_is_judged_by_the_state_after_the_whole_step() -> None:
    assert judged(BATCH) == {"each", "first"}


def test_a_formula_without_a_value_is_violated_and_not_reached() -> None:
    text = BATCH.replace("held@p is empty and given@p = 2", "held@p.first = m")
    assert "after" in judged(text)
    assert "first" not in judged(BATCH.replace("m.dst = p", "held@p.first = m"))


def test_what_is_not_asked_for_is_not_judged_natively() -> None:
    text = BATCH.replace("given@p = 2", "(count MSG(...) in flight. true) = 1")
    loaded = load_bytes(Path("batch.thence"), text.encode())
    assert loaded.specification is not None
    protocol, workload = loaded.specification.protocols[0], loaded.specification.scopes[0].workload
    native = Method(engine="native")
    assert not explore(protocol, workload, ("at_most_once",), method=native).violations
    found = explore(protocol, workload, ("after",), method=native)
    assert found.violations.keys() == explore(protocol, workload, ("after",)).violations.keys() == {"after"}


def test_a_formula_about_actions_keeps_no_state_from_rest() -> None:
    """A timer that delivers again and changes nothing does nothing, whatever is said of its deliveries."""
    text = """
protocol again:
  network reliable, reordering
  message MSG(m: message) carries m
  state: got: option of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: got := some(m)
  periodically:
    if got is not none: deliver got.value
  invariant never: when p delivers m: false
  at rest ended: false

scope one of again:
  processes 2
  sends 1, 0
"""
    for stated in (text, text.replace("  invariant never: when p delivers m: false\n", "")):
        loaded = load_bytes(Path("again.thence"), stated.encode())
        assert loaded.specification is not None
        protocol, workload = loaded.specification.protocols[0], loaded.specification.scopes[0].workload
        assert "ended" in explore(protocol, workload, ("never", "ended")).violations
