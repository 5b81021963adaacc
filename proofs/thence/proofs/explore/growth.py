"""Whether a search that has begun has many states before it: for the choice of an engine, never for a verdict.

Layers of a breadth-first search grow by a factor that falls from layer to layer, and shrink in the second half. So a
search whose last whole layer has grown by a large factor is far from its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

STEEP: Final = 2.3
"""The growth of a layer after which there are many states, however few were seen."""

CLEAR: Final = 1.4
"""The same where many were seen."""


def has_many_before_it(layers: Sequence[int], seen: int) -> bool:
    """Whether a search with these whole layers is far from its end. `seen`: so many states in them are many."""
    if len(layers) < 3:
        return False
    return layers[-1] >= layers[-2] * (CLEAR if sum(layers) >= seen else STEEP)
