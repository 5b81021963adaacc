"""A protocol as the system under test: its own interpreter behind the interface of an implementation.

For campaigns over protocols beyond the scopes that can be explored, for mutants of protocols, and to learn schedules
from a protocol before any implementation is there. Named `protocol:FILE` and `protocol:FILE#MUTANT`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, assert_never

from thence.dsl import ir
from thence.dsl.find import NotThere, protocol_of, specification
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.interpreter import Interpreter, Step
from thence.dsl.run.values import Message, Packet
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
    """One process of the protocol. A fault of the protocol's text is raised, as an implementation would crash."""

    def __init__(self, interpreter: Interpreter, carries: dict[str, int | None], identity: int) -> None:
        self._interpreter = interpreter
        self._carries = carries
        self._identity = identity
        self._state = interpreter.initial(identity)
        self._sent = 0

    def causal_send(self, *arguments: Any) -> list[impl.Command]:
        """Send the last argument to the first; to all others, where there is only one argument."""
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
        message = Message(self._identity, number, destinations)
        return self._took(self._interpreter.causal_send(self._identity, self._state, message))

    def receive(self, _sender: int, packet: CarriedPacket) -> list[impl.Command]:
        """Take a packet that arrived."""
        return self._took(self._interpreter.receive(self._identity, self._state, packet.packet))

    def tick(self) -> list[impl.Command]:
        """A timer fired."""
        if not self._interpreter.has_timer:
            return []
        return self._took(self._interpreter.tick(self._identity, self._state))

    def _took(self, step: Step) -> list[impl.Command]:
        self._state = step.state
        commands: list[impl.Command] = []
        for emission in step.emissions:
            match emission:
                case Sent(kind, arguments, to):
                    position = self._carries[kind]
                    message = None if position is None else arguments[position].name
                    packet = Packet(kind, self._identity, to, arguments)
                    commands.append(impl.Send(to, CarriedPacket(packet, message)))
                case Delivered(message):
                    commands.append(impl.Deliver(message.src, message.name))
                case _:
                    assert_never(emission)
        return commands


class ProtocolSystem:
    """Makes processes of a protocol, which share one interpreter."""

    def __init__(self, protocol: ir.Protocol) -> None:
        self.protocol = protocol
        self.delivery = protocol.delivery
        self._interpreters: dict[int, Interpreter] = {}
        self._carries = {kind.name: kind.carries for kind in protocol.packets}

    def __call__(self, identity: int, processes: int) -> Any:
        """Process `identity` of `processes`."""
        interpreter = self._interpreters.get(processes)
        if interpreter is None:
            interpreter = self._interpreters[processes] = Interpreter(self.protocol, processes)
        return ProtocolProcess(interpreter, self._carries, identity)


def subject_protocol(name: str) -> ir.Protocol:
    """The protocol, or the mutant of one, that `protocol:FILE` or `protocol:FILE#MUTANT` names.

    Raises: UserError, where there is none, or the file has errors.
    """
    file, _, mutant = name.removeprefix(PREFIX).partition("#")
    if not mutant:
        return protocol_of(file)
    for known in specification(file).mutants:
        if known.name == mutant and isinstance(known.mutated, ir.Protocol):
            return known.mutated
    raise NotThere(f"{file} has no mutant {mutant} of a protocol")
