"""The search in files, spread over workers: the driver cuts each level into tasks, and commits it once all are done.

The driver alone asks the interpreter for local steps, numbers local states and packets, and judges. A level is
committed by one file that names the files of its rows. Whatever else is in the folder is no part of the search, so a
driver or a worker may be lost at any moment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from thence.proofs.explore.crew import Crew
from thence.proofs.native.code.cells import Own
from thence.proofs.native.disk_search import LevelledSearch, Row
from thence.proofs.native.judging.sieve import Kind
from thence.proofs.native.kept_search import SPREAD, DamagedError, KeptRows
from thence.proofs.native.row_file import RowFile
from thence.proofs.native.spread.stretches import RowWriter, Stretch, cut, new_name, read
from thence.proofs.native.spread.tasks import (
    Before,
    Done,
    Expand,
    Expanded,
    Found,
    Ground,
    NoRoom,
    Part,
    Sort,
    Sorted,
    Spoilt,
    Task,
    work,
    write_tables,
)
from thence.proofs.native.state_store import OutOfMemory

WORKER_MEMORY: Final = 256 << 20
"""Bytes for the states of a task, where nothing else is asked for."""

FEWEST_PARTS: Final = 64
PARTS_EACH: Final = 4
"""Parts for each task that is done at the same time."""

WORTH_SENDING: Final = 1 << 17
"""Fewer states than these are expanded by the driver itself: to send them away takes longer."""

SORTED_FASTER: Final = 8
"""So many rows are sorted in the time in which one state is expanded."""

LARGEST_TASK: Final = 1 << 24
"""Rows that are sorted in one task, if the parts are small enough: a task that is lost is done again."""

SMALLEST_PIECE: Final = 1 << 12
"""Rows of the least task, where a level is cut among workers."""

WAVE: Final = 8
"""Tasks that are given out at once, for each that is done at the same time; between waves there is a pause."""

_NAME = re.compile(r"level-[0-9a-f]{32}")

_Result = TypeVar("_Result", Expanded, Sorted, Found)


@dataclass(slots=True)
class SpreadSearch(LevelledSearch):
    """The search by workers. `kinds`: see `Ground`; the first states of each kind are in memory once they are known."""

    crew: Crew = field(kw_only=True)
    kinds: tuple[Kind, ...] = field(kw_only=True, default=())
    _files: list[list[str]] = field(init=False, default_factory=list)
    _states: list[list[Stretch | None]] = field(init=False, default_factory=list)
    _ends: list[list[int]] = field(init=False)
    _parts: int = field(init=False)
    _ground: Ground = field(init=False)
    _tables: str = field(init=False, default="")
    _steps_written: int = field(init=False, default=-1)
    _reached: list[list[Stretch]] = field(init=False)

    def __post_init__(self) -> None:
        LevelledSearch.__post_init__(self)
        if self.kept is None:
            self._parts = _power_of_two(max(FEWEST_PARTS, PARTS_EACH * self.crew.width))
            self._ends = [[0] * self._parts]
        else:
            self._files, self._ends = self.kept.rows.files, self.kept.rows.ends
            self._parts = len(self._ends[0])
            self._states = [self._stretches(level) for level in range(len(self._files))]
            self._check_files()
        self._clean()
        self._ground = self._common()
        if self.kept is None:
            part = self.deal(0, self._parts).index(1)
            with RowWriter(self.folder, "level", self.layout.words) as writer:
                writer.write(self.rows, 0, 1)
                writer.close(lasting=self._ground.lasting)
            self._add_level({part: (writer.name, 1)})

    def _common(self) -> Ground:
        """What all tasks have in common."""
        request = self.request
        return Ground(
            new_name("ground"), self.folder, request.system.protocol, request.system.workload, request.properties,
            self.table.symmetry is not None, self.capacity, self.allotment.memory * 5 // 2, self._parts, self.kinds,
            request.resources.folder is not None, self.team.kernel.digest,
        )  # fmt: skip

    # --- files -----------------------------------------------------------------------------------

    def _check_files(self) -> None:
        """Raises DamagedError where files of earlier levels are missing, or have another length."""
        counts: dict[str, int] = {}
        for level in range(len(self._files)):
            for each in self._of_level(level):
                counts[each.file] = counts.get(each.file, 0) + each.count
        for name, count in counts.items():
            path = self.folder / name
            if (
                not _NAME.fullmatch(name)
                or not path.is_file()
                or RowFile.written(path, self.layout.words).count != count
            ):
                raise DamagedError(path)

    def _clean(self) -> None:
        """Removes the files that are no part of the search."""
        known = {name for names in self._files for name in names}
        for path in self.folder.iterdir():
            if path.name.startswith(SPREAD) and path.name not in known:
                path.unlink()

    def _remove(self, stretches: Iterator[Stretch]) -> None:
        for name in {stretch.file for stretch in stretches}:
            (self.folder / name).unlink(missing_ok=True)

    def _add_level(self, new: dict[int, tuple[str, int]]) -> bool:
        """The new states of parts, so many in a file, are a level; whether there are any."""
        if not any(count for _, count in new.values()):
            return False
        found = [new.get(part, ("", 0)) for part in range(self._parts)]
        self._files.append([file if count else "" for file, count in found])
        self._ends.append([end + count for end, (_, count) in zip(self._ends[-1], found, strict=True)])
        self._states.append(self._stretches(len(self._files) - 1))
        return True

    def _stretches(self, level: int) -> list[Stretch | None]:
        """The rows of a level by part. Parts in one file are one after the other."""
        place: dict[str, int] = {}
        found: list[Stretch | None] = []
        for part, file in enumerate(self._files[level]):
            count, start = self._ends[level + 1][part] - self._ends[level][part], place.get(file, 0)
            found.append(Stretch(file, start, count) if count else None)
            place[file] = start + count
        return found

    def _of_level(self, level: int) -> list[Stretch]:
        return [each for each in self._states[level] if each is not None]

    def _use_tables(self) -> None:
        """Writes down the steps that are known, if there are more than before."""
        count = len(self.table.entries)
        if count == self._steps_written:
            return
        parts = [*self.table.parts(), *(() if self.renaming is None else self.renaming.parts())]
        before, self._tables = self._tables, new_name("tables")
        write_tables(self.folder / self._tables, parts)
        if before:
            (self.folder / before).unlink(missing_ok=True)
        self._steps_written = count

    # --- tasks -----------------------------------------------------------------------------------

    def _do(self, tasks: Sequence[Task], rows: int, kind: type[_Result]) -> Iterator[list[_Result]]:
        """The results of the tasks, which take as long as so many states to expand, wave by wave.

        Raises:
            OutOfMemory: a task does not fit into the memory of a worker. DamagedError: a file that a task reads is.
        """
        function: Callable[[Task], Done] = partial(work, self._ground)
        away = rows >= WORTH_SENDING
        wave = WAVE * self.crew.width if away else len(tasks)
        for start in range(0, len(tasks), max(1, wave)):
            chosen = tasks[start : start + wave]
            done = self.crew.map(function, chosen) if away else [function(task) for task in chosen]
            for each in done:
                if isinstance(each, Spoilt):
                    raise DamagedError(each.path)
            if any(isinstance(each, NoRoom) for each in done):
                raise OutOfMemory
            results = [each for each in done if isinstance(each, kind)]
            assert len(results) == len(chosen)
            yield results

    def _pieces(self, states: list[Stretch]) -> list[tuple[Stretch, ...]]:
        """The states in pieces, one for each task: no more than fit into memory, and enough for all workers."""
        total = sum(each.count for each in states)
        most = max(1, min(self.room // 4, -(-total // (2 * self.crew.width))))
        return [tuple(piece) for piece in cut(states, max(most, min(self.room // 4, SMALLEST_PIECE)))]

    def _levels(self) -> Iterator[None]:
        while True:
            self.level = self.depth
            self._reached = [[] for _ in range(self._parts)]
            yield from self._expand_level()
            self.level = self.depth + 1
            new: dict[int, tuple[str, int]] = {}
            yield from self._sort_out(new)
            self._remove(each for part in self._reached for each in part)
            if not self._add_level(new):
                return
            self.depth += 1
            if self.request.resources.folder is not None:
                self._keep(KeptRows(self._ends, files=self._files))

    def _expand_level(self) -> Iterator[None]:
        states = self._of_level(self.level)
        while states:
            self._use_tables()
            tasks = [Expand(piece, self._tables) for piece in self._pieces(states)]
            again: list[Stretch] = []
            wanted: dict[int, None] = {}
            for results in self._do(tasks, sum(each.count for each in states), Expanded):
                left = [each.again for each in results if each.again is not None]
                self._expanded += sum(each.count for task in tasks[: len(results)] for each in task.states)
                self._expanded -= sum(each.count for each in left)
                tasks = tasks[len(results) :]
                again += left
                for each in results:
                    wanted |= dict.fromkeys(each.wanted)
                    self.team.workers[0].cells[Own.EDGES] += each.transitions
                    for part, reached in enumerate(each.reached):
                        self._reached[part] += reached
                self._show(results)
                yield
                self._check_capacity(overflowed=any(each.overflowed for each in results))
            if again and not wanted:
                raise OutOfMemory
            self._learn(sorted(wanted))
            self._remove(each for each in states if each.file.startswith("again-"))
            states = again

    def _show(self, results: Sequence[Expanded]) -> None:
        """States that show violations are in memory, with numbers from 0 on."""
        shown: dict[str, Row] = {}
        for each in results:
            for name, row in each.found.items():
                shown[name] = min(row, shown.get(name, row))
        for number, (name, row) in enumerate(sorted(shown.items())):
            self.store.states.write(number * self.layout.words, row)
            self.found[name] = number
        self.fill(len(shown), len(shown))

    def _sort_out(self, new: dict[int, tuple[str, int]]) -> Iterator[None]:
        """Finds what is new in each part."""
        numbers = [part for part in range(self._parts) if self._reached[part]]
        parts = [
            Part(
                tuple(self._reached[part]), tuple(known for level in self._states if (known := level[part]) is not None)
            )
            for part in numbers
        ]
        rows = sum(part.rows for part in parts)
        each_task = -(-len(parts) // max(2 * self.crew.width, rows // LARGEST_TASK)) if parts else 1
        tasks = [Sort(tuple(parts[at : at + each_task])) for at in range(0, len(parts), each_task)]
        for results in self._do(tasks, rows // SORTED_FASTER, Sorted):
            for each in results:
                for count in each.new:
                    new[numbers[len(new)]] = (each.file, count)
                self.known += sum(each.new)
            first = [each.kinds for each in results if each.kinds is not None]
            for count in read(self.folder, first, self.store.states, self.layout.words, self.room // 2):
                self.fill(count, count)
                self.store.moves, self.store.moved = self.store.moves + 1, 0
                yield
            self._remove(iter(first))
            self.fill(0, 0)
            yield

    def _looking_back(self) -> Callable[[int, Row], Row | None]:
        self._use_tables()

        def before(level: int, row: Row) -> Row | None:
            states = self._of_level(level)
            tasks = [Before(piece, self._tables, row) for piece in self._pieces(states)]
            for results in self._do(tasks, sum(each.count for each in states), Found):
                for each in results:
                    if each.row is not None:
                        return each.row
            return None

        return before


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
