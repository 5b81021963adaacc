"""Faulty implementations of the buffer protocol of Mattern and Fünfrocken."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.mf import MF, Msg


class NoAckWait(MF):
    """Wait left out: messages are posted without waiting for acknowledgements. Finding: fifo or causal."""

    FAULT: ClassVar[str] = "acknowledgement not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _postable(self) -> bool:
        return True

    def _acknowledged(self, sender: int) -> list[Command]:
        return []


class PerReceiverWait(MF):
    """Wait too weak: only an acknowledgement of the message's own receiver is awaited. Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "acknowledgements of other receivers not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._unacked: set[int] = set()

    def _postable(self) -> bool:
        return self._ob[0][0] not in self._unacked

    def _post(self) -> list[Command]:
        commands: list[Command] = []
        while self._ob and self._postable():
            receiver, message = self._ob.popleft()
            self._unacked.add(receiver)
            commands.append(Send(receiver, Msg(message)))
        return commands

    def _acknowledged(self, sender: int) -> list[Command]:
        self._unacked.discard(sender)
        return self._post()


class AnyAck(MF):
    """Footnote 4, wrong reading: consecutive messages to one receiver do not wait, then *any* acknowledgement does.

    Finding: fifo on a network that reorders, causal on any.
    """

    FAULT: ClassVar[str] = "any acknowledgement taken for the last one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _postable(self) -> bool:
        return self._awaited is None or self._awaited == self._ob[0][0]

    def _acknowledged(self, sender: int) -> list[Command]:
        self._awaited = None
        return self._post()


class StackedOutput(MF):
    """Order ignored: the output buffer is a stack. Finding: fifo."""

    FAULT: ClassVar[str] = "FIFO order ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        self._group.require_sendable(destination, message)
        self._ob.appendleft((destination, message))
        return self._post()


class AckMissing(MF):
    """Answer left out: messages are delivered and not acknowledged. Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _get(self, sender: int, packet: Msg) -> list[Command]:
        return [Deliver(sender, packet.message)]


class NoPostOnAck(MF):
    """Trigger left out: an acknowledgement does not release the next message, only a send does. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _acknowledged(self, sender: int) -> list[Command]:
        self._awaited = None
        return []


class AckBeforeInsert(MF):
    """Acknowledged too early: a message is acknowledged on arrival, and inserted only when the next one arrives,
    behind that one. Finding: stuck or causal."""

    FAULT: ClassVar[str] = "acknowledgement before delivery"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck", "causal", "fifo")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._held: list[Deliver] = []

    def _get(self, sender: int, packet: Msg) -> list[Command]:
        acknowledgement, delivery = super()._get(sender, packet)
        assert isinstance(delivery, Deliver)
        if self._held:
            return [acknowledgement, delivery, self._held.pop()]
        self._held.append(delivery)
        return [acknowledgement]


class RetransmissionWithoutFilter(MF):
    """Retransmission without idempotence: the timer repeats the unacknowledged message, the receiver delivers both.

    Finding: duplicate.
    """

    FAULT: ClassVar[str] = "retransmission without idempotence"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._last: Send | None = None

    def _post(self) -> list[Command]:
        commands = super()._post()
        for command in commands:
            if isinstance(command, Send):
                self._last = command
        return commands

    def _acknowledged(self, sender: int) -> list[Command]:
        return super()._acknowledged(sender) if self._awaited == sender else []

    def tick(self) -> list[Command]:
        return [] if self._awaited is None or self._last is None else [self._last]


FAULTS: list[type] = [
    NoAckWait,
    PerReceiverWait,
    AnyAck,
    StackedOutput,
    AckMissing,
    NoPostOnAck,
    AckBeforeInsert,
    RetransmissionWithoutFilter,
]
