"""Code that finds a free identity of a process that sends for ever: one that nothing in a packed state refers to."""

from __future__ import annotations

from dataclasses import dataclass

from thence.proofs.native.code.cells import REFERS, Shared
from thence.proofs.native.code.emit import FALSE, ThreadEmitter, Value
from thence.proofs.native.code.local_steps import LocalSteps
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.layout import Shape

NO_IDENTITY = 64
"""In the place of the number of a free identity: there is none."""


@dataclass(frozen=True, slots=True)
class UsedIdentities:
    """What is in use in one state.

    `messages`: a mask. `full`: whether a collection is full, so that nobody sends for ever. `known`: whether the table
    has what all local states and packets refer to; if not, it is asked for that.
    """

    shape: Shape
    messages: Value
    full: Value
    known: Value

    def first_free(self, emit: ThreadEmitter, process: Value) -> Value:
        """The first number of a message of the process that is not in use, or NO_IDENTITY."""
        base = emit.load(emit.table(self.shape.bases, "bases"), process)
        own = [(1 << identities) - 1 for identities in self.shape.identities]
        mask = emit.load(emit.table(own, "identity masks"), process)
        free = emit.both(emit.inverse(emit.down(self.messages, base)), mask)
        lowest = emit.both(free, emit.sub(0, free))
        return emit.select(emit.nonzero(free), emit.ones(emit.sub(lowest, 1)), NO_IDENTITY)


@dataclass(frozen=True, slots=True)
class Identities:
    """Writes the code for one layout."""

    steps: LocalSteps

    def used(self, emit: ThreadEmitter, state: Packed, held: Value, count: Value) -> UsedIdentities:
        """The messages that the history, a local state or one of the `count` packets in flight refers to."""
        shape = self.steps.shape
        messages, full, known = emit.reserve(1), emit.reserve(1), emit.reserve(1)
        pending: Value = emit.number(0)
        for process in range(shape.processes):
            pending = emit.either(pending, state.read("due", process))
        for message in range(shape.messages if shape.ordered else 0):
            pending = emit.either(pending, state.read("order", message))
        emit.store(pending, messages)
        emit.store(0, full)
        emit.store(1, known)

        def refers(number: Value, is_packet: int) -> None:
            entry = emit.invoke(self.steps.lookup, emit.either(emit.up(number, 32), REFERS | is_packet))
            is_known = emit.nonzero(entry)
            operations = emit.pointer(emit.shared, Shared.OPERATIONS)
            mask = emit.load(operations, self.steps.operations_at(emit, entry))
            emit.store(emit.either(emit.load(messages), emit.select(is_known, mask, 0)), messages)
            emit.store(emit.either(emit.load(full), emit.both(entry, 1)), full)
            emit.store(emit.both(emit.load(known), emit.word_of_truth(is_known)), known)

        for process in range(shape.processes):
            refers(state.read("locals", process), 0)
        with emit.each(0, count) as at:
            refers(emit.sub(emit.load(held, at), 1), 1)
        is_full = emit.nonzero(emit.load(full)) if shape.bounded else FALSE
        return UsedIdentities(shape, emit.load(messages), is_full, emit.nonzero(emit.load(known)))
