"""The transitions of the reduction `delay` by the interpreter: see `delay` for the code that does the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from whence.dsl.execute import Sent
from whence.dsl.system import Action, Outcome, State, System
from whence.dsl.values import Message
from whence.proofs.compiled.confluence import Place
from whence.proofs.compiled.inputs import Inputs
from whence.proofs.compiled.lateness import Lateness

Taken: TypeAlias = tuple[list[Action], Outcome]
"""Actions, and what the last of them leads to."""


def put_off(system: System, lateness: Lateness, inputs: Inputs, state: State) -> Iterator[Taken]:
    """What a state leads to: sends one by one, and arrivals and timers after the sends that have to come before.

    Each prefix is given, too: the last action of a prefix may be the one that violates something.
    """
    yield from _arrivals(system, lateness, inputs, [], state, None)
    for process in range(system.workload.processes):
        yield from _chain(system, lateness, inputs, process, [], state)


def _chain(
    system: System, lateness: Lateness, inputs: Inputs, process: int, actions: list[Action], state: State
) -> Iterator[Taken]:
    """Sends of the process, each with what becomes of the packets that it emits."""
    for action in system.application_sends(state):
        if action.process != process:
            continue
        outcome = system.apply(state, action)
        taken = [*actions, action]
        yield taken, outcome
        emitted = {system.packet_number(process, sent) for sent in outcome.emissions if isinstance(sent, Sent)}
        yield from _arrivals(system, lateness, inputs, taken, outcome.state, emitted)
        if outcome.state != state:
            yield from _chain(system, lateness, inputs, process, taken, outcome.state)


def _arrivals(
    system: System, lateness: Lateness, inputs: Inputs, actions: list[Action], state: State, chosen: set[int] | None
) -> Iterator[Taken]:
    """What can happen to the packets chosen; None: to all, and what timers do."""
    for action in system.internal(state):
        if chosen is not None and action.packet not in chosen:
            continue
        taken = [*actions, action]
        yield taken, system.apply(state, action)
        if action.kind in ("receive", "tick"):
            yield from _hurried(system, lateness, inputs, action, actions, state)


def _hurried(
    system: System, lateness: Lateness, inputs: Inputs, action: Action, actions: list[Action], state: State
) -> Iterator[Taken]:
    """The same action after sends of its process that have to come before it."""
    process = action.process
    given = process if action.kind == "tick" else inputs.arrival(action.packet)
    place = Place(process, state.sends[process], state.locals[process])
    for send in system.application_sends(state):
        if send.process != process:
            continue
        message = Message(process, place.sends, send.destinations)
        need = lateness.need(place, inputs.sending(message), given)
        if not any(need):
            continue
        outcome = system.apply(state, send)
        sent = [*actions, send]
        yield sent, outcome
        if action not in system.internal(outcome.state):
            continue  # a timer that fires only while nothing is in flight
        if need.itself:
            yield [*sent, action], system.apply(outcome.state, action)
        if need.further:
            yield from _hurried(system, lateness, inputs, action, sent, outcome.state)
