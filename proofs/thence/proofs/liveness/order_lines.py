"""Lines: the partition of the cells of numbers that order abstraction keeps.

Cells (a variable of a process at certain keys, an argument of packets) whose numbers are compared or copied into one
another lie on one `line`. Two cells of a line `meet` if their numbers are compared, now or after they are copied on.
The order and the small distances of such numbers matter; nothing else about them does. Numbers whose values matter lie
on the line of constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

Cell: TypeAlias = tuple[Any, ...]
"""The place of a number: see `thence.proofs.liveness.order_cells`."""


Numbers: TypeAlias = frozenset[tuple[Cell, int]]
"""Numbers, each with its cell."""

CONSTANT: Cell = ("",)
"""The line of numbers whose values matter: these are kept as they are."""


Stamp: TypeAlias = tuple[int, int, int, int, tuple[tuple[Cell, Cell], ...]]


class TooFar(Exception):
    """An addition moves a number into a gap of unknown size."""


@dataclass(slots=True)
class Lines:
    """The partition of cells into lines, and the facts that were noted about them.

    `changed` tells that two lines were found to be one. Distances up to `near` are told apart; one step adds at most
    `near` to a number.

    Some lines have a `floor`: a cell such that every comparison on the line asks whether a number is at most that of
    the floor, and no number of a cell that never grows is copied into a `grown` cell, except as the smaller of two. On
    such a line a number at or below the floor stays there, since numbers only grow. All these numbers behave alike.
    """

    near: int = 1
    parents: dict[Cell, Cell] = field(default_factory=dict)
    changed: bool = False
    floors: dict[Cell, Cell] = field(default_factory=dict)
    grown: set[Cell] = field(default_factory=set)
    _bounds: set[Cell] = field(default_factory=set)
    _ordered: set[Cell] = field(default_factory=set)
    _copies: set[tuple[Cell, Cell]] = field(default_factory=set)
    _noted: int = 0
    _compared: set[tuple[Cell, Cell]] = field(default_factory=set)
    _meeting: dict[Cell, frozenset[Cell]] = field(default_factory=dict)
    _settled: int = -1
    _kinds: dict[Cell, int] = field(default_factory=dict)
    _rows: dict[frozenset[Cell], int] = field(default_factory=dict)
    _members: list[Cell] = field(default_factory=list)
    _met: dict[tuple[int, int], bool] = field(default_factory=dict)
    _least: dict[frozenset[tuple[int, int]], dict[tuple[int, int], int]] = field(default_factory=dict)

    def compares(self, one: Cell, other: Cell) -> None:
        """Notes that the numbers of the two cells are compared; both then lie on one line."""
        self.join(one, other)
        if (one, other) not in self._compared:
            self._compared |= {(one, other), (other, one)}
            self.changed = True

    def meeting(self, cell: Cell) -> frozenset[Cell]:
        """The cells that meet this one. An index or a key also meets the others of its collection."""
        found = self._meeting.get(cell, frozenset())
        return found | {cell} if cell[-1] in ("index", "key") else found

    @property
    def stamp(self) -> Stamp:
        """Another value whenever the least numbers of the same numbers may be others."""
        return self.near, len(self.parents), len(self.grown), self._settled, tuple(self.floors.items())

    def forget(self) -> None:
        """Drops the results for other distances or meetings."""
        for known in (self._kinds, self._rows, self._members, self._met, self._least):
            known.clear()

    def farther(self) -> None:
        """Tells larger distances apart from now on."""
        self.near += 1
        self.forget()

    def _close(self) -> None:
        """Finds which cells meet: cells that are compared, and cells whose numbers are copied into cells that meet."""
        known = len(self._compared) + len(self._copies)
        if known == self._settled:
            return
        self._settled = known
        meeting: dict[Cell, set[Cell]] = {}
        sources: dict[Cell, set[Cell]] = {}
        for source, target in self._copies:
            sources.setdefault(target, set()).add(source)
        left = list(self._compared)
        own = {cell for pair in self._copies for cell in pair if cell[-1] in ("index", "key")}
        left += [(cell, cell) for cell in own]
        while left:
            one, other = left.pop()
            if other in meeting.setdefault(one, set()):
                continue
            meeting[one].add(other)
            left.append((other, one))
            left += [(source, other) for source in sources.get(one, ())]
        found = {cell: frozenset(cells) for cell, cells in meeting.items()}
        if found != self._meeting:
            self._meeting, self.changed = found, True
            self.forget()

    def is_too_far(self, source: Cell, target: Cell, before: int, after: int, numbers: Numbers) -> bool:
        """Whether a number that grew from `before` in one cell to `after` in another comes into a gap of unknown size.

        Its order to a number that it meets is known in three cases: that number was at most `near` from it, is below
        it, or meets a number that is already present and equal to `after`.
        """
        above = [
            (cell, value) for cell, value in numbers if value - before > self.near and cell in self.meeting(target)
        ]
        equal = [cell for cell, value in numbers if value == after and cell in self.meeting(source)]
        return any(all(cell not in self.meeting(same) for same in equal) for cell, _ in above)

    def least(self, numbers: Numbers) -> dict[tuple[Cell, int], int]:
        """The least numbers from 1 such that those that meet are in the same order, and at the same distances up to
        `near`; larger distances stay larger.
        """
        places = {(cell, value): (self._kind(cell), value) for cell, value in numbers}
        wanted = frozenset(places.values())
        found = self._least.get(wanted)
        if found is None:
            found = self._least[wanted] = self._solved(wanted)
        return {each: found[place] for each, place in places.items()}

    def _solved(self, places: frozenset[tuple[int, int]]) -> dict[tuple[int, int], int]:
        ordered = sorted(places, key=lambda place: place[1])
        found = dict.fromkeys(ordered, 1)
        bounds: list[tuple[tuple[int, int], tuple[int, int], int]] = []
        for at, low in enumerate(ordered):
            for high in ordered[at + 1 :]:
                if self._meet(low[0], high[0]):
                    distance = high[1] - low[1]
                    bounds.append((low, high, min(distance, self.near + 1)))
                    if distance <= self.near:
                        bounds.append((high, low, -distance))
        moved = True
        while moved:
            moved = False
            for low, high, distance in bounds:
                if found[high] < found[low] + distance:
                    found[high] = found[low] + distance
                    moved = True
        return found

    def _kind(self, cell: Cell) -> int:
        """A number for all cells that meet the same cells: equal numbers in them count as one."""
        known = self._kinds.get(cell)
        if known is None:
            row = self.meeting(cell)
            known = self._kinds[cell] = self._rows.setdefault(row, len(self._rows))
            if known == len(self._members):
                self._members.append(cell)
        return known

    def _meet(self, one: int, other: int) -> bool:
        known = self._met.get((one, other))
        if known is None:
            known = self._met[one, other] = self._members[other] in self.meeting(self._members[one])
        return known

    def role(self, cell: Cell) -> int:
        """The role of a number in the cell: kept as it is (0), raised to the floor if below it (1), the floor (2)."""
        floor = self.floors.get(self.line(cell))
        if floor is None:
            return 0
        return 2 if cell == floor else 1 if cell not in self.grown else 0

    def bounds(self, cell: Cell) -> None:
        """Notes that some number is compared by `<=` to the number of the cell."""
        self._bounds.add(cell)

    def orders(self, cell: Cell) -> None:
        """Notes that the number of the cell is compared in another way than by `<=`."""
        self._ordered.add(cell)

    def copies(self, source: Cell, target: Cell) -> None:
        """Notes that the number of one cell is copied into another."""
        if source != target:
            self._copies.add((source, target))

    def settle(self) -> None:
        """Finds which cells meet, and the floors that the notes allow; sets `changed` if they differ from before."""
        self._close()
        noted = len(self._bounds) + len(self._ordered) + len(self._copies) + len(self.grown) + len(self.parents)
        if noted == self._noted:
            return
        self._noted = noted
        bounds: dict[Cell, set[Cell]] = {}
        for cell in self._bounds:
            bounds.setdefault(self.line(cell), set()).add(cell)
        refused = {self.line(cell) for cell in self._ordered}
        refused |= {
            self.line(target) for source, target in self._copies if source not in self.grown and target in self.grown
        }
        found = {line: min(cells) for line, cells in bounds.items() if len(cells) == 1 and line not in refused}
        found.pop(CONSTANT, None)
        if found != self.floors:
            self.floors, self.changed = found, True

    def names(self) -> tuple[str, ...]:
        """The variables and arguments of packets that lie on lines, without those of constants."""
        cells = [cell for cell in (*self.parents, *self.parents.values()) if self.line(cell) != CONSTANT]
        return tuple(sorted({_name(cell) for cell in cells}))

    def line(self, cell: Cell) -> Cell:
        """The cell that stands for the line of this one."""
        while (parent := self.parents.get(cell, cell)) != cell:
            cell = parent
        return cell

    def join(self, one: Cell, other: Cell) -> None:
        """Puts the two cells on one line."""
        one, other = self.line(one), self.line(other)
        if one != other:
            above, below = sorted((one, other), key=repr)
            self.parents[below] = above
            self.changed = True


def _name(cell: Cell) -> str:
    match cell:
        case ("local", _, name, *_):
            return str(name)
        case ("packet", kind, _, _, name, *_):
            return f"{kind}.{name}"
        case _:
            return str(cell)
