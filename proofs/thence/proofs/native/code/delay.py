"""Code of the reduction `delay`: sends, and arrivals that deliver nothing, come as late as they can.

A transition is an arrival, or what a timer does, with all that has to come before it: at the process that sends the
packet, and at the one that takes the step. `plans` has the sequences, and docs/exploring.md why nothing is missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from thence.proofs.native.code.cells import AHEAD, ASKED, EXTENDED, PLANS, SENDS_SHIFT, SILENT, Operation, Shared
from thence.proofs.native.code.emit import I64, NOWHERE, POINTER, VOID, Emitter, Value, define
from thence.proofs.native.code.packed import Packed, head_on_network

if TYPE_CHECKING:
    from thence.proofs.native.code.steps import Search

_HALF = (1 << 32) - 1
_SHOWN = 2
_HERE = [POINTER, POINTER, POINTER]
"""The first arguments of all functions: shared, own, and the words of a state, which stay as they are."""


class Delay:
    """Defines `waiting`, `consume`, `tick` and `chain` in a module."""

    def __init__(self, search: Search, module: Value) -> None:
        self.search = search
        self.layout, self.shape = search.layout, search.shape
        self.waiting = self._define_waiting(module)
        self.follow = self._define_follow(module)
        self.take = self._define_take(module)
        self.consume = self._define_consume(module)
        self.tick = self._define_tick(module)
        self.chain = self._define_chain(module)

    def is_silent(self, emit: Emitter, shared: Value, number: Value) -> Value:
        """Whether the arrival of a packet may be put off."""
        return emit.nonzero(emit.both(emit.load(emit.pointer(shared, Shared.PACKETS), number), SILENT))

    def _receiver(self, emit: Emitter, shared: Value, number: Value) -> Value:
        return emit.both(emit.load(emit.pointer(shared, Shared.PACKETS), number), _HALF)

    def _define_waiting(self, module: Value) -> Value:
        """waiting(shared, own, words, nodes): for each process, the node of what waits there; whether all are known."""
        emit = define(module, "waiting", [*_HERE, POINTER], I64, internal=True)
        shared, own, words, nodes = emit.function.args
        state, held = Packed(emit, self.layout, words), emit.reserve(self.layout.slots)

        def note(process: Value, key: Value) -> None:
            entry = emit.call(self.search.lookup, shared, own, key)
            with emit.when(emit.compare(entry, "==", 0), likely=False):
                emit.give(0)
            emit.store(emit.both(entry, _HALF), nodes, process)

        with emit.each(0, self.shape.processes) as process:
            place = emit.either(state.read("locals", process), emit.up(state.read("sends", process), SENDS_SHIFT))
            note(process, emit.either(emit.up(place, 32), emit.either(process, PLANS)))
        with emit.each(0, state.unpack_network(held)) as at:
            number = emit.load(held, at)
            with emit.when(self.is_silent(emit, shared, number)):
                process = self._receiver(emit, shared, number)
                node = emit.up(emit.load(nodes, process), 32)
                note(process, emit.either(node, emit.either(number, PLANS | EXTENDED)))
        emit.give(1)
        return emit.function

    @contextmanager
    def _sequences(self, emit: Emitter, shared: Value, plan: Value) -> Iterator[tuple[Value, Value]]:
        """For each sequence of a plan: its header, and where its steps begin."""
        operations, at = emit.pointer(shared, Shared.OPERATIONS), emit.reserve(1)
        emit.store(emit.both(plan, _HALF), at)
        with emit.repeat(lambda: emit.nonzero(emit.load(operations, emit.load(at)))):
            header = emit.load(operations, emit.load(at))
            emit.store(emit.add(emit.load(at), 1), at)
            yield header, emit.load(at)
            with emit.repeat(lambda: emit.nonzero(emit.load(operations, emit.load(at)))):
                emit.store(emit.add(emit.load(at), 1), at)
            emit.store(emit.add(emit.load(at), 1), at)

    def _define_follow(self, module: Value) -> Value:
        """follow(shared, own, next, process, at, parent, added): does the steps of a sequence.

        What is given is the entry of the last, or 0. `added` collects the packets that they put on the network, see
        `Search.fresh`.
        """
        emit = define(module, "follow", [*_HERE, I64, I64, I64, POINTER], I64, internal=True)
        shared, own, words, process, start, parent, added = emit.function.args
        operations, at, last = emit.pointer(shared, Shared.OPERATIONS), emit.reserve(1), emit.reserve(1)
        emit.store(start, at)
        emit.store(0, last)
        with emit.repeat(lambda: emit.nonzero(emit.load(operations, emit.load(at)))):
            step = emit.load(operations, emit.load(at))
            what = emit.down(step, 1)
            with emit.builder.if_else(emit.nonzero(emit.both(step, 1))) as (sends, receives):
                with sends:
                    emit.store(emit.call(self.search.send, shared, own, words, process, what, parent), last)
                with receives:
                    emit.store(emit.call(self.search.receive, shared, own, words, process, what, parent), last)
            with emit.when(emit.compare(emit.load(last), "==", 0), likely=False):
                emit.give(0)
            emit.store(emit.either(emit.load(added), self.search.fresh(emit, shared, emit.load(last))), added)
            emit.store(emit.add(emit.load(at), 1), at)
        emit.give(emit.load(last))
        return emit.function

    def _copy(self, emit: Emitter, words: Value, into: Value) -> Packed:
        following = Packed(emit, self.layout, into)
        Packed(emit, self.layout, words).copy_to(following)
        return following

    def _define_take(self, module: Value) -> Value:
        """take(shared, own, words, process, input, packet, parent, moved, fresh): an arrival, or a timer (packet 0)."""
        emit = define(module, "take", [*_HERE, *[I64] * 6], VOID, internal=True)
        shared, own, words, process, given, number, parent, moved, fresh = emit.function.args
        following = self._copy(emit, words, emit.reserve(self.layout.words))
        previous = NOWHERE
        if self.shape.timers:
            is_timer = emit.compare(number, "==", 0)
            previous = emit.builder.select(is_timer, words, NOWHERE)
            if self.shape.ticks is not None:
                with emit.when(is_timer):
                    following.increase("ticks", process)
        with emit.when(emit.nonzero(number)):
            following.take_packet(head_on_network(emit, shared, following, number))
        emit.builder.call(
            self.search.step, [shared, own, following.words, process, given, parent, previous, moved, fresh]
        )
        emit.give()
        return emit.function

    def _take_in_time(
        self, emit: Emitter, shared: Value, own: Value, words: Value, nodes: Value, process: Value, given: Value,
        number: Value, parent: Value, moved: Value, fresh: Value,
    ) -> None:  # fmt: skip
        """An arrival or a timer as it is, and after each sequence that may have to come before it."""
        node = emit.up(emit.load(nodes, process), 32)
        plan = emit.call(self.search.lookup, shared, own, emit.either(node, emit.either(given, PLANS | ASKED)))
        with emit.when(emit.compare(plan, "==", 0), likely=False):
            emit.give()
        emit.builder.call(self.take, [shared, own, words, process, given, number, parent, moved, fresh])
        into, added = emit.reserve(self.layout.words), emit.reserve(1)
        with self._sequences(emit, shared, plan) as (_, start):
            following = self._copy(emit, words, into)
            emit.store(fresh, added)
            last = emit.call(self.follow, shared, own, following.words, process, start, parent, added)
            possible = emit.nonzero(last)
            if self.shape.timers and self.shape.ticks is None:
                quiet = emit.compare(following.unpack_network(emit.reserve(self.layout.slots)), "==", 0)
                possible = emit.builder.and_(possible, emit.builder.or_(emit.nonzero(number), quiet))
            with emit.when(possible):
                emit.builder.call(
                    self.take, [shared, own, following.words, process, given, number, parent, moved, emit.load(added)]
                )

    def _define_consume(self, module: Value) -> Value:
        """consume(shared, own, words, nodes, packet, parent, moved, fresh): what can become of a packet in flight."""
        emit = define(module, "consume", [*_HERE, POINTER, *[I64] * 4], VOID, internal=True)
        shared, own, words, nodes, number, parent, moved, fresh = emit.function.args
        state, into = Packed(emit, self.layout, words), emit.reserve(self.layout.words)
        self.search.disturb(emit, shared, own, parent, state, Packed(emit, self.layout, into), number)
        process, given = self._receiver(emit, shared, number), self.search.arrival(emit, number)
        self._take_in_time(emit, shared, own, words, nodes, process, given, number, parent, moved, fresh)
        emit.give()
        return emit.function

    def _define_tick(self, module: Value) -> Value:
        """tick(shared, own, words, nodes, process, parent): the timer of a process."""
        emit = define(module, "tick", [*_HERE, POINTER, I64, I64], VOID, internal=True)
        shared, own, words, nodes, process, parent = emit.function.args
        nothing = emit.number(0)
        self._take_in_time(emit, shared, own, words, nodes, process, process, nothing, parent, nothing, nothing)
        emit.give()
        return emit.function

    def _define_chain(self, module: Value) -> Value:
        """chain(shared, own, words, nodes, process, parent, quiet): what the process does by itself that is noticed,
        each time with what becomes of the packets that it emits at last.
        """
        emit = define(module, "chain", [*_HERE, POINTER, *[I64] * 3], VOID, internal=True)
        shared, own, words, nodes, process, parent, quiet = emit.function.args
        into, added = emit.reserve(self.layout.words), emit.reserve(1)
        moved = self.search.one_of(emit, process)
        key = emit.either(emit.up(emit.load(nodes, process), 32), emit.either(quiet, PLANS | ASKED | AHEAD))
        plan = emit.call(self.search.lookup, shared, own, key)
        with emit.when(emit.compare(plan, "==", 0), likely=False):
            emit.give()
        with self._sequences(emit, shared, plan) as (header, start):
            following = self._copy(emit, words, into)
            emit.store(0, added)
            last = emit.call(self.follow, shared, own, following.words, process, start, parent, added)
            is_shown = emit.nonzero(emit.both(header, _SHOWN))
            with emit.when(emit.nonzero(last)), emit.builder.if_else(is_shown) as (shown, noticed):
                with shown:
                    self.search.arrived(emit, shared, own, following, parent, moved, emit.load(added))
                with noticed:
                    self._consume_added(emit, shared, own, following, nodes, process, last, parent, emit.load(added))
        emit.give()
        return emit.function

    def _consume_added(
        self, emit: Emitter, shared: Value, own: Value, state: Packed, nodes: Value, process: Value, entry: Value,
        parent: Value, fresh: Value,
    ) -> None:  # fmt: skip
        """What becomes of the packets that a step has put on the network, where one that is new can arrive."""
        operations, at = emit.pointer(shared, Shared.OPERATIONS), emit.reserve(1)
        own_nodes, moved = emit.reserve(self.shape.processes), self.search.one_of(emit, process)
        emit.store(emit.add(self.search.operations_at(emit, entry), 1), at)
        with emit.repeat(lambda: emit.nonzero(emit.both(emit.load(operations, emit.load(at)), 15))):
            operation = emit.load(operations, emit.load(at))
            with emit.when(emit.compare(emit.both(operation, 15), "==", Operation.ADD)):
                number = emit.down(operation, 8)
                first = state.packet(head_on_network(emit, shared, state, number))
                to_itself = emit.compare(self._receiver(emit, shared, number), "==", process)
                is_first = emit.compare(first, "==", number)
                with emit.when(is_first), emit.builder.if_else(to_itself, likely=False) as (here, elsewhere):
                    with here:
                        found = emit.call(self.waiting, shared, own, state.words, own_nodes)
                        with emit.when(emit.nonzero(found)):
                            self._call_consume(emit, shared, own, state, own_nodes, number, parent, moved, fresh)
                    with elsewhere:
                        self._call_consume(emit, shared, own, state, nodes, number, parent, moved, fresh)
            emit.store(emit.add(emit.load(at), 2), at)

    def _call_consume(
        self, emit: Emitter, shared: Value, own: Value, state: Packed, nodes: Value, number: Value, parent: Value,
        moved: Value, fresh: Value,
    ) -> None:  # fmt: skip
        emit.builder.call(self.consume, [shared, own, state.words, nodes, number, parent, moved, fresh])

    def every(
        self, emit: Emitter, shared: Value, own: Value, parent: Value, current: Packed, held: Value, count: Value
    ) -> None:
        """Every transition of a state. Arrivals that deliver nothing are some only where nothing else is in flight."""
        nodes = emit.reserve(self.shape.processes)
        found = emit.call(self.waiting, shared, own, current.words, nodes)
        with emit.when(emit.compare(found, "==", 0), likely=False):
            emit.give()
        quiet, nothing = emit.word_of_truth(emit.compare(count, "==", 0)), emit.number(0)
        with emit.each(0, self.shape.processes) as process:
            emit.builder.call(self.chain, [shared, own, current.words, nodes, process, parent, quiet])
        alike = emit.reserve(1)
        emit.store(1, alike)
        with emit.each(0, count) as at:
            silent = emit.word_of_truth(self.is_silent(emit, shared, emit.load(held, at)))
            emit.store(emit.both(emit.load(alike), silent), alike)
        into = emit.reserve(self.layout.words)
        with self.search.packets(emit, shared, held, count) as (_, number):
            waits = emit.builder.and_(self.is_silent(emit, shared, number), emit.compare(emit.load(alike), "==", 0))
            with emit.builder.if_else(waits) as (later, now):
                with later:
                    self.search.disturb(emit, shared, own, parent, current, Packed(emit, self.layout, into), number)
                with now:
                    self._call_consume(emit, shared, own, current, nodes, number, parent, nothing, nothing)
        if self.search.fires:
            with self.search.timers(emit, current, count) as process:
                emit.builder.call(self.tick, [shared, own, current.words, nodes, process, parent])
