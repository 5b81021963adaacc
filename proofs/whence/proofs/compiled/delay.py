"""Code of the reduction `delay`: the application sends as late as it can.

A transition is an arrival, or what a timer does, with the sends that have to come before it: those of the process that
sends the packet, up to the one that emits it, and those of the process that takes the step, up to the last that does
not commute with it. See `lateness`, and docs/exploring.md for why nothing is missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.proofs.compiled.cells import FURTHER, IDLE, NEEDED, PAIR, PAIR_SHIFT, SENDS_SHIFT, SHOWN, Operation, Shared
from whence.proofs.compiled.emit import I64, NOWHERE, POINTER, TRUE, VOID, Emitter, Value, define
from whence.proofs.compiled.packed import Packed, head_on_network

if TYPE_CHECKING:
    from whence.proofs.compiled.steps import Search

_HALF = (1 << 32) - 1
_HERE = [POINTER, POINTER, POINTER]
"""The first arguments of all functions: shared, own, and the words of a state, which stay as they are."""


class Delay:
    """Defines `consume`, `tick` and `chain` in a module."""

    def __init__(self, search: Search, module: Value) -> None:
        self.search = search
        self.layout, self.shape = search.layout, search.shape
        self.take = self._define_take(module)
        self.hurry = self._define_hurry(module)
        self.consume = self._define_consume(module)
        self.tick = self._define_tick(module)
        self.chain = self._define_chain(module)

    def _copy(self, emit: Emitter, state: Packed, into: Value) -> Packed:
        following = Packed(emit, self.layout, into)
        state.copy_to(following)
        return following

    def _define_take(self, module: Value) -> Value:
        """take(shared, own, words, process, input, packet, parent, moved, fresh): an arrival, or a timer (packet 0)."""
        emit = define(module, "take", [*_HERE, *[I64] * 6], VOID, internal=True)
        shared, own, words, process, given, number, parent, moved, fresh = emit.function.args
        following = self._copy(emit, Packed(emit, self.layout, words), emit.reserve(self.layout.words))
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

    def _define_hurry(self, module: Value) -> Value:
        """hurry(shared, own, words, process, input, packet, parent, moved, fresh): the same after sends of the process
        that have to come before.
        """
        emit = define(module, "hurry", [*_HERE, *[I64] * 6], VOID, internal=True)
        shared, own, words, process, given, number, parent, moved, fresh = emit.function.args
        state, into = Packed(emit, self.layout, words), emit.reserve(self.layout.words)
        with self.search.choices(emit, state, process) as (done, choice):
            local = emit.either(state.read("locals", process), emit.up(done, SENDS_SHIFT))
            pair = emit.either(emit.either(given, emit.up(choice, PAIR_SHIFT)), PAIR)
            need = emit.call(self.search.lookup, shared, own, emit.either(emit.up(local, 32), pair))
            with emit.when(emit.nonzero(emit.both(need, NEEDED | FURTHER))):
                following = self._copy(emit, state, into)
                entry = emit.call(self.search.send, shared, own, following.words, process, choice, parent)
                with emit.when(emit.builder.and_(emit.nonzero(entry), self._stays_possible(emit, shared, number, entry))):
                    arrived = emit.either(fresh, self.search.fresh(emit, shared, entry))
                    rest = [shared, own, following.words, process, given, number, parent, moved, arrived]
                    with emit.when(emit.nonzero(emit.both(need, NEEDED))):
                        emit.builder.call(self.take, rest)
                    with emit.when(emit.nonzero(emit.both(need, FURTHER))):
                        emit.builder.call(emit.function, rest)
        emit.give()
        return emit.function

    def _stays_possible(self, emit: Emitter, shared: Value, number: Value, entry: Value) -> Value:
        """Timers that fire only while nothing is in flight do not after a send that emits something."""
        if not self.shape.timers or self.shape.ticks is not None:
            return TRUE
        added = emit.load(emit.pointer(shared, Shared.OPERATIONS), self.search.operations_at(emit, entry))
        return emit.builder.or_(emit.nonzero(number), emit.compare(added, "==", 0))

    def _define_consume(self, module: Value) -> Value:
        """consume(shared, own, words, packet, parent, moved, fresh): all that can happen to a packet in flight."""
        emit = define(module, "consume", [*_HERE, *[I64] * 4], VOID, internal=True)
        shared, own, words, number, parent, moved, fresh = emit.function.args
        process = emit.both(emit.load(emit.pointer(shared, Shared.PACKETS), number), _HALF)
        arguments = [
            shared, own, words, process, self.search.arrival(emit, number), number, parent, moved, fresh,
        ]  # fmt: skip
        emit.builder.call(self.take, arguments)
        emit.builder.call(self.hurry, arguments)
        state, into = Packed(emit, self.layout, words), emit.reserve(self.layout.words)
        self.search.disturb(emit, shared, own, parent, state, Packed(emit, self.layout, into), number)
        emit.give()
        return emit.function

    def _define_tick(self, module: Value) -> Value:
        """tick(shared, own, words, process, parent): the timer of a process."""
        emit = define(module, "tick", [*_HERE, I64, I64], VOID, internal=True)
        shared, own, words, process, parent = emit.function.args
        nothing = emit.number(0)
        arguments = [shared, own, words, process, process, nothing, parent, nothing, nothing]
        emit.builder.call(self.take, arguments)
        emit.builder.call(self.hurry, arguments)
        emit.give()
        return emit.function

    def _define_chain(self, module: Value) -> Value:
        """chain(shared, own, words, process, parent, quiet, fresh): sends, each with what becomes of its packets.

        `quiet`: whether nothing is in flight. A send that emits nothing is then a transition, and so is one that
        invariants can see, at any time.
        """
        emit = define(module, "chain", [*_HERE, *[I64] * 4], VOID, internal=True)
        shared, own, words, process, parent, quiet, fresh = emit.function.args
        state, into = Packed(emit, self.layout, words), emit.reserve(self.layout.words)
        operations, at = emit.pointer(shared, Shared.OPERATIONS), emit.reserve(1)
        builder = emit.builder
        moved = self.search.one_of(emit, process)
        with self.search.choices(emit, state, process) as (done, choice):
            local = emit.either(state.read("locals", process), emit.up(emit.add(done, 1), SENDS_SHIFT))
            given = self.search.sending(emit, process, done, choice)
            known = emit.call(self.search.lookup, shared, own, emit.either(emit.up(local, 32), given))
            idle = builder.and_(emit.nonzero(emit.both(known, IDLE)), emit.compare(quiet, "==", 0))
            with emit.when(builder.not_(idle)):
                following = self._copy(emit, state, into)
                entry = emit.call(self.search.send, shared, own, following.words, process, choice, parent)
                with emit.when(emit.nonzero(entry)):
                    start = self.search.operations_at(emit, entry)
                    arrived = emit.either(fresh, self.search.fresh(emit, shared, entry))
                    silent = builder.and_(emit.nonzero(quiet), emit.compare(emit.load(operations, start), "==", 0))
                    shown = builder.or_(emit.nonzero(emit.both(entry, SHOWN)), silent)
                    with builder.if_else(shown) as (stored, put_off):
                        with stored:
                            self.search.arrived(emit, shared, own, following, parent, moved, arrived)
                        with put_off:
                            emit.store(emit.add(start, 1), at)
                            with emit.repeat(
                                lambda: emit.nonzero(emit.both(emit.load(operations, emit.load(at)), 15))
                            ):
                                operation = emit.load(operations, emit.load(at))
                                with emit.when(emit.compare(emit.both(operation, 15), "==", Operation.ADD)):
                                    number = emit.down(operation, 8)
                                    head = head_on_network(emit, shared, following, number)
                                    with emit.when(emit.compare(following.packet(head), "==", number)):
                                        builder.call(
                                            self.consume,
                                            [shared, own, following.words, number, parent, moved, arrived],
                                        )
                                emit.store(emit.add(emit.load(at), 2), at)
                            rest = [shared, own, following.words, process, parent, emit.number(0), arrived]
                            builder.call(emit.function, rest)
        emit.give()
        return emit.function
