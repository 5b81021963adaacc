"""Faulty implementations of the protocol of Raynal, Schiper and Toueg."""

from __future__ import annotations

from typing import Any, ClassVar

from thence.impl.commands import Command, Deliver
from thence.impl.rst import RST, Matrix, Row


class MergeDiscarded(RST):
    """The matrix that came with a message is not merged into one's own (U.3 left out). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, meta: Matrix) -> None:
        return


class ColumnOnly(RST):
    """Metadata filtered to the destination: only its column is attached, nothing is passed on. Finding: causal."""

    FAULT: ClassVar[str] = "metadata filtered to the destination only"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _metadata(self, destination: int) -> Matrix:
        return tuple(
            tuple(count if receiver == destination else 0 for receiver, count in enumerate(row)) for row in self._sent
        )


class OwnEntriesDropped(RST):
    """The sender leaves its own row out of what it attaches. Finding: fifo."""

    FAULT: ClassVar[str] = "a process's own entries dropped"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _metadata(self, destination: int) -> Matrix:
        nothing = (0,) * self._group.processes
        return tuple(nothing if k == self._group.identity else row for k, row in enumerate(self._sent))


class ClockAfterDelivery(RST):
    """The matrix is updated when the next packet arrives, not with the delivery. Finding: causal."""

    FAULT: ClassVar[str] = "clock updated after the delivery callback"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._pending: list[tuple[int, Matrix]] = []

    def receive(self, sender: int, packet: Any) -> list[Command]:
        for earlier, meta in self._pending:
            self._count(earlier, self._group.identity)
            self._merge(meta)
        self._pending.clear()
        return super().receive(sender, packet)

    def _record_delivery(self, sender: int, meta: Matrix) -> None:
        self._deliv[sender] += 1
        self._pending.append((sender, meta))


class HeadOnly(RST):
    """Only the head of the waiting queue is looked at. Finding: stuck."""

    FAULT: ClassVar[str] = "only the head of the waiting queue looked at"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliver_from(self, start: int) -> list[Command]:
        commands: list[Command] = []
        while self._waiting and self._deliverable(self._waiting[0][0], self._waiting[0][1].meta):
            sender, packet = self._waiting.pop(0)
            commands.append(Deliver(sender, packet.message))
            self._record_delivery(sender, packet.meta)
        return commands


class NoRescan(RST):
    """A delivery does not make the waiting messages looked at again. Finding: stuck (and over-delay before that)."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliver_from(self, start: int) -> list[Command]:
        sender, packet = self._waiting[start]
        if not self._deliverable(sender, packet.meta):
            return []
        del self._waiting[start]
        self._record_delivery(sender, packet.meta)
        return [Deliver(sender, packet.message)]


class SenderLeftOut(RST):
    """The delivery condition skips the sender's own entry. Finding: fifo."""

    FAULT: ClassVar[str] = "the sender's entry left out of the condition"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        column = self._group.identity
        return all(self._deliv[k] >= row[column] for k, row in enumerate(meta) if k != sender)


class OffByOne(RST):
    """The delivery condition is content with one message less. Finding: fifo or causal."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        column = self._group.identity
        return all(self._deliv[k] + 1 >= row[column] for k, row in enumerate(meta))


class RowOverwritten(RST):
    """The received matrix replaces one's own instead of being merged entry by entry. Finding: fifo or causal; or crash,
    when a peer that knows of more messages is not believed."""

    FAULT: ClassVar[str] = "row overwritten"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "crash", "stuck", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, meta: Matrix) -> None:
        self._sent = list(meta)


class RowOverwrittenOnSend(RST):
    """A send starts the sender's own row anew, with only itself in it. Finding: fifo; or crash, when a peer that still
    knows of more messages is not believed."""

    FAULT: ClassVar[str] = "row overwritten on send"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "crash", "stuck", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _record_send(self, destination: int) -> None:
        row: Row = tuple(int(receiver == destination) for receiver in range(self._group.processes))
        self._sent[self._group.identity] = row


class TimerDelivers(RST):
    """Arriving messages are only looked at when a timer fires. Finding: over_delay; stuck, if there is no timer."""

    FAULT: ClassVar[str] = "deliverable messages withheld"
    FINDINGS: ClassVar[tuple[str, ...]] = ("over_delay", "stuck")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def receive(self, sender: int, packet: Any) -> list[Command]:
        self._group.require_sender(sender)
        self._require_consistent(sender, packet)
        self._waiting.append((sender, packet))
        return []

    def tick(self) -> list[Command]:
        return self._deliver_from(0)


class AbsentDropped(RST):
    """A merge keeps only the entries that came with the message, and forgets the others. Finding: causal."""

    FAULT: ClassVar[str] = "a merge drops what is absent from the incoming entry"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal", "fifo")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, meta: Matrix) -> None:
        super()._merge(meta)
        self._sent[:] = [
            tuple(count if theirs else 0 for count, theirs in zip(own, came, strict=True))
            for own, came in zip(self._sent, meta, strict=True)
        ]


FAULTS: list[type] = [
    MergeDiscarded,
    AbsentDropped,
    ColumnOnly,
    OwnEntriesDropped,
    ClockAfterDelivery,
    HeadOnly,
    NoRescan,
    SenderLeftOut,
    OffByOne,
    RowOverwritten,
    RowOverwrittenOnSend,
    TimerDelivers,
]
