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
from thence.spec.events import Deliver, Execution, Send
from thence.spec.happens_before import HappensBefore
from thence.spec.oracle import CHAINS, Finding, FindingKind, Oracle

KEPT: Final = 1000
"""Of each kind this many findings are kept, the first ones; the counts are exact."""


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
    delivered: set[tuple[int, str]] | None = None  # worked out for the first finding; most executions have none
    received: set[tuple[int, str]] = set()
    oracle = Oracle(execution.processes)
    kept: dict[FindingKind, list[Finding]] = {kind: [] for kind in ("causal", "gap", "duplicate", "phantom")}
    sends = deliveries = violating_deliveries = violating_pairs = 0
    fifo = True

    def keep(finding: Finding) -> None:
        if len(kept[finding.kind]) < KEPT:
            kept[finding.kind].append(finding)

    for index, event in enumerate(execution.events):
        findings: tuple[Finding, ...] = ()
        try:
            if isinstance(event, Deliver):
                deliveries += 1
                findings = oracle.deliver(event.process, event.message)
            elif isinstance(event, Send):
                sends += 1
                oracle.send(event.process, event.message, event.destinations)
            else:
                oracle.observe(event)
                received.add((event.process, event.message))
        except ValueError as error:
            raise ValueError(f"event {index}: {error}") from error
        if not findings:
            continue
        if not oracle.knows(findings[0].message):
            raise ValueError(f"event {index}: message {findings[0].message!r} is delivered before it is sent")
        if delivered is None:
            delivered = {(event.process, event.message) for event in execution.events if isinstance(event, Deliver)}
        for finding in findings:
            here = finding.process
            late = tuple(missing for missing in finding.missing if (here, missing) in delivered)
            match finding.kind:
                case "causal":
                    never = tuple(missing for missing in finding.missing if (here, missing) not in delivered)
                    if late:
                        violating_deliveries += 1
                        violating_pairs += len(late)
                        keep(replace(finding, missing=late))
                    if never:
                        keep(replace(finding, kind="gap", missing=never))
                case "fifo":
                    fifo = fifo and not late
                case _:
                    keep(finding)

    undelivered = oracle.at_quiescence()
    arrivals = bool(received)
    relation = HappensBefore(execution) if kept["causal"] or kept["gap"] else None
    return Judgement(
        causal=not kept["causal"],
        fifo=fifo,
        stuck=bool(undelivered),
        duplicate=bool(kept["duplicate"]),
        violations=_with_chains(kept["causal"], relation),
        gaps=_with_chains(kept["gap"], relation),
        duplicates=tuple(kept["duplicate"]),
        phantoms=tuple(kept["phantom"]),
        undelivered=undelivered,
        withheld=tuple(f for f in undelivered if (f.process, f.message) in received) if arrivals else None,
        lost=tuple(f for f in undelivered if (f.process, f.message) not in received) if arrivals else None,
        events=len(execution.events),
        sends=sends,
        deliveries=deliveries,
        violating_deliveries=violating_deliveries,
        violating_pairs=violating_pairs,
    )


def _with_chains(findings: Sequence[Finding], relation: HappensBefore | None) -> tuple[Finding, ...]:
    """Chains that start at each finding's own first missing message."""
    if relation is None:
        return tuple(findings)
    return tuple(
        replace(finding, chain=relation.chain(finding.missing[0], finding.message) if number < CHAINS else ())
        for number, finding in enumerate(findings)
    )


def _summary(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {"message": finding.message, "process": finding.process, "missing": finding.missing[0]}
