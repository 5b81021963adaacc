"""How much a user has to say: few invariants of a machine or link with which the others are found, or not needed.

What is enough depends on the time limit of an attempt. Each answer rests on a proof with just these invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.proofs.infer.links.inference import LinkInference
from thence.proofs.infer.search.inference import INTERRUPTED
from thence.proofs.infer.search.outcome import Inference
from thence.proofs.infer.search.promising import Guess

MOST_ATTEMPTS = 24
"""So many smaller sets are tried at most; where there are more, a set is called minimal, not one of the fewest."""

Standing: TypeAlias = Literal["the fewest", "none can be left out", "enough"]
"""No smaller set is enough; each set with one less of these is not enough; or only: these are enough.

What is not enough was tried, and not proved within the time limit of an attempt.
"""


Attempt: TypeAlias = Callable[[Guess], Inference | LinkInference]
"""A search with some invariants given back."""


@dataclass(frozen=True, slots=True)
class Hints:
    """The invariants that were given back.

    Attributes:
        hidden: the invariants that were taken away.
        given: those given back; None where no set was found that is enough.
        standing: what is known of smaller sets.
        inference: the attempt with these; where there is none, with all or the last one.
        attempts: how many there were.
        interrupted: whether the search was ended before smaller sets were tried.
    """

    hidden: tuple[str, ...]
    given: tuple[str, ...] | None
    standing: Standing
    inference: Inference | LinkInference
    attempts: int
    interrupted: bool = False


class _Interrupted(Exception):
    """An attempt was interrupted."""


@dataclass(slots=True)
class _Attempts:
    """The attempts by what was given back; `chosen` is the smallest set so far that is enough."""

    attempt: Attempt
    hidden: Sequence[str]
    made: dict[tuple[str, ...], Inference | LinkInference] = field(default_factory=dict)
    chosen: tuple[str, ...] | None = None

    def enough(self, given: Sequence[str], clauses: Sequence[ir.Expr] = ()) -> bool:
        """Raises: _Interrupted."""
        key = tuple(name for name in self.hidden if name in given)
        if key not in self.made:
            self.made[key] = self.attempt(Guess(key, tuple(clauses)))
        made = self.made[key]
        if made.proved and (self.chosen is None or len(key) < len(self.chosen)):
            self.chosen = key
        if made.interrupted or made.reason == INTERRUPTED:
            raise _Interrupted
        return made.proved

    def found(self, standing: Standing, *, interrupted: bool = False) -> Hints:
        last = self.made[self.chosen] if self.chosen is not None else list(self.made.values())[-1]
        return Hints(tuple(self.hidden), self.chosen, standing, last, len(self.made), interrupted)


def fewest_hints(hidden: Sequence[str], attempt: Attempt, guesses: Callable[[], Generator[Guess, None, None]]) -> Hints:
    """Few of the names that must be given to an attempt so that it proves the machine or link.

    Args:
        hidden: the names.
        attempt: the search with some of them given back.
        guesses: sets that may be enough, each smaller than the one before. Raises: KeyboardInterrupt.
    """
    attempts = _Attempts(attempt, hidden)
    try:
        if not attempts.enough(hidden):
            return attempts.found("enough")
        with closing(guesses()) as found:
            for guess in found:
                if not attempts.enough(guess.given, guess.clauses):
                    break
        return attempts.found(_smaller(attempts))
    except (_Interrupted, KeyboardInterrupt):
        return attempts.found("enough", interrupted=True)


def _smaller(attempts: _Attempts) -> Standing:
    """Leaves out one after the other, then tries all smaller sets, if they are not too many. Raises: _Interrupted."""
    while _one_less(attempts):
        pass
    assert attempts.chosen is not None
    for size in range(1, len(attempts.chosen)):
        if sum(comb(len(attempts.hidden), each) for each in range(1, size + 1)) > MOST_ATTEMPTS:
            return "none can be left out"
        if any(attempts.enough(smaller) for smaller in combinations(attempts.hidden, size)):
            return "the fewest"
    return "the fewest"


def _one_less(attempts: _Attempts) -> bool:
    """Whether one of the chosen names could be left out; those that follow are tried, too. Raises: _Interrupted."""
    before = attempts.chosen
    assert before is not None
    for name in before:
        assert attempts.chosen is not None
        fewer = tuple(other for other in attempts.chosen if other != name)
        attempts.enough(fewer)
    return attempts.chosen != before
