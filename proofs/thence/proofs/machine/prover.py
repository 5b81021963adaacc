"""Machines: their statements proved for any number of processes and messages, or refuted by a run.

A statement that is not inductive need not be false: only a run from an initial state refutes it. A statement that is
neither proved nor refuted is `unknown`, and the step that breaks it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.ir import machine_builtins
from thence.dsl.ir.machine_builtins import HISTORY
from thence.dsl.ir.step_claims import is_about_steps
from thence.proofs.logic.countermodel import Counterexample
from thence.proofs.logic.formula import Unsupported, symbols_of
from thence.proofs.machine.cores import own_discharges, with_cores
from thence.proofs.machine.counterexample import repeated_delivery, run_counterexample
from thence.proofs.machine.goals import Falsification, TransitionRun
from thence.proofs.machine.inductive_set import Fall, InductiveSet, inductive_set, proved_conjuncts, shown_step
from thence.proofs.machine.obligations import Conjunct, delivered_once, inconsistent
from thence.proofs.machine.reachability import Searched, not_found, search
from thence.proofs.machine.smallest_run import smallest
from thence.proofs.machine.transitions import axiom_faults, deliver_action, symbols
from thence.proofs.solving.assessment import REFUTATION, Assessment, unknown
from thence.proofs.solving.discharge import level_of, solver_facts
from thence.proofs.solving.open_obligation import diagnose, undecided, with_fragment
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Level, Verdict
from thence.spec.words import counted


def statements(machine: ir.Machine) -> tuple[str, ...]:
    """The statements about a machine's states: the history, the invariants, the properties that `prove` names."""
    invariants = tuple(invariant.name for invariant in machine.invariants)
    properties = (name for name in machine.prove if name not in invariants and not is_about_steps(name))
    history = (HISTORY,) if built_in.history_facts(machine.delivery) else ()
    return (*history, *invariants, *properties)


def statement_formula(machine: ir.Machine, name: str) -> ir.NamedFormula:
    """The formula of an invariant, a built-in property or a fact of the history. `at_most_once` is about `deliver`."""
    own = {formula.name: formula for formula in (*machine.invariants, *built_in.history_facts(machine.delivery))}
    if name in own:
        return own[name]
    if name == "at_most_once":
        return machine_builtins.at_most_once(*deliver_action(machine).parameters)
    return built_in.property_formula(name, machine.delivery)


def stating(machine: ir.Machine, names: Iterable[str]) -> ir.Machine:
    """The machine with these built-in properties under `prove` too, where it has the symbols that they speak about."""
    known = {symbol.name for symbol in symbols(machine)}
    formulas = (*machine.invariants, *machine.reachable, *(stable.formula for stable in machine.stable))
    eventually = (each.name for each in machine.eventually)
    stated = {HISTORY, *machine.prove, *eventually, *(formula.name for formula in formulas)}
    more = [name for name in dict.fromkeys(names) if name not in stated]
    sayable = (
        name for name in more if is_about_steps(name) or symbols_of(statement_formula(machine, name).body) <= known
    )
    return replace(machine, prove=(*machine.prove, *sayable))


def refusal(session: ProofSession, machine: ir.Machine) -> str | None:
    """The reason why nothing is proved of this machine: its axioms restrict states or may be contradictory; or None."""
    faults = axiom_faults(machine)
    if faults:
        return "; ".join(faults)
    if machine.axioms:
        (found,) = session.silent().discharge((inconsistent(machine),))
        if found.countermodel is None:
            return (
                "the axioms contradict each other: anything would follow"
                if found.proved
                else "no structure was found that satisfies the axioms; they may contradict each other"
            )
    return None


