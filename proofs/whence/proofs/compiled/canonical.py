"""Code that replaces a packed state by the one that stands for all its renamings.

Each process has a signature that renaming does not change: the class of its local state and how much it sent.
Permutations that do not put the signatures into the least order are out; among the others, mostly one, the
least words decide.
"""

from __future__ import annotations

from llvmlite import ir

from whence.proofs.compiled.cells import Shared
from whence.proofs.compiled.emit import I64, POINTER, VOID, Emitter, Value, define
from whence.proofs.compiled.layout import WORD, Layout
from whence.proofs.compiled.packed import Packed, position_on_network

_FACTOR = 0x9E3779B97F4A7C15


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
        state = Packed(emit, self.layout, words)
        group, width = self.layout.group, WORD // self.shape.processes
        signatures = [self._signature(emit, shared, state, process, width) for process in range(self.shape.processes)]
        orders, least = emit.reserve(len(group)), emit.number((1 << WORD) - 1)
        for at, permutation in enumerate(group):
            order: Value = emit.number(0)
            for process, name in enumerate(permutation):
                order = emit.either(order, emit.up(signatures[process], name * width))
            emit.store(order, orders, at)
            least = emit.select(emit.compare(order, "<", least), order, least)
        best, other = emit.reserve(self.layout.words), emit.reserve(self.layout.words)
        for at in range(self.layout.words):
            emit.store((1 << WORD) - 1, best, at)
        with emit.each(0, len(group)) as number, emit.when(emit.compare(emit.load(orders, number), "==", least)):
            emit.builder.call(self.rename, [shared, words, other, number])
            with emit.when(self._less(emit, other, best)):
                Packed(emit, self.layout, other).copy_to(Packed(emit, self.layout, best))
        Packed(emit, self.layout, best).copy_to(state)
        emit.give()
        return emit.function

    def _signature(self, emit: Emitter, shared: Value, state: Packed, process: int, width: int) -> Value:
        kind = emit.load32(emit.pointer(shared, Shared.CLASSES), state.read("locals", process))
        if state.has("sends"):
            kind = emit.add(emit.up(kind, 8), state.read("sends", process))
        return emit.down(emit.mul(emit.add(kind, 1), _FACTOR), WORD - width) if width < WORD else kind

    def _less(self, emit: Emitter, left: Value, right: Value) -> Value:
        less: Value = ir.Constant(ir.IntType(1), 0)
        for at in reversed(range(self.layout.words)):
            one, two = emit.load(left, at), emit.load(right, at)
            further = emit.builder.and_(emit.compare(one, "==", two), less)
            less = emit.builder.or_(emit.compare(one, "<", two), further)
        return less
