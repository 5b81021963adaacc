"""A right FIFO link. Each timer hands over one message that waits, as a stack of layers does, which redeliver from one
layer to the next; nothing is ever lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thence.impl.commands import Deliver, Send


@dataclass(frozen=True)
class Packet:
    message: str
    number: int
    kind: str = "MSG"


class Layers:
    every = 1
    """The timer that hands over is every so manieth one."""

    def __init__(self, identity: int, processes: int) -> None:
        self.sent = [0] * processes
        self.wanted = [1] * processes
        self.waiting: list[tuple[int, Packet]] = []
        self.ticks = 0

    def causal_send(self, destination: int, message: str) -> list[Any]:
        self.sent[destination] += 1
        return [Send(destination, Packet(message, self.sent[destination]))]

    def receive(self, sender: int, packet: Packet) -> list[Any]:
        self.waiting.append((sender, packet))
        return []

    def tick(self) -> list[Any]:
        self.ticks += 1
        for sender, packet in self.waiting if self.ticks % self.every == 0 else ():
            if packet.number == self.wanted[sender]:
                self.waiting.remove((sender, packet))
                self.wanted[sender] += 1
                return [Deliver(sender, packet.message)]
        return []


class Slow(Layers):
    every = 5


class Loses(Layers):
    """Hands over no second message of anybody."""

    def receive(self, sender: int, packet: Packet) -> list[Any]:
        return [] if packet.number > 1 else super().receive(sender, packet)
