"""The threads of a search: what each has of its own, and how they run native code together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Thread
from time import sleep

from thence.proofs.native.code.cells import FINDINGS, MOST_INVARIANTS, NEVER, RECENT_STEPS, RING, Own
from thence.proofs.native.code.kernel import Kernel
from thence.proofs.native.code.recent import table_of
from thence.proofs.native.layout import Layout
from thence.proofs.native.memory import Array

PIECE = 1 << 17
"""Most states that are expanded at once."""

PIECE_IN_HASTE = 1 << 13
"""The same for code that was made in haste: better code is taken between pieces."""

_WANTED = 1 << 14
"""Most steps that a thread asks for at once."""

WORTH_OPTIMISING = 1 << 16
"""After so many states that were expanded, optimised code is made, meanwhile the search goes on."""

_WORTH_SHARING = 1 << 11
"""Fewest states that are shared among threads."""

_A_MOMENT = 20e-6
"""Seconds between two looks at whether a thread has begun."""


@dataclass(slots=True)
class Worker:
    """The arrays of one thread, see `cells`."""

    cells: Array
    wanted: Array
    deferred: Array
    ring: Array
    recent: tuple[Array, Array, Array]

    @staticmethod
    def start(layout: Layout) -> Worker:
        worker = Worker(
            Array(128), Array(_WANTED), Array(PIECE, 4), Array(RING * (layout.words + 2)),
            (table_of(layout.words), table_of(layout.words), Array(2 * RECENT_STEPS)),
        )  # fmt: skip
        worker.cells[Own.WANTED] = worker.wanted.address
        worker.cells[Own.WANTED_ROOM] = _WANTED
        worker.cells[Own.DEFERRED] = worker.deferred.address
        worker.cells[Own.RING_BASE] = worker.ring.address
        for cell, table in zip((Own.RECENT, Own.RECENT_SETTLED, Own.STEPS), worker.recent, strict=True):
            worker.cells[cell] = table.address
        for at in range(len(FINDINGS) + MOST_INVARIANTS):
            worker.cells[Own.FOUND + at] = NEVER
        return worker

    @property
    def unused(self) -> int:
        """How many numbers it has taken for states and not used."""
        return self.cells[Own.LAST] - self.cells[Own.NEXT]

    def take_deferred(self) -> tuple[int, ...]:
        """The states that have to be expanded again, which are forgotten here."""
        found = self.deferred.read(0, self.cells[Own.DEFERRED_COUNT])
        self.cells[Own.DEFERRED_COUNT] = 0
        return found

    def take_wanted(self) -> tuple[int, ...]:
        """The keys of the steps asked for, which are forgotten here."""
        found = self.wanted.read(0, self.cells[Own.WANTED_COUNT])
        self.cells[Own.WANTED_COUNT] = 0
        return found


@dataclass(slots=True)
class Team:
    """The threads that run the native code `kernel` on the cells `shared`; the calling thread is the first."""

    kernel: Kernel
    shared: Array
    workers: list[Worker]
    _threads: list[ThreadPoolExecutor] = field(init=False)
    """One of each helper. They start here: a thread that began while an interrupt came would be lost sight of."""
    _expanded: int = field(init=False, default=0)
    _optimised: Future[Kernel] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._threads = [ThreadPoolExecutor(1, "search") for _ in self.workers[1:]]
        for thread in self._threads:
            thread.submit(_nothing).result()

    @property
    def transitions(self) -> int:
        """How many transitions the states expanded so far have."""
        return sum(worker.cells[Own.EDGES] for worker in self.workers)

    @property
    def unused(self) -> int:
        """How many numbers have been taken for states and not used."""
        return sum(worker.unused for worker in self.workers)

    @property
    def overflowed(self) -> bool:
        """Whether a state had no room for its packets."""
        return any(worker.cells[Own.OVERFLOW] for worker in self.workers)

    @property
    def strayed(self) -> set[int]:
        """See `Own.STRAYED`."""
        return {worker.cells[Own.STRAYED] for worker in self.workers}

    def drop_blocks(self) -> int:
        """Gives up the unused numbers; how many there were."""
        unused = self.unused
        for worker in self.workers:
            worker.cells[Own.NEXT] = worker.cells[Own.LAST]
        return unused

    def found(self, names: Iterable[str]) -> dict[str, int]:
        """The least state that shows a violation, by property; `names` are those of the cells, in their order."""
        found: dict[str, int] = {}
        for at, name in enumerate(names):
            state = min(worker.cells[Own.FOUND + at] for worker in self.workers)
            if state != NEVER:
                found[name] = state
        return found

    # --- running native code -----------------------------------------------------------------

    @property
    def helped(self) -> bool:
        """Whether threads can expand while the calling thread does something else."""
        return bool(self._threads)

    def expand(self, count: int, meanwhile: Callable[[], None] | None = None) -> None:
        """Expands the states, so many, that the cells tell. The calling thread does `meanwhile` first, if there is
        something to do."""
        self._expanded += count
        if self.kernel.optimised is not None and self._expanded > WORTH_OPTIMISING:
            self._optimise(self.kernel.optimised)
        helpers: list[Future[None]] = []

        def work() -> None:
            if count >= _WORTH_SHARING:
                self._start(helpers)
            if meanwhile is not None:
                self._let_begin(helpers)
                meanwhile()
            self.kernel.expand(self.shared.address, self.workers[0].cells.address)

        self._together(work, helpers)

    @staticmethod
    def _let_begin(helpers: list[Future[None]]) -> None:
        """Waits until a helper is in native code: Python runs one thread, and would go on with the calling one."""
        while helpers and not any(helper.running() or helper.done() for helper in helpers):
            sleep(_A_MOMENT)

    def _optimise(self, optimised: Callable[[], Kernel]) -> None:
        """Has optimised code made by a thread of its own, and takes it once it is there."""
        if self._optimised is None:
            self._optimised = meanwhile(optimised)
        elif self._optimised.done():
            self.kernel = self._optimised.result()

    def _start(self, helpers: list[Future[None]]) -> None:
        for thread, worker in zip(self._threads, self.workers[1:], strict=True):
            helpers.append(thread.submit(self.kernel.expand, self.shared.address, worker.cells.address))

    def rehash(self, end: int) -> None:
        """Enters the states numbered below `end` into the index."""
        middle = end // 2 if self.helped and end >= _WORTH_SHARING else 0
        helpers: list[Future[None]] = []

        def work() -> None:
            if middle:
                helpers.append(self._threads[0].submit(self.kernel.rehash, self.shared.address, 0, middle))
            self.kernel.rehash(self.shared.address, middle, end)

        self._together(work, helpers)

    def _together(self, work: Callable[[], None], helpers: list[Future[None]]) -> None:
        """Works, and waits for the helpers that `work` starts."""
        try:
            work()
            for helper in helpers:
                helper.result()
        except BaseException:
            if self._interrupted_while_waiting():
                raise KeyboardInterrupt from None
            raise

    def _interrupted_while_waiting(self) -> bool:
        """Waits until no thread is in native code, since its arrays are about to go, whatever interrupts come; whether
        one came.

        NOTE(joins): a thread does one thing after another, so it is idle once it has done something new. To join it
        would not do: a join that is interrupted takes a thread that runs for one that has ended (Python 3.11).
        """
        interrupted = False
        while True:
            try:
                for thread in self._threads:
                    thread.submit(_nothing).result()
                return interrupted
            except KeyboardInterrupt:
                interrupted = True


def _nothing() -> None:
    """What a thread does to show that it is idle."""


def meanwhile(work: Callable[[], Kernel]) -> Future[Kernel]:
    """What a thread does that ends with it."""
    future: Future[Kernel] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="optimise").start()
    return future
