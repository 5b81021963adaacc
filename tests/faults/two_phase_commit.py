"""Faulty implementations of two-phase commit. All of them show in what they send."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Send
from thence.impl.two_phase_commit import COORDINATOR, Memory, Packet, TwoPhaseCommit, Verdict


class OneVoteIsEnough(TwoPhaseCommit):
    """The coordinator commits at the first vote (C.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "`any` for `all`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_vote(self, memory: Memory, sender: int, agrees: bool) -> list[Send]:
        if not memory.collecting:
            return []
        return self._conclude(memory, "COMMIT" if agrees else "ABORT")


class RefusalIgnored(TwoPhaseCommit):
    """The coordinator waits for others when one has refused (C.3). Finding: nonconformance."""

    FAULT: ClassVar[str] = "case left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_vote(self, memory: Memory, sender: int, agrees: bool) -> list[Send]:
        return super()._receive_vote(memory, sender, agrees) if agrees else []


class VerdictInMemory(TwoPhaseCommit):
    """The coordinator does not force its verdict to the log (C.4), and aborts later. Finding: nonconformance."""

    FAULT: ClassVar[str] = "write to stable storage left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def fail(self) -> list[Send]:
        super().fail()
        if self._coordinates:
            self._log = [record for record in self._log if record not in ("COMMIT", "ABORT")]
        return []


class AgreementInMemory(TwoPhaseCommit):
    """A participant does not force its agreement to the log (P.2), and aborts later. Finding: nonconformance."""

    FAULT: ClassVar[str] = "write to stable storage left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def fail(self) -> list[Send]:
        super().fail()
        self._log = [record for record in self._log if record != "AGREE"]
        return []


class GivesUpInDoubt(TwoPhaseCommit):
    """A participant that has agreed, and restarts, refuses (R.4). Finding: nonconformance."""

    FAULT: ClassVar[str] = "wait avoided"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def restart(self) -> list[Send]:
        return super().restart() or ([Send(COORDINATOR, Packet("REFUSE"))] if self.in_doubt else [])


class TellsOnce(TwoPhaseCommit):
    """The verdict is not told again (C.5). Finding: nonconformance."""

    FAULT: ClassVar[str] = "no retransmission"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def tick(self, timer: str) -> list[Send]:
        return [] if timer == "retransmit" else super().tick(timer)


class WaitsForVotes(TwoPhaseCommit):
    """A vote that does not come is waited for without end (C.3). Finding: nonconformance."""

    FAULT: ClassVar[str] = "time limit left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def tick(self, timer: str) -> list[Send]:
        return [] if timer == "time_limit" else super().tick(timer)


class AcknowledgesOnce(TwoPhaseCommit):
    """A verdict that is known is not acknowledged again (P.5). Finding: nonconformance."""

    FAULT: ClassVar[str] = "acknowledgement of a copy left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_verdict(self, memory: Memory, verdict: Verdict) -> list[Send]:
        known = self.verdict is not None
        return [] if known else super()._receive_verdict(memory, verdict)


class ForgetsToRestart(TwoPhaseCommit):
    """The coordinator restarts, and aborts nothing that has no verdict (R.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "recovery left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def restart(self) -> list[Send]:
        if self._memory is None and self._coordinates and self.verdict is None:
            self._memory = Memory()
            return []
        return super().restart()


FAULTS: list[type] = [
    OneVoteIsEnough,
    RefusalIgnored,
    VerdictInMemory,
    AgreementInMemory,
    GivesUpInDoubt,
    TellsOnce,
    WaitsForVotes,
    AcknowledgesOnce,
    ForgetsToRestart,
]
