"""A proof obligation: hypotheses that must imply a goal, over a signature. Pure data; nothing here solves anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.ir.types import Sort


@dataclass(frozen=True, slots=True)
class Signature:
    """Sorts, those of them that have a strict total order, and symbols. Sorts are not bounded and not empty."""

    sorts: tuple[Sort, ...]
    ordered: tuple[str, ...]
    symbols: tuple[ir.Symbol, ...]


@dataclass(frozen=True, slots=True)
class Obligation:
    """`hypotheses` imply `goal` for all values of `constants` (the free names).

    Attributes:
        name: unique within a statement: `deliver keeps causal`, `base local`.
        about: what the goal claims, whatever the step: the name of an invariant. Empty: the name of the goal.
        by_frame: the goal is one of the hypotheses, word for word: the transition changes nothing that it speaks about.
    """

    name: str
    signature: Signature
    hypotheses: tuple[ir.NamedFormula, ...]
    goal: ir.NamedFormula
    constants: tuple[ir.Variable, ...] = ()
    about: str = field(default="", compare=False)
    by_frame: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        known = any(hypothesis.body == self.goal.body for hypothesis in self.hypotheses)
        object.__setattr__(self, "by_frame", known)

    @property
    def claim(self) -> str:
        """What the goal claims, whatever the step. Obligations with the same claim are kin, see NOTE(kin)."""
        return self.about or self.goal.name

    @property
    def essential(self) -> Obligation:
        """The obligation; where its goal is one of the hypotheses, with that hypothesis alone."""
        if not self.by_frame:
            return self
        same = next(each for each in self.hypotheses if each.body == self.goal.body)
        return replace(self, hypotheses=(same,))

    def with_only(self, positions: Iterable[int]) -> Obligation:
        """The obligation with the hypotheses in these positions alone."""
        return replace(self, hypotheses=tuple([self.hypotheses[at] for at in positions]))
