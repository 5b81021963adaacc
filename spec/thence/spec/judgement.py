"""Judging a finished trace: nothing more will happen, so that a message that never came is not just late.

What the words mean (Almeida, section 4.1, where the property speaks of two messages that a process *delivers*):

- `causal`, `fifo`: between messages that were both delivered at a process, the first delivery of each counting;
- gap: a message delivered over a predecessor that never comes. It is told beside `stuck`, not as a violation;
- stuck: a destination never delivers. Where the trace records arrivals, *withheld* (it arrived) is told from *lost*;
- duplicate: delivered a second time; phantom: delivered where it was not sent to.

The online `thence.spec.oracle` calls a gap a violation at once: without loss the two agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from thence.spec.collector import collector_at_rest
from thence.spec.events import Execution
from thence.spec.finished_run import Fault, FinishedRun
from thence.spec.oracle import CHAINS, Finding, FindingKind

KEPT: Final = 1000
"""Of each kind this many findings are kept, the first ones; the counts are exact."""

KEPT_MISSING: Final = 100_000
"""Of each kind, findings are kept as long as they name no more missing messages than this; the first one always is."""

FEWEST_CHAINS: Final = 5
CHAIN_EVENTS: Final = 2_000_000
"""A chain costs time linear in the run. `CHAINS` are worked out for each kind of finding. In runs so long that these
would read more events than this there are fewer, of violations first, then of gaps, and never fewer than
`FEWEST_CHAINS` of both together: as many as are shown."""


NOTHING_DELIVERED: Final = "nothing was delivered: no verdict"
INFERRED: Final = "its clocks alone do not show late messages: no verdict"


def why_no_verdict(header: Mapping[str, Any], *, happened: bool) -> str | None:
    """Why a recording in which nothing is wrong has no verdict; None where it has one.

    Args:
        header: what its recorder said. Late messages do not show where sends and deliveries are `inferred` from clocks.
        happened: whether anything happened that could have been wrong, such as a delivery.
    """
    return NOTHING_DELIVERED if not happened else INFERRED if header.get("inferred") is True else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a finished trace.

    Attributes:
        causal, fifo, stuck, duplicate: the four words above; `causal` and `fifo` are true where nothing is wrong.
        violations: findings `causal`, each with the predecessors that came later.
        gaps: findings `gap`, each with the predecessors that never came.
        duplicates, phantoms: the deliveries in excess.
        undelivered: findings `stuck`.
        withheld, lost: findings `stuck` parted by whether the message arrived; None without recorded arrivals.
        events, sends, deliveries: how many there are; deliveries in excess count.
        violating_deliveries, violating_pairs: how many there are in all.
        undelivered_count, withheld_count: how many deliveries there are in all that are stuck, and withheld.
        phantom_count: how many there are in all.
    """

    causal: bool
    fifo: bool
    stuck: bool
    duplicate: bool
    violations: tuple[Finding, ...]
    gaps: tuple[Finding, ...]
    duplicates: tuple[Finding, ...]
    phantoms: tuple[Finding, ...]
    undelivered: tuple[Finding, ...]
    withheld: tuple[Finding, ...] | None
    lost: tuple[Finding, ...] | None
    events: int
    sends: int
    deliveries: int
    violating_deliveries: int
    violating_pairs: int
    undelivered_count: int
    withheld_count: int | None
    phantom_count: int

    @property
    def first_violation(self) -> Finding | None:
        """The first delivery over a predecessor that came later."""
        return self.violations[0] if self.violations else None

    @property
    def faultless(self) -> bool:
        """Causal delivery, everything delivered, once, and only where it was sent to."""
        return self.causal and not (self.stuck or self.duplicate or self.phantoms or self.gaps)

    def findings(self) -> tuple[Finding, ...]:
        """All findings kept: violations, gaps, duplicates, phantoms, then what is stuck."""
        return self.violations + self.gaps + self.duplicates + self.phantoms + self.undelivered

    def told(self, most: int | None = None) -> list[str]:
        """The first `most` findings in words, by default all that are kept, and a line where there are more."""
        found = self.findings()
        lines = [str(finding) for finding in found[:most]]
        dropped = self.violating_deliveries > len(self.violations) or self.undelivered_count > len(self.undelivered)
        return [*lines, "more was found, and is not shown"] if dropped or len(found) > len(lines) else lines

    @property
    def first_finding(self) -> Finding | None:
        """The finding that a picture shows: the first one; None where nothing is wrong."""
        return next(iter(self.findings()), None)

    def to_json(self) -> dict[str, Any]:
        """The verdict and its detail, as JSON values."""
        first, gap = self.first_violation, self.gaps[0] if self.gaps else None
        return {
            "causal": self.causal,
            "fifo": self.fifo,
            "stuck": self.stuck,
            "duplicate": self.duplicate,
            "first_violation": _summary(first),
            "detail": {
                "events": self.events,
                "sends": self.sends,
                "deliveries": self.deliveries,
                "violating_deliveries": self.violating_deliveries,
                "violating_pairs": self.violating_pairs,
                "undelivered": self.undelivered_count,
                "received_but_undelivered": self.withheld_count,
                "first_violation_event_index": first.event_index if first else None,
                "first_violation_all_missing": list(first.missing) if first else None,
                "first_violation_chain": list(first.chain) if first else None,
                "first_delivery_over_a_never_delivered_predecessor": _summary(gap),
                "phantoms": self.phantom_count,
            },
        }


