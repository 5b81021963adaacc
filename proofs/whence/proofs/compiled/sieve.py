"""States that are alike in what is asked about: each kind is judged once, at the first state that shows it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from whence.proofs.compiled.cells import Job
from whence.proofs.compiled.memory import Array
from whence.proofs.compiled.search import NativeSearch

_SMALLEST = 1 << 12


@dataclass(slots=True)
class Sieve:
    """Tells the kinds of a search's states apart by the fields named. Quiet: only states in which nothing is
    in flight, and something is undelivered.
    """

    search: NativeSearch
    fields: Collection[str]
    quiet: bool
    _job: Array = field(init=False)
    _masks: Array = field(init=False)
    _table: Array = field(init=False)
    _known: Array = field(init=False)
    _sifted: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        layout = self.search.layout
        self._job, self._masks = Array(64), Array(layout.words)
        for name in self.fields:
            chosen = layout.fields[name]
            for word in {run.word for run in chosen.runs}:
                self._masks[word] = self._masks[word] | chosen.mask(word)
        self._known = Array(self.search.parents.length, 4)
        self._job[Job.MASKS], self._job[Job.QUIET] = self._masks.address, int(self.quiet)
        self._job[Job.KNOWN] = self._known.address
        self._use(Array(_SMALLEST, 4))

    def fresh(self) -> list[int]:
        """The first state of each new kind among the states added since the last call, by number."""
        start, end = self._sifted, self.search.numbered
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
        self.search.kernel.sift(self.search.shared.address, self._job.address)

    def _use(self, table: Array) -> None:
        self._table = table
        self._job[Job.TABLE], self._job[Job.TABLE_MASK] = table.address, table.length - 1

    def _grow(self) -> None:
        """Enters what is known into a larger table; it comes out in the same order."""
        known = self._job[Job.KNOWN_COUNT]
        self._use(Array(4 * self._table.length, 4))
        self._job[Job.LIST], self._job[Job.KNOWN_COUNT] = self._known.address, 0
        self._sift(0, known)
        assert self._job[Job.KNOWN_COUNT] == known
        self._job[Job.LIST] = 0
