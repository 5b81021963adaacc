"""Machines: the conjuncts proved together, the transitions shown to be possible, the mutants refuted.

Soundness: a conjunct is `proved` only as a member of a set that is inductive as a whole. Conjuncts that are not
kept are taken out and everything is tried again without them, until the rest stands by itself; a conjunct that
falls because it rests on one taken out is `unknown`, and says so. Not being inductive does not refute: only a
run from an initial state does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.dsl import ir, machine_builtins
from whence.proofs.countermodel import Counterexample
from whence.proofs.discharge import (
    QUICK_MS,
    Discharge,
    Note,
    Options,
    discharge_all,
    level_of,
    solver_facts,
)
from whence.proofs.formula import Unsupported
from whence.proofs.machine_counterexample import induction_counterexample, run_counterexample, witness_text
from whence.proofs.machine_obligations import (
    Conjunct,
    conjuncts,
    consequence,
    delivered_once,
    impossible,
    inconsistent,
    preservations,
)
from whence.proofs.reachability import DEPTH, UNIVERSE, Firing, Goal, Searched, Violation, search
from whence.proofs.solver import SolverPool
from whence.proofs.transitions import actions, axiom_faults
from whence.spec.verdict import Level, Result, Verdict

HISTORY = "history"
"""The name under which the built-in facts about the history are reported."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one statement of a machine."""

    verdict: Verdict
    level: Level
    facts: Mapping[str, Any]
    text: str
    seconds: float = 0.0


@dataclass(slots=True)
class _Inductive:
    """The largest inductive set found: members, what was discharged for each, why others fell."""

    members: tuple[Conjunct, ...]
    discharges: dict[str, list[Discharge]] = field(default_factory=dict)
    fallen: dict[str, tuple[str, Counterexample | None]] = field(default_factory=dict)
    consequences: dict[str, Discharge] = field(default_factory=dict)

    @property
    def all_discharges(self) -> list[Discharge]:
        """What the set rests on: the obligations of all members."""
        kept = [discharge for member in self.members for discharge in self.discharges[member.name]]
        return [*kept, *self.consequences.values()]


def prove_machine(
    pool: SolverPool, machine: ir.Machine, options: Options, note: Note | None = None
) -> dict[str, Finding]:
    """A finding for the history, each invariant and each property under `prove`, by name."""
    started = time.monotonic()
    refusal = _refusal(pool, machine, options)
    names = statements(machine)
    if refusal is not None:
        return {name: Finding(Verdict.UNKNOWN, Level.L2, {"unknown": refusal}, refusal) for name in names}
    try:
        inductive = _inductive_set(pool, machine, options, note)
        findings = _findings(pool, machine, inductive, options)
    except Unsupported as reason:
        return {name: Finding(Verdict.UNKNOWN, Level.L2, {"unknown": str(reason)}, str(reason)) for name in names}
    share = (time.monotonic() - started) / len(findings)
    return {
        name: Finding(finding.verdict, finding.level, finding.facts, finding.text, share)
        for name, finding in findings.items()
    }


def statements(machine: ir.Machine) -> tuple[str, ...]:
    """Everything that is stated of a machine, in the order of the report."""
    invariants = tuple(invariant.name for invariant in machine.invariants)
    return (HISTORY, *invariants, *(name for name in machine.prove if name not in invariants))


def _refusal(pool: SolverPool, machine: ir.Machine, options: Options) -> str | None:
    """Why nothing is proved of this machine, if nothing is."""
    faults = axiom_faults(machine)
    if faults:
        return "; ".join(faults)
    if machine.axioms:
        (found,) = discharge_all(pool, (inconsistent(machine),), options)
        if found.countermodel is None:
            certain = "contradict each other" if found.proved else "may contradict each other: no model was found"
            return f"the axioms {certain}"
    return None


def _inductive_set(pool: SolverPool, machine: ir.Machine, options: Options, note: Note | None) -> _Inductive:
    """The conjuncts that are inductive together; properties that already follow from the others need no step."""
    candidates = conjuncts(machine)
    base = tuple(conjunct for conjunct in candidates if conjunct.origin != "property")
    consequences: dict[str, Discharge] = {}
    brief = Options(min(QUICK_MS, options.timeout_ms), options.seed, options.solvers, options.workers)
    for conjunct in candidates:
        if conjunct.origin == "property":
            (found,) = _follows(pool, consequence(machine, conjunct, base), brief)
            if found.proved:
                consequences[conjunct.name] = found
    members = tuple(conjunct for conjunct in candidates if conjunct.name not in consequences)
    result = _Inductive(members, consequences=consequences)
    while True:
        obligations = preservations(machine, result.members, result.members)
        done = discharge_all(pool, [each.obligation for each in obligations], options, note)
        result.discharges = {member.name: [] for member in result.members}
        fallen: dict[str, tuple[str, Counterexample | None]] = {}
        for each, discharge in zip(obligations, done, strict=True):
            result.discharges[each.conjunct.name].append(discharge)
            if discharge.proved or each.conjunct.name in fallen:
                continue
            shown = None
            if discharge.countermodel is not None and discharge.failed and each.action is not None:
                shown = induction_counterexample(
                    machine, result.members, each.conjunct, each.action, discharge.countermodel
                )
            fallen[each.conjunct.name] = (f"{discharge.obligation.name}: {discharge.reason}", shown)
        if not fallen:
            return result
        for name, (reason, shown) in fallen.items():
            rests = f" (without {', '.join(result.fallen)}, which fell before)" if result.fallen else ""
            result.fallen.setdefault(name, (reason + rests, shown))
        result.members = tuple(member for member in result.members if member.name not in fallen)
        if consequences:
            # What follows from the invariants may rest on one that fell: it becomes a candidate again.
            back = [conjunct for conjunct in candidates if conjunct.name in consequences]
            result.members = (*result.members, *back)
            consequences.clear()


def _follows(pool: SolverPool, obligation: Any, options: Options) -> tuple[Discharge, ...]:
    return discharge_all(pool, (obligation,), options, look_for_models=False)
