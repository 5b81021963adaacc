"""Runs of a system as people read them: named steps with only what changed, and as an execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED
from thence.dsl.ir.types import Type
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.quiescence import Unsettled, blocked, completed, stuck, unkept
from thence.dsl.run.system import System
from thence.dsl.run.values import Packet, show
from thence.spec.events import Aside, Deliver, Event, Execution, Input, Passage, Receive, Send
from thence.spec.user_error import UserError


@dataclass(frozen=True, slots=True)
class NarratedStep:
    """One step of a run: its name, what it changed and emitted as lines, and the outcome. `chosen`: those of the lines
    that say what it chose."""

    title: str
    details: tuple[str, ...]
    action: Action
    outcome: Outcome
    chosen: tuple[str, ...] = ()


class ReplayError(UserError, ValueError):
    """A recorded run does not fit the protocol: some step is not possible where it stands."""


def run(system: System, actions: Sequence[Action], *, observe: bool = False) -> Iterator[NarratedStep]:
    """Runs the actions from the initial state through the interpreter."""
    state = system.initial()
    for action in actions:
        outcome = system.apply(state, action, observe=observe)
        yield narrate(system, state, action, outcome)
        state = outcome.state


def narrate(system: System, before: State, action: Action, outcome: Outcome) -> NarratedStep:
    """Names a step and says what it changed."""
    chosen = tuple(_chosen(system, before, action))
    details = (*chosen, *_details(system, before, action, outcome))
    return NarratedStep(_title(system, action, outcome), details, action, outcome, chosen)


def show_packet(system: System, packet: Packet | Sent) -> str:
    """`KIND(arguments)`."""
    kinds = {kind.name: [parameter.type for parameter in kind.parameters] for kind in system.protocol.packets}
    return f"{packet.kind}({_arguments(packet.arguments, kinds[packet.kind])})"


def show_input(system: System, action: Action) -> str:
    """`INPUT(arguments)`."""
    handler = next(each for each in system.protocol.inputs if each.kind == action.name)
    return f"{action.name}({_arguments(action.arguments, [parameter.type for parameter in handler.parameters])})"


def _arguments(values: Sequence[Any], types: Sequence[Type]) -> str:
    return ", ".join(show(value, type_) for value, type_ in zip(values, types, strict=True))


def _title(system: System, action: Action, outcome: Outcome) -> str:
    process = f"p{action.process}"
    match action.kind:
        case "send":
            assert outcome.subject is not None
            to = ", ".join(f"p{destination}" for destination in action.destinations) or "nobody"
            return f"{process}: causal_send({outcome.subject.name}) to {to}"
        case "tick":
            named = "" if action.name == ir.PERIODICALLY else f" {action.name}"
            return f"{process}: periodically{named}"
        case "input":
            return f"{process}: {show_input(system, action)}"
    packet = system.packet(action.packet)
    shown = show_packet(system, packet)
    match action.kind:
        case "receive":
            return f"p{packet.dst}: receive {shown} from p{packet.src}"
        case "duplicate":
            return f"network: duplicates {shown} from p{packet.src} to p{packet.dst}"
        case _:
            return f"network: loses {shown} from p{packet.src} to p{packet.dst}"


def _chosen(system: System, before: State, action: Action) -> Iterator[str]:
    for choice in system.chosen(before, action):
        if choice.type is None:
            yield f"takes branch {choice.value} of `either`"
        else:
            yield f"chooses {choice.name} = {show(choice.value, choice.type)}"


def _details(system: System, before: State, action: Action, outcome: Outcome) -> Iterator[str]:
    old = system.local(before.locals[action.process])
    new = system.local(outcome.state.locals[action.process])
    for variable, was, now in zip(system.protocol.state, old, new, strict=True):
        if was != now:
            yield f"{variable.name}: {show(was, variable.type)} -> {show(now, variable.type)}"
    for emission in outcome.emissions:
        match emission:
            case Sent(to=to):
                yield f"sends {show_packet(system, emission)} to p{to}"
            case Delivered(message, then) if then is not None:
                others = ", ".join(f"p{destination}" for destination in then.dsts) or "nobody"
                yield f"delivers {message.name}, and inside the delivery: causal_send({then.name}) to {others}"
            case Delivered(message):
                yield f"delivers {message.name}"
    of_steps = system.of_steps - {*system.protocol.witnesses}
    claimed = {*system.protocol.properties, *system.protocol.liveness, *of_steps, "fault"}
    for finding in outcome.findings:
        if finding.property in claimed:
            yield f"VIOLATES {finding.property}: {describe(finding)}"


def describe(finding: Finding) -> str:
    """The violation, in a sentence without its full stop."""
    where, message = f"p{finding.process}", finding.message
    if message is None or finding.detail:
        return finding.detail
    match finding.property:
        case "causal" | "fifo" if finding.missing is not None:
            past = "its sender sent first" if finding.property == "fifo" else "is in its causal past"
            return f"{where} delivers {message.name} before {finding.missing.name}, which {past}"
        case "causally_ordered":
            return f"{where} delivers {message.name} after a message that {message.name} happened before"
        case "total_order" if finding.missing is not None:
            return f"{where} delivers {message.name} after {finding.missing.name}, another process before it"
        case "csps" | "sps" if finding.missing is not None:
            known = f"{finding.missing.name}, in its causal past,"
            return f"{where} network-sends {message.name} while {known} is undelivered"
        case "at_most_once":
            return f"{where} delivers {message.name} again"
        case "no_creation":
            return f"{where} delivers {message.name}, which was not sent to it"
        case _:
            return f"nothing is in flight, and {where} never delivers {message.name}"


def execution(system: System, steps: Sequence[NarratedStep]) -> Execution:
    """The run as an outside observer sees it: sends, arrivals of messages, deliveries; and what else the steps did.

    Where an identity is used again, the second message that has it is `m0.1/2`, and so on.
    """
    uses: dict[str, int] = {}

    def named(event: Event) -> Event:
        if isinstance(event, Input):
            return event
        if isinstance(event, Send):
            uses[event.message] = uses.get(event.message, 0) + 1
        use = uses.get(event.message, 1)
        return event if use == 1 else replace(event, message=f"{event.message}/{use}")

    seen = [(named(event), number) for number, step in enumerate(steps, 1) for event in events_of(system, step)]
    flights = flights_of(system, steps)
    packets = () if max(uses.values(), default=1) > 1 else tuple(flight.passage for flight in flights)
    events, numbers = tuple(event for event, _ in seen), tuple(number for _, number in seen)
    asides = [fate for place, flight in enumerate(flights) for fate in _fates(flight, place if packets else -1)]
    asides += _firings(system, steps, frozenset(numbers))
    asides.sort(key=lambda aside: aside.step)
    return Execution(system.workload.processes, events, steps=numbers, packets=packets, asides=tuple(asides))


def _fates(flight: Flight, place: int) -> Iterator[Aside]:
    """What the network did with a packet. One that it made by duplicating another may be lost, too."""
    way = flight.passage
    if flight.copy:
        yield Aside("duplicated", way.kind, way.message, way.source, way.destination, way.sent, place)
    if flight.lost is not None:
        yield Aside("lost", way.kind, way.message, way.source, way.destination, flight.lost, place)


def _firings(system: System, steps: Sequence[NarratedStep], seen: frozenset[int]) -> Iterator[Aside]:
    """The timers that change something, or are the last step, but for the steps that have events."""
    before = system.initial()
    for number, step in enumerate(steps, 1):
        action, after = step.action, step.outcome.state
        tells = after.locals != before.locals or number == len(steps)
        if action.kind == "tick" and tells and number not in seen:
            yield Aside("timer", action.name, None, action.process, action.process, number, -1)
        before = after


@dataclass(frozen=True, slots=True)
class Flight:
    """The way of a packet in a run: its number in the system, its passage, and the step that lost it, if one did.
    `copy`: the network made it."""

    packet: int
    passage: Passage
    lost: int | None = None
    copy: bool = False


def flights_of(system: System, steps: Sequence[NarratedStep]) -> tuple[Flight, ...]:
    """The ways of the packets of a run, in the order in which they are sent. A duplicate is a packet of its own."""
    found: list[Flight] = []
    flying: dict[int, list[int]] = {}
    """Of each packet's number, the places in `found` that have not arrived."""

    def sent(packet: int, step: int, copy: bool = False) -> None:
        shape = system.packet(packet)
        carried = system.carried(shape)
        name = None if carried is None else carried.name
        flying.setdefault(packet, []).append(len(found))
        found.append(Flight(packet, Passage(shape.kind, name, shape.src, shape.dst, step, None), copy=copy))

    for number, step in enumerate(steps, 1):
        action = step.action
        match action.kind:
            case "receive":
                place = flying[action.packet].pop(0)
                arrived = replace(found[place].passage, arrived=number)
                found[place] = replace(found[place], passage=arrived)
            case "lose":
                place = flying[action.packet].pop(0)
                found[place] = replace(found[place], lost=number)
            case "duplicate":
                sent(action.packet, number, copy=True)
            case "send" | "tick" | "input":
                pass
        for emission in step.outcome.emissions:
            if isinstance(emission, Sent):
                sent(system.packet_number(action.process, emission), number)
    return tuple(found)


