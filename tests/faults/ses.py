"""Faulty implementations of the protocol of Schiper, Eggli and Sandoz."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from faults import matrices
from thence.impl.commands import Command
from thence.impl.matrix import Matrix
from thence.impl.ses import SES, Msg


class MergeDiscarded(SES):
    """The vectors that came with a message are not merged into one's own (U.2). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, vectors: Matrix) -> None:
        return


class DestinationOnly(SES):
    """Only the vector of the destination is attached, nothing is passed on. Finding: causal."""

    FAULT: ClassVar[str] = "metadata filtered to the destination only"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _metadata(self, destination: int) -> Matrix:
        nothing = (0,) * self._group.processes
        return tuple(vector if k == destination else nothing for k, vector in enumerate(self._v))


class PairForgotten(SES):
    """What is sent does not get into the sender's vectors (S.3 left out). Finding: fifo."""

    FAULT: ClassVar[str] = "a process's own entries dropped"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        vector = self._v[destination]
        commands = super().causal_send(destination, message)
        self._v[destination] = vector
        return commands


class TimeNotTakenOver(SES):
    """The time of a delivered message is not merged into one's own (U.1). Finding: stuck."""

    FAULT: ClassVar[str] = "clock not updated"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _record_delivery(self, sender: int, packet: Msg) -> None:
        self._last[sender] = packet.time[sender]
        self._merge(packet.vectors)


class OffByOne(SES):
    """One message may be missing (R.1). Finding: fifo or causal."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, packet: Msg) -> bool:
        pairs = zip(self._t, packet.vectors[self._group.identity], strict=True)
        return all(ours + 1 >= theirs for ours, theirs in pairs)


class HeadOnly(matrices.HeadOnly, SES):
    """Only the head of the waiting queue is looked at. Finding: stuck."""

    FAULT: ClassVar[str] = "only the head of the waiting queue looked at"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class NoRescan(matrices.NoRescan, SES):
    """A delivery does not make the waiting messages looked at again. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class TimerDelivers(matrices.TimerDelivers, SES):
    """Arriving messages are only looked at when a timer fires. Finding: over_delay."""

    FAULT: ClassVar[str] = "deliverable messages withheld"
    FINDINGS: ClassVar[tuple[str, ...]] = ("over_delay",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class AbsentDropped(SES):
    """A merge keeps only the entries that came with the message, and forgets the others. Finding: causal."""

    FAULT: ClassVar[str] = "a merge drops what is absent from the incoming entry"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal", "fifo")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, vectors: Matrix) -> None:
        super()._merge(vectors)
        self._v[:] = [
            tuple(count if theirs else 0 for count, theirs in zip(own, came, strict=True))
            for own, came in zip(self._v, vectors, strict=True)
        ]


FAULTS: list[type] = [
    MergeDiscarded,
    AbsentDropped,
    DestinationOnly,
    PairForgotten,
    TimeNotTakenOver,
    OffByOne,
    HeadOnly,
    NoRescan,
    TimerDelivers,
]
