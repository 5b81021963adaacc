"""What comes first among the things that are left: the orders with which progress is proved, see NOTE(leads-to)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from thence.dsl import ir
from thence.proofs.machine.obligations import Conjunct
from thence.proofs.machine.steps.effort import EFFORTS, easy, proof_within
from thence.proofs.machine.steps.leads_to import First, Pursuit, possible_orders, progress, strict_order
from thence.proofs.solving.discharge import LITTLE_MS, QUICK_MS, Discharge
from thence.proofs.solving.session import ProofSession

_LITTLE = 20_000
"""The limit on a first attempt without any order."""

_MORE = 200_000
"""The limit on attempts with some orders, before the largest one."""


def first_of_steps(
    session: ProofSession, machine: ir.Machine, claim: Pursuit, known: Sequence[Conjunct]
) -> tuple[tuple[First, ...], tuple[Discharge, ...]]:
    """What comes first among the things that are left, as far as progress needs it; and that its orders are strict."""
    strict: dict[str, bool] = {}
    possible: list[First] = []
    for each in possible_orders(machine, claim):
        name = each.order.name
        if name not in strict:
            own = strict_order(machine, each, known)
            strict[name] = each.by_number or len(easy(session, own, EFFORTS[1])) == len(own)
        if strict[name]:
            possible.append(each)
    chosen = _needed(session, machine, claim, possible, known)
    orders = {each.order.name: each for each in chosen if not each.by_number}
    wanted = [obligation for each in orders.values() for obligation in strict_order(machine, each, known)]
    return chosen, session.discharge(wanted)


def _needed(
    session: ProofSession, machine: ir.Machine, claim: Pursuit, possible: Sequence[First], known: Sequence[Conjunct]
) -> tuple[First, ...]:
    """Few of these, with which progress is proved, none of which can be left out easily; all, where it is not proved.

    At first all are taken together, and left out one after the other. Relations come before numbers.
    """
    names = [each.order.name for each in possible]
    likely = sorted(possible, key=lambda each: (each.by_number, names.index(each.order.name)))
    related = [each for each in likely if not each.by_number]
    much = EFFORTS[1]

    def enough(some: Sequence[First], effort: int) -> bool:
        return bool(easy(session, [progress(machine, claim, some, known)], effort, _MORE))

    def fewest(some: Sequence[First], effort: int) -> tuple[First, ...] | None:
        if not enough(some, effort):
            return None
        kept = tuple(some)
        for each in reversed(some):
            fewer = tuple(other for other in kept if other != each)
            kept = fewer if enough(fewer, _MORE) else kept
        return kept

    def one_of(some: Sequence[First], effort: int) -> tuple[First, ...] | None:
        return next(((each,) for each in some if enough((each,), effort)), None)

    def quickly_enough(limit_ms: int) -> tuple[First, ...] | None:
        """The prover looks for what is relevant to a question, which effort alone does not."""
        quick = (each for each in related if proof_within(session, progress(machine, claim, (each,), known), limit_ms))
        return next(((each,) for each in quick), None)

    tries: tuple[Callable[[], tuple[First, ...] | None], ...] = (
        partial(fewest, (), _LITTLE),
        partial(fewest, related, _MORE),
        partial(quickly_enough, LITTLE_MS),
        partial(quickly_enough, QUICK_MS),
        partial(fewest, likely, _MORE),
        partial(one_of, likely, _MORE),
        partial(fewest, likely, much),
        partial(one_of, likely, much),
    )
    return next((found for each in tries if (found := each()) is not None), tuple(possible))
