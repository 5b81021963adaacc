"""Code that replaces a packed state by the representative of all its renamings.

Each process has a signature that renaming does not change: how many messages it has sent, the class of its local state,
how many messages it has still to deliver, and how many it knows of. Only permutations that put the signatures into
the least order are considered, mostly one; among several, the least words decide. Descending signatures are in that
order already.
"""

from __future__ import annotations

from itertools import combinations, pairwise

from thence.proofs.native.code.assembly import I64, POINTER, VOID
from thence.proofs.native.code.cells import Shared
from thence.proofs.native.code.emit import FALSE, TRUE, Emitter, Value, define
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.layout import WORD, Layout
from thence.proofs.native.symmetry import Permutation, inverse

_COUNT_BITS = 7
"""A set of messages has at most 64."""


class Canonical:
    """Defines `settle`, which works in place, in a module."""

    def __init__(self, module: Value, layout: Layout) -> None:
        self.layout = layout
        self.shape = layout.shape
        self.rename = self._define_rename(module)
        self.settle = self._define_settle(module)

    def _define_rename(self, module: Value) -> Value:
        """rename(shared, words, into, number): the state under the permutation of that number."""
        emit = define(module, "rename", [POINTER, POINTER, POINTER, I64], VOID, internal=True)
        shared, words, into, number = emit.function.args
        layout, count = self.layout, self.shape.processes
        old = Packed(emit, layout, words)
        turned = Packed(emit, layout, emit.reserve(layout.words))
        self._turn_masks(emit, old, turned, number)
        new: list[Value] = [emit.number(0)] * layout.words

        def put(field: str, at: int, value: Value) -> None:
            word, shift = list(layout.fields[field].places())[at]
            new[word] = emit.either(new[word], emit.up(value, shift))

        sources = emit.table([at for permutation in layout.group for at in inverse(permutation)], "sources")
        renamed, row = emit.pointer(shared, Shared.RENAMED_LOCALS), emit.up(number, layout.capacity.local_bits)
        for at in range(count):
            source = emit.load(sources, emit.add(emit.mul(number, count), at))
            put("locals", at, emit.load32(renamed, emit.add(row, old.read("locals", source))))
            for timer in range(len(self.shape.counted)) if old.has("ticks") else ():
                put("ticks", timer * count + at, old.read("ticks", emit.add(source, timer * count)))
            for held, fields in ((old, ("sends",)), (turned, ("pasts", "due", "addressed", "overtaken"))):
                for field in filter(held.has, fields):
                    put(field, at, held.read(field, source))
        for field in filter(old.has, ("duplicates", "losses")):
            put(field, 0, old.read(field, 0))
        messages = [at for permutation in layout.group for at in self._messages(inverse(permutation))]
        origins = emit.table(messages, "origins") if messages else None
        for at in range(self.shape.messages):
            origin = emit.load(origins, emit.add(emit.mul(number, self.shape.messages), at))
            for field in filter(turned.has, ("pastof", "order")):
                put(field, at, turned.read(field, origin))
        arranged = self._rename_network(emit, shared, old, number)
        for at in range(layout.slots):
            put("network", at, emit.load(arranged, at))
        for at, word in enumerate(new):
            emit.store(word, into, at)
        emit.give()
        return emit.function

    def _messages(self, sources: Permutation) -> list[int]:
        """For each message, the one that takes its name, where each process takes the name of its source."""
        bases, sends = self.shape.bases, self.shape.sends
        return [bases[source] + nth for process, source in enumerate(sources) for nth in range(sends[process])]

    def _turn_masks(self, emit: Emitter, old: Packed, turned: Packed, number: Value) -> None:
        """Renames the messages in all sets of messages, word by word, the messages of one sender at a time."""
        shape, layout = self.shape, self.layout
        masks = [layout.fields[name] for name in ("pasts", "due", "addressed", "overtaken", "pastof", "order")]
        shifts = [
            (shape.bases[name] - shape.bases[process]) % WORD
            for permutation in layout.group
            for process, name in enumerate(permutation)
        ]
        by = [
            emit.load(emit.table(shifts, "shifts"), emit.add(emit.mul(number, shape.processes), process))
            for process in range(shape.processes)
        ]
        for word in sorted({run.word for field in masks for run in field.runs}):
            splat = sum(field.splat(word) for field in masks)
            moved: Value = emit.number(0)
            for process, count in enumerate(shape.sends):
                own = splat * ((1 << count) - 1) << shape.bases[process]
                moved = emit.either(moved, emit.turn(emit.both(old.word(word), own), by[process]))
            emit.store(moved, turned.words, word)

    def _rename_network(self, emit: Emitter, shared: Value, old: Packed, number: Value) -> Value:
        """The packets' numbers under the permutation, in the order in which states have them, then zeros."""
        slots = self.layout.slots
        held, keys, arranged = emit.reserve(slots), emit.reserve(slots), emit.reserve(slots)
        count = old.unpack_network(held)
        renamed, packets = emit.pointer(shared, Shared.RENAMED_PACKETS), emit.pointer(shared, Shared.PACKETS)
        row = emit.up(number, self.layout.capacity.packet_bits)
        for at in range(slots):
            emit.store(0, arranged, at)
        with emit.each(0, count) as at:
            packet = emit.load32(renamed, emit.add(row, emit.load(held, at)))
            emit.store(packet, held, at)
            key = emit.down(emit.load(packets, packet), 32) if self.shape.fifo else emit.inverse(packet)
            emit.store(key, keys, at)
            place, later = emit.reserve(1), emit.load(keys, at)
            emit.store(0, place)
            with emit.each(0, at) as other:
                above = emit.word_of_truth(emit.compare(emit.load(keys, other), ">", later))
                emit.store(emit.add(emit.load(place), above), place)
            self._insert(emit, arranged, emit.sub(at, emit.load(place)), at, packet)
        return arranged

    def _insert(self, emit: Emitter, array: Value, at: Value, end: Value, value: Value) -> None:
        """Makes room at a position of an array that has elements up to `end`."""
        moving = emit.reserve(1)
        emit.store(end, moving)
        with emit.repeat(lambda: emit.compare(emit.load(moving), ">", at)):
            current = emit.load(moving)
            emit.store(emit.load(array, emit.sub(current, 1)), array, current)
            emit.store(emit.sub(current, 1), moving)
        emit.store(value, array, at)

    def _define_settle(self, module: Value) -> Value:
        """settle(shared, words): replaces the state by its least renaming."""
        emit = define(module, "settle", [POINTER, POINTER], VOID, internal=True)
        shared, words = emit.function.args
        builder, count = emit.builder, self.shape.processes
        state = Packed(emit, self.layout, words)
        signatures = [self._signature(emit, shared, state, process) for process in range(count)]
        in_order: Value = TRUE
        for one, next_ in pairwise(signatures):
            in_order = builder.and_(in_order, emit.compare(one, ">", next_))
        with emit.when(in_order):
            emit.give()
        best, other = emit.reserve(self.layout.words), emit.reserve(self.layout.words)
        orders = [self._order(signatures, permutation) for permutation in self.layout.group]
        least, number = orders[0], emit.number(0)
        for at, order in enumerate(orders[1:], 1):
            less = self._before(emit, order, least)
            least = [emit.select(less, one, other) for one, other in zip(order, least, strict=True)]
            number = emit.select(less, at, number)
        tied: Value = FALSE
        for one, two in combinations(signatures, 2):
            tied = builder.or_(tied, emit.compare(one, "==", two))
        with emit.when(builder.not_(tied)):
            with emit.when(emit.compare(number, "==", 0)):
                emit.give()
            builder.call(self.rename, [shared, words, best, number])
            Packed(emit, self.layout, best).copy_to(state)
            emit.give()
        for at in range(self.layout.words):
            emit.store((1 << WORD) - 1, best, at)
        ties = [self._alike(emit, order, least) for order in orders]
        left = emit.reserve(1)
        for start in range(0, len(ties), WORD):
            mask: Value = emit.number(0)
            for at, tie in enumerate(ties[start : start + WORD]):
                mask = emit.either(mask, emit.up(emit.word_of_truth(tie), at))
            emit.store(mask, left)
            with emit.repeat(lambda: emit.nonzero(emit.load(left))):
                rest = emit.load(left)
                number = emit.add(start, emit.ones(emit.both(emit.sub(rest, 1), emit.inverse(rest))))
                builder.call(self.rename, [shared, words, other, number])
                with emit.when(self._less(emit, other, best)):
                    Packed(emit, self.layout, other).copy_to(Packed(emit, self.layout, best))
                emit.store(emit.both(rest, emit.sub(rest, 1)), left)
        Packed(emit, self.layout, best).copy_to(state)
        emit.give()
        return emit.function

    def _signature(self, emit: Emitter, shared: Value, state: Packed, process: int) -> Value:
        """The signature of a process: `sends` comes first, so that few steps change the order."""
        signature: Value = emit.number(0)
        if state.has("sends"):
            signature = state.read("sends", process)
        kind = emit.load32(emit.pointer(shared, Shared.CLASSES), state.read("locals", process))
        signature = emit.either(emit.up(signature, self.layout.capacity.local_bits), kind)
        for field in ("due", "pasts"):
            if state.has(field):
                signature = emit.either(emit.up(signature, _COUNT_BITS), emit.ones(state.read(field, process)))
        return signature

    def _order(self, signatures: list[Value], permutation: Permutation) -> list[Value]:
        """The signatures as a permutation puts them; the last one counts most."""
        return [signatures[source] for source in inverse(permutation)]

    def _before(self, emit: Emitter, one: list[Value], other: list[Value]) -> Value:
        """Whether the first order is less than the second."""
        less: Value = FALSE
        for left, right in zip(one, other, strict=True):
            if left is not right:
                further = emit.builder.and_(emit.compare(left, "==", right), less)
                less = emit.builder.or_(emit.compare(left, "<", right), further)
        return less

    def _alike(self, emit: Emitter, one: list[Value], other: list[Value]) -> Value:
        """Whether the orders are the same."""
        alike: Value = TRUE
        for left, right in zip(one, other, strict=True):
            alike = emit.builder.and_(alike, emit.compare(left, "==", right))
        return alike

    def _less(self, emit: Emitter, left: Value, right: Value) -> Value:
        less: Value = FALSE
        for at in reversed(range(self.layout.words)):
            one, two = emit.load(left, at), emit.load(right, at)
            further = emit.builder.and_(emit.compare(one, "==", two), less)
            less = emit.builder.or_(emit.compare(one, "<", two), further)
        return less
