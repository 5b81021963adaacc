"""Theorems: proved by every obligation, refuted by an execution, each assumption dropped in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, Sort
from thence.proofs.logic.countermodel import Counterexample
from thence.proofs.logic.formula import FALSE, Unsupported, forall, holds, local, negation
from thence.proofs.logic.obligation import Obligation
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION, Assessment, Proof, unknown
from thence.proofs.solving.discharge import Discharge, level_of, solver_facts
from thence.proofs.solving.finite_models import SIZES, Model
from thence.proofs.solving.open_obligation import diagnose, undecided, with_fragment
from thence.proofs.solving.session import ProofSession
from thence.proofs.theory.countermodel import counterexample
from thence.proofs.theory.obligations import (
    Scheme,
    background,
    possibility_problem,
    possible,
    refutation_problem,
    signature_of,
    theorem_scheme,
)
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted

_MESSAGE = ir.Variable("m", MESSAGE)

LARGER: tuple[Mapping[str, int], ...] = (*SIZES, {"message": 5, "process": 3})
"""Universes for refuting theorems: one more message than for obligations."""

BRIEF_MS = 1_500
"""Time limit of a proof without an assumption."""

FEW: tuple[Mapping[str, int], ...] = SIZES[:7]
"""Universes that are searched before a proof without an assumption is tried."""


@dataclass(frozen=True, slots=True)
class Need:
    """Whether a theorem needs an assumption: needed (with an execution that shows it), not needed, or unknown."""

    assumption: str
    needed: bool | None
    countermodel: Counterexample | None = None
    model: Model | None = None

    def to_json(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": self.assumption, "needed": self.needed}
        if self.countermodel is not None:
            facts["countermodel"] = dict(self.countermodel.facts)
        return facts

    @property
    def text(self) -> str:
        if self.countermodel is not None:
            return self.countermodel.text
        if self.needed is False:
            return f"{self.assumption} is not needed: the same proof goes through without it"
        return f"whether {self.assumption} is needed is not known: no countermodel was found, and no proof without it"


def prove_theorem(session: ProofSession, theorem: ir.Theorem) -> Proof:
    """The verdict on a theorem with its evidence, compared to the expectation of its file."""
    started = time.monotonic()
    try:
        assessment, surprises = _prove(session, theorem)
    except Unsupported as reason:
        assessment, surprises = unknown(str(reason)), []
    result = Result(
        theorem.name,
        "theorem",
        theorem.theory.name,
        assessment.verdict,
        assessment.level,
        (_wanted(theorem) or Verdict.PROVED) is assessment.verdict and not surprises,
        time.monotonic() - started,
        assessment.facts,
        "\n".join([assessment.text, *surprises]),
        assessment.picture,
        _wanted(theorem),
    )
    return Proof(result, assessment)


def _prove(session: ProofSession, theorem: ir.Theorem) -> tuple[Assessment, list[str]]:
    """The assessment, and how the needed assumptions differ from those that the file states."""
    scheme = theorem_scheme(theorem)
    if "refuted" in {expectation.verdict for expectation in theorem.expects}:
        model = _refutation(session, theorem, theorem.assume, LARGER)
        if model is not None:
            return _refuted(session, theorem, model), []
    witness, nothing = possible_execution(session, theorem)
    if witness is None:
        model = _refutation(session, theorem, theorem.assume, LARGER)
        return (unknown(nothing) if model is None else _refuted(session, theorem, model)), []
    discharges = session.discharge(scheme.obligations)
    facts = solver_facts(discharges, session.options)
    if all(discharge.proved for discharge in discharges):
        needs = tuple(_need(session, theorem, assumption) for assumption in theorem.assume)
        facts["assumptions"] = [need.to_json() for need in needs]
        models = {need.assumption: need.model for need in needs if need.model is not None} | {POSSIBLE: witness}
        headline = "an execution that the axioms and assumptions allow"
        facts["possible"] = dict(counterexample(theorem.theory, (), witness, headline).facts)
        text = _proof_text(scheme, needs)
        if session.options.cores:
            cores = session.cores(discharges)
            facts["used"] = [core.to_json() for core in cores]
            text = "\n".join([text, *(core.text for core in cores)])
        surprises = _surprising_needs(theorem, needs)
        proved = Assessment(Verdict.PROVED, level_of(discharges), facts, text, discharges=discharges, models=models)
        return with_fragment(proved, scheme.obligations) if session.options.fragment else proved, surprises
    model = _refutation(session, theorem, theorem.assume, LARGER)
    if model is not None:
        return _refuted(session, theorem, model, facts), []
    reasons = [f"{discharge.obligation.name}: {discharge.reason}" for discharge in discharges if not discharge.proved]
    text = "\n".join([scheme.principle, *reasons, *_failed_steps(theorem, discharges)])
    blamed = [diagnose(session.silent(), next(discharge for discharge in discharges if not discharge.proved))]
    return undecided("; ".join(reasons), facts, text, blamed), []


def possible_execution(session: ProofSession, theorem: ir.Theorem) -> tuple[Model | None, str]:
    """An execution that the axioms and assumptions allow, or the reason why nothing is proved.

    Where the theory speaks of sends and deliveries, two messages of different processes are delivered in it.
    """
    model = session.find_model(possibility_problem(theorem)).model
    if model is not None:
        return model, ""
    facts = (*background(theorem.theory), *theorem.assume)
    signature = signature_of(theorem.theory)
    moved = possible(theorem.theory)
    claims = [("the axioms and assumptions contradict each other", ir.NamedFormula("false", FALSE))]
    if moved is not None:
        sent = forall((_MESSAGE,), negation(holds("sent", local(_MESSAGE))))
        claims.append(("the assumptions allow no send", ir.NamedFormula("nothing is sent", sent)))
        nowhere = f"the assumptions exclude that {moved.name}"
        claims.append((nowhere, ir.NamedFormula("never", negation(moved.body))))
    for said, goal in claims:
        (found,) = session.silent().discharge((Obligation(said, signature, facts, goal),), look_for_models=False)
        if found.proved:
            return None, f"holds for nothing: {said}"
    wanted = "" if moved is None else f" and in which {moved.name}"
    return None, f"holds for nothing that was found: no execution satisfies the axioms and assumptions{wanted}"


def _refutation(
    session: ProofSession,
    theorem: ir.Theorem,
    assumed: Sequence[ir.NamedFormula],
    sizes: Sequence[Mapping[str, int]],
) -> Model | None:
    problem = refutation_problem(theorem, tuple(assumed))
    return session.find_model(problem, sizes).model


def _need(session: ProofSession, theorem: ir.Theorem, assumption: ir.NamedFormula) -> Need:
    """Drops an assumption: an execution that then violates the conclusion, or the proof without it."""
    rest = tuple(other for other in theorem.assume if other != assumption)
    model = _refutation(session, theorem, rest, FEW)
    if model is None:
        without = replace(theorem, assume=rest, needs=(), expects=())
        brief = session.silent().within(BRIEF_MS).with_one_solver()
        discharges = brief.discharge(theorem_scheme(without).obligations, look_for_models=False)
        if all(discharge.proved for discharge in discharges):
            return Need(assumption.name, False)
        model = _refutation(session, theorem, rest, LARGER[len(FEW) :])
    if model is None:
        return Need(assumption.name, None)
    headline = f"without {assumption.name}"
    shown = counterexample(theorem.theory, (assumption, *theorem.prove), model, headline)
    return Need(assumption.name, True, shown, model)


def _refuted(
    session: ProofSession, theorem: ir.Theorem, model: Model, facts: Mapping[str, Any] | None = None
) -> Assessment:
    shown = counterexample(theorem.theory, theorem.prove, model, "an execution that satisfies every assumption")
    known = {"seed": session.options.seed, "timeout_ms": session.options.timeout_ms, **(facts or {})}
    found = {**known, "counterexample": dict(shown.facts)}
    return Assessment(Verdict.REFUTED, Level.L2, found, shown.drawn(), shown.picture(), models={REFUTATION: model})


def _failed_steps(theorem: ir.Theorem, discharges: Sequence[Discharge]) -> list[str]:
    """The failed steps of the induction: models of obligations, in which the relation need not be the least one."""
    return [
        counterexample(
            theorem.theory,
            (),
            discharge.countermodel,
            f"`{discharge.obligation.name}` does not follow; it fails with {_elements(discharge)}",
        ).text
        for discharge in discharges
        if discharge.countermodel is not None
    ]


def _elements(discharge: Discharge) -> str:
    assert discharge.countermodel is not None
    environment = discharge.countermodel.environment
    listed = ", ".join(
        f"{constant.name} = {constant.type if isinstance(constant.type, Sort) else ''} {environment[constant.name]}"
        for constant in discharge.obligation.constants
    )
    return listed or "no instance"


def _proof_text(scheme: Scheme, needs: Sequence[Need]) -> str:
    names = ", ".join(obligation.name for obligation in scheme.obligations)
    lines = [f"{scheme.principle} ({counted(len(scheme.obligations), 'obligation')}: {names})"]
    lines.extend(need.text for need in needs)
    return "\n".join(lines)


def _wanted(theorem: ir.Theorem) -> Verdict | None:
    """The verdict that the file states; None where it states none, which means `proved`."""
    return Verdict(theorem.expects[-1].verdict) if theorem.expects else None


def _surprising_needs(theorem: ir.Theorem, needs: Sequence[Need]) -> list[str]:
    """How the stated `needs` differ from those found. A theorem that states no needs claims nothing about them."""
    if not theorem.needs:
        return []
    surprises = []
    for need in needs:
        stated = need.assumption in theorem.needs
        if stated and not need.needed:
            surprises.append(f"the file says that {need.assumption} is needed; no countermodel without it was found")
        if not stated and need.needed:
            surprises.append(f"{need.assumption} is needed, and the file does not say so")
    return surprises
