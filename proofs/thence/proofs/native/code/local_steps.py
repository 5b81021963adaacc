"""Code of local steps: looks them up in the table of steps, and applies their operations to a packed state."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from thence.proofs.native.code.assembly import I64, POINTER
from thence.proofs.native.code.cells import (
    BROKEN,
    FLIES,
    FOLLOWS,
    INPUT_BITS,
    RECENT_STEPS,
    STEP_FACTOR,
    TOGETHER,
    Operation,
    Own,
    Shared,
)
from thence.proofs.native.code.emit import ThreadEmitter, Value, define_for_thread
from thence.proofs.native.code.findings import Findings
from thence.proofs.native.code.history import Delivery, HistoryCode, TakenStep
from thence.proofs.native.code.packed import Packed, position_on_network
from thence.proofs.native.layout import Layout

FAULT = 2
"""The result of `operate` for a step that is at fault."""

REFUSED = 3
"""The result of `operate` for what the protocol does not take: the application waits."""

ASKED = 4
"""The result of `operate` where a step of the companion is not in the table, which then asks for it."""

_HALF = (1 << 32) - 1
_PLACES = (1 << 24) - 1
"""Bits of an entry that tell where the step's list of operations begins."""


class LocalSteps:
    """Defines `lookup`, `operate` and, where something is judged by several processes, `together` in a module."""

    def __init__(self, module: Value, layout: Layout, properties: Collection[str]) -> None:
        self.layout = layout
        self.shape = layout.shape
        self.findings = Findings(properties)
        self.history = HistoryCode(layout, self.findings)
        self.lookup = self._define_lookup(module)
        self.operate = self._define_operate(module)
        self.together = self._define_together(module) if self.shape.joint else None

    # --- inputs ------------------------------------------------------------------------------

    def sending(self, emit: ThreadEmitter, process: Value, sent: Value, choice: Value) -> Value:
        """The input by which the process sends its message number `sent` to the destinations of the choice."""
        shape = self.shape
        numbered = [shape.occurrences]
        for numbers, chosen in zip(shape.numbers, shape.choices, strict=True):
            numbered.append(numbered[-1] + numbers * len(chosen))
        amount = emit.load(emit.table([len(chosen) for chosen in shape.choices], "amounts"), process)
        first = emit.load(emit.table(numbered, "inputs"), process)
        return emit.add(emit.add(first, emit.mul(sent, amount)), choice)

    def arrival(self, emit: ThreadEmitter, packet: Value) -> Value:
        """The input by which a packet, given by its number plus one, arrives; packets come last."""
        shape = self.shape
        sends = sum(numbers * len(chosen) for numbers, chosen in zip(shape.numbers, shape.choices, strict=True))
        return emit.add(packet, shape.occurrences + sends - 1)

    def receiver(self, emit: ThreadEmitter, packet: Value) -> Value:
        """The process to which a packet goes."""
        return emit.both(emit.load(emit.pointer(emit.shared, Shared.PACKETS), packet), _HALF)

    def first(self, emit: ThreadEmitter, state: Packed, process: Value, given: Value) -> Value:
        """An input with the first alternative of what follows, where there are some."""
        if not self.shape.reactive:
            return given
        return emit.either(given, emit.up(state.read("sends", process), INPUT_BITS))

    def without_answers(self, emit: ThreadEmitter, process: Value, given: Value) -> Value:
        """The same as if the process had nothing to send."""
        if not self.shape.reactive:
            return given
        return emit.either(given, emit.up(emit.load(emit.table(self.shape.sends, "sends"), process), INPUT_BITS))

    @property
    def alternative(self) -> int:
        """What is added to an input for its next alternative."""
        return 1 << INPUT_BITS + self.shape.made_bits

    def key(self, emit: ThreadEmitter, state: Packed, process: Value, given: Value) -> Value:
        """The key of the step that a process takes on an input."""
        return emit.either(emit.up(state.read("locals", process), 32), given)

    # --- the table ---------------------------------------------------------------------------

    def _define_lookup(self, module: Value) -> Value:
        """lookup(key): the entry of a local step; 0 if the table does not have it, which then asks for it."""
        emit = define_for_thread(module, "lookup", [I64], I64)
        (key,) = emit.arguments
        steps, mask = emit.pointer(emit.shared, Shared.STEPS), emit.load(emit.shared, Shared.STEPS_MASK)
        stored, place, found = emit.add(key, 1), emit.reserve(1), emit.reserve(1)
        hashed = emit.down(emit.mul(stored, STEP_FACTOR), 32)
        recent = emit.place(emit.pointer(emit.own, Own.STEPS), emit.mul(emit.both(hashed, RECENT_STEPS - 1), 2))
        with emit.when(emit.compare(emit.load(recent), "==", stored)):
            emit.give(emit.load(recent, 1))
        emit.store(emit.both(hashed, mask), place)

        def searching() -> Value:
            emit.store(emit.load(steps, emit.mul(emit.load(place), 2)), found)
            return emit.compare(emit.load(found), "!=", stored)

        with emit.repeat(searching):
            with emit.when(emit.compare(emit.load(found), "==", 0)):
                self._want(emit, key)
                emit.give(0)
            emit.store(emit.both(emit.add(emit.load(place), 1), mask), place)
        entry = emit.load(steps, emit.add(emit.mul(emit.load(place), 2), 1))
        emit.store(stored, recent)
        emit.store(entry, recent, 1)
        emit.give(entry)
        return emit.function

    def _want(self, emit: ThreadEmitter, key: Value) -> None:
        """Asks for a step that is not in the table; where there is no room to ask, the state is expanded again."""
        emit.store(1, emit.own, Own.MISSING)
        count = emit.load(emit.own, Own.WANTED_COUNT)
        with emit.when(emit.compare(count, "<", emit.load(emit.own, Own.WANTED_ROOM))):
            emit.store(key, emit.pointer(emit.own, Own.WANTED), count)
            emit.store(emit.add(count, 1), emit.own, Own.WANTED_COUNT)

    # --- operations --------------------------------------------------------------------------

    def operations_at(self, emit: ThreadEmitter, entry: Value) -> Value:
        """Where the operations of a step begin."""
        return emit.both(emit.down(entry, 32), _PLACES)

    def _define_operate(self, module: Value) -> Value:
        """operate(words, process, parent, entry): applies the operations of a local step.

        Gives FAULT if the step is at fault, REFUSED if there is none, ASKED if what comes of it is not known; 1 if it
        delivers a message again or to a process that it is not for, or the companion refuses it; otherwise 0.
        """
        emit = define_for_thread(module, "operate", [POINTER, I64, I64, I64], I64)
        words, process, parent, entry = emit.arguments
        step = TakenStep(Packed(emit, self.layout, words), process, parent, emit.reserve(1))
        step.state.write("locals", process, emit.both(entry, _HALF))
        emit.store(0, step.misdelivered)
        with self._each(emit, entry) as (operation, argument):
            self._operation(emit, step, operation, argument)
        emit.give(emit.load(step.misdelivered))
        return emit.function

    def is_refused(self, emit: ThreadEmitter, entry: Value) -> Value:
        """Whether the protocol or the program is known not to take a step; what is not known counts as taken."""
        first = emit.load(emit.pointer(emit.shared, Shared.OPERATIONS), self.operations_at(emit, entry))
        known = emit.compare(emit.both(first, 15), "==", Operation.REFUSE)
        return emit.builder.and_(known, emit.nonzero(entry))

    @contextmanager
    def _each(self, emit: ThreadEmitter, entry: Value) -> Iterator[tuple[Value, Value]]:
        """Each operation of an entry's list, with its argument."""
        operations, at = emit.pointer(emit.shared, Shared.OPERATIONS), emit.reserve(1)
        emit.store(self.operations_at(emit, entry), at)
        with emit.repeat(lambda: emit.nonzero(emit.both(emit.load(operations, emit.load(at)), 15))):
            here = emit.load(at)
            yield emit.load(operations, here), emit.load(operations, emit.add(here, 1))
            emit.store(emit.add(here, 2), at)

    def _define_together(self, module: Value) -> Value:
        """together(words, parent, entry): what the states of all processes say after a step that is applied: of
        promises, and of what was done in the step. Gives 0 if the table does not have it, which then asks for it.
        """
        emit = define_for_thread(module, "together", [POINTER, I64, I64], I64)
        words, parent, entry = emit.arguments
        state, node = Packed(emit, self.layout, words), emit.reserve(1)
        emit.store(0, node)

        def then(given: Value) -> Value:
            found = emit.invoke(self.lookup, emit.either(emit.either(emit.up(emit.load(node), 32), given), TOGETHER))
            with emit.when(emit.compare(found, "==", 0), likely=False):
                emit.give(0)
            return found

        for process in range(self.shape.processes):
            found = then(state.read("locals", process))
            emit.store(emit.both(found, _HALF), node)
        if self.shape.owed:
            with self._each(emit, found) as (operation, given):
                self._owe(emit, state, operation, given)
        if self.shape.acts:
            first = emit.load(emit.pointer(emit.shared, Shared.OPERATIONS), self.operations_at(emit, entry))
            with emit.when(emit.compare(emit.both(first, 15), "==", Operation.ACT)):
                if self.shape.flying:
                    held = emit.reserve(self.layout.slots)
                    with emit.each(0, state.unpack_network(held)) as at:
                        found = then(emit.either(emit.load(held, at), FLIES))
                        emit.store(emit.both(found, _HALF), node)
                wrong = then(emit.down(first, 8))
                with self._each(emit, wrong) as (operation, _):
                    self._break(emit, operation, parent)
        emit.give(1)
        return emit.function

    def _owe(self, emit: ThreadEmitter, state: Packed, operation: Value, given: Value) -> None:
        """Opens the promises of the bits `given`, and closes those of the operation."""
        now = emit.either(state.read("owed", 0), given)
        state.write("owed", 0, emit.both(now, emit.inverse(emit.down(operation, 8))))

    def _break(self, emit: ThreadEmitter, operation: Value, parent: Value) -> None:
        self.findings.note_at(emit, emit.add(Own.FOUND, emit.down(operation, 8)), parent)

    def _operation(self, emit: ThreadEmitter, step: TakenStep, operation: Value, argument: Value) -> None:
        kind, about = emit.both(operation, 15), emit.down(operation, 8)
        with emit.when(emit.compare(kind, "==", Operation.ADD)):
            self.add_packet(emit, step.state, about)
        if self.shape.messages:
            with emit.when(emit.compare(kind, "==", Operation.DELIVER)):
                addressed = emit.both(emit.down(operation, 4), 1)
                self.history.deliver(emit, step, Delivery(about, argument, addressed))
        if self.shape.messages and self.findings.judges("csps", "sps"):
            with emit.when(emit.compare(kind, "==", Operation.CHECK)):
                self.history.network_send(emit, step, about, argument)
        if self.shape.reactive:
            with emit.when(emit.compare(kind, "==", Operation.ANSWER)):
                self.history.send(emit, step.state, step.process, step.state.read("sends", step.process), about)
        if self.shape.followed:
            with emit.when(emit.compare(kind, "==", Operation.FOLLOW)):
                self._follow(emit, step, about)
        with emit.when(emit.compare(kind, "==", Operation.FAULT)):
            self.findings.note(emit, "fault", step.parent)
            emit.give(FAULT)
        if self.shape.guarded:
            with emit.when(emit.compare(kind, "==", Operation.REFUSE)):
                emit.give(REFUSED)
        if self.shape.owed:
            with emit.when(emit.compare(kind, "==", Operation.OWE)):
                self._owe(emit, step.state, operation, argument)
        with emit.when(emit.compare(kind, "==", Operation.BREAK)):
            self._break(emit, operation, step.parent)

    def _follow(self, emit: ThreadEmitter, step: TakenStep, act: Value) -> None:
        """The companion takes a step by an act; where it has none, it stays where it is."""
        follower = step.state.read("follower", 0)
        entry = emit.invoke(self.lookup, emit.either(emit.either(emit.up(follower, 32), act), FOLLOWS))
        with emit.when(emit.compare(entry, "==", 0), likely=False):
            emit.give(ASKED)
        broken = emit.nonzero(emit.both(entry, BROKEN))
        with emit.when(broken, likely=False):
            self.findings.note(emit, "link", step.parent)
            emit.store(1, step.misdelivered)
        step.state.write("follower", 0, emit.select(broken, follower, emit.both(entry, _HALF)))

    def add_packet(self, emit: ThreadEmitter, state: Packed, packet: Value) -> None:
        """Puts a packet on the network; where there is no room, OVERFLOW is set."""
        left = state.put_packet(packet, position_on_network(emit, emit.shared, state, packet))
        with emit.when(emit.nonzero(left), likely=False):
            emit.store(1, emit.own, Own.OVERFLOW)