def prove_machine(session: ProofSession, machine: ir.Machine) -> tuple[dict[str, Assessment], InductiveSet | None]:
    """An assessment of every statement, and the inductive set that the proofs rest on.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    refused = refusal(session, machine)
    if refused is not None:
        return {name: unknown(refused) for name in statements(machine)}, None
    try:
        found = inductive_set(session, machine)
        assessments = _assessments(session, machine, found)
        if session.options.cores:
            assessments = with_cores(session, machine, found, assessments)
        if session.options.fragment:
            assessments = {name: _placed(machine, name, each, found) for name, each in assessments.items()}
        return assessments, found
    except Unsupported as reason:
        return {name: unknown(str(reason)) for name in statements(machine)}, None


def proved_set(session: ProofSession, machine: ir.Machine) -> InductiveSet | None:
    """The inductive set of a machine, for proofs that rest on it; None where nothing is proved of the machine."""
    if refusal(session, machine) is not None:
        return None
    try:
        return inductive_set(session, machine)
    except Unsupported:
        return None


def _assessments(session: ProofSession, machine: ir.Machine, found: InductiveSet) -> dict[str, Assessment]:
    known = proved_conjuncts(machine, found)
    everything = found.discharges
    level = level_of(everything)
    facts = solver_facts(everything, session.options)
    history = [fact.name for fact in built_in.history_facts(machine.delivery)]
    fallen = {name: fall for name, fall in found.fallen.items() if name not in history}
    violated = search_violations(session, machine, fallen)
    assessments: dict[str, Assessment] = {}
    for name in statements(machine):
        if name == HISTORY:
            assessments[name] = _history(found, history, level, facts)
        elif name == "at_most_once":
            assessments[name] = _once(session, machine, known, found)
        elif name in found.fallen:
            assessments[name] = _fallen(machine, name, found.fallen[name], violated, facts)
        elif name in found.consequences:
            own = {"own_obligations": 1, "proved_as": "consequence of the invariants", **facts}
            text = "follows from the invariants" + _size(found)
            assessments[name] = Assessment(Verdict.PROVED, level, own, text, "", everything)
        else:
            own = {"own_obligations": len(found.members[name]), "proved_as": "member of the inductive set", **facts}
            text = "inductive together with the others" + _size(found)
            assessments[name] = Assessment(Verdict.PROVED, level, own, text, "", everything)
    return assessments


def _placed(machine: ir.Machine, name: str, assessment: Assessment, found: InductiveSet) -> Assessment:
    """The assessment with the place of the obligations of this statement itself in the decidable fragment."""
    own = own_discharges(name, machine, assessment, found)
    return with_fragment(assessment, [discharge.obligation for discharge in own])


def _size(found: InductiveSet) -> str:
    return f": {counted(len(found.members), 'conjunct')}, {counted(len(found.discharges), 'obligation')}"


def _history(found: InductiveSet, names: Iterable[str], level: Level, facts: Mapping[str, Any]) -> Assessment:
    lost = {name: found.fallen[name] for name in names if name in found.fallen}
    if not lost:
        text = "the built-in facts about the history are kept" + _size(found)
        return Assessment(Verdict.PROVED, level, facts, text, "", found.discharges)
    text = "\n".join(f"{name}: {_fall_text(fall)}" for name, fall in lost.items())
    return undecided(
        "; ".join(fall.reason for fall in lost.values()), facts, text, [fall.diagnosis for fall in lost.values()]
    )


def _once(session: ProofSession, machine: ir.Machine, known: Iterable[Conjunct], found: InductiveSet) -> Assessment:
    (own,) = session.silent().discharge((delivered_once(machine, known),))
    everything = (*found.discharges, own)
    facts = solver_facts(everything, session.options)
    if own.proved:
        text = "the guard of deliver, with the invariants, implies that the message is not delivered yet"
        return Assessment(Verdict.PROVED, level_of(everything), {"own_obligations": 1, **facts}, text, "", everything)
    violated = search_violations(session, machine, ("at_most_once",))
    refuting = violated is not None and "at_most_once" in violated.runs
    repeated = partial(repeated_delivery, machine, known, deliver_action(machine))
    shown = None if refuting else shown_step(session, machine, own, repeated)
    fall = Fall(f"{own.obligation.name}: {own.reason}", shown, (), diagnose(session.silent(), own))
    return _fallen(machine, "at_most_once", fall, violated, facts)


def search_violations(session: ProofSession, machine: ir.Machine, names: Iterable[str]) -> Searched | None:
    """Searches small universes for runs that violate the statements; None if there are no statements."""
    goals = {name: Falsification(statement_formula(machine, name)) for name in names}
    if not goals:
        return None
    return search(session, machine, goals)


def _fallen(
    machine: ir.Machine, name: str, fall: Fall, violated: Searched | None, facts: Mapping[str, Any]
) -> Assessment:
    """Refuted if a run was found, else unknown with the counterexample to induction."""
    if violated is not None and name in violated.runs:
        return refuted(machine, name, violated, facts)
    more: dict[str, Any] = dict(facts)
    if fall.counterexample is not None:
        more["counterexample"] = dict(fall.counterexample.facts)
    tried = not_found(violated, (name,), "violates")
    found = undecided(f"{fall.reason}; {tried}", more, f"{_fall_text(fall)}\n{tried}", (fall.diagnosis,))
    return found if fall.counterexample is None else replace(found, picture=fall.counterexample.picture())


def refuted(machine: ir.Machine, name: str, searched: Searched, facts: Mapping[str, Any]) -> Assessment:
    """The assessment of a statement that a run violates."""
    formula = statement_formula(machine, name)
    run = smallest(machine, Falsification(formula), searched.runs[name])
    return refutation(run, run_counterexample(machine, run, formula), facts)


def refutation(run: TransitionRun, shown: Counterexample, facts: Mapping[str, Any]) -> Assessment:
    """The assessment of a statement that the run, shown as a counterexample, violates."""
    found = {**facts, "counterexample": dict(shown.facts), "depth": len(run.steps)}
    after = f"violated after {counted(len(run.steps), 'step')}" if run.steps else "violated in an initial state"
    said = f"{after}\n{shown.drawn()}"
    return Assessment(Verdict.REFUTED, Level.L2, found, said, shown.picture(), runs={REFUTATION: run})


def _fall_text(fall: Fall) -> str:
    shown = f"\n{fall.counterexample.drawn()}" if fall.counterexample else ""
    without = f" (after {', '.join(fall.after)} had fallen: it rests on them)" if fall.after else ""
    return f"{fall.reason}{without}{shown}"
