"""How a global state is packed: a fixed number of 64-bit words, every field at a fixed place in one of them.

A packed state holds exactly what `State` holds. Two states are equal if and only if their words are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from thence.dsl.ir.observability import judged_in_steps, sees_network
from thence.dsl.run.actions import State
from thence.dsl.run.causality import History, Pending
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.explore.exploration import Storage
from thence.proofs.native.invariants import acts_jointly, is_joint

WORD = 64


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bits for the numbers of local states, of packets (plus one) and of a companion's states, and slots for packets in
    flight."""

    local_bits: int
    packet_bits: int
    slots: int
    follower_bits: int = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """The part of a protocol and its workload on which packed states and generated code depend.

    Attributes:
        choices: for each process, the sets of destinations among which the environment chooses.
        timers: for each timer, how often that of a process may fire; None: at any time when no packet is in flight, or
            at any time at all, see `restless`.
        inputs: for each input, how often each process may have it, and with how many choices of arguments.
        ordered: whether the history has the order of deliveries.
        overtakes: whether the history has what was overtaken.
        chooses: whether the protocol chooses in a local step.
        reactive: whether the application may send inside a delivery, and sends at all.
        guarded: whether the protocol lets the application wait (`when`), or programs or prompt sends do.
        owed: how many promises there are, each for some processes.
        joint: whether something is judged by the states of several processes at once, see `Together`.
        acts: whether formulas about actions are.
        flying: whether some of these speak of packets in flight.
        places: how many places programs have. Where there are some, the number of a local state in a packed state is
            that of the interpreter's local state times `places`, plus the place in the process's program.
        followed: whether a companion follows each step.
        identities: for each process, with how many identities it sends for ever; 0: it sends a fixed number of
            messages. Empty where all do so.
        prompt: whether a message is sent only if the protocol network-sends it at once.
        bounded: whether processes that send for ever wait while a collection is full.
        restless: whether timers fire at any moment, without a limit.
    """

    processes: int
    sends: tuple[int, ...]
    choices: tuple[tuple[tuple[int, ...], ...], ...]
    timers: tuple[int | None, ...]
    inputs: tuple[tuple[tuple[int, ...], int], ...]
    duplicates: int
    losses: int
    fifo: bool
    ordered: bool
    overtakes: bool = False
    chooses: bool = False
    reactive: bool = False
    guarded: bool = False
    places: int = 1
    owed: int = 0
    joint: bool = False
    acts: bool = False
    flying: bool = False
    followed: bool = False
    identities: tuple[int, ...] = ()
    prompt: bool = False
    bounded: bool = False
    restless: bool = False

    @property
    def bases(self) -> tuple[int, ...]:
        """For each process, the mask bit of its first message; at the end, the number of messages."""
        return (0, *accumulate(self.sends))

    @property
    def messages(self) -> int:
        """How many messages can be sent."""
        return sum(self.sends)

    @property
    def numbers(self) -> tuple[int, ...]:
        """For each process, how many numbers a message of it may have in a local step.

        Where sends are prompt, a process that has no free identity is asked whether it would send with one more.
        """
        endless = self.identities or (0,) * self.processes
        return tuple(sends + (self.prompt and bool(own)) for sends, own in zip(self.sends, endless, strict=True))

    @property
    def counted(self) -> tuple[int, ...]:
        """The limits of the timers that the scope counts, and then those of the inputs."""
        inputs = (max(limits) for limits, _ in self.inputs)
        return (*(limit for limit in self.timers if limit is not None), *inputs)

    @property
    def occurrences(self) -> int:
        """How many timers and inputs, with arguments, there are of all processes: their numbers come first."""
        return self.processes * (len(self.timers) + sum(choices for _, choices in self.inputs))

    @property
    def varies(self) -> bool:
        """Whether a local step may have alternatives, by what the protocol chooses or the application answers."""
        return self.chooses or self.reactive

    @property
    def made_bits(self) -> int:
        """Bits for how many messages a process has sent, where its steps depend on that."""
        return max(self.sends).bit_length() if self.reactive else 0

    @property
    def multicast(self) -> bool:
        """Whether some message has more than one destination."""
        return any(len(choice) > 1 for chosen in self.choices for choice in chosen)

    @property
    def chosen(self) -> bool:
        """Whether the processes that have still to deliver a message do not determine all its destinations."""
        return self.multicast and any(len(choices) > 1 for choices in self.choices)

    @property
    def branching(self) -> int:
        """Most application sends and timers that are enabled in one state."""
        return sum(map(len, self.choices)) + self.occurrences


