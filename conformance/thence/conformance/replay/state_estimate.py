"""Replay of what could be seen of a run in its protocol: sends, deliveries, and such arrivals as were logged.

Everything else that the protocol does is a step that cannot be seen: an arrival that nobody logged, a packet that moves
no message, a timer. So what is known after an event is a set of possible states, and the next event is possible if it
is in one of them. The set is not written down but searched, depth first, nearest at hand first: a run that fits is
found without the rest of the set being looked at, and only a refusal takes all of it. A set too large for that makes
the verdict unknown.

In which order messages are delivered inside one step is not compared further than the protocol promises: see
`_must_keep`. Messages may be sent from inside deliveries.

NOTE(put off): a step that cannot be seen and has nothing sent or delivered changes the process's state only. If the
same follows, whichever of the process's other inputs comes before it or after it, then nothing is lost by taking it
later, when it has an effect that is wanted; it need not be taken now. That is tested on the steps themselves, with
every input that the process could have then, after any of such steps (where there are more than a few, after the first
one, two, and so on).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from thence.conformance.replay.guards import Wanted
from thence.conformance.replay.logged import NOT_LOGGED, Arrival, Delivery, Entry, Logs, Sending
from thence.conformance.replay.replay import Answers, Divergence, Expected, Input, Replay
from thence.dsl.run.values import Message

MOST_STATES: Final = 20_000
"""States that are looked at beyond those of the first attempt, unless said otherwise."""

MOST_CHOICES: Final = 100_000
"""Points to which the search can go back; the oldest are forgotten, and then a refusal is none."""

_FEW: Final = 4
"""Of up to so many steps that can be put off every combination is tested, see NOTE(put off)."""

_MOST_EARLY: Final = 20_000
"""Arrivals before their sending's place in the log that are tested for an effect, see `Search._arrives_early`."""

Channel: TypeAlias = tuple[int, ...]
"""The numbers of the packets on the way from one process to another, in the order in which they may arrive; ascending
where the network reorders."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the network may do to packets, and whether the order of events at different processes was seen.

    Attributes:
        reordering, duplicating, lossy: as of a protocol's network.
        ordered: the events are in the order in which they happened. Otherwise the order of each process is known, and
            that a message is sent before it arrives; nothing else.
    """

    reordering: bool = True
    duplicating: bool = False
    lossy: bool = False
    ordered: bool = True


class _Move(NamedTuple):
    """A step of a process: what for, which packet it takes from which channel, how many entries of the log it is."""

    process: int
    expected: Expected
    entries: int
    channel: int = -1
    packet: int = -1


class _Moment(NamedTuple):
    """A state of the whole: the processes, their places in their logs, the channels; `arrived`: how many packets of
    each process were taken from channels, where they may come again."""

    locals: tuple[int, ...]
    places: tuple[int, ...]
    channels: tuple[Channel, ...]
    arrived: tuple[int, ...]
    last: tuple[tuple[int, Input] | None, ...]
    past: tuple[int, ...]


