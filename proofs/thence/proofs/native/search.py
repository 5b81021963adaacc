"""Breadth-first search in native code: rounds over each layer until every step that it asks for is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from thence.dsl.run.system import State, System
from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.cells import (
    BLOCK,
    FINDINGS,
    HOLE,
    MOST_INVARIANTS,
    NEVER,
    RECENT_STEPS,
    RING,
    ROOT,
    Own,
    Shared,
)
from thence.proofs.native.code.kernel import Kernel, compile_kernel
from thence.proofs.native.code.recent import table_of
from thence.proofs.native.layout import Capacity, Layout
from thence.proofs.native.memory import Array
from thence.proofs.native.symmetry import Symmetry
from thence.proofs.native.tables import StepTable

LARGEST = (1 << 32) - 4
"""So many numbers are there for states."""
FIRST_INDEX = 1 << 16
INDEX_WIDTH = 4
_PIECE = 1 << 17
_SMALLEST_STORE = 1 << 16
_WANTED = 1 << 14
_WORTH_SHARING = 1 << 11


class Overflow(Exception):
    """A packed state has no room for what it must hold; `capacity` would have."""

    def __init__(self, capacity: Capacity) -> None:
        super().__init__(capacity)
        self.capacity = capacity


class OutOfMemory(Exception):
    """The store has no room for the next states."""


@dataclass(slots=True)
class Worker:
    """What one thread has of its own."""

    cells: Array
    wanted: Array
    deferred: Array
    ring: Array
    recent: tuple[Array, Array, Array]

    @staticmethod
    def start(layout: Layout) -> Worker:
        worker = Worker(
            Array(128), Array(_WANTED), Array(_PIECE, 4), Array(RING * (layout.words + 2)),
            (table_of(layout.words), table_of(layout.words), Array(2 * RECENT_STEPS)),
        )  # fmt: skip
        worker.cells[Own.WANTED] = worker.wanted.address
        worker.cells[Own.WANTED_ROOM] = _WANTED
        worker.cells[Own.DEFERRED] = worker.deferred.address
        worker.cells[Own.RING_BASE] = worker.ring.address
        for cell, table in zip((Own.RECENT, Own.RECENT_SETTLED, Own.STEPS), worker.recent, strict=True):
            worker.cells[cell] = table.address
        for at in range(len(FINDINGS) + MOST_INVARIANTS):
            worker.cells[Own.FOUND + at] = NEVER
        return worker


@dataclass(slots=True)
class Renaming:
    """What is known of a symmetry, as arrays for native code: by permutation and number, and classes by number."""

    symmetry: Symmetry
    table: StepTable
    capacity: Capacity
    locals: Array
    packets: Array
    classes: Array
    locals_done: int = 0
    packets_done: int = 0

    @staticmethod
    def start(symmetry: Symmetry, table: StepTable, capacity: Capacity, shared: Array) -> Renaming:
        order, local_states, packets = len(symmetry.group), 1 << capacity.local_bits, 1 << capacity.packet_bits
        renaming = Renaming(
            symmetry, table, capacity,
            Array(order * local_states, 4), Array(order * packets, 4), Array(local_states, 4),
        )  # fmt: skip
        shared[Shared.RENAMED_LOCALS] = renaming.locals.address
        shared[Shared.RENAMED_PACKETS] = renaming.packets.address
        shared[Shared.CLASSES] = renaming.classes.address
        return renaming

    def extend(self) -> None:
        """Writes down what has become known since the last call."""
        symmetry, capacity, table = self.symmetry, self.capacity, self.table
        for number in islice(table.locals_noted, self.locals_done, None):
            names = symmetry.locals(number)
            self.classes[number] = min(names)
            for at, name in enumerate(names):
                self.locals[at << capacity.local_bits | number] = name
        for number in islice(table.packets_noted, self.packets_done, None):
            for at, name in enumerate(symmetry.packets(number)):
                self.packets[at << capacity.packet_bits | number + 1] = name + 1
        self.locals_done, self.packets_done = len(table.locals_noted), len(table.packets_noted)


@dataclass(slots=True)
class NativeSearch:
    """The reachable states of `system`, layer by layer.

    The states below `layer` are expanded, and `depth` is the length of the longest shortest way so far. Numbers are in
    the order of insertion, with holes. `found` maps a property to the least of the states that show a violation of it:
    by an action that violates it, or by what they are. `moves`: how often states got other numbers; those that had one
    then have the least, below `moved`.
    """

    system: System
    table: StepTable
    properties: frozenset[str]
    capacity: Capacity
    memory: int
    threads: int
    limit: int | None = None
    reductions: frozenset[str] = frozenset()
    layout: Layout = field(init=False)
    kernel: Kernel = field(init=False)
    found: dict[str, int] = field(init=False, default_factory=dict)
    layer: int = field(init=False, default=0)
    depth: int = field(init=False, default=0)
    holes: int = field(init=False, default=0)
    states: Array = field(init=False)
    parents: Array = field(init=False)
    index: Array = field(init=False)
    shared: Array = field(init=False)
    workers: list[Worker] = field(init=False)
    pool: ThreadPoolExecutor | None = field(init=False, default=None)
    renaming: Renaming | None = field(init=False, default=None)
    moves: int = field(init=False, default=0)
    moved: int = field(init=False, default=0)

    storage: ClassVar[Storage] = "exact"
    large_index: ClassVar[int] = 1 << 26
    """From so many places on, the index is doubled; until then it grows by four."""

    def __post_init__(self) -> None:
        symmetry = self.table.symmetry
        group = () if symmetry is None else symmetry.group
        self.layout = Layout(self.table.shape, self.capacity, group, self.reductions, self.storage)
        watched = {"at_most_once", "no_creation"} if self.layout.by_sends else set()
        self.kernel = compile_kernel(self.layout, self.properties & set(FINDINGS) | watched)
        self._reserve_store(min(LARGEST, self.memory // (8 * self.layout.words + 12)))
        self.index = Array(FIRST_INDEX, INDEX_WIDTH)
        self.shared = Array(64)
        self.shared[Shared.STATES], self.shared[Shared.PARENTS] = self.states.address, self.parents.address
        self.workers = [Worker.start(self.layout) for _ in range(self.threads)]
        if self.threads > 1:
            self.pool = ThreadPoolExecutor(self.threads - 1)
        self.states.write(0, self.layout.encode(self.system.initial()))
        self.parents[0] = ROOT
        self.shared[Shared.COUNT] = 1
        self._use_index(self.index)
        if symmetry is not None:
            self.renaming = Renaming.start(symmetry, self.table, self.capacity, self.shared)
            self._check_capacity()
            self.renaming.extend()
        self.kernel.rehash(self.shared.address, 0, 1)

    def _reserve_store(self, room: int) -> None:
        """Room for so many states, or for as many as can be reserved at once."""
        while True:
            try:
                self.states, self.parents = Array(room * self.layout.words), Array(room, 4)
                return
            except MemoryError:
                if room < _SMALLEST_STORE:
                    raise
                room //= 2

    # --- what is known -----------------------------------------------------------------------

    @property
    def numbered(self) -> int:
        """How many numbers are in use, holes included."""
        return self.shared[Shared.COUNT]

    @property
    def state_count(self) -> int:
        """How many states have been reached."""
        unused = sum(worker.cells[Own.LAST] - worker.cells[Own.NEXT] for worker in self.workers)
        return self.numbered - self.holes - unused

    @property
    def transitions(self) -> int:
        """How many transitions the states expanded so far have."""
        return sum(worker.cells[Own.EDGES] for worker in self.workers)

    @property
    def bytes_used(self) -> int:
        """How much memory the store takes."""
        return self.numbered * (8 * self.layout.words + 4) + INDEX_WIDTH * self.index.length

    @property
    def frontier(self) -> int:
        """How many states are still to be expanded, holes included."""
        return self.numbered - self.layer

    def state(self, number: int) -> State:
        """A state by number."""
        return self.layout.decode(self.states.read(number * self.layout.words, self.layout.words))

    def numbers(self, start: int = 0) -> Iterator[int]:
        """The numbers that states have, from `start` on."""
        return (number for number in range(start, self.numbered) if self.parents[number] != HOLE)

    def line_to(self, number: int) -> list[State]:
        """The states from the initial one to this one, each reached from the one before it."""
        line = [number]
        while (parent := self.parents[line[-1]]) != ROOT:
            line.append(parent)
        return [self.state(known) for known in reversed(line)]

    # --- the search --------------------------------------------------------------------------

    def advance(self, pause: Callable[[], None]) -> bool:
        """Expands the next layer; whether there is one after it. Calls `pause` between pieces, which may raise.

        Raises:
            Overflow: the layout is too small; nothing that was found so far is wrong, but the search must start again.
            OutOfMemory: the store is full.
        """
        end, before = self.numbered, self.state_count
        while self.layer < end:
            stop = min(end, self.layer + self._piece())
            self._expand_fully(self.layer, stop, None)
            self.layer = stop
            pause()
        more = self.state_count > before
        self._leave_blocks()
        self.depth += more
        return more

    def _leave_blocks(self) -> None:
        """Numbers that threads took and did not use are holes."""
        for worker in self.workers:
            self.holes += worker.cells[Own.LAST] - worker.cells[Own.NEXT]
            worker.cells[Own.NEXT] = worker.cells[Own.LAST]

    def _expand_fully(self, start: int, end: int, chosen: Array | None) -> None:
        """Expands some states; again and again those for which a step was not known."""
        asked = self._expand(start, end, chosen)
        while asked:
            again = Array(len(asked), 4)
            again.write(0, asked)
            asked = []
            done = 0
            while done < again.length:
                stop = min(again.length, done + self._piece())
                asked += self._expand(done, stop, again)
                done = stop

    def _piece(self) -> int:
        """How many states may be expanded at once. Store and index have room for whatever any one of them leads to;
        when less is left, those still to come are put off.
        """
        most = self.threads * (self._successors + BLOCK)
        while 2 * self._indexed > self.index.length or 2 * self.index.length < 10 * most:
            self._grow_index()
        spare = min(self.index.length * 2 // 5, self.states.length // self.layout.words - self.numbered)
        if self.bytes_used > self.memory or spare <= most:
            raise OutOfMemory
        self.shared[Shared.ROOM] = self.numbered + spare - most
        if self.limit is None:
            return _PIECE
        return max(1, min(_PIECE, (self.limit - self.state_count) // max(self.layout.branching, 1)))

    @property
    def _successors(self) -> int:
        """At most so many transitions a state has, by the steps that are known."""
        shape, plans = self.layout.shape, self.table.plans
        if plans is None:
            return self.layout.branching
        before = 1 + plans.most_before
        disturbed = bool(shape.duplicates) + bool(shape.losses)
        packets = self.layout.slots + shape.processes * plans.most_leaving
        return shape.processes * (plans.most_shown + before * shape.timers) + packets * (before + disturbed)

    @property
    def _indexed(self) -> int:
        """At most so many states are in the index."""
        return self.numbered

    def _grow_index(self) -> None:
        size = self.index.length * (4 if self.index.length < self.large_index else 2)
        if self.bytes_used + INDEX_WIDTH * size > self.memory:
            raise OutOfMemory
        self._use_index(Array(size, INDEX_WIDTH))
        self._rehash(self.numbered)

    def _use_index(self, index: Array) -> None:
        self.index = index
        self.shared[Shared.INDEX] = index.address
        self.shared[Shared.SLOTS_MASK] = index.length - 1

    def _rehash(self, end: int) -> None:
        """Enters what is numbered below `end` into the index."""
        middle = end // 2 if self.pool is not None and end >= _WORTH_SHARING else 0
        helper = self.pool.submit(self.kernel.rehash, self.shared.address, 0, middle) if self.pool and middle else None
        try:
            self.kernel.rehash(self.shared.address, middle, end)
            if helper is not None:
                helper.result()
        except BaseException:
            self._wait_for_helpers()
            raise

    def _expand(self, start: int, end: int, chosen: Array | None) -> list[int]:
        """Expands some states; gives those that must be expanded again now that the steps they asked for are known."""
        shared, table = self.shared, self.table
        shared[Shared.LIST] = 0 if chosen is None else chosen.address
        shared[Shared.CURSOR], shared[Shared.END] = start, end
        shared[Shared.STEPS], shared[Shared.STEPS_MASK] = table.entries.address, table.mask
        shared[Shared.OPERATIONS], shared[Shared.PACKETS] = table.operations.address, table.packets.address
        try:
            helpers = self._start_helpers() if end - start >= _WORTH_SHARING else []
            self.kernel.expand(shared.address, self.workers[0].cells.address)
            for helper in helpers:
                helper.result()
        except BaseException:
            self._wait_for_helpers()
            raise
        return self._collect()

    def _start_helpers(self) -> list[Future[None]]:
        if self.pool is None:
            return []
        address = self.shared.address
        return [self.pool.submit(self.kernel.expand, address, worker.cells.address) for worker in self.workers[1:]]

    def _wait_for_helpers(self) -> None:
        """Until no thread is in native code: what it works on is about to go. Whoever interrupts again waits, too."""
        while self.pool is not None:
            try:
                self.pool.shutdown(wait=True, cancel_futures=True)
                self.pool = None
            except KeyboardInterrupt:
                continue

    def _collect(self) -> list[int]:
        asked: list[int] = []
        wanted: dict[int, None] = {}
        for worker in self.workers:
            cells = worker.cells
            for at, name in enumerate((*FINDINGS, *[invariant.name for invariant in self.table.judge.invariants])):
                state = cells[Own.FOUND + at]
                if state != NEVER:
                    self.found[name] = min(state, self.found.get(name, state))
            asked += worker.deferred.read(0, cells[Own.DEFERRED_COUNT])
            wanted |= dict.fromkeys(worker.wanted.read(0, cells[Own.WANTED_COUNT]))
            cells[Own.DEFERRED_COUNT] = cells[Own.WANTED_COUNT] = 0
        self.table.fill(wanted)
        self._check_capacity()
        if self.renaming is not None:
            self.renaming.extend()
        return sorted(asked)

    def _check_capacity(self) -> None:
        local_bits, packet_bits, slots = self.capacity.local_bits, self.capacity.packet_bits, self.capacity.slots
        if self.table.locals_used > 1 << local_bits:
            local_bits += 2
        if self.table.packets_used + 1 >= 1 << packet_bits:
            packet_bits += 1
        if any(worker.cells[Own.OVERFLOW] for worker in self.workers):
            slots = self.layout.slots + max(4, self.layout.slots // 2)
        wanted = Capacity(local_bits, packet_bits, slots)
        if wanted != self.capacity:
            raise Overflow(wanted)
