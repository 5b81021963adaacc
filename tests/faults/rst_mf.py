"""Faulty implementations of the protocol of Raynal, Schiper and Toueg in Mattern and Fünfrocken's form."""

from __future__ import annotations

from typing import ClassVar

from faults import matrices
from thence.impl.matrix import Matrix, counted
from thence.impl.rst_mf import RSTMF


class MergeDiscarded(RSTMF):
    """Of a delivered message's matrix only its own entry is taken over (R.4). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        self._source = sender
        return super()._deliverable(sender, meta)

    def _merge(self, meta: Matrix) -> None:
        self._m[self._source] = counted(self._m[self._source], self._group.identity)


class ColumnOnly(RSTMF):
    """Metadata filtered to the destination: only its column is attached, nothing is passed on. Finding: causal."""

    FAULT: ClassVar[str] = "metadata filtered to the destination only"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _metadata(self, destination: int) -> Matrix:
        return tuple(tuple(n if j == destination else 0 for j, n in enumerate(row)) for row in self._m)


class NotExactlyOneGreater(RSTMF):
    """The sender's entry may be any greater (R.1). Finding: fifo."""

    FAULT: ClassVar[str] = "`exactly one greater` left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal", "stuck")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        me = self._group.identity
        rows = enumerate(zip(self._m, meta, strict=True))
        return all(theirs[me] > ours[me] if k == sender else theirs[me] <= ours[me] for k, (ours, theirs) in rows)


class SenderOnly(RSTMF):
    """Only the sender's entry is looked at (R.2 left out). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "the other entries left out of the condition"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        me = self._group.identity
        return meta[sender][me] == self._m[sender][me] + 1


class OffByOne(RSTMF):
    """One message may be missing (R.2). Finding: causal."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        me = self._group.identity
        rows = enumerate(zip(self._m, meta, strict=True))
        return meta[sender][me] == self._m[sender][me] + 1 and all(
            k == sender or theirs[me] <= ours[me] + 1 for k, (ours, theirs) in rows
        )


class HeadOnly(matrices.HeadOnly, RSTMF):
    """Only the head of the waiting queue is looked at. Finding: stuck."""

    FAULT: ClassVar[str] = "only the head of the waiting queue looked at"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class NoRescan(matrices.NoRescan, RSTMF):
    """A delivery does not make the waiting messages looked at again. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class TimerDelivers(matrices.TimerDelivers, RSTMF):
    """Arriving messages are only looked at when a timer fires. Finding: over_delay."""

    FAULT: ClassVar[str] = "deliverable messages withheld"
    FINDINGS: ClassVar[tuple[str, ...]] = ("over_delay",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


FAULTS: list[type] = [
    MergeDiscarded,
    ColumnOnly,
    NotExactlyOneGreater,
    SenderOnly,
    OffByOne,
    HeadOnly,
    NoRescan,
    TimerDelivers,
]
