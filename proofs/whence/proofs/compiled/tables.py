"""Local steps as tables for native code, filled by the interpreter as the search asks for them.

What a handler does stays defined by the interpreter alone: here its answers are written down. A step's key is the
number of the local state, and the input. Its entry is the local state after it, and a list of operations
on the rest of the global state; equal lists are kept once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from whence.dsl.execute import Delivered, Emission, Sent
from whence.dsl.system import Action, System
from whence.dsl.values import Fault, Message, Packet
from whence.proofs.compiled.cells import FINDINGS, STEP_FACTOR, Operation
from whence.proofs.compiled.invariants import LocalJudge
from whence.proofs.compiled.layout import Shape
from whence.proofs.compiled.memory import Array
from whence.proofs.compiled.symmetry import Asymmetric, Symmetry

_WORD = (1 << 64) - 1
_SMALLEST = 1 << 12


@dataclass(frozen=True, slots=True)
class Input:
    """What a local step reacts to: `process` takes it. `message` is what is sent, for an application send."""

    action: Action
    message: Message | None = None


@dataclass(slots=True)
class StepTable:
    """The steps known so far. Keys and entries alternate in `entries`; a key is stored plus one.

    `packets` holds, by number plus one, the receiver and, in the upper half, the channel. `checks` tells whether
    what is said about network sends matters. `judge` says which invariants a step breaks; `symmetry` checks steps.
    """

    system: System
    shape: Shape
    checks: bool
    judge: LocalJudge
    symmetry: Symmetry | None = None
    entries: Array = field(init=False)
    operations: Array = field(init=False)
    packets: Array = field(init=False)
    known: dict[int, int] = field(init=False, default_factory=dict)
    locals_used: int = field(init=False, default=0)
    packets_used: int = field(init=False, default=0)
    _inputs: list[Input] = field(init=False, default_factory=list)
    _lists: dict[tuple[int, ...], int] = field(init=False, default_factory=dict)
    _size: int = field(init=False, default=_SMALLEST)
    _operations_used: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.entries = Array(2 * self._size)
        self.operations = Array(1 << 24)
        self.packets = Array(1 << 24)
        shape = self.shape
        self._inputs = [Input(Action("tick", process)) for process in range(shape.processes)]
        for process in range(shape.processes):
            for number in range(shape.sends[process]):
                for choice in shape.choices[process]:
                    action = Action("send", process, choice)
                    self._inputs.append(Input(action, Message(process, number, choice)))
        for local in self.system.initial().locals:
            self._note_local(local)

    @property
    def mask(self) -> int:
        """The size of the hash table, minus one."""
        return self._size - 1

    def fill(self, keys: Iterable[int]) -> None:
        """Asks the interpreter for the steps with these keys.

        Raises:
            Fault: where an invariant has no value.
            Asymmetric: where a step differs from the one under other names.
        """
        for key in keys:
            if key not in self.known:
                self._enter(key, self._entry(key))

    def _entry(self, key: int) -> int:
        local, given = key >> 32, key & (1 << 32) - 1
        known = self._input(given)
        step = self.system.local_step(known.action.process, local, known.action, known.message)
        if self.symmetry is not None:
            self.symmetry.check(known.action, known.message, local, step)
        if isinstance(step, Fault):
            return local | self._list((Operation.FAULT, 0)) << 32
        after, emissions = step
        self._note_local(after)
        found: list[int] = []
        for emission in emissions:
            found += self._operations_of(known.action.process, emission)
        broken = self.judge.broken(known.action.process, after)
        if self.symmetry is not None:
            for permutation, other in zip(self.symmetry.group, self.symmetry.locals(after), strict=True):
                if self.judge.broken(permutation[known.action.process], other) != broken:
                    raise Asymmetric("an invariant tells processes apart")
        for invariant in broken:
            found += [Operation.BREAK | (len(FINDINGS) + invariant) << 8, 0]
        return after | self._list(tuple(found)) << 32

    def _input(self, number: int) -> Input:
        if number < len(self._inputs):
            return self._inputs[number]
        packet = number - len(self._inputs)
        return Input(Action("receive", self.system.packet(packet).dst, (), packet))

    def _operations_of(self, process: int, emission: Emission) -> list[int]:
        match emission:
            case Delivered(message):
                addressed = int(process in message.dsts)
                return [Operation.DELIVER | addressed << 4 | self._bit(message) << 8, self._sent_by(message.src)]
            case Sent(kind, arguments, to):
                found = []
                carried = self.system.carried(Packet(kind, process, to, arguments))
                if carried is not None and self.checks:
                    outside = sum(
                        self._sent_by(other)
                        for other in range(self.shape.processes)
                        if any(destination != other for destination in carried.dsts)
                    )
                    found = [Operation.CHECK | self._bit(carried) << 8, outside]
                number = self.system.packet_number(process, emission)
                self._note_packet(number)
                return [*found, Operation.ADD | (number + 1) << 8, 0]

    def _bit(self, message: Message) -> int:
        return self.shape.bases[message.src] + message.number

    def _sent_by(self, process: int) -> int:
        return (1 << self.shape.sends[process]) - 1 << self.shape.bases[process]

    def _list(self, operations: tuple[int, ...]) -> int:
        """Where a list of operations is."""
        place = self._lists.get(operations)
        if place is None:
            place = self._lists[operations] = self._operations_used
            words = [*operations, Operation.END]
            self.operations.write(place, words)
            self._operations_used += len(words) + 1
        return place

    def _enter(self, key: int, entry: int) -> None:
        self.known[key] = entry
        if 2 * len(self.known) > self._size:
            self._size *= 4
            self.entries = Array(2 * self._size)
            for known, value in self.known.items():
                self._put(known, value)
        else:
            self._put(key, entry)

    def _put(self, key: int, entry: int) -> None:
        stored = key + 1
        place = (stored * STEP_FACTOR & _WORD) >> 32 & self.mask
        while self.entries[2 * place]:
            place = place + 1 & self.mask
        self.entries.write(2 * place, [stored, entry])

    def _note_local(self, number: int) -> None:
        for name in (number,) if self.symmetry is None else self.symmetry.locals(number):
            self.locals_used = max(self.locals_used, name + 1)

    def _note_packet(self, number: int) -> None:
        for name in (number,) if self.symmetry is None else self.symmetry.packets(number):
            packet = self.system.packet(name)
            self.packets[name + 1] = packet.dst | (packet.src * self.shape.processes + packet.dst) << 32
            self.packets_used = max(self.packets_used, name + 1)
