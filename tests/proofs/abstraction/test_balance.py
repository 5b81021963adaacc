"""Balances: found where there is one, in integers; none where there is none."""

from __future__ import annotations

from thence.proofs.abstraction.balance import Balance, Feature, balance_of, residuals

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
