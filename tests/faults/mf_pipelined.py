"""Faulty implementations of the buffer protocol of Mattern and Fünfrocken with its footnote 4. Channels are FIFO."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Deliver
from thence.impl.mf_pipelined import MFPipelined, Msg


class NoAckWait(MFPipelined):
    """Messages to different receivers do not wait either (OB.4). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "acknowledgement not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _postable(self, receiver: int) -> bool:
        return True

    def _acknowledged(self, sender: int) -> list[Command]:
        return []


class AnyAck(MFPipelined):
    """The wrong reading: an acknowledgement of any message lets the next one go. Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "any acknowledgement taken for the last one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _acknowledged(self, sender: int) -> list[Command]:
        self._unacked = 0
        return self._post()


class StackedOutput(MFPipelined):
    """The output buffer is a stack. Finding: fifo."""

    FAULT: ClassVar[str] = "FIFO order ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        self._group.require_sendable(destination, message)
        self._ob.appendleft((destination, message))
        return self._post()


class AckMissing(MFPipelined):
    """Messages are delivered and not acknowledged. Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _get(self, sender: int, packet: Msg) -> list[Command]:
        return [Deliver(sender, packet.message)]


class NoPostOnAck(MFPipelined):
    """An acknowledgement does not release the next message, only a send does. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _acknowledged(self, sender: int) -> list[Command]:
        self._unacked -= 1
        return []


class OneOutstanding(MFPipelined):
    """One message to another receiver may be unacknowledged. Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal", "crash")
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _postable(self, receiver: int) -> bool:
        return self._unacked <= 1 or receiver == self._receiver

    def _acknowledged(self, sender: int) -> list[Command]:
        self._unacked -= 1
        return self._post()


FAULTS: list[type] = [
    NoAckWait,
    AnyAck,
    StackedOutput,
    AckMissing,
    NoPostOnAck,
    OneOutstanding,
]
