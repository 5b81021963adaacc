"""The search with a store that keeps fingerprints: what is expanded is forgotten but for 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from thence.proofs.explore.exploration import Storage
from thence.proofs.native.code.cells import Shared
from thence.proofs.native.memory import Array
from thence.proofs.native.search import NativeSearch

FINGERPRINT_BITS = 64


def omission(states: int, transitions: int) -> float:
    """The probability that a state was taken for another, at most, if fingerprints are as good as random.

    Each successor that is new is taken for one of at most so many states with a probability of at most
    states / 2^64, and no more successors are new than there are transitions.
    """
    return min(1.0, states * max(transitions, states) / 2.0**FINGERPRINT_BITS)


@dataclass(slots=True)
class FingerprintSearch(NativeSearch):
    """Layer by layer; the states below `released` are gone."""

    released: int = field(init=False, default=0)
    _old: Array | None = field(init=False, default=None)

    storage: ClassVar[Storage] = "fingerprints"
    index_width: ClassVar[int] = 8

    def _room(self) -> int:
        return self.memory // self.index_width

    @property
    def kept(self) -> int:
        """How many states have room in memory, holes included."""
        return self.numbered - self.released

    def advance(self, pause: Callable[[], None]) -> bool:
        """Expands the next layer, and forgets it; see `NativeSearch.advance`."""
        more = NativeSearch.advance(self, pause)
        words = self.layout.words
        self.states.release(self.released * words, self.layer * words)
        self.parents.release(self.released, self.layer)
        self.released = self.layer
        return more

    def _use_index(self, index: Array) -> None:
        self._old = self.index
        NativeSearch._use_index(self, index)

    def _rehash(self, end: int) -> None:
        """Enters what the index before this one has."""
        assert self._old is not None
        self.shared[Shared.OLD] = self._old.address
        NativeSearch._rehash(self, self._old.length)
        self.shared[Shared.OLD] = 0
        self._old = None
