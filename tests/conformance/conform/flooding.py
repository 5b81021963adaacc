"""Flooding over an overlay, in Python: right, and with a process that does not look at its links."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from thence.impl.commands import Command, Deliver, Send


@dataclass(frozen=True)
class Msg:
    """A message, with the process that it is of."""

    message: Any
    origin: int
    kind: ClassVar[str] = "MSG"


class Flood:
    """Passes each message on to its neighbors once."""

    delivery: ClassVar[str] = "broadcast"
    channels: ClassVar[str] = "fifo"

    def __init__(self, identity: int, processes: int, neighbors: Collection[int] | None = None) -> None:
        self.identity = identity
        others = {*range(processes)} - {identity}
        self.neighbors = sorted(others if neighbors is None else neighbors)
        self.seen: set[Hashable] = set()

    def causal_send(self, message: Hashable) -> list[Command]:
        self.seen.add(message)
        return [Send(near, Msg(message, self.identity)) for near in self.neighbors]

    def receive(self, sender: int, packet: Any) -> list[Command]:
        if packet.message in self.seen:
            return []
        self.seen.add(packet.message)
        further = [Send(near, packet) for near in self.neighbors if near != sender]
        return [Deliver(packet.origin, packet.message), *further]

    def tick(self) -> list[Command]:
        return []


class Everywhere(Flood):
    """Sends to all, whatever its links are."""

    def __init__(self, identity: int, processes: int, neighbors: Collection[int] | None = None) -> None:
        super().__init__(identity, processes)


class Unaware(Flood):
    """Cannot be told its neighbors."""

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
