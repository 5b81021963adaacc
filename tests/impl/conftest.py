"""A random network for processes of `thence.impl`, with a naive oracle of its own."""

from __future__ import annotations

import copy
import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import pytest

from thence.impl.commands import AnyProcess, Deliver, ProtocolError, Send


@dataclass(frozen=True)
class Channel:
    """What the network may do. It reorders unless it is `fifo`. `reactive`: applications answer inside deliveries."""

    fifo: bool = False
    loss: float = 0.0
    duplication: float = 0.0
    self_sends: bool = False
    reactive: bool = False


@dataclass
class Outcome:
    """What a run showed: findings by kind, and how much happened.

    `crossings`: pairs of processes that deliver the messages which they both deliver in different orders.
    """

    findings: Counter[str] = field(default_factory=Counter)
    crossings: int = 0
    sent: int = 0
    delivered: int = 0
    packets: Counter[str] = field(default_factory=Counter)


class Simulation:
    """One run of a class with an interface of `thence.impl.commands` over a random network.

    The oracle is the definition: `past[m]` is the set of messages whose causal-send happens before that of m.
    """

    def __init__(self, factory: Callable[[int, int], Any], seed: int, processes: int, channel: Channel) -> None:
        self.random = random.Random(seed)
        self.channel = channel
        self.processes: list[Any] = [factory(identity, processes) for identity in range(processes)]
        self.delivery = getattr(factory, "delivery", "unicast")
        self.flight: list[tuple[int, int, Any]] = []
        self.outcome = Outcome()
        self.source: list[int] = []
        self.target: list[set[int]] = []
        self.past: list[set[int]] = []
        self.known: list[set[int]] = [set() for _ in range(processes)]
        self.handed: list[list[int]] = [[] for _ in range(processes)]
        self.arrived: list[set[int]] = [set() for _ in range(processes)]
        self.answers = 0
        self.queue: deque[tuple[int, Any]] = deque()
        self.busy = False

    def run(self, steps: int, sends: int) -> Outcome:
        self.answers = sends // 2 if self.channel.reactive else 0
        for _ in range(steps):
            match self.random.randrange(10):
                case 0 | 1 | 2 | 3 if self.outcome.sent < sends:
                    self.send(self.random.randrange(len(self.processes)))
                case 9 if self.random.random() < 0.2:
                    self.tick(self.random.randrange(len(self.processes)))
                case _:
                    self.network()
        self.drain()
        return self.outcome

    def blocked(self, process: int) -> bool:
        """Whether the application waits: it neither sends nor takes anything."""
        return bool(getattr(self.processes[process], "blocked", False))

    def send(self, process: int) -> None:
        if self.blocked(process):
            return
        others = [p for p in range(len(self.processes)) if p != process or self.channel.self_sends]
        message = len(self.source)
        self.source.append(process)
        match self.delivery:
            case "unicast":
                arguments: tuple[Any, ...] = (self.random.choice(others), message)
                self.target.append({arguments[0]})
            case "multicast":
                arguments = (set(self.random.sample(others, self.random.randint(1, len(others)))), message)
                self.target.append(arguments[0])
            case _:
                arguments = (message,)
                self.target.append(set(others))
        self.past.append(set(self.known[process]))
        self.known[process].add(message)
        self.outcome.sent += 1
        self.carry_out(process, self.processes[process].causal_send(*arguments))

    def network(self) -> None:
        if not self.flight:
            return
        position = self.random.randrange(len(self.flight))
        if self.channel.fifo:
            ends = self.flight[position][:2]
            position = next(index for index, flight in enumerate(self.flight) if flight[:2] == ends)
        if self.random.random() < self.channel.loss:
            del self.flight[position]
        elif self.random.random() < self.channel.duplication:
            self.receive(*self.flight[position])
        else:
            self.receive(*self.flight.pop(position))

    def receive(self, sender: int, process: int, packet: Any) -> None:
        self.outcome.packets[packet.kind] += 1
        if packet.message is not None and process in self.target[packet.message]:
            self.arrived[process].add(packet.message)
        try:
            commands = self.processes[process].receive(sender, packet)
        except ProtocolError:
            self.outcome.findings["crash"] += 1
            return
        self.carry_out(process, commands)
        for message in self.arrived[process].difference(self.handed[process]):
            if not self.missing(process, message) and not self.blocked(process):
                self.outcome.findings["over_delay"] += 1

    def tick(self, process: int) -> None:
        self.carry_out(process, self.processes[process].tick())

    def drain(self) -> None:
        """Nothing is lost any more; timers fire until there is nothing more to send or nothing changes."""
        self.channel = replace(self.channel, loss=0.0, duplication=0.0)
        for _ in range(30):
            while self.flight:
                self.network()
            for process in range(len(self.processes)):
                self.tick(process)
            if not self.flight:
                break
        for message, targets in enumerate(self.target):
            for target in targets:
                if message not in self.handed[target]:
                    self.outcome.findings["stuck"] += 1
        for one, other in combinations(self.handed, 2):
            both = set(one) & set(other)
            self.outcome.crossings += [m for m in one if m in both] != [m for m in other if m in both]

    def carry_out(self, process: int, commands: Any) -> None:
        """Carry out the commands of one call; those of a call from inside a delivery come after them."""
        self.queue += [(process, command) for command in commands]
        if self.busy:
            return
        self.busy = True
        while self.queue:
            process, command = self.queue.popleft()
            match command:
                case Send(destination, packet):
                    self.flight.append((process, destination, packet))
                case Deliver(sender, message):
                    self.deliver(process, sender, message)
        self.busy = False

    def deliver(self, process: int, sender: int, message: int) -> None:
        if process not in self.target[message] or self.source[message] != sender:
            self.outcome.findings["phantom"] += 1
            return
        if message in self.handed[process]:
            self.outcome.findings["duplicate"] += 1
            return
        for earlier in self.missing(process, message):
            self.outcome.findings["fifo" if self.source[earlier] == sender else "causal"] += 1
        self.handed[process].append(message)
        self.known[process] |= self.past[message] | {message}
        self.outcome.delivered += 1
        if self.answers > 0:
            self.answers -= 1
            self.send(process)

    def missing(self, process: int, message: int) -> list[int]:
        return [m for m in self.past[message] if process in self.target[m] and m not in self.handed[process]]


