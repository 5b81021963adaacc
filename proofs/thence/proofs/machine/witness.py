"""The witness of a machine: a run in which two processes each send a message, and each message is delivered.

A proof speaks about all runs. Where no message can move it holds for nothing, whatever it says. So a verdict that rests
on a proof needs this run: `guarded` turns it into `unknown` without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS
from thence.proofs.logic.formula import Unsupported, conj, equal, exists, holds, local, negation
from thence.proofs.machine.counterexample import witness_text
from thence.proofs.machine.goals import Falsification, Firing, Goal, TransitionRun, reaching
from thence.proofs.machine.obligations import Conjunct, impossible
from thence.proofs.machine.random_runs import walk_to
from thence.proofs.machine.reachability import Searched, SearchScope, search
from thence.proofs.machine.smallest_run import is_run_to
from thence.proofs.machine.transitions import actions
from thence.proofs.solving.assessment import MOVES, POSSIBLE, Assessment, unknown
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict

SCOPES = tuple(
    SearchScope({"process": processes, "message": messages}, depth)
    for processes, messages, depth in ((2, 2, 4), (2, 2, 6), (2, 2, 10), (2, 4, 8), (2, 2, 18), (3, 4, 14))
)
"""The scopes that are searched. Most machines need one of the first: two sends, two deliveries, and what is between."""

WALK = {"process": 2, "message": 4}
"""The universe of the random walks that are tried after the scopes."""

GUARDS = 20_000
"""Limit on the guards that the walks evaluate."""

BRIEF_MS = 500
"""Time limit for showing that a guard never holds."""


@dataclass(frozen=True, slots=True)
class Witness:
    """The run; or None and, in words, what cannot happen or was not found to happen."""

    run: TransitionRun | None
    missing: str = ""
    shows: str = POSSIBLE


def two_deliveries(machine: ir.Machine) -> Falsification:
    """The goal: messages of two processes are delivered."""
    a, b = ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)
    return reaching(_moved("two deliveries", machine, (a, b), delivered=True))


def one_delivery(machine: ir.Machine) -> Falsification:
    """The goal: a message is delivered."""
    return reaching(_moved("a delivery", machine, (ir.Variable("a", MESSAGE),), delivered=True))


def _moved(name: str, machine: ir.Machine, messages: tuple[ir.Variable, ...], *, delivered: bool) -> ir.NamedFormula:
    """Messages of different processes were sent, or delivered too."""
    parts = [holds("sent", local(message)) for message in messages]
    if delivered:
        parts += [_delivered(machine, message) for message in messages]
    if len(messages) > 1:
        first, second = (ir.Apply(PROCESS, "src", (local(message),)) for message in messages)
        parts.append(negation(equal(first, second)))
    return ir.NamedFormula(name, exists(messages, conj(parts)))


def _delivered(machine: ir.Machine, message: ir.Variable) -> ir.Expr:
    if machine.delivery == "unicast":
        return holds("delivered", local(message))
    place = ir.Variable("p'", PROCESS)
    at = (local(message), local(place))
    return exists((place,), conj((holds("to", *at), holds("delivered", *at))))


def witness(session: ProofSession, machine: ir.Machine, known: Iterable[Conjunct] = ()) -> Witness:
    """The witness of a machine. The pool keeps it: one search for all statements.

    Args:
        known: conjuncts that are proved; they help to say what cannot happen.

    Raises:
        CrossCheckError: a solver and the evaluator disagree.
    """
    behaviour = replace(machine, invariants=(), prove=(), expects=(), stable=(), reachable=())
    key = ("witness", behaviour, session.options.timeout_ms, session.options.seed)
    found = session.pool.computed.get(key)
    if not isinstance(found, Witness):
        found = _witness(session.silent(), behaviour, tuple(known))
        session.pool.computed[key] = found
    return found


def witness_shows(machine: ir.Machine) -> str:
    """The key of a machine's witness."""
    return MOVES if machine.delivery == "off" else POSSIBLE


