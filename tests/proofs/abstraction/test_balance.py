"""Balances: found where there is one, in integers; none where there is none."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from thence.proofs.abstraction.balance import Balance, Equation, Feature, balance_of, residuals, solved

A = Feature("queue", "A", "own")
B = Feature("packet", "B", "in")


def test_a_balance_is_found() -> None:
    observed = [({A: a, B: b}, 1 + 2 * a - b) for a in range(4) for b in range(2)]
    found = balance_of("N", observed)
    assert found == Balance("N", 1, ((B, -1), (A, 2)))
    assert str(found) == "N = 2 A(own) - B(in) + 1"
    assert found.value({A: 3}) == 7
    assert list(residuals((found,), [{A: 3}, {B: 1}], [[7], [4]])) == [0, 4]


def test_none_is_made_up() -> None:
    assert balance_of("N", [({A: 1}, 1), ({A: 1}, 2)]) is None
    assert balance_of("N", [({A: 2}, 1), ({A: 4}, 2), ({}, 0)]) is None, "a half each"
    assert balance_of("N", [({A: 1}, 0), ({}, 0)]) is None, "a number that is always zero is no counter"


_SYSTEMS = st.integers(1, 4).flatmap(
    lambda unknowns: st.tuples(
        st.just(unknowns),
        st.lists(st.tuples(st.lists(st.integers(-2, 2), min_size=unknowns, max_size=unknowns), st.integers(-2, 2))),
    )
)


@given(_SYSTEMS)
def test_a_solution_is_that_of_the_reduced_echelon_form(drawn: tuple[int, list[tuple[list[int], int]]]) -> None:
    unknowns, rows = drawn
    equations = [Equation(tuple((at, each) for at, each in enumerate(row) if each), value) for row, value in rows]
    assert solved(equations, unknowns) == _by_echelon_form(rows, unknowns)


def _by_echelon_form(rows: list[tuple[list[int], int]], unknowns: int) -> list[Fraction] | None:
    """By columns, with all rows; the unknowns of columns without a pivot are 0."""
    left = [[Fraction(each) for each in (*row, value)] for row, value in rows]
    found: dict[int, list[Fraction]] = {}
    for column in range(unknowns):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        pivot = [each / pivot[column] for each in pivot]
        for row in (*left, *found.values()):
            row[:] = [each - row[column] * other for each, other in zip(row, pivot, strict=True)]
        found[column] = pivot
    if any(row[-1] for row in left):
        return None
    return [found[column][-1] if column in found else Fraction(0) for column in range(unknowns)]
