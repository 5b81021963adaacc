"""Code of the store: states in the order in which they are found, and an index of their numbers by hash.

The index is at most half full, and holds numbers plus one, so no state can be mistaken for a free place. Bits
that such a number leaves free hold some bits of the hash, so most different states are told apart without reading
them; the others are compared in full. A successor first waits in a ring. When it enters, its place in the index is
prefetched; half a round later the state in that place; a full round later it is looked up, with both in the cache.
Threads claim places by compare-and-swap, and take numbers in blocks; a number that stays unused is a hole.
"""

from __future__ import annotations

from typing import ClassVar

from thence.proofs.native.code.assembly import I32, I64, POINTER, VOID
from thence.proofs.native.code.canonical import Canonical
from thence.proofs.native.code.cells import BLOCK, HOLE, RING, Own, Shared
from thence.proofs.native.code.emit import NOTHING, TRUE, Emitter, Value, define
from thence.proofs.native.code.hashing import hash_of
from thence.proofs.native.code.recent import give_if_recent
from thence.proofs.native.code.sifting import define_sift
from thence.proofs.native.layout import Layout


class Store:
    """Defines the functions of the store in a module."""

    skips_recent = True
    """Whether successors that were found recently need not be looked up again."""

    passes: ClassVar[tuple[str, ...]] = ()
    """Functions (shared, cells) that pass over the states, by name."""

    def __init__(self, module: Value, layout: Layout) -> None:
        self.layout = layout
        self.stride = layout.words + 2
        self.canonical = Canonical(module, layout) if layout.group else None
        self.finish = self._define_finish(module)
        self.push = self._define_push(module)
        self.flush = self._define_flush(module)
        self._define_rehash(module)
        define_sift(module, layout)

    def _words_at(self, emit: Emitter, place: Value) -> list[Value]:
        return [emit.load(place, at) for at in range(self.layout.words)]

    def _row(self, emit: Emitter, states: Value, number: Value) -> Value:
        return emit.place(states, emit.mul(number, self.layout.words))

    def _entry(self, emit: Emitter, number: Value, mixed: Value, mask: Value) -> Value:
        """The index's entry of a state: its number plus one, and above that bits of its hash."""
        return emit.either(emit.add(number, 1), self._tag(emit, mixed, mask))

    def _tag(self, emit: Emitter, mixed: Value, mask: Value) -> Value:
        return emit.both(emit.down(mixed, 32), emit.differing(mask, (1 << 32) - 1))

    def _define_finish(self, module: Value) -> Value:
        """finish(shared, own, slot): looks up the successor in that place of the ring; a new one gets a number."""
        emit = define(module, "finish", [POINTER, POINTER, I64], VOID, internal=True)
        shared, own, slot = emit.function.args
        entry = emit.place(emit.pointer(own, Own.RING_BASE), emit.mul(slot, self.stride))
        words = self._words_at(emit, entry)
        states, index = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.INDEX)
        mask, place = emit.load(shared, Shared.SLOTS_MASK), emit.reserve(1)
        mixed = emit.load(entry, self.layout.words)
        tag = self._tag(emit, mixed, mask)
        emit.store(emit.both(mixed, mask), place)
        builder = emit.builder
        with emit.repeat(lambda: TRUE):
            cell = emit.place(index, emit.load(place), I32)
            seen = emit.reserve(1)
            emit.store(builder.zext(builder.load_atomic(cell, "acquire", 4, I32), I64), seen)
            with emit.when(emit.compare(emit.load(seen), "==", 0)):
                with emit.when(emit.compare(emit.load(own, Own.NEXT), "==", emit.load(own, Own.LAST)), likely=False):
                    self._take_block(emit, shared, own)
                fresh = emit.load(own, Own.NEXT)
                row = self._row(emit, states, fresh)
                for at, word in enumerate(words):
                    emit.store(word, row, at)
                self._note(emit, shared, own, entry, fresh)
                claimed = builder.trunc(self._entry(emit, fresh, mixed, mask), I32)
                there, is_ours = builder.cmpxchg(cell, NOTHING, claimed, "acq_rel", "acquire")
                with emit.when(is_ours):
                    emit.store(emit.add(fresh, 1), own, Own.NEXT)
                    emit.give()
                emit.store32(HOLE, emit.pointer(shared, Shared.PARENTS), fresh)
                emit.store(builder.zext(there, I64), seen)
            known = emit.differing(emit.load(seen), tag)
            with emit.when(emit.compare(known, "<=", mask)):
                row = self._row(emit, states, emit.sub(known, 1))
                with emit.when(self._same(emit, words, row)):
                    self._meet(emit, shared, entry, emit.sub(known, 1))
                    emit.give()
            emit.store(emit.both(emit.add(emit.load(place), 1), mask), place)
        builder.unreachable()
        return emit.function

    def _note(self, emit: Emitter, shared: Value, own: Value, entry: Value, number: Value) -> None:
        """Notes the parent of a new state; the state is in the ring at `entry`."""
        parent = emit.load(entry, self.layout.words + 1)
        emit.store32(parent, emit.pointer(shared, Shared.PARENTS), number)

    def _meet(self, emit: Emitter, shared: Value, entry: Value, number: Value) -> None:
        """A state that is known was reached again."""

    def _take_block(self, emit: Emitter, shared: Value, own: Value) -> None:
        """Numbers for the next states of this thread; each is a hole until it is used."""
        count = emit.place(shared, Shared.COUNT)
        first = emit.builder.atomic_rmw("add", count, emit.number(BLOCK), "monotonic")
        last = emit.add(first, BLOCK)
        emit.store(first, own, Own.NEXT)
        emit.store(last, own, Own.LAST)
        with emit.each(first, last) as number:
            emit.store32(HOLE, emit.pointer(shared, Shared.PARENTS), number)

    def _same(self, emit: Emitter, words: list[Value], row: Value) -> Value:
        difference: Value = emit.number(0)
        for at, word in enumerate(words):
            difference = emit.either(difference, emit.differing(word, emit.load(row, at)))
        return emit.compare(difference, "==", 0)

    def _define_push(self, module: Value) -> Value:
        """push(shared, own, words, parent): a successor enters the ring, and the oldest one leaves it."""
        emit = define(module, "push", [POINTER, POINTER, POINTER, I64], VOID, internal=True)
        shared, own, state, parent = emit.function.args
        if self.canonical is not None:
            if self.skips_recent:
                give_if_recent(emit, emit.pointer(own, Own.RECENT), self._words_at(emit, state))
            emit.builder.call(self.canonical.settle, [shared, state])
        words = self._words_at(emit, state)
        if self.skips_recent:
            give_if_recent(emit, emit.pointer(own, Own.RECENT_SETTLED), words)
        at = emit.load(own, Own.RING_AT)
        slot = emit.both(at, RING - 1)
        with emit.when(emit.compare(at, ">=", RING)):
            emit.builder.call(self.finish, [shared, own, slot])
        ring = emit.pointer(own, Own.RING_BASE)
        entry = emit.place(ring, emit.mul(slot, self.stride))
        for number, word in enumerate(words):
            emit.store(word, entry, number)
        mixed = hash_of(emit, words)
        emit.store(mixed, entry, self.layout.words)
        emit.store(parent, entry, self.layout.words + 1)
        index, mask = emit.pointer(shared, Shared.INDEX), emit.load(shared, Shared.SLOTS_MASK)
        emit.prefetch(index, emit.both(mixed, mask), I32)
        with emit.when(emit.compare(at, ">=", RING // 2)):
            middle = emit.place(ring, emit.mul(emit.both(emit.sub(at, RING // 2), RING - 1), self.stride))
            self._ask_for_row(emit, shared, emit.load(middle, self.layout.words))
        emit.store(emit.add(at, 1), own, Own.RING_AT)
        emit.give()
        return emit.function

    def _ask_for_row(self, emit: Emitter, shared: Value, mixed: Value) -> None:
        """Prefetches the state in the place of the index to which this hash belongs."""
        index, mask = emit.pointer(shared, Shared.INDEX), emit.load(shared, Shared.SLOTS_MASK)
        there = emit.load32(index, emit.both(mixed, mask))
        known = emit.differing(there, self._tag(emit, mixed, mask))
        with emit.when(emit.compare(emit.sub(known, 1), "<", mask)):
            row = self._row(emit, emit.pointer(shared, Shared.STATES), emit.sub(known, 1))
            for at in {0, self.layout.words - 1}:
                emit.prefetch(row, at)

    def _define_flush(self, module: Value) -> Value:
        """flush(shared, own): everything leaves the ring."""
        emit = define(module, "flush", [POINTER, POINTER], VOID, internal=True)
        shared, own = emit.function.args
        end = emit.load(own, Own.RING_AT)
        start = emit.select(emit.compare(end, ">=", RING), emit.sub(end, RING), 0)
        with emit.each(start, end) as at:
            emit.builder.call(self.finish, [shared, own, emit.both(at, RING - 1)])
        emit.store(0, own, Own.RING_AT)
        emit.give()
        return emit.function

    def _define_rehash(self, module: Value) -> None:
        """rehash(shared, start, end): enters the states with these numbers, which differ, into the index.

        Threads may enter different states at the same time.
        """
        emit = define(module, "rehash", [POINTER, I64, I64], VOID, internal=False)
        shared, start, end = emit.function.args
        states, parents = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.PARENTS)
        index, mask = emit.pointer(shared, Shared.INDEX), emit.load(shared, Shared.SLOTS_MASK)
        ahead = 16

        def mixed_of(number: Value) -> Value:
            row = self._row(emit, states, number)
            return hash_of(emit, self._words_at(emit, row))

        with emit.each(start, end) as number:
            later = emit.add(number, ahead)
            later = emit.select(emit.compare(later, "<", end), later, number)
            emit.prefetch(index, emit.both(mixed_of(later), mask), I32)
            with emit.when(emit.compare(emit.load32(parents, number), "!=", HOLE)):
                place = emit.reserve(1)
                mixed = mixed_of(number)
                emit.store(emit.both(mixed, mask), place)
                entered = emit.builder.trunc(self._entry(emit, number, mixed, mask), I32)

                def taken() -> Value:
                    cell = emit.place(index, emit.load(place), I32)
                    _, is_free = emit.builder.cmpxchg(cell, NOTHING, entered, "monotonic", "monotonic")
                    return emit.builder.not_(is_free)

                with emit.repeat(taken):
                    emit.store(emit.both(emit.add(emit.load(place), 1), mask), place)
        emit.give()
