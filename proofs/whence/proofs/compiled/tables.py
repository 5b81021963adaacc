"""Local steps as tables for native code, filled by the interpreter as the search asks for them.

What a handler does stays defined by the interpreter alone: here its answers are written down. A step's key is the
number of the local state, and the input. Its entry is the local state after it, and a list of operations
on the rest of the global state, after a word that tells which packets they add; equal lists are kept once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from whence.dsl.execute import Delivered, Emission, Sent
from whence.dsl.system import State, System
from whence.dsl.values import Fault, Message, Packet
from whence.proofs.compiled.cells import (
    ALONE,
    FINDINGS,
    FURTHER,
    IDLE,
    KNOWN,
    NEEDED,
    PAIR,
    PAIR_SHIFT,
    SENDS_SHIFT,
    SHOWN,
    STEP_FACTOR,
    Operation,
)
from whence.proofs.compiled.confluence import Claim, Confluence, Place
from whence.proofs.compiled.effects import Effects
from whence.proofs.compiled.inputs import Inputs
from whence.proofs.compiled.invariants import LocalJudge
from whence.proofs.compiled.lateness import Lateness
from whence.proofs.compiled.layout import Shape
from whence.proofs.compiled.measure import Measure
from whence.proofs.compiled.memory import Array
from whence.proofs.compiled.symmetry import Asymmetric, Symmetry

_WORD, _HALF = (1 << 64) - 1, (1 << 32) - 1
_SMALLEST = 1 << 12


class Withdrawn(Exception):
    """Something that the search relied on has turned out false: it must start again, and knows better then."""


@dataclass(slots=True)
class StepTable:
    """The steps known so far. Keys and entries alternate in `entries`; a key is stored plus one.

    `packets` holds, by number plus one, the receiver and, in the upper half, the channel. `checks` tells whether
    what is said about network sends matters. `judge` says which invariants a step breaks; `symmetry` checks steps, and
    `measure` sees them. `confluence` has what may be taken alone, `lateness` which sends may come later, and `effects` what
    both know of steps. `locals_noted` and
    `packets_noted` have the numbers that native code may meet, in the order in which they came up, closed under the
    symmetry; `locals_used` and `packets_used` are above all of them.
    """

    system: System
    shape: Shape
    checks: bool
    judge: LocalJudge
    symmetry: Symmetry | None = None
    measure: Measure | None = None
    effects: Effects | None = field(init=False, default=None)
    confluence: Confluence | None = field(init=False, default=None)
    lateness: Lateness | None = field(init=False, default=None)
    entries: Array = field(init=False)
    operations: Array = field(init=False)
    packets: Array = field(init=False)
    known: dict[int, int] = field(init=False, default_factory=dict)
    locals_noted: dict[int, None] = field(init=False, default_factory=dict)
    packets_noted: dict[int, None] = field(init=False, default_factory=dict)
    locals_used: int = field(init=False, default=0)
    packets_used: int = field(init=False, default=0)
    inputs: Inputs = field(init=False)
    _relied_on: set[int] = field(init=False, default_factory=set)
    _lists: dict[tuple[int, ...], int] = field(init=False, default_factory=dict)
    _size: int = field(init=False, default=_SMALLEST)
    _operations_used: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.entries = Array(2 * self._size)
        self.operations = Array(1 << 24)
        self.packets = Array(1 << 24)
        self.inputs = Inputs(self.system, self.shape)
        for local in self.system.initial().locals:
            self._note_local(local)

    def reduce(self, watched: tuple[int, ...], alone: bool, late: bool) -> None:
        """From now on, find out what may be left out. `watched`: positions of variables that are judged elsewhere."""
        self.effects = Effects(self.system, self.inputs, self.judge, watched, self.symmetry)
        if late:
            self.lateness = Lateness(self.effects)
        if not alone:
            return
        most = tuple(
            sum(
                sends
                for sends, choices in zip(self.shape.sends, self.shape.choices, strict=True)
                if any(process in choice for choice in choices)
            )
            for process in range(self.shape.processes)
        )
        self.confluence = Confluence(self.effects, most)
        for process, local in enumerate(self.system.initial().locals):
            self.confluence.start(Place(process, 0, local))

    @property
    def mask(self) -> int:
        """The size of the hash table, minus one."""
        return self._size - 1

    def fill(self, keys: Iterable[int]) -> None:
        """Asks the interpreter for the steps with these keys.

        Raises:
            Fault: where an invariant has no value.
            Asymmetric: where a step differs from the one under other names.
            NoMeasure: where a step is no progress, whatever is measured.
        """
        fresh = [key for key in keys if key not in self.known]
        for key in fresh:
            self._enter(key, self._entry(key))
        if self.confluence is not None and self.effects is not None:
            self._claim(self.confluence, self.effects, [key for key in fresh if not key & PAIR])

    def _claim(self, confluence: Confluence, effects: Effects, fresh: list[int]) -> None:
        """Marks the new steps that may be taken alone."""
        for key in fresh:
            confluence.observe(self._place(key), key & _HALF)
        gone = {
            self._key(effects.renamed(*claim, renaming))
            for claim in confluence.withdrawn
            for renaming in effects.all_renamings()
        }
        confluence.withdrawn.clear()
        for key in fresh:
            if confluence.stands(self._place(key), key & _HALF):
                self._relied_on.add(key)
                self._replace(key, self.known[key] | ALONE)
        wrong = self._relied_on & gone
        for key in wrong:
            self._replace(key, self.known[key] & ~ALONE)
        self._relied_on -= wrong
        if wrong:
            raise Withdrawn

    def taken_alone(self, state: State, packet: int) -> bool:
        """Whether the arrival of the packet may be taken alone in this state."""
        if self.confluence is None:
            return False
        process = self.system.packet(packet).dst
        place = Place(process, state.sends[process], state.locals[process])
        return self.confluence.stands(place, self.inputs.arrival(packet))

    def _place(self, key: int) -> Place:
        """Where the step with this key is taken. A key tells how much has been sent with the step."""
        given = self.inputs[key & _HALF]
        sent = (key >> 32 + SENDS_SHIFT) - (given.message is not None)
        return Place(given.action.process, sent, self._local(key))

    def _key(self, claim: Claim) -> int:
        sent = claim.place.sends + (self.inputs[claim.given].message is not None)
        return (sent << SENDS_SHIFT | claim.place.local) << 32 | claim.given

    def _local(self, key: int) -> int:
        local = key >> 32
        return local & (1 << SENDS_SHIFT) - 1 if self.effects is not None else local

    def _entry(self, key: int) -> int:
        if key & PAIR:
            return self._pair(key)
        local, given = self._local(key), key & _HALF
        known = self.inputs[given]
        step = self.system.local_step(known.action.process, local, known.action, known.message)
        if self.symmetry is not None:
            self.symmetry.check(known.action, known.message, local, step)
        if isinstance(step, Fault):
            return KNOWN | local | self._list((Operation.FAULT, 0)) << 32 | self._lateness(key)
        after, emissions = step
        if self.measure is not None:
            self.measure.see(local, known.action.packet, known.message, after, emissions)
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
        return KNOWN | after | self._list(tuple(found)) << 32 | self._lateness(key)

    def _lateness(self, key: int) -> int:
        """What the entry of a send says about whether it may come later."""
        if self.lateness is None or self.effects is None or self.inputs[key & _HALF].message is None:
            return 0
        place, send = self._place(key), key & _HALF
        shown = self.effects.effect(place, send).visible
        return SHOWN * shown | IDLE * self.lateness.is_idle(place, send)

    def _pair(self, key: int) -> int:
        """Whether a send has to come before another step of its process."""
        assert self.lateness is not None
        given = key & (1 << PAIR_SHIFT) - 1
        process, sent = self.inputs[given].action.process, key >> 32 + SENDS_SHIFT
        choice = (key & _HALF & ~PAIR) >> PAIR_SHIFT
        send = self.inputs.sends(process, sent)[choice]
        need = self.lateness.need(Place(process, sent, self._local(key)), send, given)
        return KNOWN | NEEDED * need.itself | FURTHER * need.further

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
            words = [self._added(operations), *operations, Operation.END]
            self.operations.write(place, words)
            self._operations_used += len(words) + 1
        return place

    def _added(self, operations: tuple[int, ...]) -> int:
        """The packets that the operations put on the network: a mask in which those that differ by 64 share a bit."""
        added = [operation >> 8 for operation in operations[::2] if operation & 15 == Operation.ADD]
        return reduce(or_, (1 << number % 64 for number in added), 0)

    def _enter(self, key: int, entry: int) -> None:
        self.known[key] = entry
        if 2 * len(self.known) > self._size:
            self._size *= 4
            self.entries = Array(2 * self._size)
            for known, value in self.known.items():
                self._put(known, value)
        else:
            self._put(key, entry)

    def _replace(self, key: int, entry: int) -> None:
        """Another entry for a step that is known."""
        self.known[key] = entry
        stored = key + 1
        place = (stored * STEP_FACTOR & _WORD) >> 32 & self.mask
        while self.entries[2 * place] != stored:
            place = place + 1 & self.mask
        self.entries[2 * place + 1] = entry

    def _put(self, key: int, entry: int) -> None:
        stored = key + 1
        place = (stored * STEP_FACTOR & _WORD) >> 32 & self.mask
        while self.entries[2 * place]:
            place = place + 1 & self.mask
        self.entries.write(2 * place, [stored, entry])

    def _note_local(self, number: int) -> None:
        for name in (number,) if self.symmetry is None else self.symmetry.locals(number):
            if self.effects is not None and name >> SENDS_SHIFT:
                raise MemoryError("there are too many local states")
            self.locals_noted.setdefault(name)
            self.locals_used = max(self.locals_used, name + 1)

    def _note_packet(self, number: int) -> None:
        for name in (number,) if self.symmetry is None else self.symmetry.packets(number):
            if self.lateness is not None and self.inputs.arrival(name) >> PAIR_SHIFT:
                raise MemoryError("there are too many packets")
            packet = self.system.packet(name)
            self.packets[name + 1] = packet.dst | (packet.src * self.shape.processes + packet.dst) << 32
            self.packets_noted.setdefault(name)
            self.packets_used = max(self.packets_used, name + 1)
