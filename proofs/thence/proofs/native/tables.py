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

from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.system import State, System
from thence.dsl.run.values import Fault, Message, Packet
from thence.proofs.native.code.cells import ALONE, FINDINGS, KNOWN, PLANS, SENDS_SHIFT, SILENT, STEP_FACTOR, Operation
from thence.proofs.native.confluence import Claim, Confluence, Place
from thence.proofs.native.effects import Effects
from thence.proofs.native.inputs import Input, Inputs
from thence.proofs.native.invariants import LocalJudge
from thence.proofs.native.layout import Shape
from thence.proofs.native.memory import Array
from thence.proofs.native.plans import Plans
from thence.proofs.native.progress_measure import Measure
from thence.proofs.native.right_movers import Lateness
from thence.proofs.native.symmetry import Asymmetric, Symmetry

_WORD, _HALF = (1 << 64) - 1, (1 << 32) - 1
_SMALLEST = 1 << 12


class Withdrawn(Exception):
    """Something that the search relied on has turned out false: it must start again, and knows better then."""


@dataclass(slots=True)
class StepTable:
    """The steps known so far. Keys and entries alternate in `entries`; a key is stored plus one.

    `packets` holds, by number plus one, the receiver and, in the upper half, the channel. `checks` tells whether
    what is said about network sends matters. `judge` says which invariants a step breaks; `symmetry` checks steps, and
    `measure` sees them. `confluence` has what may be taken alone, `lateness` what may come later, by way of `plans`;
    `effects` what both know of steps. `loud`: the kinds of packets that deliver something. `locals_noted` and
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
    plans: Plans | None = field(init=False, default=None)
    loud: set[str] = field(init=False, default_factory=set)
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
            self.plans = Plans(self.lateness, self.inputs, self._written)
            protocol = self.system.protocol
            self.loud = {
                kind.name for kind in protocol.packets if kind.carries is not None or not protocol.network.reordering
            }
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
        quiet = len(self.loud)
        for key in fresh:
            self._enter(key, self._entry(key))
        if self.confluence is not None and self.effects is not None:
            self._claim(self.confluence, self.effects, [key for key in fresh if not key & PLANS])
        if len(self.loud) > quiet:
            self._packets_again()
            raise Withdrawn

    def _claim(self, confluence: Confluence, effects: Effects, fresh: list[int]) -> None:
        """Marks the new steps that may be taken alone."""
        for key in fresh:
            confluence.observe(self._place(key), key & _HALF)
        if self.lateness is not None:
            for place, given in self.lateness.met:
                confluence.observe(place, given)
            self.lateness.met.clear()
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
        if key & PLANS:
            assert self.plans is not None
            return self.plans.entry(key)
        local, given = self._local(key), key & _HALF
        known = self.inputs[given]
        step = self.system.local_step(known.action.process, local, known.action, known.message)
        if self.symmetry is not None:
            self.symmetry.check(known.action, known.message, local, step)
        if isinstance(step, Fault):
            return KNOWN | local | self._list((Operation.FAULT, 0)) << 32
        after, emissions = step
        if self.lateness is not None and any(isinstance(emission, Delivered) for emission in emissions):
            self._note_loud(known)
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
        return KNOWN | after | self._list(tuple(found)) << 32

    def _note_loud(self, given: Input) -> None:
        """A packet that delivers something."""
        if given.action.kind == "receive":
            self.loud.add(self.system.packet(given.action.packet).kind)

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
            place = self._lists[operations] = self._written((self._added(operations), *operations, Operation.END, 0))
        return place

    def _written(self, words: tuple[int, ...]) -> int:
        """Where the words are from now on."""
        place = self._operations_used
        if place + len(words) > self.operations.length:
            raise MemoryError("there are too many different steps")
        self.operations.write(place, words)
        self._operations_used += len(words)
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
            self._describe_packet(name)
            self.packets_noted.setdefault(name)
            self.packets_used = max(self.packets_used, name + 1)

    def _describe_packet(self, number: int) -> None:
        packet = self.system.packet(number)
        silent = self.lateness is not None and packet.kind not in self.loud
        channel = packet.src * self.shape.processes + packet.dst
        self.packets[number + 1] = packet.dst | channel << 32 | SILENT * silent

    def _packets_again(self) -> None:
        """Other packets are silent now."""
        for number in self.packets_noted:
            self._describe_packet(number)
