"""Cells of a grounding. That a formula over known cells folds to its truth value is in test_random_formulas."""

from __future__ import annotations

from tests.proofs.logic.drawn_formulas import SYMBOLS

from thence.proofs.logic.ground import Grounding


def test_a_fresh_choice_has_exactly_one_value() -> None:
    grounding = Grounding({"process": 3, "message": 1})
    cells = grounding.fresh_cells(SYMBOLS[2])
    assert set(grounding.constants) == {"src!0=0", "src!0=1", "src!0=2"}
    values = {"src!0=0": False, "src!0=1": True, "src!0=2": False}
    assert grounding.table(cells, values) == {(0,): 1}
    assert len(grounding.assertions) == 4
