"""Code that reads and changes a packed state in place."""

from __future__ import annotations

from thence.proofs.native.code.cells import Shared
from thence.proofs.native.code.emit import Emitter, Value
from thence.proofs.native.layout import Field, Layout


class Packed:
    """A packed state at `words`, for the code that `emitter` writes."""

    def __init__(self, emitter: Emitter, layout: Layout, words: Value) -> None:
        self.emitter = emitter
        self.layout = layout
        self.words = words

    def has(self, name: str) -> bool:
        """Whether the field is kept at all."""
        return bool(self.layout.fields[name].runs)

    def word(self, at: int) -> Value:
        return self.emitter.load(self.words, at)

    def copy_to(self, other: Packed) -> None:
        """Makes the other state equal to this one."""
        for at in range(self.layout.words):
            self.emitter.store(self.word(at), other.words, at)

    def _place(self, field: Field, at: Value | int) -> tuple[Value | int, Value | int]:
        """Word and shift of an element."""
        emit = self.emitter
        if isinstance(at, int):
            return list(field.places())[at]
        if len(field.runs) == 1:
            (run,) = field.runs
            return run.word, emit.add(run.shift, emit.mul(at, field.bits))
        words, shifts = zip(*field.places(), strict=True)
        word = emit.load(emit.table(words, f"{field.name}.words"), at)
        return word, emit.load(emit.table(shifts, f"{field.name}.shifts"), at)

    def read(self, name: str, at: Value | int) -> Value:
        """An element; zero in a field of no bits."""
        field = self.layout.fields[name]
        if not field.runs:
            return self.emitter.number(0)
        word, shift = self._place(field, at)
        value = self.emitter.down(self.emitter.load(self.words, word), shift)
        return self.emitter.both(value, (1 << field.bits) - 1)

    def write(self, name: str, at: Value | int, value: Value | int) -> None:
        """Replaces an element; nothing in a field of no bits, whose elements are never other than zero."""
        emit, field = self.emitter, self.layout.fields[name]
        if not field.runs:
            return
        word, shift = self._place(field, at)
        kept = emit.both(emit.load(self.words, word), emit.inverse(emit.up((1 << field.bits) - 1, shift)))
        emit.store(emit.either(kept, emit.up(value, shift)), self.words, word)

    def increase(self, name: str, at: Value | int) -> None:
        """Adds one to an element that has room for it."""
        word, shift = self._place(self.layout.fields[name], at)
        self.emitter.store(
            self.emitter.add(self.emitter.load(self.words, word), self.emitter.up(1, shift)), self.words, word
        )

    def join(self, name: str, at: Value | int, bits: Value) -> None:
        """Sets bits of an element; as `write`, nothing in a field of no bits."""
        if not self.layout.fields[name].runs:
            return
        word, shift = self._place(self.layout.fields[name], at)
        joined = self.emitter.either(self.emitter.load(self.words, word), self.emitter.up(bits, shift))
        self.emitter.store(joined, self.words, word)

    def _words_of(self, *names: str) -> dict[int, int]:
        """The words of some fields, each with the lowest bits of the elements in it."""
        found: dict[int, int] = {}
        for name in names:
            field = self.layout.fields[name]
            for word in {run.word for run in field.runs}:
                found[word] = found.get(word, 0) | field.splat(word)
        return found

    def drop(self, number: Value, *names: str) -> None:
        """Clears the bit of this number in every element of these fields."""
        for word, splat in self._words_of(*names).items():
            kept = self.emitter.inverse(self.emitter.up(splat, number))
            self.emitter.store(self.emitter.both(self.word(word), kept), self.words, word)

    def anywhere(self, number: Value, name: str) -> Value:
        """Whether some element of the field has the bit of this number."""
        found: Value | int = 0
        for word, splat in self._words_of(name).items():
            found = self.emitter.either(found, self.emitter.both(self.word(word), self.emitter.up(splat, number)))
        return self.emitter.nonzero(found)

    def nothing(self, name: str) -> Value:
        """Whether all elements are zero."""
        field = self.layout.fields[name]
        found: Value | int = 0
        for word in sorted({run.word for run in field.runs}):
            found = self.emitter.either(found, self.emitter.both(self.word(word), field.mask(word)))
        return self.emitter.compare(found, "==", 0)

    # --- the network -------------------------------------------------------------------------

    def unpack_network(self, into: Value) -> Value:
        """Writes the packets' numbers (plus one) into an array; how many there are."""
        emit, field = self.emitter, self.layout.fields["network"]
        count, rest = emit.reserve(1), emit.reserve(1)
        emit.store(0, count)
        for run in field.runs:
            emit.store(self._run_content(field, run.word, run.shift, run.count), rest)
            with emit.repeat(lambda: emit.nonzero(emit.load(rest))):
                content, at = emit.load(rest), emit.load(count)
                emit.store(emit.both(content, (1 << field.bits) - 1), into, at)
                emit.store(emit.add(at, 1), count)
                emit.store(emit.down(content, field.bits), rest)
        return emit.load(count)

    def _run_content(self, field: Field, word: int, shift: int, count: int) -> Value:
        return self.emitter.both(self.emitter.down(self.word(word), shift), (1 << count * field.bits) - 1)

    def _put_run(self, field: Field, word: int, shift: int, count: int, content: Value) -> None:
        emit = self.emitter
        mask = (1 << count * field.bits) - 1
        kept = emit.both(self.word(word), ~(mask << shift))
        emit.store(emit.either(kept, emit.up(emit.both(content, mask), shift)), self.words, word)

    def packet(self, at: Value) -> Value:
        """The number of the packet at a position."""
        return self.read("network", at)

    def rank(self, number: Value) -> Value:
        """How many packets have at least this number: the packet belongs behind them."""
        emit, field = self.emitter, self.layout.fields["network"]
        bits, total = field.bits, emit.number(0)
        for run in field.runs:
            content = self._run_content(field, run.word, run.shift, run.count)
            for parity in (0, 1):
                places = range(parity, run.count, 2)
                if not places:
                    continue
                splat = sum(1 << (at - parity) * bits for at in places)
                values = emit.both(emit.down(content, parity * bits), splat * ((1 << bits) - 1))
                difference = emit.sub(emit.either(values, splat << bits), emit.mul(number, splat))
                total = emit.add(total, emit.ones(emit.both(difference, splat << bits)))
        return total

    def put_packet(self, number: Value, at: Value) -> Value:
        """Inserts a packet at a position; gives the packet that no longer fits, or zero."""
        emit, field = self.emitter, self.layout.fields["network"]
        bits, carried = field.bits, emit.reserve(1)
        emit.store(number, carried)
        for run in field.runs:
            inside = emit.both(
                emit.word_of_truth(emit.compare(at, "<", run.start + run.count)),
                emit.word_of_truth(emit.nonzero(emit.load(carried))),
            )
            with emit.when(emit.nonzero(inside)):
                content = self._run_content(field, run.word, run.shift, run.count)
                shift = emit.mul(emit.select(emit.compare(at, "<", run.start), 0, emit.sub(at, run.start)), bits)
                below = emit.sub(emit.up(1, shift), 1)
                above = emit.both(content, emit.inverse(below))
                moved = emit.up(above, bits) if bits < 64 else emit.number(0)
                changed = emit.either(emit.either(emit.both(content, below), emit.up(emit.load(carried), shift)), moved)
                self._put_run(field, run.word, run.shift, run.count, changed)
                emit.store(emit.down(content, (run.count - 1) * bits), carried)
        return emit.load(carried)

    def take_packet(self, at: Value) -> None:
        """Removes the packet at a position."""
        emit, field = self.emitter, self.layout.fields["network"]
        bits, carried = field.bits, emit.reserve(1)
        emit.store(0, carried)
        for run in reversed(field.runs):
            with emit.when(emit.compare(at, "<", run.start + run.count)):
                content = self._run_content(field, run.word, run.shift, run.count)
                shift = emit.mul(emit.select(emit.compare(at, "<", run.start), 0, emit.sub(at, run.start)), bits)
                below = emit.sub(emit.up(1, shift), 1)
                moved = emit.both(emit.down(content, bits), emit.inverse(below))
                changed = emit.either(emit.both(content, below), moved)
                last = emit.up(emit.load(carried), (run.count - 1) * bits)
                self._put_run(field, run.word, run.shift, run.count, emit.either(changed, last))
                emit.store(emit.both(content, (1 << bits) - 1), carried)


