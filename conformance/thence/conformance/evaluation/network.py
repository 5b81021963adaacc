"""The simulated network: interfaces with a bandwidth, propagation, loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal, TypeAlias

import simpy

from thence.conformance.evaluation.latency import Latency, sample, typical

Channels: TypeAlias = Literal["fifo", "reordering", "lossy"]
"""What a system works over: reliable FIFO channels, reliable channels in any order, or channels that lose."""

PATIENCE: Final = 4.0
"""Retransmission time-out where none is given, in typical one-way times: two round trips."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network between all processes.

    Attributes:
        latency: propagation delay.
        bandwidth: bytes per second of each process's outgoing interface, which sends one packet after the other; None
            is no limit.
        overhead_bytes: of each packet, beside its content: headers of IP and UDP.
        loss: probability that a packet is lost. Under a system that takes reliable channels lies a transport that sends
            a lost packet again after a time-out.
        timeout: seconds after which a packet that was lost is sent again, and the period of the timers of systems that
            do so themselves; None is two typical round trips. It does not adapt: where an interface is saturated,
            timers that fire too early add to its load.
    """

    latency: Latency
    bandwidth: float | None = None
    overhead_bytes: int = 28
    loss: float = 0.0
    timeout: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.loss < 1:
            raise ValueError(f"the probability of loss is at least 0 and less than 1, not {self.loss}")
        if self.bandwidth is not None and self.bandwidth <= 0:
            raise ValueError(f"the bandwidth is more than 0 bytes per second, not {self.bandwidth}")


def period(network: Network, processes: int) -> float:
    """Seconds after which a packet that was lost is sent again, and the period of timers."""
    if network.timeout is not None:
        return network.timeout
    return PATIENCE * typical(network.latency, processes)


@dataclass(slots=True)
class Wire:
    """A network in a simulation.

    Attributes:
        arrive: called with destination, source and packet when a packet arrives.
        in_flight: packets on their way.
        lost: packets that did not arrive.
    """

    environment: simpy.Environment
    network: Network
    channels: Channels
    processes: int
    random: Random
    arrive: Callable[[int, int, Any], None]
    in_flight: int = 0
    lost: int = 0
    _free: dict[int, float] = field(default_factory=dict)
    """When the interface of each process has sent all that it was given."""
    _latest: dict[tuple[int, int], float] = field(default_factory=dict)
    """The last arrival of each FIFO channel."""

    @property
    def timeout(self) -> float:
        """Seconds after which a packet that was lost is sent again."""
        return period(self.network, self.processes)

    def transmit(self, source: int, destination: int, packet: Any, size: int) -> None:
        """Sends a packet of `size` bytes."""
        now = self.environment.now
        leaves = max(now, self._free.get(source, 0.0))
        if self.network.bandwidth is not None:
            leaves += (size + self.network.overhead_bytes) / self.network.bandwidth
            self._free[source] = leaves
        arrives = leaves + sample(self.network.latency, source, destination, self.random)
        while self.network.loss and self.random.random() < self.network.loss:
            if self.channels == "lossy":
                self.lost += 1
                return
            arrives += self.timeout
        if self.channels == "fifo":
            arrives = max(arrives, self._latest.get((source, destination), 0.0))
            self._latest[source, destination] = arrives
        self.in_flight += 1
        flight = self.environment.timeout(arrives - now)
        assert flight.callbacks is not None
        flight.callbacks.append(lambda _: self._arrived(source, destination, packet))

    def _arrived(self, source: int, destination: int, packet: Any) -> None:
        self.in_flight -= 1
        self.arrive(destination, source, packet)
