"""A number of a protocol that knows which others it is compared with.

Cells (a variable of a process at certain keys, an argument of packets) whose numbers are compared or copied into one
another lie on one `line`. On a line only the order and small distances matter, so all may be shifted, and large gaps
made smaller. Handlers run on `Level`s, which are ints that note what is done with them; numbers of which more can be
told are on the line of constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

Cell: TypeAlias = tuple[Any, ...]
"""Where a number stands: see `whence.proofs.levels.cells`."""


CONSTANT: Cell = ("",)
"""The line of numbers that are used as numbers: these are kept as they are."""


class TooFar(Exception):
    """Something is added to a number so that it comes into a gap of unknown size."""


@dataclass(slots=True)
class Lines:
    """Which cells lie on one line. `changed` tells that two lines were found to be one.

    Distances up to `near` are told apart; what is added to a number in one step is no more.

    On some lines all comparisons are whether a number is at most that of one cell, the `floor`, and numbers in cells
    to which nothing is added do not come into those that are `grown`, but for being the smaller of two. There a number
    at the floor or below stays so, since numbers only grow, and all these are alike.
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

    def role(self, cell: Cell) -> int:
        """Whether a number there is kept as it is (0), up to what is below the floor (1), or is the floor (2)."""
        floor = self.floors.get(self.line(cell))
        if floor is None:
            return 0
        return 2 if cell == floor else 1 if cell not in self.grown else 0

    def bounds(self, cell: Cell) -> None:
        """Something is asked to be at most what stands in the cell."""
        self._bounds.add(cell)

    def orders(self, cell: Cell) -> None:
        """What stands in the cell is compared in another way."""
        self._ordered.add(cell)

    def copies(self, source: Cell, target: Cell) -> None:
        """What stood in one cell comes into another."""
        if source != target:
            self._copies.add((source, target))

    def settle(self) -> None:
        """Finds the floors that what was noted allows; `changed` if they are others than before."""
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
        """The two are compared, or one is copied into the other."""
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


class Level(int):
    """A number on a line. `start`: what it was before constants were added to it."""

    cell: Cell
    start: int
    lines: Lines

    @staticmethod
    def of(value: int, cell: Cell, lines: Lines, start: int | None = None) -> Level:
        """A number that stands in a cell."""
        level = Level(value)
        level.cell, level.lines, level.start = cell, lines, value if start is None else start
        return level

    def __add__(self, other: int) -> Level:
        if isinstance(other, Level):
            self._is_constant()
            other._is_constant()
        if int(self) + other - self.start > self.lines.near:
            raise TooFar
        self.lines.grown.add(self.cell)
        return Level.of(int(self) + other, self.cell, self.lines, self.start)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        """Of an index and the first index of a window; texts that subtract are refused."""
        self._meets(other)
        self.lines.orders(self.cell)
        return int(self) - int(other)

    def __rsub__(self, other: int) -> int:
        self._is_constant()
        return other - int(self)

    def _is_constant(self) -> None:
        self.lines.join(self.cell, CONSTANT)

    def _meets(self, other: object) -> None:
        if isinstance(other, Level):
            self.lines.join(self.cell, other.cell)
        else:
            self._is_constant()

    def __lt__(self, other: int) -> bool:
        self._meets(other)
        self.lines.orders(self.cell)
        return int(self) < int(other)

    def __le__(self, other: int) -> bool:
        self._meets(other)
        if isinstance(other, Level):
            self.lines.bounds(other.cell)
        return int(self) <= int(other)

    def __gt__(self, other: int) -> bool:
        """Only `max` asks this: the language has `<` and `<=`."""
        self._meets(other)
        return int(self) > int(other)

    def __ge__(self, other: int) -> bool:
        self._meets(other)
        self.lines.orders(self.cell)
        return int(self) >= int(other)

    def __eq__(self, other: object) -> bool:
        """Whether they are equal. A map compares its entries with 0, which no level is; texts do not (see `text`)."""
        if isinstance(other, Level) or (isinstance(other, int) and other != 0):
            self._meets(other)
            self.lines.orders(self.cell)
        return isinstance(other, int) and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(int(self))
