"""Local steps as tables for native code, filled by the interpreter as the search asks for them.

The interpreter alone defines the steps of handlers: here its answers are written down. A step's key is the number
of the local state, and the input. Its entry is the local state after it, and a list of operations on the rest of the
global state; equal lists are kept once. Where steps have alternatives, a key also has the number of one, and how many
messages the process has sent, if it may send one inside a delivery; and an entry says whether there is a further one.
All alternatives of a step become known at once.

What is judged by the states of several processes has keys of its own: the number of the states of the first processes,
and the next one's; or the number of the states of all, and that of what was done in the step. Where that speaks of
packets in flight, these come in between, one after the other. See `Together`.

What local states and packets refer to are entries, too, where messages are sent for ever: a list with one mask.

The steps of a companion are entries, too. Their keys have the number of its state and of the act that it sees, and
their entries its state after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain

from thence.dsl.run.actions import Action, acts_of, cause_of
from thence.dsl.run.evaluate import Acts
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.interpreter import Reactions
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence, Packet
from thence.proofs.links.following import Following, companion_of
from thence.proofs.native.code.cells import (
    BROKEN,
    FINDINGS,
    FLIES,
    FOLLOWS,
    INPUT_BITS,
    KNOWN,
    MORE,
    REFERS,
    STEP_FACTOR,
    TOGETHER,
    Operation,
)
from thence.proofs.native.inputs import Input, Inputs
from thence.proofs.native.invariants import LocalJudge, StepJudge, Together
from thence.proofs.native.layout import Shape
from thence.proofs.native.memory import Array
from thence.proofs.native.progress_measure import Measure
from thence.proofs.native.symmetry import Asymmetric, Symmetry, inverse

_WORD, _HALF = (1 << 64) - 1, (1 << 32) - 1
_NODES = (1 << 31) - 1
_INPUT = (1 << INPUT_BITS) - 1
_SMALLEST = 1 << 12

MOST_PACKETS = 1 << 24
"""Room for the numbers of packets; memory is taken only for those that are there."""

_OF_ACTION = "a formula about an action tells processes apart"


@dataclass(slots=True)
class HashedEntries:
    """Entries by key, as native code looks them up: keys, each plus one, and entries alternate in `array`.

    What is entered is written there by `publish` alone, so that native code can run meanwhile.
    """

    array: Array = field(init=False)
    _known: dict[int, int] = field(init=False, default_factory=dict)
    _fresh: list[int] = field(init=False, default_factory=list)
    _size: int = field(init=False)

    def __post_init__(self) -> None:
        self._size = _SMALLEST
        self.array = Array(2 * self._size)

    def __contains__(self, key: int) -> bool:
        return key in self._known

    def __getitem__(self, key: int) -> int:
        return self._known[key]

    def __len__(self) -> int:
        return len(self._known)

    @property
    def keys(self) -> list[int]:
        """The keys, in the order in which they came."""
        return [*self._known]

    @property
    def mask(self) -> int:
        """The size of the hash table, minus one."""
        return self._size - 1

    def enter(self, key: int, entry: int) -> None:
        """Adds a key that is not there."""
        self._known[key] = entry
        self._fresh.append(key)

    def publish(self) -> None:
        """Writes down what was entered since the last time; no native code may run."""
        if 2 * len(self._known) > self._size:
            while 2 * len(self._known) > self._size:
                self._size *= 4
            self.array, self._fresh = Array(2 * self._size), [*self._known]
        words, last = self.array.elements, 2 * self._size - 2
        for key in self._fresh:
            stored = key + 1
            place = (stored * STEP_FACTOR & _WORD) >> 31 & last
            while words[place]:
                place = place + 2 & last
            words[place], words[place + 1] = stored, self._known[key]
        self._fresh = []

    def take(self, array: Array) -> None:
        """The array of another table becomes that of this one, which native code reads; the keys stay unknown here."""
        self.array, self._size = array, array.length // 2


@dataclass(slots=True)
class WordLists:
    """Lists of words, one after the other in `array`."""

    array: Array = field(init=False)
    used: int = field(init=False, default=0)
    _places: dict[tuple[int, ...], int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.array = Array(1 << 24)

    def write(self, words: tuple[int, ...]) -> int:
        """The place of the words from now on."""
        place = self.used
        if place + len(words) > self.array.length:
            raise MemoryError("there are too many different steps")
        self.array.write(place, words)
        self.used += len(words)
        return place

    def place_of(self, words: tuple[int, ...]) -> int:
        """The place of the words, the same for equal ones."""
        place = self._places.get(words)
        if place is None:
            place = self._places[words] = self.write(words)
        return place


@dataclass(slots=True)
class StepTable:
    """The steps known so far: `entries` by key, with lists of `operations`.

    `packets` holds, by number plus one, the receiver, and, in the upper half, the channel; and first the most
    alternatives of a step. `checks`: whether network
    sends are judged. `judge` says which invariants a step breaks; `symmetry` checks steps, and `measure` sees them.
    `locals_noted` and `packets_noted` have the numbers that native code may meet, in the order in which they came up,
    closed under the symmetry; `locals_used` and `packets_used` are above all of them. `companion` follows the system.
    """

    system: System
    shape: Shape
    checks: bool
    judge: LocalJudge
    symmetry: Symmetry | None = None
    measure: Measure | None = None
    inputs: Inputs = field(init=False)
    steps: StepJudge = field(init=False)
    together: Together = field(init=False)
    entries: HashedEntries = field(init=False, default_factory=HashedEntries)
    operations: WordLists = field(init=False, default_factory=WordLists)
    packets: Array = field(init=False)
    companion: Following | None = field(init=False)
    locals_noted: dict[int, None] = field(init=False, default_factory=dict)
    packets_noted: dict[int, None] = field(init=False, default_factory=dict)
    _known_operations: dict[tuple[int, tuple[Emission, ...]], list[int]] = field(init=False, default_factory=dict)
    _known_broken: dict[tuple[int, int], list[int]] = field(init=False, default_factory=dict)
    locals_used: int = field(init=False, default=0)
    packets_used: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.packets = Array(MOST_PACKETS)
        self.packets[0] = 1
        self.companion = companion_of(self.system)
        self.inputs = Inputs(self.system, self.shape)
        self.steps, self.together = StepJudge(self.system), Together(self.system)
        for local in self.system.initial().locals:
            self._note_local(local * self.shape.places)

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that operations BREAK, by position."""
        return (*(invariant.name for invariant in self.judge.invariants), *self.steps.names)

    @property
    def alternatives(self) -> int:
        """The most alternatives of a step."""
        return self.packets[0]

    @property
    def followers_used(self) -> int:
        """How many states of the companion have a number."""
        return 0 if self.companion is None else self.companion.size

    def fill(self, keys: Iterable[int]) -> None:
        """Asks the interpreter for the steps with these keys.

        Raises:
            Asymmetric: where a step differs from the one under other names.
            NoMeasure: where a step is no progress by any measure.
        """
        for key in keys:
            if key not in self.entries:
                if key & TOGETHER:
                    self.entries.enter(key, self._entry_together(key))
                elif key & REFERS == REFERS:
                    self.entries.enter(key, self._entry_of_references((key ^ REFERS) >> 32, key & 1))
                elif key & FOLLOWS:
                    self.entries.enter(key, self._entry_of_companion((key ^ FOLLOWS) >> 32, key & _HALF))
                elif self.shape.varies:
                    self._fill_alternatives(key)
                else:
                    self.entries.enter(key, self._entry(key >> 32, self.inputs[key & _HALF]))

    def checksum(self) -> str:
        """A hash of all steps known, whoever numbered the local states and packets."""
        digest = sha256()
        for key in self.entries.keys:
            entry = self.entries[key]
            digest.update(b"%d %d " % (key, entry))
        digest.update(bytes(self.operations.array.view(0, self.operations.used)))
        return digest.hexdigest()

    def parts(self) -> tuple[memoryview, memoryview, memoryview]:
        """What native code reads, as bytes: the entries, the operations, the packets."""
        self.entries.publish()
        return (
            self.entries.array.view(0, self.entries.array.length), self.operations.array.view(0, self.operations.used),
            self.packets.view(0, self.packets_used + 1),
        )  # fmt: skip

    def take_parts(self, entries: bytes, operations: bytes, packets: bytes) -> None:
        """What native code reads becomes that of another table, of which these are the parts."""
        array = Array(len(entries) // 8)
        array.view(0, array.length)[:] = entries
        self.entries.take(array)
        self.operations.array.view(0, len(operations) // 8)[:] = operations
        self.packets.view(0, len(packets) // 8)[:] = packets

    def _entry_together(self, key: int) -> int:
        """The number of one more state or packet, with those before; what all states say of promises; what was done
        wrong."""
        node, given = key >> 32 & _NODES, key & _HALF
        if given & FLIES:
            return KNOWN | self._then(node, (given ^ FLIES) - 1) | self._list(()) << 32
        if self.together.is_whole(node):
            broken = self._broken_together(node, given)
            return KNOWN | self._list(tuple(self._breaks(len(self.judge.invariants) + at for at in broken))) << 32
        after = self._then(node, given // self.shape.places)
        owing: tuple[int, ...] = ()
        if self.together.is_whole(after):
            owing = self._owing(*self.steps.said_together(self.together.states(after)))
        return KNOWN | after | self._list(owing) << 32

    def _then(self, node: int, number: int) -> int:
        after = self.together.then(node, number)
        if after > _NODES:
            raise MemoryError("there are too many different states of processes")
        return after

    def _owing(self, given: int, kept: int) -> tuple[int, ...]:
        return (Operation.OWE | kept << 8, given) if given or kept else ()

    def _fill_alternatives(self, key: int) -> None:
        """Enters every alternative of a step; `key` is that of the first."""
        local, given = key >> 32, key & _HALF
        asked, made = self.inputs[given & _INPUT], given >> INPUT_BITS
        at = INPUT_BITS + self.shape.made_bits
        assert not given >> at, "an alternative of a step that is not known"
        refusal = self._refusal(local, asked)
        if refusal is not None:
            self.entries.enter(key, refusal)
            return
        if self.symmetry is not None:
            self.symmetry.check_answers(asked.action, asked.message, local, made)
        ways = list(self._alternatives(local // self.shape.places, asked, made))
        if max(len(ways) >> 32 - at, self.packets_used + self.inputs.numbered >> INPUT_BITS):
            raise MemoryError("there are too many different steps")
        self.packets[0] = max(self.alternatives, len(ways))
        for number, action in enumerate(ways):
            entry = self._entry_of(local, replace(asked, action=action), self.system.answers(action, made))
            self.entries.enter(key | number << at, entry | (MORE if number + 1 < len(ways) else 0))

    def _alternatives(self, local: int, asked: Input, made: int) -> Iterator[Action]:
        """The action of an input with whatever the process chooses and the application answers."""
        yield from self.system.by_script(local, asked.action, asked.message)
        if self.shape.reactive:
            yield from self.system.reacting(local, asked.action, asked.message, made)

    def _entry(self, local: int, asked: Input) -> int:
        refusal = self._refusal(local, asked)
        if refusal is not None:
            return refusal
        return KNOWN | local | self._list(()) << 32 if self._is_one_more(asked) else self._entry_of(local, asked)

    def _is_one_more(self, asked: Input) -> bool:
        """Whether this is the message that the process would send if it had one more identity than it has."""
        message, identities = asked.message, self.shape.identities
        return message is not None and bool(identities) and 0 < identities[message.src] <= message.number

    def _refusal(self, local: int, asked: Input) -> int | None:
        """The entry of what the protocol or the program does not let the application do; None where they let it."""
        if not self.shape.guarded or not self._refuses(local, asked):
            return None
        if self.symmetry is not None:
            self.symmetry.check(asked.action, asked.message, local, None)
        return KNOWN | local | self._list((Operation.REFUSE, 0)) << 32

    def _entry_of_references(self, number: int, is_packet: int) -> int:
        """Whether a local state has a full collection; with the messages that it, or a packet, refers to."""
        assert isinstance(self.system, ReusedIdentities)
        found = self.system.mentioned_in_packet(number) if is_packet else self.system.mentioned_in_local(number)
        mask = sum(1 << self.shape.bases[source] + nth for source, nth in found)
        full = self.shape.bounded and not is_packet and self.system.is_full(number)
        return KNOWN | full | self.operations.place_of((mask, Operation.END, 0)) << 32

    def _entry_of_companion(self, follower: int, act: int) -> int:
        assert self.companion is not None
        after = self.companion.step(follower, act)
        return KNOWN | (after if isinstance(after, int) else BROKEN)

    def _entry_of(self, local: int, known: Input, answers: Reactions = ()) -> int:
        process, place = known.action.process, local % self.shape.places
        step = self.system.local_step(process, local // self.shape.places, known.action, known.message, answers)
        if self.symmetry is not None and not answers:
            self.symmetry.check(known.action, known.message, local, step)
        if isinstance(step, Fault):
            return KNOWN | local | self._list((Operation.FAULT, 0)) << 32
        after, emissions = step
        if self.shape.places > 1:
            then = self.system.place_after(process, place, known.message, emissions)
            if then is None:
                return KNOWN | local | self._list((Operation.REFUSE, 0)) << 32
            after = after * self.shape.places + then
        if self.measure is not None:
            self.measure.see(local, cause_of(known.action, known.message), after, emissions)
        self._note_local(after)
        acts = self._acts(known, emissions)
        act = self.steps.number_of(acts)
        found: list[int] = [Operation.ACT | act << 8, 0] if act else []
        if self.companion is not None:
            seen = self.companion.act(local // self.shape.places, known.action, known.message, emissions)
            found += [] if seen is None else [Operation.FOLLOW | seen << 8, 0]
        found += self._operations_of_all(process, emissions)
        found += self._broken(process, after)
        local_after = after // self.shape.places
        if acts:
            first = len(self.judge.invariants)
            found += self._breaks(first + at for at in self._broken_alone(process, local_after, acts))
        found += self._owing(*self.steps.said_by(process, local_after))
        return KNOWN | after | self._list(tuple(found)) << 32

    def _acts(self, known: Input, emissions: tuple[Emission, ...]) -> Acts:
        """What the process does in the step, where some formula is about that."""
        if not self.steps.names:
            return {}
        action = known.action
        match action.kind:
            case "receive":
                return acts_of(action.process, self.system.packet(action.packet), emissions)
            case "input":
                return acts_of(action.process, Occurrence(action.name, action.arguments), emissions)
            case _:
                return acts_of(action.process, None, emissions)

    def _breaks(self, positions: Iterable[int]) -> list[int]:
        return [word for at in positions for word in (Operation.BREAK | (len(FINDINGS) + at) << 8, 0)]

    def _refuses(self, local: int, asked: Input) -> bool:
        """Whether a condition, the program, or that sends are prompt keeps the application from doing this."""
        number, place = divmod(local, self.shape.places)
        if asked.message is not None and self.shape.places > 1:
            process = asked.action.process
            if asked.message.dsts not in self.system.next_destinations(process, place):
                return True
        if self.system.refuses(asked.action, number, asked.message):
            return True
        if asked.message is None or not self.shape.prompt:
            return False
        assert isinstance(self.system, ReusedIdentities)
        return not self.system.goes_at_once(number, asked.action, asked.message)

    def _broken(self, process: int, local: int) -> list[int]:
        """What says which invariants are false of a process in a local state, the same under all names."""
        known = self._known_broken.get((process, local))
        if known is None:
            known = self._known_broken[process, local] = self._breaks(self._judged(process, local))
        return known

    def _judged(self, process: int, local: int) -> tuple[int, ...]:
        broken = self.judge.broken(process, local // self.shape.places)
        if self.symmetry is not None:
            for permutation, other in zip(self.symmetry.group, self.symmetry.locals(local), strict=True):
                if self.judge.broken(permutation[process], other) != broken:
                    raise Asymmetric("an invariant tells processes apart")
        return broken

    def _broken_alone(self, process: int, local: int, acts: Acts) -> tuple[int, ...]:
        """The formulas about what a process does that depend on nobody else, the same under all names."""
        broken = tuple(self.steps.broken_alone(process, local, acts))
        if self.symmetry is not None and self.steps.names and acts:
            for permutation, other in zip(self.symmetry.group, self.symmetry.locals(local), strict=True):
                renamed = self.symmetry.acts(acts, permutation)
                if tuple(self.steps.broken_alone(permutation[process], other, renamed)) != broken:
                    raise Asymmetric(_OF_ACTION)
        return broken

    def _broken_together(self, node: int, act: int) -> tuple[int, ...]:
        """The other formulas about actions that are false after an act, the same under all names."""
        states, packets, acts = self.together.states(node), self.together.flying(node), self.steps.acts[act - 1]
        broken = tuple(self.steps.broken_together(states, packets, acts))
        if self.symmetry is not None:
            for at, permutation in enumerate(self.symmetry.group):
                others = [self.symmetry.locals(states[process])[at] for process in inverse(permutation)]
                flying = self.system.arranged(tuple(self.symmetry.packets(packet)[at] for packet in packets))
                renamed = self.symmetry.acts(acts, permutation)
                if tuple(self.steps.broken_together(others, flying, renamed)) != broken:
                    raise Asymmetric(_OF_ACTION)
        return broken

    def _operations_of_all(self, process: int, emissions: tuple[Emission, ...]) -> list[int]:
        """What a step does that has these emissions: steps have few different ones."""
        known = self._known_operations.get((process, emissions))
        if known is None:
            each = (self._operations_of(process, emission) for emission in emissions)
            known = self._known_operations[process, emissions] = [*chain.from_iterable(each)]
        return known

    def _operations_of(self, process: int, emission: Emission) -> list[int]:
        match emission:
            case Delivered(message, then):
                addressed = int(process in message.dsts)
                found = [Operation.DELIVER | addressed << 4 | self._bit(message) << 8, self._sent_by(message.src)]
                if then is not None:
                    found += [Operation.ANSWER | self.shape.choices[process].index(then.dsts) << 8, 0]
                return found
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
        """The place of a list of operations."""
        return self.operations.place_of((*operations, Operation.END, 0))

    def _note_local(self, number: int) -> None:
        if number in self.locals_noted:
            return  # and with it all its renamings
        for name in (number,) if self.symmetry is None else self.symmetry.locals(number):
            self.locals_noted.setdefault(name)
            self.locals_used = max(self.locals_used, name + 1)

    def _note_packet(self, number: int) -> None:
        for name in (number,) if self.symmetry is None else self.symmetry.packets(number):
            if name in self.packets_noted:
                continue  # native code may read it at this moment
            packet = self.system.packet(name)
            channel = packet.src * self.shape.processes + packet.dst
            self.packets[name + 1] = packet.dst | channel << 32
            self.packets_noted[name] = None
            self.packets_used = max(self.packets_used, name + 1)
