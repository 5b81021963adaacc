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
from thence.proofs.bounded.unrolling import unrolled
from thence.proofs.logic.counting import has_counts
from thence.proofs.logic.formula import Unsupported, free_locals, negation
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.logic.structure import CrossCheckError, Structure, evaluate
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.prover import refusal, refuted, statement_formula
from thence.proofs.machine.reachability import Falsification, Searched, SearchScope, TransitionRun, search
from thence.proofs.machine.transitions import initial, initially, rigid
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.finite_models import Problem
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Check, SolverName
from thence.spec.verdict import Level, Verdict


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
        searched = search(session, machine, goals, scopes=(reach.scope(),))
    except Unsupported as reason:
        return {name: unknown(str(reason)) for name in names}
    return {name: _assessment(session, machine, name, searched, reach) for name in names}


def _assessment(session: ProofSession, machine: ir.Machine, name: str, searched: Searched, reach: Reach) -> Assessment:
    facts: dict[str, Any] = {"property": name, "bound": {"steps": reach.depth}}
    if name in searched.runs:
        return refuted(machine, name, searched, facts)
    start = _false_at_first(session, machine, statement_formula(machine, name), reach)
    if start is not None:
        return refuted(machine, name, Searched({name: TransitionRun(start, ())}, searched.scope), facts)
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
    facts |= {"depth": reach.depth, "obligations": len(obligations), "decided_by": counts}
    said = f"no violation within {reach.depth} steps, with any number of processes and messages"
    return Assessment(Verdict.HOLDS, Level.L1, facts, said)


def _false_at_first(
    session: ProofSession, machine: ir.Machine, statement: ir.NamedFormula, reach: Reach
) -> Structure | None:
    """An initial state in which the statement is false, by evaluation. Statements about steps have none."""
    if free_locals(statement.body):
        return None
    denied = ir.NamedFormula(f"not {statement.name}", initially(negation(statement.body), machine))
    sizes = ({"process": reach.processes, "message": reach.messages},)
    problem = Problem(signature_of(machine), (*machine.axioms, denied))
    found = session.find_model(problem, sizes).model
    if found is None:
        return None
    given = {name: table for name, table in found.structure.tables.items() if name in rigid(machine)}
    start = initial(machine, found.structure.universe, given)
    if evaluate(statement.body, start, {}):
        raise CrossCheckError(f"evaluation does not confirm that `{statement.name}` is false at first")
    return start


def _undecided(obligation: Obligation, status: str, solver: SolverName, cleared: int) -> str:
    """The reason why one of the obligations is false, or may be."""
    before = f"no violation of any size within {cleared - 1} steps; " if cleared else ""
    if status == "sat":
        counted = any(has_counts(each.body) for each in (*obligation.hypotheses, obligation.goal))
        why = "in which a count may be wrong" if counted else "of more processes or messages than were searched"
        return f"{before}that `{obligation.name}` is not excluded: {solver} has a model, {why}"
    return f"{before}no solver decides whether `{obligation.name}`"


def _decided(
    session: ProofSession, obligation: Obligation
) -> tuple[Literal["sat", "unsat", "unknown", "done"], SolverName]:
    """The first definite answer of the solvers in their order."""
    text = smt_text(obligation)
    for solver in session.options.solvers:
        answer = session.pool.ask(Check(solver, text, session.options.timeout_ms, session.options.seed))
        if answer.status in ("sat", "unsat"):
            return answer.status, solver
    return "unknown", session.options.solvers[-1]
