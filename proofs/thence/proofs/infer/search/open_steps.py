"""The steps that are still open: what a machine states about states, and loses, or is not proved to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from thence.dsl import ir
from thence.proofs.infer.budget import OutOfTime
from thence.proofs.infer.finite.steps import FiniteSteps, Violation
from thence.proofs.logic.countermodel import Counterexample
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.counterexample import induction_counterexample, repeated_delivery
from thence.proofs.machine.obligations import (
    Conjunct,
    Preservation,
    conjuncts,
    delivered_once,
    preservations,
)
from thence.proofs.machine.steps.effort import all_proved
from thence.proofs.machine.transitions import Action, deliver_action
from thence.proofs.machine.universe import Fitting
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.finite_models import Model, negated_obligation
from thence.proofs.solving.session import ProofSession

LARGER: tuple[Mapping[str, int], ...] = (
    {"process": 3, "message": 3},
    {"process": 3, "message": 4},
    {"process": 4, "message": 4},
)
"""The universes in which a state is looked for where a solver does not prove an obligation."""

SOLVER_MS = 4_000
"""Time limit of a solver for one obligation during the search."""


@dataclass(frozen=True, slots=True)
class Open:
    """An obligation that is not proved; `preservation` is None for that of `at_most_once`."""

    preservation: Preservation | None
    discharge: Discharge


def open_steps(session: ProofSession, machine: ir.Machine, limit_ms: int) -> list[Open]:
    """The obligations that one solver does not prove in a short time."""
    quick = session.within(limit_ms).with_one_solver()
    known = conjuncts(machine)
    own = [conjunct for conjunct in known if conjunct.origin != "history"]
    asked: list[Preservation | None] = [*preservations(machine, own, known)]
    obligations = [each.obligation for each in asked if each is not None]
    if "at_most_once" in machine.prove:
        asked.append(None)
        obligations.append(delivered_once(machine, known))
    done = quick.discharge(obligations, look_for_models=False)
    return [Open(each, discharge) for each, discharge in zip(asked, done, strict=True) if not discharge.proved]


def enough_for(
    session: ProofSession, failed: Iterable[Open], others: Sequence[ir.NamedFormula], limit_ms: int
) -> list[ir.Expr]:
    """Few of the other formulas with which one solver proves the obligations in a short time, the last ones left out
    first; none where all of them are not enough."""
    quick = session.within(limit_ms).with_one_solver()
    obligations = [each.discharge.obligation for each in failed]

    def are_enough(chosen: Sequence[ir.NamedFormula]) -> bool:
        asked = [replace(each, hypotheses=(*each.hypotheses, *chosen)) for each in obligations]
        return all_proved(quick, asked, look_for_models=False)

    kept = list(others)
    if not kept or not are_enough(kept):
        return []
    for each in reversed(others):
        fewer = [other for other in kept if other is not each]
        if are_enough(fewer):
            kept = fewer
    return [each.body for each in kept]


def is_kept(session: ProofSession, machine: ir.Machine, formula: ir.Expr, known: Iterable[ir.Expr]) -> bool:
    """Whether one solver proves, for any number of elements, that the formula is true at first, and that every step
    keeps it where it and `known` are true."""
    goal = Conjunct(ir.NamedFormula("asked", formula), "invariant")
    others = [Conjunct(ir.NamedFormula(f"known_{number}", each), "invariant") for number, each in enumerate(known)]
    history = [conjunct for conjunct in conjuncts(machine) if conjunct.origin == "history"]
    obligations = [each.obligation for each in preservations(machine, [goal], [*history, *others, goal])]
    done = session.with_one_solver().discharge(obligations, look_for_models=False)
    return all(each.proved for each in done)


def model_against(fitting: Fitting, discharge: Discharge, limit_ms: int, held: Iterable[ir.Expr] = ()) -> Model | None:
    """A state of a larger universe from which the goal of the obligation is lost, and the arguments of the step.

    In this state the formulas `held` are true, too.
    """
    sizes = [fitting(size) for size in LARGER]
    problem = negated_obligation(discharge.obligation)
    more = tuple(ir.NamedFormula("held", formula) for formula in held)
    problem = replace(problem, formulas=(*problem.formulas, *more))
    try:
        return fitting.session.within(limit_ms).find_model(problem, sizes, least=False).model
    except Unsupported:
        return None


def lost(session: ProofSession, machine: ir.Machine) -> str:
    """A step that loses a conjunct of the machine, or an obligation that no solver proves; or nothing."""
    left = open_steps(session, machine, SOLVER_MS)
    fitting, known = Fitting(session, machine), conjuncts(machine)
    for each in left:
        match each.preservation:
            case None:
                show = partial(repeated_delivery, machine, known, deliver_action(machine))
            case Preservation(goal, Action() as action):
                show = partial(induction_counterexample, machine, known, goal, action)
            case _:
                continue  # no step, but the initial states
        model = model_against(fitting, each.discharge, SOLVER_MS)
        if model is not None:
            return _first_lines(show(model))
    done = session.discharge([each.discharge.obligation for each in left], look_for_models=False)
    return next((f"{each.obligation.name}: {each.reason}" for each in done if not each.proved), "")


def lost_in_small(machine: ir.Machine, universes: Sequence[FiniteSteps]) -> str:
    """A step in a small universe that loses a conjunct of the machine; empty where none is found in time."""
    known = conjuncts(machine)
    own = [conjunct for conjunct in known if conjunct.origin != "history"]
    bodies = [conjunct.formula.body for conjunct in own]
    for goal, finite in product(own, universes):
        try:
            found = finite.lost_or_used(goal.formula.body, bodies, again=True)
        except OutOfTime:
            return ""
        if isinstance(found, Violation):
            return step_text(machine, known, goal, found.action, found.model)
    return ""


def step_text(machine: ir.Machine, known: Iterable[Conjunct], goal: Conjunct, action: Action, model: Model) -> str:
    """A step that loses the goal, in words, without what it says about the history.

    Raises: CrossCheckError where computing the step does not confirm that it keeps to `known` and loses the goal.
    """
    return _first_lines(induction_counterexample(machine, known, goal, action, model))


def _first_lines(shown: Counterexample) -> str:
    return "\n".join(shown.text.splitlines()[:5])
