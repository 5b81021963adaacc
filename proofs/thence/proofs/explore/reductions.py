"""What an exploration can be reduced by, and what that preserves.

Verdicts are those on everything that is judged of finite workloads: built-in properties, `delivered` at rest, and
invariants. Delivered messages are never told apart, whatever is asked for: that is part of what a state is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reduction:
    """What it does, as a sentence, and what is the same with and without it."""

    does: str
    keeps: tuple[str, ...]


_EVERYTHING = ("verdicts", "shortest lengths", "depth")

REDUCTIONS = {
    "symmetry": Reduction("states that differ in the names of processes only are one", _EVERYTHING),
    "dead": Reduction("what the observer of causality can no longer be asked for is forgotten", _EVERYTHING),
    "persistent": Reduction(
        "an arrival that delivers nothing and commutes with all that may come is taken at once, and alone",
        ("verdicts",),
    ),
    "delay": Reduction(
        "a send, and an arrival that delivers nothing, comes as late as it can: with the first step that needs it",
        ("verdicts",),
    ),
}
"""By name. `persistent` is made of claims about local steps, which the search checks as it goes, and withdraws where
they turn out false; see `compiled.confluence`. Symmetry is a claim of the same sort; see `compiled.symmetry`. `delay`
takes steps in both orders, and claims of kinds of packets that they deliver nothing; see `compiled.lateness`.
"""

AUTOMATIC = ("symmetry", "dead", "persistent")
"""Those that need no asking: derived, and sound whatever the protocol."""

LENGTHENING = frozenset(("persistent", "delay"))
"""Those under which a counterexample may be longer than the shortest; it is looked for again without them."""


def kept_by(names: Collection[str]) -> tuple[str, ...]:
    """What all of these reductions keep."""
    return tuple(what for what in _EVERYTHING if all(what in REDUCTIONS[name].keeps for name in names))
