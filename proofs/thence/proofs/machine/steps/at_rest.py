"""Proofs about quiescent states: runs come to rest, and at rest something is true of no message, by stages."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl import ir
from thence.proofs.logic.formula import local
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.obligations import Conjunct
from thence.proofs.machine.steps.effort import EFFORTS, attempt, easy
from thence.proofs.machine.steps.starvation import bounded_rise, changed_relations, one_way, rises, uses_up
from thence.proofs.machine.steps.statements import (
    LEFT,
    DeadlockStage,
    goal_stages,
    helpful_stages,
    orders,
    stage_obligation,
    strictly_orders,
    undelivered,
)
from thence.proofs.machine.transitions import actions
from thence.proofs.solving.discharge import QUICK_MS, Discharge
from thence.proofs.solving.session import ProofSession


def comes_to_rest(
    session: ProofSession, machine: ir.Machine, known: Sequence[Conjunct]
) -> tuple[tuple[Discharge, ...], str]:
    """The proof that once nothing more is sent every run comes to rest; or the transitions that may go on for ever.

    Transitions that use something up happen finitely often; the others are then looked at without them.
    """
    shows = attempt(session, QUICK_MS, look_for_models=True)
    left = [action for action in actions(machine) if action.name != "causal_send" and action.updates]
    wanted: list[Obligation] = []
    while left:
        ways: dict[str, bool] = {}
        directions: list[Obligation] = []
        for relation in changed_relations(machine, left):
            for way in (True, False):
                claims = one_way(machine, left, relation, way, known)
                if relation not in ways and shows(claims):
                    ways[relation] = way
                    directions.extend(claims)
        for function, bound in rises(machine, left):
            claims = bounded_rise(machine, left, function, bound, known)
            if function not in ways and shows(claims):
                ways[function] = True
                directions.extend(claims)
        used = [uses_up(machine, action, ways, known) for action in left]
        proved = {claim.name for claim in used if shows((claim,))}
        if not proved:
            return (), f"that {' or '.join(action.name for action in left)} happens only finitely often was not shown"
        wanted += [*directions, *(claim for claim in used if claim.name in proved)]
        left = [action for action, claim in zip(left, used, strict=True) if claim.name not in proved]
    return session.discharge(tuple(wanted), look_for_models=False), ""


def proved_at_rest(
    session: ProofSession, machine: ir.Machine, known: Sequence[Conjunct], words: str, left: ir.Expr
) -> tuple[tuple[Discharge, ...], str]:
    """A proof that in a quiescent state `left` is true of no message; or what is missing.

    Proof stages, each resting on those before, until the last one is reached or no stage can be added.
    """
    ordering: dict[str, tuple[Discharge, ...]] = {}
    for relation in orders(machine):
        own = strictly_orders(machine, relation, known)
        open_ones = [each for each in own if not each.by_frame]
        if len(easy(session, open_ones, EFFORTS[1])) == len(open_ones):
            ordering[relation] = session.discharge(own)
    over = _staged(session, machine, goal_stages(words, left, tuple(ordering)), tuple(ordering), known)
    used = dict.fromkeys(stage.order for stage in over)
    evidence = [discharge for relation in used for discharge in ordering[relation]]
    proofs = [stage_obligation(machine, stage, over[:number], known) for number, stage in enumerate(over)]
    evidence.extend(session.discharge(proofs))
    if over and over[-1].words == words:
        return tuple(evidence), ""
    told = "; ".join(f"nothing is {stage.words}, by the first in {stage.order}" for stage in over)
    return tuple(evidence), f"in a quiescent state a message may be {words}{f' ({told})' if told else ''}"


def _staged(
    session: ProofSession,
    machine: ir.Machine,
    goals: Sequence[DeadlockStage],
    ordering: Sequence[str],
    known: Sequence[Conjunct],
) -> list[DeadlockStage]:
    """Stages that can be proved one after the other; the last one is a goal, if one is reached."""
    acted_upon, *others = helpful_stages(machine, ordering)
    all_delivered = goal_stages("undelivered", undelivered(machine, local(LEFT)), ordering)
    helpful = ((*acted_upon, *all_delivered), *others)
    over: list[DeadlockStage] = []

    def shown(asked: Sequence[DeadlockStage], effort: int) -> list[DeadlockStage]:
        obligations = [stage_obligation(machine, stage, over, known) for stage in asked]
        return [asked[number] for number in easy(session, obligations, effort)]

    attempts = [(candidates, effort) for effort in EFFORTS for candidates in helpful]
    while attempts:
        candidates, effort = attempts[0]
        if reached := shown(goals, effort):
            return [*over, reached[0]]
        done = {stage.words for stage in over}
        found = shown([stage for stage in candidates if stage.words not in done], effort)
        over.extend({stage.words: stage for stage in reversed(found)}.values())
        if not found:
            attempts.pop(0)
    return over