@pytest.fixture(scope="session")
def simulate() -> Callable[..., Outcome]:
    """Run one seed: `simulate(factory, seed, processes=3, steps=60, sends=12, loss=..., ...)`."""

    def run(
        factory: Callable[[int, int], Any],
        seed: int,
        *,
        processes: int = 3,
        steps: int = 60,
        sends: int = 12,
        **channel: Any,
    ) -> Outcome:
        return Simulation(factory, seed, processes, Channel(**channel)).run(steps, sends)

    return run


@pytest.fixture(scope="session")
def settled() -> Callable[..., list[Any]]:
    """Processes in the middle of a random run: `settled(factory, seed, processes=3, steps=20, sends=8)`."""

    def run(
        factory: Callable[[int, int], Any],
        seed: int,
        *,
        processes: int = 3,
        steps: int = 20,
        sends: int = 8,
        **channel: Any,
    ) -> list[Any]:
        simulation = Simulation(factory, seed, processes, Channel(**channel))
        for _ in range(steps):
            if simulation.random.random() < 0.5 and simulation.outcome.sent < sends:
                simulation.send(simulation.random.randrange(processes))
            else:
                simulation.network()
        return simulation.processes

    return run


@pytest.fixture(scope="session")
def snapshot() -> Callable[[AnyProcess], dict[str, Any]]:
    """The whole state of a process, as a value to compare."""

    def take(process: AnyProcess) -> dict[str, Any]:
        return copy.deepcopy(vars(process))

    return take
