"""A group of processes on a network with a clock of its own: a packet takes one unit of time, or what it is told.

Channels are FIFO: what leaves a process for another later does not arrive earlier. Latencies come out as units of time,
with a round trip of two.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from thence.conformance.costs.meter import Metered
from thence.conformance.costs.sizes import Payload
from thence.impl.commands import Deliver, Send
from thence.impl.transport.codec import Codec

END: Final = 100_000
"""Units of time, after which a run is over."""


@dataclass(slots=True)
class Step:
    """The operations of a call: `send`, or the kind of the packet that arrived."""

    kind: str
    operations: int


@dataclass(slots=True)
class Carried:
    """A group.

    Attributes:
        impl: `module:Class`.
        processes: their number.
        ticks: whether timers fire whenever the network is quiet.
        delay: of a packet, by its source and destination.
        sent, delivered: when each message was causal-sent, and delivered where.
        steps: the cost of each call.
        packets: sent so far, with source and destination.
    """

    impl: str
    processes: int
    ticks: bool = True
    delay: Callable[[int, int], int] = lambda source, destination: 1
    now: int = 0
    sent: dict[Payload, int] = field(default_factory=dict)
    to: dict[Payload, frozenset[int]] = field(default_factory=dict)
    delivered: dict[tuple[Payload, int], int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    packets: list[tuple[int, int, Any]] = field(default_factory=list)
    held: list[tuple[int, int, Any]] = field(default_factory=list)
    """Packets that `hold` keeps from arriving."""
    hold: Callable[[int, int, Any], bool] = lambda source, destination, packet: False
    on_delivery: Callable[[int, Payload], None] = lambda process, message: None
    metered: Metered = field(default_factory=Metered)
    group: list[Any] = field(default_factory=list)
    waiting: dict[int, list[Payload]] = field(default_factory=dict)
    """Messages that applications have to wait with."""
    _flights: list[tuple[int, int, int, int, Any]] = field(default_factory=list)
    _number: int = 0
    _last: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        module, _, name = self.impl.partition(":")
        process_class = getattr(self.metered.load(module), name)
        self.group = [process_class(identity, self.processes) for identity in range(self.processes)]

    @property
    def delivery(self) -> str:
        """Unicast, multicast or broadcast."""
        return getattr(self.group[0], "delivery", "unicast")

    @property
    def relays(self) -> bool:
        """Whether a message went to a process that it is not for, on its way."""
        return any(to not in self.to[packet.message] for _, to, packet in self.packets if packet.message is not None)

    @property
    def codec(self) -> Codec:
        """The format of the packets of these processes."""
        module, _, name = self.impl.partition(":")
        kinds = Codec.of(getattr(import_module(module), name)).kinds
        return Codec(tuple(getattr(self.metered.load(kind.__module__), kind.__name__) for kind in kinds))

    def blocked(self, process: int) -> bool:
        """Whether the application has to wait before it sends."""
        return bool(getattr(self.group[process], "blocked", False))

    def send(self, process: int, destination: int) -> Payload:
        """Causal-sends a message to one process; where the system has broadcasts only, to all."""
        message = Payload(process, len(self.sent))
        self.sent[message] = self.now
        others = frozenset(range(self.processes)) - {process}
        self.to[message] = others if self.delivery == "broadcast" else frozenset({destination})
        if self.blocked(process):
            self.waiting.setdefault(process, []).append(message)
        else:
            self._send(message, destination)
        return message

    def _send(self, message: Payload, destination: int) -> None:
        process = message.sender
        me = self.group[process]
        before = self.metered.meter.count
        match self.delivery:
            case "unicast":
                commands = me.causal_send(destination, message)
            case "multicast":
                commands = me.causal_send(frozenset({destination}), message)
            case _:
                commands = me.causal_send(message)
        self.steps.append(Step("send", self.metered.meter.count - before))
        self._carry_out(process, commands)

    def run(self, until: int = END) -> None:
        """Carries packets until none is left and no timer changes anything, or the time is over."""
        while self.now < until:
            while self._flights and self._flights[0][0] <= until:
                self._arrive()
            if self._flights or not self.ticks or not self._tick():
                return

    def release(self) -> None:
        """Releases the packets that were held back, in the order of their sending."""
        held, self.held = self.held, []
        self.hold = lambda source, destination, packet: False
        for source, destination, packet in held:
            self._fly(source, destination, packet)

    @property
    def undelivered(self) -> list[Payload]:
        """The messages that are not delivered everywhere, in the order of their sending."""
        return [message for message, to in self.to.items() if any((message, each) not in self.delivered for each in to)]

    def lateness(self, message: Payload, at: int) -> int:
        """Non-causal latency: how long after its causal-send it was delivered at a process, less the one unit that it
        takes to get there. It is for messages of which nothing that precedes them arrives later, if all leaves at
        once. END, where it has not been delivered."""
        return self.delivered.get((message, at), END) - self.sent[message] - 1

    def operations(self, kinds: Iterable[str]) -> int:
        """The total cost of the calls of these kinds."""
        wanted = frozenset(kinds)
        return sum(step.operations for step in self.steps if step.kind in wanted)

    def _tick(self) -> bool:
        """Timers fire, after one unit of time; whether a packet came of it."""
        self.now += 1
        before = len(self._flights)
        for process in range(self.processes):
            self._carry_out(process, self.group[process].tick())
        return len(self._flights) > before

    def _arrive(self) -> None:
        time, _, source, destination, packet = heapq.heappop(self._flights)
        self.now = max(self.now, time)
        before = self.metered.meter.count
        commands = self.group[destination].receive(source, packet)
        self.steps.append(Step(packet.kind, self.metered.meter.count - before))
        self._carry_out(destination, commands)
        while self.waiting.get(destination) and not self.blocked(destination):
            message = self.waiting[destination].pop(0)
            self._send(message, min(self.to[message]))

    def _carry_out(self, process: int, commands: Iterable[Any]) -> None:
        for command in commands:
            match command:
                case Send():
                    self.packets.append((process, command.destination, command.packet))
                    if self.hold(process, command.destination, command.packet):
                        self.held.append((process, command.destination, command.packet))
                    else:
                        self._fly(process, command.destination, command.packet)
                case Deliver():
                    self.delivered[command.message, process] = self.now
                    self.on_delivery(process, command.message)

    def _fly(self, source: int, destination: int, packet: Any) -> None:
        channel = source, destination
        arrival = max(self.now + self.delay(source, destination), self._last.get(channel, 0))
        self._last[channel] = arrival
        self._number += 1
        heapq.heappush(self._flights, (arrival, self._number, source, destination, packet))
