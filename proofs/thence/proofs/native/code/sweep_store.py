"""Code of the store for a sweep line: every step makes a measure of progress larger.

So states at or below the level of the expanded ones cannot be reached again, and are discarded. In the place of a
parent, each state has the length of a shortest way to it, and its level, the measure. Levels are expanded in ascending
order: when a state is expanded, all states that lead to it have been, and that length is final.
"""

from __future__ import annotations

from thence.proofs.native.code.assembly import I32, POINTER, VOID
from thence.proofs.native.code.cells import HOLE, Own, Shared, Sweep
from thence.proofs.native.code.emit import Emitter, Value, define
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.code.store import Store

LEVEL_BITS = 16
MOST_LEVELS = (1 << LEVEL_BITS) - 2
"""Most levels that can be told apart."""

_LEVEL = (1 << LEVEL_BITS) - 1


class SweepStore(Store):
    """Defines the functions of the store in a module, and those that pass over its states."""

    skips_recent = False
    passes = ("gather", "compact")

    def _define_rehash(self, module: Value) -> None:
        Store._define_rehash(self, module)
        self._define_gather(module)
        self._define_compact(module)

    def _longer(self, emit: Emitter, shared: Value, entry: Value) -> Value:
        """The length of the way to a successor through its parent, in the upper half."""
        parent = emit.load(entry, self.layout.words + 1)
        noted = emit.load32(emit.pointer(shared, Shared.PARENTS), parent)
        return emit.both(emit.add(noted, 1 << LEVEL_BITS), ~_LEVEL)

    def _note(self, emit: Emitter, shared: Value, own: Value, entry: Value, number: Value) -> None:
        parents, parent = emit.pointer(shared, Shared.PARENTS), emit.load(entry, self.layout.words + 1)
        level = self._level(emit, shared, Packed(emit, self.layout, entry))
        before = emit.both(emit.load32(parents, parent), _LEVEL)
        astray = emit.builder.or_(emit.compare(level, "<=", before), emit.compare(level, ">", MOST_LEVELS))
        with emit.when(astray, likely=False):
            emit.store(emit.select(emit.compare(level, "<=", before), 1, 2), own, Own.STRAYED)
        emit.store32(emit.either(self._longer(emit, shared, entry), emit.both(level, _LEVEL)), parents, number)

    def _meet(self, emit: Emitter, shared: Value, entry: Value, number: Value) -> None:
        parents = emit.pointer(shared, Shared.PARENTS)
        known = emit.load32(parents, number)
        noted = emit.either(self._longer(emit, shared, entry), emit.both(known, _LEVEL))
        with emit.when(emit.compare(noted, "<", known), likely=False):
            value = emit.builder.trunc(noted, I32)
            emit.builder.atomic_rmw("umin", emit.place(parents, number, I32), value, "monotonic")

    def _level(self, emit: Emitter, shared: Value, state: Packed) -> Value:
        """The level of a state."""
        shape, total = self.layout.shape, emit.reserve(1)
        emit.store(emit.load(shared, Shared.PROGRESS_START), total)

        def count(value: Value) -> None:
            emit.store(emit.add(emit.load(total), value), total)

        local_states, packets = (
            emit.pointer(shared, Shared.PROGRESS_LOCALS), emit.pointer(shared, Shared.PROGRESS_PACKETS)
        )  # fmt: skip
        for process in range(shape.processes):
            count(emit.load(local_states, state.read("locals", process)))
        for name, weight, many in (
            ("sends", Shared.PROGRESS_SENDS, shape.processes), 
            ("ticks", Shared.PROGRESS_TICKS, shape.processes * len(shape.counted)),
            ("duplicates", Shared.PROGRESS_DUPLICATES, 1), ("losses", Shared.PROGRESS_LOSSES, 1),
        ):  # fmt: skip
            if state.has(name):
                for at in range(many):
                    count(emit.mul(state.read(name, at), emit.load(shared, weight)))
        held = emit.reserve(self.layout.slots)
        with emit.each(0, state.unpack_network(held)) as at:
            count(emit.load(packets, emit.load(held, at)))
        return emit.load(total)

    def _define_gather(self, module: Value) -> None:
        """gather(shared, sweep): lists the states numbered below END that are at LEVEL.

        DEPTH: the length of the longest of the ways to them. NEXT: the lowest level with states above LEVEL.
        """
        emit = define(module, "gather", [POINTER, POINTER], VOID, internal=False)
        shared, sweep = emit.function.args
        parents, level = emit.pointer(shared, Shared.PARENTS), emit.load(sweep, Sweep.LEVEL)
        chosen, count, depth, next_ = emit.pointer(sweep, Sweep.LIST), emit.reserve(1), emit.reserve(1), emit.reserve(1)
        for value, cell in ((0, count), (0, depth), (MOST_LEVELS + 1, next_)):
            emit.store(value, cell)
        with emit.each(0, emit.load(sweep, Sweep.END)) as number:
            noted = emit.load32(parents, number)
            here = emit.both(noted, _LEVEL)
            with emit.when(emit.compare(noted, "!=", HOLE)):
                with emit.when(emit.compare(here, "==", level)):
                    emit.store32(number, chosen, emit.load(count))
                    emit.store(emit.add(emit.load(count), 1), count)
                    length = emit.down(noted, LEVEL_BITS)
                    further = emit.compare(length, ">", emit.load(depth))
                    emit.store(emit.select(further, length, emit.load(depth)), depth)
                nearer = emit.builder.and_(emit.compare(here, ">", level), emit.compare(here, "<", emit.load(next_)))
                emit.store(emit.select(nearer, here, emit.load(next_)), next_)
        for cell, place in ((count, Sweep.COUNT), (depth, Sweep.DEPTH), (next_, Sweep.NEXT)):
            emit.store(emit.load(cell), sweep, place)
        emit.give()

    def _define_compact(self, module: Value) -> None:
        """compact(shared, sweep): discards the states numbered below END at or below LEVEL; the others move together.

        COUNT: how many are left.
        """
        emit = define(module, "compact", [POINTER, POINTER], VOID, internal=False)
        shared, sweep = emit.function.args
        states, parents = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.PARENTS)
        level, count = emit.load(sweep, Sweep.LEVEL), emit.reserve(1)
        emit.store(0, count)
        with emit.each(0, emit.load(sweep, Sweep.END)) as number:
            noted = emit.load32(parents, number)
            further = emit.compare(emit.both(noted, _LEVEL), ">", level)
            with emit.when(emit.builder.and_(emit.compare(noted, "!=", HOLE), further)):
                source, target = self._row(emit, states, number), self._row(emit, states, emit.load(count))
                for at in range(self.layout.words):
                    emit.store(emit.load(source, at), target, at)
                emit.store32(noted, parents, emit.load(count))
                emit.store(emit.add(emit.load(count), 1), count)
        emit.store(emit.load(count), sweep, Sweep.COUNT)
        emit.give()
