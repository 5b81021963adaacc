"""The search in files, spread over workers: the driver cuts each level into tasks, and commits it once all are done.

The driver alone asks the interpreter for local steps, numbers local states and packets, and judges. A level is
committed by one file that names the files of its rows. Whatever else is in the folder is no part of the search, so a
driver or a worker may be lost at any moment.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from thence.proofs.explore.crew import Crew
from thence.proofs.native.code.cells import Own
from thence.proofs.native.disk_search import LevelledSearch, Row
from thence.proofs.native.kept_search import SPREAD, NotOnDisk
from thence.proofs.native.sieve import Kind
from thence.proofs.native.spread.stretches import RowWriter, Stretch, cut, new_name, read
from thence.proofs.native.spread.tasks import (
    Before,
    Done,
    Expand,
    Expanded,
    Found,
    Ground,
    NoRoom,
    Sort,
    Sorted,
    Task,
    work,
)
from thence.proofs.native.state_store import OutOfMemory

WORKER_MEMORY: Final = 256 << 20
"""Bytes for the states of a task, where nothing else is asked for."""

FEWEST_PARTS: Final = 64
PARTS_EACH: Final = 4
"""Parts for each task that is done at the same time."""

WORTH_SENDING: Final = 1 << 15
"""Fewer rows than these are worked on by the driver itself: to send them away takes longer."""

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
    _ends: list[list[int]] = field(init=False)
    _parts: int = field(init=False)
    _ground: Path = field(init=False)
    _tables: str = field(init=False, default="")
    _steps_written: int = field(init=False, default=-1)
    _reached: list[list[Stretch]] = field(init=False)

    def __post_init__(self) -> None:
        LevelledSearch.__post_init__(self)
        if self.kept is None:
            self._parts = _power_of_two(max(FEWEST_PARTS, PARTS_EACH * self.crew.width))
            self._ends = [[0] * self._parts]
        else:
            self._files, self._ends = self.kept.files, self.kept.ends
            self._parts = len(self._ends[0])
            self._check_files()
        self._clean()
        self._start()
        if self.kept is None:
            part = self.deal(0, self._parts).index(1)
            writer = RowWriter(self.folder, "level", self.layout.words)
            writer.write(self.rows, 0, 1)
            self._add_level({part: writer.close()})

    def _start(self) -> None:
        """Writes down what all tasks have in common."""
        request = self.request
        ground = Ground(
            request.system.protocol, request.system.workload, request.properties, self.table.symmetry is not None,
            self.capacity, self.allotment.memory * 5 // 2, self._parts, self.kinds,
            request.resources.folder is not None, self.team.kernel.digest,
        )  # fmt: skip
        self._ground = self.folder / new_name("ground")
        self._ground.write_bytes(pickle.dumps(ground))

    # --- files -----------------------------------------------------------------------------------

    def _check_files(self) -> None:
        """Raises NotOnDisk where files of earlier levels are not as they were left."""
        for level, names in enumerate(self._files):
            for part, name in enumerate(names):
                count = self._ends[level + 1][part] - self._ends[level][part]
                place = self.folder / name
                whole = not count if not name else _NAME.fullmatch(name) and place.is_file()
                if not whole or (name and place.stat().st_size != count * 8 * self.layout.words):
                    raise NotOnDisk(f"{self.folder} is damaged: a file of states is missing or cut off; remove it")

    def _clean(self) -> None:
        """Removes the files that are no part of the search."""
        known = {name for names in self._files for name in names}
        for path in self.folder.iterdir():
            if path.name.startswith(SPREAD) and path.name not in known:
                path.unlink()

    def _remove(self, stretches: Iterator[Stretch]) -> None:
        for name in {stretch.file for stretch in stretches}:
            (self.folder / name).unlink(missing_ok=True)

    def _add_level(self, new: dict[int, Stretch | None]) -> bool:
        """The new states of each part are a level; whether there are any."""
        found = [new.get(part) for part in range(self._parts)]
        if not any(found):
            return False
        self._files.append(["" if each is None else each.file for each in found])
        counts = [0 if each is None else each.count for each in found]
        self._ends.append([end + count for end, count in zip(self._ends[-1], counts, strict=True)])
        return True

    def _states(self, level: int, part: int) -> Iterator[Stretch]:
        count = self._ends[level + 1][part] - self._ends[level][part]
        if count:
            yield Stretch(self._files[level][part], 0, count)

    def _of_level(self, level: int) -> list[Stretch]:
        return [each for part in range(self._parts) for each in self._states(level, part)]

    def _use_tables(self) -> None:
        """Writes down the steps that are known, if there are more than before."""
        count = len(self.table.entries)
        if count == self._steps_written:
            return
        parts = [*self.table.parts(), *(() if self.renaming is None else self.renaming.parts())]
        before, self._tables = self._tables, new_name("tables")
        (self.folder / self._tables).write_bytes(pickle.dumps([bytes(part) for part in parts]))
        if before:
            (self.folder / before).unlink(missing_ok=True)
        self._steps_written = count

    # --- tasks -----------------------------------------------------------------------------------

    def _do(self, tasks: Sequence[Task], rows: int, kind: type[_Result]) -> Iterator[list[_Result]]:
        """The results of the tasks, which read so many rows in all, wave by wave.

        Raises:
            OutOfMemory: a task does not fit into the memory of a worker.
        """
        function: Callable[[Task], Done] = partial(work, self._ground)
        away = rows >= WORTH_SENDING
        wave = WAVE * self.crew.width if away else len(tasks)
        for start in range(0, len(tasks), max(1, wave)):
            chosen = tasks[start : start + wave]
            done = self.crew.map(function, chosen) if away else [function(task) for task in chosen]
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
            new: dict[int, Stretch | None] = {}
            yield from self._sort_out(new)
            self._remove(each for part in self._reached for each in part)
            if not self._add_level(new):
                return
            self.depth += 1
            if self.request.resources.folder is not None:
                self._keep(self._ends, self._files)

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

    def _sort_out(self, new: dict[int, Stretch | None]) -> Iterator[None]:
        """Finds what is new in each part."""
        parts = [part for part in range(self._parts) if self._reached[part]]
        known = {
            part: tuple(each for level in range(len(self._files)) for each in self._states(level, part))
            for part in parts
        }
        tasks = [Sort(tuple(self._reached[part]), known[part]) for part in parts]
        rows = sum(each.count for task in tasks for each in (*task.reached, *task.known))
        for results in self._do(tasks, rows, Sorted):
            for each in results:
                new[parts[len(new)]] = each.new
                self.known += 0 if each.new is None else each.new.count
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
