"""A foreign system as a system under test: its participants look like objects of Python to the harness."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from thence.conformance.cases.inputs import InputChoices
from thence.conformance.cases.network import Settings
from thence.conformance.systems import contract
from thence.conformance.systems.contract import (
    CASE_BYTES,
    Abilities,
    Broken,
    Delivered,
    Emitted,
    Raised,
    Waits,
)
from thence.conformance.systems.foreign import Answered, Elsewhere, SystemFailed, SystemRaised
from thence.conformance.systems.os_process import GRACE_S, LINUX, OsProcess, size, split_command
from thence.dsl.ir import PERIODICALLY
from thence.impl.commands import Command, Deliver, MustWait, Send

REPLY_S: Final = 5.0
"""Seconds that a reply may take."""

START_S: Final = 20.0
"""Seconds that the first reply of a fresh process may take: a virtual machine has to start."""

CASE_S: Final = 20.0
"""Seconds that all replies of a case together may take, without the first of a fresh process."""

FAILED_STARTS: Final = 3
"""Processes in a row without any proper reply, after which another one is pointless."""

HANGS: Final = 3
"""Requests, or cases of a class, without an answer in time, after which more cases are pointless."""


AT_ONCE: Final = 64
"""Most cases of a system that run at once; more of them gain nothing."""

MEMORY_BYTES: Final = 2 * 2**30
"""Memory limit of a process and its descendants."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a foreign system.

    Attributes:
        reply_s, start_s, case_s: seconds for a reply, for the first reply of a process, for all replies of a case.
        memory_bytes: in memory, for each process with all that it starts; 0 is no limit. Linux only.
    """

    reply_s: float = REPLY_S
    start_s: float = START_S
    case_s: float = CASE_S
    memory_bytes: int = MEMORY_BYTES


@dataclass(slots=True)
class _Seat:
    """An operating-system process, when there is one, and the participants that it hosts."""

    hosts: tuple[int, ...]
    process: OsProcess | None = None

    def part(self) -> None:
        if self.process is not None:
            self.process.part()

    def wait(self, until: float) -> None:
        if self.process is not None:
            self.process.wait(until)

    def close(self) -> None:
        if self.process is not None:
            self.process.close()
            self.process = None


@dataclass(slots=True)
class _Budget:
    """The rest of a case's limits."""

    settings: Settings = field(default_factory=Settings)
    seconds: float = 0.0
    bytes: int = CASE_BYTES


