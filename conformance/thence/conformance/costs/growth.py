"""Growth of a measure over a parameter: the exponent, fitted without the constant part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

FLAT: Final = 0.15
"""A measure is constant if it rises by less than this share while the parameter grows to four times its size."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of a measure.

    Attributes:
        parameter: `n`, `i`, `o`, `b`, `u`, `p`, `r` as in Table 1, or `length` of a stream.
        sizes: of the parameter, each twice the one before.
        values: of the measure there.
    """

    parameter: str
    sizes: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        assert len(self.sizes) == len(self.values) == 3
        assert self.sizes[1] == 2 * self.sizes[0] and self.sizes[2] == 2 * self.sizes[1]

    @property
    def exponent(self) -> float:
        """k of c + a * size ** k through the three values: log2 of the ratio of the two rises. 0.0 for what is
        constant, falls, or rises less and less, towards a limit."""
        first, second, third = self.values
        if third - first <= FLAT * abs(first) or third <= second:
            return 0.0
        if second <= first:
            return 1.0  # Flat, then rising: nothing fits, and it is not to be taken for constant.
        return max(0.0, math.log2((third - second) / (second - first)))

    @property
    def shape(self) -> str:
        """In words of the papers: `O(1)`, `O(n)`, `O(n^0.6)`."""
        near = next((whole for whole in (0, 1, 2) if abs(self.exponent - whole) <= FLAT), None)
        match near:
            case None:
                return f"O({self.parameter}^{self.exponent:.1f})"
            case 0:
                return "O(1)"
            case 1:
                return f"O({self.parameter})"
            case _:
                return f"O({self.parameter}^{near})"

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "parameter": self.parameter,
            "sizes": list(self.sizes),
            "values": [round(value, 2) for value in self.values],
            "exponent": round(self.exponent, 2),
            "shape": self.shape,
        }


def grow(parameter: str, sizes: Sequence[int], values: Sequence[float]) -> Growth:
    """The growth of these values over these sizes."""
    return Growth(parameter, tuple(sizes), tuple(values))
