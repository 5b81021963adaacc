"""What a worker does: a function of a task and of files in a folder that all workers see. Results name files.

A worker numbers nothing. The tables of local steps are the driver's, and a step that is not in them is asked for: its
state is put aside, and expanded in a later task with larger tables. So rows mean the same everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from struct import pack, unpack_from
from typing import Final, TypeAlias, assert_never
from zlib import crc32

from thence.dsl import ir
from thence.dsl.run.identity_reuse import system_of
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.native.code.cells import FINDINGS, MOST_INVARIANTS, NEVER, Own
from thence.proofs.native.disk_search import FilledSearch, Row
from thence.proofs.native.invariants import LocalJudge, judged_locally
from thence.proofs.native.judging.sieve import Kind, Sieve
from thence.proofs.native.kept_search import DamagedError
from thence.proofs.native.layout import Capacity, shape_of
from thence.proofs.native.memory import Allotment, Array
from thence.proofs.native.spread.stretches import RowWriter, Stretch, read
from thence.proofs.native.state_store import OutOfMemory
from thence.proofs.native.symmetry import Symmetry
from thence.proofs.native.tables import StepTable

_AT_HAND: Final = 2


class UnlikeError(Exception):
    """The worker would generate other code than the driver did: it has another version of this program."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What all tasks of a search have in common.

    Attributes:
        key: tells searches apart.
        folder: where the files are; all workers see it.
        parts: into so many parts rows are dealt by their hash.
        kinds: of the new states, the first of each kind is told to the driver.
        lasting: whether what is known is to outlast the machine's failing.
        digest: of the generated code, see `kernel`.
    """

    key: str
    folder: Path
    protocol: ir.Protocol
    workload: ir.Workload
    properties: frozenset[str]
    symmetric: bool
    capacity: Capacity
    memory: int
    parts: int
    kinds: tuple[Kind, ...]
    lasting: bool
    digest: str


@dataclass(frozen=True, slots=True)
class Expand:
    """Expands the states; `tables`: the file of the steps."""

    states: tuple[Stretch, ...]
    tables: str


@dataclass(frozen=True, slots=True)
class Expanded:
    """The rows that are reached, by part. `again`: states that ask for the steps `wanted`. `found`: by property, a
    state that shows a violation. `overflowed`: a state had no room for its packets."""

    reached: tuple[tuple[Stretch, ...], ...]
    transitions: int
    again: Stretch | None
    wanted: tuple[int, ...]
    found: dict[str, Row]
    overflowed: bool


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that are reached, and those that are known; all rows with the same hash are in the same part."""

    reached: tuple[Stretch, ...]
    known: tuple[Stretch, ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(each.count for each in (*self.reached, *self.known))


@dataclass(frozen=True, slots=True)
class Sort:
    """Finds what is new among the rows that are reached, part by part."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Sorted:
    """How many states are new in each part, one after the other in a file; and the first of each kind."""

    new: tuple[int, ...]
    file: str
    kinds: Stretch | None


@dataclass(frozen=True, slots=True)
class Before:
    """Looks for a state that leads to the row."""

    states: tuple[Stretch, ...]
    tables: str
    row: Row


@dataclass(frozen=True, slots=True)
class Found:
    """The state, or None."""

    row: Row | None


@dataclass(frozen=True, slots=True)
class NoRoom:
    """The memory of a worker is too little for the task."""


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A file that the task reads is not as it was written."""

    path: Path


Task: TypeAlias = Expand | Sort | Before
Done: TypeAlias = Expanded | Sorted | Found | NoRoom | Spoilt


def write_tables(path: Path, parts: Sequence[memoryview]) -> None:
    """Writes what native code reads of steps and renamings: how many parts, how long each is, the parts; a checksum."""
    head = memoryview(pack(f"={1 + len(parts)}Q", len(parts), *map(len, parts)))
    checksum = 0
    with path.open("xb") as file:
        for part in (head, *parts):
            checksum = crc32(part, checksum)
            file.write(part)
        file.write(pack("=I", checksum))


def read_tables(path: Path) -> list[bytes]:
    """The parts that were written.

    Raises:
        OSError: the file is not there. DamagedError: it is not what was written.
    """
    content = path.read_bytes()
    if crc32(memoryview(content)[:-4]).to_bytes(4, sys.byteorder) != content[-4:]:
        raise DamagedError(path)
    (count,) = unpack_from("=Q", content)
    lengths = unpack_from(f"={count}Q", content, 8)
    ends = [*accumulate(lengths, initial=8 * (1 + count))]
    return [content[start:end] for start, end in pairwise(ends)]


_workers: dict[str, Worker] = {}


def work(ground: Ground, task: Task) -> Done:
    """Does a task.

    Raises:
        OSError: of a file. UnlikeError: this program is another version than the driver's.
    """
    try:
        worker = _workers.get(ground.key)
        if worker is None:
            while len(_workers) >= _AT_HAND:
                del _workers[next(iter(_workers))]
            worker = _workers[ground.key] = Worker.of(ground)
        match task:
            case Expand():
                return worker.expand(task)
            case Sort():
                return worker.sort(task)
            case Before():
                return worker.look_back(task)
            case _:
                assert_never(task)
    except OutOfMemory:
        return NoRoom()
    except DamagedError as damaged:
        return Spoilt(damaged.path)


@dataclass(slots=True)
class WorkerSearch(FilledSearch):
    """Expands once: what asks for steps that are not known is left for later."""

    deferred: list[int] = field(init=False, default_factory=list)

    def _expand_fully(self, start: int, end: int, chosen: Array | None) -> None:
        self.deferred += self._expand(start, end, chosen)

    def _learn_asked(self) -> None:
        pass


@dataclass(slots=True)
class Worker:
    """What a process has at hand to do the tasks of one search."""

    ground: Ground
    search: WorkerSearch
    _tables: str = field(init=False, default="")

    @staticmethod
    def of(ground: Ground) -> Worker:
        """The worker for a search. Raises UnlikeError."""
        system = system_of(ground.protocol, ground.workload)
        request = ExplorationRequest(system, ground.properties, storage="disk")
        shape = shape_of(system)
        judge = LocalJudge(system, judged_locally(ground.protocol, MOST_INVARIANTS))
        symmetry = Symmetry(system, shape) if ground.symmetric else None
        table = StepTable(system, shape, False, judge, symmetry)
        search = WorkerSearch(request, table, ground.capacity, Allotment(ground.memory, 1))
        if search.team.kernel.digest != ground.digest:
            raise UnlikeError("the workers and this process have different versions of Thence, or different processors")
        return Worker(ground, search)

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.ground.folder

    @property
    def _words(self) -> int:
        return self.search.layout.words

    def _writer(self, kind: str) -> RowWriter:
        return RowWriter(self.folder, kind, self._words)

    def _use_tables(self, name: str) -> None:
        if name != self._tables:
            entries, operations, packets, *renamed = read_tables(self.folder / name)
            self.search.table.take_parts(entries, operations, packets)
            if self.search.renaming is not None:
                self.search.renaming.take_parts(renamed)
            self._tables = name

    # --- tasks -----------------------------------------------------------------------------------

    def expand(self, task: Expand) -> Expanded:
        """Expands states."""
        with (
            RowWriter(self.folder, "found", self._words) as file,
            RowWriter(self.folder, "again", self._words) as again,
        ):
            return self._expand(task, file, again)

    def _expand(self, task: Expand, file: RowWriter, again: RowWriter) -> Expanded:
        search, words, own = self.search, self._words, self.search.team.workers[0].cells
        self._use_tables(task.tables)
        names = (*FINDINGS, *search.table.names)
        own[Own.EDGES] = own[Own.OVERFLOW] = 0
        search.asked.clear()
        found: dict[str, Row] = {}
        reached: list[list[Stretch]] = [[] for _ in range(self.ground.parts)]
        waiting = Array(max(1, search.room // 4) * words)
        for count in read(self.folder, task.states, waiting, words, max(1, search.room // 4)):
            start = 0
            while start < count:
                left = count - start
                search.store.states.view(0, left * words)[:] = waiting.view(start * words, left * words)
                for at in range(len(names)):
                    own[Own.FOUND + at] = NEVER
                search.found.clear()
                search.deferred.clear()
                search.fill(left, 2 * left)
                done = search.reach(lambda: None)
                for name, number in search.found.items():
                    found.setdefault(name, search.store.states.read(number * words, words))
                for number in search.deferred:
                    again.write_row(pack(f"={words}Q", *search.store.states.read(number * words, words)))
                start += done
                at = 0
                for part, dealt in enumerate(search.deal(left, self.ground.parts)):
                    if dealt:
                        file.write(search.rows, at, dealt)
                        reached[part].append(Stretch("", file.count - dealt, dealt))
                        at += dealt
        written = file.close()
        name = "" if written is None else written.file
        by_part = tuple(tuple(Stretch(name, each.start, each.count) for each in part) for part in reached)
        return Expanded(
            by_part, own[Own.EDGES], again.close(), tuple(search.asked), found, bool(own[Own.OVERFLOW])
        )  # fmt: skip

    def sort(self, task: Sort) -> Sorted:
        """Finds what is new."""
        with (
            RowWriter(self.folder, "level", self._words) as file,
            RowWriter(self.folder, "kinds", self._words) as kinds,
        ):
            return self._sort(task, file, kinds)

    def _sort(self, task: Sort, file: RowWriter, kinds: RowWriter) -> Sorted:
        search, words, most = self.search, self._words, self.search.room // 2
        sieves = [Sieve(search, fields, quiet) for fields, quiet in self.ground.kinds]
        counts: list[int] = []
        for part in task.parts:
            start = file.count
            for count in read(self.folder, part.reached, search.rows, words, most):
                search.take(count)
                earlier = [Stretch(file.name, start, file.count - start)] if file.count > start else []
                for known in read(self.folder, (*part.known, *earlier), search.rows, words, most):
                    search.strike(known, out=True)
                search.store.moves, search.store.moved = search.store.moves + 1, 0
                first = {number for sieve in sieves for number in sieve.fresh()}
                for number in sorted(first):
                    kinds.write_row(pack(f"={words}Q", *search.store.states.read(number * words, words)))
                (new,) = search.deal(0, 1)
                file.write(search.rows, 0, new)
            counts.append(file.count - start)
        file.close(lasting=self.ground.lasting)
        return Sorted(tuple(counts), file.name, kinds.close())

    def look_back(self, task: Before) -> Found:
        """Looks for a state that leads to another."""
        search, words = self.search, self._words
        self._use_tables(task.tables)
        most = max(1, search.room // (2 * search.branching))
        waiting = Array(most * words)
        for count in read(self.folder, task.states, waiting, words, most):
            search.store.states.view(0, count * words)[:] = waiting.view(0, count * words)
            found = search.before(count, task.row)
            if found is not None:
                return Found(found)
        return Found(None)
