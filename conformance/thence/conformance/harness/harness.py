"""One case: a schedule, or a scheduler, drives the processes of a system under test over the harness's network.

After the operations comes the drain: every packet in flight arrives, oldest first; then every timer fires, process by
process; and so on until timers send nothing more, or nothing new is delivered for a while. What is undelivered then
is stuck. Nothing is random, so that (settings, operations) fix the case.

The oracle sees causal sends and deliveries only. With a `Replay`, every step is also taken by the protocol's
interpreter, with the same packets in flight.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, repeat
from random import Random
from typing import Any, Final, assert_never

from thence.conformance.cases.network import Destination, Flight, Network, Settings
from thence.conformance.cases.schedule import Duplicate, Lose, Operation, React, Receive, Send, Tick
from thence.conformance.cases.schedulers import Scheduler
from thence.conformance.cases.time_limit import OutOfTime, limited, was_out_of_time
from thence.conformance.replay.findings import (
    DELIVERED,
    RECEIVED,
    SENT,
    CaseOutcome,
    Finding,
    FindingKind,
    LogEntry,
    event_of,
    from_oracle,
)
from thence.conformance.replay.replay import Divergence, Expected, Lockstep, Replay
from thence.conformance.systems.foreign import Answered, SystemFailed, SystemRaised
from thence.conformance.systems.strangers import plain, say, shown, word
from thence.conformance.systems.subject import MakeProcess
from thence.impl.commands import Deliver as HandOver
from thence.impl.commands import Send as Transmit
from thence.spec.delivery_order import first_crossing
from thence.spec.events import Execution
from thence.spec.oracle import Oracle

STEP_LIMIT: Final = 10_000
"""Calls of a process in one case; beyond it the case is `endless`."""

COMMAND_LIMIT: Final = 100_000
"""Commands that a process may return at once; as many, or more, are a crash."""

PACKET_LIMIT: Final = 10_000
"""Packets in flight; beyond it the case is `endless`."""

PATIENCE: Final = 4
"""Rounds of timers, beyond one for each process, that may pass in the drain without a delivery."""

_NO_SHADOWS: Final = repeat(-1)
"""Of commands that are not replayed."""

TRACEBACK_FRAMES: Final = 6
"""How much of a subject's traceback is kept: the innermost frames."""


def run_case(
    make_process: MakeProcess,
    schedule: Iterable[Operation],
    settings: Settings,
    replay: Replay | None = None,
    *,
    limit_s: float | None = None,
) -> CaseOutcome:
    """Drives fresh processes through a schedule and the drain, and judges what happened.

    A subject that takes longer than `limit_s` over the case hangs (in the main thread; elsewhere, no limit).
    """
    return _carried_through(Case(settings, replay), make_process, schedule, limit_s)


def run_scheduled(
    make_process: MakeProcess,
    scheduler: Scheduler,
    seed: int,
    operations: int,
    settings: Settings,
    replay: Replay | None = None,
    *,
    limit_s: float | None = None,
) -> CaseOutcome:
    """As `run_case`, with the operations that a scheduler chooses from `seed` as it goes."""
    case = Case(settings, replay)
    chosen = scheduler(Random(seed), settings, case.network, operations)
    return _carried_through(case, make_process, chosen, limit_s)


def _carried_through(
    case: Case, make_process: MakeProcess, schedule: Iterable[Operation], limit_s: float | None
) -> CaseOutcome:
    try:
        with limited(limit_s):
            case.start(make_process)
            for operation in schedule:
                case.perform(operation)
            case.drain()
    except OutOfTime:
        if limit_s is None:
            raise  # The limit is the caller's, and so is what it means.
        case.give_up(limit_s)
    return case.outcome()


