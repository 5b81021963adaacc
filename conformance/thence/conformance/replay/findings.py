"""The findings and the outcome of one case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, Literal, TypeAlias

from thence.conformance.cases.network import Claim, Settings
from thence.conformance.cases.schedule import Schedule
from thence.conformance.replay.divergence import Divergence
from thence.spec import oracle
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send, printable

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
    "aliasing",
    "over_delay",
    "nonconformance",
]

REFUTES: Final[dict[FindingKind, Claim]] = {
    "crash": "started",
    "hang": "started",
    "memory": "started",
    "endless": "started",
    "aliasing": "started",
    "nonconformance": "conforming",
    "causal": "causal",
    "fifo": "fifo",
    "stuck": "delivered",
    "duplicate": "once",
    "phantom": "once",
    "over_delay": "prompt",
    "total_order": "total_order",
}
"""The claim that a kind of finding refutes."""

SENT, RECEIVED, DELIVERED, HAD = range(4)

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
"""An address in the default text of an object; it differs from run to run."""

LogEntry: TypeAlias = tuple[int, int, str, int | tuple[int, ...]]
"""(SENT, process, message, destination or destinations), (RECEIVED, process, message, sender),
(DELIVERED, process, message, -1) or (HAD, process, name of the input, arguments)."""


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """A fault of the system under test.

    Attributes:
        kind: `causal`, `fifo`, `stuck`, `duplicate`, `phantom`: of the oracle, see `thence.spec.oracle`;
            `total_order`: two processes deliver two messages in different orders, against the system's promise, see
            `thence.spec.delivery_order`; `crash`: it raised, or did not answer as an implementation does; `hang`: it
            did not answer in time; `memory`: it used more memory than its limit; `endless`: packets without end;
            `aliasing`: a packet changed after it was sent, since sender and receiver share the object;
            `over_delay`: a message that had arrived, and that nothing was missing for, was not delivered at once;
            `nonconformance`: a step differs from the protocol's.
        process: the process at fault.
        text: the finding as a sentence, without its kind.
        event_index: number of events before it, or with `stuck` before the send.
        judged: the oracle's finding; its `event_index` is a position in the case's execution.
        divergence: with `nonconformance`, the expected and the actual step, and the guard that decided.
        traceback: with `crash`, of the subject; of a foreign system, its last lines on the standard error.
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


def from_oracle(found: oracle.Finding, event_index: int) -> CaseFinding:
    """The oracle's finding, at a position in the execution."""
    assert found.kind != "gap", "gaps are found in finished traces only"
    judged = replace(found, event_index=event_index)
    return CaseFinding(found.kind, found.process, str(found).partition(": ")[2], event_index, judged)


@dataclass(frozen=True, slots=True)
class Delay:
    """A message that a process kept back although nothing was missing for it.

    Attributes:
        event_index: number of events before the point at which it should have been delivered.
        arrivals: messages that arrived at the process between that point and the delivery.
        delivered: whether it was delivered at all.
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
        return f"p{self.process} kept {printable(self.message)} back {until}, though nothing was missing"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of one case.

    Attributes:
        settings: the abilities of network and application.
        operations: the operations of the schedule that were possible, each packet named by its channel: replaying
            them gives the same case.
        findings: in the order in which they showed.
        log: the execution, compactly.
        steps: number of calls of processes.
        matched: events of the protocol that the subject was found to follow.
        arrivals: messages that arrived at a process before it delivered them.
        kept: those of them that were not delivered at once although nothing was missing: process, message, and the
            number of events before.
        noted: what is of the kinds of findings, and breaks nothing that is claimed.
        other_order: the first step whose emissions were the protocol's in another order, in words; or empty.
        as_a_whole: the first step that differs from the protocol's, in words, where the protocol has a run with the
            sends, deliveries and known arrivals of the case; or empty.
        unsettled: the step at which the subject and its protocol parted, until it is settled whether that is a finding.
        compared: the fields of packets (`KIND.field`) that were compared with the protocol's.
    """

    settings: Settings
    operations: Schedule
    findings: tuple[CaseFinding, ...]
    log: tuple[LogEntry, ...]
    steps: int
    matched: int = 0
    arrivals: int = 0
    kept: tuple[tuple[int, str, int], ...] = ()
    noted: tuple[CaseFinding, ...] = ()
    other_order: str = ""
    unsettled: CaseFinding | None = None
    compared: frozenset[str] = frozenset()
    as_a_whole: str = ""

    def settled_with(self, finding: CaseFinding | None) -> CaseOutcome:
        """The outcome without anything unsettled, and with the finding, if there is one."""
        settled = replace(self, unsettled=None)
        if finding is None:
            return settled
        if self.settings.claims(REFUTES[finding.kind]):
            return replace(settled, findings=(*self.findings, finding))
        return replace(settled, noted=(*self.noted, finding))

    @property
    def deliveries(self) -> int:
        """Number of deliveries."""
        return sum(entry[0] == DELIVERED for entry in self.log)

    @property
    def taken(self) -> int:
        """Number of inputs, besides sends, that applications had."""
        return sum(entry[0] == HAD for entry in self.log)

    @property
    def vacuous(self) -> bool:
        """Whether the case says nothing about a system without a finding: nothing was delivered; of applications that
        send nothing, none had an input."""
        return not self.findings and not (self.deliveries if self.settings.sends else self.taken)

    @property
    def nothing(self) -> str:
        """What did not happen in a vacuous case, in words."""
        return "nothing was delivered" if self.settings.sends else "no application had an input"

    @property
    def withheld(self) -> int:
        """Number of messages that were kept back although nothing was missing."""
        return len(self.kept)

    @property
    def delays(self) -> tuple[Delay, ...]:
        """The delays of the messages that were kept back."""
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
        """A hash of log, findings, steps and matched events: 64 bits, signed, the same on every machine."""
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
    if kind == HAD:
        assert isinstance(other, tuple)
        return Input(process, message, other)
    return Deliver(process, message)
