"""The search with a store that forgets: by levels of a measure of progress, the lowest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.cells import Own, Shared, Sweep
from thence.proofs.native.code.sweep_store import MOST_LEVELS
from thence.proofs.native.memory import Array
from thence.proofs.native.progress_measure import DUPLICATES, LOSSES, SENDS, TICKS, Measure, NoMeasure, Regress
from thence.proofs.native.search import FIRST_INDEX, INDEX_WIDTH, NativeSearch

_WORD = (1 << 64) - 1
_WORTH_FORGETTING = 1 << 12


@dataclass(slots=True)
class LayeredSearch(NativeSearch):
    """Level by level. States that are expanded stay until they are a third of what is kept, and then go together.

    `level` is the next to be expanded; so many states are `expanded`, and so many of these `forgotten`. `sweep` is what
    passes over the states kept are told and find.
    """

    measure: Measure | None = None
    level: int = field(init=False, default=0)
    expanded: int = field(init=False, default=0)
    forgotten: int = field(init=False, default=0)
    _sweep: Array = field(init=False)
    _locals: Array = field(init=False)
    _packets: Array = field(init=False)
    _locals_done: int = field(init=False, default=0)
    _packets_done: int = field(init=False, default=0)

    storage: ClassVar[Storage] = "layers"
    large_index: ClassVar[int] = 0

    def __post_init__(self) -> None:
        measure = self.measure
        assert measure is not None
        NativeSearch.__post_init__(self)
        self.parents[0] = 0
        self._sweep = Array(64)
        self._locals, self._packets = Array(1 << self.capacity.local_bits), Array(1 << self.capacity.packet_bits)
        measure.changed = False
        weights = measure.weights
        for cell, value in (
            (Shared.PROGRESS_LOCALS, self._locals.address), (Shared.PROGRESS_PACKETS, self._packets.address),
            (Shared.PROGRESS_START, measure.start), (Shared.PROGRESS_SENDS, weights[SENDS]),
            (Shared.PROGRESS_TICKS, weights[TICKS]), (Shared.PROGRESS_DUPLICATES, weights[DUPLICATES]),
            (Shared.PROGRESS_LOSSES, weights[LOSSES]),
        ):  # fmt: skip
            self.shared[cell] = value & _WORD
        self._check_capacity()
        self._extend(measure)

    def _extend(self, measure: Measure) -> None:
        """Writes down what has become known since the last call."""
        table = self.table
        for number in islice(table.locals_noted, self._locals_done, None):
            self._locals[number] = measure.of_local(number) & _WORD
        for number in islice(table.packets_noted, self._packets_done, None):
            self._packets[number + 1] = measure.of_packet(number) & _WORD
        self._locals_done, self._packets_done = len(table.locals_noted), len(table.packets_noted)

    @property
    def state_count(self) -> int:
        """How many states have been reached."""
        unused = sum(worker.cells[Own.LAST] - worker.cells[Own.NEXT] for worker in self.workers)
        return self.numbered - self.holes - unused + self.forgotten

    @property
    def frontier(self) -> int:
        """How many states are still to be expanded."""
        return self.state_count - self.expanded

    def advance(self, pause: Callable[[], None]) -> bool:
        """Expands the next level; whether there is one after it; see `NativeSearch.advance`."""
        if self._crowded():
            self._forget()
        chosen = self._gather()
        start, count = 0, self._sweep[Sweep.COUNT]
        while start < count:
            stop = min(count, start + self._piece())
            self._expand_fully(start, stop, chosen)
            self.expanded += stop - start
            start = stop
            pause()
        self._leave_blocks()
        self.level += 1
        return self.expanded < self.state_count

    def _gather(self) -> Array:
        """The states of the lowest level that has some, which becomes the level."""
        chosen, sweep = Array(self.numbered, 4), self._sweep
        sweep[Sweep.END], sweep[Sweep.LIST] = self.numbered, chosen.address
        gather = self.kernel.gather
        assert gather is not None
        sweep[Sweep.COUNT] = 0
        while not sweep[Sweep.COUNT]:
            sweep[Sweep.LEVEL] = self.level
            gather(self.shared.address, sweep.address)
            if not sweep[Sweep.COUNT]:
                assert sweep[Sweep.NEXT] <= MOST_LEVELS, "there is no state left to be expanded"
                self.level = sweep[Sweep.NEXT]
        self.depth = max(self.depth, sweep[Sweep.DEPTH])
        return chosen

    def _crowded(self) -> bool:
        """Whether enough of what is kept can be forgotten; less is enough when memory runs short."""
        stale = self.expanded - self.forgotten + self.holes
        part = 16 if 2 * self.bytes_used > self.memory else 3
        return self.numbered >= _WORTH_FORGETTING and stale * part > self.numbered

    def _forget(self) -> None:
        """Only what is still to be expanded stays, under new numbers."""
        sweep, compact = self._sweep, self.kernel.compact
        assert compact is not None
        sweep[Sweep.END], sweep[Sweep.LEVEL] = self.numbered, self.level - 1
        compact(self.shared.address, sweep.address)
        left = sweep[Sweep.COUNT]
        self.forgotten = self.expanded
        self.holes = 0
        self.shared[Shared.COUNT] = left
        assert self.state_count == self.expanded + left
        for worker in self.workers:
            worker.cells[Own.NEXT] = worker.cells[Own.LAST] = 0
        self._use_index(Array(max(FIRST_INDEX, 1 << (2 * left).bit_length()), INDEX_WIDTH))
        self._rehash(left)
        self.moves, self.moved = self.moves + 1, left

    def _collect(self) -> list[int]:
        asked = NativeSearch._collect(self)
        assert self.measure is not None
        if self.measure.changed:
            raise Regress
        self._extend(self.measure)
        strayed = {worker.cells[Own.STRAYED] for worker in self.workers}
        assert 1 not in strayed, "a step that was known to be progress is none"
        if 2 in strayed:
            raise NoMeasure(f"the measure of progress has more than {MOST_LEVELS:,} levels")
        return asked
