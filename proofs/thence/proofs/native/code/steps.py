"""Code of the search: which actions a packed state enables, and what a local step does to the whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.cells import (
    ALONE,
    CHUNK,
    EVERYBODY,
    FINDINGS,
    HOLE,
    RECENT_STEPS,
    SENDS_SHIFT,
    STEP_FACTOR,
    Operation,
    Own,
    Shared,
)
from thence.proofs.native.code.dead import Dead
from thence.proofs.native.code.delay import Delay
from thence.proofs.native.code.emit import I64, NOWHERE, POINTER, VOID, Emitter, Value, define
from thence.proofs.native.code.packed import Packed, head_on_network, position_on_network
from thence.proofs.native.code.store import Store
from thence.proofs.native.code.sweep_store import LayeredStore
from thence.proofs.native.layout import Layout


def inputs_before_packets(layout: Layout) -> int:
    """Inputs are numbered: the timer of each process, then (process, message, destinations) sent, then packets."""
    shape = layout.shape
    return shape.processes + sum(sends * len(chosen) for sends, chosen in zip(shape.sends, shape.choices, strict=True))


_STORES: dict[Storage, type[Store]] = {"exact": Store, "layers": LayeredStore}
_FAULT = 2
_PLACES = (1 << 24) - 1
"""Where a list of operations is takes so many bits of an entry."""


class Search:
    """Defines `expand` and what it needs in a module. Only violations of `properties` are looked for."""

    def __init__(self, module: Value, layout: Layout, properties: Collection[str]) -> None:
        self.layout = layout
        self.shape = layout.shape
        self.properties = frozenset(properties)
        self.store = _STORES[layout.storage](module, layout)
        self.lookup = self._define_lookup(module)
        self.operate = self._define_operate(module)
        self.arrive = self._define_arrive(module)
        self.step = self._define_step(module)
        self.send = self._define_send(module) if self.shape.messages else None
        self.receive = self._define_receive(module)
        self.delay = Delay(self, module) if "delay" in layout.reductions and self.shape.messages else None
        self.successors = self._define_successors(module)
        self._define_expand(module)

    # --- one local step ----------------------------------------------------------------------

    def _key(self, emit: Emitter, state: Packed, process: Value, given: Value) -> Value:
        """The key of a local step."""
        local = state.read("locals", process)
        if self.layout.by_sends:
            local = emit.either(local, emit.up(state.read("sends", process), SENDS_SHIFT))
        return emit.either(emit.up(local, 32), given)

    def _define_lookup(self, module: Value) -> Value:
        """lookup(shared, own, key): the entry of a local step; 0 if it is not known, which is then asked for."""
        emit = define(module, "lookup", [POINTER, POINTER, I64], I64, internal=True)
        shared, own, key = emit.function.args
        steps, mask = emit.pointer(shared, Shared.STEPS), emit.load(shared, Shared.STEPS_MASK)
        stored, place, found = emit.add(key, 1), emit.reserve(1), emit.reserve(1)
        hashed = emit.down(emit.mul(stored, STEP_FACTOR), 32)
        recent = emit.place(emit.pointer(own, Own.STEPS), emit.mul(emit.both(hashed, RECENT_STEPS - 1), 2))
        with emit.when(emit.compare(emit.load(recent), "==", stored)):
            emit.give(emit.load(recent, 1))
        emit.store(emit.both(hashed, mask), place)

        def searching() -> Value:
            emit.store(emit.load(steps, emit.mul(emit.load(place), 2)), found)
            return emit.compare(emit.load(found), "!=", stored)

        with emit.repeat(searching):
            with emit.when(emit.compare(emit.load(found), "==", 0)):
                self._want(emit, own, key)
                emit.give(0)
            emit.store(emit.both(emit.add(emit.load(place), 1), mask), place)
        entry = emit.load(steps, emit.add(emit.mul(emit.load(place), 2), 1))
        emit.store(stored, recent)
        emit.store(entry, recent, 1)
        emit.give(entry)
        return emit.function

    def _define_step(self, module: Value) -> Value:
        """step(shared, own, next, process, input, parent, before, moved, fresh): the handler's effect on `next`, then
        push.

        `before` is the state before a timer fired, or null: a timer that changes nothing is no transition. `moved` and
        `fresh`: what sends before it did, see `arrive`.
        """
        parameters = [POINTER, POINTER, POINTER, I64, I64, I64, POINTER, I64, I64]
        emit = define(module, "step", parameters, VOID, internal=True)
        shared, own, words, process, given, parent, before, moved, fresh = emit.function.args
        state = Packed(emit, self.layout, words)
        entry = emit.call(self.lookup, shared, own, self._key(emit, state, process, given))
        with emit.when(emit.compare(entry, "==", 0), likely=False):
            emit.give()
        loud = emit.call(self.operate, shared, own, words, process, parent, entry)
        with emit.when(emit.compare(loud, "==", _FAULT), likely=False):
            emit.store(emit.add(emit.load(own, Own.EDGES), 1), own, Own.EDGES)
            emit.give()
        if self.shape.timers:
            asked = emit.builder.icmp_unsigned("!=", before, NOWHERE)
            with emit.when(emit.builder.and_(asked, emit.compare(loud, "==", 0))):
                previous = Packed(emit, self.layout, before)
                difference: Value = emit.number(0)
                for at in range(self.layout.words):
                    difference = emit.either(difference, emit.differing(state.word(at), previous.word(at)))
                with emit.when(emit.compare(difference, "==", 0)):
                    emit.give()
        self._clear_dead(emit, state, process)
        moved = emit.either(moved, self.one_of(emit, process))
        self.arrived(emit, shared, own, state, parent, moved, emit.either(fresh, self.fresh(emit, shared, entry)))
        emit.give()
        return emit.function

    def _clear_dead(self, emit: Emitter, state: Packed, process: Value) -> None:
        if "dead" in self.layout.reductions and self.shape.messages:
            Dead.of(self.shape, self.properties).clear(emit, state, process)

    def arrived(
        self, emit: Emitter, shared: Value, own: Value, state: Packed, parent: Value, moved: Value, fresh: Value
    ) -> None:
        """A transition has led here; see `arrive`."""
        emit.store(emit.add(emit.load(own, Own.EDGES), 1), own, Own.EDGES)
        emit.builder.call(self.arrive, [shared, own, state.words, parent, moved, fresh])

    def fresh(self, emit: Emitter, shared: Value, entry: Value) -> Value:
        """The packets that a step puts on the network, as a mask in which some share a bit."""
        if "persistent" not in self.layout.reductions:
            return emit.number(0)
        return emit.load(emit.pointer(shared, Shared.OPERATIONS), self.operations_at(emit, entry))

    def operations_at(self, emit: Emitter, entry: Value) -> Value:
        """Where the operations of a step are: the packets that they add, as a mask, and then each of them."""
        return emit.both(emit.down(entry, 32), _PLACES)

    def one_of(self, emit: Emitter, process: Value) -> Value:
        """A process, as a mask in which some share a bit."""
        return emit.up(1, emit.select(emit.compare(process, "<", 63), process, 63))

    def _define_arrive(self, module: Value) -> Value:
        """arrive(shared, own, words, parent, moved, fresh): a successor goes on by steps that are taken alone, into
        the store.

        In a state that is stored no arrival is taken alone: only arrivals at processes that `moved` since then may be,
        and those of packets that are `fresh`.
        """
        emit = define(module, "arrive", [POINTER, POINTER, POINTER, I64, I64, I64], VOID, internal=True)
        shared, own, words, parent, moved, fresh = emit.function.args
        if "persistent" in self.layout.reductions:
            alone = self._define_alone(module)
            state, going = Packed(emit, self.layout, words), emit.reserve(1)
            packets, held = emit.pointer(shared, Shared.PACKETS), emit.reserve(self.layout.slots)
            places, arrived = emit.reserve(1), emit.reserve(1)
            emit.store(moved, places)
            emit.store(fresh, arrived)
            emit.store(1, going)
            with emit.repeat(lambda: emit.nonzero(emit.load(going))):
                count = state.unpack_network(held)
                at = emit.call(alone, shared, own, words, held, count, emit.load(places), emit.load(arrived))
                emit.store(at, going)
                with emit.when(emit.compare(at, ">", self.layout.slots), likely=False):
                    emit.give()
                with emit.when(emit.nonzero(at)):
                    number = emit.load(held, emit.sub(at, 1))
                    process = emit.both(emit.load(packets, number), (1 << 32) - 1)
                    entry = emit.call(self.lookup, shared, own, self._arrival_key(emit, state, process, number))
                    state.take_packet(emit.sub(at, 1))
                    emit.call(self.operate, shared, own, words, process, parent, entry)
                    emit.store(emit.either(emit.load(places), self.one_of(emit, process)), places)
                    emit.store(emit.either(emit.load(arrived), self.fresh(emit, shared, entry)), arrived)
        emit.builder.call(self.store.push, [shared, own, words, parent])
        emit.give()
        return emit.function

    def _arrival_key(self, emit: Emitter, state: Packed, process: Value, number: Value) -> Value:
        return self._key(emit, state, process, self.arrival(emit, number))

    def _want(self, emit: Emitter, own: Value, key: Value) -> None:
        """Asks for a step that is not in the table; one that finds no room is asked for again later."""
        emit.store(1, own, Own.MISSING)
        count = emit.load(own, Own.WANTED_COUNT)
        with emit.when(emit.compare(count, "<", emit.load(own, Own.WANTED_ROOM))):
            emit.store(key, emit.pointer(own, Own.WANTED), count)
            emit.store(emit.add(count, 1), own, Own.WANTED_COUNT)

    def _define_operate(self, module: Value) -> Value:
        """operate(shared, own, words, process, parent, entry): does what a local step does; 1 if that is
        a delivery that is none, _FAULT if the step is at fault, otherwise 0.
        """
        emit = define(module, "operate", [POINTER, POINTER, POINTER, I64, I64, I64], I64, internal=True)
        shared, own, words, process, parent, entry = emit.function.args
        state, loud = Packed(emit, self.layout, words), emit.reserve(1)
        state.write("locals", process, emit.both(entry, (1 << 32) - 1))
        emit.store(0, loud)
        self._operations(emit, shared, own, state, process, parent, self.operations_at(emit, entry), loud)
        emit.give(emit.load(loud))
        return emit.function

    def _operations(
        self, emit: Emitter, shared: Value, own: Value, state: Packed, process: Value, parent: Value, start: Value,
        loud: Value,
    ) -> None:  # fmt: skip
        operations, at = emit.pointer(shared, Shared.OPERATIONS), emit.reserve(1)
        emit.store(emit.add(start, 1), at)
        with emit.repeat(lambda: emit.nonzero(emit.both(emit.load(operations, emit.load(at)), 15))):
            here = emit.load(at)
            operation = emit.load(operations, here)
            kind, message = emit.both(operation, 15), emit.down(operation, 8)
            argument = emit.load(operations, emit.add(here, 1))
            with emit.when(emit.compare(kind, "==", Operation.ADD)):
                self._add_packet(emit, shared, own, state, message)
            with emit.when(emit.compare(kind, "==", Operation.DELIVER)):
                again = emit.both(emit.down(operation, 4), 1)
                self._deliver(emit, own, state, process, parent, message, argument, again, loud)
            if self.properties & {"csps", "sps"}:
                with emit.when(emit.compare(kind, "==", Operation.CHECK)):
                    self._network_sent(emit, own, state, process, parent, message, argument)
            with emit.when(emit.compare(kind, "==", Operation.FAULT)):
                self._found(emit, own, "fault", parent)
                emit.give(_FAULT)
            with emit.when(emit.compare(kind, "==", Operation.BREAK)):
                self._found_at(emit, own, emit.add(Own.FOUND, message), parent)
            emit.store(emit.add(here, 2), at)

    def _found(self, emit: Emitter, own: Value, property_: str, parent: Value) -> None:
        if property_ not in self.properties:
            return
        self._found_at(emit, own, Own.FOUND + FINDINGS.index(property_), parent)

    def _found_at(self, emit: Emitter, own: Value, cell: Value | int, parent: Value) -> None:
        known = emit.load(own, cell)
        emit.store(emit.select(emit.compare(parent, "<", known), parent, known), own, cell)

    def _deliver(
        self, emit: Emitter, own: Value, state: Packed, process: Value, parent: Value, message: Value, mates: Value,
        addressed: Value, loud: Value,
    ) -> None:  # fmt: skip
        """`mates`: the messages of the same sender. `addressed`: whether the process is among the destinations."""
        due, bit = state.read("due", process), emit.up(1, message)
        builder = emit.builder
        with builder.if_else(emit.nonzero(emit.both(due, bit))) as (first, otherwise):
            with first:
                past = state.read("pastof", message)
                skipped = emit.both(emit.both(past, due), emit.inverse(bit))
                with emit.when(emit.nonzero(skipped), likely=False):
                    self._found(emit, own, "causal", parent)
                    if "fifo" in self.properties:
                        with emit.when(emit.nonzero(emit.both(skipped, mates))):
                            self._found(emit, own, "fifo", parent)
                earlier = self._crossed(emit, own, state, process, parent, message) if self.shape.ordered else None
                state.join("pasts", process, emit.either(past, bit))
                state.write("due", process, emit.both(due, emit.inverse(bit)))
                if earlier is not None:
                    self._order(emit, state, message, earlier)
                if self.shape.multicast:
                    with emit.when(builder.not_(state.anywhere(message, "due"))):
                        self._forget(emit, state, message)
                else:
                    self._forget(emit, state, message)
            with otherwise:
                emit.store(1, loud)
                with builder.if_else(emit.nonzero(addressed)) as (repeated, strange):
                    with repeated:
                        self._found(emit, own, "at_most_once", parent)
                    with strange:
                        self._found(emit, own, "no_creation", parent)

    def _forget(self, emit: Emitter, state: Packed, message: Value) -> None:
        """A message that everybody has delivered leaves every past."""
        state.drop(message, "pasts", "pastof")
        state.write("pastof", message, 0)
        if not self.shape.chosen:
            return
        if not self.shape.ordered:
            state.drop(message, "addressed")
            return
        with emit.each(0, self.shape.messages) as known:
            needed = emit.builder.or_(state.anywhere(known, "due"), state.anywhere(known, "order"))
            with emit.when(emit.builder.not_(needed)):
                state.drop(known, "addressed")

    def _addressed(self, emit: Emitter, state: Packed, process: Value | int) -> Value:
        """The messages of which the process is a destination; where they are not kept, those that it would be of."""
        if self.shape.chosen:
            return state.read("addressed", process)
        owned = self._owned()
        masks = [
            sum(mask for mask, chosen in zip(owned, self.shape.choices, strict=True) if chosen and target in chosen[0])
            for target in range(self.shape.processes)
        ]
        return emit.load(emit.table(masks, "addressed"), process)

    def _owned(self) -> list[int]:
        """For each process, the messages that it sends."""
        return [(1 << count) - 1 << base for count, base in zip(self.shape.sends, self.shape.bases, strict=False)]

    def _crossed(
        self, emit: Emitter, own: Value, state: Packed, process: Value, parent: Value, message: Value
    ) -> Value:
        """Judges `total_order` of a delivery; gives the pending messages that the process delivered before."""
        done = emit.both(self._addressed(emit, state, process), emit.inverse(state.read("due", process)))
        with emit.when(emit.nonzero(emit.both(state.read("order", message), done)), likely=False):
            self._found(emit, own, "total_order", parent)
        pending: Value = emit.number(0)
        for other in range(self.shape.processes):
            pending = emit.either(pending, state.read("due", other))
        return emit.both(pending, done)

    def _order(self, emit: Emitter, state: Packed, message: Value, earlier: Value) -> None:
        """Notes what was delivered before `message`, where another process may still do otherwise; forgets the rest."""
        late: Value = emit.number(0)
        open_: Value = emit.number(0)
        for other in range(self.shape.processes):
            addressed, due = self._addressed(emit, state, other), state.read("due", other)
            is_destination = emit.nonzero(emit.both(emit.down(addressed, message), 1))
            open_ = emit.either(open_, emit.select(is_destination, due, 0))
            waits = emit.nonzero(emit.both(emit.down(due, message), 1))
            late = emit.either(late, emit.select(waits, addressed, 0))
        state.write("order", message, emit.both(state.read("order", message), late))
        noted = emit.both(earlier, open_)
        with emit.each(0, self.shape.messages) as early:
            known = emit.both(emit.down(noted, early), 1)
            state.join("order", early, emit.up(known, message))

    def _network_sent(
        self, emit: Emitter, own: Value, state: Packed, process: Value, parent: Value, message: Value, outside: Value
    ) -> None:
        """`outside`: the messages whose senders are not the only destination of `message`."""
        shape = self.shape
        owned = emit.table(self._owned(), "own")
        others = emit.both(state.read("pastof", message), emit.inverse(emit.load(owned, process)))
        with emit.when(emit.nonzero(others), likely=False):
            self._found(emit, own, "csps", parent)
            if "sps" in self.properties:
                elsewhere: Value = emit.number(0)
                for other in range(shape.processes):
                    same = emit.compare(process, "==", other)
                    elsewhere = emit.either(elsewhere, emit.select(same, 0, state.read("due", other)))
                with emit.when(emit.nonzero(emit.both(emit.both(others, outside), elsewhere))):
                    self._found(emit, own, "sps", parent)

    def _add_packet(self, emit: Emitter, shared: Value, own: Value, state: Packed, number: Value) -> None:
        place = position_on_network(emit, shared, state, number)
        left = state.put_packet(number, place)
        with emit.when(emit.nonzero(left), likely=False):
            emit.store(1, own, Own.OVERFLOW)

    # --- every action of a state -------------------------------------------------------------

    def _define_expand(self, module: Value) -> None:
        """expand(shared, own): takes states from CURSOR to END and finds their successors."""
        emit = define(module, "expand", [POINTER, POINTER], VOID, internal=False)
        shared, own = emit.function.args
        parents, listed = emit.pointer(shared, Shared.PARENTS), emit.pointer(shared, Shared.LIST)
        chosen, end = emit.load(shared, Shared.LIST), emit.load(shared, Shared.END)
        first, number, edges = emit.reserve(1), emit.reserve(1), emit.reserve(1)

        def claim() -> Value:
            taken = emit.builder.atomic_rmw("add", emit.place(shared, Shared.CURSOR), emit.number(CHUNK), "monotonic")
            emit.store(taken, first)
            return emit.compare(taken, "<", end)

        with emit.repeat(claim):
            start = emit.load(first)
            stop = emit.add(start, CHUNK)
            stop = emit.select(emit.compare(stop, "<", end), stop, end)
            with emit.each(start, stop) as at:
                emit.store(at, number)
                with emit.when(emit.nonzero(chosen)):
                    emit.store(emit.load32(listed, at), number)
                parent = emit.load(number)
                with emit.when(emit.compare(emit.load32(parents, parent), "!=", HOLE)):
                    full = emit.compare(emit.load(shared, Shared.COUNT), ">=", emit.load(shared, Shared.ROOM))
                    emit.store(emit.word_of_truth(full), own, Own.MISSING)
                    emit.store(emit.load(own, Own.EDGES), edges)
                    with emit.when(emit.builder.not_(full), likely=True):
                        emit.builder.call(self.successors, [shared, own, parent])
                    with emit.when(emit.nonzero(emit.load(own, Own.MISSING)), likely=False):
                        emit.store(emit.load(edges), own, Own.EDGES)
                        count = emit.load(own, Own.DEFERRED_COUNT)
                        emit.store32(parent, emit.pointer(own, Own.DEFERRED), count)
                        emit.store(emit.add(count, 1), own, Own.DEFERRED_COUNT)
        emit.builder.call(self.store.flush, [shared, own])
        emit.give()

    def _define_successors(self, module: Value) -> Value:
        """successors(shared, own, parent): every action of a state."""
        emit = define(module, "successors", [POINTER, POINTER, I64], VOID, internal=True)
        shared, own, parent = emit.function.args
        row = emit.place(emit.pointer(shared, Shared.STATES), emit.mul(parent, self.layout.words))
        current = Packed(emit, self.layout, emit.reserve(self.layout.words))
        Packed(emit, self.layout, row).copy_to(current)
        following = Packed(emit, self.layout, emit.reserve(self.layout.words))
        held = emit.reserve(self.layout.slots)
        count = current.unpack_network(held)
        if self.delay is not None:
            self.delay.every(emit, shared, own, parent, current, held, count)
        else:
            if self.shape.messages:
                self._application_sends(emit, shared, own, parent, current, following)
            with self.packets(emit, shared, held, count) as (at, number):
                self._arrival(emit, shared, own, parent, current, following, at, number)
                self.disturb(emit, shared, own, parent, current, following, number)
            self._timers(emit, shared, own, parent, current, following, count)
        if "delivered" in self.properties and self.shape.messages and not self.shape.timers:
            quiet = emit.builder.and_(emit.compare(count, "==", 0), emit.builder.not_(current.nothing("due")))
            with emit.when(quiet, likely=False):
                self._found(emit, own, "delivered", parent)
        emit.give()
        return emit.function

    def _define_alone(self, module: Value) -> Value:
        """alone(shared, own, words, held, count, moved, fresh): the position, plus one, of the arrival that is taken
        alone.

        Only those at processes that `moved` and those of packets that are `fresh` are considered. 0 if there is none;
        more than can be in flight if that is not known yet.
        """
        emit = define(module, "alone", [POINTER, POINTER, POINTER, POINTER, I64, I64, I64], I64, internal=True)
        shared, own, words, held, count, moved, fresh = emit.function.args
        state, shape = Packed(emit, self.layout, words), self.shape
        for name, most in (("duplicates", shape.duplicates), ("losses", shape.losses)):
            if most:
                with emit.when(emit.compare(state.read(name, 0), "<", most)):
                    emit.give(0)
        packets, last = emit.pointer(shared, Shared.PACKETS), emit.reserve(1)
        emit.store((1 << 64) - 1, last)
        with emit.each(0, count) as at:
            number = emit.load(held, at)
            packet = emit.load(packets, number)
            kind = emit.down(packet, 32) if shape.fifo else number
            with emit.when(emit.compare(kind, "!=", emit.load(last))):
                emit.store(kind, last)
                process = emit.both(packet, (1 << 32) - 1)
                arrived = emit.both(emit.down(fresh, emit.both(number, 63)), 1)
                with emit.when(emit.nonzero(emit.either(emit.both(moved, self.one_of(emit, process)), arrived))):
                    entry = emit.call(self.lookup, shared, own, self._arrival_key(emit, state, process, number))
                    known = emit.compare(emit.load(own, Own.MISSING), "==", 0)
                    with emit.when(emit.builder.and_(known, emit.nonzero(emit.both(entry, ALONE)))):
                        emit.give(emit.add(at, 1))
        missing = emit.nonzero(emit.load(own, Own.MISSING))
        emit.give(emit.select(missing, self.layout.slots + 1, 0))
        return emit.function

    @contextmanager
    def _choices(self, emit: Emitter, state: Packed, process: Value) -> Iterator[Value]:
        """For each message that the process may send next the choice of destinations."""
        shape = self.shape
        limits, amounts = (
            emit.table(shape.sends, "sends"),
            emit.table([len(chosen) for chosen in shape.choices], "amounts"),
        )
        done = state.read("sends", process)
        is_left = emit.compare(done, "<", emit.load(limits, process))
        with emit.when(is_left), emit.each(0, emit.load(amounts, process)) as choice:
            yield choice

    def sending(self, emit: Emitter, process: Value, done: Value, choice: Value) -> Value:
        """The input by which a message is sent."""
        shape = self.shape
        numbered = [shape.processes]
        for sends, chosen in zip(shape.sends, shape.choices, strict=True):
            numbered.append(numbered[-1] + sends * len(chosen))
        amount = emit.load(emit.table([len(chosen) for chosen in shape.choices], "amounts"), process)
        first = emit.load(emit.table(numbered, "inputs"), process)
        return emit.add(emit.add(first, emit.mul(done, amount)), choice)

    def arrival(self, emit: Emitter, number: Value) -> Value:
        """The input by which a packet arrives."""
        return emit.add(number, inputs_before_packets(self.layout) - 1)

    def _sent(self, emit: Emitter, state: Packed, process: Value, done: Value, choice: Value) -> None:
        """What the observer knows of a message that the process sends."""
        shape = self.shape
        targets = [sum(1 << process for process in choice) for chosen in shape.choices for choice in chosen]
        firsts = [sum(map(len, shape.choices[:process])) for process in range(shape.processes)]
        base, first, target = (
            emit.table(shape.bases, "bases"), emit.table(firsts, "firsts"), emit.table(targets, "targets"),
        )  # fmt: skip
        message = emit.add(emit.load(base, process), done)
        to = emit.load(target, emit.add(emit.load(first, process), choice))
        somewhere = emit.nonzero(to)
        past = emit.select(somewhere, state.read("pasts", process), 0)
        state.increase("sends", process)
        state.write("pastof", message, past)
        state.join("pasts", process, emit.up(emit.word_of_truth(somewhere), message))
        for other in range(shape.processes):
            chosen_bit = emit.up(emit.both(emit.down(to, other), 1), message)
            state.join("due", other, chosen_bit)
            if shape.chosen:
                state.join("addressed", other, chosen_bit)

    def _define_send(self, module: Value) -> Value:
        """send(shared, own, next, process, choice, parent): what a causal send does to `next`; its entry, or 0 if it is
        not known or at fault.
        """
        emit = define(module, "send", [POINTER, POINTER, POINTER, I64, I64, I64], I64, internal=True)
        shared, own, words, process, choice, parent = emit.function.args
        state = Packed(emit, self.layout, words)
        done = state.read("sends", process)
        self._sent(emit, state, process, done, choice)
        self._did(emit, shared, own, state, process, self.sending(emit, process, done, choice), parent)
        return emit.function

    def _define_receive(self, module: Value) -> Value:
        """receive(shared, own, next, process, packet, parent): what an arrival does to `next`, likewise."""
        emit = define(module, "receive", [POINTER, POINTER, POINTER, I64, I64, I64], I64, internal=True)
        shared, own, words, process, number, parent = emit.function.args
        state = Packed(emit, self.layout, words)
        state.take_packet(head_on_network(emit, shared, state, number))
        self._did(emit, shared, own, state, process, self.arrival(emit, number), parent)
        return emit.function

    def _did(
        self, emit: Emitter, shared: Value, own: Value, state: Packed, process: Value, given: Value, parent: Value
    ) -> None:
        """What a local step does; gives its entry, or 0 if it is not known or at fault."""
        entry = emit.call(self.lookup, shared, own, self._key(emit, state, process, given))
        with emit.when(emit.compare(entry, "==", 0), likely=False):
            emit.give(0)
        loud = emit.call(self.operate, shared, own, state.words, process, parent, entry)
        with emit.when(emit.compare(loud, "==", _FAULT), likely=False):
            emit.store(emit.add(emit.load(own, Own.EDGES), 1), own, Own.EDGES)
            emit.give(0)
        self._clear_dead(emit, state, process)
        emit.give(entry)

    def _application_sends(
        self, emit: Emitter, shared: Value, own: Value, parent: Value, current: Packed, following: Packed
    ) -> None:
        with emit.each(0, self.shape.processes) as process, self._choices(emit, current, process) as choice:
            current.copy_to(following)
            entry = emit.call(self.send, shared, own, following.words, process, choice, parent)
            with emit.when(emit.nonzero(entry)):
                moved, fresh = self.one_of(emit, process), self.fresh(emit, shared, entry)
                self.arrived(emit, shared, own, following, parent, moved, fresh)

    @contextmanager
    def packets(self, emit: Emitter, shared: Value, held: Value, count: Value) -> Iterator[tuple[Value, Value]]:
        """Position and number of each packet that the network could let arrive next; of equal ones only once."""
        packets, last = emit.pointer(shared, Shared.PACKETS), emit.reserve(1)
        emit.store((1 << 64) - 1, last)
        with emit.each(0, count) as at:
            number = emit.load(held, at)
            kind = emit.down(emit.load(packets, number), 32) if self.shape.fifo else number
            with emit.when(emit.compare(kind, "!=", emit.load(last))):
                emit.store(kind, last)
                yield at, number

    def _arrival(
        self, emit: Emitter, shared: Value, own: Value, parent: Value, current: Packed, following: Packed, at: Value,
        number: Value,
    ) -> None:  # fmt: skip
        current.copy_to(following)
        following.take_packet(at)
        process = emit.both(emit.load(emit.pointer(shared, Shared.PACKETS), number), (1 << 32) - 1)
        self._take(emit, shared, own, following, process, self.arrival(emit, number), parent, None)

    def _take(
        self, emit: Emitter, shared: Value, own: Value, following: Packed, process: Value, given: Value, parent: Value,
        before: Packed | None,
    ) -> None:  # fmt: skip
        previous, nothing = NOWHERE if before is None else before.words, emit.number(0)
        emit.builder.call(self.step, [shared, own, following.words, process, given, parent, previous, nothing, nothing])

    def disturb(
        self, emit: Emitter, shared: Value, own: Value, parent: Value, current: Packed, following: Packed, number: Value
    ) -> None:
        """What the network may do with a packet."""
        shape = self.shape
        if shape.duplicates:
            with emit.when(emit.compare(current.read("duplicates", 0), "<", shape.duplicates)):
                current.copy_to(following)
                following.increase("duplicates", 0)
                self._add_packet(emit, shared, own, following, number)
                self.arrived(emit, shared, own, following, parent, emit.number(EVERYBODY), emit.number(0))
        if shape.losses:
            with emit.when(emit.compare(current.read("losses", 0), "<", shape.losses)):
                current.copy_to(following)
                following.increase("losses", 0)
                following.take_packet(head_on_network(emit, shared, following, number))
                self.arrived(emit, shared, own, following, parent, emit.number(EVERYBODY), emit.number(0))

    @property
    def fires(self) -> bool:
        """Whether there are timers that may fire."""
        return self.shape.timers and self.shape.ticks != 0

    @contextmanager
    def timers(self, emit: Emitter, current: Packed, count: Value) -> Iterator[Value]:
        """For each process whose timer may fire."""
        shape = self.shape
        with emit.each(0, shape.processes) as process:
            if shape.ticks is None:
                may = emit.compare(count, "==", 0)
            else:
                may = emit.compare(current.read("ticks", process), "<", shape.ticks)
            with emit.when(may):
                yield process

    def _timers(
        self, emit: Emitter, shared: Value, own: Value, parent: Value, current: Packed, following: Packed, count: Value
    ) -> None:
        if not self.fires:
            return
        with self.timers(emit, current, count) as process:
            current.copy_to(following)
            if self.shape.ticks is not None:
                following.increase("ticks", process)
            self._take(emit, shared, own, following, process, process, parent, current)
