"""Code of the reduction `delay`: sends, and arrivals of silent packets, are postponed until a step needs them.

A transition is an arrival, or the step of a timer, with all the postponed steps that have to come before it: at the
process that sends the packet, and at the one that takes the step. `plans` has the sequences of these steps;
docs/exploring.md says why no violation is missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from thence.proofs.native.code.cells import ASKED, EXTENDED, PLANS, SENDS_SHIFT, SILENT, SPONTANEOUS, Operation, Shared
from thence.proofs.native.code.emit import I64, NOWHERE, POINTER, VOID, ThreadEmitter, Value, define_for_thread
from thence.proofs.native.code.packed import Packed, head_on_network
from thence.proofs.native.code.transitions import Transitions

_HALF = (1 << 32) - 1
_SHOWN = 2
"""Bit of a sequence's header: a state is stored after the sequence."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where transitions start: `parent` is the state's number. `nodes`: for each process, the node of its postponed
    steps, see `plans`.
    """

    nodes: Value
    parent: Value


class PostponingTransitions:
    """Defines `postponed`, `consume`, `tick` and `spontaneous` in a module."""

    def __init__(self, module: Value, transitions: Transitions) -> None:
        self.transitions, self.steps = transitions, transitions.steps
        self.layout, self.shape = transitions.layout, transitions.shape
        self.postponed = self._define_postponed(module)
        self.follow = self._define_follow(module)
        self.take = self._define_take(module)
        self.consume = self._define_consume(module)
        self.tick = self._define_tick(module)
        self.spontaneous = self._define_spontaneous(module)

    def _is_silent(self, emit: ThreadEmitter, packet: Value) -> Value:
        """Whether the arrival of a packet may be postponed."""
        return emit.nonzero(emit.both(emit.load(emit.pointer(emit.shared, Shared.PACKETS), packet), SILENT))

    def _copy(self, emit: ThreadEmitter, words: Value, into: Value) -> Packed:
        following = Packed(emit, self.layout, into)
        Packed(emit, self.layout, words).copy_to(following)
        return following

    # --- nodes -------------------------------------------------------------------------------

    def _define_postponed(self, module: Value) -> Value:
        """postponed(words, nodes): for each process, the node of its postponed steps; gives whether all are known.

        The node of a process without arrivals comes first, and is then extended by each silent packet in flight to it.
        """
        emit = define_for_thread(module, "postponed", [POINTER, POINTER], I64)
        words, nodes = emit.arguments
        state, held = Packed(emit, self.layout, words), emit.reserve(self.layout.slots)

        def note(process: Value, key: Value) -> None:
            entry = emit.invoke(self.steps.lookup, key)
            with emit.when(emit.compare(entry, "==", 0), likely=False):
                emit.give(0)
            emit.store(emit.both(entry, _HALF), nodes, process)

        with emit.each(0, self.shape.processes) as process:
            place = emit.either(state.read("locals", process), emit.up(state.read("sends", process), SENDS_SHIFT))
            note(process, emit.either(emit.up(place, 32), emit.either(process, PLANS)))
        with emit.each(0, state.unpack_network(held)) as at:
            packet = emit.load(held, at)
            with emit.when(self._is_silent(emit, packet)):
                process = self.steps.receiver(emit, packet)
                node = emit.up(emit.load(nodes, process), 32)
                note(process, emit.either(node, emit.either(packet, PLANS | EXTENDED)))
        emit.give(1)
        return emit.function

    # --- sequences of a plan -----------------------------------------------------------------

    @contextmanager
    def _sequences(self, emit: ThreadEmitter, plan: Value) -> Iterator[tuple[Value, Value]]:
        """For each sequence of a plan: its header, and where its steps begin."""
        operations, at = emit.pointer(emit.shared, Shared.OPERATIONS), emit.reserve(1)
        emit.store(emit.both(plan, _HALF), at)
        with emit.repeat(lambda: emit.nonzero(emit.load(operations, emit.load(at)))):
            header = emit.load(operations, emit.load(at))
            emit.store(emit.add(emit.load(at), 1), at)
            yield header, emit.load(at)
            with emit.repeat(lambda: emit.nonzero(emit.load(operations, emit.load(at)))):
                emit.store(emit.add(emit.load(at), 1), at)
            emit.store(emit.add(emit.load(at), 1), at)

    def _define_follow(self, module: Value) -> Value:
        """follow(next, process, at, parent): takes the steps of a sequence; gives the entry of the last.

        Gives 0 if a step is not known or at fault.
        """
        emit = define_for_thread(module, "follow", [POINTER, I64, I64, I64], I64)
        words, process, start, parent = emit.arguments
        operations, at, last = emit.pointer(emit.shared, Shared.OPERATIONS), emit.reserve(1), emit.reserve(1)
        emit.store(start, at)
        emit.store(0, last)
        with emit.repeat(lambda: emit.nonzero(emit.load(operations, emit.load(at)))):
            step = emit.load(operations, emit.load(at))
            what = emit.down(step, 1)
            with emit.builder.if_else(emit.nonzero(emit.both(step, 1))) as (sends, receives):
                with sends:
                    emit.store(emit.invoke(self.transitions.send, words, process, what, parent), last)
                with receives:
                    emit.store(emit.invoke(self.transitions.receive, words, process, what, parent), last)
            with emit.when(emit.compare(emit.load(last), "==", 0), likely=False):
                emit.give(0)
            emit.store(emit.add(emit.load(at), 1), at)
        emit.give(emit.load(last))
        return emit.function

    # --- arrivals and timers -----------------------------------------------------------------

    def _define_take(self, module: Value) -> Value:
        """take(words, process, input, packet, parent): an arrival, or the step of a timer (packet 0)."""
        emit = define_for_thread(module, "take", [POINTER, *[I64] * 4], VOID)
        words, process, given, packet, parent = emit.arguments
        following = self._copy(emit, words, emit.reserve(self.layout.words))
        previous = NOWHERE
        if self.shape.timers:
            is_timer = emit.compare(packet, "==", 0)
            previous = emit.builder.select(is_timer, words, NOWHERE)
            if self.shape.ticks is not None:
                with emit.when(is_timer):
                    following.increase("ticks", process)
        with emit.when(emit.nonzero(packet)):
            following.take_packet(head_on_network(emit, emit.shared, following, packet))
        emit.invoke(self.transitions.step, following.words, process, given, parent, previous)
        emit.give()
        return emit.function

    def _take_after_prerequisites(
        self, emit: ThreadEmitter, words: Value, origin: Origin, process: Value, given: Value, packet: Value
    ) -> None:
        """An arrival or the step of a timer as it is, and after each sequence that may have to come before it."""
        node = emit.up(emit.load(origin.nodes, process), 32)
        plan = emit.invoke(self.steps.lookup, emit.either(node, emit.either(given, PLANS | ASKED)))
        with emit.when(emit.compare(plan, "==", 0), likely=False):
            emit.give()
        emit.invoke(self.take, words, process, given, packet, origin.parent)
        into = emit.reserve(self.layout.words)
        with self._sequences(emit, plan) as (_, start):
            following = self._copy(emit, words, into)
            last = emit.invoke(self.follow, following.words, process, start, origin.parent)
            possible = emit.nonzero(last)
            if self.shape.timers and self.shape.ticks is None:
                quiet = emit.compare(following.unpack_network(emit.reserve(self.layout.slots)), "==", 0)
                possible = emit.builder.and_(possible, emit.builder.or_(emit.nonzero(packet), quiet))
            with emit.when(possible):
                emit.invoke(self.take, following.words, process, given, packet, origin.parent)

    def _define_consume(self, module: Value) -> Value:
        """consume(words, nodes, packet, parent): the transitions that take, duplicate or lose a packet in flight."""
        emit = define_for_thread(module, "consume", [POINTER, POINTER, I64, I64], VOID)
        words, nodes, packet, parent = emit.arguments
        state, into = Packed(emit, self.layout, words), emit.reserve(self.layout.words)
        self.transitions.disturb(emit, parent, state, Packed(emit, self.layout, into), packet)
        process, given = self.steps.receiver(emit, packet), self.steps.arrival(emit, packet)
        self._take_after_prerequisites(emit, words, Origin(nodes, parent), process, given, packet)
        emit.give()
        return emit.function

    def _define_tick(self, module: Value) -> Value:
        """tick(words, nodes, process, parent): the timer of a process."""
        emit = define_for_thread(module, "tick", [POINTER, POINTER, I64, I64], VOID)
        words, nodes, process, parent = emit.arguments
        self._take_after_prerequisites(emit, words, Origin(nodes, parent), process, process, emit.number(0))
        emit.give()
        return emit.function

    # --- steps without an external cause -----------------------------------------------------

    def _define_spontaneous(self, module: Value) -> Value:
        """spontaneous(words, nodes, process, parent, quiet): the noticed sequences of a process's own postponed steps.

        Each leads to a state, or goes on with the transitions that take a packet which its last step emits.
        """
        emit = define_for_thread(module, "spontaneous", [POINTER, POINTER, *[I64] * 3], VOID)
        words, nodes, process, parent, quiet = emit.arguments
        into = emit.reserve(self.layout.words)
        key = emit.either(emit.up(emit.load(nodes, process), 32), emit.either(quiet, PLANS | ASKED | SPONTANEOUS))
        plan = emit.invoke(self.steps.lookup, key)
        with emit.when(emit.compare(plan, "==", 0), likely=False):
            emit.give()
        with self._sequences(emit, plan) as (header, start):
            following = self._copy(emit, words, into)
            last = emit.invoke(self.follow, following.words, process, start, parent)
            is_shown = emit.nonzero(emit.both(header, _SHOWN))
            with emit.when(emit.nonzero(last)), emit.builder.if_else(is_shown) as (shown, emits):
                with shown:
                    self.transitions.arrive(emit, following, parent)
                with emits:
                    self._consume_emitted(emit, following, Origin(nodes, parent), process, last)
        emit.give()
        return emit.function

    def _consume_emitted(
        self, emit: ThreadEmitter, state: Packed, origin: Origin, process: Value, entry: Value
    ) -> None:
        """The transitions that take a packet which the step with this entry has just emitted, if it can arrive next.

        A packet to the process itself finds other postponed steps there than `origin` has.
        """
        operations, at = emit.pointer(emit.shared, Shared.OPERATIONS), emit.reserve(1)
        own_nodes = emit.reserve(self.shape.processes)
        emit.store(self.steps.operations_at(emit, entry), at)
        with emit.repeat(lambda: emit.nonzero(emit.both(emit.load(operations, emit.load(at)), 15))):
            operation = emit.load(operations, emit.load(at))
            with emit.when(emit.compare(emit.both(operation, 15), "==", Operation.ADD)):
                packet = emit.down(operation, 8)
                first = state.packet(head_on_network(emit, emit.shared, state, packet))
                to_itself = emit.compare(self.steps.receiver(emit, packet), "==", process)
                is_first = emit.compare(first, "==", packet)
                with emit.when(is_first), emit.builder.if_else(to_itself, likely=False) as (here, elsewhere):
                    with here:
                        known = emit.invoke(self.postponed, state.words, own_nodes)
                        with emit.when(emit.nonzero(known)):
                            emit.invoke(self.consume, state.words, own_nodes, packet, origin.parent)
                    with elsewhere:
                        emit.invoke(self.consume, state.words, origin.nodes, packet, origin.parent)
            emit.store(emit.add(emit.load(at), 2), at)

    # --- all transitions ---------------------------------------------------------------------

    def every(self, emit: ThreadEmitter, parent: Value, current: Packed, held: Value, count: Value) -> None:
        """Every transition of a state; `held` has the `count` packets in flight.

        The arrivals of silent packets are transitions only where all packets in flight are silent.
        """
        nodes = emit.reserve(self.shape.processes)
        known = emit.invoke(self.postponed, current.words, nodes)
        with emit.when(emit.compare(known, "==", 0), likely=False):
            emit.give()
        quiet = emit.word_of_truth(emit.compare(count, "==", 0))
        with emit.each(0, self.shape.processes) as process:
            emit.invoke(self.spontaneous, current.words, nodes, process, parent, quiet)
        all_silent = emit.reserve(1)
        emit.store(1, all_silent)
        with emit.each(0, count) as at:
            silent = emit.word_of_truth(self._is_silent(emit, emit.load(held, at)))
            emit.store(emit.both(emit.load(all_silent), silent), all_silent)
        into = emit.reserve(self.layout.words)
        with self.transitions.packets(emit, held, count) as (_, packet):
            is_postponed = emit.builder.and_(
                self._is_silent(emit, packet), emit.compare(emit.load(all_silent), "==", 0)
            )
            with emit.builder.if_else(is_postponed) as (later, now):
                with later:
                    self.transitions.disturb(emit, parent, current, Packed(emit, self.layout, into), packet)
                with now:
                    emit.invoke(self.consume, current.words, nodes, packet, parent)
        if self.transitions.fires:
            with self.transitions.timers(emit, current, count) as process:
                emit.invoke(self.tick, current.words, nodes, process, parent)
