"""Exponents of what is known exactly."""

from __future__ import annotations

import pytest

from thence.conformance.costs.growth import grow

SIZES = (8, 16, 32)


@pytest.mark.parametrize(
    ("power", "shape"), [(0, "O(1)"), (1, "O(n)"), (2, "O(n^2)"), (0.5, "O(n^0.5)"), (3, "O(n^3.0)")]
)
@pytest.mark.parametrize("constant", [0, 7])
def test_powers(power: float, shape: str, constant: int) -> None:
    growth = grow("n", SIZES, [constant + 3 * size**power for size in SIZES])
    assert growth.exponent == pytest.approx(power)
    assert growth.shape == shape


def test_what_is_not_a_power() -> None:
    assert grow("n", SIZES, [100, 104, 109]).shape == "O(1)"
    assert grow("n", SIZES, [10, 20, 25]).exponent == 0, "towards a limit"
    assert grow("n", SIZES, [30, 20, 10]).exponent == 0
    assert grow("n", SIZES, [10, 10, 40]).exponent == 1, "late, and not constant"
    assert grow("n", SIZES, [0, 0, 0]).shape == "O(1)"


def test_sizes_double() -> None:
    with pytest.raises(AssertionError):
        grow("n", (8, 16, 30), [1, 2, 3])