def witness_goals(machine: ir.Machine) -> tuple[Goal, ...]:
    """The ends of a witness: two deliveries; of a machine without messages, any transition."""
    if machine.delivery == "off":
        return tuple(Firing(action.name) for action in actions(machine))
    return (two_deliveries(machine),)


def _witness(session: ProofSession, machine: ir.Machine, known: tuple[Conjunct, ...]) -> Witness:
    if machine.delivery == "off":
        return _some_step(session, machine)
    goal = two_deliveries(machine)
    searched = search(session, machine, {goal.formula.name: goal}, scopes=SCOPES)
    run = searched.runs.get(goal.formula.name)
    if run is None:
        with suppress(Unsupported):  # the walk meets numbers that the search leaves out
            run = walk_to(machine, goal, session.options.seed, WALK, GUARDS)
    if run is not None:
        assert is_run_to(machine, goal, run)
        return Witness(run)
    return Witness(None, _missing(session, machine, known, searched))


def _some_step(session: ProofSession, machine: ir.Machine) -> Witness:
    """A run of a machine without messages: any transition happens."""
    searched = search(session, machine, {goal.action: goal for goal in map(Firing, _names(machine))}, scopes=SCOPES[:2])
    run = next(iter(searched.runs.values()), None)
    return (
        Witness(run, shows=MOVES)
        if run is not None
        else Witness(None, f"no transition was found to happen, in {searched.scope}")
    )


def _names(machine: ir.Machine) -> list[str]:
    return [action.name for action in actions(machine)]


def _missing(session: ProofSession, machine: ir.Machine, known: tuple[Conjunct, ...], searched: Searched) -> str:
    """The first thing that no run was found to do."""
    by_name = {action.name: action for action in actions(machine)}
    for name in ("causal_send", "deliver"):
        (found,) = session.within(BRIEF_MS).discharge((impossible(machine, by_name[name], known),))
        if found.proved:
            return f"the guard of {name} can never hold"
    a, b = ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)
    stages = (
        _moved("no message is sent", machine, (a,), delivered=False),
        _moved("no message is delivered after it was sent", machine, (a,), delivered=True),
        ir.NamedFormula("only one message is sent", _two_sent(a, b)),
        _moved("only messages of one process are sent", machine, (a, b), delivered=False),
    )
    runs = search(session, machine, {stage.name: reaching(stage) for stage in stages}, scopes=SCOPES[1:2]).runs
    what = next((stage.name for stage in stages if stage.name not in runs), "")
    limits = searched.unknown or f"in any run that was searched, of {searched.scope}"
    return f"{what or 'no two messages of different processes are both delivered'} ({limits})"


def _two_sent(a: ir.Variable, b: ir.Variable) -> ir.Expr:
    sent = (holds("sent", local(a)), holds("sent", local(b)))
    return exists((a, b), conj((*sent, negation(equal(local(a), local(b))))))


def guarded(
    session: ProofSession, machine: ir.Machine, known: Iterable[Conjunct], assessments: Mapping[str, Assessment]
) -> dict[str, Assessment]:
    """The assessments, each with the witness where it rests on a proof; `unknown` where there is no witness.

    A run is its own evidence: what a run refutes or reaches stays as it is.
    """
    if not any(map(_rests_on_a_proof, assessments.values())):
        return dict(assessments)
    found = witness(session, machine, known)
    return {
        name: _guarded(found, assessment) if _rests_on_a_proof(assessment) else assessment
        for name, assessment in assessments.items()
    }


def _rests_on_a_proof(assessment: Assessment) -> bool:
    """Whether the verdict speaks about all runs."""
    return not assessment.runs and assessment.verdict in (Verdict.PROVED, Verdict.REFUTED)


def _guarded(found: Witness, assessment: Assessment) -> Assessment:
    if found.run is None:
        reason = f"holds for nothing: {found.missing}"
        return unknown(reason, assessment.facts, f"{reason}\n{assessment.text}")
    facts = {**assessment.facts, "possible": witness_text(found.run)}
    return replace(assessment, facts=facts, runs={**assessment.runs, found.shows: found.run})
