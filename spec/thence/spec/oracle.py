"""The oracle: judges causal delivery online, from causal sends and deliveries alone.

It never reads protocol metadata, so it is independent of every protocol and implementation. Incremental: an
event costs O(processes), whatever came before; the memory is O(processes) for a message that is still
to be delivered somewhere and a small constant for any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from operator import le
from typing import Final, Generic, Literal, NoReturn, Protocol, TypeAlias, TypeVar

from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send, printable
from thence.spec.happens_before import MessageRecord, Record, SentOrDelivered

FindingKind: TypeAlias = Literal["causal", "fifo", "duplicate", "phantom", "stuck", "gap"]

CHAINS: Final = 32
"""A chain costs time linear in the run: an oracle works it out for this many findings, the first ones."""

NAMED: Final = 20
"""So many missing messages are named in a sentence."""

NOTHING_PENDING: Final = 1 << 62
"""The number of the first message of an empty queue."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that causal delivery does not allow.

    Attributes:
        kind: `causal`: delivered over an undelivered predecessor; `fifo`: the predecessor has the same sender;
            `duplicate`: delivered before at this process; `phantom`: never sent, or not to this process;
            `stuck`: nothing is left to happen and it is not delivered; `gap` (of a finished trace only, see
            `thence.spec.judgement`): delivered over a predecessor that never came.
        process: where.
        message: the delivered message (`stuck`: the undelivered one).
        missing: `causal`, `fifo`, `gap`: the undelivered predecessors, in the order of their sends.
        event_index: position of the delivery (`stuck`: of the send) among the events observed, from 0.
        chain: `causal`, `fifo`, `gap`: messages from `missing[0]` to `message`, each directly before the next;
            `()` after the first `CHAINS` findings of a run.
    """

    kind: FindingKind
    process: int
    message: str
    missing: tuple[str, ...]
    event_index: int
    chain: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.told(f"p{self.process}")

    def told(self, process: str, *, ended: bool = True) -> str:
        """The finding in a sentence, with this name for its process.

        Of a run that may go on (not `ended`), what is undelivered is no more than that.
        """
        where, message = printable(process), printable(self.message)
        match self.kind:
            case "causal" | "fifo":
                return f"{self.kind}: {where} delivers {message} before {self._missing()}{self._why()}"
            case "gap":
                return f"gap: {where} delivers {message} and never {self._missing()}{self._why()}"
            case "duplicate":
                return f"duplicate: {where} delivers {message} again"
            case "phantom":
                return f"phantom: {where} delivers {message}, which nobody sent to it"
            case "stuck":
                return f"stuck: {where} never delivers {message}" if ended else f"{where} has not delivered {message}"

    def _why(self) -> str:
        return f" ({' -> '.join(map(printable, self.chain))})" if self.chain else ""

    def _missing(self) -> str:
        names = ", ".join(map(printable, self.missing[:NAMED]))
        rest = len(self.missing) - NAMED
        return f"{names} and {rest:,} more" if rest > 0 else names


class Queued(Protocol):
    """A message in queues: its number among those of its sender, and a mask of who has not delivered it."""

    number: int
    undelivered: int


Message = TypeVar("Message", bound=Queued)


class Queue(Generic[Message]):
    """The messages from one process to another in the order of sending, up to as many delivered as undelivered ones.

    The first one is undelivered. Removing costs O(1), amortised. `bit` is that of the destination, `messages` always
    the same deque.
    """

    __slots__ = ("_stale", "bit", "messages")

    def __init__(self, bit: int) -> None:
        self.messages: deque[Message] = deque()
        self.bit = bit
        self._stale = 0

    def remove(self, record: Message) -> int:
        """Take out `record`, which is marked as delivered already; the number of the first message that is left."""
        messages, bit = self.messages, self.bit
        if messages[0] is not record:
            self._stale += 1
            if self._stale * 2 > len(messages):
                left = [message for message in messages if message.undelivered & bit]
                messages.clear()
                messages.extend(left)
                self._stale = 0
            return messages[0].number
        messages.popleft()
        while messages:
            first = messages[0]
            if first.undelivered & bit:
                return first.number
            messages.popleft()
            self._stale -= 1
        return NOTHING_PENDING


class Oracle:
    """Observes one run of `processes` processes, event by event.

    A delivery over a predecessor that has the same destination and is not delivered there *yet* is a finding at
    once, whether or not that predecessor comes later (`thence.spec.judgement` tells the two apart in a finished
    trace). A duplicate or phantom delivery changes nothing else. A message may be addressed to its sender.

    Raises:
        ValueError: from any method: a process out of range, or a message sent twice. Nothing has changed.
    """

    __slots__ = ("_chains_left", "_events", "_heads", "_known", "_logs", "_pending", "_processes", "_records")

    def __init__(self, processes: int) -> None:
        if processes < 1:
            raise ValueError(f"at least one process is needed, not {processes}")
        self._processes = processes
        self._events = 0
        self._chains_left = CHAINS
        self._records: dict[str, Record] = {}
        self._logs = SentOrDelivered(processes)
        # _known[p][q]: how many of q's sends are in the past of p. NOTE(prefix).
        self._known = [[0] * processes for _ in range(processes)]
        # _pending[p][q]: q's messages to p that p has not delivered.
        self._pending: list[dict[int, Queue[Record]]] = [{} for _ in range(processes)]
        # _heads[p][q]: the number of the first undelivered message of _pending[p][q].
        self._heads = [[NOTHING_PENDING] * processes for _ in range(processes)]

    @property
    def events(self) -> int:
        """The number of observed events."""
        return self._events

    def observe(self, event: Event) -> tuple[Finding, ...]:
        """Take any event; receives and inputs are counted and otherwise ignored."""
        match event:
            case Send(process, message, destinations):
                self.send(process, message, destinations)
                return ()
            case Deliver(process, message):
                return self.deliver(process, message)
            case Receive() | Input():
                self._events += 1
                return ()

    def send(self, process: int, message: str, destinations: Iterable[int]) -> None:
        """`process` causal-sends `message`."""
        count = self._processes
        if not 0 <= process < count:
            self._refuse(process)
        if message in self._records:
            raise ValueError(f"message {message!r} is sent a second time")
        mask = 0
        for destination in destinations:
            if not 0 <= destination < count:
                self._refuse(destination)
            mask |= 1 << destination
        known = self._known[process]
        number = known[process] + 1
        record = MessageRecord(message, process, number, self._events, len(self._records), mask, tuple(known))
        self._logs.sent(process, record.message)
        self._records[message] = record
        known[process] = number
        while mask:
            destination = mask.bit_length() - 1
            mask ^= 1 << destination
            queue = self._pending[destination].get(process)
            if queue is None:
                queue = self._pending[destination][process] = Queue(1 << destination)
            if not queue.messages:
                self._heads[destination][process] = number
            queue.messages.append(record)
        self._events += 1

    def deliver(self, process: int, message: str) -> tuple[Finding, ...]:
        """`process` delivers `message`; what is wrong with that, `causal` before `fifo`."""
        if not 0 <= process < self._processes:
            self._refuse(process)
        index = self._events
        self._events += 1
        record = self._records.get(message)
        bit = 1 << process
        if record is None or not record.destinations & bit:
            return (Finding("phantom", process, message, (), index),)
        if not record.undelivered & bit:
            return (Finding("duplicate", process, message, (), index),)
        sender, heads, known = record.sender, self._heads[process], self._known[process]
        overtakes = False
        for other, count in enumerate(record.past):
            if count > known[other]:
                known[other] = count
            if count >= heads[other]:
                overtakes = True
        if known[sender] < record.number:
            known[sender] = record.number
        findings = self._overtaken(process, record, index) if overtakes else ()

        record.undelivered ^= bit
        self._logs.delivered(process, record.message)
        heads[sender] = self._pending[process][sender].remove(record)
        if not record.undelivered:
            record.past = ()
        return findings

    def deliverable(self, process: int, message: str) -> bool:
        """Whether `process` may deliver `message` now: it was sent there, is not delivered, and nothing is missing."""
        record = self._records.get(message)
        if record is None or not record.undelivered >> process & 1:
            return False
        return True not in map(le, self._heads[process], record.past)

    def at_quiescence(self) -> tuple[Finding, ...]:
        """One `stuck` for each message and destination that has not delivered it, in the order of sending."""
        return tuple(
            Finding("stuck", process, record.name, (), record.event_index)
            for record in self._records.values()
            if record.undelivered
            for process in range(self._processes)
            if record.undelivered >> process & 1
        )

    def _refuse(self, process: int) -> NoReturn:
        raise ValueError(f"no process {process}: processes are 0 to {self._processes - 1}")

    def _overtaken(self, process: int, record: Record, index: int) -> tuple[Finding, ...]:
        """The findings of a delivery over undelivered predecessors."""
        missing: list[Record] = []
        for sender, queue in self._pending[process].items():
            limit = record.past[sender]
            for earlier in queue.messages:
                if earlier.number > limit:
                    break
                if earlier.undelivered >> process & 1:
                    missing.append(earlier)
        missing.sort(key=lambda earlier: earlier.event_index)
        findings = [self._finding("causal", process, record, missing, index)]
        if same_sender := [earlier for earlier in missing if earlier.sender == record.sender]:
            findings.append(self._finding("fifo", process, record, same_sender, index))
        return tuple(findings)

    def _finding(self, kind: FindingKind, process: int, record: Record, missing: list[Record], index: int) -> Finding:
        chain: tuple[str, ...] = ()
        if self._chains_left:
            self._chains_left -= 1
            names = list(self._records)
            chain = tuple(names[each] for each in self._logs.chain(missing[0].message, record.message))
        return Finding(kind, process, record.name, tuple(earlier.name for earlier in missing), index, chain)


def first_finding(execution: Execution, *, ended: bool = False) -> Finding | None:
    """The first thing wrong with the execution; what is undelivered at its end counts only if it has `ended`."""
    oracle = Oracle(execution.processes)
    found = next((finding for event in execution.events for finding in oracle.observe(event)), None)
    return next(iter(oracle.at_quiescence()), None) if found is None and ended else found
