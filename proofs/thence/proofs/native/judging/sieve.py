"""Kinds of states: a judgement that depends on some fields only is made once for all states with equal fields."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from thence.proofs.native.code.cells import Job
from thence.proofs.native.memory import Array
from thence.proofs.native.search import NativeSearch

_SMALLEST = 1 << 12


class Quiet(IntEnum):
    """The states that are considered: all; those with nothing in flight and something undelivered; those with nothing
    in flight."""

    NOT_ONLY = 0
    WAITING = 1
    SILENT = 2


Kind: TypeAlias = tuple[tuple[str, ...], Quiet]
"""The fields by which states are told apart, and which states are considered."""


@dataclass(slots=True)
class Sieve:
    """Tells the kinds of a search's states apart by the fields named.

    `quiet`: which states are considered. The fields of each kind are kept, since states may be forgotten or get other
    numbers.
    """

    search: NativeSearch
    fields: Collection[str]
    quiet: Quiet
    _job: Array = field(init=False)
    _masks: Array = field(init=False)
    _table: Array = field(init=False)
    _known: Array = field(init=False)
    _rows: Array = field(init=False)
    _sifted: int = field(init=False, default=0)
    _moves: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        layout = self.search.layout
        self._job, self._masks = Array(64), Array(layout.words)
        for name in self.fields:
            chosen = layout.fields[name]
            for word in {run.word for run in chosen.runs}:
                self._masks[word] = self._masks[word] | chosen.mask(word)
        self._job[Job.MASKS], self._job[Job.QUIET] = self._masks.address, self.quiet
        self._use(_SMALLEST)

    def fresh(self) -> list[int]:
        """The first state of each new kind among the states added since the last call, by number."""
        if self._moves != self.search.store.moves:
            self._moves, self._sifted = self.search.store.moves, self.search.store.moved
        start, end = self._sifted, self.search.store.numbered
        self._sifted = end
        first = self._job[Job.KNOWN_COUNT]
        while start < end:
            known = self._job[Job.KNOWN_COUNT]
            if 4 * known > self._table.length:
                self._grow()
            stop = min(end, start + self._table.length // 4)
            self._sift(start, stop)
            start = stop
        return list(self._known.read(first, self._job[Job.KNOWN_COUNT] - first))

    def _sift(self, start: int, end: int) -> None:
        self._job[Job.START], self._job[Job.END] = start, end
        self.search.team.kernel.sift(self.search.team.shared.address, self._job.address)

    def _use(self, size: int) -> None:
        """A table of this size, and room for half as many kinds."""
        words = self.search.layout.words
        self._table, self._known, self._rows = Array(size, 4), Array(size // 2, 4), Array(size // 2 * words)
        for cell, array in ((Job.TABLE, self._table), (Job.KNOWN, self._known), (Job.ROWS, self._rows)):
            self._job[cell] = array.address
        self._job[Job.TABLE_MASK] = size - 1

    def _grow(self) -> None:
        """The same kinds in a larger table."""
        count, known, rows = self._job[Job.KNOWN_COUNT], self._known, self._rows
        self._use(4 * self._table.length)
        self._known.take(known, count)
        self._rows.take(rows, count * self.search.layout.words)
        self._job[Job.REFILL] = 1
        self._sift(0, count)
        self._job[Job.REFILL] = 0
