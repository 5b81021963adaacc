"""What formulas speak about, found once for each of them: obligations share most of their formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.types import Type
from thence.proofs.logic.counting import has_counts
from thence.proofs.logic.formula import free_locals, symbols_of


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a formula speaks about.

    Attributes:
        symbols: its relations and functions.
        free: the names that it does not bind, in order of first use, with their types.
        counts: whether anything is counted in it.
    """

    symbols: frozenset[str]
    free: Mapping[str, Type]
    counts: bool


@dataclass(slots=True)
class Mentioned:
    """By identity; each formula is kept, so that no other has its place in memory."""

    _known: dict[int, tuple[ir.Expr, Mentions]] = field(default_factory=dict)

    def by(self, formula: ir.Expr) -> Mentions:
        """What the formula speaks about. Raises: Unsupported outside the fragment."""
        if id(formula) not in self._known:
            found = Mentions(symbols_of(formula), free_locals(formula), has_counts(formula))
            self._known[id(formula)] = formula, found
        return self._known[id(formula)][1]
