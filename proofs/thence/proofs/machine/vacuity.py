"""Vacuity: a machine whose transitions cannot happen satisfies everything. So each transition must happen in a run.

What is more, in one run two messages of different processes must be delivered: see `witness`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from thence.dsl import ir
from thence.proofs.logic.formula import Unsupported, forall, negation
from thence.proofs.machine.counterexample import witness_text
from thence.proofs.machine.goals import Firing
from thence.proofs.machine.obligations import Conjunct, impossible, preservations
from thence.proofs.machine.prover import refusal
from thence.proofs.machine.random_runs import walk
from thence.proofs.machine.reachability import Searched, scopes_of, search
from thence.proofs.machine.transitions import Action, actions
from thence.proofs.machine.witness import witness
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Level, Verdict

FIRST_EFFORT = 20_000_000
"""Limit on the first search, in Z3's measure of effort: several times the effort that most runs need. Other runs are
found sooner by a random walk."""

BRIEF_MS = 500
"""Time limit for showing that a guard never holds. As a rule, a guard that needs more time holds in some run that was
not found."""


def check_vacuity(session: ProofSession, machine: ir.Machine, known: Iterable[Conjunct]) -> Assessment:
    """`proved`: every transition happens in some run, and one run is a witness of the machine.

    `refuted`: the guard of a transition can never hold where `known` is true.

    The run is a shortest one if the first scope has one, else that of a random walk or of a longer search.

    Args:
        known: conjuncts that are proved.

    Raises:
        CrossCheckError: a solver and the evaluator disagree.
    """
    goals = {action.name: Firing(action.name) for action in actions(machine)}
    refused = refusal(session, machine)
    if refused is not None:
        return unknown(refused)
    first, *larger = scopes_of(machine)
    try:
        found = search(session, machine, goals, scopes=(first,), effort=FIRST_EFFORT)
        runs = dict(found.runs)
        missing = [action for action in actions(machine) if action.name not in runs]
        proved = tuple(known)
        dead = [action.name for action in missing if _never(session, machine, action, proved)]
        if len(dead) < len(missing):
            dead += sorted(_never_together(session, machine, missing, proved) - set(dead))
        missing = [action for action in missing if action.name not in dead]
        if missing:
            runs |= walk(machine, [action.name for action in missing], session.options.seed)
            missing = [action for action in missing if action.name not in runs]
        if missing and not found.unknown:
            late = {action.name: goals[action.name] for action in missing}
            found = search(session, machine, late, scopes=larger)
            runs |= found.runs
            missing = [action for action in missing if action.name not in runs]
    except Unsupported as reason:
        return unknown(str(reason))
    witnesses = {name: witness_text(run) for name, run in runs.items()}
    lines = [f"{name}: {witness}" for name, witness in witnesses.items()]
    facts: dict[str, Any] = {
        "witnesses": witnesses,
        "seed": session.options.seed,
        "timeout_ms": session.options.timeout_ms,
    }
    if dead:
        text = "\n".join([*(f"the guard of {name} can never hold" for name in dead), *lines])
        return Assessment(Verdict.REFUTED, Level.L2, {**facts, "impossible": dead}, text, runs=runs)
    if missing:
        return unknown("\n".join(_missing(action, found) for action in missing), facts)
    possible = witness(session, machine, proved)
    if possible.run is None:
        return unknown(f"every transition can happen, but: {possible.missing}", facts)
    facts["possible"] = witness_text(possible.run)
    runs[possible.shows] = possible.run
    shown = [] if machine.delivery == "off" else [f"{possible.shows}: {facts['possible']}"]
    text = "\n".join(["every transition can happen", *lines, *shown])
    return Assessment(Verdict.PROVED, Level.L2, facts, text, runs=runs)


def _never(session: ProofSession, machine: ir.Machine, action: Action, known: tuple[Conjunct, ...]) -> bool:
    (found,) = session.within(BRIEF_MS).discharge((impossible(machine, action, known),))
    return found.proved


def _never_together(
    session: ProofSession, machine: ir.Machine, missing: Sequence[Action], known: tuple[Conjunct, ...]
) -> set[str]:
    """The transitions whose guards stay false: proved by induction, all together with the known conjuncts."""
    claims = {action.name: _never_claim(action) for action in missing}
    brief = session.within(BRIEF_MS).with_one_solver()
    while claims:
        goals = tuple(claims.values())
        obligations = preservations(machine, goals, (*known, *goals))
        lost: set[str] = set()
        for action in (None, *(action.name for action in actions(machine))):
            asked = [
                each
                for each in obligations
                if (each.action.name if each.action else None) == action and each.conjunct.name not in lost
            ]
            done = brief.discharge([each.obligation for each in asked])
            lost |= {each.conjunct.name for each, found in zip(asked, done, strict=True) if not found.proved}
        if not lost:
            return set(claims)
        claims = {name: claim for name, claim in claims.items() if claim.name not in lost}
    return set()


def _never_claim(action: Action) -> Conjunct:
    name = f"never {action.name}"
    return Conjunct(ir.NamedFormula(name, forall(action.parameters, negation(action.guard))), "invariant")


def _missing(action: Action, found: Searched) -> str:
    if found.unknown:
        return f"whether {action.name} can happen is not known: {found.unknown}"
    return f"{action.name} does not happen in any run of {found.scope}; it was not shown to be impossible"
