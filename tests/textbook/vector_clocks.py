"""The textbook's broadcast by vector clocks, with all that waits in a list or a dictionary that is scanned anew after
each delivery, in several orders. Applications react from inside the delivery, after its sender is counted; or, wrongly,
before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from thence.conformance.systems.foreign import Answered
from thence.impl.commands import Deliver, Send


@dataclass(frozen=True)
class Packet:
    message: str
    clock: tuple[int, ...]
    kind: str = "MSG"


@dataclass(frozen=True)
class Bare:
    """The same packet, which does not say of which kind it is."""

    message: str
    clock: tuple[int, ...]


class ByArrival:
    delivery = "broadcast"
    packet: ClassVar[Any] = Packet
    scan: ClassVar[Literal["as it came", "reversed", "sorted", "descending"]] = "as it came"
    counts_first = True

    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity
        self.clock = [0] * processes
        self.waiting: dict[str, tuple[int, Any]] = {}
        self.armed: list[str] = []

    def causal_send(self, message: str) -> list[Any]:
        self.clock[self.identity] += 1
        packet = self.packet(message, tuple(self.clock))
        return [Send(other, packet) for other in range(len(self.clock)) if other != self.identity]

    def react(self, message: str) -> list[Any]:
        self.armed.append(message)
        return []

    def receive(self, sender: int, packet: Any) -> list[Any]:
        self.waiting[packet.message] = (sender, packet)
        commands: list[Any] = []
        while ready := next((name for name in self.scanned() if self.is_next(*self.waiting[name])), None):
            commands += self.deliver(*self.waiting.pop(ready))
        return commands

    def scanned(self) -> list[str]:
        match self.scan:
            case "as it came":
                return list(self.waiting)
            case "reversed":
                return list(self.waiting)[::-1]
            case "sorted":
                return sorted(self.waiting)
            case "descending":
                return sorted(self.waiting, reverse=True)

    def is_next(self, sender: int, packet: Any) -> bool:
        own = zip(packet.clock, self.clock, strict=True)
        return all(theirs <= mine + (k == sender) for k, (theirs, mine) in enumerate(own)) and (
            packet.clock[sender] == self.clock[sender] + 1
        )

    def deliver(self, sender: int, packet: Any) -> list[Any]:
        if self.counts_first:
            self.clock[sender] += 1
        commands = self.handed_over(sender, packet)
        if not self.counts_first:
            self.clock[sender] += 1
        return commands

    def handed_over(self, sender: int, packet: Any) -> list[Any]:
        """The application has the message, and reacts."""
        commands: list[Any] = [Deliver(sender, packet.message)]
        armed, self.armed = self.armed, []
        for message in armed:
            commands += [Answered(message), *self.causal_send(message)]
        return commands


class Reversed(ByArrival):
    scan = "reversed"


class Sorted(ByArrival):
    scan = "sorted"


class Descending(ByArrival):
    scan = "descending"


class BareReversed(Reversed):
    packet = Bare


class OtherKind(Sorted):
    """Its packets are of a kind that no protocol of the library has."""

    @staticmethod
    def packet(message: str, clock: tuple[int, ...]) -> Packet:  # type: ignore[override]
        return Packet(message, clock, "DATA")


class CountsTooLate(ByArrival):
    """The reaction does not know the delivery that it reacts to."""

    counts_first = False


class BareCountsTooLate(CountsTooLate):
    packet = Bare


class Twice(ByArrival):
    """Delivers what arrives a second time."""

    def receive(self, sender: int, packet: Any) -> list[Any]:
        if packet.clock[sender] <= self.clock[sender]:
            return self.handed_over(sender, packet)
        return super().receive(sender, packet)


class Late(ByArrival):
    """Delivers when a timer fires, one message at a time: right, and not prompt."""

    def receive(self, sender: int, packet: Any) -> list[Any]:
        self.waiting[packet.message] = (sender, packet)
        return []

    def tick(self) -> list[Any]:
        for name in self.scanned():
            if self.is_next(*self.waiting[name]):
                return self.deliver(*self.waiting.pop(name))
        return []
