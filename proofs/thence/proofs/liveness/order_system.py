"""The transition system under order abstraction: finite where the plain one is infinite because numbers grow.

A state stands for all states that have the same shape and, on each line, the same order of numbers and the same
distances up to `near`. A step does the same in all of them, so this is a bisimulation. Its two conditions are checked
by the numbers themselves while handlers run (`order_number`): numbers that are compared or copied lie on one line, and
no addition moves a number into a gap of unknown size. Where a condition fails, the search starts again, with lines
joined or with larger distances told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.choices import Choices
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.interpreter import Cause, Interpreter, LocalState, Reactions, Step
from thence.dsl.run.values import Message, Packet
from thence.proofs.liveness.order_cells import changed, windows
from thence.proofs.liveness.order_lines import CONSTANT, Cell, Lines, Stamp, TooFar
from thence.proofs.liveness.order_number import OrderedNumber
from thence.proofs.liveness.order_text import with_equality_seen


class Again(Exception):
    """Lines were joined, or larger distances have to be told apart: the search has to start again."""


_MOST_KEPT = 20_000
"""So many sets of numbers are remembered with what they come to; then they are forgotten."""

Numbers: TypeAlias = tuple[tuple[Cell, int], ...]
"""Numbers, each with its cell."""

Grown: TypeAlias = tuple[tuple[Cell, Cell, int, int], ...]
"""Numbers to which a step added something: source cell, target cell, value before, value after."""


@dataclass(slots=True)
class OrderAbstractSystem(ReusedIdentities):
    """A system whose states are kept up to the order of numbers; `apply` raises Again and TooFar.

    With `piles`, packets that are equal up to order count once or more: after an arrival the packet is gone, or another
    one is left (`moves`). Every run then has an abstract run, but not every abstract run is one of a run.
    """

    lines: Lines = field(default_factory=Lines)
    piles: bool = False
    _grown: dict[tuple[int, int, int, Message | None], Grown] = field(init=False, default_factory=dict)
    _local_numbers: dict[tuple[int, int], Numbers] = field(init=False, default_factory=dict)
    _packet_numbers: dict[int, Numbers] = field(init=False, default_factory=dict)
    _rewritten: dict[tuple[int, int, tuple[int, ...]], int] = field(init=False, default_factory=dict)
    _standing: dict[tuple[int, int], int] = field(init=False, default_factory=dict)
    _stand_ins: dict[Numbers, int] = field(init=False, default_factory=dict)
    _smaller: dict[frozenset[int], dict[tuple[Cell, int], int]] = field(init=False, default_factory=dict)
    _smaller_by: Stamp | None = field(init=False, default=None)
    _erased: dict[int, int] = field(init=False, default_factory=dict)
    _parameters: dict[str, tuple[ir.Variable, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        ReusedIdentities.__post_init__(self)
        seen = replace(
            self.protocol,
            handlers=with_equality_seen(self.protocol.handlers),
            procedures=with_equality_seen(self.protocol.procedures),
        )
        self.interpreter = Interpreter(seen, self.workload.processes, self.workload.tree)
        self._parameters = {kind.name: kind.parameters for kind in self.protocol.packets}

    def initial(self) -> State:
        """No message sent yet."""
        return self.normal(ReusedIdentities.initial(self))

    def apply(self, state: State, action: Action, *, observe: bool = False) -> Outcome:
        """The state after `action`, up to order."""
        return self._applied_and_followed(state, action, observe)[0]

    def moves(self, state: State) -> Iterator[tuple[Action, State, Mapping[int, int]]]:
        """The possible steps: the action, the state that it leads to, and the new number of every packet."""
        for action in self.enabled(state):
            outcome, packets = self._applied_and_followed(state, action, False)
            yield action, outcome.state, packets
            if self.piles and action.kind == "receive":
                twice = state._replace(network=self.arranged((*state.network, action.packet)))
                outcome, packets = self._applied_and_followed(twice, action, False)
                yield action, outcome.state, packets

    def _applied_and_followed(self, state: State, action: Action, observe: bool) -> tuple[Outcome, Mapping[int, int]]:
        outcome = ReusedIdentities.apply(self, state, action, observe=observe)
        grown = self._grown.get((action.process, state.locals[action.process], action.packet, outcome.subject), ())
        if grown and action.kind in ("send", "receive", "tick"):
            numbers = frozenset(self._numbers(state))
            if any(self.lines.is_too_far(*each, numbers) for each in grown):
                raise TooFar
        after, packets = self._normal(outcome.state)
        return replace(outcome, state=after), packets

    def again(self) -> OrderAbstractSystem:
        """A fresh system with the same lines."""
        return OrderAbstractSystem(self.protocol, self.workload, self.lines)

    def same_packet(self, number: int) -> int:
        """The number of the packet with its numbers erased: this part stays the same while it is on its way."""
        known = self._erased.get(number)
        if known is None:
            erased = self._packet_changed(self.packet(number), lambda value, cell: 0)
            known = self._erased[number] = self.number_of(erased)
        return known

    # --- steps -------------------------------------------------------------------------------

    def _handle(
        self,
        process: int,
        local: LocalState,
        cause: Cause,
        reactions: Reactions,
        choices: Choices | None,
        observe: bool,
    ) -> Step:
        lines = self.lines
        grown: set[tuple[Cell, Cell, int, int]] = set()

        def ordered(value: int, cell: Cell) -> int:
            return value if lines.line(cell) == CONSTANT else OrderedNumber.of(value, cell, lines)

        def settle(value: int, cell: Cell) -> int:
            if not isinstance(value, OrderedNumber):
                lines.join(cell, CONSTANT)
                return value
            lines.join(value.cell, cell)
            lines.copies(value.cell, cell)
            if value.start != int(value):
                lines.grown.add(cell)
                grown.add((value.cell, cell, value.start, int(value)))
            return int(value)

        state = self._local_changed(process, local, ordered)
        reason = self._packet_changed(cause, ordered) if isinstance(cause, Packet) else cause
        step = self.interpreter.step(process, state, reason, reactions, choices, observe=observe)
        after = self._local_changed(process, step.state, settle)
        emissions = tuple(self._settled(process, each, settle) for each in step.emissions)
        lines.settle()
        if lines.changed:
            raise Again
        packet = self.number_of(cause) if isinstance(cause, Packet) else -1
        message = cause if isinstance(cause, Message) else None
        self._grown[process, self.local_number(local), packet, message] = tuple(grown)
        return Step(after, emissions, step.guards)

    def _settled(self, process: int, emission: Emission, settle: Callable[[int, Cell], int]) -> Emission:
        match emission:
            case Sent(kind, arguments, to):
                packet = self._packet_changed(Packet(kind, process, to, arguments), settle)
                return Sent(kind, packet.arguments, to)
            case Delivered():
                return emission

    def _local_changed(self, process: int, local: LocalState, change: Callable[[int, Cell], int]) -> LocalState:
        count = self.workload.processes
        return tuple(
            changed(value, variable.type, ("local", process, variable.name), change, count)
            for value, variable in zip(local, self.protocol.state, strict=True)
        )

    def _packet_changed(self, packet: Packet, change: Callable[[int, Cell], int]) -> Packet:
        way = ("packet", packet.kind, packet.src, packet.dst)
        count = self.workload.processes
        arguments = tuple(
            changed(value, parameter.type, (*way, parameter.name), change, count)
            for value, parameter in zip(packet.arguments, self._parameters[packet.kind], strict=True)
        )
        return packet._replace(arguments=arguments)

    # --- states ------------------------------------------------------------------------------

    def normal(self, state: State) -> State:
        """The state with the least numbers, from 1, that keep the order of numbers that meet, and their distances up to
        `near`.
        """
        return self._normal(state)[0]

    def _normal(self, state: State) -> tuple[State, dict[int, int]]:
        small = self._small(state)
        locals_ = tuple(
            self._rewrite(process, number, self._in_local(process, number), small)
            for process, number in enumerate(state.locals)
        )
        packets = {number: self._rewrite(-1, number, self._in_packet(number), small) for number in state.network}
        network = (packets[number] for number in state.network)
        kept = self.arranged(tuple(set(network) if self.piles else network))
        return state._replace(locals=locals_, network=kept), packets

    def _small(self, state: State) -> dict[tuple[Cell, int], int]:
        """The new value of each number in each cell. It depends on the numbers and the lines alone."""
        if self._smaller_by != self.lines.stamp or len(self._smaller) >= _MOST_KEPT:
            self._smaller, self._smaller_by = {}, self.lines.stamp
        owners = (*enumerate(state.locals), *((-1, number) for number in state.network))
        key = frozenset([self._numbers_of(owner) for owner in owners])
        found = self._smaller.get(key)
        if found is None:
            found = self._smaller[key] = self._made_small(frozenset(self._numbers(state)))
        return found

    def _numbers_of(self, owner: tuple[int, int]) -> int:
        """What stands for the numbers of a local state of a process, or of a packet (-1)."""
        known = self._standing.get(owner)
        if known is None:
            process, number = owner
            numbers = self._in_local(process, number) if process >= 0 else self._in_packet(number)
            known = self._standing[owner] = self._stand_ins.setdefault(numbers, len(self._stand_ins))
        return known

    def _made_small(self, numbers: frozenset[tuple[Cell, int]]) -> dict[tuple[Cell, int], int]:
        roles = {cell: self.lines.role(cell) for cell in {cell for cell, _ in numbers}}
        floors = {self.lines.line(cell): value for cell, value in numbers if roles[cell] == 2}
        raised = {
            (cell, value): max(value, floors[self.lines.line(cell)]) if roles[cell] == 1 else value
            for cell, value in numbers
        }
        least = self.lines.least(frozenset((cell, raised[cell, value]) for cell, value in numbers))
        return {each: least[each[0], raised[each]] for each in numbers}

    def _numbers(self, state: State) -> Iterator[tuple[Cell, int]]:
        for process, number in enumerate(state.locals):
            yield from self._in_local(process, number)
        for number in state.network:
            yield from self._in_packet(number)

    def _in_local(self, process: int, number: int) -> Numbers:
        known = self._local_numbers.get((process, number))
        if known is None:
            found: set[tuple[Cell, int]] = set()
            local = self.local(number)
            self._local_changed(process, local, self._noting(found))
            for value, variable in zip(local, self.protocol.state, strict=True):
                cell = ("local", process, variable.name)
                windows(value, variable.type, cell, self._noting_range(found), self.workload.processes)
            known = self._local_numbers[process, number] = tuple(sorted(found, key=repr))
        return known

    def _in_packet(self, number: int) -> Numbers:
        known = self._packet_numbers.get(number)
        if known is None:
            found: set[tuple[Cell, int]] = set()
            self._packet_changed(self.packet(number), self._noting(found))
            known = self._packet_numbers[number] = tuple(sorted(found, key=repr))
        return known

    def _noting(self, found: set[tuple[Cell, int]]) -> Callable[[int, Cell], int]:
        def note(value: int, cell: Cell) -> int:
            if self.lines.line(cell) != CONSTANT:
                found.add((cell, value))
            return value

        return note

    def _noting_range(self, found: set[tuple[Cell, int]]) -> Callable[[int, int, Cell], None]:
        """Every index of a window is noted: the window moves on one index at a time."""
        note = self._noting(found)

        def note_all(first: int, following: int, cell: Cell) -> None:
            for index in range(first, following + 1):
                note(index, cell)

        return note_all

    def _rewrite(self, process: int, number: int, numbers: Numbers, small: Mapping[tuple[Cell, int], int]) -> int:
        """The local state of the process, or the packet (-1), with these numbers on their lines instead."""
        new = tuple(small[each] for each in numbers)
        key = (process, number, new)
        known = self._rewritten.get(key)
        if known is None:

            def change(value: int, cell: Cell) -> int:
                return value if self.lines.line(cell) == CONSTANT else small[cell, value]

            if process >= 0:
                known = self.local_number(self._local_changed(process, self.local(number), change))
            else:
                known = self.number_of(self._packet_changed(self.packet(number), change))
            self._rewritten[key] = known
        return known
