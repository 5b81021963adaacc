"""The same workload over real sockets: UDP on the loopback interface, each frame delayed as the latency says.

All processes are in one program, so that one clock measures, and few of them at a moderate load: their processing is on
the way of each other's messages. It confirms what the simulation says of waiting, not of throughput.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from thence.conformance.evaluation.latency import Latency, sample
from thence.conformance.evaluation.measures import percentile
from thence.conformance.evaluation.network import Network, period
from thence.conformance.evaluation.workload import Planned, Workload, plan
from thence.impl.transport.disturbance import Disturbance, Disturbed
from thence.impl.transport.endpoint import Delivery, Endpoint, Options
from thence.impl.transport.group import bind_udp

MOST_PROCESSES: Final = 20
PATIENCE_S: Final = 30.0
"""Seconds after the last send, after which a run is over."""

POLLED_S: Final = 0.001
"""How often a blocked process is looked at."""


@dataclass(frozen=True, slots=True)
class Delays(Disturbance):
    """Delays the frames of one process as a latency says; none is lost or sent twice but as `Disturbance` says."""

    latency: Latency | None = None
    source: int = 0

    def start(self, transmit: Callable[[int, bytes], None]) -> Disturbed:
        """A delayed way to `transmit`."""
        return _Delayed(self, transmit)


class _Delayed(Disturbed):
    __slots__ = ("_delays",)

    def __init__(self, delays: Delays, transmit: Callable[[int, bytes], None]) -> None:
        super().__init__(delays, transmit)
        self._delays = delays

    def send(self, destination: int, frame: bytes) -> None:
        """Loses a frame, or sends it when it is time."""
        if self._choice.random() < self._delays.loss:
            self.lost += 1
            return
        assert self._delays.latency is not None
        self._later(sample(self._delays.latency, self._delays.source, destination, self._choice), destination, frame)


@dataclass(frozen=True, slots=True)
class Deliveries:
    """The outcome of a run on sockets. Times in seconds, from the application's wish to the delivery.

    Attributes:
        count: of the messages that were delivered; without any, all times are 0.
        undelivered: messages that never came.
    """

    count: int
    undelivered: int
    mean: float
    median: float
    p99: float


def deliveries(impl: str, workload: Workload, network: Network, seed: int) -> Deliveries:
    """Runs the workload on sockets.

    Args:
        impl: `module:Class`, of a system for single destinations.

    Raises:
        ValueError: the system is not for single destinations, there are too many processes, jobs, or a bandwidth.
        TransportError: an endpoint broke.
        OSError: no socket.
    """
    module, _, name = impl.partition(":")
    kind = getattr(import_module(module), name)
    if getattr(kind, "delivery", "unicast") != "unicast":
        raise ValueError(f"{name} is not for single destinations; sockets are for those that are")
    if workload.processes > MOST_PROCESSES:
        raise ValueError(f"sockets are for up to {MOST_PROCESSES} processes, not {workload.processes}")
    if workload.jobs is not None or network.bandwidth is not None:
        raise ValueError("there are no jobs and no bandwidth on sockets")
    delays, planned = asyncio.run(_Group(kind, workload, network, seed).run())
    if not delays:
        return Deliveries(0, planned, 0.0, 0.0, 0.0)
    mean, median = statistics.fmean(delays), statistics.median(delays)
    return Deliveries(len(delays), planned - len(delays), mean, median, percentile(sorted(delays), 0.99))


@dataclass(slots=True)
class _Group:
    kind: Any
    workload: Workload
    network: Network
    seed: int
    endpoints: list[Endpoint] = field(default_factory=list)
    due: dict[int, tuple[float, Planned | None]] = field(default_factory=dict)
    """Of each message that was asked for: when, and what its delivery makes the receiver send."""
    held: list[list[tuple[int, int]]] = field(default_factory=list)
    """Of each blocked process: destination and number of the sends that wait."""
    delays: list[float] = field(default_factory=list)
    planned: int = 0
    asked: int = 0
    """How many of the workload's sends were asked for so far."""

    async def run(self) -> tuple[list[float], int]:
        processes = self.workload.processes
        timer_ms = min(60_000.0, max(1.0, 1000 * period(self.network, processes)))
        async with AsyncExitStack() as stack:
            for me in range(processes):
                delays = Delays(
                    self.network.loss, seed=self.seed * processes + me, latency=self.network.latency, source=me
                )
                options = Options(timer_ms=timer_ms, disturbance=delays)
                endpoint = await bind_udp(self.kind, me, processes, options=options)
                endpoint.on_deliver = self._taker(me)
                self.endpoints.append(await stack.enter_async_context(endpoint))
                self.held.append([])
            addresses = [endpoint.address for endpoint in self.endpoints]
            for endpoint in self.endpoints:
                endpoint.connect(addresses)
            await self._play(plan(self.workload, self.seed))
        return self.delays, self.planned

    async def _play(self, sends: tuple[Planned, ...]) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for one in sends:
            loop.call_at(begun + one.due, self._asks, one, begun + one.due)
        over = begun + (sends[-1].due if sends else 0.0) + PATIENCE_S
        while (self.asked < len(sends) or len(self.delays) < self.planned) and loop.time() < over:
            for endpoint in self.endpoints:
                endpoint.raise_failure()
            for me, waiting in enumerate(self.held):
                while waiting and not self.endpoints[me].blocked:
                    self.endpoints[me].send(*waiting.pop(0))
            await asyncio.sleep(POLLED_S)

    def _asks(self, planned: Planned, due: float) -> None:
        self.asked += 1
        self._wants(planned, due)

    def _wants(self, planned: Planned, due: float) -> None:
        for number, copy in enumerate(planned.copies, start=planned.number):
            self.planned += 1
            self.due[number] = (due, copy.then)
            endpoint = self.endpoints[planned.sender]
            if endpoint.blocked or self.held[planned.sender]:
                self.held[planned.sender].append((copy.destination, number))
            else:
                endpoint.send(copy.destination, number)

    def _taker(self, me: int) -> Callable[[Delivery], None]:
        def take(delivery: Delivery) -> None:
            now = asyncio.get_running_loop().time()
            due, then = self.due[delivery.message]
            self.delays.append(now - due)
            if then is not None:
                assert then.sender == me
                self._wants(then, now)

        return take
