"""The measures of a system: workloads that vary one parameter of Table 1 each, and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from thence.conformance.costs.carried import END, Carried
from thence.conformance.costs.growth import Growth, grow
from thence.conformance.costs.sizes import metadata_bytes, process_size, size

Progress: TypeAlias = Callable[[str, str], None]
"""Called with the system and the name of the measure."""

SIZES: Final = (6, 12, 24)
DEGREES: Final = (8, 16, 32)
AT_ONCE: Final = 16
_SENDER: Final = frozenset({"send", "ACK"})
"""Calls at the sender of a message; all others are at its receiver, or on its way."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of one system.

    Attributes:
        name, impl: the protocol and its implementation.
        growths: by measure and parameter, as `process/n`.
        metadata_bytes: of a message in a group of the largest size, beside the application's message.
        in_transit: of so many messages causal-sent at once to one process, and to one process each, how many are on
            their way before anything comes back.
        control: the kinds of control packets.
        control_per_message: their number per message and destination.
        deadlock: two processes that send to each other at once get stuck.
        needs_all: a message is not delivered as long as a third process says nothing.
        causal: in the triangle of three messages, the last waits for the first.
        channels: the ones that the implementation states to work over: lossy, reordering or fifo.
        relayed: messages go by way of other processes.
    """

    name: str
    impl: str
    growths: dict[str, Growth]
    metadata_bytes: tuple[int, ...]
    in_transit: tuple[int, int]
    control: tuple[str, ...]
    control_per_message: float
    deadlock: bool
    needs_all: bool
    causal: bool
    channels: str
    relayed: bool

    @property
    def starves(self) -> bool:
        """A message waits as long as others keep sending to its sender: longer, the longer that lasts."""
        return self.growths["stream/length"].exponent > 0.5 and not self.needs_all

    @property
    def live(self) -> bool:
        """No workload has anything that keeps a message from being delivered."""
        return not (self.deadlock or self.needs_all or self.starves)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "growths": {name: growth.to_json() for name, growth in self.growths.items()},
            "metadata_bytes": {str(n): count for n, count in zip(SIZES, self.metadata_bytes, strict=True)},
            "in_transit": {"of": AT_ONCE, "one_receiver": self.in_transit[0], "one_each": self.in_transit[1]},
            "control": {"kinds": list(self.control), "per_message": round(self.control_per_message, 2)},
            "deadlock": self.deadlock,
            "starves": self.starves,
            "needs_all": self.needs_all,
            "live": self.live,
            "causal": self.causal,
            "channels": self.channels,
            "relayed": self.relayed,
        }


def measure(name: str, impl: str, progress: Progress = lambda name, what: None) -> Measured:
    """Runs all workloads. Deterministic: it counts, and looks at no clock.

    Raises:
        AssertionError: a system does not deliver what it has to when nothing is held back any more.
    """
    progress(name, "over the number of processes")
    rings = [_ring(impl, n) for n in SIZES]
    growths = {
        "message/n": grow("n", SIZES, [_largest_metadata(ring) for ring in rings]),
        "process/n": grow("n", SIZES, [_largest_state(ring) for ring in rings]),
        "sender/n": grow("n", SIZES, [_sender(ring) for ring in rings]),
        "receiver/n": grow("n", SIZES, [_receiver(ring) for ring in rings]),
    }
    progress(name, "over in- and out-degree")
    fans = [_fan_in(impl, k) for k in DEGREES]
    growths["process/i"] = grow("i", DEGREES, [process_size(fan.group[0]).identifiers for fan in fans])
    growths["receiver/i"] = grow("i", DEGREES, [_receiver(fan) for fan in fans])
    fans = [_fan_out(impl, k) for k in DEGREES]
    growths["process/o"] = grow("o", DEGREES, [process_size(fan.group[0]).identifiers for fan in fans])
    fans = [_fan_out(impl, k, run=False) for k in DEGREES]
    growths["process/u over o"] = grow("o", DEGREES, [process_size(fan.group[0]).identifiers for fan in fans])
    _finish(fans)
    growths["sender/o"] = grow("o", DEGREES, [_sender(fan) for fan in fans])
    progress(name, "over what waits")
    bursts = [_burst(impl, k) for k in DEGREES]
    growths["process/u"] = grow("u", DEGREES, [process_size(burst.group[0]).identifiers for burst in bursts])
    growths["process/p"] = grow("p", DEGREES, [process_size(burst.group[1]).identifiers for burst in bursts])
    _finish(bursts)
    growths["sender/u"] = grow("u", DEGREES, [_sender(burst) for burst in bursts])
    growths["receiver/u"] = grow("u", DEGREES, [_receiver(burst) for burst in bursts])
    triangles = [_triangle(impl, k) for k in DEGREES]
    causal = all(not triangle.delivered_early for triangle in triangles)
    held = [sum(process_size(each).identifiers for each in triangle.carried.group) for triangle in triangles]
    growths["process/b"] = grow("b", DEGREES, held)
    _finish([triangle.carried for triangle in triangles])
    growths["receiver/b"] = grow("b", DEGREES, [_receiver(triangle.carried) for triangle in triangles])
    progress(name, "latency")
    growths["burst/b"] = grow("b", (4, 8, 16), [_burst_latency(impl, k) for k in (4, 8, 16)])
    growths["burst/r"] = grow("r", (4, 8, 16), [_burst_latency(impl, 4, k) for k in (4, 8, 16)])
    growths["far/r"] = grow("r", (4, 8, 16), [_far_latency(impl, k) for k in (4, 8, 16)])
    growths["stream/length"] = grow("length", DEGREES, [_stream_latency(impl, k) for k in DEGREES])
    largest = rings[-1]
    control = [packet.kind for _, _, packet in largest.packets if packet.message is None]
    deliveries = len(largest.delivered)
    return Measured(
        name,
        impl,
        growths,
        tuple(max(metadata_bytes(ring.codec, packet) for packet in _messages(ring)) for ring in rings),
        (_in_transit(impl, spread=False), _in_transit(impl, spread=True)),
        tuple(sorted(set(control))),
        len(control) / deliveries,
        _deadlocks(impl),
        _needs_all(impl),
        causal,
        getattr(largest.group[0], "channels", "fifo"),
        largest.relays,
    )


def _messages(carried: Carried) -> list[Any]:
    return [packet for _, _, packet in carried.packets if packet.message is not None]


def _largest_metadata(carried: Carried) -> int:
    return max(size(packet).identifiers for packet in _messages(carried))


def _largest_state(carried: Carried) -> int:
    return max(process_size(process).identifiers for process in carried.group)


def _sender(carried: Carried) -> float:
    """Operations at the sender of a message, for each message."""
    return carried.operations(_SENDER) / len(carried.sent)


def _receiver(carried: Carried) -> float:
    """Operations elsewhere, for each message and process that it is delivered at."""
    kinds = {step.kind for step in carried.steps} - _SENDER
    return carried.operations(kinds) / max(1, len(carried.delivered))


def _finish(runs: list[Carried]) -> None:
    """Nothing is held back any more."""
    for carried in runs:
        carried.release()
        carried.run()
        assert not carried.undelivered, f"{carried.impl}: {carried.undelivered[:5]} are never delivered"


def _ring(impl: str, n: int) -> Carried:
    """Each process sends to the three after it in turn, a message each unit of time, as often as there are processes;
    whoever has to wait after a message sends every third unit only, and the neighbours do not send at once."""
    carried = Carried(impl, n)
    waits = hasattr(carried.group[0], "blocked")
    for turn in range(n):
        for process in range(n):
            carried.send(process, (process + 1 + turn % 3) % n)
            if waits:
                carried.run()
        carried.run(carried.now + 1)
    carried.run()
    assert not carried.undelivered, f"{impl}: {carried.undelivered[:5]} are never delivered"
    return carried


def _fan_in(impl: str, k: int) -> Carried:
    carried = Carried(impl, max(DEGREES) + 1)
    for process in range(1, k + 1):
        carried.send(process, 0)
    carried.run()
    assert not carried.undelivered
    return carried


def _fan_out(impl: str, k: int, *, run: bool = True) -> Carried:
    """Process 0 sends to k others; without `run`, nothing arrives anywhere yet."""
    carried = Carried(impl, max(DEGREES) + 1)
    if not run:
        carried.hold = lambda source, destination, packet: True
    for process in range(1, k + 1):
        carried.send(0, process)
    if run:
        carried.run()
        assert not carried.undelivered
    return carried


def _burst(impl: str, k: int) -> Carried:
    """Process 0 sends a message to 2 and then k to 1, which arrive as far as they leave; what answers them is held
    back: they stay buffered or unacknowledged at 0, and permits for them stay missing at 1."""
    carried = Carried(impl, 4, ticks=False)
    carried.hold = lambda source, destination, packet: packet.message is None
    carried.send(0, 2)
    for _ in range(k):
        carried.send(0, 1)
    carried.run()
    carried.ticks = True
    return carried


@dataclass(frozen=True, slots=True)
class _Triangle:
    carried: Carried
    delivered_early: bool


def _triangle(impl: str, k: int) -> _Triangle:
    """Process 2 sends to 0, which is held back, and to 1, which then sends k messages to 0: they have to wait."""
    carried = Carried(impl, 4, ticks=False)
    carried.hold = lambda source, destination, packet: source == 2 and destination == 0
    first = carried.send(2, 0)
    carried.send(2, 1)
    carried.run()
    reached = any(process == 1 for _, process in carried.delivered)
    later = [carried.send(1, 0) for _ in range(k)]
    carried.run()
    early = reached and (first, 0) not in carried.delivered and any((each, 0) in carried.delivered for each in later)
    carried.ticks = True
    return _Triangle(carried, early)


def _burst_latency(impl: str, b: int, way: int = 1) -> int:
    """The latency of the last of b messages that are causal-sent at once: to one process, or to one each, whichever
    takes longer. A packet takes `way` units."""
    worst = 0
    for spread in (False, True):
        carried = Carried(impl, b + 1, delay=lambda source, destination: way)
        for number in range(b):
            carried.send(0, 1 + number if spread else 1)
        carried.run()
        at = b if spread else 1
        hops = b if spread and carried.relays else 1
        worst = max(worst, carried.lateness(list(carried.sent)[b - 1], at) + 1 - way * hops)
    return worst


def _far_latency(impl: str, r: int) -> int:
    """Process 0 sends to a distant process 2 and then to 1, which answers with a message to 3: the latency of that."""
    carried = Carried(impl, 4, delay=lambda source, destination: r if {source, destination} == {0, 2} else 1)
    answers: list[Any] = []

    def answer(process: int, message: Any) -> None:
        if process == 1 and message.sender == 0 and not answers:
            answers.append(carried.send(1, 3))

    carried.on_delivery = answer
    carried.send(0, 2)
    carried.send(0, 1)
    carried.run()
    return carried.lateness(answers[0], 3) if answers else END


def _stream_latency(impl: str, length: int) -> int:
    """Processes 0 and 3 send to 2 and 4 and then to 1, in turn, as long as the stream lasts; in its beginning, process
    1 sends a message to 5: the latency of that."""
    carried = Carried(impl, 6)
    message = None
    for turn in range(length):
        sender, other = ((0, 2), (3, 4))[turn % 2]
        carried.send(sender, other)
        carried.send(sender, 1)
        carried.run(carried.now + 1)
        carried.now = max(carried.now, turn + 1)
        if turn == 3:
            message = carried.send(1, 5)
    assert message is not None
    carried.run()
    return carried.lateness(message, 5)


def _in_transit(impl: str, *, spread: bool) -> int:
    carried = Carried(impl, AT_ONCE + 1, ticks=False)
    carried.hold = lambda source, destination, packet: True
    for number in range(AT_ONCE):
        carried.send(0, 1 + number if spread else 1)
    return len({packet.message for _, _, packet in carried.held if packet.message is not None})


def _deadlocks(impl: str) -> bool:
    carried = Carried(impl, 3)
    carried.send(0, 1)
    carried.send(1, 0)
    carried.run()
    return bool(carried.undelivered)


def _needs_all(impl: str) -> bool:
    carried = Carried(impl, 3, ticks=False)
    carried.send(0, 1)
    carried.run()
    return bool(carried.undelivered)
