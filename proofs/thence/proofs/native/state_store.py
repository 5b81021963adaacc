"""The states of a search: by number, in the order of insertion, with an index of the numbers by hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from thence.dsl.run.actions import State
from thence.proofs.native.code.cells import HOLE, ROOT, Shared
from thence.proofs.native.layout import Layout
from thence.proofs.native.memory import Array

FIRST_INDEX = 1 << 16

_LARGEST = (1 << 32) - 4
"""How many numbers there are for states."""

_SMALLEST = 1 << 16
_INDEX_WIDTH = 4


class OutOfMemory(Exception):
    """The store has no room for the next states."""


@dataclass(slots=True)
class StateStore:
    """The arrays of states, which native code fills; `shared` tells it where they are.

    `memory`: most bytes to be used. Numbers have holes, so many as `holes` says. `moves`: how often states got other
    numbers; those that had one then have the least, below `moved`.
    """

    layout: Layout
    memory: int
    shared: Array
    states: Array = field(init=False)
    parents: Array = field(init=False)
    index: Array = field(init=False)
    holes: int = field(init=False, default=0)
    moves: int = field(init=False, default=0)
    moved: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._reserve(min(_LARGEST, self.memory // (8 * self.layout.words + 12)))
        self.shared[Shared.STATES], self.shared[Shared.PARENTS] = self.states.address, self.parents.address
        self.use_index(FIRST_INDEX)

    def _reserve(self, room: int) -> None:
        """Room for so many states, or for as many as can be reserved at once."""
        while True:
            try:
                self.states, self.parents = Array(room * self.layout.words), Array(room, 4)
                return
            except MemoryError:
                if room < _SMALLEST:
                    raise
                room //= 2

    def add_initial(self, state: State) -> None:
        """The initial state gets the number 0; it is not in the index."""
        self.states.write(0, self.layout.encode(state))
        self.parents[0] = ROOT
        self.shared[Shared.COUNT] = 1

    # --- states by number --------------------------------------------------------------------

    @property
    def numbered(self) -> int:
        """How many numbers are in use, holes included."""
        return self.shared[Shared.COUNT]

    def state(self, number: int) -> State:
        """A state by number."""
        return self.layout.decode(self.states.read(number * self.layout.words, self.layout.words))

    def locals_and_sends(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Of each state the local states, and how many messages each process has sent."""
        count, fields = self.layout.words, self.layout.fields
        locals_, sends = fields["locals"], fields["sends"]
        for number in self.numbers():
            words = self.states.read(number * count, count)
            yield locals_.read(words), sends.read(words) or (0,) * self.layout.shape.processes

    def numbers(self) -> Iterator[int]:
        """The numbers that states have."""
        return (number for number in range(self.numbered) if self.parents[number] != HOLE)

    def line_to(self, number: int) -> list[State]:
        """The states from the initial one to this one, each reached from the one before it."""
        line = [number]
        while (parent := self.parents[line[-1]]) != ROOT:
            line.append(parent)
        return [self.state(known) for known in reversed(line)]

    def renumber(self, count: int) -> None:
        """The states that are left have the numbers below `count`, and there are no holes."""
        self.shared[Shared.COUNT] = count
        self.holes = 0
        self.moves, self.moved = self.moves + 1, count

    # --- memory ------------------------------------------------------------------------------

    @property
    def bytes_used(self) -> int:
        """How much memory the store takes."""
        return self.numbered * (8 * self.layout.words + 4) + _INDEX_WIDTH * self.index.length

    def use_index(self, size: int) -> None:
        """An empty index of this size."""
        self.index = Array(size, _INDEX_WIDTH)
        self.shared[Shared.INDEX] = self.index.address
        self.shared[Shared.SLOTS_MASK] = size - 1

    def enlarge_index(self, factor: int) -> None:
        """An empty index that is so many times as large.

        Raises:
            OutOfMemory: there is no room for it.
        """
        size = self.index.length * factor
        if self.bytes_used + _INDEX_WIDTH * size > self.memory:
            raise OutOfMemory
        self.use_index(size)

    def spare(self, most: int) -> int:
        """How many states have room in store and index, which is more than `most`.

        Raises:
            OutOfMemory: there is less.
        """
        spare = min(self.index.length * 2 // 5, self.states.length // self.layout.words - self.numbered)
        if self.bytes_used > self.memory or spare <= most:
            raise OutOfMemory
        return spare
