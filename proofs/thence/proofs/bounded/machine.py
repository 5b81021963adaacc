"""Statements about a machine's states, for runs of up to k steps and any number of processes and messages.

A violation is first looked for in a small universe, where a run can be shown and evaluated. If there is none, solvers
are asked without any bound but k: one obligation for each number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import MACHINE_PROPERTIES
from thence.dsl.ir.observability import OF_DELIVERIES
from thence.proofs.bounded.unrolling import unrolled
from thence.proofs.logic.counting import has_counts
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.machine.goals import Falsification
from thence.proofs.machine.prover import refusal, refuted, statement_formula
from thence.proofs.machine.reachability import Searched, SearchScope, search
from thence.proofs.machine.witness import one_delivery, witness
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Check, SolverName
from thence.spec.verdict import Level, Verdict
from thence.spec.words import counted

_DELIVERY = "a delivery"
"""The name of the run in which a message is delivered, among those that are looked for."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The bounds of the search: a number of steps, and the universe of runs."""

    depth: int
    processes: int = 3
    messages: int = 3

    def scope(self) -> SearchScope:
        return SearchScope({"process": self.processes, "message": self.messages}, self.depth)


def bounded_statements(machine: ir.Machine) -> tuple[str, ...]:
    """The invariants, and the built-in properties under `prove`."""
    invariants = tuple(invariant.name for invariant in machine.invariants)
    properties = (name for name in machine.prove if name in MACHINE_PROPERTIES and name not in invariants)
    return (*invariants, *properties)


def check_machine(
    session: ProofSession, machine: ir.Machine, names: Sequence[str], reach: Reach
) -> dict[str, Assessment]:
    """An assessment for every name: `refuted` by a run, `holds` within the steps, or `unknown`.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    refused = refusal(session, machine)
    if refused is not None:
        return {name: unknown(refused) for name in names}
    try:
        goals = {name: Falsification(statement_formula(machine, name)) for name in names}
        if any(name in OF_DELIVERIES for name in names):
            goals[_DELIVERY] = one_delivery(machine)
        searched = search(session, machine, goals, scopes=(reach.scope(),))
    except Unsupported as reason:
        return {name: unknown(str(reason)) for name in names}
    return {name: _assessment(session, machine, name, searched, reach) for name in names}


def _assessment(session: ProofSession, machine: ir.Machine, name: str, searched: Searched, reach: Reach) -> Assessment:
    facts: dict[str, Any] = {"property": name, "bound": {"steps": reach.depth}}
    if name in searched.runs:
        return refuted(machine, name, searched, facts)
    among = searched.unknown or f"no run of {searched.scope} violates it"
    counts = dict.fromkeys(session.options.solvers, 0)
    try:
        obligations = unrolled(machine, statement_formula(machine, name), reach.depth)
        for number, obligation in enumerate(obligations):
            status, solver = _decided(session, obligation)
            if status != "unsat":
                said = _undecided(obligation, status, solver, number)
                return unknown(f"{said}; {among}", {**facts, "obligations": len(obligations)})
            counts[solver] += 1
    except Unsupported as reason:
        return unknown(f"{reason}; {among}", facts)
    possible = witness(session, machine)
    if possible.run is None:
        return unknown(f"holds for nothing: {possible.missing}", facts)
    if name in OF_DELIVERIES and _DELIVERY not in searched.runs:
        return unknown(f"no run was found that delivers a message within {counted(reach.depth, 'step')}", facts)
    facts |= {"depth": reach.depth, "obligations": len(obligations), "decided_by": counts}
    said = f"no violation within {counted(reach.depth, 'step')}, with any number of processes and messages"
    return Assessment(Verdict.HOLDS, Level.L1, facts, said)


def _undecided(obligation: Obligation, status: str, solver: SolverName, cleared: int) -> str:
    """The reason why one of the obligations is false, or may be."""
    before = f"no violation of any size within {counted(cleared - 1, 'step')}; " if cleared else ""
    if status == "sat":
        counting = any(has_counts(each.body) for each in (*obligation.hypotheses, obligation.goal))
        why = "in which a count may be wrong" if counting else "of more processes or messages than were searched"
        return f"{before}that `{obligation.name}` is not excluded: {solver} has a model, {why}"
    return f"{before}no solver decides whether `{obligation.name}`"


def _decided(
    session: ProofSession, obligation: Obligation
) -> tuple[Literal["sat", "unsat", "unknown", "done"], SolverName]:
    """The first definite answer of the solvers in their order."""
    text = smt_text(obligation)
    for solver in session.options.solvers:
        answer = session.pool.ask(Check.within(solver, text, session.options.timeout_ms, session.options.seed))
        if answer.status in ("sat", "unsat"):
            return answer.status, solver
    return "unknown", session.options.solvers[-1]
