"""Statements about steps, proved or refuted by a run: `stable`, `reachable`, `eventually`, and `without ...`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK, is_about_steps, starving_transition
from thence.proofs.logic.countermodel import fact_lines, instance_text, names_of
from thence.proofs.logic.formula import Unsupported, local, negation
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.counterexample import names_by_send_order, run_counterexample, witness_text
from thence.proofs.machine.goals import Change, Falsification, Goal, TransitionRun, changed_values, reaching
from thence.proofs.machine.inductive_set import InductiveSet, inductive_set, proved_conjuncts
from thence.proofs.machine.obligations import Conjunct, consequence
from thence.proofs.machine.prover import refutation
from thence.proofs.machine.reachability import Searched, not_found, search
from thence.proofs.machine.smallest_run import smallest
from thence.proofs.machine.steps.at_rest import comes_to_rest, proved_at_rest
from thence.proofs.machine.steps.effort import proof_within
from thence.proofs.machine.steps.first import first_of_steps
from thence.proofs.machine.steps.leads_to import (
    leads_to_obligations,
    never_pending,
    not_pending_at_rest,
    progress,
    pursuit,
    words,
)
from thence.proofs.machine.steps.starvation import (
    Waiting,
    additions,
    falsified,
    nothing_waits,
    starvation_obligations,
    waiting,
    waiting_message,
    waits_at_rest,
)
from thence.proofs.machine.steps.statements import (
    LEFT,
    at_rest,
    loss,
    no_deadlock,
    stable_obligations,
    undelivered,
)
from thence.proofs.machine.transitions import actions, rigid, symbols
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.discharge import LITTLE_MS, QUICK_MS, Discharge, level_of, solver_facts
from thence.proofs.solving.open_obligation import diagnose, undecided, with_fragment
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Level, Verdict
from thence.spec.words import counted

WITNESS = "witness"
"""The key of the run that shows that a `reachable` formula is reached."""

_PRIME = "'"
"""Ends the names that are kept apart from those of a transition."""


def step_statements(machine: ir.Machine) -> tuple[str, ...]:
    """The names of the statements about steps: `stable`, `reachable`, `eventually`, and those under `prove`."""
    stable = (each.formula.name for each in machine.stable)
    reachable = (formula.name for formula in machine.reachable)
    eventually = (each.name for each in machine.eventually)
    return (*stable, *reachable, *eventually, *(name for name in machine.prove if is_about_steps(name)))


def refuted_steps(session: ProofSession, machine: ir.Machine, names: Iterable[str]) -> dict[str, Assessment]:
    """The statements that a run refutes. A run does not refute a `reachable` formula.

    Raises: Unsupported; CrossCheckError.
    """
    found, _ = _refuted(session, machine, names)
    return found


def prove_steps(
    session: ProofSession, machine: ir.Machine, names: Iterable[str], found: InductiveSet | None
) -> dict[str, Assessment]:
    """An assessment of each of the statements. Proofs rest on the inductive set `found`; without one there are none."""
    names = tuple(names)
    if found is None:
        return {name: unknown("nothing is proved of this machine") for name in names}
    known = proved_conjuncts(machine, found)
    assessments: dict[str, Assessment] = {}
    attempts: dict[str, _Attempt] = {}
    reachable = {formula.name: formula for formula in machine.reachable}
    try:
        if wanted := [reachable[name] for name in names if name in reachable]:
            assessments |= _reached(session, machine, wanted, known)
        for name in names:
            if name not in reachable:
                attempts[name] = _attempt(session, machine, name, known)
        open_names = [name for name, attempt in attempts.items() if not attempt.proved]
        runs, searched = _refuted(session, machine, open_names)
    except Unsupported as reason:
        return {name: assessments.get(name, unknown(str(reason))) for name in names}
    for name, attempt in attempts.items():
        assessments[name] = runs[name] if name in runs else _concluded(session, machine, name, attempt, found, searched)
    return {name: assessments[name] for name in names}


# --- proofs ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The discharged obligations of a statement; `words` say what they prove, `missing` what they do not."""

    discharges: tuple[Discharge, ...]
    words: str
    missing: str = ""

    @property
    def proved(self) -> bool:
        return not self.missing and all(discharge.proved for discharge in self.discharges)


