"""Replay of a case in the protocol's interpreter, step by step beside the subject.

After each input the subject's commands must be the interpreter's emissions, in order: the same packet kind to the same
process with the same application message, or the delivery of the same message. Metadata is compared as far as packets
show it under the protocol's names, see `packet_fields`; an implementation may represent it otherwise. Each packet of
the subject is paired with the protocol's packet: when the one arrives, the interpreter receives the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.guards import DecidingGuard, GuardFinder, Wanted
from thence.conformance.replay.packet_fields import Differs, Fields, PacketFields
from thence.dsl import ir
from thence.dsl.run.choices import Choices, Script, every_script
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.interpreter import Cause, Interpreter, LocalState, Observation, Reactions, Step
from thence.dsl.run.local_steps import LocalSteps
from thence.dsl.run.values import Fault, Message, Occurrence, Packet, show
from thence.spec.events import Input as InputEvent

REMEMBERED: Final = 200_000
"""Steps that a replay remembers, before it forgets them all."""

_PROBED: Final = 1_000
"""Packets that arrive in a round of the probe, see `delivers_to_senders`."""

Signature: TypeAlias = tuple[tuple[Any, ...], ...]
"""For each emission: (destination, packet kind, carried message or None), or (message,) for a delivery."""

Input: TypeAlias = tuple[Any, ...]
"""(number, destinations) for a causal send, (packet,) for an arrival, (timer,) for a timer by its name,
(name, arguments) for an input of the application."""

Agrees: TypeAlias = Callable[[tuple[int, ...]], bool]
"""Whether the subject's packets may have the fields of the protocol's packets of these numbers."""

Answers: TypeAlias = tuple[tuple[str, int, tuple[int, ...]], ...]
"""The application's sends in reaction to deliveries of a step: (message delivered, number, destinations)."""


class Seen(NamedTuple):
    """The part of a step that is observed, and not the text's: see `Interpreter.as_observed`, NOTE(answers).

    Attributes:
        answers: the application's reactions to deliveries.
        order: the messages delivered, in the order observed; empty: in the text's order.
        script: what the step chose. It is not observed itself: see `Replay.alternatives`.
    """

    answers: Answers = ()
    order: tuple[str, ...] = ()
    script: Script = ()


MUST_WAIT: Final = "the application has to wait"
"""The beginning of the fault of a step of the application that its `when` does not allow."""

TEXT: Final = Seen()
"""A step of the text alone."""


class Expected(NamedTuple):
    """The protocol's step.

    Attributes:
        state: the number of the process's state after it.
        signature: its emissions.
        shadows: the numbers of the packets among the emissions; -1 for a delivery.
        fault: why the protocol's text has no such step, or None.
        input: of the step.
        seen: of the step.
    """

    state: int
    signature: Signature
    shadows: tuple[int, ...]
    fault: str | None
    input: Input
    seen: Seen = TEXT

    @property
    def waits(self) -> bool:
        """Whether the application has to wait: the step is its own, and the `when` is false."""
        return self.fault is not None and self.fault.startswith(MUST_WAIT)

    @property
    def deliveries(self) -> tuple[str, ...]:
        """The messages that the step delivers."""
        return tuple([one[0] for one in self.signature if len(one) == 1])