_Kept: TypeAlias = tuple[Fault, Sequence[int]]
"""A fault that is told, and the numbers of the messages that are missing."""


def judge(execution: Execution) -> Judgement:
    """Judge a finished execution; time and memory are linear in its events, where little is wrong.

    Raises:
        ValueError: the events are not an execution: a process out of range, a message sent twice, or an unsent
            message delivered. (`thence.spec.trace` says so with file and line.)
    """
    with collector_at_rest():
        return _judged(execution)


def _judged(execution: Execution) -> Judgement:
    run = FinishedRun(execution)
    kept: dict[FindingKind, list[_Kept]] = {kind: [] for kind in ("causal", "gap", "duplicate", "phantom")}
    room = dict.fromkeys(kept, KEPT_MISSING)
    phantoms = 0

    def wanted(kind: FindingKind) -> bool:
        return len(kept[kind]) < KEPT and (room[kind] >= 0 or not kept[kind])

    def keep(kind: FindingKind, fault: Fault, missing: Sequence[int]) -> None:
        room[kind] -= len(missing)
        if wanted(kind):
            kept[kind].append((fault, missing))

    for fault in run.faults():
        if fault.kind != "overtaking":
            phantoms += fault.kind == "phantom"
            keep(fault.kind, fault, ())
            continue
        late, never = run.missing(fault)
        if late:
            keep("causal", fault, late)
        if never:
            keep("gap", fault, never)
        run.tells_late, run.tells_never = wanted("causal"), wanted("gap")

    stuck = _stuck(run, execution.processes)
    most = _most_chains(len(execution.events))
    return Judgement(
        causal=not kept["causal"],
        fifo=run.fifo,
        stuck=bool(stuck.count),
        duplicate=bool(kept["duplicate"]),
        violations=_findings("causal", kept["causal"], run, most),
        gaps=_findings("gap", kept["gap"], run, most if most == CHAINS else most - len(kept["causal"])),
        duplicates=_findings("duplicate", kept["duplicate"], run),
        phantoms=_findings("phantom", kept["phantom"], run),
        undelivered=stuck.first,
        withheld=stuck.withheld if run.arrivals else None,
        lost=stuck.lost if run.arrivals else None,
        events=len(execution.events),
        sends=run.sends,
        deliveries=run.deliveries,
        violating_deliveries=run.violating_deliveries,
        violating_pairs=run.violating_pairs,
        undelivered_count=stuck.count,
        withheld_count=stuck.withheld_count if run.arrivals else None,
        phantom_count=phantoms,
    )


@dataclass(frozen=True, slots=True)
class _Stuck:
    """The deliveries that are missing at the end: the first ones, and how many; the same parted by arrival."""

    first: tuple[Finding, ...]
    withheld: tuple[Finding, ...]
    lost: tuple[Finding, ...]
    count: int
    withheld_count: int


def _stuck(run: FinishedRun, processes: int) -> _Stuck:
    first: list[Finding] = []
    withheld: list[Finding] = []
    lost: list[Finding] = []
    count = withheld_count = 0
    for record in run.undelivered():
        count += record.undelivered.bit_count()
        if len(first) >= KEPT and not run.arrivals:
            continue
        for process in range(processes):
            if not record.undelivered >> process & 1:
                continue
            arrived = (process, record.message) in run.received
            withheld_count += arrived
            for findings in (first, withheld if arrived else lost):
                if len(findings) < KEPT:
                    at = run.sent_at(record.message)
                    findings.append(Finding("stuck", process, run.name(record.message), (), at))
    return _Stuck(tuple(first), tuple(withheld), tuple(lost), count, withheld_count)


def _most_chains(events: int) -> int:
    """For how many findings a chain is worked out: of each kind `CHAINS`, in longer runs of all kinds fewer."""
    return min(CHAINS, max(FEWEST_CHAINS, CHAIN_EVENTS // (events + 1)))


def _findings(kind: FindingKind, kept: Sequence[_Kept], run: FinishedRun, chains: int = 0) -> tuple[Finding, ...]:
    """The findings, the first ones with their chains, which start at each one's first missing message."""
    found = []
    name = cache(run.name)  # findings in a row miss the same messages
    for number, (fault, missing) in enumerate(kept):
        chain = run.chain(missing[0], fault.message) if number < chains else ()
        names, explained = tuple(map(name, missing)), tuple(map(name, chain))
        found.append(Finding(kind, fault.process, name(fault.message), names, fault.index, explained))
    return tuple(found)


def _summary(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {"message": finding.message, "process": finding.process, "missing": finding.missing[0]}
