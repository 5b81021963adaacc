"""One run: a group of processes of one implementation, a workload, a network."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from random import Random
from typing import Any, Final

import simpy

from thence.conformance.costs.sizes import Payload, metadata_bytes, process_size
from thence.conformance.evaluation.network import Channels, Network, Wire
from thence.conformance.evaluation.workload import Copy, Everybody, Planned, Workload, plan
from thence.impl.commands import Deliver, Send
from thence.impl.transport.codec import Codec

LONGEST_S: Final = 3600.0
"""Simulated seconds, after which a run is over."""

SAMPLED: Final = 64
"""The state of a process is measured once in so many calls."""

Costs = Mapping[str, float]
"""Processing time of a call in seconds, by `send`, `tick`, or the kind of the packet that arrives."""


@dataclass(slots=True)
class Life:
    """The life of an application message on its way to one destination. Times in seconds; None: not yet.

    Attributes:
        number: unique in the run; it stands for the content.
        due: the application wants to send it.
        sent: the causal send.
        posted: the first packet with it is given to the network.
        arrived: the first packet with it reaches its destination.
        delivered: it is handed to the application there.
    """

    sender: int
    number: int
    copy: Copy
    due: float
    sent: float | None = None
    posted: float | None = None
    arrived: float | None = None
    delivered: float | None = None


@dataclass(slots=True)
class Run:
    """The outcome of a run.

    Attributes:
        lives: one for each application message that was due, in the order of their causal sends.
        end: the last packet's arrival, in seconds.
        packets: number by kind.
        data_bytes: of packets with a message, beside it; control_bytes: of all others. Without headers.
        largest_state: identifiers and messages in the state of a process, at most, as sampled.
        largest_buffer: messages in the state of a process, at most, as sampled.
        calls: the real time of each call in seconds, by kind, if it was measured.
    """

    lives: list[Life] = field(default_factory=list)
    end: float = 0.0
    packets: Counter[str] = field(default_factory=Counter)
    control_packets: int = 0
    data_bytes: int = 0
    control_bytes: int = 0
    largest_state: int = 0
    largest_buffer: int = 0
    calls: dict[str, list[float]] = field(default_factory=dict)

    @property
    def undelivered(self) -> int:
        """Messages that were due and never delivered."""
        return sum(life.delivered is None for life in self.lives)


def simulate(
    impl: str, workload: Workload, network: Network, seed: int, *, costs: Costs | None = None, clocked: bool = False
) -> Run:
    """Runs the workload on an implementation.

    An implementation for single destinations sends a message to several as several messages, one after the other.

    Args:
        impl: `module:Class`.
        costs: processing times; without them, processing takes no time.
        clocked: whether the real time of each call is measured.

    Raises:
        ValueError: the implementation only broadcasts, and the workload does not.
    """
    return _Simulation(impl, workload, network, seed, costs or {}, clocked).run()


@dataclass(frozen=True, slots=True)
class _Call:
    """Something that happens to a process.

    Attributes:
        kind: `send`, `tick`, or the kind of the packet.
        lives: of the message that is causal-sent, one for each destination.
        arrival: source and packet.
    """

    kind: str
    lives: tuple[Life, ...] = ()
    arrival: tuple[int, Any] | None = None


class _Simulation:
    def __init__(self, impl: str, workload: Workload, network: Network, seed: int, costs: Costs, clocked: bool) -> None:
        module, _, name = impl.partition(":")
        kind = getattr(import_module(module), name)
        self._delivery = getattr(kind, "delivery", "unicast")
        if self._delivery == "broadcast" and (workload.target != Everybody() or workload.answers):
            raise ValueError(f"{name} only broadcasts; the workload has messages to one process each")
        self._group = [kind(identity, workload.processes) for identity in range(workload.processes)]
        self._codec = Codec.of(kind)
        self._environment = simpy.Environment()
        channels: Channels = getattr(kind, "channels", "fifo")
        self._wire = Wire(self._environment, network, channels, workload.processes, Random(~seed), self._arrive)
        self._workload, self._seed = workload, seed
        self._costs, self._clocked = costs, clocked
        self._inboxes = [simpy.Store(self._environment) for _ in self._group]
        self._held: list[deque[_Call]] = [deque() for _ in self._group]
        """Sends that wait until the application is no longer blocked."""
        self._lives: dict[Payload, dict[int, Life]] = {}
        """The lives of each message by destination."""
        self._undelivered = 0
        self._unsent = 0
        self._count = 0
        self.result = Run()

    def run(self) -> Run:
        planned = plan(self._workload, self._seed)
        self._unsent = len(planned)
        for one in planned:
            due = self._environment.timeout(one.due)
            assert due.callbacks is not None
            due.callbacks.append(self._sender(one))
        for me in range(len(self._group)):
            self._environment.process(self._participant(me))
            self._environment.process(self._timer(me))
        self._environment.run(until=LONGEST_S)
        return self.result

    def _sender(self, planned: Planned) -> Callable[[Any], None]:
        def due(_: Any) -> None:
            self._unsent -= 1
            self._wants(planned)

        return due

    def _wants(self, planned: Planned) -> None:
        now = self._environment.now
        lives = [
            Life(planned.sender, number, copy, now) for number, copy in enumerate(planned.copies, start=planned.number)
        ]
        self.result.lives += lives
        self._undelivered += len(lives)
        for sent in [[life] for life in lives] if self._delivery == "unicast" else [lives]:
            self._inboxes[planned.sender].put(_Call("send", lives=tuple(sent)))

    def _arrive(self, destination: int, source: int, packet: Any) -> None:
        self.result.end = self._environment.now
        life = None if packet.message is None else self._lives[packet.message].get(destination)
        if life is not None and life.arrived is None:
            life.arrived = self._environment.now
        self._inboxes[destination].put(_Call(packet.kind, arrival=(source, packet)))

    def _timer(self, me: int) -> Generator[simpy.Event, Any, None]:
        """Fires until every message has been delivered."""
        while self._unsent or self._undelivered:
            yield self._environment.timeout(self._wire.timeout)
            self._inboxes[me].put(_Call("tick"))

    def _participant(self, me: int) -> Generator[simpy.Event, Any, None]:
        """One call after the other, each as long as it takes."""
        while True:
            call = yield self._inboxes[me].get()
            if call.kind == "send" and getattr(self._group[me], "blocked", False):
                self._held[me].append(call)
                continue
            calls = deque([call])
            while calls:
                call = calls.popleft()
                if cost := self._costs.get(call.kind, 0.0):
                    yield self._environment.timeout(cost)
                delivered = self._carry_out(me, self._call(me, call))
                for life in delivered:
                    if life.copy.then is not None:
                        self._wants(life.copy.then)
                jobs = self._workload.jobs
                if jobs is not None and jobs.blocks and (work := sum(life.copy.job for life in delivered)):
                    yield self._environment.timeout(work)
                if self._held[me] and not self._group[me].blocked:
                    calls.append(self._held[me].popleft())

    def _call(self, me: int, call: _Call) -> Iterable[Any]:
        process = self._group[me]
        begun = time.perf_counter() if self._clocked else 0.0
        if call.lives:
            message = Payload(me, call.lives[0].number)
            for life in call.lives:
                life.sent = self._environment.now
            by_destination = {life.copy.destination: life for life in call.lives}
            self._lives[message] = by_destination
            match self._delivery:
                case "unicast":
                    commands = process.causal_send(*by_destination, message)
                case "multicast":
                    commands = process.causal_send(frozenset(by_destination), message)
                case _:
                    commands = process.causal_send(message)
        elif call.arrival is not None:
            commands = process.receive(*call.arrival)
        else:
            commands = process.tick()
        if self._clocked:
            self.result.calls.setdefault(call.kind, []).append(time.perf_counter() - begun)
        self._count += 1
        if self._count % SAMPLED == 0:
            size = process_size(process)
            self.result.largest_state = max(self.result.largest_state, size.identifiers + size.messages)
            self.result.largest_buffer = max(self.result.largest_buffer, size.messages)
        return commands  # type: ignore[no-any-return]

    def _carry_out(self, me: int, commands: Iterable[Any]) -> list[Life]:
        """The messages that are delivered."""
        delivered = []
        sizes: dict[int, int] = {}
        for command in commands:
            match command:
                case Send(destination, packet):
                    self._post(me, destination, packet, sizes)
                case Deliver(_, message):
                    life = self._lives[message].get(me)
                    if life is None:
                        assert message.sender == me, f"{message} was not sent to process {me}"
                        continue  # a broadcast that its sender delivers as well
                    assert life.delivered is None, f"{message} is delivered twice"
                    life.delivered = self._environment.now
                    self._undelivered -= 1
                    delivered.append(life)
        return delivered

    def _post(self, me: int, destination: int, packet: Any, sizes: dict[int, int]) -> None:
        self.result.packets[packet.kind] += 1
        if packet.message is None:
            size = sizes.setdefault(id(packet), len(self._codec.encode(packet)))
            self.result.control_packets += 1
            self.result.control_bytes += size
        else:
            lives = self._lives[packet.message]
            for life in [lives[destination]] if destination in lives else lives.values():  # or it goes by a third one
                life.posted = self._environment.now if life.posted is None else life.posted
            beside = sizes[id(packet)] if id(packet) in sizes else metadata_bytes(self._codec, packet)
            sizes[id(packet)] = beside
            self.result.data_bytes += beside
            size = beside + self._workload.payload_bytes
        self._wire.transmit(me, destination, packet, size)
