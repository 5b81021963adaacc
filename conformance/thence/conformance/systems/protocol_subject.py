"""A protocol as the system under test: its own interpreter behind the interface of an implementation.

For campaigns over protocols beyond the scopes that can be explored, for mutants of protocols, and to learn schedules
from a protocol before any implementation is there. Named `protocol:FILE` and `protocol:FILE#MUTANT`.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, assert_never

from thence.conformance.cases.inputs import method_of
from thence.conformance.systems.foreign import Answered
from thence.dsl import ir
from thence.dsl.find import NotThere, mutant_of_a_protocol, protocol_of, specification
from thence.dsl.ir import PERIODICALLY
from thence.dsl.run.choices import Choices, Drawn
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.interpreter import Cause, Interpreter, Observation, Step
from thence.dsl.run.scoped import on_links
from thence.dsl.run.values import Message, Occurrence, Packet
from thence.impl import commands as impl

PREFIX: Final = "protocol:"

_MESSAGE = re.compile(r"m(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class CarriedPacket:
    """A packet of the protocol as the harness carries it: `message` is the name of the message that it moves."""

    packet: Packet
    message: str | None

    @property
    def kind(self) -> str:
        """The packet kind."""
        return self.packet.kind


class ProtocolProcess:
    """One process of the protocol. A fault of the protocol's text is raised, as an implementation would crash.

    Its application reacts to deliveries where a replay of the protocol has it react, see NOTE(answers). Where the
    protocol lets the application wait, it does not react: it cannot know whether the message is taken.
    """

    def __init__(self, interpreter: Interpreter, carries: dict[str, int | None], identity: int) -> None:
        self._interpreter = interpreter
        self._carries = carries
        self._identity = identity
        self._state = interpreter.initial(identity)
        self._sent = 0
        self._steps = 0
        self._armed: list[Message] = []
        self.react = None if interpreter.has_guard else self._react
        for handler in interpreter.protocol.inputs:
            assert handler.kind is not None
            setattr(self, method_of(handler.kind), partial(self._have, handler.kind))

    @property
    def blocked(self) -> bool:
        """Whether the application has to wait, whatever it sends."""
        if not self._interpreter.has_guard:
            return False
        others = tuple(one for one in range(self._interpreter.processes) if one != self._identity)
        sets = [others] if self._interpreter.protocol.delivery == "broadcast" else [(one,) for one in others]
        messages = (Message(self._identity, self._sent, to) for to in sets)
        return not any(self._interpreter.accepts(self._identity, self._state, message) for message in messages)

    def causal_send(self, *arguments: Any) -> list[impl.Command | Answered]:
        """Send the last argument to the first; to all others, where there is only one argument."""
        return self._took(self._message(arguments))

    def _react(self, *arguments: Any) -> list[impl.Command | Answered]:
        """As `causal_send`, in reaction to the next delivery."""
        self._armed.append(self._message(arguments))
        return []

    def _message(self, arguments: tuple[Any, ...]) -> Message:
        name = arguments[-1]
        match arguments[0]:
            case _ if len(arguments) == 1:
                everyone = range(self._interpreter.processes)
                destinations = tuple(one for one in everyone if one != self._identity)
            case int(destination):
                destinations = (destination,)
            case several:
                destinations = tuple(sorted(several))
        found = _MESSAGE.fullmatch(name)
        number = int(found[2]) - 1 if found is not None else self._sent
        self._sent += 1
        return Message(self._identity, number, destinations)

    def _have(self, name: str, *arguments: int) -> list[impl.Command | Answered]:
        """The application has the input. Raises: MustWait."""
        given = Occurrence(name, arguments)
        if not self._interpreter.takes(self._identity, self._state, given):
            raise impl.MustWait
        return self._took(given)

    def receive(self, _sender: int, packet: CarriedPacket) -> list[impl.Command | Answered]:
        """Take a packet that arrived."""
        return self._took(packet.packet)

    def tick(self, timer: str = PERIODICALLY) -> list[impl.Command | Answered]:
        """The timer of this name fired."""
        return self._took(Occurrence(timer)) if timer in self._interpreter.timers else []

    def _took(self, cause: Cause) -> list[impl.Command | Answered]:
        """The commands of the step. The application reacts to one of its deliveries with all that it has to send."""
        choices = self._choosing(cause) if self._interpreter.chooses else None
        step = self._interpreter.step(self._identity, self._state, cause, choices=choices)
        delivered = [one.message.name for one in step.emissions if isinstance(one, Delivered)]
        armed: list[Message] = []
        if delivered and self._armed:
            armed, self._armed = self._armed, []
            answered = self._reacted_to(delivered)
            step = self._step(cause, answered, armed, choices)
        self._state = step.state
        self._steps += 1
        commands: list[impl.Command | Answered] = []
        for emission in step.emissions:
            match emission:
                case Sent(kind, arguments, to):
                    position = self._carries[kind]
                    message = None if position is None else arguments[position].name
                    packet = Packet(kind, self._identity, to, arguments)
                    commands.append(impl.Send(to, CarriedPacket(packet, message)))
                case Delivered(message):
                    commands.append(impl.Deliver(message.src, message.name))
                    if armed and message.name == answered:
                        commands += [Answered(one.name) for one in armed]
                        armed = []
                case _:
                    assert_never(emission)
        return commands

    def _reacted_to(self, delivered: list[str]) -> str:
        """The delivery of a step that the application reacts to: the first one, or the last one where reactions wait
        for the end of the handler."""
        return delivered[-1 if self._interpreter.sends_deliver else 0]

    def _choosing(self, cause: Cause) -> Choices:
        """What the protocol chooses in its next step: drawn, by all that has happened at the process."""
        return Drawn(random.Random(f"{self._identity} {self._steps} {self._state} {cause}"))

    def _step(self, cause: Cause, answered: str, armed: list[Message], choices: Choices | None) -> Step:
        """The step with the application's reaction to the delivery of the message `answered`."""
        seen = Observation(tuple((answered, message) for message in armed))
        again = None if choices is None else self._choosing(cause)
        return self._interpreter.as_observed(self._identity, self._state, cause, seen, again)