def _attempt(session: ProofSession, machine: ir.Machine, name: str, known: Sequence[Conjunct]) -> _Attempt:
    if name == WITHOUT_DEADLOCK:
        return _attempt_deadlock(session, machine, known)
    transition = starving_transition(name)
    if transition is not None:
        return _attempt_starvation(session, machine, transition, known)
    eventual = _eventual(machine, name)
    if eventual is not None:
        return _attempt_leads_to(session, machine, eventual, known)
    stable = next(each for each in machine.stable if each.formula.name == name)
    done = session.discharge(stable_obligations(machine, stable, known))
    return _Attempt(done, "every transition keeps it true")


def waiting_for(session: ProofSession, machine: ir.Machine, transition: str) -> tuple[Waiting, tuple[Discharge, ...]]:
    """The condition of waiting for a transition, and the proofs that the transition makes its own guards false."""
    action = next(action for action in actions(machine) if action.name == transition)
    ends = session.discharge(falsified(machine, action))
    state = waiting(action, [end.proved for end in ends], rigid(machine))
    return state, tuple(end for end in ends if end.proved)


def _attempt_starvation(
    session: ProofSession, machine: ir.Machine, transition: str, known: Sequence[Conjunct]
) -> _Attempt:
    """What a message waits for only shrinks, runs come to rest, and at rest nothing waits: see NOTE(starvation)."""
    state, ends = waiting_for(session, machine, transition)
    done = (*ends, *session.discharge(starvation_obligations(machine, state, known)))
    shrinks = f"what a message waits for until {transition} only shrinks"
    if not all(each.proved for each in done):
        return _Attempt(done, shrinks)
    using, restless = comes_to_rest(session, machine, known)
    if restless:
        return _Attempt(done, "", f"{shrinks}, but runs may go on for ever without it: {restless}")
    done = (*done, *using)
    rest, said = nothing_waits(machine, state, known), f"{shrinks}; runs come to rest, and there nothing waits for it"
    if at_once := proof_within(session, rest, LITTLE_MS):
        return _Attempt((*done, *at_once), said)
    left = undelivered(machine, local(LEFT)) if transition == "deliver" else waiting_message(state)
    words = "undelivered" if transition == "deliver" else f"waiting for {transition}"
    evidence, missing = tuple[Discharge, ...](), f"something may wait for {transition} in a quiescent state"
    if left is not None:
        evidence, missing = proved_at_rest(session, machine, known, words, left)
    if missing and (later := proof_within(session, rest, QUICK_MS)):
        evidence, missing = later, ""
    return _Attempt((*done, *evidence), "" if missing else said, f"{shrinks}, but {missing}" if missing else "")


def _eventual(machine: ir.Machine, name: str) -> ir.LeadsTo | None:
    """The `eventually` statement of this name; None if there is none."""
    return next((each for each in machine.eventually if each.name == name), None)


def _attempt_leads_to(
    session: ProofSession, machine: ir.Machine, statement: ir.LeadsTo, known: Sequence[Conjunct]
) -> _Attempt:
    """What is left to do only shrinks, and is never stuck: see NOTE(leads-to)."""
    claim = pursuit(machine, statement)
    done = session.discharge(leads_to_obligations(machine, claim, known))
    fair = ", ".join(dict.fromkeys(step.action.name for step in claim.steps))
    if not all(each.proved for each in done):
        return _Attempt(done, "")
    shown = search(session, machine, {"pending": Falsification(never_pending(statement))})
    if "pending" not in shown.runs:
        never = f"no state was found in which it is pending ({shown.unknown or shown.scope}): it may say nothing"
        return _Attempt(done, "", never)
    first, ordered = first_of_steps(session, machine, claim, known)
    (enabled,) = session.discharge((progress(machine, claim, first, known),))
    orders = f", by {' and '.join(map(words, first))}" if first else ""
    said = f"in every run that is weakly fair to {fair}: what is left to do shrinks{orders}"
    example = f"a state in which it is pending: {witness_text(shown.runs['pending'])}"
    return _Attempt((*done, *ordered, enabled), f"{said}\n{example}")


