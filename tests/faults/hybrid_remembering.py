"""Faulty implementations of Algorithm 2 with remembered permits."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Command
from thence.impl.hybrid_basic import Per
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.hybrid_remembering import HybridRemembering

from . import hybrid_optimal


class ForgetsEarlyPermits(HybridRemembering):
    """A permit that comes before its message is ignored, as published. Finding: nonconformance."""

    FAULT: ClassVar[str] = "a permit that comes early is ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        return super()._receive_permit(sender, mid) if mid <= self._ld[sender] else []


class SpeaksForItselfOnly(HybridRemembering):
    """A permit is not taken for the earlier messages of its sender. Finding: nonconformance."""

    FAULT: ClassVar[str] = "a permit speaks for its own message only"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _await_permit(self, permit: Per) -> None:
        if self._lp[permit.sender] < permit.mid:
            HybridOptimal._await_permit(self, permit)

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        self._lp[sender] = max(self._lp[sender], mid)
        return HybridOptimal._receive_permit(self, sender, mid)


class LatestByArrival(HybridRemembering):
    """The permit that came last counts, and not the latest one. Finding: nonconformance."""

    FAULT: ClassVar[str] = "an old permit that comes late takes the place of the latest"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        commands = super()._receive_permit(sender, mid)
        self._lp[sender] = mid
        return commands


class ArrivalOrder(hybrid_optimal.ArrivalOrder, HybridRemembering):
    """As for Algorithm 2: the receive buffer does not look for the predecessor. Finding: causal."""


class NoDuplicateFilter(hybrid_optimal.NoDuplicateFilter, HybridRemembering):
    """As for Algorithm 2: what arrives twice is delivered twice. Finding: duplicate."""


FAULTS: list[type] = [ForgetsEarlyPermits, SpeaksForItselfOnly, LatestByArrival, ArrivalOrder, NoDuplicateFilter]
