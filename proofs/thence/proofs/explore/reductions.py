"""The reductions of an exploration, and what they preserve.

Verdicts are those on everything that is judged of finite workloads: built-in properties, `delivered` at rest, and
invariants. States never tell delivered messages apart: that is no reduction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction: `does` says how, as a sentence; `keeps` names what is the same with and without it."""

    does: str
    keeps: tuple[str, ...]


_EVERYTHING = ("verdicts", "shortest lengths", "depth")

REDUCTIONS = {
    "symmetry": Reduction("states that differ in the names of processes only are one", _EVERYTHING),
}
"""By name. That a protocol is symmetric is checked step by step, see `native.symmetry`."""

AUTO = "auto"
"""Stands for the automatic reductions, which small scopes do without."""

FEW_STATES = 2_000
"""Scopes of no more states are small: the automatic reductions leave them as they are."""

AUTOMATIC = ("symmetry",)
"""The reductions that need no asking: they pay, and are sound whatever the protocol."""


def named(names: Collection[str]) -> tuple[str, ...]:
    """The reductions that these names, AUTO among them, stand for."""
    meant = {*names, *(AUTOMATIC if AUTO in names else ())}
    return tuple(name for name in REDUCTIONS if name in meant)


def kept_by(names: Collection[str]) -> tuple[str, ...]:
    """What is the same with and without all of these reductions."""
    return tuple(what for what in _EVERYTHING if all(what in REDUCTIONS[name].keeps for name in names))
