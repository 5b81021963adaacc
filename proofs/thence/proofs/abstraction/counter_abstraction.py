"""The counter abstraction: equal packets and equal letters of queues are counted up to a bound.

An abstract state is a state of the system in normal form.

- Of equal packets in flight one is kept, or two where no balance counts them. They stand for that many or more.
- Of a run of equal letters in a queue one is kept, and one more for each packet on its way that a balance subtracts,
  since a packet on its way has not been counted yet. They stand for that many or more.
- A counter with a balance has the value that the balance gives it.

An abstract state stands for all states that it is the `normal` form of. `alternatives` has the differences that a step
of these states can notice: larger counters, and packets of which more are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations, groupby, islice, product
from typing import TypeAlias

from thence.dsl.ir.types import Map
from thence.dsl.run.actions import State
from thence.dsl.run.causality import History, Pending
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.values import Message, messages_in
from thence.proofs.abstraction.balance import Balance, Feature, Row
from thence.proofs.abstraction.discipline import Discipline, NotApplicable


class BelowZero(NotApplicable):
    """A balance gives a counter a value below zero."""


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """A local state with its runs cut and its balanced counters at zero.

    `cut` has the queues, with key (-1: no map), in which a run was long enough to stand for longer ones.
    """

    number: int
    cut: frozenset[tuple[str, int]]


Slack: TypeAlias = tuple[tuple[int, int], ...]
"""The receivers of packets on their way that a balance subtracts, with the number of packets for each."""


@dataclass(slots=True)
class CounterAbstraction:
    """The abstraction of one system."""

    system: ReusedIdentities
    discipline: Discipline
    balances: tuple[Balance, ...] = ()
    silent: frozenset[str] = frozenset()
    _positions: dict[str, int] = field(init=False)
    _maps: dict[str, bool] = field(init=False)
    _skeletons: dict[tuple[int, Slack], _Skeleton] = field(init=False, default_factory=dict)
    _parts: dict[tuple[int, int, int], tuple[tuple[int, int, int], ...]] = field(init=False, default_factory=dict)
    _counted: dict[tuple[int, tuple[int, ...]], int] = field(init=False, default_factory=dict)
    _mention: dict[int, bool] = field(init=False, default_factory=dict)
    _holding: dict[int, bool] = field(init=False, default_factory=dict)
    collapsible: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        state = self.system.protocol.state
        self._positions = {variable.name: at for at, variable in enumerate(state)}
        self._maps = {
            variable.name: isinstance(variable.type, Map)
            for variable in state
            if variable.name in self.discipline.queues
        }
        reordering = self.system.protocol.network.reordering
        self.collapsible = self.discipline.packets if reordering else frozenset()

    # --- normal forms ------------------------------------------------------------------------

    def normal(self, state: State) -> State:
        """The abstract state that stands for the state."""
        state = self.renumbered(state)
        network = tuple(self._cut_network(state.network)) if self.collapsible else state.network
        if self.silent:
            network = tuple(number for number in network if self.system.packet(number).kind not in self.silent)
        slack = self._slack(network, len(state.locals))
        locals_ = tuple(self._skeleton(local, own).number for local, own in zip(state.locals, slack, strict=True))
        cut = state._replace(network=network, locals=locals_)
        if not self.balances:
            return cut
        return cut._replace(
            locals=tuple(
                self._with_counters(local, values)
                for local, values in zip(locals_, zip(*self._values(cut), strict=True), strict=True)
            )
        )

    def _values(self, state: State) -> list[list[int]]:
        """For each balance its value at every process."""
        count = len(state.locals)
        found = [[balance.constant] * count for balance in self.balances]
        parts = [self._part(owner, local, -1) for owner, local in enumerate(state.locals)]
        parts += [self._part(-1, -1, packet) for packet in state.network]
        for part in parts:
            for process, at, add in part:
                found[at][process] += add
        return found

    def _part(self, owner: int, local: int, packet: int) -> tuple[tuple[int, int, int], ...]:
        """The contribution of a local state, or of a packet, to balances: process, balance, amount."""
        known = self._parts.get((owner, local, packet))
        if known is None:
            count = self.system.workload.processes
            added: list[tuple[int, int, int]] = []
            for process in range(count):
                row = self._row(process, owner, local) if packet < 0 else self._packet_row(process, packet)
                for at, balance in enumerate(self.balances):
                    add = balance.value(row) - balance.constant
                    if add:
                        added.append((process, at, add))
            known = self._parts[owner, local, packet] = tuple(added)
        return known

    def _cut_network(self, network: tuple[int, ...]) -> Iterator[int]:
        for number, same in groupby(network):
            yield from islice(same, self._copies(self.system.packet(number).kind))

    def _copies(self, kind: str) -> int | None:
        """How many equal packets are kept: one where a balance tells whether there are more, else two."""
        if kind not in self.collapsible:
            return None
        counted = any(factor > 0 for each in self.balances for (_, name, _), factor in each.terms if name == kind)
        return 1 if counted else 2

    def _is_cut(self, network: tuple[int, ...], packet: int) -> bool:
        """Whether there may be more of the packet than the network has."""
        copies = self._copies(self.system.packet(packet).kind)
        return copies is not None and network.count(packet) >= copies

    def _slack(self, network: tuple[int, ...], count: int) -> list[Slack]:
        taken = {
            name for each in self.balances for (what, name, _), factor in each.terms if factor < 0 and what == "packet"
        }
        if not taken:
            return [()] * count
        found: list[Counter[int]] = [Counter() for _ in range(count)]
        for number in network:
            packet = self.system.packet(number)
            if packet.kind in taken:
                found[packet.src][packet.dst] += 1
        return [tuple(sorted(each.items())) for each in found]

    def slack(self, state: State, process: int) -> Slack:
        """The packets on their way from the process that a balance subtracts: they decide where its runs are cut."""
        return self._slack(state.network, len(state.locals))[process]

    def _with_counters(self, local: int, values: tuple[int, ...]) -> int:
        """The local state with its balanced counters at these values."""
        known = self._counted.get((local, values))
        if known is None:
            changed = list(self.system.local(local))
            for balance, value in zip(self.balances, values, strict=True):
                if value < 0:
                    raise BelowZero(f"the balance {balance} goes below zero")
                changed[self._positions[balance.counter]] = value
            known = self._counted[local, values] = self.system.local_number(tuple(changed))
        return known

    def _skeleton(self, local: int, slack: Slack) -> _Skeleton:
        known = self._skeletons.get((local, slack))
        if known is None:
            state = list(self.system.local(local))
            cut: set[tuple[str, int]] = set()
            for name, is_map in self._maps.items():
                at = self._positions[name]
                shorter = []
                for key, letters in state[at] if is_map else ((-1, state[at]),):
                    runs = [(letter, sum(1 for _ in same)) for letter, same in groupby(letters)]
                    most = _most(key, slack, len(runs))
                    if any(count >= most for _, count in runs):
                        cut.add((name, key))
                    shorter.append((key, tuple(letter for letter, count in runs for _ in range(min(count, most)))))
                state[at] = tuple(shorter) if is_map else shorter[0][1]
            for balance in self.balances:
                state[self._positions[balance.counter]] = 0
            known = _Skeleton(self.system.local_number(tuple(state)), frozenset(cut))
            self._skeletons[local, slack] = known
        return known

    def renumbered(self, state: State) -> State:
        """The state with the identities of all its messages given anew, in the order of their destinations.

        This is one to one: delivered messages that packets still mention come after those that are undelivered. Where
        local states mention messages, or packets hold any within collections, identities stay as they are.
        """
        if any(self._mentions(local) for local in state.locals) or any(map(self._holds, state.network)):
            return state
        pending = [entry.message for entry in state.history.pending]
        mentioned = {
            message for number in state.network for message in messages_in(self.system.packet(number).arguments)
        }
        names: dict[Message, Message] = {}
        made: Counter[int] = Counter()
        for message in (
            *sorted(pending, key=lambda each: (each.src, each.dsts, each)),
            *sorted(mentioned.difference(pending)),
        ):
            names[message] = message._replace(number=made[message.src])
            made[message.src] += 1
        if all(before == after for before, after in names.items()):
            return state
        bits = [(self.system.bit(before), self.system.bit(after)) for before, after in names.items()]

        def mask(old: int) -> int:
            return sum(after for before, after in bits if old & before)

        named = sorted(Pending(names[each.message], each.due, mask(each.past)) for each in state.history.pending)
        network = []
        for number in state.network:
            packet = self.system.packet(number)
            arguments = tuple(names.get(part, part) if isinstance(part, Message) else part for part in packet.arguments)
            if any(message in names for message in messages_in(packet.arguments)):
                number = self.system.number_of(packet._replace(arguments=arguments))
            network.append(number)
        return state._replace(
            history=History(tuple(mask(past) for past in state.history.pasts), tuple(named)),
            network=self.system.arranged(tuple(network)),
        )

    def _holds(self, number: int) -> bool:
        """Whether the packet has a message within a collection."""
        known = self._holding.get(number)
        if known is None:
            known = self._holding[number] = any(
                not isinstance(part, Message) and next(messages_in(part), None) is not None
                for part in self.system.packet(number).arguments
            )
        return known

    def _mentions(self, local: int) -> bool:
        known = self._mention.get(local)
        if known is None:
            known = self._mention[local] = next(messages_in(self.system.local(local)), None) is not None
        return known

    def silenced(self) -> frozenset[str]:
        """Kinds whose arrival may do no more than count one down: without arguments, and counted by one balance."""
        found = set()
        for kind in self.system.protocol.packets:
            terms = [
                term
                for balance in self.balances
                for term in balance.terms
                if term[0].what == "packet" and term[0].name == kind.name
            ]
            if (
                kind.name in self.collapsible
                and not kind.parameters
                and terms == [(Feature("packet", kind.name, "in"), 1)]
            ):
                found.add(kind.name)
        return frozenset(found)

    def with_one_more(self, local: int, kind: str) -> int:
        """The local state before the arrival of a silent packet."""
        counted = Feature("packet", kind, "in")
        values = tuple(
            self.system.local(local)[self._positions[balance.counter]] + dict(balance.terms).get(counted, 0)
            for balance in self.balances
        )
        return self._with_counters(local, values)

    # --- counts ---------------------------------------------------------------------

    def rows(self, state: State) -> list[Row]:
        """The queues and packets as every process sees them, uncut."""
        rows: list[Row] = []
        for process in range(len(state.locals)):
            row: Counter[Feature] = Counter()
            for owner, local in enumerate(state.locals):
                row.update(self._row(process, owner, local))
            for packet in state.network:
                row.update(self._packet_row(process, packet))
            rows.append(row)
        return rows

    def _row(self, process: int, owner: int, local: int) -> Row:
        """The queues of another process, or its own, as the process sees them."""
        row: Counter[Feature] = Counter()
        for (name, key), length in self._lengths(local).items():
            where = "own" if process == owner else "for it" if key == process else "elsewhere"
            row[Feature("queue", name, where)] += length
        return row

    def _packet_row(self, process: int, number: int) -> Row:
        packet = self.system.packet(number)
        return {Feature("packet", packet.kind, _direction(process, packet.src, packet.dst)): 1}

    def _lengths(self, local: int) -> Mapping[tuple[str, int], int]:
        """The lengths of the queues of a local state, uncut."""
        state = self.system.local(local)
        found: dict[tuple[str, int], int] = {}
        for name, is_map in self._maps.items():
            value = state[self._positions[name]]
            for key, letters in value if is_map else ((-1, value),):
                found[name, key] = len(letters)
        return found

    def counters(self, state: State) -> list[list[int]]:
        """The balanced counters of every process."""
        return [
            [self.system.local(local)[self._positions[balance.counter]] for balance in self.balances]
            for local in state.locals
        ]

    # --- what an abstract state stands for ---------------------------------------------------

    def alternatives(self, state: State, process: int) -> dict[int, set[frozenset[int]]]:
        """The local states that the process may have, as far as one step can tell them apart.

        Each has the sets of packets of which there may be more than the state has, among those that balances count.
        """
        cut = self._cut(state, process)
        packets = sorted({packet for _, packet in cut if packet >= 0})
        found: dict[int, set[frozenset[int]]] = {}
        for more in (frozenset(chosen) for count in range(len(packets) + 1) for chosen in combinations(packets, count)):
            ranges = []
            for balance in self.balances:
                value = self.system.local(state.locals[process])[self._positions[balance.counter]]
                factors = dict(balance.terms)
                value += sum(factors.get(feature, 0) for feature, packet in cut if packet in more)
                alike = max(self.discipline.counters[balance.counter], value)
                longer = more or any(packet < 0 and factors.get(feature) for feature, packet in cut)
                ranges.append(range(value, alike + 1) if longer else range(value, value + 1))
            for values in product(*ranges):
                found.setdefault(self._with_counters(state.locals[process], values), set()).add(more)
        return found

    def _cut(self, state: State, process: int) -> list[tuple[Feature, int]]:
        """The features that are cut and counted by balances of the process, each with its packet (-1: a queue).

        Raises: NotApplicable, where more of a feature would make a counter less.
        """
        factors: dict[Feature, set[int]] = {}
        for balance in self.balances:
            for feature, factor in balance.terms:
                factors.setdefault(feature, set()).add(factor)
        cut: list[tuple[Feature, int]] = []
        slack = self._slack(state.network, len(state.locals))
        for owner, local in enumerate(state.locals):
            for name, key in sorted(self._skeleton(local, slack[owner]).cut):
                where = "own" if process == owner else "for it" if key == process else "elsewhere"
                cut.append((Feature("queue", name, where), -1))
        for number in dict.fromkeys(state.network):
            if self._is_cut(state.network, number):
                packet = self.system.packet(number)
                where = _direction(process, packet.src, packet.dst)
                cut.append((Feature("packet", packet.kind, where), number))
        counted = [(feature, packet) for feature, packet in cut if feature in factors]
        if any(factor < 0 for feature, _ in counted for factor in factors[feature]):
            raise NotApplicable("a balance takes away what may be there any number of times")
        return counted

    def left(self, state: State, packet: int, process: int, more: Iterable[frozenset[int]]) -> set[bool]:
        """Whether a copy of the packet may be left after its arrival, where there may be more of the packets `more`."""
        if not self._is_cut(state.network, packet):
            return {False}
        if any(number == packet for _, number in self._cut(state, process)):
            return {packet in chosen for chosen in more}
        return {False, True}

    def longer(self, state: State, process: int) -> Iterator[int]:
        """The local state of the process with one more letter in one of its runs that are cut, for each of them."""
        local = self.system.local(state.locals[process])
        slack = self._slack(state.network, len(state.locals))[process]
        for name, key in sorted(self._skeleton(state.locals[process], slack).cut):
            at = self._positions[name]
            pairs = dict(local[at]) if self._maps[name] else {-1: local[at]}
            runs = [tuple(same) for _, same in groupby(pairs[key])]
            for which, run in enumerate(runs):
                if len(run) >= _most(key, slack, len(runs)):
                    letters = tuple(chain.from_iterable((*runs[:which], run[:1], *runs[which:])))
                    value = tuple(sorted({**pairs, key: letters}.items())) if self._maps[name] else letters
                    yield self.system.local_number((*local[:at], value, *local[at + 1 :]))


def _most(key: int, slack: Slack, runs: int) -> int:
    """How many equal letters in a row are kept in the queue for a process (-1: for all).

    All runs together keep one letter more than there are packets on their way, so that a balance tells whether any
    packet has arrived.
    """
    return max(1, 2 - runs + sum(count for target, count in slack if key in (target, -1)))


def _direction(process: int, source: int, target: int) -> str:
    match (source == process, target == process):
        case (True, True):
            return "to itself"
        case (True, False):
            return "out"
        case (False, True):
            return "in"
        case _:
            return "elsewhere"
