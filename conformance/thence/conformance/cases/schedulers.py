"""Schedulers: seeded generators of operations that look at the packets in flight.

None is best for every fault, so they run as a portfolio; `starve_one_channel` finds most (see the table in the
documentation) and is the default. The operations of a scheduler are the case; the scheduler itself is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Final, TypeAlias

from thence.conformance.cases.network import Channel, Destination, Flight, Network, Settings
from thence.conformance.cases.schedule import Duplicate, Have, Lose, Operation, React, Receive, Send, Tick

Scheduler: TypeAlias = Callable[[Random, Settings, Network, int], Iterator[Operation]]
"""Yields the given number of operations, each chosen when it is asked for, from the packets then in flight; then up to
as many arrivals."""

_SEND, _REACT, _TICK, _HAVE = cache(Send), cache(React), cache(Tick), cache(Have)
_RECEIVE, _DUPLICATE, _LOSE = cache(Receive), cache(Duplicate), cache(Lose)

_CHANGES = 3
"""Moments at which `priorities` puts the first one last."""

_REACTIONS = 0.25
"""Share of causal sends that answer a delivery."""

_COMPANY = 0.4
"""Probability of each other process to be a destination of a multicast."""

_DISTURBANCES = 0.1
"""Probability, per operation, of a timer and of each fault of the network."""


def starve_one_channel(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
    """The packets of one channel arrive only when there are no others; the first message goes there."""
    draw = random.random
    source = int(draw() * settings.processes)
    destination = _process(random, settings, source)

    yield _of_application(random, settings, source, _SEND, lambda: _including(random, settings, source, destination))
    for _ in range(operations - 1):
        disturbance = _disturbance(random, settings, network)
        if disturbance is not None:
            yield disturbance
        elif draw() < 0.4 or not (able := network.receivable_except(source, destination)):
            yield _by_application(random, settings)
        else:
            yield _receive(network, able[int(draw() * len(able))])
    yield from _close(random, network, operations, lambda: network.receivable_except(source, destination))


def uniform(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
    """Sends and arrivals, and all packets, with about the same probability."""
    for _ in range(operations):
        disturbance = _disturbance(random, settings, network)
        if disturbance is not None:
            yield disturbance
        elif random.random() < 0.45 or not (able := network.receivable()):
            yield _by_application(random, settings)
        else:
            yield _receive(network, able[int(random.random() * len(able))])
    yield from _close(random, network, operations, network.receivable)


def priorities(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
    """Probabilistic concurrency testing: the highest priority goes first, and a few random moments change priorities.

    Applications and packets have the priorities, where Burckhardt, Kothari, Musuvathi and Nagarakatte (2010, section 3)
    give them to threads: a packet is a thread of one step. On FIFO channels, where packets cannot pass each other, all
    packets of a channel have the channel's.
    """
    count, draw = settings.processes, random.random
    senders = {process: draw() for process in range(count)}
    budget = dict.fromkeys(range(count), max(1, operations // 2 // count + 1))
    changes = {int(draw() * operations) for _ in range(_CHANGES)}
    ranks = _Ranks(random, network)

    def first() -> list[int]:
        able = network.receivable()
        ranks.look()
        return [min(able, key=ranks.of)] if able else []

    for step in range(operations):
        disturbance = _disturbance(random, settings, network)
        if disturbance is not None:
            yield disturbance
            continue
        packets = first()
        able = [(senders[process], process) for process, left in budget.items() if left]
        if not able and not packets:
            yield _by_application(random, settings)
            continue
        sends = not packets or (bool(able) and min(able)[0] < ranks.of(packets[0]))
        if sends:
            process = min(able)[1]
            if step in changes:
                senders[process] = 1.0 + step
            budget[process] -= 1
            make = _REACT if draw() < _REACTIONS else _SEND
            yield _of_application(random, settings, process, make)
        else:
            if step in changes:
                ranks.put_back(packets[0], 1.0 + step)
                packets = first()
            yield _receive(network, packets[0])
    yield from _close(random, network, operations, first)


class _Ranks:
    """The priorities of the packets in flight, lower ones first. A packet is known by its place in their order."""

    def __init__(self, random: Random, network: Network) -> None:
        self._random = random
        self._network = network
        self._flights: list[Flight] = []
        self._packets: list[float] = []
        self._channels: dict[Channel, float] = {}

    def look(self) -> None:
        """Takes note of what has been sent, and forgets what has arrived: since the last look, packets have come at the
        end, and gone from anywhere."""
        flights, packets, at = self._flights, [], 0
        for flight in self._network.flights:
            while at < len(flights) and flights[at] is not flight:
                at += 1
            packets.append(self._packets[at] if at < len(flights) else self._random.random())
            at += 1
        self._flights, self._packets = list(self._network.flights), packets

    def of(self, index: int) -> float:
        """The priority of the packet at `index`, at the last look."""
        if not self._network.fifo:
            return self._packets[index]
        channel = self._flights[index][:2]
        if channel not in self._channels:
            self._channels[channel] = self._random.random()
        return self._channels[channel]

    def put_back(self, index: int, rank: float) -> None:
        """The packet goes behind all others, or its channel does."""
        self._packets[index] = rank
        self._channels[self._flights[index][:2]] = rank


def swarm(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
    """Every case leaves out some senders and closes some channels, and mixes sends and arrivals in its own way.

    After Groce and others, Swarm Testing.
    """
    count = settings.processes
    senders = [process for process in range(count) if random.random() < 0.6] or [int(random.random() * count)]
    closed = {(source, destination) for source in range(count) for destination in range(count) if random.random() < 0.3}
    ratio = 0.2 + 0.4 * random.random()
    reactions = 0.5 * random.random()

    def open_() -> list[int]:
        return [index for index in network.receivable() if network.flights[index][:2] not in closed]

    for _ in range(operations):
        disturbance = _disturbance(random, settings, network)
        if disturbance is not None:
            yield disturbance
        elif random.random() < ratio or not (able := open_()):
            process = senders[int(random.random() * len(senders))]
            make = _REACT if random.random() < reactions else _SEND
            yield _of_application(random, settings, process, make)
        else:
            yield _receive(network, able[int(random.random() * len(able))])
    yield from _close(random, network, operations, open_)


SCHEDULERS: Final[dict[str, Scheduler]] = {
    "starve_one_channel": starve_one_channel,
    "uniform": uniform,
    "pct": priorities,
    "swarm": swarm,
}
"""The portfolio, by name; the first is the default."""


def _destination(random: Random, settings: Settings, process: int) -> Destination:
    """The destination of the process's next message."""
    match settings.delivery:
        case "unicast":
            return _process(random, settings, process)
        case "multicast":
            return _including(random, settings, process, _process(random, settings, process))
        case "broadcast":
            return None


