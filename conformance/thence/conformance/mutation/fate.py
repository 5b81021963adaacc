"""The fate of a mutant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Outcome: TypeAlias = Literal["killed", "equal", "survived", "undecided", "refused"]
"""`killed`: something that is stated of the subject is false of the mutant, or not provable of it. `equal`: it does the
same as the subject in every scope that was compared. `survived`: it differs, and nothing noticed. `undecided`: a
limit ended the judgement. `refused`: the front end or the import refuses it, or it means the same: no mutant."""

OUTCOMES: Final[tuple[Outcome, ...]] = ("killed", "survived", "undecided", "equal", "refused")


@dataclass(frozen=True, slots=True)
class Fate:
    """The fate of a mutant.

    Attributes:
        outcome: see `Outcome`.
        reason: the statement that killed it, the scopes in which it is equal, or the extent of the search.
    """

    outcome: Outcome
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Both as JSON values."""
        return {"outcome": self.outcome, "reason": self.reason}

    @staticmethod
    def read(outcome: str, reason: str) -> Fate:
        """From words. Raises: ValueError where that is no outcome."""
        for known in OUTCOMES:
            if known == outcome:
                return Fate(known, reason)
        raise ValueError(f"`{outcome}` is no outcome")
