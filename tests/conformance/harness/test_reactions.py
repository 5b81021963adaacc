"""Sends in reaction to a delivery against a protocol: after the text's statements for it, before its next delivery.

A protocol with reactions conforms to itself, as do right implementations; a reaction that does not know the delivery
is refuted. NOTE(answers) in the interpreter has the meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textbook import vector_clocks

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import React, Receive, Send
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import conform, settings_for
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.implementations import SYSTEMS
from thence.conformance.replay.findings import DELIVERED, SENT, CaseOutcome
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.replay.permissive import PermissiveReplay
from thence.conformance.replay.recordings import ReferenceProtocol, judged
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.foreign import Answered
from thence.conformance.systems.protocol_subject import ProtocolProcess, ProtocolSystem
from thence.conformance.systems.subject import load_subject
from thence.dsl import ir
from thence.dsl.run.execute import Delivered
from thence.dsl.run.interpreter import Cause, Interpreter, Observation
from thence.dsl.run.values import Message, Packet
from thence.impl.commands import Deliver

Library = Callable[[str], ir.Protocol]

SAMPLES = Path(__file__).parents[1] / "replay" / "samples"

BROADCAST = Settings(delivery="broadcast")


@pytest.mark.parametrize(
    ("file", "protocol", "conforms"),
    [
        ("react", "cbcast", "conforming"),
        ("react-noarrivals", "cbcast", "conforming"),
        ("uni2", "cbcast", "nonconforming"),
        ("uni", "rst", "conforming"),
        ("uni", "ses", "conforming"),
    ],
)
def test_recordings_of_reactions(file: str, protocol: str, conforms: str) -> None:
    """In uni2, c overtakes a, which it answers; in react it does not."""
    result = judged(str(SAMPLES / f"{file}.ndjson"), None, ReferenceProtocol(protocol))
    assert (result.facts["conforms"], result.expected) == (conforms, conforms == "conforming")


def test_a_reaction_comes_after_the_statements_of_its_delivery(library: Library) -> None:
    """b waits for a; one arrival delivers both. The clocks of what is sent tell after what."""
    interpreter = Interpreter(library("cbcast"), 3)
    a, b, c = (Message(sender, number, to) for sender, number, to in [(0, 0, (1, 2)), (0, 1, (1, 2)), (1, 0, (0, 2))])
    sender = interpreter.initial(0)
    packets: list[Packet] = []
    for message in (a, b):
        step = interpreter.causal_send(0, sender, message)
        sender = step.state
        packets.append(Packet("MSG", 0, 1, step.emissions[0].arguments))  # type: ignore[union-attr]
    waiting = interpreter.receive(1, interpreter.initial(1), packets[1])
    assert waiting.emissions == ()

    def clock_of_c(reacts_to: Message) -> tuple[list[str], Any]:
        seen = Observation(((reacts_to.name, c),))
        step = interpreter.as_observed(1, waiting.state, packets[0], seen)
        names = [one.message.name if isinstance(one, Delivered) else one.kind for one in step.emissions]
        [first, *_] = [one for one in step.emissions if not isinstance(one, Delivered)]
        return names, dict(first.arguments[1])

    assert clock_of_c(a) == (["m0.1", "MSG", "MSG", "m0.2"], {0: 1, 1: 1})
    assert clock_of_c(b) == (["m0.1", "m0.2", "MSG", "MSG"], {0: 2, 1: 1})
    # The explorer asks another question: a send in the middle of the atomic step, before anything is counted.
    inside = interpreter.receive(1, waiting.state, packets[0], reactions=((0, c),))
    [stale, *_] = [one for one in inside.emissions if not isinstance(one, Delivered)]
    assert dict(stale.arguments[1]) == {1: 1}


class Reacting(ProtocolProcess):
    """The protocol itself; its application reacts to whichever delivery of a step chance says."""

    chance = Random(0)

    def _reacted_to(self, delivered: list[str]) -> str:
        return delivered[-1] if self._interpreter.sends_deliver else self.chance.choice(delivered)


class ReactingSystem(ProtocolSystem):
    process = Reacting


def places(outcome: CaseOutcome) -> set[str]:
    """Where sends stand that come right after a delivery: `between` two deliveries of the process, or `after`."""
    found = set()
    for entry, then, later in zip(outcome.log, outcome.log[1:], (*outcome.log[2:], None), strict=False):
        if (entry[0], then[0]) == (DELIVERED, SENT) and entry[1] == then[1]:
            found.add("between" if later is not None and later[:2] == (DELIVERED, then[1]) else "after")
    return found


@pytest.mark.long(but=("cbcast", "rst", "newtop", "synchronous"))
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_protocol_with_reactions_conforms_to_itself(name: str, library: Library) -> None:
    """In lock step and strictly, and by its events alone."""
    protocol = library(name)
    settings = settings_for(protocol)
    strict, partial = Replay(protocol, 3), PartialObservationReplay(protocol, 3)
    seen: set[str] = set()
    for seed in range(40):
        Reacting.chance.seed(seed)
        scheduler = list(SCHEDULERS.values())[seed % len(SCHEDULERS)]
        outcome = run_scheduled(ReactingSystem(protocol), scheduler, seed, 16, settings, strict)
        assert outcome.findings == (), (seed, [str(finding) for finding in outcome.findings])
        if seed < 12:
            followed = partial.follow(outcome)
            assert followed.findings == (), (seed, [str(finding) for finding in followed.findings])
        seen |= places(outcome)
    if name in ("cbcast", "rst"):
        assert seen == {"between", "after"}


def reacting(make: Any) -> Any:
    """The implementation; its application reacts when a step is over, to the last of its deliveries."""

    class Reacts:
        def __init__(self, identity: int, processes: int) -> None:
            self.inner = make(identity, processes)
            self.delivery = getattr(self.inner, "delivery", "unicast")
            self.armed: list[tuple[Any, ...]] = []

        def react(self, *arguments: Any) -> list[Any]:
            self.armed.append(arguments)
            return []

        def causal_send(self, *arguments: Any) -> list[Any]:
            return self.reacted(self.inner.causal_send(*arguments))

        def receive(self, sender: int, packet: Any) -> list[Any]:
            return self.reacted(self.inner.receive(sender, packet))

        def tick(self) -> list[Any]:
            return self.reacted(self.inner.tick())

        def reacted(self, commands: Any) -> list[Any]:
            commands = list(commands)
            if any(isinstance(command, Deliver) for command in commands):
                armed, self.armed = self.armed, []
                at = max(place for place, command in enumerate(commands) if isinstance(command, Deliver)) + 1
                for arguments in armed:
                    sent = [Answered(arguments[-1]), *self.inner.causal_send(*arguments)]
                    commands[at:at] = sent
                    at += len(sent)
            return commands

    return Reacts


@pytest.mark.long(but=("rst", "fifo"))
@pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in ("synchronous", "newtop")])
def test_a_right_implementation_with_reactions_conforms(name: str, library: Library) -> None:
    """Those that let the application wait, or hand over what is sent at once, have no reactions here."""
    settings = settings_for(library(name))
    make = reacting(load_subject(SYSTEMS[name]).make_process)
    report = conform(make, Opposite(library(name)), settings, Sampling(cases=60))
    assert [str(shown.findings[0]) for shown in report.counterexamples] == []
    assert report.matched > 0


RIGHT = ["ByArrival", "Reversed", "Sorted", "Descending", "BareReversed"]


@pytest.mark.long(but=("Reversed-3", "BareReversed-3"))
@pytest.mark.parametrize("processes", [3, 4])
@pytest.mark.parametrize("name", RIGHT)
def test_a_textbook_broadcast_with_reactions_conforms(name: str, processes: int, library: Library) -> None:
    make = getattr(vector_clocks, name)
    closely: Any = "as observed" if name.startswith("Bare") else "as promised"
    settings = replace(BROADCAST, processes=processes)
    report = conform(make, Opposite(library("cbcast"), closely), settings, Sampling(cases=250))
    assert [str(shown.findings[0]) for shown in report.counterexamples] == []
    assert report.undecided == 0 and report.matched >= report.events


@pytest.mark.parametrize("name", ["CountsTooLate", "BareCountsTooLate"])
def test_a_reaction_that_does_not_know_its_delivery_is_refuted(name: str, library: Library) -> None:
    make = getattr(vector_clocks, name)
    closely: Any = "as observed" if name.startswith("Bare") else "as promised"
    report = conform(make, Opposite(library("cbcast"), closely), BROADCAST, Sampling(cases=150))
    assert {"causal", "nonconformance"} <= {kind for shown in report.counterexamples for kind in shown.kinds}


class TooEarly(Reacting):
    """The protocol, whose application reacts in the middle of the atomic step: with clocks that do not count it."""

    def _step(self, cause: Cause, answered: str, armed: list[Message], _choices: Any) -> Any:
        step = self._interpreter.step(self._identity, self._state, cause)
        names = [one.message.name for one in step.emissions if isinstance(one, Delivered)]
        reactions = tuple((names.index(answered), message) for message in armed)
        return self._interpreter.step(self._identity, self._state, cause, reactions)


class TooEarlySystem(ProtocolSystem):
    process = TooEarly


@pytest.mark.parametrize("name", ["cbcast", "rst", "ses"])
def test_a_text_that_reacts_in_the_middle_of_its_step_is_refuted(name: str, library: Library) -> None:
    protocol = library(name)
    report = conform(TooEarlySystem(protocol), Opposite(protocol), settings_for(protocol), Sampling(cases=150))
    assert {"causal", "nonconformance"} <= {kind for shown in report.counterexamples for kind in shown.kinds}


def test_the_same_case_in_every_way(library: Library) -> None:
    """p1 has b, then a arrives; p1 answers a, before b is handed over."""
    schedule = (Send(0), Send(0), React(1), Receive(1, (0, 1)), Receive(0, (0, 1)))
    for replay in (Replay(library("cbcast"), 3), PermissiveReplay(library("cbcast"), 3)):
        right = run_case(vector_clocks.ByArrival, schedule, BROADCAST, replay)
        wrong = run_case(vector_clocks.CountsTooLate, schedule, BROADCAST, replay)
        assert right.findings == () and places(right) == {"between"}
        assert "nonconformance" in wrong.kinds or "causal" not in wrong.kinds
    assert PartialObservationReplay(library("cbcast"), 3).follow(right).findings == ()
