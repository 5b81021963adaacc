"""Search for a run of the protocol that has the logged events: sends, deliveries, and such arrivals as were logged.

All other steps of the protocol are hidden: an arrival that nobody logged, a packet that moves no message, a timer. The
state estimate after an event is the set of configurations that the events so far allow, and the next event is possible
if one of them allows it. The set is not written down but searched, depth first, nearest at hand first: a run that fits
is found early, and only a refusal takes the whole set. A set too large for that makes the verdict unknown.

The order in which one step delivers messages is compared only as far as the protocol promises it (see
`ObservedSteps.must_keep`). Messages may be sent between deliveries. Silent steps are put off where they can be,
see NOTE(put off).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from thence.conformance.replay.configuration import Conditions, Configuration, HiddenArrival, Moment, Move
from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.early_arrivals import EarlyArrivals
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.postponement import Postponement
from thence.conformance.replay.process_logs import Arrival, Delivery, Having, Sending
from thence.conformance.replay.refusal import Refusal
from thence.conformance.replay.replay import Input

MOST_STATES: Final = 20_000
"""Default number of configurations that a search visits beyond those of its first attempt."""

MOST_CHOICES: Final = 100_000
"""Points to which the search can go back. The oldest are forgotten; a refusal is then no proof."""

MOST_SILENT: Final = 2_000
"""Steps in a row that no log shows. A protocol may answer control packets by control packets without end; beyond so
many steps only what a log shows goes on, and a refusal is then no proof."""


class RunSearch:
    """One search for a run of the protocol with the events of the logs.

    Attributes:
        states: configurations visited beyond those of the first attempt.
        given_up: the search has found no run, and there may be one nevertheless.
        may_be_early: an arrival would have had an effect before the place of its message's sending in the log.
    """

    def __init__(
        self, steps: ObservedSteps, conditions: Conditions, *, free: bool, watch_early: bool, most_states: int
    ) -> None:
        """`free`: a process may go on although events of others stand before its own in the execution. `watch_early`:
        where it may not, `may_be_early` says whether that could matter.
        """
        self._steps = steps
        self._replay = steps.replay
        self._conditions = conditions
        self._free = free
        self._watch_early = watch_early
        self._most_states = most_states
        self._now = Configuration(steps.replay, steps.logs, conditions)
        self._postponement = Postponement(steps, self._now)
        self._early = EarlyArrivals(steps, self._now, self._postponement)
        self._sent: set[tuple[int, str | None]] = set()
        """(process, message) of every packet that was sent in any configuration so far."""
        self._forgotten = False
        self._best: tuple[int, int] = (-1, -1)
        self._best_moment: Moment | None = None
        self.states = 0
        self.given_up = False
        self.may_be_early = False

    # --- the search --------------------------------------------------------------------------

    def run(self) -> bool:
        """Whether a run was found; if not, `given_up` says whether there may be one nevertheless."""
        now = self._now
        choices: list[tuple[Iterator[Move], Moment, int]] = []
        visited: set[int] = set()
        silent = 0
        moves, failed = self._moves(silent), False
        if now.done:
            return True
        while True:
            move = next(moves, None)
            if move is None:
                if not failed or now.progress > self._best:
                    self._best, self._best_moment = now.progress, now.moment()
                failed = True
                if not choices:
                    self.given_up = self._forgotten
                    return False
                if self.states > self._most_states:
                    self.given_up = True
                    return False
                moves, moment, silent = choices.pop()
                now.restore(moment)
                continue
            choices.append((moves, now.moment(), silent))
            if len(choices) > 2 * MOST_CHOICES:
                del choices[:MOST_CHOICES]
                self._forgotten = True
            self._apply(move)
            silent = 0 if move.entries else silent + 1
            if now.done:
                return True
            key = now.key
            if key in visited:
                moves = iter(())
            else:
                visited.add(key)
                self.states += failed
                moves = self._moves(silent)

    def _apply(self, move: Move) -> None:
        self._now.advance(move, remember=self._watch_early)
        for packet in move.expected.shadows:
            if packet >= 0 and self._now.put(move.process, packet):
                to = self._replay.packet(packet).dst
                self._sent.add((to, self._replay.carried(packet)))
                if self._watch_early and not self.may_be_early:
                    self.may_be_early = self._early.has_effect(to, packet)

    @property
    def matched(self) -> int:
        """The number of events, from the first, that are matched in the best configuration that was found."""
        return self._best[0]

    def explain(self) -> Divergence:
        """The event that the protocol cannot do next in the best configuration that was found, and why not."""
        assert self._best_moment is not None
        self._now.show(self._best_moment)
        return Refusal(self._steps, self._now, self.matched, self._sent).divergence()

    # --- the next steps ----------------------------------------------------------------------

    def _moves(self, silent: int) -> Iterator[Move]:
        """The steps that may come next, the likeliest first, after so many steps in a row that no log shows.

        Packets that move no message arrive as soon as they can; messages arrive when their delivery is due, or else
        when nothing better is left; then come packets that arrive again, and timers.
        """
        now = self._now
        hidden = now.hidden_arrivals()
        messages = []
        goes_on = silent < MOST_SILENT
        self._forgotten = self._forgotten or not goes_on
        for process, channel, packet in hidden if goes_on else ():
            if self._replay.carried(packet) is None:
                yield from self._unlogged(process, (packet,), channel, packet, hidden)
            else:
                messages.append((process, channel, packet))
        first, _ = now.next()
        yield from self._matching(first, hidden)
        if self._free:
            others = [process for process in range(now.count) if process != first and now.entry(process)]
            for process in sorted(others, key=lambda one: now.entries[one][now.places[one]].at):
                yield from self._matching(process, hidden)
        for process, channel, packet in messages:
            yield from self._unlogged(process, (packet,), channel, packet, hidden)
        for process in range(now.count) if goes_on else ():
            for packet in tuple(now.arrived[process]):
                if now.may_hide(process, packet):
                    yield from self._unlogged(process, (packet,), -1, -1, hidden)
            for timer in self._replay.timers:
                yield from self._unlogged(process, (timer,), -1, -1, hidden)

    def _matching(self, process: int, hidden: list[HiddenArrival]) -> Iterator[Move]:
        """The steps that match the next entry of the process's log, and perhaps more of its entries."""
        now = self._now
        match now.entry(process):
            case Sending(number, destinations):
                yield from self._by(process, (number, destinations), 1)
            case Having(name, arguments):
                yield from self._by(process, (name, arguments), 1)
            case Arrival(message, sender):
                channel = sender * now.count + process
                for packet in now.first(now.channels[channel]):
                    if self._replay.carried(packet) == message:
                        yield from self._by(process, (packet,), 1, channel, packet)
                for packet in tuple(now.arrived[process]):
                    known = self._replay.packet(packet)
                    if known.src == sender and self._replay.carried(packet) == message:
                        yield from self._by(process, (packet,), 1)
            case Delivery(message):
                own = [one for one in hidden if one[0] == process]
                own.sort(key=lambda one: self._replay.carried(one[2]) != message)
                for _, channel, packet in own:
                    yield from self._by(process, (packet,), 0, channel, packet)
                for packet in tuple(now.arrived[process]):
                    if now.may_hide(process, packet):
                        yield from self._by(process, (packet,), 0)
                for timer in self._replay.timers:
                    yield from self._by(process, (timer,), 0)
            case None:
                return

    def _by(self, process: int, given: Input, own: int, channel: int = -1, packet: int = -1) -> Iterator[Move]:
        """The moves by this input, see `ObservedSteps.matches`; from which channel they take which packet, if any."""
        now = self._now
        for expected, entries in self._steps.matches(process, now.locals[process], now.places[process], given, own):
            yield Move(process, expected, entries, channel, packet)

    def _unlogged(
        self, process: int, given: Input, channel: int, packet: int, hidden: list[HiddenArrival]
    ) -> Iterator[Move]:
        """The step, if no log shows any of it, and it is of use now."""
        now = self._now
        for expected in self._replay.alternatives(process, now.locals[process], given):
            if expected.fault is None and not self._steps.deliveries(process, expected):
                blocks = channel >= 0 and not self._conditions.reordering and len(now.channels[channel]) > 1
                if (
                    blocks
                    or self._postponement.sends(expected)
                    or (expected.state != now.locals[process] and not self._can_wait(process, hidden))
                ):
                    yield Move(process, expected, 0, channel, packet)

    def _can_wait(self, process: int, hidden: list[HiddenArrival]) -> bool:
        """Whether every silent step of the process can be taken later. NOTE(put off).

        Where packets may come again, there are too many inputs to find that out. Where the protocol chooses, an input
        has no one effect that could be compared.
        """
        if self._conditions.duplicating or self._replay.chooses:
            return False
        inputs = tuple(self._now.inputs(process, hidden))
        return self._postponement.can_wait(process, self._now.locals[process], inputs)
