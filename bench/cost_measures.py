"""What a message costs of each shipped implementation, in processor time of one core, and its growth over n.

The counts of `thence compare` with a clock in place of the counter: each process sends to the three after it in turn;
a message is a causal-send and all that comes of it. Of a broadcast, the time is for each process that it reaches.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from thence.conformance.implementations import SHIPPED
from thence.impl.commands import Deliver, Send

REPEATS = 3
SIZES = (8, 32, 128)
DELIVERIES = 4_000
IN_FLIGHT = 4
"""Packets are carried once there are more; all of them, where applications have to wait for what they have sent."""


def microseconds(process_class: Any, processes: int) -> float:
    """For each delivery."""
    group = [process_class(identity, processes) for identity in range(processes)]
    delivery = getattr(process_class, "delivery", "unicast")
    waits = hasattr(process_class, "blocked")
    flights: deque[tuple[int, int, Any]] = deque()
    delivered = number = 0

    def carry_out(process: int, commands: Any) -> None:
        nonlocal delivered
        for command in commands:
            if type(command) is Send:
                flights.append((process, command.destination, command.packet))
            else:
                assert type(command) is Deliver
                delivered += 1

    started = time.process_time()
    while delivered < DELIVERIES:
        sender = number % processes
        to = (sender + 1 + number // processes % 3) % processes
        words = {"unicast": (to, number), "multicast": (frozenset({to}), number), "broadcast": (number,)}[delivery]
        carry_out(sender, group[sender].causal_send(*words))
        number += 1
        while len(flights) > (0 if waits else IN_FLIGHT):
            source, process, packet = flights.popleft()
            carry_out(process, group[process].receive(source, packet))
        assert number < 100 * DELIVERIES, "nothing is delivered any more"
    return (time.process_time() - started) / delivered * 1e6


def over_n(name: str) -> str:
    """The medians, and the exponent between the two largest groups."""
    module, _, class_name = SHIPPED[name].partition(":")
    process_class = getattr(import_module(module), class_name)
    times = [statistics.median(microseconds(process_class, size) for _ in range(REPEATS)) for size in SIZES]
    table = ", ".join(f"{size}: {one:.1f}" for size, one in zip(SIZES, times, strict=True))
    exponent = math.log(times[-1] / times[-2]) / math.log(SIZES[-1] / SIZES[-2])
    return f"us a delivery at {table}; n to the power {exponent:+.2f} from {SIZES[-2]} to {SIZES[-1]}"


MEASURES: dict[str, Callable[[], str]] = {f"cost-{name}": partial(over_n, name) for name in SHIPPED}
"""By name: what measures it, and says what came out."""
