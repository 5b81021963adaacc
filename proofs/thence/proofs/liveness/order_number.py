"""A number of a protocol that notes which other numbers it is compared with.

Handlers run on `OrderedNumber`s, which are ints that note the operations on them in `Lines`.
"""

from __future__ import annotations

from thence.proofs.liveness.order_lines import CONSTANT, Cell, Lines, TooFar


class OrderedNumber(int):
    """A number on a line. `start`: its value before constants were added to it."""

    cell: Cell
    start: int
    lines: Lines

    @staticmethod
    def of(value: int, cell: Cell, lines: Lines, start: int | None = None) -> OrderedNumber:
        """A number that stands in a cell."""
        number = OrderedNumber(value)
        number.cell, number.lines, number.start = cell, lines, value if start is None else start
        return number

    def __add__(self, other: int) -> OrderedNumber:
        if isinstance(other, OrderedNumber):
            self._is_constant()
            other._is_constant()
        if int(self) + other - self.start > self.lines.near:
            raise TooFar
        self.lines.grown.add(self.cell)
        return OrderedNumber.of(int(self) + other, self.cell, self.lines, self.start)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        """The distance of an index to the first index of a window; texts that subtract are refused."""
        self._meets(other)
        self.lines.orders(self.cell)
        return int(self) - int(other)

    def __rsub__(self, other: int) -> int:
        self._is_constant()
        return other - int(self)

    def _is_constant(self) -> None:
        self.lines.join(self.cell, CONSTANT)

    def _meets(self, other: object) -> None:
        if isinstance(other, OrderedNumber):
            self.lines.compares(self.cell, other.cell)
        else:
            self._is_constant()

    def __lt__(self, other: int) -> bool:
        self._meets(other)
        self.lines.orders(self.cell)
        return int(self) < int(other)

    def __le__(self, other: int) -> bool:
        self._meets(other)
        if isinstance(other, OrderedNumber):
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
        """Whether they are equal. Only a map compares with 0, which no such number is; see `order_text`."""
        if isinstance(other, OrderedNumber) or (isinstance(other, int) and other != 0):
            self._meets(other)
            self.lines.orders(self.cell)
        return isinstance(other, int) and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(int(self))