class ExternalSystem:
    """Makes the participants of a foreign system: a `MakeProcess`. One operating-system process, or one for each.

    Processes are started when they are first needed, serve case after case, and are started again after they have
    misbehaved. `close` ends them; so does the end of Thence, whatever its cause.

    Attributes:
        command: starts a process.
        per_process: whether every participant has an operating-system process of its own.
        limits: of time, output and memory.
        transcript: the lines of the case in their order: a request, its reply, and so on.
        starts: number of processes that have been started.
    """

    def __init__(self, command: str, *, per_process: bool = False, limits: Limits | None = None) -> None:
        """Raises: CommandError, where the command is not the form of one, or names no program."""
        self.command = command
        self.per_process = per_process
        self.limits = Limits() if limits is None else limits
        self.starts = 0
        self.transcript: list[str] = []
        self._words = split_command(command)
        self._seats: list[_Seat] = []
        self._abilities = Abilities()
        self._budget = _Budget()
        self._senders: dict[str, int] = {}
        """The sender of each message of the case, which deliveries need not name."""
        self._failed_starts = 0
        self._hangs = self._excesses = 0
        self._dead: SystemFailed | None = None
        """Why no process is started any more: none of them has ever said a proper word."""
        self._owed: SystemFailed | None = None
        """A failure of the introduction, which a later attempt got over: the first case has it."""

    def begin_case(self, settings: Settings) -> Abilities:
        """Has the system forget everything and begin anew.

        Raises:
            SystemFailed: it does not answer as the contract says. Once it is known never to, this is said at once.
            SystemRaised: it refuses.
        """
        if self._dead is not None:
            raise self._dead
        if self._owed is not None:
            owed, self._owed = self._owed, None
            raise owed
        groups = [(one,) for one in range(settings.processes)] if self.per_process else [(*range(settings.processes),)]
        if [seat.hosts for seat in self._seats] != groups:
            self.close()
            self._seats = [_Seat(hosts) for hosts in groups]
        self._budget = _Budget(settings, self.limits.case_s)
        self._senders.clear()
        self.transcript.clear()
        try:
            for seat in self._seats:
                self._abilities = self._initialise(seat)
        except SystemFailed as failed:
            if self._failed_starts >= FAILED_STARTS or (failed.kind == "hang" and self._failed_starts == self.starts):
                self._dead = failed
            if failed.kind == "hang" and self._failed_starts:
                failed.args = (f"{failed} (is every line flushed?)",)
            raise
        return self._abilities

    def __call__(self, identity: int, processes: int) -> ExternalProcess:
        """Participant `identity` of the case that `begin_case` began; without it, of one with default settings."""
        if sum(len(seat.hosts) for seat in self._seats) != processes:
            self.begin_case(Settings(processes, self_sends=processes == 1))
        return ExternalProcess(self, identity, self._budget.settings, self._abilities)

    def introduce(self, settings: Settings) -> Abilities:
        """The abilities that the system states when first asked.

        A failure is tried again, unless it took all the time or memory there is. One that passes is the first case's.

        Raises:
            SystemRaised: it refuses such settings.
            SystemFailed: it could not start; the message says what was tried.
        """
        first: SystemFailed | None = None
        for attempt in range(1, FAILED_STARTS + 1):
            try:
                abilities = self.begin_case(settings)
            except SystemFailed as failed:
                first = first or failed
                if failed.kind != "crash" or attempt == FAILED_STARTS:
                    raise SystemFailed(failed.kind, self._not_started(failed, attempt), failed.printed) from failed
            else:
                self._owed = first
                return abilities
        raise AssertionError("the last attempt returns or raises")

    def _not_started(self, failed: SystemFailed, attempts: int) -> str:
        """What was tried in vain, as a sentence."""
        asked = self.transcript[(len(self.transcript) - 1) // 2 * 2]
        times = "once" if attempts == 1 else f"{attempts} times"
        return f"could not start: it {failed}; tried {times}: {self.command} was asked {asked}"

    def hopeless(self) -> str | None:
        """Why more cases are pointless; None where they are not."""
        if self._dead is not None:
            return "its processes do not answer their first request"
        if self._hangs >= HANGS:
            return f"{HANGS} requests had no answer in time"
        if self._excesses >= HANGS:
            return f"{HANGS} times it used more memory than {size(self.limits.memory_bytes)}"
        return None

    @property
    def unlimited(self) -> str:
        """The limits that do not hold on this machine, as a sentence; empty where all do."""
        if LINUX or not self.limits.memory_bytes:
            return ""
        return "the memory limit holds on Linux only: here there is none"

    def close(self) -> None:
        """Ends all processes of the system, with their descendants. The next case starts new ones."""
        running = [seat for seat in self._seats if seat.process is not None]
        until = time.monotonic() + GRACE_S
        try:
            for seat in running:
                seat.part()
            for seat in running:
                seat.wait(until)
        finally:
            for seat in running:
                seat.close()

    @property
    def cases_at_once(self) -> int:
        """How many cases the system holds at once, by its own words. One that sends after its deliveries, or has a
        process for each participant, has one case at a time."""
        alone = self.per_process or not self._abilities.react
        return 1 if alone else min(self._abilities.cases, AT_ONCE)

    def ask_all(self, requests: Sequence[contract.Request], meanwhile: Callable[[], None]) -> list[dict[str, Any]]:
        """The replies to a batch of requests of several cases, as JSON objects. `begin_case` has made it ready.

        `meanwhile` is called while the system works on the batch; it asks the system nothing.

        Raises: SystemFailed: any of them has no proper reply.
        """
        [seat] = self._seats
        try:
            line = contract.line(contract.batch(requests))
            limit_s = max(self.limits.reply_s, min(self.limits.reply_s * len(requests), self.limits.case_s))
            self._budget.seconds, self._budget.bytes = limit_s, CASE_BYTES
            return contract.read_replies(self._exchange(seat, line, limit_s, meanwhile), len(requests))
        except Broken as error:
            raise self._failed(seat, SystemFailed("crash", str(error))) from None

    def ask(self, identity: int, request: contract.Request, *, may_wait: bool = False) -> list[Any]:
        """The commands with which the participant answers. Raises: SystemFailed, SystemRaised; MustWait, if it may."""
        seat = self._seats[identity if self.per_process else 0]
        reply = self._exchange(seat, contract.line(request), min(self.limits.reply_s, self._budget.seconds))
        try:
            events = contract.read_events(reply, self._budget.settings.processes, may_wait=may_wait)
        except Broken as error:
            raise self._failed(seat, SystemFailed("crash", str(error))) from None
        if isinstance(events, Raised):
            raise self._refused(seat, events.error)
        if isinstance(events, Waits):
            raise MustWait
        return commands_in(events, identity, self._senders)

    def note(self, message: str, sender: int) -> None:
        """Remembers the sender of a message."""
        self._senders[message] = sender

    def _initialise(self, seat: _Seat) -> Abilities:
        fresh = seat.process is None
        if seat.process is None:
            self.starts += 1
            self._failed_starts += 1
            seat.process = OsProcess(self._words, self.limits.memory_bytes)
        else:
            seat.process.forget()
        limit_s = self.limits.start_s if fresh else self.limits.reply_s
        reply = self._exchange(seat, contract.line(contract.init(self._budget.settings, seat.hosts)), limit_s)
        try:
            abilities = contract.read_abilities(reply)
        except Broken as error:
            raise self._failed(seat, SystemFailed("crash", str(error))) from None
        self._failed_starts = 0
        if fresh:
            self._budget.seconds = self.limits.case_s
        if isinstance(abilities, Raised):
            raise self._refused(seat, abilities.error)
        return abilities

    def _exchange(self, seat: _Seat, line: bytes, limit_s: float, meanwhile: Callable[[], None] | None = None) -> bytes:
        """The reply to a line. With `meanwhile` it is a batch, which belongs to no case's transcript."""
        assert seat.process is not None, "after a failure, a case has no more requests"
        if meanwhile is None:
            self.transcript.append(line.decode().rstrip())
        begun = time.monotonic()
        try:
            [reply] = seat.process.ask(line, limit_s, meanwhile=meanwhile)
        except SystemFailed as failed:
            raise self._failed(seat, failed) from None
        except BaseException:
            # The reply to come would be taken for that to the next request.
            seat.close()
            raise
        if meanwhile is None:
            self.transcript.append(reply.decode(errors="replace"))
        self._budget.seconds -= time.monotonic() - begun
        self._budget.bytes -= len(reply)
        if self._budget.bytes < 0:
            raise self._failed(seat, SystemFailed("crash", f"answers with more than {CASE_BYTES:,} bytes in one case"))
        return reply

    def _refused(self, seat: _Seat, error: str) -> SystemRaised:
        """An error in reply. The process goes on, and its last words belong to the error."""
        return SystemRaised(error, "" if seat.process is None else seat.process.printed)

    def _failed(self, seat: _Seat, failed: SystemFailed) -> SystemFailed:
        """The process is not asked again; its last words belong to the failure."""
        self._hangs += failed.kind == "hang"
        self._excesses += failed.kind == "memory"
        if seat.process is not None and not failed.printed:
            failed.printed = seat.process.printed
        seat.close()
        return failed


def commands_in(
    events: Iterable[contract.Event], identity: int, senders: Mapping[str, int]
) -> list[Command | Answered | Elsewhere]:
    """The commands that the participant's events are, where messages have these senders."""
    commands: list[Command | Answered | Elsewhere] = []
    for event in events:
        own: list[Command | Answered]
        if isinstance(event, Emitted):  # No patterns: they take several times as long, and events are many.
            own = [Send(destination, event.packet) for destination in event.destinations]  # type: ignore[arg-type]
        elif isinstance(event, Delivered):
            message, sender = event.message, event.sender
            own = [Deliver(senders.get(message, -1) if sender is None else sender, message)]
        else:
            own = [Answered(event.message)]
        away = event.process
        commands += own if away is None or away == identity else [Elsewhere(away, command) for command in own]
    return commands


class Asked(Protocol):
    """Whoever carries the requests of participants: a system, or one case of several at once."""

    def ask(self, identity: int, request: contract.Request, *, may_wait: bool = False) -> list[Any]:
        """The commands with which the participant answers."""
        ...

    def note(self, message: str, sender: int) -> None:
        """Remembers the sender of a message."""
        ...


class ExternalProcess:
    """One participant. Its methods take and return what those of `thence.impl.commands.AnyProcess` do.

    What they raise is `SystemFailed` or `SystemRaised`, and `MustWait` from the method of an input. Without timers
    `tick` is None, and without the ability `react` is.
    """

    def __init__(self, system: Asked, identity: int, settings: Settings, abilities: Abilities) -> None:
        self._system = system
        self._identity = identity
        self._settings = settings
        self.delivery = settings.delivery
        self.tick = self._tick if abilities.timers else None
        self.react = self._react if abilities.react else None
        for each in settings.inputs:
            setattr(self, each.method, self._input(each))

    def causal_send(self, *arguments: Any) -> list[Any]:
        """The application sends a message, the last argument, to the destinations, the first one, or to all."""
        destinations, message = self._addressed(arguments)
        self._system.note(message, self._identity)
        return self._system.ask(self._identity, contract.send("send", self._identity, destinations, message))

    def receive(self, sender: int, packet: contract.Foreign) -> list[Any]:
        """A packet arrives."""
        return self._system.ask(self._identity, contract.receive(self._identity, sender, packet.content))

    def _react(self, *arguments: Any) -> list[Any]:
        """As `causal_send`, from inside the next delivery."""
        destinations, message = self._addressed(arguments)
        self._system.note(message, self._identity)
        return self._system.ask(self._identity, contract.send("react", self._identity, destinations, message))

    def _tick(self, timer: str = PERIODICALLY) -> list[Any]:
        """The timer of this name fires."""
        return self._system.ask(self._identity, contract.tick(self._identity, timer))

    def _input(self, given: InputChoices) -> Callable[..., list[Any]]:
        """The method for an input of the application. It raises MustWait where the system says so."""

        def have(*arguments: int) -> list[Any]:
            asked = contract.input_(self._identity, given.name, arguments)
            return self._system.ask(self._identity, asked, may_wait=True)

        have.__name__ = given.method
        return have

    def _addressed(self, arguments: tuple[Any, ...]) -> tuple[tuple[int, ...], str]:
        match arguments:
            case (message,):
                return self._settings.destinations(self._identity, None), message
            case (int(destination), message):
                return (destination,), message
            case (Set() as destinations, message):
                return tuple(sorted(destinations)), message
            case _:
                raise ValueError(f"what is sent where? {arguments!r}")
