"""Why an obligation stayed open: what leaves the decidable fragment, and what the solvers say without it.

NOTE(blame): that a solver answers without a hypothesis is said only where it was tried, by the first solver, within a
limited effort. If the goal follows without the hypothesis, it follows; the verdict stays open all the same, since a
verdict rests on the obligation as it is derived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.fragment import Fragment, fragment_of
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Check, SolverName
from thence.proofs.solving.solver_worker import OUT_OF_EFFORT
from thence.spec.verdict import Verdict
from thence.spec.words import counted

EFFORT = 1_000_000
"""Limit on each attempt without a hypothesis, in the solver's own measure of effort."""

FEW = 4
"""So many hypotheses are left out, one at a time, and then all of them."""

DECIDABLE = "within the decidable fragment"
UNDECIDED = "outside the decidable fragment"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The answer of a solver to an obligation without some of its hypotheses."""

    without: tuple[str, ...]
    solver: SolverName
    status: Literal["unsat", "sat"]

    @property
    def text(self) -> str:
        said = "proves it" if self.status == "unsat" else "finds that it does not follow"
        names = list(dict.fromkeys(self.without))  # hypotheses of one name differ in what they are said of
        rest = f" and {counted(len(names) - FEW, 'other')}" if len(names) > FEW else ""
        return f"without {', '.join(names[:FEW])}{rest}, {self.solver} {said}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is known about an open obligation: its place, and answers without hypotheses that are outside.

    `took_long`: a solver gave up because its time was over.
    """

    obligation: str
    fragment: Fragment
    took_long: bool
    attempts: tuple[Attempt, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """In words, the place first."""
        return (self._place, *(attempt.text for attempt in self.attempts))

    @property
    def _place(self) -> str:
        if not self.fragment.within:
            return f"{UNDECIDED}: {'; '.join(self.fragment.reasons)}"
        if self.took_long:
            return f"{DECIDABLE}: only time was missing, a longer --timeout may be enough"
        return f"{DECIDABLE}, but the solvers gave up before their time was over"

    def to_json(self) -> dict[str, Any]:
        attempts = [
            {"without": list(each.without), "solver": each.solver, "answer": each.status} for each in self.attempts
        ]
        return {"obligation": self.obligation, **self.fragment.to_json(), "attempts": attempts}


def diagnose(session: ProofSession, discharge: Discharge) -> Diagnosis | None:
    """The diagnosis of an obligation about which no solver decides anything; None for every other one."""
    undecided = discharge.answers and all(answer.status == "unknown" for answer in discharge.answers.values())
    if not undecided or discharge.countermodel is not None:
        return None
    try:
        fragment = fragment_of(discharge.obligation)
        attempts = _attempts(session, discharge.obligation, fragment.blamed)
    except Unsupported:
        return None
    took_long = any(_is_about_time(answer.reason) for answer in discharge.answers.values())
    return Diagnosis(discharge.obligation.name, fragment, took_long, attempts)


def _is_about_time(reason: str) -> bool:
    """Whether a solver, or the process that waits for it, gave up because its time was over."""
    return reason == OUT_OF_EFFORT or reason.startswith("killed after")


def _attempts(session: ProofSession, obligation: Obligation, blamed: Sequence[int]) -> tuple[Attempt, ...]:
    """The attempts that a solver decides, without each of the first few that are blamed, and without all of them."""
    left_out: list[tuple[int, ...]] = [(number,) for number in blamed[:FEW]]
    if len(blamed) > 1:
        left_out.append(tuple(blamed))
    options = session.options
    solver = options.solvers[0]
    asked = [
        Check(solver, smt_text(without(obligation, some)), options.timeout_ms, options.seed, effort=EFFORT)
        for some in left_out
    ]
    answers = dict(session.pool.answers(asked))
    found = []
    for number, some in enumerate(left_out):
        status = answers[number].status
        if status in ("unsat", "sat"):
            names = tuple(obligation.hypotheses[position].name for position in some)
            found.append(Attempt(names, solver, status))
    return tuple(found)


def without(obligation: Obligation, positions: Collection[int]) -> Obligation:
    """The obligation without the hypotheses at these positions."""
    kept = tuple(each for number, each in enumerate(obligation.hypotheses) if number not in positions)
    return replace(obligation, hypotheses=kept)


# --- all obligations of a statement ------------------------------------------------------------


def with_fragment(assessment: Assessment, obligations: Sequence[Obligation]) -> Assessment:
    """The assessment of a proved statement with the fact `fragment`: which of its obligations lie within. Others as is.

    Obligations whose goal is a hypothesis are not counted: nothing has to be decided about them.
    """
    if assessment.verdict is not Verdict.PROVED:
        return assessment
    places = [fragment_of(obligation) for obligation in obligations if not obligation.by_frame]
    summary = {
        "obligations": len(places),
        "within": sum(place.within for place in places),
        "numbers": any(place.has_numbers for place in places),
        "outside": list(dict.fromkeys(reason for place in places for reason in place.reasons)),
    }
    return replace(assessment, facts={**assessment.facts, "fragment": summary})


def undecided(reason: str, facts: Mapping[str, Any], text: str, diagnoses: Iterable[Diagnosis | None]) -> Assessment:
    """Nothing was decided, see `assessment.unknown`; with the diagnoses of open obligations, where there are any."""
    known = [diagnosis for diagnosis in diagnoses if diagnosis is not None]
    if not known:
        return unknown(reason, facts, text)
    lines: list[str] = []
    for diagnosis in known:
        first, *more = diagnosis.lines
        lines += [f"{diagnosis.obligation}: {first}" if len(known) > 1 else first, *more]
    facts = {**facts, "undecided": [diagnosis.to_json() for diagnosis in known]}
    return unknown("; ".join([reason, *lines]), facts, "\n".join([text, *lines]))
