"""Faulty implementations of PC-broadcast."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.pc_broadcast import Msg, PCBroadcast, Ping


class UsedAtOnce(PCBroadcast):
    """A new link is safe from the beginning, and nothing is checked (S.1, S.2). Finding: nonconformance, causal."""

    FAULT: ClassVar[str] = "a new link used at once"

    def open(self, other: int) -> list[Command]:
        super().open(other)
        del self._buffers[other]
        self._safe.add(other)
        return []

    def _is_known(self, packet: Msg) -> bool:
        return packet.number <= self._received[packet.origin]


class NothingKept(PCBroadcast):
    """Nothing is kept for a link that is not safe yet (R.3, R.6). Finding: nonconformance, causal."""

    FAULT: ClassVar[str] = "no buffer"

    def _keep(self, packet: Msg) -> None:
        return


class OwnNotKept(PCBroadcast):
    """What the process broadcasts itself is not kept (R.3). Finding: nonconformance, causal."""

    FAULT: ClassVar[str] = "own messages left out"

    def _keep(self, packet: Msg) -> None:
        if packet.origin != self._group.identity:
            super()._keep(packet)


class NewestFirst(PCBroadcast):
    """What was kept leaves in the wrong order (S.6). Finding: nonconformance, causal."""

    FAULT: ClassVar[str] = "FIFO order ignored"

    def _receive_pong(self, sender: int, number: int) -> list[Command]:
        return super()._receive_pong(sender, number)[::-1]


class AnyAnswer(PCBroadcast):
    """The answer to any ping of before makes the link safe (S.5). Finding: nonconformance, causal."""

    FAULT: ClassVar[str] = "number of the answer not compared"

    def _is_awaited(self, sender: int, number: int) -> bool:
        return sender in self._buffers


class PingsTheNewLink(PCBroadcast):
    """The ping takes the new link itself (S.2). Finding: nonconformance, causal."""

    FAULT: ClassVar[str] = "ping over the link that it is to make safe"

    def open(self, other: int) -> list[Command]:
        super().open(other)
        return [Send(other, Ping(self._group.identity, other, len(self._targets)))]


class NotForwarded(PCBroadcast):
    """What comes is delivered and not sent on (R.5). Finding: nonconformance, stuck."""

    FAULT: ClassVar[str] = "not passed on"

    def _receive_msg(self, packet: Msg) -> list[Command]:
        return [command for command in super()._receive_msg(packet) if isinstance(command, Deliver)]


class NotNoted(PCBroadcast):
    """The own broadcasts are not noted, and come back (R.1). Finding: nonconformance, phantom, crash."""

    FAULT: ClassVar[str] = "own entries dropped"

    def causal_send(self, message: Hashable) -> list[Command]:
        commands = super().causal_send(message)
        self._received[self._group.identity] -= 1
        return commands


class PingNotNoted(PCBroadcast):
    """A ping that is sent is not noted; it comes back to its source (S.4). Finding: crash, nonconformance."""

    FAULT: ClassVar[str] = "duplicate filter missing"

    def _ping(self, packet: Ping) -> list[Command]:
        return self._flood(packet)


class BufferStays(PCBroadcast):
    """A link that is closed keeps its buffer: the answer opens it again (S.8). Finding: nonconformance."""

    FAULT: ClassVar[str] = "state of a closed link not dropped"

    def close(self, other: int) -> list[Command]:
        kept = self._buffers.get(other)
        commands = super().close(other)
        if kept is not None:
            self._buffers[other] = kept
        return commands


FAULTS: list[type] = [
    UsedAtOnce,
    NothingKept,
    OwnNotKept,
    NewestFirst,
    AnyAnswer,
    PingsTheNewLink,
    NotForwarded,
    NotNoted,
    PingNotNoted,
    BufferStays,
]
