"""Questions to a user: a step that loses a goal, and clauses that deny the state before it.

What a user answers is checked like all that is proposed here: a formula that a run makes false is refused with the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.check.stated.machine_formula import machine_formula
from thence.proofs.infer.candidates.clauses import Clause, clause_from
from thence.proofs.infer.candidates.rows import Denial
from thence.proofs.infer.finite.runs import FiniteRuns
from thence.proofs.infer.finite.samples import Sampler, violated_in
from thence.proofs.infer.finite.steps import Violation
from thence.proofs.infer.search.open_steps import is_kept, step_text
from thence.proofs.logic.compiled import compiled, value_in
from thence.proofs.logic.countermodel import fact_lines, names_of
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.counterexample import witness_text
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.obligations import Conjunct
from thence.proofs.machine.transitions import symbols
from thence.proofs.solving.session import ProofSession

CANDIDATES = 5
"""Limit on the clauses that are offered."""

Lost: TypeAlias = Violation | Structure
"""A step that loses a goal; or a state in which a transition is enabled against its precondition."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What else has to be shown once a clause is taken, as far as small universes say.

    Attributes:
        lost_by: the transitions that lose the clause, each from a state in which it and all that is there are true.
        open: how many steps are open besides: a transition that loses something else, which was lost before, too.
        uses: where no transition loses the clause, what it rests on.
        proof_s: in so many seconds of processor time a solver proves, for any number of elements, that every step keeps
            the clause where `uses` is true; None where it does not, or was not asked.
    """

    lost_by: tuple[str, ...]
    open: int
    uses: frozenset[ir.Expr] = frozenset()
    proof_s: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause that may exclude the state, and what it costs."""

    denial: Denial
    cost: Cost


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be excluded, and by what.

    Attributes:
        goal: what is lost, by its name or as text.
        shown: the state, and the step from it if there is one.
        candidates: clauses that no run refutes and that are false in the state; what is best borne out first.
        samples: how many sampled states there are; the candidates are true in all of them.
        steps: the length of the runs that were searched for one that refutes a candidate.
        own: whether the goal is the file's; if not, it can be given up.
        judge: the clause that a line of text says, or why it is none.
    """

    goal: str
    shown: str
    candidates: tuple[Candidate, ...]
    samples: int
    steps: int
    own: bool
    judge: Callable[[str], Clause | str]


Answer: TypeAlias = Clause | Literal["give up", "end"]
Ask: TypeAlias = Callable[[Question], Answer]


class Ended(Exception):
    """The user ended the search."""


def shown(machine: ir.Machine, goal: ir.NamedFormula, lost: Lost) -> str:
    """The state, and the step from it if there is one. Raises: CrossCheckError."""
    if isinstance(lost, Structure):
        facts = fact_lines(symbols(machine), lost, names_of(lost, []))
        return f"`{goal.name}` does not follow in a state: {', '.join(facts) or 'nothing has happened'}"
    return step_text(machine, (), Conjunct(goal, "invariant"), lost.action, lost.model)


@dataclass(frozen=True, slots=True)
class Judging:
    """What a formula of the user has to be: one of the machine, true as far as is known, false in the state."""

    machine: ir.Machine
    samplers: list[Sampler]
    runs: FiniteRuns | None

    @property
    def looked_at(self) -> tuple[int, int]:
        """How many sampled states there are, and the length of the runs in which a formula is looked at."""
        return sum(len(each.samples.states) for each in self.samplers), 0 if self.runs is None else self.runs.steps

    def __call__(self, text: str, lost: Lost) -> Clause | str:
        body, faults = machine_formula(self.machine, text, "the answer")
        if body is None:
            return "; ".join(f"{each.code}: {each.message}" for each in faults) or "that is not a formula"
        clause = clause_from(body)
        try:
            function = compiled(clause.formula, ())
            if value_in(function, lost.state if isinstance(lost, Violation) else lost):
                return "it is true in the state that is shown, and does not exclude it"
            for sampler in self.samplers:
                number = violated_in(clause.formula, sampler.samples)
                if number is not None:
                    return _refuted(sampler.samples.run_to(number))
            run = None if self.runs is None else self.runs.violation(clause.formula)
        except Unsupported as reason:
            return str(reason)
        return clause if run is None else _refuted(run)


def priced(session: ProofSession, machine: ir.Machine, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, with the times of the proofs of those that no step loses in small universes.

    The limits are those of the session. `uses` is all that is assumed, beside the facts about the history.
    """
    return tuple(
        each if each.cost.lost_by else replace(each, cost=replace(each.cost, proof_s=_proof_s(session, machine, each)))
        for each in candidates
    )


def _proof_s(session: ProofSession, machine: ir.Machine, candidate: Candidate) -> float | None:
    before = session.pool.processor_s
    proved = is_kept(session, machine, candidate.denial.clause.formula, candidate.cost.uses)
    return session.pool.processor_s - before if proved else None


def _refuted(run: TransitionRun) -> str:
    return f"a run makes it false: {witness_text(run)}" if run.steps else "it is false in an initial state"