class ProtocolSystem:
    """Makes processes of a protocol, which share one interpreter."""

    process: ClassVar[type[ProtocolProcess]] = ProtocolProcess

    def __init__(self, protocol: ir.Protocol) -> None:
        self.protocol = protocol
        self.delivery = protocol.delivery
        self._interpreters: dict[tuple[int, int | None, frozenset[int] | None], Interpreter] = {}
        self._carries = {kind.name: kind.carries for kind in protocol.packets}

    def __call__(self, identity: int, processes: int, neighbors: frozenset[int] | None = None) -> Any:
        """Process `identity` of `processes`, on an overlay with these neighbors, by default all others."""
        key = (processes, None if neighbors is None else identity, neighbors)
        interpreter = self._interpreters.get(key)
        if interpreter is None:
            protocol = self.protocol
            if neighbors is not None and protocol.network.overlay:
                others = (other for other in range(processes) if other != identity)
                links = (*((identity, near) for near in sorted(neighbors)), *((other, identity) for other in others))
                protocol = on_links(protocol, links)
            interpreter = self._interpreters[key] = Interpreter(protocol, processes)
        return self.process(interpreter, self._carries, identity)


def subject_protocol(name: str) -> ir.Protocol:
    """The protocol, or the mutant of one, that `protocol:FILE` or `protocol:FILE#MUTANT` names; where several protocols
    of the file have such a mutant, `protocol:FILE#PROTOCOL/MUTANT`.

    Raises: UserError, where there is none, or the file has errors.
    """
    file, _, mutant = name.removeprefix(PREFIX).partition("#")
    if not mutant:
        return protocol_of(file)
    found = mutant_of_a_protocol(specification(file), mutant)
    if found is not None and isinstance(found.mutated, ir.Protocol):
        return found.mutated
    raise NotThere(f"{file} has no mutant {mutant} of a protocol")