class Case:
    """One run of a system under test. Once it has crashed, or goes on without end, nothing more happens in it."""

    __slots__ = (
        "_armed",
        "_arrived",
        "_called",
        "_came",
        "_can_block",
        "_effective",
        "_findings",
        "_kept",
        "_lockstep",
        "_log",
        "_matched",
        "_oracle",
        "_outstanding",
        "_over",
        "_processes",
        "_reactions",
        "_replayed",
        "_senders",
        "_sent",
        "_settings",
        "_steps",
        "_undelivered",
        "network",
    )

    def __init__(self, settings: Settings, replay: Replay | None = None) -> None:
        count = settings.processes
        self.network = Network(fifo=settings.channels == "fifo")
        self._settings = settings
        self._oracle = Oracle(count)
        self._lockstep: Lockstep | None = None if replay is None else replay.begin()
        self._replayed = replay is not None
        self._findings: list[Finding] = []
        self._log: list[LogEntry] = []
        self._effective: list[Operation | None] = []
        self._reactions: dict[int, list[tuple[React, int]]] = {}
        """The sends that wait for a delivery at a process, and their places in `_effective`."""
        self._armed: dict[int, dict[str, tuple[React, int]]] = {}
        """The same for processes that send from inside a delivery themselves: by the messages that they will send."""
        self._sent = [0] * count
        self._senders: dict[str, int] = {}
        """The sender of each message."""
        self._undelivered: list[set[str]] = [set() for _ in range(count)]
        """The messages to each process that it has not delivered yet."""
        self._outstanding = 0
        """How many those are in all."""
        self._arrived: list[list[str]] = [[] for _ in range(count)]
        """The messages that have come to each process, and that it had no reason to deliver yet."""
        self._came: list[set[str]] = [set() for _ in range(count)]
        """The messages that have come to each process before it delivered them."""
        self._kept: list[tuple[int, str, int]] = []
        """The messages that were not delivered though nothing was missing: process, message, how many events before."""
        self._matched = 0
        self._steps = 0
        self._over = False
        self._processes: list[Any] = []
        self._can_block = False
        self._called = 0

    def start(self, make_process: MakeProcess) -> None:
        """Makes the processes."""
        count = self._settings.processes
        for identity in range(count):
            self._called = identity
            try:
                if identity == 0:
                    begin_case = getattr(make_process, "begin_case", None)
                    if begin_case is not None:
                        begin_case(self._settings)
                self._processes.append(make_process(identity, count))
            except SystemFailed as failed:
                self._fail(identity, "asked to begin a case", failed)
                break
            except (KeyboardInterrupt, OutOfTime):
                raise
            except BaseException as error:
                if was_out_of_time(error):
                    raise OutOfTime from error
                self._crash(identity, "is made", error)
                break
        self._can_block = bool(self._processes) and self._asked(0, "blocked") is not None

    def perform(self, operation: Operation) -> None:
        """Does what the operation says, if it is possible."""
        if self._over:
            return
        match operation:
            case Receive():  # Sub-patterns would take longer than the rest: here, and in `Send`.
                network, channel = self.network, operation.channel
                index = network.find(operation.position, channel)
                if index >= 0:
                    self._effective.append(operation if channel else Receive(*network.place(index)))
                    self._receive(network.flights.pop(index))
            case Send():
                process, destination = operation.process, operation.destination
                destinations = self._settings.destinations(process, destination)
                if destinations and not (self._can_block and self._waits(process, destinations)):
                    addressed = self._addressed(destinations)
                    self._effective.append(operation if destination == addressed else Send(process, addressed))
                    self._causal_send(process, destinations)
            case React(process, destination):
                destinations = self._settings.destinations(process, destination)
                if destinations:
                    addressed = self._addressed(destinations)
                    kept = operation if destination == addressed else React(process, addressed)
                    self._await_delivery(kept, destinations)
            case Tick(process):
                if process < self._settings.processes:
                    self._effective.append(operation)
                    self._tick(process)
            case Duplicate(position, channel):
                index = self.network.find(position, channel) if self._settings.duplication else -1
                if index >= 0:
                    self._effective.append(operation if channel else Duplicate(*self.network.place(index)))
                    self.network.flights.append(self.network.flights[index])
            case Lose(position, channel):
                index = self.network.find(position, channel) if self._settings.loss else -1
                if index >= 0:
                    self._effective.append(operation if channel else Lose(*self.network.place(index)))
                    del self.network.flights[index]
            case _:
                assert_never(operation)

    def give_up(self, limit_s: float) -> None:
        """The subject has taken too long."""
        self._over = True
        self._find("hang", self._called, f"p{self._called} gives no answer in {limit_s:g} s", len(self._log))

    def outcome(self) -> CaseOutcome:
        """What happened."""
        if self._settings.total_order:
            self._judge_order()
        return CaseOutcome(
            self._settings,
            tuple([operation for operation in self._effective if operation is not None]),
            tuple(self._findings),
            tuple(self._log),
            self._steps,
            self._lockstep.matched if self._lockstep is not None else self._matched,
            sum(map(len, self._came)),
            tuple(self._kept),
        )

    # --- steps of a process ------------------------------------------------------------------

    def _addressed(self, destinations: tuple[int, ...]) -> Destination:
        """The destinations as the schedule has them."""
        match self._settings.delivery:
            case "unicast":
                return destinations[0]
            case "multicast":
                return destinations
            case "broadcast":
                return None

    def _causal_send(self, process: int, destinations: tuple[int, ...]) -> None:
        number = self._sent[process]
        message = self._next_message(process)
        self._count_sent(process, message, destinations)
        expected = None
        if self._lockstep is not None:
            expected = self._lockstep.causal_send(process, number, destinations)
        self._call_with(process, expected, self._processes[process].causal_send, destinations, message)

    def _waits(self, process: int, destinations: tuple[int, ...]) -> bool:
        """Whether the application cannot send now, for the subject says that it is `blocked`. So must its protocol."""
        if not self._blocked(process):
            return False
        if self._lockstep is not None and self._lockstep.accepts(process, self._sent[process], destinations):
            self._diverged(process, self._lockstep.causal_send(process, self._sent[process], destinations), ())
        return True

    def _blocked(self, process: int) -> bool:
        """Whether the subject lets its application wait, which neither sends nor takes anything meanwhile."""
        return bool(self._asked(process, "blocked"))

    def _asked(self, process: int, name: str) -> Any:
        """An attribute of a process; None where there is none."""
        try:
            return getattr(self._processes[process], name, None)
        except Exception as error:
            self._crash(process, name, error)
            return None

    def _next_message(self, process: int) -> str:
        self._sent[process] += 1
        return f"m{process}.{self._sent[process]}"

    def _count_sent(self, process: int, message: str, destinations: tuple[int, ...]) -> None:
        self._oracle.send(process, message, destinations)
        self._senders[message] = process
        for destination in destinations:
            self._undelivered[destination].add(message)
        self._outstanding += len(destinations)
        to = destinations[0] if self._settings.delivery == "unicast" else destinations
        self._log.append((SENT, process, message, to))

    def _call_with(
        self,
        process: int,
        expected: Expected | None,
        method: Callable[..., Any],
        destinations: tuple[int, ...],
        message: str,
    ) -> None:
        """Calls `causal_send` or `react`."""
        match self._settings.delivery:
            case "unicast":
                self._call(process, expected, method, destinations[0], message)
            case "multicast":
                self._call(process, expected, method, frozenset(destinations), message)
            case "broadcast":
                self._call(process, expected, method, message)

    def _await_delivery(self, operation: React, destinations: tuple[int, ...]) -> None:
        """The application will answer the next delivery: from inside it, if the process has a method for that.

        In a replay it answers right after the step: in the text of a protocol nothing happens inside a delivery.
        """
        process, place = operation.process, len(self._effective)
        self._effective.append(None)
        react = None if self._replayed else self._asked(process, "react")
        if react is None:
            self._reactions.setdefault(process, []).append((operation, place))
        else:
            message = self._next_message(process)
            self._armed.setdefault(process, {})[message] = (operation, place)
            self._call_with(process, None, react, destinations, message)

    def _answer(self, process: int, message: str) -> None:
        """From inside a delivery, the application has sent."""
        operation, place = self._armed[process].pop(message)
        self._effective[place] = operation
        self._count_sent(process, message, self._settings.destinations(process, operation.destination))

    def _receive(self, flight: Flight) -> None:
        source, process, packet, shadow = flight
        arrived = self._arrived[process]
        name: Any
        try:  # `word`, written out: for every packet
            name = getattr(packet, "message", None)
        except Exception:
            name = None
        if name is not None:
            if type(name) is not str or not name.isprintable():
                name = word(packet, "message")
            self._log.append((RECEIVED, process, name, source))
            came = self._came[process]
            if name not in came and name in self._undelivered[process]:
                came.add(name)
                arrived.append(name)
        expected = None if self._lockstep is None else self._lockstep.receive(process, shadow)
        self._call(process, expected, self._processes[process].receive, source, packet)
        if arrived:
            self._judge_delay(process)

    def _tick(self, process: int) -> None:
        expected = self._lockstep.tick(process) if self._lockstep is not None else None
        tick = self._asked(process, "tick")
        if tick is None:
            self._carry_out(process, (), expected)
        else:
            self._call(process, expected, tick)
            if self._arrived[process]:
                self._judge_delay(process)

    def _call(self, process: int, expected: Expected | None, method: Callable[..., Any], *arguments: Any) -> None:
        self._steps += 1
        self._called = process
        try:
            commands = method(*arguments)
            if type(commands) is not list or len(commands) > COMMAND_LIMIT:
                commands = list(islice(commands, COMMAND_LIMIT))
        except (KeyboardInterrupt, OutOfTime):
            raise
        except BaseException as error:
            if was_out_of_time(error):
                raise OutOfTime from error
            if expected is not None and expected.fault is not None:
                self._diverged(process, expected, ())
            asked = f"{method.__name__.strip('_')}{_shown(arguments)}"
            if isinstance(error, SystemFailed):
                self._fail(process, f"asked for {asked}", error)
            else:
                self._crash(process, asked, error)
            return
        if len(commands) == COMMAND_LIMIT:
            self._crash(process, f"returns {COMMAND_LIMIT:,} commands or more at once")
        elif commands or expected is not None:
            self._carry_out(process, commands, expected)
        elif self._steps > STEP_LIMIT:
            self._endless(process)

    def _carry_out(self, process: int, commands: Sequence[Any], expected: Expected | None) -> None:
        shadows: Iterable[int] = _NO_SHADOWS
        if expected is not None:
            if _signature(commands) == expected.signature and expected.fault is None:
                assert self._lockstep is not None
                self._lockstep.accept(process, expected)
                shadows = expected.shadows
            else:
                self._diverged(process, expected, commands)
        if not commands and self._steps <= STEP_LIMIT:
            return
        flights, count = self.network.flights, len(self._processes)
        delivered = False
        for command, shadow in zip(commands, shadows, strict=False):
            if isinstance(command, Transmit):
                destination = command.destination
                if type(destination) is not int or not 0 <= destination < count:
                    self._crash(process, f"sends a packet to {shown(destination)}, which is no process")
                    return
                flights.append((process, destination, command.packet, shadow))
            elif isinstance(command, HandOver):
                self._deliver(process, command)
                delivered = True
            elif isinstance(command, Answered):
                if not delivered or command.message not in self._armed.get(process, ()):
                    self._crash(process, f"sends {_name(command.message)} without having been told to, by a delivery")
                    return
                self._answer(process, command.message)
            else:
                self._crash(process, f"returns {shown(command):.80}, which is neither Send nor Deliver")
                return
        if len(flights) > PACKET_LIMIT or self._steps > STEP_LIMIT:
            self._endless(process)
        elif delivered and self._armed.get(process):
            forgotten = next(iter(self._armed[process]))
            self._crash(process, f"delivers, and does not send {forgotten} from inside, as it was told to by react")
        elif delivered and process in self._reactions:
            for operation, place in self._reactions.pop(process):
                destinations = self._settings.destinations(process, operation.destination)
                if not self._over and not (self._can_block and self._waits(process, destinations)):
                    self._effective[place] = operation
                    self._causal_send(process, destinations)

    def _deliver(self, process: int, command: HandOver) -> None:
        name = _name(command.message)
        found = self._oracle.deliver(process, name)
        index = len(self._log)
        self._log.append((DELIVERED, process, name, -1))
        sender = self._senders.get(name)
        if found:
            unpromised = {"causal": not self._settings.causal, "fifo": not self._settings.fifo}
            self._findings += [from_oracle(one, index) for one in found if not unpromised.get(one.kind)]
            if found[0].kind in ("duplicate", "phantom"):
                return
        self._undelivered[process].discard(name)
        self._outstanding -= 1
        if command.sender != sender:
            text = f"p{process} delivers {name} as a message from {_process(command.sender)}, and p{sender} sent it"
            self._find("phantom", process, text, index)

    # --- the end -----------------------------------------------------------------------------

    def drain(self) -> None:
        """Everything arrives, timers fire; then what is undelivered is stuck."""
        waiting = 0
        limit = PATIENCE + self._settings.processes
        flights = self.network.flights
        while not self._over:
            before = self._outstanding
            while flights and not self._over:
                self._receive(flights.pop(0))
            waiting = 0 if self._outstanding != before else waiting + 1
            if waiting > (limit if before else 1):
                break
            for process in range(self._settings.processes):
                if not self._over:
                    self._tick(process)
            if not flights:
                break
        if not self._over and self._settings.delivered:
            self._judge_end()

    def _judge_end(self) -> None:
        for found in self._oracle.at_quiescence():
            sends = (index for index, entry in enumerate(self._log) if entry[0] == SENT and entry[2] == found.message)
            self._findings.append(from_oracle(found, next(sends)))

    def _judge_delay(self, process: int) -> None:
        """The application has the commands of the step: what nothing was missing for has to be among them."""
        if self._over or (self._can_block and self._blocked(process)):
            return
        arrived, undelivered = self._arrived[process], self._undelivered[process]
        kept = []
        for message in arrived:
            if message in undelivered:
                if self._oracle.deliverable(process, message):
                    if not self._kept and not self._settings.total_order:
                        text = f"p{process} has received {message}, nothing is missing, and it is not delivered"
                        self._find("over_delay", process, text, len(self._log))
                    self._kept.append((process, message, len(self._log)))
                else:
                    kept.append(message)
        arrived[:] = kept

    def _judge_order(self) -> None:
        """A system that promises a total order keeps it; the first two messages that cross are shown."""
        orders: list[list[str]] = [[] for _ in range(self._settings.processes)]
        for kind, process, message, _ in self._log:
            if kind == DELIVERED:
                orders[process].append(message)
        longest = max(orders, key=len)
        if all(order == longest[: len(order)] for order in orders):
            return
        crossing = first_crossing(Execution(self._settings.processes, tuple(map(event_of, self._log))))
        if crossing is not None:
            process = crossing.other_first
            index = self._log.index((DELIVERED, process, crossing.one, -1))
            self._find("total_order", process, str(crossing), index)

    # --- findings ----------------------------------------------------------------------------

    def _find(
        self,
        kind: FindingKind,
        process: int,
        text: str,
        index: int,
        *,
        divergence: Divergence | None = None,
        trace: str = "",
    ) -> None:
        self._findings.append(Finding(kind, process, text, index, None, divergence, trace))

    def _fail(self, process: int, what: str, failed: SystemFailed) -> None:
        self._over = True
        self._find(failed.kind, process, f"p{process}, {what}, {failed}", len(self._log), trace=failed.printed)

    def _crash(self, process: int, what: str, error: BaseException | None = None) -> None:
        self._over = True
        said = "" if error is None else str(error) if isinstance(error, SystemRaised) else say(error)
        text = f"p{process} {what}" if error is None else f"p{process}: {what} raises {said}"
        trace = ""
        if error is not None and not isinstance(error, SystemRaised):
            kept = traceback.format_tb(error.__traceback__)[1:][-TRACEBACK_FRAMES:]
            trace = plain("".join([*kept, *traceback.format_exception_only(error)]))
        self._find("crash", process, text, len(self._log), trace=trace)

    def _endless(self, process: int) -> None:
        self._over = True
        text = f"after {self._steps:,} steps {len(self.network.flights):,} packets are in flight, and there is no end"
        self._find("endless", process, text, len(self._log))

    def _diverged(self, process: int, expected: Expected, commands: Sequence[Any]) -> None:
        """The subject left its protocol: from here on, only the oracle judges."""
        assert self._lockstep is not None
        divergence = self._lockstep.explain(process, expected, _signature(commands))
        self._matched = divergence.matched
        self._lockstep = None
        self._find("nonconformance", process, str(divergence), len(self._log), divergence=divergence)


def _signature(commands: Sequence[Any]) -> tuple[Any, ...]:
    """The commands without their metadata, as `Expected.signature` has the protocol's."""
    return tuple(
        [
            (command.destination, word(command.packet, "kind"), word(command.packet, "message"))
            if isinstance(command, Transmit)
            else (word(command, "message"),)
            for command in commands
        ]
    )


def _name(message: object) -> str:
    """The harness names messages; whatever else a subject makes of them has a name too."""
    return message if type(message) is str and message.isprintable() else shown(message)


def _process(identity: object) -> str:
    return f"p{identity}" if type(identity) is int else shown(identity)


def _shown(arguments: tuple[Any, ...]) -> str:
    text = ", ".join(map(shown, arguments))
    return f"({text if len(text) <= 120 else text[:119] + '…'})"
