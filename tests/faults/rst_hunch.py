"""Faulty implementations of the variant of Raynal, Schiper and Toueg's protocol of which Kuper has a hunch."""

from __future__ import annotations

from typing import ClassVar

from faults import matrices
from thence.impl.matrix import Matrix, counted
from thence.impl.rst_hunch import RSTHunch


class MergeDiscarded(RSTHunch):
    """Nothing is taken over from a delivered message's matrix (U.2). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, meta: Matrix) -> None:
        return


class ColumnOnly(RSTHunch):
    """Metadata filtered to the destination: only its column is attached, nothing is passed on. Finding: causal."""

    FAULT: ClassVar[str] = "metadata filtered to the destination only"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _metadata(self, destination: int) -> Matrix:
        return tuple(tuple(n if j == destination else 0 for j, n in enumerate(row)) for row in self._sent)


class CountedAgain(RSTHunch):
    """Step 2 after a delivery is not dropped: the message is counted a second time. Finding: crash, when
    its sender is told of a message that it has not sent; or stuck."""

    FAULT: ClassVar[str] = "counted at both ends"
    FINDINGS: ClassVar[tuple[str, ...]] = ("crash", "stuck")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _record_delivery(self, sender: int, meta: Matrix) -> None:
        super()._record_delivery(sender, meta)
        self._sent[sender] = counted(self._sent[sender], self._group.identity)


class OriginalCondition(RSTHunch):
    """The condition is left as it was: a message that is counted before it is sent waits for itself. Finding: stuck."""

    FAULT: ClassVar[str] = "the sender's entry not treated apart"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        me = self._group.identity
        return all(n >= row[me] for n, row in zip(self._deliv, meta, strict=True))


class NotExactlyOneGreater(RSTHunch):
    """The sender's entry may be any greater (D.1). Finding: fifo."""

    FAULT: ClassVar[str] = "`exactly one greater` left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal", "stuck")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        me = self._group.identity
        rows = enumerate(zip(self._deliv, meta, strict=True))
        return all(row[me] > n if k == sender else n >= row[me] for k, (n, row) in rows)


class HeadOnly(matrices.HeadOnly, RSTHunch):
    """Only the head of the waiting queue is looked at. Finding: stuck."""

    FAULT: ClassVar[str] = "only the head of the waiting queue looked at"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class NoRescan(matrices.NoRescan, RSTHunch):
    """A delivery does not make the waiting messages looked at again. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


class TimerDelivers(matrices.TimerDelivers, RSTHunch):
    """Arriving messages are only looked at when a timer fires. Finding: over_delay."""

    FAULT: ClassVar[str] = "deliverable messages withheld"
    FINDINGS: ClassVar[tuple[str, ...]] = ("over_delay",)
    NEEDS: ClassVar[tuple[str, ...]] = ()


FAULTS: list[type] = [
    MergeDiscarded,
    ColumnOnly,
    CountedAgain,
    OriginalCondition,
    NotExactlyOneGreater,
    HeadOnly,
    NoRescan,
    TimerDelivers,
]
