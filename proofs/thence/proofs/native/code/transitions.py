"""Code of the actions of a packed state: application sends, arrivals, timers, duplicates and losses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thence.proofs.native.code.assembly import I64, POINTER, VOID
from thence.proofs.native.code.cells import MORE, Own, Shared
from thence.proofs.native.code.emit import NOWHERE, ThreadEmitter, Value, define_for_thread
from thence.proofs.native.code.local_steps import ASKED, FAULT, REFUSED, LocalSteps
from thence.proofs.native.code.packed import Packed, head_on_network
from thence.proofs.native.code.store import Store

MORE_AT = MORE.bit_length() - 1


class Transitions:
    """Defines `step` in a module. States that transitions lead to enter the store."""

    def __init__(self, module: Value, steps: LocalSteps, store: Store) -> None:
        self.steps = steps
        self.store = store
        self.layout, self.shape = steps.layout, steps.shape
        self.step = self._define_alternatives(module) if self.shape.varies else self._define_step(module)

    def arrive(self, emit: ThreadEmitter, state: Packed, parent: Value) -> None:
        """A transition from the state `parent` has led to this one."""
        self._count(emit)
        emit.invoke(self.store.push, state.words, parent)

    def _count(self, emit: ThreadEmitter) -> None:
        emit.store(emit.add(emit.load(emit.own, Own.EDGES), 1), emit.own, Own.EDGES)

    # --- steps of processes ------------------------------------------------------------------

    def _define_alternatives(self, module: Value) -> Value:
        """alternatives(next, process, input, parent, before): every step of the process on an input, see `step`."""
        step = self._define_step(module)
        emit = define_for_thread(module, "alternatives", [POINTER, I64, I64, I64, POINTER], VOID)
        words, process, given, parent, before = emit.arguments
        state, kept = Packed(emit, self.layout, words), Packed(emit, self.layout, emit.reserve(self.layout.words))
        state.copy_to(kept)
        goes_on, at, entry = emit.reserve(1), emit.reserve(1), emit.reserve(1)
        emit.store(1, goes_on)
        emit.store(self.steps.first(emit, state, process, given), at)
        with emit.repeat(lambda: emit.nonzero(emit.load(goes_on))):
            kept.copy_to(state)
            found = emit.invoke(self.steps.lookup, self.steps.key(emit, state, process, emit.load(at)))
            emit.store(found, entry)
            emit.invoke(step, words, process, emit.load(at), parent, before)
            emit.store(emit.both(emit.down(emit.load(entry), MORE_AT), 1), goes_on)
            emit.store(emit.add(emit.load(at), self.steps.alternative), at)
        emit.give()
        return emit.function

    def _define_step(self, module: Value) -> Value:
        """step(next, process, input, parent, before): the step that a process takes on an input changes `next`.

        `before` is the state before a timer fired, or null: a timer that changes nothing is no transition.
        """
        emit = define_for_thread(module, "step", [POINTER, I64, I64, I64, POINTER], VOID)
        words, process, given, parent, before = emit.arguments
        state = Packed(emit, self.layout, words)
        entry = emit.invoke(self.steps.lookup, self.steps.key(emit, state, process, given))
        with emit.when(emit.compare(entry, "==", 0), likely=False):
            emit.give()
        outcome = emit.invoke(self.steps.operate, words, process, parent, entry)
        if self.shape.guarded:
            with emit.when(emit.compare(outcome, "==", REFUSED), likely=False):
                emit.give()
        if self.shape.followed:
            with emit.when(emit.compare(outcome, "==", ASKED), likely=False):
                emit.give()
        with emit.when(emit.compare(outcome, "==", FAULT), likely=False):
            self._count(emit)
            emit.give()
        if self.steps.together is not None:
            known = emit.invoke(self.steps.together, words, parent, entry)
            with emit.when(emit.compare(known, "==", 0), likely=False):
                emit.give()
        if self.shape.timers:
            is_timer = emit.builder.icmp_unsigned("!=", before, NOWHERE)
            with emit.when(emit.builder.and_(is_timer, emit.compare(outcome, "==", 0))):
                previous = Packed(emit, self.layout, before)
                difference: Value = emit.number(0)
                for at in range(self.layout.words):
                    difference = emit.either(difference, emit.differing(state.word(at), previous.word(at)))
                with emit.when(emit.compare(difference, "==", 0)):
                    emit.give()
        self.arrive(emit, state, parent)
        emit.give()
        return emit.function

    # --- enabled actions ---------------------------------------------------------------------

    @contextmanager
    def choices(self, emit: ThreadEmitter, state: Packed, process: Value) -> Iterator[Value]:
        """Each choice of destinations for the message that the process may send next."""
        shape = self.shape
        limits = emit.table(shape.sends, "sends")
        amounts = emit.table([len(chosen) for chosen in shape.choices], "amounts")
        is_left = emit.compare(state.read("sends", process), "<", emit.load(limits, process))
        with emit.when(is_left), emit.each(0, emit.load(amounts, process)) as choice:
            yield choice

    @contextmanager
    def packets(self, emit: ThreadEmitter, held: Value, count: Value) -> Iterator[tuple[Value, Value]]:
        """Position and number of each packet that may arrive next; equal packets once."""
        packets, last = emit.pointer(emit.shared, Shared.PACKETS), emit.reserve(1)
        emit.store((1 << 64) - 1, last)
        with emit.each(0, count) as at:
            packet = emit.load(held, at)
            kind = emit.down(emit.load(packets, packet), 32) if self.shape.fifo else packet
            with emit.when(emit.compare(kind, "!=", emit.load(last))):
                emit.store(kind, last)
                yield at, packet

    @property
    def fires(self) -> bool:
        """Whether there are timers that may fire."""
        return any(limit != 0 for limit in self.shape.timers)

    def quiet(self, emit: ThreadEmitter, current: Packed, held: Value, count: Value) -> Value:
        """Whether none of the `count` packets in flight can arrive: there is none, or programs keep it from that."""
        if self.shape.places == 1:
            return emit.compare(count, "==", 0)
        quiet, at = emit.reserve(1), emit.reserve(1)
        emit.store(1, quiet)
        with self.packets(emit, held, count) as (_, packet):
            process = self.steps.receiver(emit, packet)
            emit.store(self.steps.without_answers(emit, process, self.steps.arrival(emit, packet)), at)
            with emit.repeat(lambda: emit.nonzero(emit.load(at))):
                key = self.steps.key(emit, current, process, emit.load(at))
                entry = emit.invoke(self.steps.lookup, key)
                refused = self.steps.is_refused(emit, entry)
                emit.store(emit.select(refused, emit.load(quiet), 0), quiet)
                more = emit.nonzero(emit.both(emit.down(entry, MORE_AT), 1))
                emit.store(emit.select(more, emit.add(emit.load(at), self.steps.alternative), 0), at)
        return emit.nonzero(emit.load(quiet))

    @contextmanager
    def timers(
        self, emit: ThreadEmitter, current: Packed, quiet: Value | None, timer: int
    ) -> Iterator[tuple[Value, Value]]:
        """Each process whose timer of this number may fire, and its place in `ticks`. `quiet`: whether nothing can
        arrive, where the scope leaves a timer uncounted."""
        shape = self.shape
        limit = shape.timers[timer]
        before = sum(earlier is not None for earlier in shape.timers[:timer])
        with emit.each(0, shape.processes) as process:
            slot = emit.add(process, before * shape.processes)
            may = quiet if limit is None else emit.compare(current.read("ticks", slot), "<", limit)
            with emit.when(may):
                yield process, slot

    @contextmanager
    def inputs(self, emit: ThreadEmitter, current: Packed, use: int) -> Iterator[tuple[Value, Value, Value]]:
        """Each process that may have the input of this number, its place in `ticks`, and each choice of arguments."""
        shape = self.shape
        limits, choices = shape.inputs[use]
        before = len(shape.counted) - len(shape.inputs) + use
        table = emit.table(limits, f"input{use}")
        with emit.each(0, shape.processes) as process:
            slot = emit.add(process, before * shape.processes)
            may = emit.compare(current.read("ticks", slot), "<", emit.load(table, process))
            with emit.when(may), emit.each(0, choices) as choice:
                yield process, slot, choice

    # --- the network -------------------------------------------------------------------------

    def disturb(self, emit: ThreadEmitter, parent: Value, current: Packed, following: Packed, packet: Value) -> None:
        """The network duplicates or loses a packet, where it still may; `following` is for the next state."""
        shape = self.shape
        if shape.duplicates:
            with emit.when(emit.compare(current.read("duplicates", 0), "<", shape.duplicates)):
                current.copy_to(following)
                following.increase("duplicates", 0)
                self.steps.add_packet(emit, following, packet)
                self.arrive(emit, following, parent)
        if shape.losses:
            with emit.when(emit.compare(current.read("losses", 0), "<", shape.losses)):
                current.copy_to(following)
                following.increase("losses", 0)
                following.take_packet(head_on_network(emit, emit.shared, following, packet))
                self.arrive(emit, following, parent)
