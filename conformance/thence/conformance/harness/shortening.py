"""The shortest failing case of a kind: searched for from several starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from thence.conformance.cases.schedule import Duplicate, Lose, React, Receive, Schedule, describe
from thence.conformance.cases.shrink import ATTEMPTS, Budget, minimise
from thence.conformance.replay.findings import CaseFinding, CaseOutcome, FindingKind

RunAgain: TypeAlias = Callable[[Schedule], CaseOutcome]
"""Runs a schedule as the failing case was run."""

PRINTED_LINES: Final = 12
"""Lines of a subject's output, or of its traceback, that are shown."""

SLOW: Final[frozenset[FindingKind]] = frozenset({"hang", "memory"})
"""The kinds of finding that take as long as a limit allows."""

_AGREE: Final = 2
"""Number of starts whose schedules of equal length settle the search."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A shortened failure.

    Attributes:
        kinds: the kinds of finding for which it is the shortest one known; its case may show others as well.
        operations: the schedule.
        outcome: of its replay.
        reproduced: the replay showed the kinds; if not, the subject is not deterministic, and `outcome` is that of the
            case in which they showed. None: an early end left no time for a replay.
    """

    kinds: tuple[FindingKind, ...]
    operations: Schedule
    outcome: CaseOutcome
    reproduced: bool | None

    @property
    def findings(self) -> tuple[CaseFinding, ...]:
        """The findings that it stands for."""
        return tuple(finding for finding in self.outcome.findings if finding.kind in self.kinds)

    def text(self) -> str:
        """The operations as numbered sentences, then the findings."""
        lines = [f"{number:>3}  {describe(operation)}" for number, operation in enumerate(self.operations, 1)]
        lines.append("     then everything in flight arrives, oldest first, and timers fire")
        lines += told(self.findings)
        if self.reproduced is None:
            lines.append("     (seen once; there was no time to run it again)")
        elif not self.reproduced:
            lines.append("     (seen once; a replay of the same operations came out otherwise)")
        return "\n".join(lines)


def told(findings: Sequence[CaseFinding]) -> list[str]:
    """The findings as lines: those that say the same of two kinds, such as causal and FIFO order, are told once."""
    kinds: dict[tuple[str, str], list[CaseFinding]] = {}
    for finding in findings:
        kinds.setdefault((finding.text, finding.traceback), []).append(finding)
    lines = []
    for (text, traceback), same in kinds.items():
        parted = same[0].divergence
        first, *more = (text,) if parted is None else parted.lines()
        lines.append(f"  => {', '.join(finding.kind for finding in same)}: {first}")
        lines += [f"       {line}" for line in more]
        lines += [f"     | {line}" for line in traceback.splitlines()[-PRINTED_LINES:]]
    return lines


class Shortening:
    """The search for the shortest case of a kind. `shown` is the best one so far, also after Ctrl-C in `run`."""

    def __init__(
        self, kind: FindingKind, starts: Sequence[CaseOutcome], again: RunAgain, hang_s: float,
        quick: RunAgain | None = None, enough: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        """`starts` are cases that show the kind, at least one; `hang_s` are the seconds that a hang takes. `quick` runs
        a case with less judgement than `again`, enough for the kind. After `enough`, nothing is tried any more.
        """
        self._kind = kind
        self._starts = starts
        self._again = again
        self._quick = again if quick is None else quick
        self._hang_s = hang_s
        self._enough = enough
        self._tried = False
        self._best: CaseOutcome | None = None
        self._flaky = False

    def run(self, attempts: int = ATTEMPTS) -> Counterexample:
        """Shortens from one start after the other, until two agree. The number of attempts bounds it, not a clock."""
        budget = Budget(attempts)

        def attempt(schedule: Schedule) -> Schedule | None:
            if self._enough():
                return None
            self._tried = True
            outcome = self._quick(schedule)
            if not outcome.kinds.isdisjoint(SLOW):
                budget.charge_hang(self._hang_s)
            if self._kind not in outcome.kinds:
                return None
            if self._best is None or _plainness(outcome.operations) < _plainness(self._best.operations):
                self._best = outcome
            return outcome.operations

        lengths: list[int] = []
        for start in self._starts:
            lengths.append(len(minimise(start.operations, attempt, budget)))
            if lengths.count(min(lengths)) >= _AGREE:
                break
        if self._best is not None and not self._enough():
            confirmed = self._again(self._best.operations)
            self._flaky = self._kind not in confirmed.kinds
            self._best = self._best if self._flaky else confirmed
        return self.shown

    @property
    def shown(self) -> Counterexample:
        """The shortest case that was run again; the first start, if none showed the kind again."""
        known = self._starts[0] if self._best is None else self._best
        reproduced = self._best is not None and not self._flaky
        return Counterexample((self._kind,), known.operations, known, reproduced if self._tried else None)


def _plainness(schedule: Schedule) -> tuple[int, int, int, str]:
    """Shorter first; then fewer answers from inside deliveries and older packets; then always the same one."""
    answers = sum(isinstance(operation, React) for operation in schedule)
    ages = sum(operation.position for operation in schedule if isinstance(operation, Receive | Duplicate | Lose))
    return len(schedule), answers, ages, repr(schedule)