@dataclass(slots=True)
class Replay:
    """A protocol among `processes` processes, ready to be replayed. It remembers steps from case to case."""

    protocol: ir.Protocol
    processes: int
    _interpreter: Interpreter = field(init=False)
    _finder: GuardFinder = field(init=False)
    _carries: dict[str, int | None] = field(init=False)
    steps: LocalSteps = field(init=False)
    fields: PacketFields = field(init=False)
    chooses: bool = field(init=False, default=False)
    """Whether the protocol chooses, so that an input may have several steps."""
    _held: int = field(init=False, default=0)
    _starts: tuple[int, ...] = field(init=False, default=())
    _expected: dict[tuple[Any, ...], Expected] = field(init=False, default_factory=dict)
    _fields: dict[int, Fields] = field(init=False, default_factory=dict)
    """For each packet that has been compared, by its number, its fields."""
    _alternatives: dict[tuple[int, int, Input, Seen], tuple[Expected, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._interpreter = self._interpreting()
        self.chooses = self._interpreter.chooses
        self._finder = GuardFinder(self.protocol)
        self.fields = PacketFields(self.protocol)
        self.steps = LocalSteps(self._text_step)
        self._carries = {kind.name: kind.carries for kind in self.protocol.packets}

    def _interpreting(self) -> Interpreter:
        return Interpreter(self.protocol, self.processes)

    def begin(self) -> Lockstep:
        """A new case."""
        return Lockstep(self, self.initial())

    def initial(self) -> list[int]:
        """The numbers of the states in which the processes of a new case start. Forgets steps where there are many."""
        if len(self._expected) > REMEMBERED and not self._held:
            self._expected.clear()
            self._alternatives.clear()
            self._fields.clear()
            self.steps.forget()
            self._starts = ()
        if not self._starts:
            initial = [self._interpreter.initial(process) for process in range(self.processes)]
            self._starts = tuple([self.steps.state_number(state) for state in initial])
        return [*self._starts]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Meanwhile several cases may be under way: no case that begins makes the replay forget what others know."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def recall(self, lockstep: Lockstep) -> None:
        """Of several cases that were under way at once, this one is the last now."""

    def expected(self, process: int, state: int, given: Input, seen: Seen = TEXT) -> Expected:
        """The protocol's step from the state of that number, as it was seen."""
        if seen is TEXT and len(given) == 1:
            return self.at_one(process, state, given[0])
        key = (process, state, given, seen)
        known = self._expected.get(key)
        if known is None:
            known = self._expected[key] = self._take(process, state, given, seen)
        return known

    def at_one(self, process: int, state: int, part: int | str) -> Expected:
        """The same for an input of one part, as the text alone has it: an arrival, or a timer. Most steps are arrivals;
        a key without a tuple inside is found sooner."""
        key = (process, state, part)
        known = self._expected.get(key)
        if known is None:
            known = self._expected[key] = self._take(process, state, (part,), TEXT)
        return known

    def alternatives(self, process: int, state: int, given: Input, seen: Seen = TEXT) -> tuple[Expected, ...]:
        """The protocol's steps, one for each way in which it chooses; of those that come to the same, the first."""
        if not self.chooses:
            return (self.expected(process, state, given, seen),)
        key = (process, state, given, seen)
        known = self._alternatives.get(key)
        if known is None:
            different: dict[tuple[Any, ...], Expected] = {}

            def run(choices: Choices) -> None:
                with suppress(Fault):
                    self._run(process, state, given, observe=False, seen=seen, choices=choices)

            for script in every_script(run):
                found = self.expected(process, state, given, seen._replace(script=script))
                different.setdefault((found.state, found.signature, found.shadows, found.fault), found)
            known = self._alternatives[key] = tuple(different.values())
        return known

    @property
    def is_strict(self) -> bool:
        """Whether each step of the subject has the emissions of the text's step in the text's order."""
        return True

    def settled(self, outcome: CaseOutcome) -> CaseOutcome:
        """The outcome of a case that was replayed, with what the replay says of it when the case is over."""
        return outcome

    def has_others(self, signature: Signature) -> bool:
        """Whether there are packets, and all are of kinds that the protocol does not have."""
        kinds = [one[1] for one in signature if len(one) == 3]
        return bool(kinds) and not any(kind in self._carries for kind in kinds)

    @property
    def promises_total_order(self) -> bool:
        """Whether the protocol's own order of deliveries is a promise."""
        return "total_order" in self.protocol.properties

    @property
    def timers(self) -> tuple[str, ...]:
        """The names of the protocol's timers."""
        return self._interpreter.timers

    def packet(self, number: int) -> Packet:
        """The packet of this number."""
        return self.steps.packet(number)

    def fields_of(self, number: int) -> Fields:
        """The fields of the packet of this number that can be compared."""
        known = self._fields.get(number)
        if known is None:
            known = self._fields[number] = self.fields.of(self.steps.packet(number))
        return known

    def carried(self, number: int) -> str | None:
        """The name of the message that the packet of this number moves, if it moves one."""
        packet = self.steps.packet(number)
        position = self._carries[packet.kind]
        return None if position is None else packet.arguments[position].name

    def explain(self, process: int, state: int, expected: Expected, got: Signature, matched: int) -> Divergence:
        """The divergence of the subject's commands from the protocol's step."""
        title = self.title(expected.input)
        if expected.fault is not None:
            return Divergence(process, title, None, None, matched, None, expected.fault)
        step = self._run(process, state, expected.input, observe=True, seen=expected.seen)
        position = 0
        for wanted, shown in zip(expected.signature, got, strict=False):
            if wanted != shown:
                break
            position += 1
        here = step.emissions[position] if position < len(step.emissions) else None
        there = got[position] if position < len(got) else None
        guard = None
        if there is not None:
            guard = self._finder.preventing(step.guards, _wanted(there), position)
        if guard is None and here is not None:
            guard = self._finder.allowing(step.guards, _wanted(expected.signature[position]), position)
        return Divergence(
            process,
            title,
            None if here is None else self._show_emission(here),
            None if there is None else _show_command(there),
            matched + position,
            guard,
        )

    def preventing(self, process: int, state: int, given: Input, wanted: Wanted) -> DecidingGuard | None:
        """The guard that keeps an event out of a step that the protocol can take."""
        step = self._run(process, state, given, observe=True)
        return self._finder.preventing(step.guards, wanted, len(step.emissions))

    def _take(self, process: int, state: int, given: Input, seen: Seen) -> Expected:
        try:
            step = self._run(process, state, given, observe=False, seen=seen)
        except Fault as fault:
            return Expected(state, (), (), str(fault), given, seen)
        signature: list[tuple[Any, ...]] = []
        shadows: list[int] = []
        for emission in step.emissions:
            if isinstance(emission, Sent):  # Patterns take longer: here, and in `_run`.
                kind, arguments, to = emission
                position = self._carries[kind]
                carried = None if position is None else arguments[position].name
                signature.append((to, kind, carried))
                shadows.append(self.steps.packet_number(Packet(kind, process, to, arguments)))
            else:
                signature.append((emission.message.name,))
                shadows.append(-1)
        return Expected(self.steps.state_number(step.state), tuple(signature), tuple(shadows), None, given, seen)

    def _run(
        self,
        process: int,
        state: int,
        given: Input,
        *,
        observe: bool,
        seen: Seen = TEXT,
        choices: Choices | None = None,
    ) -> Step:
        local = self.steps.state(state)
        cause: Cause
        first = given[0]
        if type(first) is int:
            if len(given) == 1:
                cause = self.steps.packet(first)
                if seen is TEXT and choices is None:
                    if not observe:
                        return self._interpreter.arrival(process, local, cause)
                    return self._interpreter.step(process, local, cause, observe=True)
            else:
                cause = Message(process, first, given[1])
                if not self._interpreter.accepts(process, local, cause):
                    raise Fault(f"{MUST_WAIT}, the guard of causal_send is false")
        elif len(given) == 1:
            if first not in self._interpreter.timers:
                return Step(local, ())
            cause = Occurrence(first)
        else:
            cause = Occurrence(first, given[1])
            if not self._interpreter.takes(process, local, cause):
                raise Fault(f"{MUST_WAIT}, the guard of {first} is false")
        if choices is None and seen.script:
            choices = Choices(seen.script)
        if not seen.answers and not seen.order:
            return self._interpreter.step(process, local, cause, choices=choices, observe=observe)
        answers = tuple((after, Message(process, number, to)) for after, number, to in seen.answers)
        how = Observation(answers, seen.order)
        return self._interpreter.as_observed(process, local, cause, how, choices, observe=observe)

    def _text_step(
        self,
        process: int,
        local: LocalState,
        cause: Cause,
        reactions: Reactions,
        choices: Choices | None,
        observe: bool,
    ) -> Step:
        return self._interpreter.step(process, local, cause, reactions, choices, observe=observe)

    # --- words -------------------------------------------------------------------------------

    def title(self, given: Input) -> str:
        """The input of a step, in words."""
        match given:
            case (str(name), arguments):
                return InputEvent(0, name, arguments).label
            case (_, destinations):
                return f"causal_send to {', '.join(f'p{destination}' for destination in destinations)}"
            case (str(timer),):
                return "periodically" if timer == ir.PERIODICALLY else f"periodically {timer}"
            case (number,):
                packet = self.steps.packet(number)
                return f"receive {self._show_packet(packet.kind, packet.arguments)} from p{packet.src}"
            case _:
                raise AssertionError(f"no input of a step: {given}")

    def show_sent(self, packet: Packet | Sent) -> str:
        """The sending of a packet, in words."""
        to = packet.to if isinstance(packet, Sent) else packet.dst
        return f"sends {self._show_packet(packet.kind, packet.arguments)} to p{to}"

    def _show_emission(self, emission: Emission) -> str:
        match emission:
            case Sent():
                return self.show_sent(emission)
            case Delivered(message):
                return f"delivers {message.name}"
            case _:
                assert_never(emission)

    def _show_packet(self, kind: str, arguments: tuple[Any, ...]) -> str:
        parameters = next(known.parameters for known in self.protocol.packets if known.name == kind)
        pairs = zip(arguments, parameters, strict=True)
        return f"{kind}({', '.join(show(value, parameter.type) for value, parameter in pairs)})"


def delivers_to_senders(protocol: ir.Protocol, processes: int = 2) -> bool:
    """Whether a process hands over its own broadcast: seen in a run with a single one, which goes to all others."""
    interpreter = Interpreter(protocol, processes)
    states = [interpreter.initial(process) for process in range(processes)]
    message = Message(0, 0, tuple(range(1, processes)))
    flights: list[Packet] = []
    seen = False

    def take(process: int, step: Step) -> None:
        nonlocal seen
        states[process] = step.state
        for emission in step.emissions:
            match emission:
                case Sent(kind, arguments, to):
                    flights.append(Packet(kind, process, to, arguments))
                case Delivered(delivered):
                    seen = seen or (process, delivered) == (0, message)
                case _:
                    assert_never(emission)

    try:
        take(0, interpreter.causal_send(0, states[0], message))
        for _ in range(processes + 1):
            for packet in flights[:_PROBED]:
                take(packet.dst, interpreter.receive(packet.dst, states[packet.dst], packet))
            del flights[:_PROBED]
            for timer in () if flights else interpreter.timers:
                for process in range(processes):
                    take(process, interpreter.tick(process, states[process], timer))
    except Fault:
        return False
    return seen


@dataclass(slots=True)
class Lockstep:
    """The protocol's side of one case: the number of each process's state.

    A step is first asked for (`causal_send`, `receive`, `tick`), then accepted, if the subject did the same.
    """

    replay: Replay
    states: list[int]
    matched: int = 0
    """Number of equal events: inputs, packets sent, deliveries."""

    def causal_send(self, process: int, number: int, destinations: tuple[int, ...]) -> Expected:
        """The application sends its message of that number, from 0, to processes in ascending order."""
        return self.replay.expected(process, self.states[process], (number, destinations))

    def input(self, process: int, name: str, arguments: tuple[int, ...]) -> Expected:
        """The application has an input of its own."""
        return self.replay.expected(process, self.states[process], (name, arguments))

    def accepts(self, process: int, number: int, destinations: tuple[int, ...]) -> bool:
        """Whether the protocol takes the message at all, at this time."""
        return self.causal_send(process, number, destinations).fault is None

    def receive(self, process: int, packet: int) -> Expected:
        """The packet of that number arrives."""
        return self.replay.at_one(process, self.states[process], packet)

    def tick(self, process: int, timer: str) -> Expected:
        """The timer of this name fires; a protocol that does not have it does nothing."""
        return self.replay.at_one(process, self.states[process], timer)

    def seen(self, process: int, expected: Expected, answers: Answers) -> Expected:
        """The expected step, in which the application reacts to deliveries."""
        return self.replay.expected(process, self.states[process], expected.input, Seen(answers))

    def by_choice(
        self, process: int, expected: Expected, answers: Answers, got: Signature, agrees: Agrees, *, fifo: bool
    ) -> tuple[Expected, bool]:
        """The step that the subject may have taken where the protocol chooses, and whether another one fits as well.

        Of several with these emissions, those whose packets have the subject's fields, as far as any has. Where none
        has these emissions: one that sends the same packets, if there is such, and then some other.
        """
        seen = Seen(answers)
        there = self.replay.alternatives(process, self.states[process], expected.input, seen)
        able = [each for each in there if each.fault is None]
        orders = {each: self.reordered(process, each, got, fifo=fifo) for each in able}
        shadows = {each: order.shadows for each, order in orders.items() if order is not None}
        several = sorted(shadows, key=lambda each: each.signature != got)  # first those in the text's own order
        if len(several) > 1:
            agreeing = [each for each in several if agrees(shadows[each])]
            several = agreeing or several[:1]
        found = several or [each for each in able if same_packets(each.signature, got)] or able or [*there]
        return found[0], len(several) > 1

    def reordered(self, process: int, expected: Expected, got: Signature, *, fifo: bool) -> Reordered | None:
        """The step with the same emissions in the order of `got`, if that is free; see `Reordered`."""
        if expected.fault is not None:
            return None
        order = tuple([one[0] for one in got if len(one) == 1])
        if order != expected.deliveries:
            if self.replay.promises_total_order:
                return None
            seen = expected.seen._replace(order=order)
            expected = self.replay.expected(process, self.states[process], expected.input, seen)
            if expected.fault is not None or expected.deliveries != order:
                return None
        return _paired(expected, got, fifo=fifo)

    def accept(self, process: int, expected: Expected) -> None:
        """The subject took the expected step."""
        self.states[process] = expected.state
        self.matched += 1 + len(expected.signature)

    def explain(self, process: int, expected: Expected, got: Signature) -> Divergence:
        """The subject did something else. The input itself counts as matched."""
        return self.replay.explain(process, self.states[process], expected, got, self.matched + 1)

    def explain_fields(self, process: int, expected: Expected, differs: Differs) -> Divergence:
        """The subject sent a packet of the step with another field."""
        packet = self.replay.packet(differs.shadow)
        title, matched = self.replay.title(expected.input), self.matched + 1 + differs.position
        got = f"sends {packet.kind} to p{packet.dst} with another `{differs.field}`"
        return Divergence(process, title, self.replay.show_sent(packet), got, matched, None, None, differs.text)


class Reordered(NamedTuple):
    """A step of the text whose emissions the subject has in another order.

    The order of deliveries is free as far as the text delivers in this order when its loops over collections visit the
    elements in another order; but that of a total order is the text's. The order of packets is free but for that of
    each channel, if it keeps any.

    Attributes:
        expected: the step, with loops over collections in the subject's order of deliveries.
        shadows: the numbers of its packets in the subject's order; -1 for a delivery.
    """

    expected: Expected
    shadows: tuple[int, ...]


def _paired(expected: Expected, got: Signature, *, fifo: bool) -> Reordered | None:
    """Pairs equal emissions; None where some are left over, or where a channel that keeps its order has another."""
    left: dict[tuple[Any, ...], list[int]] = {}
    for signature, shadow in zip(expected.signature, expected.shadows, strict=True):
        left.setdefault(signature, []).append(shadow)
    shadows = []
    for signature in got:
        same = left.get(signature)
        if not same:
            return None
        shadows.append(same.pop(0))
    if any(left.values()):
        return None
    if fifo and _by_channel(expected.signature) != _by_channel(got):
        return None
    return Reordered(expected, tuple(shadows))


def _by_channel(signature: Signature) -> dict[int, list[tuple[Any, ...]]]:
    """The packets to each process, in order."""
    channels: dict[int, list[tuple[Any, ...]]] = {}
    for one in signature:
        if len(one) == 3:
            channels.setdefault(one[0], []).append(one)
    return channels


def same_packets(first: Signature, second: Signature) -> bool:
    """Whether two steps send the same packets, in whichever order."""
    return Counter(one for one in first if len(one) == 3) == Counter(one for one in second if len(one) == 3)


def told(signature: Signature) -> str:
    """The emissions of a step, in words."""
    return ", then ".join(map(_show_command, signature)) or "does nothing"


def _wanted(signature: tuple[Any, ...]) -> Wanted:
    match signature:
        case (to, kind, _):
            return Wanted(kind, to)
        case _:
            return Wanted(None)


def _show_command(signature: tuple[Any, ...]) -> str:
    match signature:
        case (to, kind, None):
            return f"sends {kind} to p{to}"
        case (to, kind, message):
            return f"sends {kind}({message}) to p{to}"
        case _:
            return f"delivers {signature[0]}"
