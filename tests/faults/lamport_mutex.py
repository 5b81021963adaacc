"""Faulty implementations of Lamport's mutual exclusion."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Command, Send
from thence.impl.lamport_mutex import Ack, LamportMutex, Release


class EntersWhenFirst(LamportMutex):
    """A process waits for nothing later from the others (R5.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "delivery condition left out"

    def _has_later_messages(self) -> bool:
        return self._own is not None


class TiesLost(LamportMutex):
    """Of two requests with the same time each comes first (R5.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "ties not broken"

    def _comes_first(self) -> bool:
        return self._own is not None and self._queue[0][0] == self._own[0]


class TwoLater(LamportMutex):
    """A process waits for packets that are two later than its request (R5.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "off by one"

    def _has_later_messages(self) -> bool:
        return self._own is not None and all(self._heard[process] > self._own[0] + 1 for process in self._others)


class Deaf(LamportMutex):
    """The clock does not follow what is received (IR.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"

    def _see(self, sender: int, time: int) -> None:
        self._heard[sender] = time
        self._advance()


class StandsStill(LamportMutex):
    """The clock does not advance when the application leaves (IR.1). Finding: crash."""

    FAULT: ClassVar[str] = "own counter not advanced"

    def release(self) -> list[Command]:
        before = self._clock
        commands = super().release()
        self._clock = before
        return [Send(process, Release(before)) for process in self._others if commands]


class AcknowledgesWithTheirTime(LamportMutex):
    """An acknowledgment has the time of the request (R2.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "wrong number acknowledged"

    def _receive_request(self, sender: int, time: int) -> list[Command]:
        super()._receive_request(sender, time)
        return [Send(sender, Ack(time))]


class TellsOne(LamportMutex):
    """Only the first of the others is told that the application has left (R3.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "release sent to some"

    def release(self) -> list[Command]:
        return super().release()[:1]


class KeepsRequests(LamportMutex):
    """A request stays in the queue when its process has left (R4.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "waiting requests kept"

    def _receive_release(self, sender: int, time: int) -> list[Command]:
        entry = self._entry_of(sender)
        commands = super()._receive_release(sender, time)
        if entry is not None and self._own is not None:
            self._queue.insert(0, entry)
        return commands


FAULTS: list[type] = [
    EntersWhenFirst, TiesLost, TwoLater, Deaf, StandsStill, AcknowledgesWithTheirTime, TellsOne, KeepsRequests,
]  # fmt: skip