def _attempt_deadlock(session: ProofSession, machine: ir.Machine, known: Sequence[Conjunct]) -> _Attempt:
    """In a quiescent state nothing is undelivered; and there is such a state."""
    evidence, missing = proved_at_rest(session, machine, known, "undelivered", undelivered(machine, local(LEFT)))
    if missing:
        return _Attempt(evidence, "", missing)
    rest = Falsification(ir.NamedFormula("not at rest", negation(at_rest(machine))))
    shown = search(session, machine, {"rest": rest})
    if "rest" not in shown.runs:
        empty = f"no quiescent state with a delivery was found ({shown.unknown or shown.scope}): it may say nothing"
        return _Attempt(evidence, "", empty)
    example = f"such a state: {witness_text(shown.runs['rest'])}"
    stages = [each.obligation.name for each in evidence if each.obligation.name.startswith("nothing is")]
    return _Attempt(evidence, f"in a quiescent state: {'; '.join(stages)}\n{example}")


def _concluded(
    session: ProofSession,
    machine: ir.Machine,
    name: str,
    attempt: _Attempt,
    found: InductiveSet,
    searched: Searched | None,
) -> Assessment:
    everything = (*found.discharges, *attempt.discharges)
    facts = {"own_obligations": len(attempt.discharges), **solver_facts(everything, session.options)}
    if attempt.proved:
        proved = Assessment(Verdict.PROVED, level_of(everything), facts, attempt.words, "", everything)
        obligations = [discharge.obligation for discharge in attempt.discharges]
        return with_fragment(proved, obligations) if session.options.fragment else proved
    open_ones = [discharge for discharge in attempt.discharges if not discharge.proved]
    reason = attempt.missing or f"{open_ones[0].obligation.name}: {open_ones[0].reason}"
    if _eventual(machine, name) is not None and not attempt.missing:
        reason = f"the rule does not prove it: {reason}"
    keys = () if searched is None else (key for key in searched.unsearchable if key.rpartition(" ")[0] == name)
    tried = not_found(searched, keys, "refutes")
    shown = [reason]
    if open_ones and open_ones[0].countermodel is not None and open_ones[0].failed:
        shown.append(_state_text(machine, open_ones[0]))
    blamed = [diagnose(session.silent(), each) for each in open_ones[:1]]
    return undecided(f"{reason}; {tried}", facts, "\n".join([*shown, tried]), blamed)


def _told(name: str, among: Collection[str]) -> str:
    """A name of the statement, where a parameter of the transition may have the same one."""
    plain = name.rstrip(_PRIME)
    return f"the statement's {plain}" if plain != name and plain in among else plain


def _state_text(machine: ir.Machine, discharge: Discharge) -> str:
    """The state in which an obligation fails, and the step."""
    model = discharge.countermodel
    assert model is not None
    names = names_of(model.structure)
    state = ", ".join(fact_lines(symbols(machine), model.structure, names)) or "nothing has happened"
    values = names.arguments(discharge.obligation.constants, model.environment)
    step = ", ".join(f"{_told(name, values)} = {value}" for name, value in values.items())
    return f"  in a state that the invariants allow: {state}\n  for {step}"


# --- runs --------------------------------------------------------------------------------------


def _refuted(
    session: ProofSession, machine: ir.Machine, names: Iterable[str]
) -> tuple[dict[str, Assessment], Searched | None]:
    goals: dict[str, Goal] = {}
    owner: dict[str, str] = {}
    for name in names:
        for number, goal in enumerate(step_goals(session, machine, name)):
            goals[f"{name} {number}"] = goal
            owner[f"{name} {number}"] = name
    if not goals:
        return {}, None
    searched = search(session, machine, goals, alternatives=owner)
    assessments: dict[str, Assessment] = {}
    for key, run in sorted(searched.runs.items(), key=lambda item: len(item[1].steps)):
        assessments.setdefault(owner[key], _refutation(session, machine, owner[key], goals[key], run))
    return assessments, searched


