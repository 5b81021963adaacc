"""Code of the search: takes states that are to be expanded, and finds their successors."""

from __future__ import annotations

from collections.abc import Collection

from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.assembly import I64, VOID
from thence.proofs.native.code.cells import CHUNK, CROWDED, HOLE, Own, Shared
from thence.proofs.native.code.disk_store import DiskStore
from thence.proofs.native.code.emit import NOWHERE, TRUE, ThreadEmitter, Value, define_for_thread
from thence.proofs.native.code.identities import NO_IDENTITY, Identities, UsedIdentities
from thence.proofs.native.code.local_steps import LocalSteps
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.code.store import Store
from thence.proofs.native.code.sweep_store import SweepStore
from thence.proofs.native.code.transitions import Transitions
from thence.proofs.native.layout import Layout

_STORES: dict[Storage, type[Store]] = {"exact": Store, "layers": SweepStore, "disk": DiskStore}


class Expansion:
    """Defines `expand`, and all that it calls, in a module. Only violations of `properties` are looked for."""

    def __init__(self, module: Value, layout: Layout, properties: Collection[str]) -> None:
        self.layout = layout
        self.shape = layout.shape
        self.store = _STORES[layout.storage](module, layout)
        self.steps = LocalSteps(module, layout, properties)
        self.transitions = Transitions(module, self.steps, self.store)
        self.identities = Identities(self.steps)
        self.successors = self._define_successors(module)
        self._define_expand(module)

    def _define_expand(self, module: Value) -> None:
        """expand(): takes states from CURSOR to END and finds their successors.

        A state whose successors ask for a step that is not in the table, or for which there is no room, is DEFERRED.
        """
        emit = define_for_thread(module, "expand", [], VOID, internal=False)
        shared, own = emit.shared, emit.own
        parents, listed = emit.pointer(shared, Shared.PARENTS), emit.pointer(shared, Shared.LIST)
        chosen, end = emit.load(shared, Shared.LIST), emit.load(shared, Shared.END)
        first, number, edges = emit.reserve(1), emit.reserve(1), emit.reserve(1)

        def claim() -> Value:
            taken = emit.builder.atomic_rmw("add", emit.place(shared, Shared.CURSOR), emit.number(CHUNK), "monotonic")
            emit.store(taken, first)
            return emit.compare(taken, "<", end)

        with emit.repeat(claim):
            start = emit.load(first)
            stop = emit.add(start, CHUNK)
            stop = emit.select(emit.compare(stop, "<", end), stop, end)
            with emit.each(start, stop) as at:
                emit.store(at, number)
                with emit.when(emit.nonzero(chosen)):
                    emit.store(emit.load32(listed, at), number)
                parent = emit.load(number)
                with emit.when(emit.compare(emit.load32(parents, parent), "!=", HOLE)):
                    full = emit.compare(emit.load(shared, Shared.COUNT), ">=", emit.load(shared, Shared.ROOM))
                    emit.store(emit.word_of_truth(full), own, Own.MISSING)
                    emit.store(emit.load(own, Own.EDGES), edges)
                    with emit.when(emit.builder.not_(full), likely=True):
                        emit.invoke(self.successors, parent)
                    with emit.when(emit.nonzero(emit.load(own, Own.MISSING)), likely=False):
                        emit.store(emit.load(edges), own, Own.EDGES)
                        count = emit.load(own, Own.DEFERRED_COUNT)
                        emit.store32(parent, emit.pointer(own, Own.DEFERRED), count)
                        emit.store(emit.add(count, 1), own, Own.DEFERRED_COUNT)
        emit.invoke(self.store.flush)
        emit.give()

    def _define_successors(self, module: Value) -> Value:
        """successors(parent): every transition of a state."""
        emit = define_for_thread(module, "successors", [I64], VOID)
        (parent,) = emit.arguments
        row = emit.place(emit.pointer(emit.shared, Shared.STATES), emit.mul(parent, self.layout.words))
        current = Packed(emit, self.layout, emit.reserve(self.layout.words))
        Packed(emit, self.layout, row).copy_to(current)
        held = emit.reserve(self.layout.slots)
        count = current.unpack_network(held)
        self._every(emit, parent, current, held, count)
        if self.steps.findings.judges("delivered") and self.shape.messages and not self.shape.timers:
            quiet = emit.builder.and_(emit.compare(count, "==", 0), emit.builder.not_(current.nothing("due")))
            with emit.when(quiet, likely=False):
                self.steps.findings.note(emit, "delivered", parent)
        emit.give()
        return emit.function

    def _every(self, emit: ThreadEmitter, parent: Value, current: Packed, held: Value, count: Value) -> None:
        """Every action of a state is a transition; `held` has the `count` packets in flight."""
        following = Packed(emit, self.layout, emit.reserve(self.layout.words))
        if self.shape.identities:
            self._endless_sends(emit, parent, current, following, self.identities.used(emit, current, held, count))
        elif self.shape.messages:
            self._sends(emit, parent, current, following)
        with self.transitions.packets(emit, held, count) as (at, packet):
            current.copy_to(following)
            following.take_packet(at)
            given, process = self.steps.arrival(emit, packet), self.steps.receiver(emit, packet)
            emit.invoke(self.transitions.step, following.words, process, given, parent, NOWHERE)
            self.transitions.disturb(emit, parent, current, following, packet)
        quiet: Value | None = None
        if None in self.shape.timers:
            quiet = TRUE if self.shape.restless else self.transitions.quiet(emit, current, held, count)
        for timer, limit in enumerate(self.shape.timers):
            if limit == 0:
                continue
            with self.transitions.timers(emit, current, quiet, timer) as (process, slot):
                current.copy_to(following)
                if limit is not None:
                    following.increase("ticks", slot)
                given = emit.add(process, timer * self.shape.processes)
                emit.invoke(self.transitions.step, following.words, process, given, parent, current.words)

        first = self.shape.processes * len(self.shape.timers)
        for use, (_, choices) in enumerate(self.shape.inputs):
            with self.transitions.inputs(emit, current, use) as (process, slot, choice):
                current.copy_to(following)
                following.increase("ticks", slot)
                given = emit.add(emit.add(emit.mul(process, choices), first), choice)
                emit.invoke(self.transitions.step, following.words, process, given, parent, NOWHERE)
            first += self.shape.processes * choices

    def _sends(self, emit: ThreadEmitter, parent: Value, current: Packed, following: Packed) -> None:
        with (
            emit.each(0, self.shape.processes) as process,
            self.transitions.choices(emit, current, process) as choice,
        ):
            self._send(emit, parent, current, following, (process, current.read("sends", process), choice))

    def _send(
        self, emit: ThreadEmitter, parent: Value, current: Packed, following: Packed, sent: tuple[Value, Value, Value]
    ) -> None:
        """A transition by which a process sends a message of this number to the destinations of this choice."""
        process, number, choice = sent
        current.copy_to(following)
        self.steps.history.send(emit, following, process, number, choice)
        given = self.steps.sending(emit, process, number, choice)
        emit.invoke(self.transitions.step, following.words, process, given, parent, NOWHERE)

    def _endless_sends(
        self, emit: ThreadEmitter, parent: Value, current: Packed, following: Packed, used: UsedIdentities
    ) -> None:
        """The same where some processes send for ever: each of them with the first of its identities that is free."""
        endless = emit.table([int(bool(identities)) for identities in self.shape.identities], "endless")
        with emit.when(used.known), emit.each(0, self.shape.processes) as process:
            number, may = emit.reserve(1), emit.reserve(1)
            emit.store(current.read("sends", process), number)
            emit.store(1, may)
            with emit.when(emit.nonzero(emit.load(endless, process))):
                free = used.first_free(emit, process)
                emit.store(free, number)
                none_left = emit.compare(free, "==", NO_IDENTITY)
                emit.store(emit.word_of_truth(emit.builder.not_(emit.builder.or_(used.full, none_left))), may)
                with emit.when(emit.builder.and_(none_left, emit.builder.not_(used.full)), likely=False):
                    self._note_crowded(emit, parent, current, process)
            with (
                emit.when(emit.nonzero(emit.load(may))),
                self.transitions.choices(emit, current, process) as choice,
            ):
                self._send(emit, parent, current, following, (process, emit.load(number), choice))

    def _note_crowded(self, emit: ThreadEmitter, parent: Value, current: Packed, process: Value) -> None:
        """Notes that the process is kept from sending; where sends are prompt, if it would send now."""
        if not self.shape.prompt:
            self.steps.findings.note(emit, CROWDED, parent)
            return
        one_more = emit.load(emit.table(self.shape.identities, "identities"), process)
        with self.transitions.choices(emit, current, process) as choice:
            given = self.steps.sending(emit, process, one_more, choice)
            entry = emit.invoke(self.steps.lookup, self.steps.key(emit, current, process, given))
            goes = emit.builder.and_(emit.nonzero(entry), emit.builder.not_(self.steps.is_refused(emit, entry)))
            with emit.when(goes):
                self.steps.findings.note(emit, CROWDED, parent)
