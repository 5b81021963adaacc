"""Code of the store for a search whose states are in files: it passes over rows, which are packed states side by side.

Rows are told apart in parts by bits of their hash that the index does not use. The store itself holds a part of a
level at a time, so what was found recently may not be in it any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thence.proofs.native.code.assembly import I32, POINTER, VOID
from thence.proofs.native.code.cells import HOLE, NEVER, Pass, Shared
from thence.proofs.native.code.emit import Emitter, Value, define
from thence.proofs.native.code.hashing import hash_of
from thence.proofs.native.code.store import Store

PART_SHIFT = 48
"""The bits of a hash from here on tell parts apart: 65,536 of them at most."""

_AHEAD = 16


class DiskStore(Store):
    """Defines the functions of the store in a module, and those that pass over rows."""

    skips_recent = False
    passes = ("tally", "deal", "enter", "strike")

    def _define_rehash(self, module: Value) -> None:
        Store._define_rehash(self, module)
        self._define_tally(module)
        self._define_deal(module)
        self._define_enter(module)
        self._define_strike(module)

    def _part(self, emit: Emitter, cells: Value, row: Value) -> Value:
        mixed = hash_of(emit, self._words_at(emit, row))
        return emit.both(emit.down(mixed, PART_SHIFT), emit.load(cells, Pass.MASK))

    @contextmanager
    def _states(self, emit: Emitter, cells: Value, parents: Value) -> Iterator[Value]:
        """The number of each state from START to END."""
        start, end = emit.load(cells, Pass.START), emit.load(cells, Pass.END)
        with emit.each(start, end) as number, emit.when(emit.compare(emit.load32(parents, number), "!=", HOLE)):
            yield number

    def _define_tally(self, module: Value) -> None:
        """tally(shared, cells): adds to COUNTS how many of the states from START to END are in each part."""
        emit = define(module, "tally", [POINTER, POINTER], VOID, internal=False)
        shared, cells = emit.function.args
        states, parents = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.PARENTS)
        counts = emit.pointer(cells, Pass.COUNTS)
        with self._states(emit, cells, parents) as number:
            part = self._part(emit, cells, self._row(emit, states, number))
            emit.store(emit.add(emit.load(counts, part), 1), counts, part)
        emit.give()

    def _define_deal(self, module: Value) -> None:
        """deal(shared, cells): copies the states from START to END to ROWS, each to the place of its part in PLACES,
        which goes on by one."""
        emit = define(module, "deal", [POINTER, POINTER], VOID, internal=False)
        shared, cells = emit.function.args
        states, parents = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.PARENTS)
        places, rows = emit.pointer(cells, Pass.PLACES), emit.pointer(cells, Pass.ROWS)
        with self._states(emit, cells, parents) as number:
            row = self._row(emit, states, number)
            part = self._part(emit, cells, row)
            target = self._row(emit, rows, emit.load(places, part))
            for at, word in enumerate(self._words_at(emit, row)):
                emit.store(word, target, at)
            emit.store(emit.add(emit.load(places, part), 1), places, part)
        emit.give()

    def _define_enter(self, module: Value) -> None:
        """enter(shared, cells): puts the rows into the store; those that are there get no second number."""
        emit = define(module, "enter", [POINTER, POINTER], VOID, internal=False)
        shared, cells = emit.function.args
        rows, own = emit.pointer(cells, Pass.ROWS), emit.pointer(cells, Pass.OWN)
        with emit.each(0, emit.load(cells, Pass.COUNT)) as at:
            emit.builder.call(self.push, [shared, own, self._row(emit, rows, at), emit.number(0)])
        emit.builder.call(self.flush, [shared, own])
        emit.give()

    def _define_strike(self, module: Value) -> None:
        """strike(shared, cells): looks the rows up in the store. With STRIKES, those that are there become holes."""
        emit = define(module, "strike", [POINTER, POINTER], VOID, internal=False)
        shared, cells = emit.function.args
        builder = emit.builder
        states, parents = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.PARENTS)
        index, mask = emit.pointer(shared, Shared.INDEX), emit.load(shared, Shared.SLOTS_MASK)
        rows, count = emit.pointer(cells, Pass.ROWS), emit.load(cells, Pass.COUNT)
        striking, met = emit.nonzero(emit.load(cells, Pass.STRIKES)), emit.reserve(1)
        place, seen, over = emit.reserve(1), emit.reserve(1), emit.reserve(1)
        emit.store(NEVER, met)
        with emit.each(0, count) as at:
            later = emit.add(at, _AHEAD)
            later = emit.select(emit.compare(later, "<", count), later, at)
            ahead = hash_of(emit, self._words_at(emit, self._row(emit, rows, later)))
            emit.prefetch(index, emit.both(ahead, mask), I32)
            words = self._words_at(emit, self._row(emit, rows, at))
            mixed = hash_of(emit, words)
            tag = self._tag(emit, mixed, mask)
            emit.store(emit.both(mixed, mask), place)
            emit.store(0, over)

            def searching() -> Value:
                emit.store(emit.load32(index, emit.load(place)), seen)
                return builder.and_(emit.nonzero(emit.load(seen)), emit.compare(emit.load(over), "==", 0))

            with emit.repeat(searching):
                known = emit.differing(emit.load(seen), tag)
                with emit.when(emit.compare(known, "<=", mask)):
                    number = emit.sub(known, 1)
                    with emit.when(self._same(emit, words, self._row(emit, states, number))):
                        emit.store(1, over)
                        emit.store(number, met)
                        with emit.when(striking):
                            emit.store32(HOLE, parents, number)
                emit.store(emit.both(emit.add(emit.load(place), 1), mask), place)
        emit.store(emit.load(met), cells, Pass.MET)
        emit.give()