class Search:
    """One search for a run of the protocol with the events of the logs.

    `promises` are the properties that deliveries in one step are held to: `total_order`, `causal`, `fifo`. `free`: a
    process may go on though events of others stand before its own in the execution. `watch_early`: where it may not,
    whether that could matter is found out, see `may_be_early`.
    """

    def __init__(
        self, replay: Replay, logs: Logs, conditions: Conditions, promises: frozenset[str], *,
        free: bool, watch_early: bool, most_states: int,
    ) -> None:  # fmt: skip
        self._replay = replay
        self._logs = logs
        self._entries = logs.entries
        self._conditions = conditions
        self._any_packet = conditions.reordering
        self._promises = promises
        self._free = free
        self._watch_early = watch_early
        self._most_states = most_states
        self._count = replay.processes
        self._locals = replay.initial()
        self._places = [0] * self._count
        self._channels: list[Channel] = [()] * (self._count * self._count)
        self._arrived: list[list[int]] = [[] for _ in range(self._count)]
        """The packets that arrived at each process, where packets may arrive again."""
        self._again: list[set[int]] = [set() for _ in range(self._count)]
        self._mark = 0
        """Of the packets in `_again`, as a set: for recognising states."""
        self._last: list[tuple[int, Input] | None] = [None] * self._count
        """The last step of each process: the state before it, and what it was taken for."""
        self._past: list[list[tuple[int, Input]]] = [[] for _ in range(self._count)]
        """With `watch_early`: of each process, the state before each entry of its log, and the step's input."""
        self._waiting: dict[tuple[int, int, tuple[Input, ...]], bool] = {}
        self._was_sent: set[tuple[int, str | None]] = set()
        """To which process a packet with which message was sent, in any state that was met."""
        self._early = 0
        self.may_be_early = False
        """Some arrival would have had an effect, had it come before the place of its message's sending in the log."""
        self._forgotten = False
        self.states = 0
        self.given_up = False
        self._best: tuple[int, int] = (-1, -1)
        self._best_moment: _Moment | None = None

    # --- the search --------------------------------------------------------------------------

    def run(self) -> bool:
        """Whether a run was found; if not, `given_up` says whether there may be one nevertheless."""
        choices: list[tuple[Iterator[_Move], _Moment]] = []
        visited: set[int] = set()
        moves, failed = self._moves(), False
        if self._done():
            return True
        while True:
            move = next(moves, None)
            if move is None:
                if not failed or self._progress() > self._best:
                    self._keep_best()
                failed = True
                if not choices:
                    self.given_up = self._forgotten
                    return False
                if self.states > self._most_states:
                    self.given_up = True
                    return False
                moves, moment = choices.pop()
                self._restore(moment)
                continue
            choices.append((moves, self._moment()))
            if len(choices) > 2 * MOST_CHOICES:
                del choices[:MOST_CHOICES]
                self._forgotten = True
            self._apply(move)
            if self._done():
                return True
            key = hash((*self._locals, *self._places, *self._channels, self._mark))
            if key in visited:
                moves = iter(())
            else:
                visited.add(key)
                self.states += failed
                moves = self._moves()

    def _done(self) -> bool:
        return all(place == len(log) for place, log in zip(self._places, self._entries, strict=True))

    def _progress(self) -> tuple[int, int]:
        """The position of the first event that is not matched, and how many are matched in all."""
        return self._next()[1], sum(self._places)

    def _keep_best(self) -> None:
        self._best, self._best_moment = self._progress(), self._moment()

    def _moment(self) -> _Moment:
        return _Moment(
            tuple(self._locals), tuple(self._places), tuple(self._channels), tuple(map(len, self._arrived)),
            tuple(self._last), tuple(map(len, self._past)),
        )  # fmt: skip

    def _restore(self, moment: _Moment) -> None:
        self._locals[:] = moment.locals
        self._places[:] = moment.places
        self._channels[:] = moment.channels
        self._last[:] = moment.last
        for process in range(self._count):
            arrived = self._arrived[process]
            while len(arrived) > moment.arrived[process]:
                packet = arrived.pop()
                self._again[process].discard(packet)
                self._mark ^= hash((packet, process))
            del self._past[process][moment.past[process] :]

    def _apply(self, move: _Move) -> None:
        process, expected, entries, channel, packet = move
        before = self._locals[process]
        self._last[process] = (before, expected.input)
        if self._watch_early:
            self._past[process] += [(before, expected.input)] * entries
        self._locals[process] = expected.state
        self._places[process] += entries
        if packet >= 0:
            self._take(process, channel, packet)
        for shadow in expected.shadows:
            if shadow >= 0:
                self._put(process, shadow)

    def _take(self, process: int, channel: int, packet: int) -> None:
        """Removes a packet that arrives; from a channel that keeps its order, the lost ones before it, too."""
        packets = self._channels[channel]
        at = packets.index(packet)
        kept = 0 if self._conditions.lossy and not self._any_packet else at
        self._channels[channel] = packets[:kept] + packets[at + 1 :]
        if self._conditions.duplicating and packet not in self._again[process]:
            self._arrived[process].append(packet)
            self._again[process].add(packet)
            self._mark ^= hash((packet, process))

    def _put(self, source: int, packet: int) -> None:
        to = self._replay.packet(packet).dst
        channel = source * self._count + to
        packets = self._channels[channel]
        if self._conditions.duplicating and (packet in self._again[to] or packet in packets):
            return
        packets = (*packets, packet)
        self._channels[channel] = tuple(sorted(packets)) if self._any_packet else packets
        self._was_sent.add((to, self._replay.carried(packet)))
        if self._watch_early and not self.may_be_early:
            self.may_be_early = self._arrives_early(to, packet)

    # --- what may happen next ----------------------------------------------------------------

    def _next(self) -> tuple[int, int]:
        """Of all entries that are next in their logs, the first in the execution: its process and its position."""
        found = (-1, len(self._logs.execution.events))
        for process, place in enumerate(self._places):
            if place < len(self._entries[process]):
                at = self._entries[process][place].at
                if at < found[1]:
                    found = (process, at)
        return found

    def _entry(self, process: int) -> Entry | None:
        place, log = self._places[process], self._entries[process]
        return log[place] if place < len(log) else None

    def _moves(self) -> Iterator[_Move]:
        """The steps that may come next, the likeliest first.

        Packets that move no message arrive as soon as they can; messages arrive when their delivery is due, or else
        when nothing better is left; then come packets that arrive again, and timers.
        """
        unseen = self._unseen()
        messages = []
        for process, channel, packet in unseen:
            if self._replay.carried(packet) is None:
                yield from self._quiet(process, (packet,), channel, packet, unseen)
            else:
                messages.append((process, channel, packet))
        first, _ = self._next()
        yield from self._matching(first, unseen)
        if self._free:
            others = [process for process in range(self._count) if process != first and self._entry(process)]
            for process in sorted(others, key=lambda one: self._entries[one][self._places[one]].at):
                yield from self._matching(process, unseen)
        for process, channel, packet in messages:
            yield from self._quiet(process, (packet,), channel, packet, unseen)
        for process in range(self._count):
            for packet in tuple(self._arrived[process]):
                if self._may_hide(process, packet):
                    yield from self._quiet(process, (packet,), -1, -1, unseen)
            if self._replay.has_timer:
                yield from self._quiet(process, (), -1, -1, unseen)

    def _unseen(self) -> list[tuple[int, int, int]]:
        """(process, channel, packet) of every arrival that nobody would see."""
        found = []
        for channel, packets in enumerate(self._channels):
            if packets:
                process = channel % self._count
                found += [(process, channel, packet) for packet in self._first(packets)
                          if self._may_hide(process, packet)]  # fmt: skip
        return found

    def _first(self, packets: Channel) -> Sequence[int]:
        """The packets of a channel that may arrive next."""
        if self._any_packet or self._conditions.lossy:
            return tuple(dict.fromkeys(packets))
        return packets[:1]

    def _may_hide(self, process: int, packet: int) -> bool:
        """Whether the arrival may be one that is not logged: the log has no arrival of the message any more, or what it
        has can be the arrival of another copy."""
        carried = self._replay.carried(packet)
        if carried is None:
            return True
        last = self._logs.last_arrival(process, carried)
        if self._conditions.duplicating:
            return last < 0 or not self._logs.all_arrivals
        return last < self._places[process]

    def _matching(self, process: int, unseen: list[tuple[int, int, int]]) -> Iterator[_Move]:
        """The steps that are the next entry of the process's log, and perhaps more of its entries."""
        match self._entry(process):
            case Sending(number, destinations):
                yield from self._by(process, (number, destinations), 1)
            case Arrival(message, sender):
                channel = sender * self._count + process
                for packet in self._first(self._channels[channel]):
                    if self._replay.carried(packet) == message:
                        yield from self._by(process, (packet,), 1, channel, packet)
                for packet in tuple(self._arrived[process]):
                    known = self._replay.packet(packet)
                    if known.src == sender and self._replay.carried(packet) == message:
                        yield from self._by(process, (packet,), 1)
            case Delivery(message):
                own = [one for one in unseen if one[0] == process]
                own.sort(key=lambda one: self._replay.carried(one[2]) != message)
                for _, channel, packet in own:
                    yield from self._by(process, (packet,), 0, channel, packet)
                for packet in tuple(self._arrived[process]):
                    if self._may_hide(process, packet):
                        yield from self._by(process, (packet,), 0)
                if self._replay.has_timer:
                    yield from self._by(process, (), 0)
            case None:
                return

    def _by(self, process: int, given: Input, own: int, channel: int = -1, packet: int = -1) -> Iterator[_Move]:
        """The moves by this input, see `_outcomes`; from which channel they take which packet, if any."""
        for expected, entries in self._outcomes(process, given, own):
            yield _Move(process, expected, entries, channel, packet)

    # --- steps that deliver ------------------------------------------------------------------

    def _outcomes(self, process: int, given: Input, own: int, answers: Answers = ()) -> Iterator[tuple[Expected, int]]:
        """The step with what it delivers found in the log, and how many entries it is; `own`: 1 if its input is one.

        Sends between the deliveries are made from inside them; what is sent after the last one is a step of its own.
        """
        state = self._locals[process]
        if answers:
            expected = self._replay.expected(process, state, given, answers)
        else:
            expected = self._replay.expected(process, state, given)
        if expected.fault is not None:
            return
        left = self._deliveries(process, expected)
        log, start = self._entries[process], self._places[process]
        at, last, answered = start + own, -1, 0
        entry = log[at] if at < len(log) else None
        while True:
            if isinstance(entry, Delivery):
                taken = self._takes(left, entry.message)
                if taken < 0:
                    break
                last, _ = left.pop(taken)
            elif isinstance(entry, Sending) and answered < len(answers) and answers[answered][0] == last:
                answered += 1
            else:
                break
            at += 1
            entry = log[at] if at < len(log) else None
        if answered < len(answers):
            return
        if not left:
            if at > start:
                yield expected, at - start
        elif isinstance(entry, Sending) and last >= 0:
            yield from self._outcomes(process, given, own, (*answers, (last, entry.number, entry.destinations)))

    def _deliveries(self, process: int, expected: Expected) -> list[tuple[int, str]]:
        """The deliveries of a step that a log would show, with their numbers in the step."""
        delivered = [one[0] for one in expected.signature if len(one) == 1]
        return [(number, name) for number, name in enumerate(delivered) if self._logs.shows(process, name)]

    def _takes(self, left: list[tuple[int, str]], message: str) -> int:
        """Where in `left` the message is, if it may be delivered before those that the protocol delivers first; -1."""
        for at, (_, name) in enumerate(left):
            if name == message:
                return at
            if self._must_keep(name, message):
                return -1
        return -1

    def _must_keep(self, first: str, second: str) -> bool:
        """Whether two messages that the protocol delivers in this order in one step have to be in this order."""
        if "total_order" in self._promises:
            return True
        if "causal" in self._promises:
            return self._logs.before(first, second)
        if "fifo" in self._promises:
            return self._logs.messages[first].src == self._logs.messages[second].src
        return False

    # --- steps that nobody sees --------------------------------------------------------------

    def _quiet(
        self, process: int, given: Input, channel: int, packet: int, unseen: list[tuple[int, int, int]]
    ) -> Iterator[_Move]:
        """The step, if nothing of it can be seen, and it is of use now."""
        expected = self._replay.expected(process, self._locals[process], given)
        if expected.fault is None and not self._deliveries(process, expected):
            blocks = channel >= 0 and not self._any_packet and len(self._channels[channel]) > 1
            if (
                blocks
                or self._sends(expected)
                or (expected.state != self._locals[process] and not self._can_wait(process, unseen))
            ):
                yield _Move(process, expected, 0, channel, packet)

    def _sends(self, expected: Expected) -> bool:
        """Whether the step puts anything on the network that was not there."""
        return any(shadow >= 0 and not self._is_known(shadow) for shadow in expected.shadows)

    def _can_wait(self, process: int, unseen: list[tuple[int, int, int]]) -> bool:
        """Whether every step of the process that changes its state only can be taken later. NOTE(put off).

        Where packets may come again, there are too many inputs to find that out.
        """
        if self._conditions.duplicating:
            return False
        state = self._locals[process]
        inputs = tuple(self._inputs(process, unseen))
        key = (process, state, inputs)
        known = self._waiting.get(key)
        if known is None:
            quiet = [number for number, given in enumerate(inputs) if self._is_quiet(process, state, given)]
            known = self._waiting[key] = all(
                self._is_quiet(process, after, inputs[number])
                and all(
                    self._can_swap(process, state, after, inputs[number], other)
                    for place, other in enumerate(inputs)
                    if place not in done and place != number
                )
                for after, done in self._after_quiet(process, state, inputs, quiet)
                for number in quiet
                if number not in done
            )
        return known

    def _is_quiet(self, process: int, state: int, given: Input) -> bool:
        """Whether the step changes the process's state and nothing else."""
        step = self._replay.expected(process, state, given)
        return (
            step.fault is None and step.state != state and not self._sends(step) and not self._deliveries(process, step)
        )

    def _after_quiet(
        self, process: int, state: int, inputs: tuple[Input, ...], quiet: list[int]
    ) -> Iterator[tuple[int, frozenset[int]]]:
        """The states that quiet steps lead to, with the steps: all of them where they are few, else those on the way
        to all steps in turn."""
        found = {(state, frozenset[int]())}
        frontier = list(found)
        while frontier:
            after, done = frontier.pop()
            yield after, done
            for given in quiet:
                if given not in done:
                    step = self._replay.expected(process, after, inputs[given])
                    one = (step.state, done | {given})
                    if step.fault is None and one not in found:
                        found.add(one)
                        frontier.append(one)
                    if len(quiet) > _FEW:
                        break

    def _is_known(self, packet: int) -> bool:
        """Whether it makes no difference that the packet is sent: it can arrive anyway."""
        if not self._conditions.duplicating:
            return False
        known = self._replay.packet(packet)
        return packet in self._again[known.dst] or packet in self._channels[known.src * self._count + known.dst]

    def _inputs(self, process: int, unseen: list[tuple[int, int, int]]) -> Iterator[Input]:
        """Every input that the process could have now; a packet of which there are several copies, so often."""
        match self._entry(process):
            case Sending(number, destinations):
                yield number, destinations
            case Arrival(message, sender):
                for packet in self._first(self._channels[sender * self._count + process]):
                    if self._replay.carried(packet) == message:
                        yield (packet,)
        for other, channel, packet in unseen:
            if other == process:
                yield from [(packet,)] * (self._channels[channel].count(packet) if self._any_packet else 1)
        if self._replay.has_timer:
            yield ()

    def _can_swap(self, process: int, base: int, state: int, quiet: Input, other: Input) -> bool:
        """Whether the same follows from the quiet step after the other input as before it; in `base` the process is
        without the quiet steps that have led to `state`."""
        step = self._replay.expected
        first = step(process, state, quiet)
        after = step(process, first.state, other)
        instead = step(process, state, other)
        if instead.fault is not None or after.fault is not None:
            return instead.fault is not None and after.fault is not None
        late = step(process, instead.state, quiet)
        if late.fault is not None or late.state != after.state:
            return False
        if self._sent(first, after) != self._sent(instead, late):
            return False
        released = [name for _, name in self._deliveries(process, late)]
        together = [name for _, name in (*self._deliveries(process, instead), *self._deliveries(process, late))]
        if sorted(together) != sorted(name for _, name in self._deliveries(process, after)):
            return False
        # In two steps the order of deliveries is fixed that in one step may be free: is it the one that is logged? What
        # other quiet steps have brought can be put off as well, and then comes in the order of the log.
        log = self._logs.deliveries[process]
        alone = step(process, base, other)
        early = [name for _, name in self._deliveries(process, alone)] if released and alone.fault is None else []
        return all(
            log.get(name, 0) < log.get(other_name, NOT_LOGGED) or self._must_keep(name, other_name)
            for name in early
            for other_name in released
        )

    def _sent(self, *steps: Expected) -> object:
        """What steps put on the network, as far as it matters."""
        packets = [shadow for step in steps for shadow in step.shadows if shadow >= 0]
        if self._any_packet:
            return Counter(packets)
        channels: dict[int, list[int]] = {}
        for shadow in packets:
            channels.setdefault(self._replay.packet(shadow).dst, []).append(shadow)
        return channels

    def _arrives_early(self, process: int, packet: int) -> bool:
        """Whether the arrival could have had an effect before the place at which its message's sending is logged.

        Logs of different processes may be put together in many ways, and packets may have arrived earlier than the
        execution at hand lets them. Where only causal sends send, that is all that another order could add.
        """
        carried = self._replay.carried(packet)
        if carried is None:
            return True
        log = self._entries[process]
        for place in range(self._places[process] - 1, -1, -1):
            entry = log[place]
            if isinstance(entry, Sending):
                sent = Message(process, entry.number, entry.destinations).name
                if sent == carried or self._logs.before(sent, carried):
                    return False
            self._early += 1
            if self._early > _MOST_EARLY:
                return True
            state, given = self._past[process][place]
            if self._is_quiet(process, state, (packet,)) and not self._can_swap(
                process, state, state, (packet,), given
            ):
                return True
        return False

    # --- why not -----------------------------------------------------------------------------

    @property
    def matched(self) -> int:
        """How many events, from the first, are matched in the best state that was found."""
        return self._best[0]

    def explain(self) -> Divergence:
        """What the protocol cannot do next, in the best state that was found, and why not."""
        return replace(self._explained(), matched=self.matched)

    def _explained(self) -> Divergence:
        assert self._best_moment is not None
        self._restore_best(self._best_moment)
        process, _ = self._next()
        entry, state = self._entry(process), self._locals[process]
        assert entry is not None, "nothing is left to match, and no run was found"
        match entry:
            case Sending(number, destinations):
                return self._unlike(process, (number, destinations))
            case Arrival(message, sender):
                for packet in self._first(self._channels[sender * self._count + process]):
                    if self._replay.carried(packet) == message:
                        return self._unlike(process, (packet,))
                said = f"receives {message} from p{sender}"
                return self._not_there(process, message, sender, said)
            case Delivery(message):
                for channel, packets in enumerate(self._channels):
                    for packet in packets if channel % self._count == process else ():
                        if self._replay.carried(packet) == message and packet in self._first(packets):
                            expected = self._replay.expected(process, state, (packet,))
                            return self._replay.explain(process, state, expected, ((message,),), 0)
                return self._not_there(process, message, self._logs.messages[message].src, f"delivers {message}")

    def _restore_best(self, moment: _Moment) -> None:
        """As `_restore`, but what has arrived since then stays known: nothing is taken from here."""
        self._locals[:] = moment.locals
        self._places[:] = moment.places
        self._channels[:] = moment.channels
        self._last[:] = moment.last

    def _unlike(self, process: int, given: Input) -> Divergence:
        """The step is possible, and does not do what the log says, or it is not possible."""
        state = self._locals[process]
        expected = self._replay.expected(process, state, given)
        got = []
        for entry in self._entries[process][self._places[process] + 1 :]:
            if not isinstance(entry, Delivery):
                break
            got.append((entry.message,))
        shown = {name for _, name in self._deliveries(process, expected)}
        visible = [one for one in expected.signature if len(one) == 1 and one[0] in shown]
        # Packets are not compared: they take the places of what the log would have.
        rest = iter(got[: len(visible)] if len(got) > len(visible) else got)
        filled = [one if len(one) != 1 or one[0] not in shown else next(rest, None) for one in expected.signature]
        signature = tuple(one for one in filled if one is not None)
        return self._replay.explain(process, state, expected, signature, 0)

    def _not_there(self, process: int, message: str, source: int, said: str) -> Divergence:
        """No packet with the message can arrive: it has come already and is kept, or it has not been sent."""
        came = 0 <= self._logs.last_arrival(process, message) < self._places[process]
        came = came or self._logs.messages[message].src == process or (process, message) in self._was_sent
        where, wanted = (process, [Wanted(None)]) if came else (source, self._carrying(process))
        guard = None
        if (last := self._last[where]) is not None:
            found = (self._replay.preventing(where, *last, one) for one in wanted)
            guard = next((one for one in found if one is not None), None)
        own = self._last[process]
        title = "at first" if own is None else f"after {self._replay.title(own[1])}"
        expected = f"keeps {message}" if came else f"has no packet with {message} on its way from p{source}"
        return Divergence(process, title, expected, said, self.matched, guard)

    def _carrying(self, process: int) -> list[Wanted]:
        return [Wanted(kind.name, process) for kind in self._replay.protocol.packets if kind.carries is not None]
