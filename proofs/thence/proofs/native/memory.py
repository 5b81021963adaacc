"""Arrays outside of Python's heap: reserved at once, backed by memory only where they are touched."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thence.proofs.explore.exploration import Resources

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_HUGE_FROM = 1 << 22


@dataclass(slots=True)
class Array:
    """Zeros to begin with. `width` is the size of an element in bytes, 4 or 8. An element is replaced at once: native
    code that reads it meanwhile finds the old or the new one.

    Raises:
        MemoryError: where so much cannot even be reserved.
    """

    length: int
    width: int = 8
    address: int = field(init=False)
    _memory: mmap.mmap = field(init=False)
    _elements: memoryview = field(init=False)

    def __post_init__(self) -> None:
        size = max(self.length * self.width, mmap.PAGESIZE)
        try:
            self._memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
        except (OSError, OverflowError) as error:
            raise MemoryError(f"{size:,} bytes cannot be reserved: {error}") from error
        if size >= _HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                self._memory.madvise(mmap.MADV_HUGEPAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._elements = memoryview(self._memory).cast("Q" if self.width == 8 else "I")

    def __getitem__(self, at: int) -> int:
        assert 0 <= at < self.length
        return int(self._elements[at])

    def __setitem__(self, at: int, value: int) -> None:
        assert 0 <= at < self.length
        self._elements[at] = value

    @property
    def elements(self) -> memoryview:
        """The elements, to be read and written without a check of their place."""
        return self._elements

    def take(self, other: Array, count: int) -> None:
        """The first elements of another array of the same width become the first of this one."""
        assert count <= min(self.length, other.length)
        assert self.width == other.width
        ctypes.memmove(self.address, other.address, count * self.width)

    def read(self, at: int, count: int) -> tuple[int, ...]:
        """Some elements in a row."""
        assert 0 <= at <= at + count <= self.length
        return struct.unpack_from(f"={count}{'Q' if self.width == 8 else 'I'}", self._memory, at * self.width)

    def view(self, at: int, count: int) -> memoryview:
        """The bytes of some elements in a row, to be read or written."""
        assert 0 <= at <= at + count <= self.length
        return memoryview(self._memory)[at * self.width : (at + count) * self.width]

    def clear(self, count: int) -> None:
        """The first elements become zeros."""
        assert count <= self.length
        ctypes.memset(self.address, 0, count * self.width)

    def write(self, at: int, values: Sequence[int]) -> None:
        """Replaces some elements in a row."""
        assert 0 <= at <= at + len(values) <= self.length
        code = f"={len(values)}{'Q' if self.width == 8 else 'I'}"
        struct.pack_into(code, self._memory, at * self.width, *values)


@dataclass(frozen=True, slots=True)
class Allotment:
    """The resources of a search: bytes for its store, and threads."""

    memory: int
    threads: int

    @staticmethod
    def of(resources: Resources) -> Allotment:
        """The resources asked for; by default most of the machine's memory, and all of its processors."""
        return Allotment(resources.memory or available() * 7 // 10, resources.threads or processors())


def available() -> int:
    """The machine's memory in bytes, or the limit of the container, where that can be read."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            return min(total, int(Path(path).read_text(encoding="ascii")))
    return total


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
