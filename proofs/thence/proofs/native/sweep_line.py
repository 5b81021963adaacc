"""The search with a sweep line: by levels of a measure of progress, the lowest first.

Source: S. Christensen, L. M. Kristensen, T. Mailund, A Sweep-Line Method for State Space Exploration, TACAS 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.cells import Shared, Sweep
from thence.proofs.native.code.sweep_store import MOST_LEVELS
from thence.proofs.native.memory import Array
from thence.proofs.native.progress_measure import DUPLICATES, LOSSES, SENDS, TICKS, Measure, NoMeasure, Regress
from thence.proofs.native.search import NativeSearch
from thence.proofs.native.state_store import FIRST_INDEX

_WORD = (1 << 64) - 1
_WORTH_FORGETTING = 1 << 12


@dataclass(slots=True)
class ProgressArrays:
    """The measure for native code: by local state and by packet, as far as they are known."""

    measure: Measure
    locals: Array
    packets: Array
    locals_done: int = 0
    packets_done: int = 0

    @staticmethod
    def start(search: NativeSearch, measure: Measure) -> ProgressArrays:
        capacity, weights = search.capacity, measure.weights
        arrays = ProgressArrays(measure, Array(1 << capacity.local_bits), Array(1 << capacity.packet_bits))
        for cell, value in (
            (Shared.PROGRESS_LOCALS, arrays.locals.address), (Shared.PROGRESS_PACKETS, arrays.packets.address),
            (Shared.PROGRESS_START, measure.start), (Shared.PROGRESS_SENDS, weights[SENDS]),
            (Shared.PROGRESS_TICKS, weights[TICKS]), (Shared.PROGRESS_DUPLICATES, weights[DUPLICATES]),
            (Shared.PROGRESS_LOSSES, weights[LOSSES]),
        ):  # fmt: skip
            search.team.shared[cell] = value & _WORD
        return arrays

    def extend(self, search: NativeSearch) -> None:
        """Writes down the local states and packets that have become known since the last call."""
        table = search.table
        for number in islice(table.locals_noted, self.locals_done, None):
            self.locals[number] = self.measure.of_local(number) & _WORD
        for number in islice(table.packets_noted, self.packets_done, None):
            self.packets[number + 1] = self.measure.of_packet(number) & _WORD
        self.locals_done, self.packets_done = len(table.locals_noted), len(table.packets_noted)


@dataclass(slots=True)
class SweepLineSearch(NativeSearch):
    """Level by level. Expanded states stay until they are a third of the states kept, and then go together.

    `level` is the next to be expanded; so many states are `expanded`, and so many of these `forgotten`.
    """

    level: int = field(init=False, default=0)
    expanded: int = field(init=False, default=0)
    forgotten: int = field(init=False, default=0)
    _sweep: Array = field(init=False)
    _progress: ProgressArrays = field(init=False)

    storage: ClassVar[Storage] = "layers"
    forgets: ClassVar[bool] = True
    large_index: ClassVar[int] = 0

    def __post_init__(self) -> None:
        measure = self.table.measure
        assert measure is not None
        NativeSearch.__post_init__(self)
        self.store.parents[0] = 0
        self._sweep = Array(64)
        measure.changed = False
        self._progress = ProgressArrays.start(self, measure)
        self._check_capacity()
        self._progress.extend(self)

    @property
    def state_count(self) -> int:
        """How many states have been reached."""
        return self.store.numbered - self.store.holes - self.team.unused + self.forgotten

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
        self.store.holes += self.team.drop_blocks()
        self.level += 1
        return self.expanded < self.state_count

    def _gather(self) -> Array:
        """The states of the lowest level that has some, which becomes the level."""
        chosen, sweep = Array(self.store.numbered, 4), self._sweep
        sweep[Sweep.END], sweep[Sweep.LIST] = self.store.numbered, chosen.address
        gather = self.team.kernel.passes["gather"]
        sweep[Sweep.COUNT] = 0
        while not sweep[Sweep.COUNT]:
            sweep[Sweep.LEVEL] = self.level
            gather(self.team.shared.address, sweep.address)
            if not sweep[Sweep.COUNT]:
                assert sweep[Sweep.NEXT] <= MOST_LEVELS, "there is no state left to be expanded"
                self.level = sweep[Sweep.NEXT]
        self.depth = max(self.depth, sweep[Sweep.DEPTH])
        return chosen

    def _crowded(self) -> bool:
        """Whether enough of the states kept can be forgotten; less is enough when memory runs short."""
        store = self.store
        stale = self.expanded - self.forgotten + store.holes
        part = 16 if 2 * store.bytes_used > store.memory else 3
        return store.numbered >= _WORTH_FORGETTING and stale * part > store.numbered

    def _forget(self) -> None:
        """Only the states that are still to be expanded stay, under new numbers."""
        store, sweep, compact = self.store, self._sweep, self.team.kernel.passes["compact"]
        sweep[Sweep.END], sweep[Sweep.LEVEL] = store.numbered, self.level - 1
        compact(self.team.shared.address, sweep.address)
        left = sweep[Sweep.COUNT]
        self.forgotten = self.expanded
        self.team.drop_blocks()
        store.renumber(left)
        assert self.state_count == self.expanded + left
        store.use_index(max(FIRST_INDEX, 1 << (2 * left).bit_length()))
        self.team.rehash(left)

    def _learn(self, wanted: Iterable[int]) -> None:
        NativeSearch._learn(self, wanted)
        if self._progress.measure.changed:
            raise Regress
        self._progress.extend(self)

    def _collect(self) -> list[int]:
        deferred = NativeSearch._collect(self)
        strayed = self.team.strayed
        assert 1 not in strayed, "a step that was known to be progress is none"
        if 2 in strayed:
            raise NoMeasure(f"the measure of progress has more than {MOST_LEVELS:,} levels")
        return deferred