def step_goals(session: ProofSession, machine: ir.Machine, name: str) -> tuple[Goal, ...]:
    """The goals of runs that refute the statement: one of them is enough."""
    if name == WITHOUT_DEADLOCK:
        return (Falsification(no_deadlock(machine)),)
    transition = starving_transition(name)
    if transition is not None:
        state, _ = waiting_for(session, machine, transition)
        return (Falsification(waits_at_rest(machine, state)), *additions(state))
    eventual = _eventual(machine, name)
    if eventual is not None:
        return (Falsification(not_pending_at_rest(machine, eventual)),)
    return tuple(loss(each) for each in machine.stable if each.formula.name == name)


def _refutation(session: ProofSession, machine: ir.Machine, name: str, goal: Goal, run: TransitionRun) -> Assessment:
    run = smallest(machine, goal, run)
    if isinstance(goal, Change):
        instance = _instance(goal, run)
        shown = run_counterexample(machine, run, ir.NamedFormula(name, goal.before))
        what = "adds to what is waited for" if is_about_steps(name) else f"makes {name} false"
        violated = {**shown.facts, "violated": {name: instance}}
        steps, _, _ = shown.text.rpartition("\n")
        shown = replace(shown, text=f"{steps}\n  the last step {what}{instance_text(instance)}", facts=violated)
    else:
        assert isinstance(goal, Falsification)
        shown = run_counterexample(machine, run, goal.formula)
        if _eventual(machine, name) is not None:
            steps, _, _ = shown.text.rpartition("\n")
            instance = shown.facts.get("violated", {}).get(name, {})
            said = f"  nothing but sends can happen now, and {name} is pending{instance_text(instance)}"
            shown = replace(shown, text=f"{steps}\n{said}")
    facts = {"seed": session.options.seed, "timeout_ms": session.options.timeout_ms}
    return refutation(run, shown, facts)


def _instance(goal: Change, run: TransitionRun) -> Mapping[str, str]:
    """The values of a change, by the names of the file."""
    values = changed_values(goal, run)
    assert values is not None
    named = names_by_send_order(run).arguments(goal.parameters, values)
    return {name.rstrip("'"): value for name, value in named.items()}


# --- reachable ---------------------------------------------------------------------------------


def _reached(
    session: ProofSession,
    machine: ir.Machine,
    wanted: Sequence[ir.NamedFormula],
    known: Sequence[Conjunct],
) -> dict[str, Assessment]:
    """A run proves a `reachable` formula; a proof that it is false in every reachable state refutes it."""
    goals = {formula.name: reaching(formula) for formula in wanted}
    searched = search(session, machine, goals)
    assessments: dict[str, Assessment] = {}
    for formula in wanted:
        run = searched.runs.get(formula.name)
        if run is not None:
            run = smallest(machine, goals[formula.name], run)
            facts = {"witness": witness_text(run), "depth": len(run.steps), "seed": session.options.seed}
            text = (
                f"reached after {counted(len(run.steps), 'step')}: {witness_text(run)}"
                if run.steps
                else "true at first"
            )
            assessments[formula.name] = Assessment(Verdict.PROVED, Level.L2, facts, text, runs={WITNESS: run})
            continue
        excluded = _excluded(session, machine, goals[formula.name].formula, known)
        facts = solver_facts(excluded, session.options)
        if excluded:
            text = "it is false in every reachable state"
            assessments[formula.name] = Assessment(Verdict.REFUTED, level_of(excluded), facts, text, "", excluded)
        elif formula.name in searched.unsearchable:
            reason = f"no run was looked for: {searched.unsearchable[formula.name]}"
            assessments[formula.name] = unknown(reason, facts)
        elif searched.unknown:
            assessments[formula.name] = unknown(f"the search for a run gave up: {searched.unknown}", facts)
        else:
            assessments[formula.name] = unknown(f"no run of {searched.scope} reaches it; it was not excluded", facts)
    return assessments


def _excluded(
    session: ProofSession, machine: ir.Machine, never: ir.NamedFormula, known: Sequence[Conjunct]
) -> tuple[Discharge, ...]:
    """The obligations of a proof that the formula is an invariant; none if there is no proof."""
    claim = Conjunct(never, "invariant")
    obligation: Obligation = consequence(machine, claim, known)
    if found := proof_within(session, obligation, QUICK_MS):
        return found
    extended = replace(machine, invariants=(*machine.invariants, never))
    together = inductive_set(session, extended)
    inside = never.name in together.members or never.name in together.consequences
    return together.discharges if inside else ()
