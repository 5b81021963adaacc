"""The sizes of the sorts in which runs and steps of a machine are searched."""

from __future__ import annotations

from collections.abc import Mapping

from thence.dsl import ir
from thence.proofs.machine.obligations import signature_of
from thence.proofs.solving.finite_models import full_universe


def universe_of(machine: ir.Machine, size: Mapping[str, int]) -> dict[str, int]:
    """The sizes with those of the machine's own sorts, as many as messages where none is given; and the window of
    numbers.

    That holds of ordered sorts, too: a run need not have as many rounds as functions of the machine could tell apart.
    """
    own = {sort.name: size.get(sort.name, size.get("message", 1)) for sort in machine.sorts}
    whole = {**size, **own}
    return {**whole, **full_universe(signature_of(machine), whole)}
