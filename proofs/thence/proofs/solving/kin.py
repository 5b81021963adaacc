"""Which hypotheses were enough for the same claim in other steps.

NOTE(kin): a machine or a protocol keeps an invariant in most steps for the same reasons. So what is not proved from
what concerns the goal, see NOTE(relevant), is asked about the hypotheses whose names the proofs of its kin used: of the
obligations with the same claim. A hypothesis whose name none of the kin has is of this step alone, a guard or a
condition of a handler, and is taken, too. Kin only choose hypotheses: what follows from some of them follows from all
of them, and a solver proves each time that the goal follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from thence.proofs.logic.obligation import Obligation


@dataclass(slots=True)
class Kin:
    """By claim, the names of the hypotheses of proved obligations, and of those that the proofs used."""

    _named: dict[str, set[str]] = field(default_factory=dict)
    _used: dict[str, set[str]] = field(default_factory=dict)

    def learn(self, obligation: Obligation, used: Iterable[int]) -> None:
        """A proof of the obligation used the hypotheses in these positions."""
        claim = obligation.claim
        self._named.setdefault(claim, set()).update(hypothesis.name for hypothesis in obligation.hypotheses)
        self._used.setdefault(claim, set()).update(obligation.hypotheses[at].name for at in used)

    def chosen(self, obligation: Obligation) -> tuple[int, ...] | None:
        """The positions of the hypotheses that proofs of its kin used, or do not have; None without kin."""
        if obligation.claim not in self._named:
            return None
        named, used = self._named[obligation.claim], self._used[obligation.claim]
        names = [hypothesis.name for hypothesis in obligation.hypotheses]
        return tuple([at for at, name in enumerate(names) if name in used or name not in named])
