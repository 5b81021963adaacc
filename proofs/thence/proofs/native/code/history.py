"""Code of the history of causality: it records sends and deliveries, and notes violations."""

from __future__ import annotations

from dataclasses import dataclass

from thence.proofs.native.code.emit import ThreadEmitter, Value
from thence.proofs.native.code.findings import Findings
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.layout import Layout


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step of `process` that is being taken: `state` is changed in place, `parent` is the number of the state before.

    `misdelivered`: a cell that becomes 1 when a message is delivered again, or to a process that it is not for.
    """

    state: Packed
    process: Value
    parent: Value
    misdelivered: Value


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message being delivered.

    `mates`: all messages of its sender. `addressed`: whether the process is one of its destinations.
    """

    message: Value
    mates: Value
    addressed: Value


class HistoryCode:
    """Writes the code of the history for one layout."""

    def __init__(self, layout: Layout, findings: Findings) -> None:
        self.shape = layout.shape
        self.findings = findings

    # --- sends -------------------------------------------------------------------------------

    def send(self, emit: ThreadEmitter, state: Packed, process: Value, sent: Value, choice: Value) -> None:
        """The process sends its message number `sent` to the destinations of the choice."""
        shape = self.shape
        targets = [sum(1 << process for process in choice) for chosen in shape.choices for choice in chosen]
        firsts = [sum(map(len, shape.choices[:process])) for process in range(shape.processes)]
        base, first, target = (
            emit.table(shape.bases, "bases"), emit.table(firsts, "firsts"), emit.table(targets, "targets"),
        )  # fmt: skip
        message = emit.add(emit.load(base, process), sent)
        to = emit.load(target, emit.add(emit.load(first, process), choice))
        somewhere = emit.nonzero(to)
        past = emit.select(somewhere, state.read("pasts", process), 0)
        self._count_send(emit, state, process)
        state.write("pastof", message, past)
        state.join("pasts", process, emit.up(emit.word_of_truth(somewhere), message))
        for other in range(shape.processes):
            chosen_bit = emit.up(emit.both(emit.down(to, other), 1), message)
            state.join("due", other, chosen_bit)
            if shape.chosen:
                state.join("addressed", other, chosen_bit)

    def _count_send(self, emit: ThreadEmitter, state: Packed, process: Value) -> None:
        """One message less is left to a process that does not send for ever."""
        if not self.shape.identities:
            state.increase("sends", process)
            return
        counted = emit.table([int(not identities) for identities in self.shape.identities], "counted")
        state.write("sends", process, emit.add(state.read("sends", process), emit.load(counted, process)))

    def network_send(self, emit: ThreadEmitter, step: TakenStep, message: Value, outside: Value) -> None:
        """Judges CSPS and SPS of a packet that carries `message`.

        `outside`: the messages whose senders are not the only destination of `message`.
        """
        state, owned = step.state, emit.table(self._owned(), "own")
        others = emit.both(state.read("pastof", message), emit.inverse(emit.load(owned, step.process)))
        with emit.when(emit.nonzero(others), likely=False):
            self.findings.note(emit, "csps", step.parent)
            if self.findings.judges("sps"):
                elsewhere: Value = emit.number(0)
                for other in range(self.shape.processes):
                    same = emit.compare(step.process, "==", other)
                    elsewhere = emit.either(elsewhere, emit.select(same, 0, state.read("due", other)))
                with emit.when(emit.nonzero(emit.both(emit.both(others, outside), elsewhere))):
                    self.findings.note(emit, "sps", step.parent)

    def _owned(self) -> list[int]:
        """For each process, the messages that it sends."""
        return [(1 << count) - 1 << base for count, base in zip(self.shape.sends, self.shape.bases, strict=False)]

    # --- deliveries --------------------------------------------------------------------------

    def deliver(self, emit: ThreadEmitter, step: TakenStep, delivery: Delivery) -> None:
        """Judges a delivery and records it."""
        bit = emit.up(1, delivery.message)
        awaited = emit.nonzero(emit.both(step.state.read("due", step.process), bit))
        with emit.builder.if_else(awaited) as (first, otherwise):
            with first:
                self._deliver_awaited(emit, step, delivery)
            with otherwise:
                emit.store(1, step.misdelivered)
                with emit.builder.if_else(emit.nonzero(delivery.addressed)) as (repeated, strange):
                    with repeated:
                        self.findings.note(emit, "at_most_once", step.parent)
                    with strange:
                        self.findings.note(emit, "no_creation", step.parent)

    def _deliver_awaited(self, emit: ThreadEmitter, step: TakenStep, delivery: Delivery) -> None:
        state, process, message = step.state, step.process, delivery.message
        due, bit, past = state.read("due", process), emit.up(1, message), state.read("pastof", message)
        skipped = emit.both(emit.both(past, due), emit.inverse(bit))
        with emit.when(emit.nonzero(skipped), likely=False):
            self.findings.note(emit, "causal", step.parent)
            if self.findings.judges("fifo"):
                with emit.when(emit.nonzero(emit.both(skipped, delivery.mates))):
                    self.findings.note(emit, "fifo", step.parent)
        if self.shape.overtakes:
            late = state.read("overtaken", process)
            with emit.when(emit.nonzero(emit.both(late, bit)), likely=False):
                self.findings.note(emit, "causally_ordered", step.parent)
            state.write("overtaken", process, emit.both(emit.either(late, skipped), emit.inverse(bit)))
        earlier = self._crossed(emit, step, message) if self.shape.ordered else None
        state.join("pasts", process, emit.either(past, bit))
        state.write("due", process, emit.both(due, emit.inverse(bit)))
        if earlier is not None:
            self._order(emit, state, message, earlier)
        if self.shape.multicast:
            with emit.when(emit.builder.not_(state.anywhere(message, "due"))):
                self._forget(emit, state, message)
        else:
            self._forget(emit, state, message)

    def _forget(self, emit: ThreadEmitter, state: Packed, message: Value) -> None:
        """A message that all its destinations have delivered leaves every past."""
        state.drop(message, "pasts", "pastof")
        state.write("pastof", message, 0)
        if not self.shape.chosen:
            return
        if not self.shape.ordered:
            state.drop(message, "addressed")
            return
        with emit.each(0, self.shape.messages) as known:
            needed = emit.builder.or_(state.anywhere(known, "due"), state.anywhere(known, "order"))
            with emit.when(emit.builder.not_(needed)):
                state.drop(known, "addressed")

    def _addressed(self, emit: ThreadEmitter, state: Packed, process: Value | int) -> Value:
        """The messages of which the process is a destination.

        Where states do not hold them: the messages of which it is one if they are sent.
        """
        if self.shape.chosen:
            return state.read("addressed", process)
        owned = self._owned()
        masks = [
            sum(mask for mask, chosen in zip(owned, self.shape.choices, strict=True) if chosen and target in chosen[0])
            for target in range(self.shape.processes)
        ]
        return emit.load(emit.table(masks, "addressed"), process)

    # --- total order -------------------------------------------------------------------------

    def _crossed(self, emit: ThreadEmitter, step: TakenStep, message: Value) -> Value:
        """Judges `total_order` of a delivery; gives the pending messages that the process delivered before."""
        state, process = step.state, step.process
        done = emit.both(self._addressed(emit, state, process), emit.inverse(state.read("due", process)))
        with emit.when(emit.nonzero(emit.both(state.read("order", message), done)), likely=False):
            self.findings.note(emit, "total_order", step.parent)
        pending: Value = emit.number(0)
        for other in range(self.shape.processes):
            pending = emit.either(pending, state.read("due", other))
        return emit.both(pending, done)

    def _order(self, emit: ThreadEmitter, state: Packed, message: Value, earlier: Value) -> None:
        """Keeps the messages delivered before `message`, as far as another process may still deliver them after it."""
        late: Value = emit.number(0)
        open_: Value = emit.number(0)
        for other in range(self.shape.processes):
            addressed, due = self._addressed(emit, state, other), state.read("due", other)
            is_destination = emit.nonzero(emit.both(emit.down(addressed, message), 1))
            open_ = emit.either(open_, emit.select(is_destination, due, 0))
            waits = emit.nonzero(emit.both(emit.down(due, message), 1))
            late = emit.either(late, emit.select(waits, addressed, 0))
        state.write("order", message, emit.both(state.read("order", message), late))
        noted = emit.both(earlier, open_)
        with emit.each(0, self.shape.messages) as early:
            known = emit.both(emit.down(noted, early), 1)
            state.join("order", early, emit.up(known, message))
