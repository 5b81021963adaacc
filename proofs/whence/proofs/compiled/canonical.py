"""Code that replaces a packed state by the one that stands for all its renamings.

Each process has a signature that renaming does not change: how much it sent, the class of its local state, how much it
has still to deliver and knows of. Permutations that do not put the signatures into the least order are out; among
the others, mostly one, the least words decide. Signatures that descend are in that order as they are.
"""

from __future__ import annotations

from itertools import combinations, pairwise

from llvmlite import ir

from whence.proofs.compiled.cells import Shared
from whence.proofs.compiled.emit import FALSE, I64, POINTER, TRUE, VOID, Emitter, Value, define
from whence.proofs.compiled.layout import WORD, Layout
from whence.proofs.compiled.packed import Packed, position_on_network
from whence.proofs.compiled.symmetry import Permutation

_COUNT_BITS = 7
"""A set of messages has at most 64."""


class Canonical:
    """Defines `settle`, which works in place, in a module."""

    def __init__(self, module: Value, layout: Layout) -> None:
        self.layout = layout
        self.shape = layout.shape
        self.permute = self._define_permute(module)
        self.rename = self._define_rename(module)
        self.settle = self._define_settle(module)

    def _places(self, emit: Emitter) -> Value:
        """For each permutation and process, the mask bit of the first message of the renamed process."""
        values = [self.shape.bases[name] for permutation in self.layout.group for name in permutation]
        return emit.table(values, "places")

    def _define_permute(self, module: Value) -> Value:
        """permute(mask, number): a set of messages under the permutation of that number."""
        emit = define(module, "permute", [I64, I64], I64, internal=True)
        mask, number = emit.function.args
        shape, moved = self.shape, emit.number(0)
        first = emit.mul(number, shape.processes)
        for process, count in enumerate(shape.sends):
            part = emit.both(emit.down(mask, shape.bases[process]), (1 << count) - 1) if count else emit.number(0)
            place = emit.load(self._places(emit), emit.add(first, process))
            if count:
                moved = emit.either(moved, emit.up(part, place))
        emit.give(moved)
        return emit.function

    def _define_rename(self, module: Value) -> Value:
        """rename(shared, words, into, number): the state under the permutation of that number."""
        emit = define(module, "rename", [POINTER, POINTER, POINTER, I64], VOID, internal=True)
        shared, words, into, number = emit.function.args
        shape, capacity = self.shape, self.layout.capacity
        old, new = Packed(emit, self.layout, words), Packed(emit, self.layout, into)
        for at in range(self.layout.words):
            emit.store(0, into, at)

        def permuted(mask: Value) -> Value:
            return emit.builder.call(self.permute, [mask, number])

        names = emit.table([name for permutation in self.layout.group for name in permutation], "names")
        first = emit.mul(number, shape.processes)
        renamed = emit.pointer(shared, Shared.RENAMED_LOCALS)
        row = emit.up(number, capacity.local_bits)
        with emit.each(0, shape.processes) as process:
            name = emit.load(names, emit.add(first, process))
            local = emit.load32(renamed, emit.add(row, old.read("locals", process)))
            new.join("locals", name, local)
            for field in ("sends", "ticks"):
                if old.has(field):
                    new.join(field, name, old.read(field, process))
            for field in ("pasts", "due", "addressed"):
                if old.has(field):
                    new.join(field, name, permuted(old.read(field, process)))
        for field in ("duplicates", "losses"):
            if old.has(field):
                new.join(field, 0, old.read(field, 0))
        self._rename_messages(emit, old, new, number, permuted)
        self._rename_network(emit, shared, old, new, number)
        emit.give()
        return emit.function

    def _rename_messages(self, emit: Emitter, old: Packed, new: Packed, number: Value, permuted: Value) -> None:
        shape = self.shape
        values = [
            shape.bases[permutation[process]] + nth
            for permutation in self.layout.group
            for process in range(shape.processes)
            for nth in range(shape.sends[process])
        ]
        bits = emit.table(values, "bits")
        first = emit.mul(number, shape.messages)
        with emit.each(0, shape.messages) as message:
            for field in ("pastof", "order"):
                if old.has(field):
                    mask = old.read(field, message)
                    with emit.when(emit.nonzero(mask)):
                        new.join(field, emit.load(bits, emit.add(first, message)), permuted(mask))

    def _rename_network(self, emit: Emitter, shared: Value, old: Packed, new: Packed, number: Value) -> None:
        held = emit.reserve(self.layout.slots)
        count = old.unpack_network(held)
        renamed = emit.pointer(shared, Shared.RENAMED_PACKETS)
        row = emit.up(number, self.layout.capacity.packet_bits)
        with emit.each(0, count) as at:
            packet = emit.load32(renamed, emit.add(row, emit.load(held, at)))
            new.put_packet(packet, position_on_network(emit, shared, new, packet))

    def _define_settle(self, module: Value) -> Value:
        """settle(shared, words): the least renaming takes the state's place."""
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
        orders = [self._order(emit, signatures, permutation) for permutation in self.layout.group]
        least, number = orders[0], emit.number(0)
        for at, order in enumerate(orders[1:], 1):
            less = builder.icmp_unsigned("<", order, least)
            least, number = builder.select(less, order, least), emit.select(less, at, number)
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
        ties = [builder.icmp_unsigned("==", order, least) for order in orders]
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
        """What renaming does not change about a process: `sends` first, so that few steps change the order."""
        signature: Value = emit.number(0)
        if state.has("sends"):
            signature = state.read("sends", process)
        kind = emit.load32(emit.pointer(shared, Shared.CLASSES), state.read("locals", process))
        signature = emit.either(emit.up(signature, self.layout.capacity.local_bits), kind)
        for field in ("due", "pasts"):
            if state.has(field):
                signature = emit.either(emit.up(signature, _COUNT_BITS), emit.ones(state.read(field, process)))
        return signature

    def _order(self, emit: Emitter, signatures: list[Value], permutation: Permutation) -> Value:
        """The signatures in the order in which a permutation puts them, as one number."""
        kind = ir.IntType(WORD * len(signatures))
        order: Value = ir.Constant(kind, 0)
        for signature, name in zip(signatures, permutation, strict=True):
            wide = emit.builder.shl(emit.builder.zext(signature, kind), ir.Constant(kind, WORD * name))
            order = emit.builder.or_(order, wide)
        return order

    def _less(self, emit: Emitter, left: Value, right: Value) -> Value:
        less: Value = ir.Constant(ir.IntType(1), 0)
        for at in reversed(range(self.layout.words)):
            one, two = emit.load(left, at), emit.load(right, at)
            further = emit.builder.and_(emit.compare(one, "==", two), less)
            less = emit.builder.or_(emit.compare(one, "<", two), further)
        return less
