"""A store that keeps 64 bits of each state, and in full only those that are still to be expanded.

The index holds fingerprints. A state whose fingerprint is there counts as known: it may be another one.
"""

from __future__ import annotations

from llvmlite import ir

from thence.proofs.native.code.cells import Own, Shared
from thence.proofs.native.code.emit import I64, POINTER, VOID, Emitter, Value, define
from thence.proofs.native.code.hashing import fingerprint_of
from thence.proofs.native.code.store import Store


class FingerprintStore(Store):
    """Defines the functions of such a store in a module."""

    slot = I64
    hash_of = staticmethod(fingerprint_of)

    def _ask_for_row(self, emit: Emitter, shared: Value, mixed: Value) -> None:
        """What the index has is enough."""

    def _define_finish(self, module: Value) -> Value:
        """finish(shared, own, slot): looks the successor in that place of the ring up; new ones are numbered."""
        emit = define(module, "finish", [POINTER, POINTER, I64], VOID, internal=True)
        shared, own, slot = emit.function.args
        entry = emit.place(emit.pointer(own, Own.RING_BASE), emit.mul(slot, self.stride))
        mixed = emit.load(entry, self.layout.words)
        with emit.when(self._enter(emit, shared, mixed)):
            with emit.when(emit.compare(emit.load(own, Own.NEXT), "==", emit.load(own, Own.LAST)), likely=False):
                self._take_block(emit, shared, own)
            fresh = emit.load(own, Own.NEXT)
            row = self._row(emit, emit.pointer(shared, Shared.STATES), fresh)
            for at, word in enumerate(self._words_at(emit, entry)):
                emit.store(word, row, at)
            self._note(emit, shared, own, entry, fresh)
            emit.store(emit.add(fresh, 1), own, Own.NEXT)
        emit.give()
        return emit.function

    def _enter(self, emit: Emitter, shared: Value, mixed: Value) -> Value:
        """Enters a fingerprint into the index; whether it was not there."""
        builder = emit.builder
        index, mask = emit.pointer(shared, Shared.INDEX), emit.load(shared, Shared.SLOTS_MASK)
        place, seen, searching = emit.reserve(1), emit.reserve(1), emit.reserve(1)
        emit.store(emit.both(mixed, mask), place)
        emit.store(1, searching)
        with emit.repeat(lambda: emit.nonzero(emit.load(searching))):
            cell = emit.place(index, emit.load(place))
            emit.store(builder.load_atomic(cell, "monotonic", 8, typ=I64), seen)
            with emit.when(emit.compare(emit.load(seen), "==", 0)):
                answer = builder.cmpxchg(cell, ir.Constant(I64, 0), mixed, "monotonic", "monotonic")
                emit.store(builder.extract_value(answer, 0), seen)
            emit.store(emit.both(emit.add(emit.load(place), 1), mask), place)
            known = emit.load(seen)
            over = builder.or_(emit.compare(known, "==", 0), emit.compare(known, "==", mixed))
            emit.store(emit.word_of_truth(builder.not_(over)), searching)
        return emit.compare(emit.load(seen), "==", 0)

    def _define_rehash(self, module: Value) -> None:
        """rehash(shared, start, end): enters what is at these places of the OLD index into the index.

        If there is no OLD one: the fingerprints of the states with these numbers.
        """
        emit = define(module, "rehash", [POINTER, I64, I64], VOID, internal=False)
        shared, start, end = emit.function.args
        old, states = emit.pointer(shared, Shared.OLD), emit.pointer(shared, Shared.STATES)
        builder, mixed = emit.builder, emit.reserve(1)
        with emit.each(start, end) as at:
            with builder.if_else(emit.nonzero(emit.load(shared, Shared.OLD))) as (again, first):
                with again:
                    emit.store(emit.load(old, at), mixed)
                with first:
                    row = self._row(emit, states, at)
                    emit.store(fingerprint_of(emit, self._words_at(emit, row)), mixed)
            with emit.when(emit.nonzero(emit.load(mixed))):
                self._enter(emit, shared, emit.load(mixed))
        emit.give()