def events_of(system: System, step: NarratedStep) -> Iterator[Event]:
    """The observable events of one step, in order."""
    action, outcome = step.action, step.outcome
    if outcome.subject is not None:
        yield Send(action.process, outcome.subject.name, outcome.subject.dsts)
    if action.kind == "input":
        yield Input(action.process, action.name, action.arguments)
    if action.kind == "receive":
        packet = system.packet(action.packet)
        carried = system.carried(packet)
        if carried is not None and packet.dst in carried.dsts:  # on a tree others pass it on
            yield Receive(packet.dst, carried.name, packet.src)
    for emission in outcome.emissions:
        if isinstance(emission, Delivered):
            yield Deliver(action.process, emission.message.name)
            if emission.then is not None:
                yield Send(action.process, emission.then.name, emission.then.dsts)


def text(steps: Sequence[NarratedStep]) -> str:
    """The run as numbered steps."""
    width = len(str(len(steps)))
    lines = []
    for number, step in enumerate(steps, 1):
        lines.append(f"{number:>{width}}  {step.title}")
        lines += [f"{'':{width}}    {detail}" for detail in step.details]
    return "\n".join(lines)


def violates(system: System, steps: Sequence[NarratedStep], name: str) -> bool:
    """Whether the run violates the property at its end: by its last step, by what is stuck, by invariants.

    Raises: Unsettled, for a property that is about what may follow.
    """
    last = steps[-1].outcome if steps else None
    state = last.state if last else system.initial()
    found = (*(last.findings if last else ()), *system.broken(state))
    if any(finding.property == name for finding in found):
        return True
    judges = {DELIVERED: stuck, DEADLOCK_FREE: blocked, COMPLETES: completed}
    if name in judges:
        return judges[name](system, state) is not None
    promises = {promise.name for promise in system.protocol.promises}
    return name in promises and next(unkept(system, state, name), None) is not None


