"""What a case can show to be wrong, and what is known of the case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Schedule
from thence.conformance.replay.replay import Divergence
from thence.spec import oracle
from thence.spec.events import Deliver, Event, Execution, Receive, Send

FindingKind: TypeAlias = Literal[
    "causal",
    "fifo",
    "total_order",
    "stuck",
    "duplicate",
    "phantom",
    "crash",
    "hang",
    "memory",
    "endless",
    "over_delay",
    "nonconformance",
]

SENT, RECEIVED, DELIVERED = range(3)

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
"""Where an object lives, in its default text: another place in every run."""

LogEntry: TypeAlias = tuple[int, int, str, int | tuple[int, ...]]
"""(SENT, process, message, destination or destinations), (RECEIVED, process, message, sender) or
(DELIVERED, process, message, -1)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with the system under test.

    Attributes:
        kind: `causal`, `fifo`, `stuck`, `duplicate`, `phantom`: of the oracle, see `thence.spec.oracle`;
            `total_order`: two processes deliver two messages in different orders, where the system promises that none
            do, see `thence.spec.delivery_order`; `crash`: it raised, or did not answer as an implementation does;
            `hang`: it did not answer in time; `memory`: it used more memory than its limit; `endless`: packets
            without end; `over_delay`: a message that had arrived,
            and that nothing was missing for, was not delivered at once; `nonconformance`: it did what its protocol does
            not do, or the other way round.
        process: where.
        text: the finding as a sentence, without its kind.
        event_index: how many events came before it, or with `stuck` before the send.
        judged: the oracle's finding; its `event_index` is a position in the case's execution.
        divergence: with `nonconformance`, what was expected, what came, and which guard decided.
        traceback: with `crash`, where the subject raised; of a foreign system, what it wrote on its standard error.
    """

    kind: FindingKind
    process: int
    text: str
    event_index: int
    judged: oracle.Finding | None = None
    divergence: Divergence | None = None
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def from_oracle(found: oracle.Finding, event_index: int) -> Finding:
    """The oracle's finding, at a position in the execution."""
    assert found.kind != "gap", "gaps are found in finished traces only"
    judged = replace(found, event_index=event_index)
    return Finding(found.kind, found.process, str(found).partition(": ")[2], event_index, judged)


@dataclass(frozen=True, slots=True)
class Delay:
    """A message that a process kept back though nothing was missing for it.

    Attributes:
        process, message: which, and where.
        event_index: how many events there were when it should have been delivered.
        arrivals: messages that arrived there before it was delivered after all.
        delivered: whether it ever was.
    """

    process: int
    message: str
    event_index: int
    arrivals: int
    delivered: bool

    @property
    def rank(self) -> tuple[bool, int]:
        """Longer delays have higher ranks."""
        return not self.delivered, self.arrivals

    def __str__(self) -> str:
        others = {0: "no other message", 1: "another message"}.get(self.arrivals, f"{self.arrivals:,} other messages")
        until = f"while {others} arrived" if self.delivered else f"to the end, while {others} arrived"
        return f"p{self.process} kept {self.message} back {until}, though nothing was missing"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What happened in one case.

    Attributes:
        settings: what network and application were allowed.
        operations: the operations of the schedule that were possible, each packet named by its channel: replaying
            them gives the same case.
        findings: what was wrong, in the order in which it showed.
        log: the execution, compactly.
        steps: how often a process was called.
        matched: events of the protocol that the subject was found to follow.
        arrivals: packets that brought a message which was still to be delivered.
        kept: messages of which that was not done at once, though nothing was missing: process, message, and how many
            events there were.
    """

    settings: Settings
    operations: Schedule
    findings: tuple[Finding, ...]
    log: tuple[LogEntry, ...]
    steps: int
    matched: int = 0
    arrivals: int = 0
    kept: tuple[tuple[int, str, int], ...] = ()

    @property
    def withheld(self) -> int:
        """How many messages were kept back though nothing was missing."""
        return len(self.kept)

    @property
    def delays(self) -> tuple[Delay, ...]:
        """The messages that were kept back, and for how long."""
        return tuple(self._delay(*kept) for kept in self.kept)

    @property
    def longest_delay(self) -> Delay | None:
        """The first of the longest delays."""
        return max(self.delays, key=lambda delay: delay.rank, default=None)

    def _delay(self, process: int, message: str, event_index: int) -> Delay:
        arrivals = 0
        for kind, where, which, _ in self.log[event_index:]:
            if (kind, where, which) == (DELIVERED, process, message):
                return Delay(process, message, event_index, arrivals, True)
            arrivals += (kind, where) == (RECEIVED, process)
        return Delay(process, message, event_index, arrivals, False)

    @property
    def kinds(self) -> frozenset[FindingKind]:
        """The kinds of the findings."""
        return frozenset(finding.kind for finding in self.findings)

    @property
    def execution(self) -> Execution:
        """The case as an outside observer sees it."""
        return Execution(self.settings.processes, tuple(map(event_of, self.log)))

    def digest(self) -> int:
        """64 bits of everything that the case did and showed, as a signed number, the same on every machine."""
        shown: Sequence[Any] = (self.log, [str(finding) for finding in self.findings], self.steps, self.matched)
        text = _ADDRESS.sub("", repr(shown))
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def event_of(entry: LogEntry) -> Event:
    """The entry of a log as an event."""
    kind, process, message, other = entry
    if kind == SENT:
        return Send(process, message, other if isinstance(other, tuple) else (other,))
    if kind == RECEIVED:
        assert isinstance(other, int)
        return Receive(process, message, other)
    return Deliver(process, message)
