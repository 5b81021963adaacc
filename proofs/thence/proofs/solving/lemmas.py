"""Lemmas: the hypotheses that were enough for a goal. An obligation that has them all needs no new proof.

An edit of one invariant changes the hypotheses of every obligation of a machine, and with them every text. Most proofs
use few hypotheses. If these are all still present, the obligation with them alone was proved before, and a goal that
follows from some hypotheses follows from more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from thence.dsl import ir
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.solver import Check, SolverName, SolverPool

Goal: TypeAlias = tuple[ir.Expr, tuple[ir.Variable, ...]]

AT_A_TIME = 8
"""Number of obligations between two questions whether to stop."""


@dataclass(frozen=True, slots=True)
class Lemmas:
    """For each goal the hypotheses that a proof used."""

    known: dict[Goal, frozenset[ir.Expr]] = field(default_factory=dict)

    def smaller(self, obligation: Obligation) -> Obligation | None:
        """The obligation with only the hypotheses that were enough before; None where one of them is gone."""
        used = self.known.get((obligation.goal.body, obligation.constants))
        if used is None or not used <= {hypothesis.body for hypothesis in obligation.hypotheses}:
            return None
        return with_hypotheses(obligation, used)

    def learn(
        self,
        pool: SolverPool,
        proved: Sequence[tuple[Obligation, SolverName]],
        solvers: Sequence[SolverName],
        timeout_ms: int,
        seed: int,
        stop: Callable[[], bool],
    ) -> None:
        """Finds the hypotheses that each of these proofs used, and has each solver prove the goal from them alone.

        The pool's memory then has the answers. Ends early once `stop` is true.
        """
        new = [(obligation, solver) for obligation, solver in proved if self.smaller(obligation) is None]
        for first in range(0, len(new), AT_A_TIME):
            if stop():
                return
            some = new[first : first + AT_A_TIME]
            asked = [
                Check.within(solver, smt_text(each, named=True), timeout_ms, seed, core="small")
                for each, solver in some
            ]
            cores = {at: answer.core for at, answer in pool.answers(asked) if answer.status == "unsat"}
            found = {at: _used(some[at][0], core) for at, core in cores.items()}
            alone = [
                (at, Check.within(solver, smt_text(with_hypotheses(some[at][0], used)), timeout_ms, seed))
                for at, used in found.items()
                for solver in solvers
            ]
            for position, answer in pool.answers([check for _, check in alone]):
                at = alone[position][0]
                if answer.status == "unsat":
                    self.known[(some[at][0].goal.body, some[at][0].constants)] = found[at]


def with_hypotheses(obligation: Obligation, kept: frozenset[ir.Expr]) -> Obligation:
    """The obligation without the other hypotheses."""
    hypotheses = tuple(hypothesis for hypothesis in obligation.hypotheses if hypothesis.body in kept)
    return replace(obligation, hypotheses=hypotheses)


def core_of(obligation: Obligation, core: Iterable[str]) -> Obligation:
    """The obligation with the hypotheses of a core alone."""
    return obligation.with_only(core_positions(obligation, core))


def core_positions(obligation: Obligation, core: Iterable[str]) -> tuple[int, ...]:
    """The positions of a core's hypotheses, named h0, h1, ... in the text; names of other assertions are left out."""
    numbers = sorted(int(name[1:]) for name in core if name.startswith("h"))
    return tuple(number for number in numbers if number < len(obligation.hypotheses))


def _used(obligation: Obligation, core: Iterable[str]) -> frozenset[ir.Expr]:
    """The hypotheses of a core."""
    return frozenset(obligation.hypotheses[number].body for number in core_positions(obligation, core))
