"""The configuration of a run under search: local states, places in the logs, packets on their way.

A configuration changes in place, step by step, and goes back to a `Moment` that was taken of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from thence.conformance.replay.process_logs import Arrival, Entry, Having, ProcessLogs, Sending
from thence.conformance.replay.replay import Expected, Input, Replay

Channel: TypeAlias = tuple[int, ...]
"""The numbers of the packets on the way from one process to another, in the order in which they may arrive; ascending
where the network reorders."""

HiddenArrival: TypeAlias = tuple[int, int, int]
"""(process, channel, packet) of an arrival that no log would show."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The faults of the network, and whether the order of events at different processes was seen.

    Attributes:
        reordering, duplicating, lossy: as of a protocol's network.
        ordered: the events are in the order in which they happened. Otherwise the order of each process is known, and
            that a message is sent before it arrives; nothing else.
    """

    reordering: bool = True
    duplicating: bool = False
    lossy: bool = False
    ordered: bool = True


class Move(NamedTuple):
    """A step of a process: `entries` of its log are matched by it, and it takes `packet` from `channel`, if any."""

    process: int
    expected: Expected
    entries: int
    channel: int = -1
    packet: int = -1


class Moment(NamedTuple):
    """A configuration at rest. `arrived` counts the packets of each process that were taken from channels where they
    may arrive again; `past` counts the remembered steps of each process."""

    locals: tuple[int, ...]
    places: tuple[int, ...]
    channels: tuple[Channel, ...]
    arrived: tuple[int, ...]
    last: tuple[tuple[int, Input] | None, ...]
    past: tuple[int, ...]


class Configuration:
    """The processes of a protocol part of the way through their logs, and the network between them.

    Attributes:
        replay: takes the steps.
        logs: the logs to match.
        conditions: the faults of the network.
        count: number of processes.
        entries: the entries of each log.
        locals: the number of each process's state.
        places: for each process, how many entries of its log are matched.
        channels: the packets on their way; the channel from `a` to `b` has the number `a * count + b`.
        arrived: for each process, the packets that may arrive there again, in the order in which they first did.
        last: the last step of each process: the state before it, and its input.
        past: for each process, the state before each matched entry of its log and the step's input; only where the
            steps are remembered.
    """

    __slots__ = (
        "_again",
        "_mark",
        "arrived",
        "channels",
        "conditions",
        "count",
        "entries",
        "last",
        "locals",
        "logs",
        "past",
        "places",
        "replay",
    )

    def __init__(self, replay: Replay, logs: ProcessLogs, conditions: Conditions) -> None:
        self.replay = replay
        self.logs = logs
        self.conditions = conditions
        self.entries = logs.entries
        count = self.count = replay.processes
        self.locals = replay.initial()
        self.places = [0] * count
        self.channels: list[Channel] = [()] * (count * count)
        self.arrived: list[list[int]] = [[] for _ in range(count)]
        self._again: list[set[int]] = [set() for _ in range(count)]
        """The packets of `arrived`, as sets."""
        self._mark = 0
        """A hash of the packets of `arrived` as sets."""
        self.last: list[tuple[int, Input] | None] = [None] * count
        self.past: list[list[tuple[int, Input]]] = [[] for _ in range(count)]

    # --- places in the logs ------------------------------------------------------------------

    def entry(self, process: int) -> Entry | None:
        """The next entry of the process's log."""
        place, log = self.places[process], self.entries[process]
        return log[place] if place < len(log) else None

    def next(self) -> tuple[int, int]:
        """The first, in the execution, of the next entries of all logs: its process and its position."""
        found = (-1, len(self.logs.execution.events))
        for process, place in enumerate(self.places):
            if place < len(self.entries[process]):
                at = self.entries[process][place].at
                if at < found[1]:
                    found = (process, at)
        return found

    @property
    def done(self) -> bool:
        """Whether all logs are matched."""
        return all(place == len(log) for place, log in zip(self.places, self.entries, strict=True))

    @property
    def progress(self) -> tuple[int, int]:
        """The position of the first event that is not matched, and the number of matched events."""
        return self.next()[1], sum(self.places)

    @property
    def key(self) -> int:
        """A hash of the configuration."""
        return hash((*self.locals, *self.places, *self.channels, self._mark))

    # --- packets -----------------------------------------------------------------------------

    def first(self, packets: Channel) -> Sequence[int]:
        """The packets of a channel that may arrive next."""
        if self.conditions.reordering or self.conditions.lossy:
            return tuple(dict.fromkeys(packets))
        return packets[:1]

    def is_known(self, packet: int) -> bool:
        """Whether sending the packet makes no difference, for it can arrive anyway."""
        if not self.conditions.duplicating:
            return False
        known = self.replay.packet(packet)
        return packet in self._again[known.dst] or packet in self.channels[known.src * self.count + known.dst]

    def may_hide(self, process: int, packet: int) -> bool:
        """Whether the arrival may be one that is not logged: the log has no arrival of the message any more, or the
        logged one can be the arrival of another copy."""
        carried = self.replay.carried(packet)
        if carried is None:
            return True
        if not self.logs.all_arrivals:
            return True
        last = self.logs.last_arrival(process, carried)
        return last < (0 if self.conditions.duplicating else self.places[process])

    def hidden_arrivals(self) -> list[HiddenArrival]:
        """Every arrival from a channel that no log would show."""
        found = []
        for channel, packets in enumerate(self.channels):
            if packets:
                process = channel % self.count
                found += [(process, channel, packet) for packet in self.first(packets)
                          if self.may_hide(process, packet)]  # fmt: skip
        return found

    def inputs(self, process: int, hidden: list[HiddenArrival]) -> Iterator[Input]:
        """Every input that the process could have now; a packet with several copies comes once for each copy."""
        match self.entry(process):
            case Sending(number, destinations):
                yield number, destinations
            case Having(name, arguments):
                yield name, arguments
            case Arrival(message, sender):
                for packet in self.first(self.channels[sender * self.count + process]):
                    if self.replay.carried(packet) == message:
                        yield (packet,)
        for other, channel, packet in hidden:
            if other == process:
                yield from [(packet,)] * (self.channels[channel].count(packet) if self.conditions.reordering else 1)
        for timer in self.replay.timers:
            yield (timer,)

    # --- changes -----------------------------------------------------------------------------

    def advance(self, move: Move, *, remember: bool) -> None:
        """The process takes the step. `remember` keeps it in `past`. The packets that it sends are put separately."""
        process, expected, entries, channel, packet = move
        before = self.locals[process]
        self.last[process] = (before, expected.input)
        if remember:
            self.past[process] += [(before, expected.input)] * entries
        self.locals[process] = expected.state
        self.places[process] += entries
        if packet >= 0:
            self._take(process, channel, packet)

    def put(self, source: int, packet: int) -> bool:
        """Puts a packet of `source` on its channel; returns false where that makes no difference."""
        to = self.replay.packet(packet).dst
        channel = source * self.count + to
        packets = self.channels[channel]
        if self.conditions.duplicating and (packet in self._again[to] or packet in packets):
            return False
        packets = (*packets, packet)
        self.channels[channel] = tuple(sorted(packets)) if self.conditions.reordering else packets
        return True

    def _take(self, process: int, channel: int, packet: int) -> None:
        """Removes a packet that arrives; from a lossy channel that keeps its order, the packets before it, too. Of each
        there may be a copy, which arrives later."""
        packets = self.channels[channel]
        at = packets.index(packet)
        kept = 0 if self.conditions.lossy and not self.conditions.reordering else at
        self.channels[channel] = packets[:kept] + packets[at + 1 :]
        if self.conditions.duplicating:
            for gone in packets[kept : at + 1]:
                self._copied(process, gone)

    def _copied(self, process: int, packet: int) -> None:
        """From now on the packet may arrive again."""
        if packet not in self._again[process]:
            self.arrived[process].append(packet)
            self._again[process].add(packet)
            self._mark ^= hash((packet, process))

    def moment(self) -> Moment:
        """The configuration at rest."""
        return Moment(
            tuple(self.locals), tuple(self.places), tuple(self.channels), tuple(map(len, self.arrived)),
            tuple(self.last), tuple(map(len, self.past)),
        )  # fmt: skip

    def restore(self, moment: Moment) -> None:
        """Goes back to a moment on the way to here."""
        self.show(moment)
        for process in range(self.count):
            arrived = self.arrived[process]
            while len(arrived) > moment.arrived[process]:
                packet = arrived.pop()
                self._again[process].discard(packet)
                self._mark ^= hash((packet, process))
            del self.past[process][moment.past[process] :]

    def show(self, moment: Moment) -> None:
        """As `restore`, for a moment anywhere in the search. No step can be taken from it: `arrived` stays."""
        self.locals[:] = moment.locals
        self.places[:] = moment.places
        self.channels[:] = moment.channels
        self.last[:] = moment.last