def position_on_network(emit: Emitter, shared: Value, state: Packed, number: Value) -> Value:
    """Where a packet belongs: behind those of higher or the same number; on FIFO networks behind its channel."""
    if not state.layout.shape.fifo:
        return state.rank(number)
    return _before_channel(emit, shared, state, number, "<=")


def head_on_network(emit: Emitter, shared: Value, state: Packed, number: Value) -> Value:
    """Where the packet is, or one that is equal to it; on FIFO networks, where its channel begins."""
    if not state.layout.shape.fifo:
        return emit.sub(state.rank(number), 1)
    return _before_channel(emit, shared, state, number, "<")


def _before_channel(emit: Emitter, shared: Value, state: Packed, number: Value, operator: str) -> Value:
    """How many packets are on channels before that of this packet, or on its own, too."""
    packets = emit.pointer(shared, Shared.PACKETS)
    channel = emit.down(emit.load(packets, number), 32)
    held = emit.reserve(state.layout.slots)
    count, place = state.unpack_network(held), emit.reserve(1)
    emit.store(0, place)
    with emit.each(0, count) as at:
        other = emit.down(emit.load(packets, emit.load(held, at)), 32)
        emit.store(emit.add(emit.load(place), emit.word_of_truth(emit.compare(other, operator, channel))), place)
    return emit.load(place)
