"""What the observer of causality need not keep, because nobody can ask for it any more.

The past of a process is read when it sends, so that of a process that has sent everything is dead. The past of a
message is read by those who deliver it: to be checked against what they still have to deliver, and to become
part of their own pasts. If all of them have sent everything, the rest of it is dead; except for CSPS and SPS, which
read it when the message leaves. Two states that differ in dead bits have the same future: an exact bisimulation, equal
on everything that is judged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from thence.dsl.run.system import State
from thence.proofs.native.code.emit import Emitter, Value
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.layout import Shape


@dataclass(frozen=True, slots=True)
class Dead:
    """Clears what is dead. `departures`: whether pasts are read when messages leave."""

    shape: Shape
    departures: bool

    @staticmethod
    def of(shape: Shape, properties: Collection[str]) -> Dead:
        """For what is judged."""
        return Dead(shape, not {"csps", "sps"}.isdisjoint(properties))

    def state(self, state: State) -> State:
        """The state without what is dead."""
        done = [sent == limit for sent, limit in zip(state.sends, self.shape.sends, strict=True)]
        pasts = tuple(0 if finished else past for past, finished in zip(state.history.pasts, done, strict=True))
        pending = state.history.pending
        if not self.departures:
            pending = tuple(
                entry._replace(past=entry.past & self._due(state, entry.due))
                if all(done[process] for process in entry.due)
                else entry
                for entry in pending
            )
        return state._replace(history=state.history._replace(pasts=pasts, pending=pending))

    def _due(self, state: State, processes: Collection[int]) -> int:
        """The messages that some of the processes must still deliver, as a mask."""
        found = 0
        for entry in state.history.pending:
            if not set(entry.due).isdisjoint(processes):
                found |= 1 << self.shape.bases[entry.message.src] + entry.message.number
        return found

    def clear(self, emit: Emitter, state: Packed, process: Value) -> None:
        """Code that clears what a step of the process has made dead, so that nothing dead is left."""
        shape = self.shape
        limits = emit.table(shape.sends, "sends")

        def finished(one: Value | int) -> Value:
            return emit.compare(state.read("sends", one), "==", emit.load(limits, one))

        done = finished(process)
        with emit.when(done):
            state.write("pasts", process, 0)
        if self.departures:
            return
        if shape.multicast:
            touched: Value = emit.number(0)
            for other in range(shape.processes):
                touched = emit.either(touched, state.read("due", other))
        else:
            sent = emit.add(emit.load(emit.table(shape.bases, "bases"), process), state.read("sends", process))
            newest = emit.down(emit.up(1, sent), 1)
            touched = emit.either(emit.select(done, state.read("due", process), 0), newest)
        left = emit.reserve(1)
        emit.store(touched, left)
        with emit.repeat(lambda: emit.nonzero(emit.load(left))):
            rest = emit.load(left)
            lowest = emit.both(rest, emit.sub(0, rest))
            message = emit.ones(emit.sub(lowest, 1))
            live: Value = emit.number(0)
            for other in range(shape.processes):
                due = state.read("due", other)
                asked = emit.select(finished(other), due, (1 << 64) - 1)
                live = emit.either(live, emit.select(emit.nonzero(emit.both(due, lowest)), asked, 0))
            state.write("pastof", message, emit.both(state.read("pastof", message), live))
            emit.store(emit.both(rest, emit.sub(rest, 1)), left)
