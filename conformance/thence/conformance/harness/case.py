"""One case: operations performed on the processes of a system under test, over the harness's network.

With a `Replay`, the protocol's interpreter takes every step as well, with the same packets in flight, until the
subject leaves its protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, assert_never

from thence.conformance.cases.inputs import method_of
from thence.conformance.cases.network import Destination, Flight, Network, Settings
from thence.conformance.cases.schedule import Duplicate, Have, Lose, Operation, React, Receive, Send, Tick
from thence.conformance.harness.aliasing import SentPackets
from thence.conformance.harness.comparison import NO_SHADOWS, Comparison
from thence.conformance.harness.judge import CaseJudge
from thence.conformance.harness.participants import Failure, Participants, Waits
from thence.conformance.replay.findings import CaseOutcome, FindingKind
from thence.conformance.replay.packet_fields import difference
from thence.conformance.replay.replay import Answers, Expected, Replay
from thence.conformance.systems.foreign import LATER, Answered, Elsewhere
from thence.conformance.systems.returned import COMMAND_LIMIT
from thence.conformance.systems.strangers import shown, word
from thence.conformance.systems.subject import MakeProcess
from thence.dsl.ir import PERIODICALLY
from thence.impl.commands import Deliver as HandOver
from thence.impl.commands import Send as Transmit
from thence.spec.words import counted

STEP_LIMIT: Final = 10_000
"""Calls of processes in one case; beyond it the case is `endless`. A long schedule has a higher limit."""

PACKET_LIMIT: Final = 10_000
"""Packets in flight; beyond it the case is `endless`. A long schedule has a higher limit."""

PER_OPERATION: Final = 100
"""Calls, and packets in flight, that each operation of a schedule may bring about: what was asked for is no fault."""


class Case:
    """One run of a system under test. Once it is over (a crash, a hang, no end in sight) nothing more happens in it.

    Attributes:
        settings: the abilities of network and application.
        network: the packets in flight.
        judge: keeps the log and the findings.
        participants: the processes.
        comparison: the protocol's side.
        over: the case has ended early.
        has_timers: whether any process has a timer, or the protocol.
        timers: the names of the timers.
        awaited: the call whose answer comes later (`LATER`), if there is one: its process, the protocol's step, and
            whether delays are judged after it. Until `resume`, nothing else may happen.
    """

    __slots__ = (
        "_armed",
        "_can_block",
        "_effective",
        "_reactions",
        "_replay",
        "_sent",
        "_sent_packets",
        "awaited",
        "comparison",
        "has_timers",
        "judge",
        "network",
        "over",
        "participants",
        "settings",
        "timers",
    )

    def __init__(self, settings: Settings, replay: Replay | None = None) -> None:
        self.settings = settings
        self.network = Network(fifo=settings.channels == "fifo")
        self.judge = CaseJudge(settings)
        self.participants = Participants()
        self._replay = replay
        self.comparison = Comparison(replay, self.judge, fifo=self.network.fifo)
        self.over = False
        self.awaited: tuple[int, Expected | None, bool] | None = None
        self._effective: list[Operation | None] = []
        """The operations that were possible; None in the place of a `React` whose delivery has not come."""
        self._reactions: dict[int, list[tuple[React, int]]] = {}
        """For each process, the sends that wait for a delivery, with their places in `_effective`."""
        self._armed: dict[int, dict[str, tuple[React, int]]] = {}
        """The same for processes that send from inside a delivery themselves, by the message that each will send."""
        self._sent = [0] * settings.processes
        self._can_block = False
        self._sent_packets = SentPackets()
        self.has_timers = replay is not None and bool(replay.timers)
        self.timers = (replay.timers if replay is not None else ()) or settings.timers

    def start(self, make_process: MakeProcess) -> None:
        """Makes the processes."""
        failed = self.participants.make(make_process, self.settings)
        if failed is not None:
            self._end_with(*failed)
        self._can_block = bool(self.participants.processes) and self._asked(0, "blocked") is not None
        for process in range(len(self.participants.processes)):
            self.has_timers = self.has_timers or self._asked(process, "tick") is not None

    def perform(self, operation: Operation) -> None:
        """Performs the operation, if it is possible."""
        if self.over:
            return
        match operation:
            case Receive():  # Sub-patterns cost more than the rest of the branch: here, and in `Send`.
                network, channel = self.network, operation.channel
                index = network.find(operation.position, channel)
                if index >= 0:
                    self._effective.append(operation if channel else Receive(*network.place(index)))
                    self.receive(network.flights.pop(index))
            case Send():
                process, destination = operation.process, operation.destination
                destinations = self.settings.destinations(process, destination)
                if destinations and not (self._can_block and self._waits(process, destinations)):
                    addressed = self._addressed(destinations)
                    self._effective.append(operation if destination == addressed else Send(process, addressed))
                    self._causal_send(process, destinations)
            case React(process, destination):
                destinations = self.settings.destinations(process, destination)
                if destinations:
                    addressed = self._addressed(destinations)
                    kept = operation if destination == addressed else React(process, addressed)
                    self._await_delivery(kept, destinations)
            case Tick(process, timer):
                if process < self.settings.processes and timer in self.timers:
                    self._effective.append(operation)
                    self.tick(process, timer)
            case Have(process, name, arguments):
                if process < self.settings.processes and self.settings.offers(name, arguments):
                    self._effective.append(operation)
                    self._have(process, name, arguments)
            case Duplicate(position, channel):
                index = self.network.find(position, channel) if self.settings.duplication else -1
                if index >= 0:
                    self._effective.append(operation if channel else Duplicate(*self.network.place(index)))
                    self.network.flights.append(self.network.flights[index])
            case Lose(position, channel):
                index = self.network.find(position, channel) if self.settings.loss else -1
                if index >= 0:
                    self._effective.append(operation if channel else Lose(*self.network.place(index)))
                    self._forget(self.network.flights.pop(index)[2])
            case _:
                assert_never(operation)

    def receive(self, flight: Flight) -> None:
        """A packet that is no longer in flight arrives."""
        source, process, packet, shadow = flight
        name: Any
        try:  # The body of `word`, written out: it runs for every packet.
            name = getattr(packet, "message", None)
        except Exception:
            name = None
        if name is not None:
            if type(name) is not str or not name.isprintable():
                name = word(packet, "message")
            self.judge.received(process, name, source)
        if self._sent_packets.kept and self._is_changed(flight):
            return
        lockstep = self.comparison.lockstep
        expected = None if lockstep is None else lockstep.receive(process, shadow)
        self._call(process, expected, self.participants.processes[process].receive, source, packet)
        if self.judge.arrived[process]:
            self._judge_delays(process)

    def tick(self, process: int, timer: str) -> None:
        """The timer of this name fires at the process."""
        lockstep = self.comparison.lockstep
        expected = None if lockstep is None else lockstep.tick(process, timer)
        tick = self._asked(process, "tick")
        if tick is None:
            self._returned(process, [], expected)
        else:
            self._call(process, expected, tick, *(() if timer == PERIODICALLY else (timer,)))
            if self.judge.arrived[process]:
                self._judge_delays(process)

    def resume(self, commands: list[Any]) -> None:
        """The answer that was to come later is there."""
        assert self.awaited is not None, "no answer is awaited"
        process, expected, delays = self.awaited
        self.awaited = None
        self._returned(process, commands, expected)
        if delays:
            self._judge_delays(process)

    def give_up(self, limit_s: float) -> None:
        """The subject has taken too long."""
        called = self.participants.called
        self._end("hang", called, f"p{called} gives no answer in {limit_s:g} s")

    def outcome(self) -> CaseOutcome:
        """The case so far, judged."""
        judge = self.judge
        return CaseOutcome(
            self.settings,
            tuple([operation for operation in self._effective if operation is not None]),
            (*judge.findings, *judge.crossing()),
            tuple(judge.log),
            self.participants.steps,
            self.comparison.matched,
            judge.arrivals,
            tuple(judge.kept),
            tuple(judge.noted),
            self.comparison.other_order,
            self.comparison.unsettled,
            frozenset(self.comparison.compared),
        )

    def settled(self) -> CaseOutcome:
        """The outcome of the case, which is over, with what its replay says of it."""
        outcome = self.outcome()
        return outcome if self._replay is None else self._replay.settled(outcome)

    # --- the application ---------------------------------------------------------------------

    def _addressed(self, destinations: tuple[int, ...]) -> Destination:
        """The destinations as the schedule has them."""
        match self.settings.delivery:
            case "unicast":
                return destinations[0]
            case "multicast":
                return destinations
            case "broadcast":
                return None

    def _causal_send(self, process: int, destinations: tuple[int, ...]) -> None:
        number = self._sent[process]
        message = self._next_message(process)
        self.judge.sent(process, message, destinations)
        lockstep = self.comparison.lockstep
        expected = None if lockstep is None else lockstep.causal_send(process, number, destinations)
        method = self.participants.processes[process].causal_send
        self._call_with(process, expected, method, destinations, message)

    def _have(self, process: int, name: str, arguments: tuple[int, ...]) -> None:
        """The application has the input, if the subject lets it. Then so does its protocol, and not otherwise."""
        lockstep = self.comparison.lockstep
        expected = None if lockstep is None else lockstep.input(process, name, arguments)
        method = self._asked(process, method_of(name))
        if method is None:
            if not self.over:
                self._crash(process, f"has no method {method_of(name)}, for an input of its protocol")
            return
        commands = self.participants.have(process, method, arguments)
        if not isinstance(commands, Waits):
            self.judge.had(process, name, arguments)
            self._returned(process, commands, expected)
        elif expected is not None:
            self.comparison.waits(process, expected)

    def _waits(self, process: int, destinations: tuple[int, ...]) -> bool:
        """Whether the application cannot send now, for the subject says that it is `blocked`. So must its protocol."""
        if not self._blocked(process):
            return False
        lockstep, number = self.comparison.lockstep, self._sent[process]
        if lockstep is not None and lockstep.accepts(process, number, destinations):
            self.comparison.diverge(process, lockstep.causal_send(process, number, destinations), ())
        return True

    def _blocked(self, process: int) -> bool:
        """Whether the subject lets its application wait, which neither sends nor takes anything meanwhile."""
        return bool(self._asked(process, "blocked"))

    def _next_message(self, process: int) -> str:
        self._sent[process] += 1
        return f"m{process}.{self._sent[process]}"

    def _await_delivery(self, operation: React, destinations: tuple[int, ...]) -> None:
        """The application will answer the next delivery: from inside it, if the process has a method for that; else
        right after the step.
        """
        process, place = operation.process, len(self._effective)
        self._effective.append(None)
        react = self._asked(process, "react")
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
        self.judge.sent(process, message, self.settings.destinations(process, operation.destination))

    # --- steps of a process ------------------------------------------------------------------

    def _asked(self, process: int, name: str) -> Any:
        """An attribute of a process; None where there is none."""
        found = self.participants.attribute(process, name)
        if isinstance(found, Failure):
            self._end_with(process, found)
            return None
        return found

    def _call_with(
        self,
        process: int,
        expected: Expected | None,
        method: Callable[..., Any],
        destinations: tuple[int, ...],
        message: str,
    ) -> None:
        """Calls `causal_send` or `react`."""
        match self.settings.delivery:
            case "unicast":
                self._call(process, expected, method, destinations[0], message)
            case "multicast":
                self._call(process, expected, method, frozenset(destinations), message)
            case "broadcast":
                self._call(process, expected, method, message)

    def _call(self, process: int, expected: Expected | None, method: Callable[..., Any], *arguments: Any) -> None:
        self._returned(process, self.participants.call(process, method, arguments), expected)

    def _returned(self, process: int, commands: list[Any] | Failure, expected: Expected | None) -> None:
        """A call has returned, or failed."""
        if commands is LATER:
            self.awaited = (process, expected, False)
        elif isinstance(commands, Failure):
            if expected is not None and expected.fault is not None:
                self.comparison.diverge(process, expected, ())
            self._end_with(process, commands)
        elif len(commands) == COMMAND_LIMIT:
            self._crash(process, f"returns {COMMAND_LIMIT:,} commands or more at once")
        elif expected is not None:
            if not self._is_expected(process, commands, expected):
                self._carry_out(process, commands, expected)
        elif commands:
            self._carry_out(process, commands, None)
        elif self._is_endless(0):
            self._endless(process)

    def _is_expected(self, process: int, commands: Sequence[Any], expected: Expected) -> bool:
        """Carries out the commands if they are the protocol's, in the text's order and with its fields. Otherwise
        nothing has changed: `_carry_out` does the same, and finds words for what differs.
        """
        comparison, signature, shadows = self.comparison, expected.signature, expected.shadows
        if expected.fault is not None or len(commands) != len(signature):
            return False
        if comparison.chooses or self._armed.get(process):
            return False
        lockstep = comparison.lockstep
        assert lockstep is not None
        if signature:
            flights: list[Flight] = []
            handed: list[HandOver] = []
            packet: Any
            for command, wanted, shadow in zip(commands, signature, shadows, strict=True):
                if type(command) is Transmit:
                    destination, packet = command.destination, command.packet
                    try:
                        kind, message = packet.kind, packet.message
                    except Exception:
                        return False
                    if type(kind) is not str or (message is not None and type(message) is not str):
                        return False
                    if type(destination) is not int or (destination, kind, message) != wanted:
                        return False
                    flights.append((process, destination, packet, shadow))
                elif type(command) is HandOver and type(command.message) is str and (command.message,) == wanted:
                    handed.append(command)
                else:
                    return False
            if flights:
                if lockstep.replay.fields.names:
                    known, compared = lockstep.replay.fields_of, comparison.compared
                    for _, _, packet, shadow in flights:
                        if difference(known(shadow), packet, compared) is not None:
                            return False
                self._put(flights)
                comparison.speaks = True
        lockstep.accept(process, expected)
        if signature:
            for command in handed:
                self.judge.delivered(process, command.message, command.sender)
            if self._is_endless(len(self.network.flights)):
                self._endless(process)
            elif handed:
                self._answered(process)
        elif self._is_endless(0):
            self._endless(process)
        return True

    def _put(self, flights: list[Flight]) -> None:
        """Puts packets on the network."""
        constant = self._sent_packets.constant
        for flight in flights:
            if type(flight[2]) not in constant:
                self._sent_packets.sent(flight[2])
        self.network.flights += flights

    def _carry_out(self, process: int, commands: Sequence[Any], expected: Expected | None) -> None:
        shadows: Iterable[int] = NO_SHADOWS
        if expected is not None:
            answers = self._answers(process, commands) if self._armed.get(process) else ()
            shadows = self.comparison.followed(process, commands, expected, answers)
        if not commands and self.participants.steps <= STEP_LIMIT:
            return
        flights, count, constant = self.network.flights, self.settings.processes, self._sent_packets.constant
        delivered = False
        asked = process
        elsewhere: Collection[int] = ()
        for command, shadow in zip(commands, shadows, strict=False):
            process = asked
            if isinstance(command, Elsewhere):
                process, command = command.process, command.command
                if isinstance(command, HandOver):
                    elsewhere = {*elsewhere, process}
            if isinstance(command, Transmit):
                destination, packet = command.destination, command.packet
                if type(destination) is not int or not 0 <= destination < count:
                    self._crash(process, f"sends a packet to {shown(destination)}, which is no process")
                    return
                if type(packet) not in constant:
                    self._sent_packets.sent(packet)
                flights.append((process, destination, packet, shadow))
            elif isinstance(command, HandOver):
                self.judge.delivered(process, _name(command.message), command.sender)
                delivered = delivered or process == asked
            elif isinstance(command, Answered):
                if not (
                    delivered if process == asked else process in elsewhere
                ) or command.message not in self._armed.get(process, ()):
                    self._crash(process, f"sends {_name(command.message)} without having been told to, by a delivery")
                    return
                self._answer(process, command.message)
            else:
                self._crash(process, f"returns {shown(command):.80}, which is neither Send nor Deliver")
                return
        process = asked
        if self._is_endless(len(flights)):
            self._endless(process)
            return
        if delivered:
            self._answered(asked)
        for one in sorted(elsewhere):
            self._answered(one)

    def _answered(self, process: int) -> None:
        """After a step in which the process delivered: what waited for that is sent."""
        if self.over:
            return
        if self._armed.get(process):
            forgotten = next(iter(self._armed[process]))
            said = f"delivers, and does not send {forgotten} from inside, as it was told to by react"
            self._crash(process, f'{said} (if it cannot, let it answer init with "react": false)')
        elif process in self._reactions:
            for operation, place in self._reactions.pop(process):
                destinations = self.settings.destinations(process, operation.destination)
                if not self.over and not (self._can_block and self._waits(process, destinations)):
                    self._effective[place] = operation
                    self._causal_send(process, destinations)

    def _judge_delays(self, process: int) -> None:
        """The application has the commands of the step: every message that nothing was missing for is among them."""
        if self.awaited is not None:
            self.awaited = (*self.awaited[:2], True)
        elif not self.over and not (self._can_block and self._blocked(process)):
            self.judge.judge_delays(process)

    def _forget(self, packet: Any) -> None:
        """Once no copy of a packet is in flight, its sender may write into it, and send it again."""
        if all(packet is not other for _, _, other, _ in self.network.flights):
            self._sent_packets.forget(packet)

    def _is_changed(self, flight: Flight) -> bool:
        """Whether the packet is not what was sent, which ends the case: no network would do that."""
        source, process, packet, _ = flight
        if not self._sent_packets.keeps(packet):
            return False
        change = self._sent_packets.change(packet)
        if not change:
            self._forget(packet)
            return False
        text = (
            f"the packet from p{source} to p{process} has changed since it was sent: {change}; "
            f"processes share the object, where a network would carry a copy: send one, or never write into it"
        )
        self._end("aliasing", source, text)
        return True

    # --- early ends --------------------------------------------------------------------------

    def _end(self, kind: FindingKind, process: int, text: str, traceback: str = "") -> None:
        self.over = True
        self.judge.find(kind, process, text, traceback=traceback)

    def _end_with(self, process: int, failure: Failure) -> None:
        self._end(failure.kind, process, failure.text, failure.traceback)

    def _crash(self, process: int, what: str) -> None:
        self._end("crash", process, f"p{process} {what}")

    def _is_endless(self, packets: int) -> bool:
        """Whether there is more than comes of so many operations, with this number of packets in flight."""
        if packets <= PACKET_LIMIT and self.participants.steps <= STEP_LIMIT:
            return False
        asked = PER_OPERATION * len(self._effective)
        return packets > max(PACKET_LIMIT, asked) or self.participants.steps > max(STEP_LIMIT, asked)

    def _endless(self, process: int) -> None:
        steps, packets = self.participants.steps, len(self.network.flights)
        text = f"after {counted(steps, 'step')}, with {counted(packets, 'packet')} in flight, there is no end"
        self._end("endless", process, text)

    def _answers(self, process: int, commands: Sequence[Any]) -> Answers:
        """The application's sends in reaction to deliveries of a step: after which one, number, destinations."""
        found, last = [], None
        for command in commands:
            if isinstance(command, HandOver):
                last = _name(command.message)
            elif isinstance(command, Answered) and last is not None and command.message in self._armed[process]:
                operation, _ = self._armed[process][command.message]
                number = int(command.message.rpartition(".")[2]) - 1
                found.append((last, number, self.settings.destinations(process, operation.destination)))
        return tuple(found)


def _name(message: object) -> str:
    """The name of a delivered message. The harness names messages by texts; anything else has a name by its text."""
    return message if type(message) is str and message.isprintable() else shown(message)
