"""A search whose states are in files, so that memory does not limit it: breadth first, duplicates removed by level.

A level is expanded part by part: what is reached goes to files, dealt out by hash. Then, of each file, the rows that
differ are put into memory, those that are known are struck out while the file of what is known passes by, and those
that are left are the next level. Source: U. Stern, D. L. Dill, Using Magnetic Disk Instead of Main Memory in the
Murphi Verifier, CAV 1998.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias
from uuid import uuid4

from thence.dsl.run.actions import State
from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.cells import BLOCK, NEVER, Own, Pass, Shared
from thence.proofs.native.kept_search import (
    NUMBERS,
    OTHER_VERSION,
    STEPS,
    KeptRows,
    KeptSearch,
    Noted,
    NotOnDisk,
    Shown,
    forget,
    identity,
    keep,
    number_again,
    numbered,
    packed,
    steps_of,
)
from thence.proofs.native.memory import Allotment, Array
from thence.proofs.native.search import NativeSearch
from thence.proofs.native.state_files import PARTS, StateFiles
from thence.proofs.native.state_store import FIRST_INDEX, OutOfMemory
from thence.proofs.native.workers import PIECE

Row: TypeAlias = tuple[int, ...]
"""A packed state."""

_WORTH_EXPANDING = 256
"""Where fewer states than these could be expanded before memory is full, it is emptied first."""


@dataclass(slots=True)
class FilledSearch(NativeSearch):
    """A search that is given the states to expand, and gives the rows that they reach. Two fifths of the memory are for
    states and index, the others for rows on their way: `room` states and as many `rows`."""

    rows: Array = field(init=False)
    room: int = field(init=False)
    cells: Array = field(init=False)
    _index_size: int = field(init=False)
    _counts: Array = field(init=False)
    _places: Array = field(init=False)

    storage: ClassVar[Storage] = "disk"

    def __post_init__(self) -> None:
        whole = self.allotment
        self.allotment = Allotment(whole.memory * 2 // 5, whole.threads)
        NativeSearch.__post_init__(self)
        store = self.store
        size = FIRST_INDEX
        while 4 * size + size // 2 * (8 * self.layout.words + 4) <= store.memory:
            size *= 2
        self._index_size = size // 2
        self.room = min(self._index_size // 2, store.states.length // self.layout.words)
        if self.room < 4 * self._spare:
            raise OutOfMemory
        self.rows, self.cells = Array(self.room * self.layout.words), Array(64)
        self._counts, self._places = Array(PARTS), Array(PARTS)
        for cell, array in ((Pass.COUNTS, self._counts), (Pass.PLACES, self._places), (Pass.ROWS, self.rows)):
            self.cells[cell] = array.address
        self.cells[Pass.OWN] = self.team.workers[0].cells.address

    @property
    def bytes_used(self) -> int:
        return self.store.bytes_used + 8 * self.layout.words * self.store.numbered

    @property
    def _spare(self) -> int:
        """Room that is kept free: numbers that threads take and do not use, and the successors of one state."""
        return self.allotment.threads * BLOCK + self.branching

    # --- what is in memory -----------------------------------------------------------------------

    def fill(self, count: int, most: int) -> None:
        """The first rows of the store become the states that it holds; they differ. The index has room for `most`."""
        store = self.store
        self.team.drop_blocks()
        store.parents.clear(count)
        store.renumber(count)
        store.use_index(min(self._index_size, max(FIRST_INDEX, 1 << (2 * most).bit_length())))
        self.team.rehash(count)

    def _piece(self) -> int:
        """How many states may be expanded at once: there is room for whatever they reach."""
        store, spare = self.store, self._spare
        while store.index.length < self._index_size and store.index.length < 4 * (store.numbered + spare):
            store.use_index(min(self._index_size, 4 * store.index.length))
            self.team.rehash(store.numbered)
        store.shared[Shared.ROOM] = self.room
        left = min(self.room, store.index.length // 2) - store.numbered - spare
        return max(0, min(PIECE, left // self.branching))

    def reach(self, pause: Callable[[], None], *, wholly: bool = False) -> int:
        """Expands the states that the store holds, as far as there is room for what they reach; how many. `wholly`:
        they are so few that there is room for all of them."""
        count = self.store.numbered
        done = 0
        while done < count:
            piece = min(count - done, self._piece())
            if piece < min(count - done, _WORTH_EXPANDING) and done and not wholly:
                break
            if not piece:
                raise OutOfMemory
            self._expand_fully(done, done + piece, None)
            done += piece
            pause()
        return done

    def deal(self, start: int, parts: int) -> list[int]:
        """The states from `start` on are written to `rows`, part after part; how many each part has."""
        cells, kernel = self.cells, self.team.kernel
        cells[Pass.START], cells[Pass.END], cells[Pass.MASK] = start, self.store.numbered, parts - 1
        self._counts.clear(parts)
        kernel.passes["tally"](self.team.shared.address, cells.address)
        counts = list(self._counts.read(0, parts))
        place = 0
        for part, count in enumerate(counts):
            self._places[part] = place
            place += count
        kernel.passes["deal"](self.team.shared.address, cells.address)
        return counts

    def take(self, count: int) -> None:
        """The store holds what differs among the first of `rows`."""
        self.fill(0, count)
        self.cells[Pass.COUNT] = count
        self.team.kernel.passes["enter"](self.team.shared.address, self.cells.address)

    def strike(self, count: int, *, out: bool) -> int | None:
        """Looks the first of `rows` up in the store; the last that was met. With `out`, the store forgets them."""
        self.cells[Pass.COUNT], self.cells[Pass.STRIKES] = count, int(out)
        self.team.kernel.passes["strike"](self.team.shared.address, self.cells.address)
        met = self.cells[Pass.MET]
        return None if met == NEVER else met

    def before(self, count: int, row: Row) -> Row | None:
        """One of the first states of the store, which are expanded, that leads to the row; they are that few."""
        words = self.layout.words
        self.fill(count, 2 * count)
        self.reach(lambda: None, wholly=True)
        self.rows.write(0, row)
        met = self.strike(1, out=False)
        return None if met is None else self.store.states.read(self.store.parents[met] * words, words)


@dataclass(slots=True)
class LevelledSearch(FilledSearch, ABC):
    """A search level by level, in a folder. Numbers of states are those of the part that is in memory, which is of the
    `level`.

    `kept`: an earlier search that left its files in the folder. This one goes on with them, after `resume`.
    """

    folder: Path
    kept: KeptSearch | None = None
    known: int = field(init=False, default=1)
    level: int = field(init=False, default=0)
    _expanded: int = field(init=False, default=0)
    _shown: list[Shown] = field(init=False, default_factory=list)
    _steps: Noted = field(init=False, default=Noted())
    _numbers: Noted = field(init=False, default=Noted())
    _sizes: tuple[int, int] = field(init=False, default=(0, 0))
    _work: Iterator[None] = field(init=False)
    _pause: Callable[[], None] = field(init=False)

    def __post_init__(self) -> None:
        FilledSearch.__post_init__(self)
        if self.kept is None:
            forget(self.folder)
        else:
            if self.kept.code != self.team.kernel.digest:
                raise NotOnDisk(OTHER_VERSION.format(self.folder))
            ends = self.kept.rows.ends
            self.depth = len(ends) - 2
            self.known, self._expanded = sum(ends[-1]), sum(ends[-2])
            self.team.workers[0].cells[Own.EDGES] = self.kept.transitions
            number_again(self.folder, self.kept, self.request.system)
            self._steps, self._numbers, self._sizes = self.kept.steps, self.kept.numbers, self.request.system.sizes
        self._work = self._levels()

    @property
    def state_count(self) -> int:
        return self.known

    @property
    def frontier(self) -> int:
        return self.known - self._expanded

    def advance(self, pause: Callable[[], None]) -> bool:
        """Expands a part of a level, or looks through a part of what is reached; whether there is more to do."""
        self._pause = pause
        return next(self._work, True) is None

    @abstractmethod
    def _levels(self) -> Iterator[None]:
        """Expands a part of a level, or looks through a part of what is reached, again and again until all is done."""

    # --- going on later --------------------------------------------------------------------------

    def note(self, name: str, number: int, *, by_action: bool) -> None:
        row = self.store.states.read(number * self.layout.words, self.layout.words)
        self._shown.append(Shown(name, by_action, self.level, row, len(self.table.entries)))

    def _keep(self, rows: KeptRows) -> None:
        """Notes what is known up to the last whole level, which is in files that outlast the machine's failing."""
        table, system = self.table, self.request.system
        fresh = packed(table.entries.keys[self._steps.size // 8 :])
        self._steps = self._steps.add(self.folder / STEPS, fresh)
        self._numbers = self._numbers.add(self.folder / NUMBERS, numbered(system, self._sizes))
        self._sizes = system.sizes
        kept = KeptSearch(
            identity(self.request), self.team.kernel.digest, self.capacity, rows, self.team.transitions, self._steps,
            table.checksum(), self._numbers, tuple(self._shown), system.rested, "fault" in self.found,
        )  # fmt: skip
        keep(self.folder, kept)

    def resume(self) -> Iterator[tuple[str, bool]]:
        """Learns the steps of the search that goes on. In between, each state that showed a violation is in memory,
        with number 0; gives the property, and whether an action violates it.

        Raises:
            NotOnDisk: the steps do not come out as they did.
        """
        if self.kept is None:
            return
        keys = steps_of(self.folder, self.kept)
        for shown in self.kept.violations:
            self._learn(keys[len(self.table.entries) : shown.steps])
            self.level = shown.level
            self.store.states.write(0, shown.row)
            self.fill(1, 1)
            yield shown.name, shown.by_action
        self._learn(keys[len(self.table.entries) :])
        if self.table.checksum() != self.kept.checksum:
            raise NotOnDisk(OTHER_VERSION.format(self.folder))
        if self.kept.faulty:
            self.found["fault"] = 0  # the state was shown above, if it is to be shown

    # --- counterexamples -------------------------------------------------------------------------

    def line_to(self, number: int) -> list[State]:
        """The states from the initial one to this one: of each, one that leads to it is looked for in its level."""
        words = self.layout.words
        line = [self.store.states.read(number * words, words)]
        back = self._looking_back()
        for level in range(self.level - 1, -1, -1):
            found = back(level, line[-1])
            assert found is not None, f"no state of level {level} leads to one of the next"
            line.append(found)
        return [self.layout.decode(row) for row in reversed(line)]

    @abstractmethod
    def _looking_back(self) -> Callable[[int, Row], Row | None]:
        """A function from a level and a row to a state of the level that leads to the row."""


@dataclass(slots=True)
class DiskSearch(LevelledSearch):
    """The search by this process alone: each part has one file for all levels."""

    files: StateFiles = field(init=False)
    _waiting: Array = field(init=False)

    def __post_init__(self) -> None:
        LevelledSearch.__post_init__(self)
        if self.kept is None:
            self.files = StateFiles(self.folder, self.layout.words, uuid4().hex)
            counts = self.deal(0, PARTS)
            self.files.add_known(counts.index(1), self.rows, 1)
            self.files.end_level()
        else:
            rows = self.kept.rows
            self.files = StateFiles(self.folder, self.layout.words, rows.key, rows.ends, rows.sums)
        self._waiting = Array(self.room // 4 * self.layout.words)

    def _levels(self) -> Iterator[None]:
        while True:
            self.level = self.depth
            yield from self._expand_level()
            self.level = self.depth + 1
            for part in range(PARTS):
                yield from self._sort_out(part)
            if not self.files.end_level():
                return
            self.depth += 1
            if self.request.resources.folder is not None:
                self.files.sync()
                self._keep(KeptRows(self.files.ends, self.files.key, self.files.sums))

    def _expand_level(self) -> Iterator[None]:
        store, words = self.store, self.layout.words
        for count in self.files.level(self.level, self._waiting, self.room // 4):
            start = 0
            while start < count:
                left = count - start
                store.states.view(0, left * words)[:] = self._waiting.view(start * words, left * words)
                self.fill(left, 2 * left)
                done = self.reach(self._pause)
                self.files.add_reached(self.rows, self.deal(left, PARTS))
                start += done
                self._expanded += done
                store.moves, store.moved = store.moves + 1, store.numbered  # what is reached is judged once it is new
                yield

    def _sort_out(self, part: int) -> Iterator[None]:
        """Finds what is new among the reached states of a part."""
        for count in self.files.reached(part, self.rows, self.room // 2):
            self.take(count)
            for known in self.files.known(part, self.rows, self.room // 2):
                self.strike(known, out=True)
            (new,) = self.deal(0, 1)
            self.files.add_known(part, self.rows, new)
            self.known += new
            self.store.moves, self.store.moved = self.store.moves + 1, 0
            yield

    def _looking_back(self) -> Callable[[int, Row], Row | None]:
        back = FilledSearch(self.request, self.table, self.capacity, Allotment(self.allotment.memory // 4, 1))
        most = max(1, back.room // (2 * self.branching))

        def before(level: int, row: Row) -> Row | None:
            levels = self.files.level(level, back.store.states, most)
            return next((found for found in (back.before(count, row) for count in levels) if found is not None), None)

        return before
