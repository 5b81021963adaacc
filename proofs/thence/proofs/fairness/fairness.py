"""The fairness that a protocol's `eventually delivered under fair ...` assumes of a run.

A run is fair if each of its fairness classes that is offered again and again (under weak fairness: from some moment on)
is taken again and again: the arrival of a packet, the application's sends of a process. So every packet of a fair kind
that stays in flight arrives; on FIFO channels, the first packet of each channel. A timer that is fair fires at every
process again and again, at moments that the run chooses: nothing is assumed of the order in which timers fire. Every
timer is fair, unless `under fair` names some of them: then these are, and the others need never fire. Nor need a timer
fire that a program keeps from firing for ever: its step would deliver what the program does not receive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from thence.dsl import ir
from thence.dsl.check.terms.environment import listed
from thence.dsl.run.actions import Action, State
from thence.dsl.run.system import System
from thence.proofs.fairness.fair_cycles import Class

_Offer = TypeVar("_Offer")


@dataclass(frozen=True, slots=True)
class Fairness:
    """What is fair: the kinds of packets that arrive, whether the application sends, the timers, and the inputs."""

    receive: frozenset[str]
    send: bool
    weak: bool
    timers: frozenset[str]
    inputs: tuple[str, ...] = ()

    def class_of(self, system: System, action: Action) -> Class | None:
        """The class of an action; None: fairness does not concern it."""
        match action.kind:
            case "receive":
                asked = system.packet(action.packet).kind in self.receive
                return ("receive", 0, system.same_packet(action.packet)) if asked else None
            case "tick":
                if action.name not in self.timers:
                    return None
                return ("tick", action.process, system.interpreter.timers.index(action.name))
            case "send":
                return ("send", action.process, 0) if self.send else None
            case "input":
                asked = action.name in self.inputs
                return ("input", action.process, self.inputs.index(action.name)) if asked else None
            case _:
                return None


def fairness_of(system: System) -> Fairness:
    """The fairness that the system's protocol assumes.

    Without `under fair`, every packet arrives.
    """
    protocol = system.protocol
    names = set(protocol.fairness) or {"receive"}
    kinds = frozenset(kind.name for kind in protocol.packets)
    receive = kinds if "receive" in names else kinds & names
    return Fairness(receive, system.sends_on, protocol.weakly, frozenset(fair_timers(protocol)), protocol.fair_inputs)


def fair_timers(protocol: ir.Protocol) -> tuple[str, ...]:
    """The timers that are fair: all, or those that `under fair` names, if it names some."""
    named = {timer for timer in protocol.timers if timer in protocol.fairness and timer != ir.PERIODICALLY}
    if not named or ir.PERIODICALLY in protocol.fairness:
        return protocol.timers
    return tuple(timer for timer in protocol.timers if timer in named)


def need_not_happen(system: System, state: State) -> str:
    """What can happen in a state and need not, in words with a full stop: nothing that is fair makes it happen. Empty
    where there is nothing of this kind."""
    fairness = fairness_of(system)
    every = (*system.enabled(state), *system.late_timers(state))
    free = [action for action in every if fairness.class_of(system, action) is None]
    inputs = list(dict.fromkeys(action.name for action in free if action.kind == "input"))
    timers = dict.fromkeys(each.name for each in free if each.kind == "tick" and _changes(system, state, each))
    kinds = dict.fromkeys(system.packet(action.packet).kind for action in free if action.kind == "receive")
    said = [f"the application need not have the input{'s' if inputs[1:] else ''} {listed(inputs)}"] if inputs else []
    sends = any(action.kind == "send" for action in free)
    said += ["the application need not send"] if sends else []
    said += [f"the timer `{timer}` need not fire" for timer in timers]
    said += [f"a packet `{kind}` need not arrive" for kind in kinds]
    if not said:
        return ""
    names = [*inputs, *(["causal_send"] if sends else []), *timers, *kinds]
    fair = ", ".join((*(system.protocol.fairness or ("receive",)), names[0]))
    return f"{'; '.join(said)}. Name what has to happen after `fair`, as in `under fair {fair}`."


def _changes(system: System, state: State, action: Action) -> bool:
    return system.apply(state, action).state != state


def is_decided_at_rest(system: System) -> bool:
    """Whether a fair run that ends does so exactly where nothing is in flight, and no program goes on."""
    protocol = system.protocol
    every = {kind.name for kind in protocol.packets} <= fairness_of(system).receive
    acts = "causal_send" in protocol.fairness or protocol.fair_inputs
    return every and not acts and not system.interpreter.has_timer


def timers_of(system: System) -> frozenset[Class]:
    """The classes of the fair timers, which a fair run takes again and again."""
    places = {timer: place for place, timer in enumerate(system.interpreter.timers)}
    return frozenset(
        ("tick", process, places[timer])
        for timer in fair_timers(system.protocol)
        for process in range(system.workload.processes)
    )


def is_fair_turn(system: System, fairness: Fairness, states: Sequence[State], actions: Sequence[Action]) -> bool:
    """Whether a run that repeats the actions for ever is fair; `states` are those before each action.

    Says by definition what `fair_cycles` searches for.
    """
    required = timers_of(system)
    if system.workload.programs and any(map(system.is_quiet, states)):
        required &= {fairness.class_of(system, tick) for state in states for tick in system.late_timers(state)}
    fired = {fairness.class_of(system, action) for action in actions if action.kind == "tick"}
    arrived = {action.packet for action in actions if action.kind == "receive"}
    sending = {action.process for action in actions if action.kind == "send"}
    given = {fairness.class_of(system, action) for action in actions if action.kind == "input"}
    in_flight = [{n for n in system.receivable(state) if system.packet(n).kind in fairness.receive} for state in states]
    offering = [{action.process for action in system.application_sends(state)} for state in states]

    inputs = [
        {fairness.class_of(system, each) for each in system.application_inputs(state)} - {None} for state in states
    ]

    def served(offers: Sequence[set[_Offer]], taken: set[_Offer]) -> bool:
        return (set.intersection(*offers) if fairness.weak else set[_Offer]().union(*offers)) <= taken

    sends = not fairness.send or served(offering, sending)
    return required <= fired and served(in_flight, arrived) and sends and served(inputs, given)
