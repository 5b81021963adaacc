"""The cases of a run: how many, how long, and the seed and the known counterexamples that fix them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from thence.conformance.harness.guided import BUILT_IN, Corpus

OPERATIONS: Final = 30
"""Default number of operations of a case."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """A choice of cases. With the settings, it fixes every schedule.

    Attributes:
        cases: their number.
        operations: how many a scheduler chooses for each case.
        seed: of the schedulers.
        known: counterexamples that come first, each as it is; see `harness.guide`.

    Raises:
        ValueError: there are no cases or no operations.
    """

    cases: int = 1_000
    operations: int = OPERATIONS
    seed: int = 0
    known: Corpus = BUILT_IN

    def __post_init__(self) -> None:
        if self.cases < 1 or self.operations < 1:
            raise ValueError(f"at least one case of one operation is needed, not {self.cases} of {self.operations}")
