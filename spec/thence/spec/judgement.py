"""Judging a finished trace: nothing more will happen, so that a message that never came is not just late.

What the words mean (Almeida, section 4.1, where the property speaks of two messages that a process *delivers*):

- `causal`, `fifo`: between messages that were both delivered at a process, the first delivery of each counting;
- gap: a message delivered over a predecessor that never comes. It is told beside `stuck`, not as a violation;
- stuck: a destination never delivers. Where the trace records arrivals, *withheld* (it arrived) is told from *lost*;
- duplicate: delivered a second time; phantom: delivered where it was not sent to.

The online `thence.spec.oracle` calls a gap a violation at once: without loss the two agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from thence.spec.collector import collector_at_rest
from thence.spec.events import Deliver, Execution
from thence.spec.finished_run import Fault, FinishedRun, PackedRecord
from thence.spec.oracle import CHAINS, Finding, FindingKind

KEPT: Final = 1000
"""Of each kind this many findings are kept, the first ones; the counts are exact."""

KEPT_MISSING: Final = 100_000
"""Of each kind, findings are kept as long as they name no more missing messages than this; the first one always is."""

FEWEST_CHAINS: Final = 5
CHAIN_EVENTS: Final = 10_000_000
"""A chain costs time linear in the run. `CHAINS` are worked out for each kind of finding, fewer in runs so long that
all of them would read more events than this, and never fewer than `FEWEST_CHAINS`."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a finished trace.

    Attributes:
        causal, fifo, stuck, duplicate: the four words above; `causal` and `fifo` are true where nothing is wrong.
        violations: findings `causal`, each with the predecessors that came later.
        gaps: findings `gap`, each with the predecessors that never came.
        duplicates, phantoms: the deliveries in excess.
        undelivered: findings `stuck`, all of them.
        withheld, lost: `undelivered` parted by whether the message arrived; None without recorded arrivals.
        events, sends, deliveries: how many there are; deliveries in excess count.
        violating_deliveries, violating_pairs: how many there are in all.
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
                "undelivered": len(self.undelivered),
                "received_but_undelivered": None if self.withheld is None else len(self.withheld),
                "first_violation_event_index": first.event_index if first else None,
                "first_violation_all_missing": list(first.missing) if first else None,
                "first_violation_chain": list(first.chain) if first else None,
                "first_delivery_over_a_never_delivered_predecessor": _summary(gap),
                "phantoms": len(self.phantoms),
            },
        }


def judge(execution: Execution) -> Judgement:
    """Judge a finished execution; time and memory are linear in its events, where little is wrong.

    Raises:
        ValueError: the events are not an execution: a process out of range, a message sent twice, or an unsent
            message delivered. (`thence.spec.trace` says so with file and line.)
    """
    with collector_at_rest():
        return _judged(execution)


def _judged(execution: Execution) -> Judgement:
    delivered: list[set[str]] = []  # by process; worked out for the first finding: most executions have none
    run = FinishedRun(execution)
    kept: dict[FindingKind, list[Finding]] = {kind: [] for kind in ("causal", "gap", "duplicate", "phantom")}
    room = dict.fromkeys(kept, KEPT_MISSING)
    violating_deliveries = violating_pairs = 0
    fifo = True

    def keep(kind: FindingKind, fault: Fault, missing: Sequence[PackedRecord]) -> None:
        room[kind] -= len(missing)
        if len(kept[kind]) < KEPT and (room[kind] >= 0 or not kept[kind]):
            names = tuple(each.name for each in missing)
            kept[kind].append(Finding(kind, fault.process, fault.message.name, names, fault.index))

    for fault in run.faults():
        if fault.kind != "overtaking":
            keep(fault.kind, fault, ())
            continue
        delivered = delivered or _delivered(execution)
        here = delivered[fault.process]
        late = [each for each in fault.missing if each.name in here]
        if late:
            violating_deliveries += 1
            violating_pairs += len(late)
            fifo = fifo and not any(each.sender == fault.message.sender for each in late)
            keep("causal", fault, late)
        if len(late) < len(fault.missing):
            keep("gap", fault, [each for each in fault.missing if each.name not in here])

    undelivered, received = run.undelivered(), run.received
    return Judgement(
        causal=not kept["causal"],
        fifo=fifo,
        stuck=bool(undelivered),
        duplicate=bool(kept["duplicate"]),
        violations=_with_chains(kept["causal"], run, len(execution.events)),
        gaps=_with_chains(kept["gap"], run, len(execution.events)),
        duplicates=tuple(kept["duplicate"]),
        phantoms=tuple(kept["phantom"]),
        undelivered=undelivered,
        withheld=tuple(f for f in undelivered if (f.process, f.message) in received) if received else None,
        lost=tuple(f for f in undelivered if (f.process, f.message) not in received) if received else None,
        events=len(execution.events),
        sends=run.sends,
        deliveries=run.deliveries,
        violating_deliveries=violating_deliveries,
        violating_pairs=violating_pairs,
    )


def _delivered(execution: Execution) -> list[set[str]]:
    """The messages that each process delivers at some time."""
    found: list[set[str]] = [set() for _ in range(execution.processes)]
    for event in execution.events:
        if isinstance(event, Deliver) and 0 <= event.process < execution.processes:
            found[event.process].add(event.message)
    return found


def _with_chains(findings: Sequence[Finding], run: FinishedRun, events: int) -> tuple[Finding, ...]:
    """The first findings with their chains, which start at each one's first missing message."""
    most = min(CHAINS, max(FEWEST_CHAINS, CHAIN_EVENTS // (events + 1)))
    return tuple(
        replace(finding, chain=run.chain(finding.missing[0], finding.message) if number < most else ())
        for number, finding in enumerate(findings)
    )


def _summary(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {"message": finding.message, "process": finding.process, "missing": finding.missing[0]}
