"""Can each process have its own log, whatever the others do? Where one cannot, no run has the events.

NOTE(alone): every packet that any process might send may arrive at any time, and as often as wanted, and the events of
other processes are not waited for. So there are more runs of each process than in any run of the whole, and what is
refused here is refused by the search for a run (`RunSearch`), without the product of the processes' states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from thence.conformance.replay.configuration import Configuration
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.process_logs import Arrival, Delivery, Having, Sending
from thence.conformance.replay.replay import Expected, Input

MOST_STEPS: Final = 4_000
"""Inputs of states that are tried. A protocol that counts without end has too many; then nothing is refused."""


class EachAlone:
    """The states in which each process may be, by the number of matched entries of its log; see NOTE(alone)."""

    def __init__(self, steps: ObservedSteps, start: Configuration) -> None:
        """`start`: the configuration in which nothing has happened; only its logs and conditions are asked."""
        self._steps = steps
        self._start = start
        self._states: list[dict[tuple[int, int], None]] = [{(state, 0): None} for state in start.locals]
        """For each process, its states with the places in its log."""
        self._packets: list[dict[int, None]] = [{} for _ in start.locals]
        """For each process, the packets that may arrive there."""
        self._tried = 0

    def refuses(self) -> bool:
        """Whether some process cannot have the events of its log. False also where that is not found out."""
        done = [(0, 0)] * self._start.count
        while True:
            sizes = [(len(states), len(packets)) for states, packets in zip(self._states, self._packets, strict=True)]
            if sizes == done:
                return not self._all_end
            for process, (states, packets) in enumerate(done):
                if not self._go_on(process, states, packets):
                    return False
            done = sizes
            if self._all_end:
                return False

    @property
    def _all_end(self) -> bool:
        """Whether each process can come to the end of its log."""
        return all(
            any(place == len(log) for _, place in states)
            for states, log in zip(self._states, self._start.entries, strict=True)
        )

    def _go_on(self, process: int, old_states: int, old_packets: int) -> bool:
        """Takes the steps that have not been taken: of new states by all inputs, of old ones by new packets. Returns
        false where there are too many."""
        packets = [*self._packets[process]]
        for number, (state, place) in enumerate([*self._states[process]]):
            arriving = packets[old_packets if number < old_states else 0 :]
            self._tried += len(arriving) + (number >= old_states)
            if self._tried > MOST_STEPS:
                return False
            for expected, entries in self._steps_from(process, state, place, arriving, number >= old_states):
                self._states[process][expected.state, place + entries] = None
                for packet in expected.shadows:
                    if packet >= 0:
                        self._packets[self._steps.replay.packet(packet).dst][packet] = None
        return True

    def _steps_from(
        self, process: int, state: int, place: int, packets: list[int], new: bool
    ) -> Iterator[tuple[Expected, int]]:
        """The steps by these packets, and of a `new` state all others, each with the number of matched entries."""
        replay, matches = self._steps.replay, self._steps.matches
        log = self._start.entries[process]
        entry = log[place] if place < len(log) else None
        self._start.places[process] = place
        timers: list[Input] = [(timer,) for timer in replay.timers] if new else []
        unlogged = [*timers, *((packet,) for packet in packets if self._start.may_hide(process, packet))]
        match entry:
            case Sending(number, destinations) if new:
                yield from matches(process, state, place, (number, destinations), 1)
            case Having(name, arguments) if new:
                yield from matches(process, state, place, (name, arguments), 1)
            case Arrival(message, sender):
                for packet in packets:
                    if replay.packet(packet).src == sender and replay.carried(packet) == message:
                        yield from matches(process, state, place, (packet,), 1)
            case Delivery():
                for given in unlogged:
                    yield from matches(process, state, place, given, 0)
        for given in unlogged:
            for expected in replay.alternatives(process, state, given):
                if expected.fault is None and not self._steps.deliveries(process, expected):
                    yield expected, 0
