"""The judgement of one case: the log that an outside observer keeps of it, and the findings that follow from the log.

The oracle sees causal sends and deliveries only. Arrivals count for one more question: whether a process keeps a
message back although nothing is missing for it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from thence.conformance.cases.network import Settings
from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.findings import (
    DELIVERED,
    HAD,
    RECEIVED,
    REFUTES,
    SENT,
    CaseFinding,
    FindingKind,
    LogEntry,
    event_of,
    from_oracle,
)
from thence.conformance.systems.strangers import shown
from thence.spec.delivery_order import first_crossing
from thence.spec.events import Execution, printable
from thence.spec.oracle import Oracle


class CaseJudge:
    """Logs a case and judges it by the promises of its settings.

    Attributes:
        log: the events so far.
        findings: what breaks a claim, in the order in which it showed.
        noted: the same of what is not claimed.
        outstanding: deliveries that are still to come, of all messages at all processes.
        arrived: for each process, the messages that have arrived and that it had no reason to deliver yet.
        kept: messages that were not delivered at once although nothing was missing: process, message, and the number
            of events before.
    """

    __slots__ = (
        "_came",
        "_oracle",
        "_senders",
        "_settings",
        "_undelivered",
        "arrived",
        "findings",
        "kept",
        "log",
        "noted",
        "outstanding",
    )

    def __init__(self, settings: Settings) -> None:
        count = settings.processes
        self._settings = settings
        self._oracle = Oracle(count)
        self._senders: dict[str, int] = {}
        """The sender of each message."""
        self._undelivered: list[set[str]] = [set() for _ in range(count)]
        """For each process, the messages to it that it has not delivered yet."""
        self._came: list[set[str]] = [set() for _ in range(count)]
        """For each process, the messages that arrived there before it delivered them."""
        self.log: list[LogEntry] = []
        self.findings: list[CaseFinding] = []
        self.noted: list[CaseFinding] = []
        self.outstanding = 0
        self.arrived: list[list[str]] = [[] for _ in range(count)]
        self.kept: list[tuple[int, str, int]] = []

    @property
    def arrivals(self) -> int:
        """Messages that arrived at a process before it delivered them."""
        return sum(map(len, self._came))

    def sent(self, process: int, message: str, destinations: tuple[int, ...]) -> None:
        """The application of the process causal-sends the message."""
        self._oracle.send(process, message, destinations)
        self._senders[message] = process
        for destination in destinations:
            self._undelivered[destination].add(message)
        self.outstanding += len(destinations)
        to = destinations[0] if self._settings.delivery == "unicast" else destinations
        self.log.append((SENT, process, message, to))

    def had(self, process: int, name: str, arguments: tuple[int, ...]) -> None:
        """The application of the process has an input."""
        self.log.append((HAD, process, name, arguments))

    def received(self, process: int, message: str, source: int) -> None:
        """A packet with the message arrives from `source`."""
        self.log.append((RECEIVED, process, message, source))
        came = self._came[process]
        if message not in came and message in self._undelivered[process]:
            came.add(message)
            self.arrived[process].append(message)

    def delivered(self, process: int, message: str, sender: object) -> None:
        """The process hands the message over, as one from `sender`."""
        found = self._oracle.deliver(process, message)
        index = len(self.log)
        self.log.append((DELIVERED, process, message, -1))
        sent_by = self._senders.get(message)
        if found:
            for one in found:
                self._keep(from_oracle(one, index))
            if found[0].kind in ("duplicate", "phantom"):
                return
        self._undelivered[process].discard(message)
        self.outstanding -= 1
        if sender != sent_by:
            said = f"p{sender}" if type(sender) is int else shown(sender)
            text = f"p{process} delivers {printable(message)} as a message from {said}, and p{sent_by} sent it"
            self._keep(CaseFinding("phantom", process, text, index))

    def find(
        self, kind: FindingKind, process: int, text: str, *, divergence: Divergence | None = None, traceback: str = ""
    ) -> None:
        """Notes a finding at the end of the log."""
        self._keep(CaseFinding(kind, process, text, len(self.log), None, divergence, traceback))

    def _keep(self, finding: CaseFinding) -> None:
        (self.findings if self._settings.claims(REFUTES[finding.kind]) else self.noted).append(finding)

    def judge_delays(self, process: int) -> None:
        """After a step of the process: each message that arrived and that nothing is missing for has been delivered."""
        undelivered = self._undelivered[process]
        waiting = []
        for message in self.arrived[process]:
            if message not in undelivered:
                continue
            if not self._oracle.deliverable(process, message):
                waiting.append(message)
                continue
            if not self.kept and not self._settings.total_order:
                text = f"p{process} has received {printable(message)}, nothing is missing, and it is not delivered"
                self.find("over_delay", process, text)
            self.kept.append((process, message, len(self.log)))
        self.arrived[process][:] = waiting

    def judge_end(self, rounds: int) -> None:
        """After the drain and so many rounds of timers without a delivery: a message that is undelivered is stuck."""
        waited = f", after {rounds} round{'s' if rounds > 1 else ''} of timers without a delivery" if rounds else ""
        for found in self._oracle.at_quiescence():
            sends = (index for index, entry in enumerate(self.log) if entry[0] == SENT and entry[2] == found.message)
            stuck = from_oracle(found, next(sends))
            self._keep(replace(stuck, text=stuck.text + waited))

    def crossing(self) -> tuple[CaseFinding, ...]:
        """The first two messages that two processes deliver in different orders, where a total order is promised."""
        if not self._settings.total_order:
            return ()
        orders: list[list[str]] = [[] for _ in range(self._settings.processes)]
        for kind, process, message, _ in self.log:
            if kind == DELIVERED:
                orders[process].append(message)
        if all(_agree(one, other) for one, other in combinations(orders, 2)):
            return ()
        crossing = first_crossing(Execution(self._settings.processes, tuple(map(event_of, self.log))))
        if crossing is None:
            return ()
        process = crossing.other_first
        index = self.log.index((DELIVERED, process, crossing.one, -1))
        return (CaseFinding("total_order", process, str(crossing), index),)


def _agree(one: list[str], other: list[str]) -> bool:
    """Whether two processes deliver in the same order what both of them deliver."""
    here, there = {*one}, {*other}
    return [each for each in one if each in there] == [each for each in other if each in here]
