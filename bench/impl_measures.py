"""Implementations: time per message over the number of processes, in processor time of one core.

A message is a causal-send and everything that comes of it: its arrival, acknowledgement and permit, carried from
process to process by hand. Each process sends to the next three, three messages in a row, so that only the number of
processes changes.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from thence.impl.commands import Deliver, Send
from thence.impl.hybrid_basic import HybridBasic
from thence.impl.hybrid_multicast import HybridMulticast
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.rst import RST, Msg

REPEATS = 5
SIZES = (3, 10, 30, 100, 300, 1000)
MESSAGES = 20_000
IN_FLIGHT = 8
"""Packets are carried once there are so many of them: a few messages are unacknowledged at any time."""


def run(process_class: Any, processes: int, messages: int) -> float:
    """Microseconds of processor time per message."""
    group = [process_class(identity, processes) for identity in range(processes)]
    multicast = getattr(process_class, "delivery", "unicast") == "multicast"
    flights: deque[tuple[int, int, Any]] = deque()
    delivered = sent = permits = 0

    def carry_out(process: int, commands: Any) -> None:
        nonlocal delivered, permits
        for command in commands:
            if type(command) is Send:
                permits += command.packet.kind == "PERMIT"
                flights.append((process, command.destination, command.packet))
            else:
                assert type(command) is Deliver
                delivered += 1

    started = time.process_time()
    for number in range(messages):
        # Three in a row: the second and third leave while the ones before are unacknowledged, and ask for permits.
        sender = number // 3 % processes
        if multicast:
            to = frozenset((sender + near) % processes for near in range(1, min(4, processes)))
            sent += len(to)
            carry_out(sender, group[sender].causal_send(to, number))
        else:
            sent += 1
            receiver = (sender + 1 + number % min(3, processes - 1)) % processes
            carry_out(sender, group[sender].causal_send(receiver, number))
        while len(flights) > IN_FLIGHT or (flights and number == messages - 1):
            source, process, packet = flights.popleft()
            carry_out(process, group[process].receive(source, packet))
    took = time.process_time() - started
    assert delivered == sent, f"{delivered} of {sent} delivered"
    assert permits >= messages // 4, f"only {permits} permits"
    return took / messages * 1e6


def slope(sizes: tuple[int, ...], times: list[list[float]]) -> tuple[float, float]:
    """Of log time over log processes, by least squares over all runs, and its standard error."""
    points = [(math.log(size), math.log(one)) for size, runs in zip(sizes, times, strict=True) for one in runs]
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    fitted = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - fitted * (x - mean_x)) ** 2 for x, y in points)
    return fitted, math.sqrt(rest / (len(points) - 2) / spread)


def per_message(process_class: Any) -> str:
    times: list[list[float]] = [[] for _ in SIZES]
    for _ in range(REPEATS):
        for place, size in enumerate(SIZES):
            times[place].append(run(process_class, size, MESSAGES))
    # Among three processes each has two neighbours only: another pattern, and not part of the slope.
    fitted, error = slope(SIZES[1:], times[1:])
    table = ", ".join(f"{size}: {statistics.median(runs):.2f}" for size, runs in zip(SIZES, times, strict=True))
    worst = max(statistics.median(runs) for runs in times)
    return (
        f"us a message at {table}; at least {1e6 / worst:,.0f} messages/s; n to the power {fitted:+.3f} +- {error:.3f}"
    )


class PlainRST:
    """The same protocol with lists of lists, as one would write it down: copied to send, merged entry by entry."""

    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity
        self.sent = [[0] * processes for _ in range(processes)]
        self.deliv = [0] * processes
        self.waiting: list[tuple[int, Any, list[list[int]]]] = []

    def send(self, destination: int, message: Any) -> tuple[Any, list[list[int]]]:
        packet = (message, [row[:] for row in self.sent])
        self.sent[self.identity][destination] += 1
        return packet

    def receive(self, sender: int, packet: tuple[Any, list[list[int]]]) -> list[Any]:
        self.waiting.append((sender, *packet))
        delivered: list[Any] = []
        while ready := [one for one in self.waiting if self.deliverable(one[2])]:
            for one in ready:
                source, message, meta = one
                if not self.deliverable(meta):
                    continue
                self.waiting.remove(one)
                delivered.append(message)
                self.deliv[source] += 1
                self.sent[source][self.identity] += 1
                for ours, theirs in zip(self.sent, meta, strict=True):
                    for place, count in enumerate(theirs):
                        if count > ours[place]:
                            ours[place] = count
        return delivered

    def deliverable(self, meta: list[list[int]]) -> bool:
        return all(done >= row[self.identity] for done, row in zip(self.deliv, meta, strict=True))


def pairs(processes: int, messages: int) -> Iterator[tuple[int, int]]:
    """Senders and receivers: processes that talk to a few others each, so that what they know of each other differs."""
    choice = Random(processes)
    active = min(processes, 12)
    for _ in range(messages):
        sender, receiver = choice.sample(range(active), 2)
        yield sender, receiver


def matrix_run(process_class: Any, processes: int, messages: int, *, rebuilt: bool) -> float:
    """Microseconds of processor time per message; `rebuilt`: matrices arrive as after decoding, sharing nothing."""
    group = [process_class(identity, processes) for identity in range(min(processes, 12))]
    spent = 0.0
    for sender, receiver in pairs(processes, messages):
        started = time.process_time()
        if process_class is PlainRST:
            packet = group[sender].send(receiver, "m")
            delivered = group[receiver].receive(sender, packet)
            spent += time.process_time() - started
        else:
            [send] = group[sender].causal_send(receiver, "m")
            spent += time.process_time() - started
            packet = send.packet
            if rebuilt:
                assert isinstance(packet, Msg)
                packet = Msg(packet.message, tuple((*row[:1], *row[1:]) for row in packet.meta))
            started = time.process_time()
            delivered = group[receiver].receive(sender, packet)
            spent += time.process_time() - started
        assert len(delivered) == 1
    return spent / messages * 1e6


def matrices() -> str:
    """RST beside the plain version, with rows shared in memory and with rows as they come off a network."""
    sizes = (10, 30, 100, 300, 1000)
    found = []
    rebuilt: list[list[float]] = []
    for size in sizes:
        messages = max(30, 20_000 // size)
        plain = statistics.median(matrix_run(PlainRST, size, messages, rebuilt=False) for _ in range(3))
        shared = statistics.median(matrix_run(RST, size, messages, rebuilt=False) for _ in range(3))
        rebuilt.append([matrix_run(RST, size, messages, rebuilt=True) for _ in range(3)])
        apart = statistics.median(rebuilt[-1])
        found.append(f"{size}: {plain:,.0f} / {apart:,.0f} / {shared:,.0f}")
    fitted, error = slope(sizes[2:], rebuilt[2:])
    return (
        f"us a message, plain / rows off a network / rows shared, at {'; '.join(found)}; "
        f"n to the power {fitted:.2f} +- {error:.2f} from 100 on"
    )


MEASURES: dict[str, Callable[[], str]] = {
    "impl-hybrid_basic": lambda: per_message(HybridBasic),
    "impl-hybrid_optimal": lambda: per_message(HybridOptimal),
    "impl-hybrid_multicast": lambda: per_message(HybridMulticast),
    "impl-rst": matrices,
}
