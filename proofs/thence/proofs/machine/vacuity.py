"""Vacuity: a machine whose transitions cannot happen satisfies everything. Each must have a run in which it happens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.proofs.logic.formula import Unsupported, forall, negation
from thence.proofs.machine.counterexample import witness_text
from thence.proofs.machine.obligations import Conjunct, impossible, preservations
from thence.proofs.machine.prover import refusal
from thence.proofs.machine.random_runs import walk
from thence.proofs.machine.reachability import Firing, Searched, scopes_of, search
from thence.proofs.machine.transitions import Action, actions
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

FIRST_EFFORT = 20_000_000
"""What the first search may take, in Z3's measure, which is the same on every machine: several times what most need.
What it has not found by then a random walk finds sooner, if anything does."""

BRIEF_MS = 500
"""What a solver gets to show that a guard never holds."""


def check_vacuity(pool: SolverPool, machine: ir.Machine, known: Iterable[Conjunct], options: Options) -> Assessment:
    """`proved`: every transition happens in some run (a shortest one is given where the first scope has one, else what
    a random walk met, or a longer search found). `refuted`: the guard of one can never hold in a state that satisfies
    the proved conjuncts `known`. Raises: CrossCheckError."""
    goals = {action.name: Firing(action.name) for action in actions(machine)}
    refused = refusal(pool, machine, options)
    if refused is not None:
        return unknown(refused)
    first, *larger = scopes_of(machine)
    try:
        found = search(
            pool, machine, goals, timeout_ms=options.timeout_ms, seed=options.seed, scopes=(first,), effort=FIRST_EFFORT
        )
        runs = dict(found.runs)
        missing = [action for action in actions(machine) if action.name not in runs]
        proved = tuple(known)
        dead = [action.name for action in missing if _never(pool, machine, action, proved, options)]
        if len(dead) < len(missing):
            dead += sorted(_never_together(pool, machine, missing, proved, options) - set(dead))
        missing = [action for action in missing if action.name not in dead]
        if missing:
            runs |= walk(machine, [action.name for action in missing], options.seed)
            missing = [action for action in missing if action.name not in runs]
        if missing and not found.unknown:
            late = {action.name: goals[action.name] for action in missing}
            found = search(pool, machine, late, timeout_ms=options.timeout_ms, seed=options.seed, scopes=larger)
            runs |= found.runs
            missing = [action for action in missing if action.name not in runs]
    except Unsupported as reason:
        return unknown(str(reason))
    witnesses = {name: witness_text(run) for name, run in runs.items()}
    lines = [f"{name}: {witness}" for name, witness in witnesses.items()]
    facts = {"witnesses": witnesses, "seed": options.seed, "timeout_ms": options.timeout_ms}
    if dead:
        text = "\n".join([*(f"the guard of {name} can never hold" for name in dead), *lines])
        return Assessment(Verdict.REFUTED, Level.L2, {**facts, "impossible": dead}, text, runs=runs)
    if missing:
        return unknown("\n".join(_missing(action, found) for action in missing), facts)
    text = "\n".join(["every transition can happen", *lines])
    return Assessment(Verdict.PROVED, Level.L2, facts, text, runs=runs)


def _never(
    pool: SolverPool, machine: ir.Machine, action: Action, known: tuple[Conjunct, ...], options: Options
) -> bool:
    (found,) = discharge_all(pool, (impossible(machine, action, known),), _brief(options))
    return found.proved


def _never_together(
    pool: SolverPool, machine: ir.Machine, missing: Sequence[Action], known: tuple[Conjunct, ...], options: Options
) -> set[str]:
    """The transitions whose guards are shown to stay false by induction, all of them together with what is known."""
    claims = {action.name: _never_claim(action) for action in missing}
    brief = replace(_brief(options), solvers=options.solvers[:1])
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
            done = discharge_all(pool, [each.obligation for each in asked], brief, look_for_models=False)
            lost |= {each.conjunct.name for each, found in zip(asked, done, strict=True) if not found.proved}
        if not lost:
            return set(claims)
        claims = {name: claim for name, claim in claims.items() if claim.name not in lost}
    return set()


def _never_claim(action: Action) -> Conjunct:
    name = f"never {action.name}"
    return Conjunct(ir.NamedFormula(name, forall(action.parameters, negation(action.guard))), "invariant")


def _brief(options: Options) -> Options:
    """What cannot be shown in short has, as a rule, a run that was not found: a long time limit is not worth it."""
    return replace(options, timeout_ms=min(BRIEF_MS, options.timeout_ms))


def _missing(action: Action, found: Searched) -> str:
    if found.unknown:
        return f"whether {action.name} can happen is not known: {found.unknown}"
    return f"{action.name} does not happen in any run of {found.scope}; it was not shown to be impossible"
