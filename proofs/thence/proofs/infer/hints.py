"""How much a user has to say: the fewest of a machine's own invariants with which the others are found, or not needed.

What is enough depends on the time limit of an attempt. Each answer rests on a proof with just these invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from thence.proofs.infer.inference import INTERRUPTED, Inference

MOST_ATTEMPTS = 24
"""So many smaller sets are tried at most; where there are more, a set is called minimal, not one of the fewest."""


@dataclass(frozen=True, slots=True)
class Hints:
    """The invariants that were given back.

    Attributes:
        hidden: the invariants that were taken away.
        given: those given back; None where not even all of them were enough, or the search was interrupted.
        fewest: no smaller set is enough; if not, every set with one less of these is not enough.
        inference: the last attempt with these; where there is none, with all or the last one.
        attempts: how many there were.
    """

    hidden: tuple[str, ...]
    given: tuple[str, ...] | None
    fewest: bool
    inference: Inference
    attempts: int


class _Interrupted(Exception):
    """An attempt was interrupted."""


@dataclass(slots=True)
class _Attempts:
    """The attempts by what was given back."""

    attempt: Callable[[tuple[str, ...]], Inference]
    hidden: Sequence[str]
    made: dict[tuple[str, ...], Inference] = field(default_factory=dict)

    def enough(self, given: Sequence[str]) -> bool:
        """Raises: _Interrupted."""
        key = tuple(name for name in self.hidden if name in given)
        if key not in self.made:
            self.made[key] = self.attempt(key)
        if self.made[key].reason == INTERRUPTED:
            raise _Interrupted
        return self.made[key].proved


def fewest_hints(hidden: Sequence[str], attempt: Callable[[tuple[str, ...]], Inference]) -> Hints:
    """The fewest of the names that must be given to an attempt so that it proves the machine."""
    attempts = _Attempts(attempt, hidden)

    def found(given: tuple[str, ...] | None, *, fewest: bool = False) -> Hints:
        last = attempts.made[given] if given is not None else list(attempts.made.values())[-1]
        return Hints(tuple(hidden), given, fewest, last, len(attempts.made))

    try:
        if attempts.enough(()):
            return found((), fewest=True)
        if attempts.made[()].refuted is not None or not attempts.enough(hidden):
            return found(None)
        chosen = _minimal(attempts, [], list(hidden), changed=False)
        given = tuple(name for name in hidden if name in chosen)
        for size in range(1, len(given)):
            if sum(comb(len(hidden), each) for each in range(1, size + 1)) > MOST_ATTEMPTS:
                return found(given)
            for smaller in combinations(hidden, size):
                if attempts.enough(smaller):
                    return found(smaller, fewest=True)
    except _Interrupted:
        return found(None)
    return found(given, fewest=True)


def _minimal(attempts: _Attempts, kept: list[str], names: list[str], *, changed: bool) -> list[str]:
    """A least part of `names` that is enough with `kept`, by halves; all of `names` with `kept` are enough."""
    if changed and attempts.enough(kept):
        return []
    if len(names) == 1:
        return names
    first, second = names[: len(names) // 2], names[len(names) // 2 :]
    of_second = _minimal(attempts, [*kept, *first], second, changed=bool(first))
    of_first = _minimal(attempts, [*kept, *of_second], first, changed=bool(of_second))
    return [*of_first, *of_second]