def _including(random: Random, settings: Settings, process: int, destination: int) -> Destination:
    """The destination of the process's next message, which includes `destination`."""
    match settings.delivery:
        case "unicast":
            return destination
        case "multicast":
            draw, own = random.random, settings.self_sends
            return tuple(
                [
                    other
                    for other in range(settings.processes)
                    if other == destination or ((other != process or own) and draw() < _COMPANY)
                ]
            )
        case "broadcast":
            return None


def _process(random: Random, settings: Settings, process: int) -> int:
    """A process that the given one may send to."""
    if settings.self_sends:
        return int(random.random() * settings.processes)
    return (process + 1 + int(random.random() * (settings.processes - 1))) % settings.processes


def _by_application(random: Random, settings: Settings) -> Operation:
    """A step of some application."""
    draw = random.random
    process = int(draw() * settings.processes)
    make = _REACT if draw() < _REACTIONS else _SEND
    return _of_application(random, settings, process, make)


def _of_application(
    random: Random,
    settings: Settings,
    process: int,
    make: Callable[[int, Destination], Operation],
    destination: Callable[[], Destination] | None = None,
) -> Operation:
    """What the application of the process does next: it sends, or has an input, each as often as the others."""
    inputs = settings.inputs
    if inputs:
        chosen = int(random.random() * (len(inputs) + settings.sends))
        if chosen < len(inputs):
            return _HAVE(process, inputs[chosen].name, random.choice(inputs[chosen].choices))
    return make(process, _destination(random, settings, process) if destination is None else destination())


def _receive(network: Network, index: int) -> Operation:
    position, channel = network.place(index)
    return _RECEIVE(position, channel)


def _close(random: Random, network: Network, operations: int, able: Callable[[], list[int]]) -> Iterator[Operation]:
    """The remaining packets arrive in the scheduler's order, not the drain's; at most `operations` of them."""
    for _ in range(operations):
        choice = able()
        if not choice:
            return
        yield _receive(network, choice[int(random.random() * len(choice))])


def _disturbance(random: Random, settings: Settings, network: Network) -> Operation | None:
    """Now and then: a timer, a second copy, a loss."""
    chosen = int(random.random() / _DISTURBANCES)
    if chosen > 2:
        return None
    if chosen == 0:
        process, timers = int(random.random() * settings.processes), settings.timers
        return _TICK(process, timers[0] if len(timers) == 1 else random.choice(timers))
    if not (settings.duplication if chosen == 1 else settings.loss):
        return None
    able = network.receivable()
    if not able:
        return None
    position, channel = network.place(able[int(random.random() * len(able))])
    return (_DUPLICATE if chosen == 1 else _LOSE)(position, channel)


def follow_up(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
    """Continues a case that another scheduler began: sends and arrivals, most of which leave one channel alone, so that
    the packets on it stay behind.
    """
    draw = random.random
    flights = network.flights
    kept = flights[int(draw() * len(flights))][:2] if flights else (-1, -1)

    def others() -> list[int]:
        return network.receivable_except(*kept)

    for _ in range(int(draw() * operations)):
        disturbance = _disturbance(random, settings, network)
        if disturbance is not None:
            yield disturbance
        elif draw() < 0.4 or not (able := others()):
            yield _by_application(random, settings)
        else:
            yield _receive(network, able[int(draw() * len(able))])
    yield from _close(random, network, operations, others)