def shape_of(system: System) -> Shape:
    """The shape of a system's states."""
    workload = system.workload
    count = workload.processes
    choices = [_choices(system, process) if workload.sends[process] else () for process in range(count)]
    longest = max((len(program) for program in workload.programs if program is not None), default=0)
    limits = tuple(map(workload.ticks_of, system.interpreter.timers))
    assert workload.ends or all(workload.identities(each) <= workload.sends[each] for each in range(count))
    return Shape(
        count, tuple(workload.sends), tuple(tuple(dict.fromkeys(each)) for each in choices), limits,
        tuple((use.limits, len(use.choices)) for use in workload.inputs), workload.duplicates, workload.losses,
        not system.protocol.network.reordering, "total_order" in system.protocol.properties,
        "causally_ordered" in system.protocol.properties, system.interpreter.chooses,
        workload.reactive and any(workload.sends),
        system.interpreter.has_guard or bool(workload.programs) or workload.prompt,
        1 + max(1, longest) if workload.programs else 1,
        0 if system.promises is None else len(system.promises.instances), is_joint(system),
        acts_jointly(system), sees_network(judged_in_steps(system.protocol)), system.companion is not None,
        () if workload.ends else tuple(map(workload.identities, range(count))), workload.prompt,
        workload.capacity is not None, system.ticks_at_any_moment,
    )  # fmt: skip


def _choices(system: System, process: int) -> tuple[tuple[int, ...], ...]:
    """The sets of destinations that a message of the process may have, anywhere in its program."""
    program = system.workload.programs[process] if system.workload.programs else None
    places = range(1 if program is None else len(program))
    return tuple(chosen for place in places for chosen in system.next_destinations(process, place))


@dataclass(frozen=True, slots=True)
class FieldRun:
    """Elements `start`, `start + 1`, ... (`count` of them) of a field, side by side in `word` from bit `shift`."""

    word: int
    shift: int
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Field:
    """An array of numbers of `bits` bits each; no element lies across two words."""

    name: str
    bits: int
    runs: tuple[FieldRun, ...]

    def places(self) -> Iterator[tuple[int, int]]:
        """Word and shift of each element."""
        return iter(_places(self.runs, self.bits))

    def read(self, words: Sequence[int]) -> tuple[int, ...]:
        """All elements."""
        mask = (1 << self.bits) - 1
        return tuple([words[word] >> shift & mask for word, shift in self.places()])

    def write(self, words: list[int], values: Sequence[int]) -> None:
        """Puts all elements into words that are zero there; fewer values than places leave zeros."""
        for (word, shift), value in zip(self.places(), values, strict=False):
            assert value >> self.bits == 0, f"{self.name} {value} has more than {self.bits} bits"
            words[word] |= value << shift

    def splat(self, word: int) -> int:
        """The lowest bit of each element that is in `word`."""
        return sum(1 << shift for known, shift in self.places() if known == word)

    def mask(self, word: int) -> int:
        """All bits of the field in `word`."""
        return self.splat(word) * ((1 << self.bits) - 1)


@lru_cache(maxsize=1024)
def _places(runs: tuple[FieldRun, ...], bits: int) -> tuple[tuple[int, int], ...]:
    return tuple((run.word, run.shift + offset * bits) for run in runs for offset in range(run.count))


