"""Breadth-first search in native code: rounds over each layer until every step that it asks for is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from thence.dsl.ir.properties import DELIVERED, LINK
from thence.dsl.run.actions import State
from thence.proofs.explore.exploration import ExplorationRequest, Storage
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.native.code.cells import BLOCK, CROWDED, FINDINGS, Shared
from thence.proofs.native.code.kernel import compile_kernel
from thence.proofs.native.layout import Capacity, Layout
from thence.proofs.native.memory import Allotment, Array
from thence.proofs.native.renaming import Renaming
from thence.proofs.native.state_store import OutOfMemory, StateStore
from thence.proofs.native.tables import StepTable
from thence.proofs.native.workers import PIECE, PIECE_IN_HASTE, Team, Worker


class Overflow(Exception):
    """A packed state is too small for its content; `capacity` would do."""

    def __init__(self, capacity: Capacity) -> None:
        super().__init__(capacity)
        self.capacity = capacity


@dataclass(slots=True)
class NativeSearch:
    """The reachable states of the request's system, layer by layer.

    The states below `layer` are expanded, and `depth` is the length of the longest shortest way so far. `found` maps a
    property to the least of the states that show a violation of it: by an action that violates it, or by themselves.
    `asked` are keys of steps that states wait for.
    """

    request: ExplorationRequest
    table: StepTable
    capacity: Capacity
    allotment: Allotment
    layout: Layout = field(init=False)
    store: StateStore = field(init=False)
    team: Team = field(init=False)
    renaming: Renaming | None = field(init=False, default=None)
    found: dict[str, int] = field(init=False, default_factory=dict)
    asked: dict[int, None] = field(init=False, default_factory=dict)
    layer: int = field(init=False, default=0)
    depth: int = field(init=False, default=0)

    storage: ClassVar[Storage] = "exact"
    forgets: ClassVar[bool] = False
    """Whether states are forgotten, so that the way to a state cannot be told."""
    large_index: ClassVar[int] = 1 << 26
    """The index is doubled from so many places on, and until then made four times as large."""

    def __post_init__(self) -> None:
        table, symmetry, shared = self.table, self.table.symmetry, Array(64)
        group = () if symmetry is None else symmetry.group
        self.layout = Layout(table.shape, self.capacity, group, self.storage)
        judged = self.request.properties & set(FINDINGS)
        promised = {promise.name for promise in self.request.system.protocol.promises}
        watched = {"fault"} if self.request.properties & {DELIVERED, LINK, *promised} else set()
        if DELIVERED in judged and (table.shape.places > 1 or not is_decided_at_rest(self.request.system)):
            judged -= {DELIVERED}
        watched |= {CROWDED} if table.shape.identities else set()
        kernel = compile_kernel(self.layout, judged | watched)
        self.store = StateStore(self.layout, self.allotment.memory, shared)
        self.team = Team(kernel, shared, [Worker.start(self.layout) for _ in range(self.allotment.threads)])
        self.store.add_initial(self.request.system.initial())
        self._check_capacity()
        if symmetry is not None:
            self.renaming = Renaming.start(symmetry, table, self.capacity, shared)
            self.renaming.extend()
        self.team.rehash(1)

    @property
    def state_count(self) -> int:
        """How many states have been reached."""
        return self.store.numbered - self.store.holes - self.team.unused

    @property
    def bytes_used(self) -> int:
        """How much memory the states take."""
        return self.store.bytes_used

    @property
    def branching(self) -> int:
        """Most transitions of a state, by the steps that are known."""
        return self.layout.branching * self.table.alternatives

    @property
    def frontier(self) -> int:
        """How many states are still to be expanded, holes included."""
        return self.store.numbered - self.layer

    def line_to(self, number: int) -> list[State]:
        """The states from the initial one to this one, each reached from the one before it."""
        return self.store.line_to(number)

    def note(self, name: str, number: int, *, by_action: bool) -> None:
        """The state shows a violation of the property."""

    def resume(self) -> Iterator[tuple[str, bool]]:
        """States of an earlier search that show a violation; here there was none."""
        yield from ()

    # --- the search --------------------------------------------------------------------------

    def advance(self, pause: Callable[[], None]) -> bool:
        """Expands the next layer; whether there is one after it. Calls `pause` between pieces, which may raise.

        Raises:
            Overflow: the layout is too small; the search must start again.
            OutOfMemory: the store is full.
        """
        end, before = self.store.numbered, self.state_count
        deferred: list[int] = []
        while self.layer < end:
            stop = min(end, self.layer + self._piece())
            deferred += self._expand(self.layer, stop, None)
            self.layer = stop
            if self.layer == end or len(deferred) > PIECE or not self.team.helped:
                self._expand_again(deferred)
                deferred = []
            pause()
        more = self.state_count > before
        self.store.holes += self.team.drop_blocks()
        self.depth += more
        return more

    def _expand_fully(self, start: int, end: int, chosen: Array | None) -> None:
        """Expands some states; again and again those for which a step was not known."""
        self._expand_again(self._expand(start, end, chosen))

    def _expand_again(self, deferred: list[int]) -> None:
        """Learns the steps that were asked for, and expands the states that wait for them, until none has to."""
        self._learn_asked()
        while deferred:
            again = Array(len(deferred), 4)
            again.write(0, sorted(deferred))
            deferred = []
            done = 0
            while done < again.length:
                piece = self._piece()
                if not piece:
                    raise OutOfMemory
                stop = min(again.length, done + piece)
                deferred += self._expand(done, stop, again)
                done = stop
            self._learn_asked()

    def _piece(self) -> int:
        """How many states may be expanded at once.

        Store and index have room for all successors of any one state; where there is less, the states that are left
        are deferred.
        """
        store, limit = self.store, self.request.limit
        most = self.allotment.threads * (self.branching + BLOCK)
        while 2 * store.numbered > store.index.length or 2 * store.index.length < 10 * most:
            store.enlarge_index(4 if store.index.length < self.large_index else 2)
            self.team.rehash(store.numbered)
        store.shared[Shared.ROOM] = store.numbered + store.spare(most) - most
        piece = PIECE if self.team.kernel.optimised is None else PIECE_IN_HASTE
        if limit is None:
            return piece
        return max(1, min(piece, (limit - self.state_count) // max(self.branching, 1)))

    def _expand(self, start: int, end: int, chosen: Array | None) -> list[int]:
        """Expands some states; gives those that must be expanded again once the steps they asked for are known.

        What was asked for before is learned meanwhile, where other threads expand.
        """
        shared, table = self.team.shared, self.table
        table.entries.publish()
        shared[Shared.LIST] = 0 if chosen is None else chosen.address
        shared[Shared.CURSOR], shared[Shared.END] = start, end
        shared[Shared.STEPS], shared[Shared.STEPS_MASK] = table.entries.array.address, table.entries.mask
        shared[Shared.OPERATIONS], shared[Shared.PACKETS] = table.operations.array.address, table.packets.address
        self.team.expand(end - start, self._learn_asked if self.asked else None)
        return self._collect()

    def _collect(self) -> list[int]:
        names = (*FINDINGS, *self.table.names)
        for name, state in self.team.found(names).items():
            self.found[name] = min(state, self.found.get(name, state))
        deferred: list[int] = []
        for worker in self.team.workers:
            deferred += worker.take_deferred()
            self.asked |= dict.fromkeys(worker.take_wanted())
        return deferred

    def _learn_asked(self) -> None:
        """The steps that were asked for become known."""
        asked, self.asked = self.asked, {}
        self._learn(asked)

    def _learn(self, wanted: Iterable[int]) -> None:
        """The steps with these keys become known."""
        self.table.fill(wanted)
        self._check_capacity()
        if self.renaming is not None:
            self.renaming.extend()

    def _check_capacity(self, *, overflowed: bool = False) -> None:
        """Raises Overflow where the layout is too small. `overflowed`: some state had no room for its packets."""
        local_bits, packet_bits, slots = self.capacity.local_bits, self.capacity.packet_bits, self.capacity.slots
        follower_bits = self.capacity.follower_bits
        while self.table.locals_used > 1 << local_bits:
            local_bits += 2
        while self.table.packets_used + 1 >= 1 << packet_bits:
            packet_bits += 1
        while self.table.followers_used > 1 << follower_bits:
            follower_bits += 4
        if overflowed or self.team.overflowed:
            slots = self.layout.slots + max(4, self.layout.slots // 2)
        wanted = Capacity(local_bits, packet_bits, slots, follower_bits)
        if wanted != self.capacity:
            raise Overflow(wanted)