def violated(system: System, steps: Sequence[NarratedStep]) -> set[str]:
    """The properties that the run is known to violate at its end: without those that are `Unsettled`."""
    last = steps[-1].outcome if steps else None
    state = last.state if last else system.initial()
    found = {finding.property for finding in (*(last.findings if last else ()), *system.broken(state))}
    for name in {DELIVERED, DEADLOCK_FREE, COMPLETES, *(promise.name for promise in system.protocol.promises)} - found:
        with suppress(Unsettled):
            found |= {name} if violates(system, steps, name) else set()
    return found


def record(system: System, steps: Sequence[NarratedStep]) -> list[dict[str, Any]]:
    """The run as JSON values that `replay` reads."""
    recorded = []
    for step in steps:
        action = step.action
        entry: dict[str, Any] = {"action": action.kind, "process": action.process}
        if action.kind == "send":
            entry["destinations"] = list(action.destinations)
        elif action.packet >= 0:
            packet = system.packet(action.packet)
            entry |= {"packet": show_packet(system, packet), "from": packet.src, "to": packet.dst}
        elif action.kind == "input":
            entry |= {"input": action.name, "arguments": list(action.arguments)}
        elif action.name != ir.PERIODICALLY:
            entry["timer"] = action.name
        if action.reactions:
            entry["reactions"] = [[number, list(destinations)] for number, destinations in action.reactions]
        if action.script:
            entry["script"] = list(action.script)
        recorded.append(entry)
    return recorded


def replay(system: System, recorded: Sequence[dict[str, Any]]) -> tuple[NarratedStep, ...]:
    """Runs a recorded run again, late timers included; raises ReplayError where a step is not possible."""
    state = system.initial()
    steps = []
    for number, entry in enumerate(recorded, 1):
        possible = (*system.enabled(state), *system.late_timers(state))
        action = next((known for known in possible if _matches(system, known, entry)), None)
        if action is None:
            raise ReplayError(f"step {number} is not possible here: {entry}")
        outcome = system.apply(state, action)
        steps.append(narrate(system, state, action, outcome))
        state = outcome.state
    return tuple(steps)


def _matches(system: System, action: Action, entry: dict[str, Any]) -> bool:
    if action.kind != entry.get("action") or action.process != entry.get("process"):
        return False
    if action.name != entry.get("input", entry.get("timer", ir.PERIODICALLY)):
        return False
    if list(action.arguments) != entry.get("arguments", []):
        return False
    if [[number, list(destinations)] for number, destinations in action.reactions] != entry.get("reactions", []):
        return False
    if list(action.script) != entry.get("script", []):
        return False
    if action.kind == "send":
        return list(action.destinations) == entry.get("destinations")
    if action.packet < 0:
        return True
    packet = system.packet(action.packet)
    wanted = (entry.get("packet"), entry.get("from"), entry.get("to"))
    return (show_packet(system, packet), packet.src, packet.dst) == wanted