@dataclass(frozen=True)
class Layout:
    """Where everything is.

    The fields: `locals`, `sends` by process; `ticks` by timer and process; `duplicates`, `losses` so far; `owed`: the
    promises that are open; `pasts`: by process, a mask of messages; `due`: by process, the mask of the messages that it
    must still deliver; `addressed`: by process, those of which it is a destination, where that is needed; `pastof`: by
    message, its causal past, zero once it is delivered; `order`: by message, those that some process delivered after
    it; `overtaken`: by process, those that it must still deliver, though it delivered one that they happened before;
    `follower`: the number of the companion's state; `network`: packet numbers plus one, then zeros. On reordering
    networks the packets are descending, on FIFO networks by channel, then in sending order.

    `group`: permutations of processes up to which states are stored, none for all states as they are.
    `storage`: which states are kept.
    """

    shape: Shape
    capacity: Capacity
    group: tuple[tuple[int, ...], ...] = ()
    storage: Storage = "exact"

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields by name; those of no bits have no runs."""
        shape, free = self.shape, list[int]()
        wanted = {
            "locals": (shape.processes, self.capacity.local_bits),
            "sends": (shape.processes, max(shape.sends).bit_length()),
            "ticks": (shape.processes * len(shape.counted), max(shape.counted, default=0).bit_length()),
            "duplicates": (1, shape.duplicates.bit_length()),
            "losses": (1, shape.losses.bit_length()),
            "owed": (1, shape.owed),
            "pasts": (shape.processes, shape.messages),
            "due": (shape.processes, shape.messages),
            "addressed": (shape.processes, shape.messages if shape.chosen else 0),
            "pastof": (shape.messages, shape.messages),
            "order": (shape.messages, shape.messages if shape.ordered else 0),
            "overtaken": (shape.processes, shape.messages if shape.overtakes else 0),
            "follower": (1, self.capacity.follower_bits if shape.followed else 0),
        }
        placed = {name: Field(name, bits, _placed(count, bits, free)) for name, (count, bits) in wanted.items()}
        bits = self.capacity.packet_bits
        placed["network"] = Field("network", bits, _placed_network(self.capacity.slots, bits, free))
        return placed

    @cached_property
    def words(self) -> int:
        """How many words a state has."""
        return 1 + max(run.word for field in self.fields.values() for run in field.runs)

    @property
    def branching(self) -> int:
        """Most transitions of a state."""
        return self.shape.branching + self.slots * (1 + bool(self.shape.duplicates) + bool(self.shape.losses))

    @cached_property
    def slots(self) -> int:
        """How many packets can be in flight."""
        return sum(run.count for run in self.fields["network"].runs)

    def encode(self, state: State) -> list[int]:
        """A state as words."""
        shape, fields = self.shape, self.fields
        words = [0] * self.words
        due, addressed = [0] * shape.processes, [0] * shape.processes
        pastof, order = [0] * shape.messages, [0] * shape.messages

        def address(message: Message) -> int:
            for process in message.dsts:
                addressed[process] |= 1 << self._bit(message)
            return self._bit(message)

        for entry in state.history.pending:
            bit = address(entry.message)
            pastof[bit] = entry.past
            for process in entry.due:
                due[process] |= 1 << bit
        for early, late in state.history.order:
            order[address(early)] |= 1 << address(late)
        overtaken = [0] * shape.processes
        for message, process in state.history.overtaken:
            overtaken[process] |= 1 << address(message)
        network = state.network if shape.fifo else reversed(state.network)
        numbers_of_locals = [number * shape.places for number in state.locals]
        if state.places:
            numbers_of_locals = [number + place for number, place in zip(numbers_of_locals, state.places, strict=True)]
        values: dict[str, Sequence[int]] = {
            "locals": numbers_of_locals, "sends": state.sends, "ticks": state.ticks, "duplicates": (state.duplicates,),
            "losses": (state.losses,), "owed": (state.owed,), "pasts": state.history.pasts, "due": due,
            "pastof": pastof, "addressed": addressed, "order": order, "overtaken": overtaken,
            "follower": (state.follower,), "network": [number + 1 for number in network],
        }  # fmt: skip
        for name, numbers in values.items():
            if fields[name].bits:
                fields[name].write(words, numbers)
        return words

    def _bit(self, message: Message) -> int:
        return self.shape.bases[message.src] + message.number

    def decode(self, words: Sequence[int]) -> State:
        """The state that the words are."""
        shape = self.shape

        def read(name: str, count: int) -> tuple[int, ...]:
            return self.fields[name].read(words) if self.fields[name].bits else (0,) * count

        due, pastof, order = read("due", shape.processes), read("pastof", 0), read("order", shape.messages)
        addressed = read("addressed", 0) if shape.chosen else due
        messages = [
            Message(process, number, self._destinations(process, shape.bases[process] + number, addressed))
            for process in range(shape.processes)
            for number in range(shape.sends[process])
        ]
        pending = []
        for bit, message in enumerate(messages):
            left = tuple(process for process in message.dsts if due[process] >> bit & 1)
            if left:
                pending.append(Pending(message, left, pastof[bit]))
        pairs = [
            (early, late)
            for bit, early in enumerate(messages)
            for other, late in enumerate(messages)
            if order[bit] >> other & 1
        ]
        passed = read("overtaken", shape.processes)
        overtaken = [
            (message, process)
            for bit, message in enumerate(messages)
            for process, mask in enumerate(passed)
            if mask >> bit & 1
        ]
        network = [number - 1 for number in self.fields["network"].read(words) if number]
        known = read("locals", 0)
        places = tuple(number % shape.places for number in known) if shape.places > 1 else ()
        if places:
            known = tuple(number // shape.places for number in known)
        return State(
            known, tuple(network if shape.fifo else reversed(network)),
            History(read("pasts", shape.processes), tuple(pending), tuple(pairs), tuple(overtaken)),
            read("sends", shape.processes), read("ticks", shape.processes * len(shape.counted)),
            read("duplicates", 1)[0], read("losses", 1)[0], places, read("owed", 1)[0],
            follower=read("follower", 1)[0],
        )  # fmt: skip

    def _destinations(self, process: int, bit: int, addressed: Sequence[int]) -> tuple[int, ...]:
        chosen = self.shape.choices[process]
        if len(chosen) == 1:
            return chosen[0]
        return tuple(other for other, mask in enumerate(addressed) if mask >> bit & 1)


def _placed(count: int, bits: int, free: list[int]) -> tuple[FieldRun, ...]:
    """Places for an array: in one word if it fits there, otherwise in as few as need be."""
    assert bits <= WORD
    if not bits or not count:
        return ()
    runs = []
    start = 0
    while start < count:
        left = count - start
        fitting = next((word for word, room in enumerate(free) if room >= left * bits), None)
        if fitting is None:
            free.append(WORD)
            fitting = len(free) - 1
        taken = min(left, free[fitting] // bits)
        runs.append(FieldRun(fitting, WORD - free[fitting], start, taken))
        free[fitting] -= taken * bits
        start += taken
    return tuple(runs)


def _placed_network(count: int, bits: int, free: list[int]) -> tuple[FieldRun, ...]:
    """At least `count` places, in the widest gaps, and new words where the gaps do not do."""
    while sum(room // bits for room in free) < count:
        free.append(WORD)
    runs: list[FieldRun] = []
    start = 0
    for word in sorted(range(len(free)), key=lambda word: (-free[word], word)):
        taken = free[word] // bits
        if start >= count or not taken:
            break
        runs.append(FieldRun(word, WORD - free[word], start, taken))
        free[word] -= taken * bits
        start += taken
    return tuple(runs)
