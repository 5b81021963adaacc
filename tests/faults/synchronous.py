"""Faulty implementations of synchronous communication. That it deadlocks is no fault of theirs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.synchronous import Ack, Msg, Synchronous


class DoesNotBlock(Synchronous):
    """Sends without waiting: the network is as it is. Finding: fifo or causal."""

    FAULT: ClassVar[str] = "acknowledgement not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        self._group.require_sendable(destination, message)
        return [Send(destination, Msg(message))]

    def receive(self, sender: int, packet: object) -> list[Command]:
        return [] if isinstance(packet, Ack) else super().receive(sender, packet)


class AcknowledgesOnArrival(Synchronous):
    """A message is acknowledged when it arrives, and accepted in any order: the newest first. Finding: fifo."""

    FAULT: ClassVar[str] = "acknowledgement before delivery"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def receive(self, sender: int, packet: object) -> list[Command]:
        commands = super().receive(sender, packet)
        if isinstance(packet, Msg):
            self._arrived.rotate(1)
            return [*(c for c in commands if isinstance(c, Deliver)), Send(sender, Ack())]
        return [command for command in commands if isinstance(command, Deliver)]


class AckMissing(Synchronous):
    """A message is not acknowledged: its sender waits for ever. Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _accept(self) -> list[Command]:
        return [command for command in super()._accept() if isinstance(command, Deliver)]


class NotAcceptedAfterwards(Synchronous):
    """What arrives while the process waits is not looked at again. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def receive(self, sender: int, packet: object) -> list[Command]:
        if isinstance(packet, Ack) and self._awaited == sender:
            self._awaited = None
            return []
        return super().receive(sender, packet)


class AcceptsTwice(Synchronous):
    """An acceptance leaves the message among those that have arrived, once. Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _accept(self) -> list[Command]:
        commands = super()._accept()
        return [*commands, *(command for command in commands if isinstance(command, Deliver))]


FAULTS: list[type] = [
    DoesNotBlock,
    AcknowledgesOnArrival,
    AckMissing,
    NotAcceptedAfterwards,
    AcceptsTwice,
]
