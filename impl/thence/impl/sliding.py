"""The sliding array and the sliding maps: windows over ever-growing indices.

Source: Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal Delivery
through Hybrid Buffering", section 5.3. Indices are never reused: an element keeps the index that it got when it
was added, and `next` never goes down.

Departures from the paper's Figure 3. The sliding array is one list with a dead prefix instead of a short array of
pointers to arrays: a Python list is an array of pointers already, and dropping the prefix when it has grown to half
of the list keeps every operation in amortised constant time. The sliding map marks presence with one byte, not one
bit: the search for the next present element is then a single `bytearray.find`, and no sentinel is needed. The indexed
sliding map (the paper's indexable one) is what the paper suggests: a sliding array of optional elements with a map.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

E = TypeVar("E")
K = TypeVar("K", bound=Hashable)

_TRIM = 64
"""A dead prefix shorter than this is not worth dropping."""


class SlidingArray(Generic[E]):
    """The elements at the indices `first` .. `next` - 1: appended at the end, removed at the front.

    Every operation takes amortised constant time. Space is proportional to `size`: at most as many dead slots as live
    elements (or `_TRIM` of them), and a dead slot refers to nothing.

    Args:
        first: the index that the first element added will have.
    """

    __slots__ = ("_base", "_dead", "_slots")

    def __init__(self, first: int = 0) -> None:
        self._base = first
        """The index of slot 0."""
        self._dead = 0
        """The number of leading slots whose element has been removed."""
        self._slots: list[E | None] = []

    @property
    def first(self) -> int:
        """The index of the oldest element; `next` if there is none."""
        return self._base + self._dead

    @property
    def next(self) -> int:
        """The index that the next element added will have."""
        return self._base + len(self._slots)

    @property
    def size(self) -> int:
        """The number of elements in the window."""
        return len(self._slots) - self._dead

    def peek(self) -> E:
        """The oldest element. Raises IndexError if there is none."""
        if self._dead == len(self._slots):
            raise IndexError(f"the window at {self.first} is empty")
        return self._slots[self._dead]  # type: ignore[return-value]  # as in __getitem__

    def add(self, element: E) -> int:
        """Append `element` and return its index."""
        self._slots.append(element)
        return self._base + len(self._slots) - 1

    def remove(self) -> E:
        """Remove the oldest element and return it. Raises IndexError if there is none."""
        element = self.peek()
        slots, dead = self._slots, self._dead
        slots[dead] = None
        dead += 1
        if dead >= _TRIM and 2 * dead >= len(slots):
            del slots[:dead]
            self._base += dead
            dead = 0
        self._dead = dead
        return element

    def __getitem__(self, index: int) -> E:
        """The element at `index`. Raises IndexError outside `first` .. `next` - 1; negative indices do not wrap."""
        slot = index - self._base
        if not self._dead <= slot < len(self._slots):
            raise IndexError(f"index {index} is outside the window {self.first} .. {self.next - 1}")
        return self._slots[slot]  # type: ignore[return-value]  # a live slot holds an E, which may itself be None

    def __setitem__(self, index: int, element: E) -> None:
        """Put `element` in the place of the one at `index`. Raises IndexError as `__getitem__`."""
        slot = index - self._base
        if not self._dead <= slot < len(self._slots):
            raise IndexError(f"index {index} is outside the window {self.first} .. {self.next - 1}")
        self._slots[slot] = element

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[E]:
        """The elements, oldest first. The array must not change meanwhile."""
        for slot in range(self._dead, len(self._slots)):
            yield self._slots[slot]  # type: ignore[misc]  # as in __getitem__

    def __eq__(self, other: object) -> bool:
        """Equal windows over equal elements, wherever the dead prefixes end."""
        if not isinstance(other, SlidingArray):
            return NotImplemented
        return self.first == other.first and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"SlidingArray(first={self.first}, {list(self)!r})"


class SlidingMap(Generic[K]):
    """Elements that got ascending indices when added, and are removed by value in any order.

    `first` is the index of the oldest element that is still present: what is waited for is all gone once `first` has
    reached the `next` of the moment when the wait began. Every operation takes amortised constant time; space is
    proportional to `next` - `first`.

    Args:
        first: the index that the first element added will have.
    """

    __slots__ = ("_first", "_index", "_present")

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._present = bytearray()
        """Entry k is 1 if the element with the index `first` + k is present. Empty, or entry 0 is 1.

        NOTE(front deletion): deleting a prefix of a bytearray moves its start pointer, not its bytes.
        """
        self._index: dict[K, int] = {}
        """Element to index. In index order: a dict keeps the order of insertion."""

    @property
    def first(self) -> int:
        """The index of the oldest element that is present; `next` if there is none."""
        return self._first

    @property
    def next(self) -> int:
        """The index that the next element added will have."""
        return self._first + len(self._present)

    @property
    def size(self) -> int:
        """The number of elements that are present (not the length of the window)."""
        return len(self._index)

    def add(self, element: K) -> int:
        """Add `element` and return its index. Raises ValueError if it is present already."""
        if element in self._index:
            raise ValueError(f"{element!r} is present already")
        index = self.next
        self._index[element] = index
        self._present.append(1)
        return index

    def remove(self, element: K) -> bool:
        """Remove `element` and say whether it was present; where it was not, nothing changes."""
        index = self._index.pop(element, None)
        if index is None:
            return False
        self._present[index - self._first] = 0
        if index == self._first:
            gone = self._present.find(1)
            if gone < 0:
                gone = len(self._present)
            del self._present[:gone]
            self._first += gone
        return True

    def index(self, element: K) -> int:
        """The index of `element`. Raises KeyError if it is not present."""
        return self._index[element]

    def __contains__(self, element: object) -> bool:
        return element in self._index

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[K]:
        """The elements that are present, oldest first. The map must not change meanwhile."""
        return iter(self._index)

    def __eq__(self, other: object) -> bool:
        """Equal windows with equal elements at equal indices."""
        if not isinstance(other, SlidingMap):
            return NotImplemented
        return (self._first, self._present, self._index) == (other._first, other._present, other._index)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"SlidingMap(first={self.first}, next={self.next}, {self._index!r})"


class IndexedSlidingMap(Generic[K]):
    """A sliding map that can also be read by index: an element, or None where one has been removed.

    Every operation takes amortised constant time; space is proportional to `next` - `first`.

    Args:
        first: the index that the first element added will have.
    """

    __slots__ = ("_index", "_window")

    def __init__(self, first: int = 0) -> None:
        self._window: SlidingArray[K | None] = SlidingArray(first)
        """Its oldest entry, if there is one, is an element that is present."""
        self._index: dict[K, int] = {}
        """Element to index. In index order: a dict keeps the order of insertion."""

    @property
    def first(self) -> int:
        """The index of the oldest element that is present; `next` if there is none."""
        return self._window.first

    @property
    def next(self) -> int:
        """The index that the next element added will have."""
        return self._window.next

    @property
    def size(self) -> int:
        """The number of elements that are present (not the length of the window)."""
        return len(self._index)

    def peek(self) -> K:
        """The oldest element that is present. Raises IndexError if there is none."""
        oldest = self._window.peek()
        assert oldest is not None, "removed elements do not stay at the front"
        return oldest

    def add(self, element: K) -> int:
        """Add `element` and return its index. Raises ValueError if it is present already."""
        if element in self._index:
            raise ValueError(f"{element!r} is present already")
        self._index[element] = self._window.add(element)
        return self._index[element]

    def index(self, element: K) -> int | None:
        """The index of `element`, or None if it is not present."""
        return self._index.get(element)

    def remove(self, element: K) -> bool:
        """Remove `element` and say whether it was present; where it was not, nothing changes."""
        index = self._index.pop(element, None)
        if index is None:
            return False
        self._window[index] = None
        while self._window.size > 0 and self._window.peek() is None:
            self._window.remove()
        return True

    def __getitem__(self, index: int) -> K | None:
        """The element at `index`, None if it has been removed. Raises IndexError outside `first` .. `next` - 1."""
        return self._window[index]

    def __contains__(self, element: object) -> bool:
        return element in self._index

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[K]:
        """The elements that are present, oldest first. The map must not change meanwhile."""
        return iter(self._index)

    def __eq__(self, other: object) -> bool:
        """Equal windows with equal elements at equal indices."""
        if not isinstance(other, IndexedSlidingMap):
            return NotImplemented
        return self._window == other._window

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"IndexedSlidingMap(first={self.first}, next={self.next}, {self._index!r})"
