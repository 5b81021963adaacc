"""Which of a machine's own invariants may be enough as hints: decided in one small universe, in seconds.

The universe is searched once: random runs, short clauses, and runs that refute clauses. Then one invariant after the
other is left out, as long as the goals are still kept: at first without other clauses, then with the short ones, then
with clauses that a short search finds in its place. Nothing here proves anything: a set is enough once the machine is
proved with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.proofs.infer.budget import Budget, OutOfTime
from thence.proofs.infer.candidates.clauses import Clause, clause_from
from thence.proofs.infer.candidates.reasons import come_first
from thence.proofs.infer.candidates.vocabulary import Template, shown_rows, vocabulary_of
from thence.proofs.infer.finite.goal_runs import GoalRuns
from thence.proofs.infer.finite.samples import SAMPLED, Sampler
from thence.proofs.infer.finite.solver_process import SolverProcess
from thence.proofs.infer.finite.steps import FiniteSteps, inductive_sizes
from thence.proofs.infer.search.goals import about_states, closed, hidden, stated_goals
from thence.proofs.infer.search.inference import HASTY_MS, SHOTS, STATES
from thence.proofs.infer.search.open_steps import open_steps
from thence.proofs.infer.search.outcome import Limits, with_conjuncts
from thence.proofs.infer.search.proposals import Proposals
from thence.proofs.infer.search.strengthening import Strengthening
from thence.proofs.logic.compiled import Compiled
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.universe import Fitting
from thence.proofs.solving.session import ProofSession

TRIAL_SHARE = 0.1
"""Share of the time limit for the search for what takes the place of one invariant."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Names that may be enough, with the clauses that make them so in a small universe."""

    given: tuple[str, ...]
    clauses: tuple[ir.Expr, ...] = ()


def promising(
    session: ProofSession, machine: ir.Machine, names: Sequence[str], limits: Limits, note: Callable[[str], None]
) -> Generator[Guess, None, None]:
    """Sets of the names, each smaller than the one before, that may be enough; as many as the time limit lets it find.

    The time between a set and the question for the next one is not counted. Raises: CrossCheckError.
    """
    goals = about_states(hidden(machine, names))
    own = {name: clause for name, clause in _clauses(about_states(machine)).items() if name in names}
    budget = Budget(limits.seconds)
    budget.count(lambda: session.pool.processor_s)
    session = replace(session, note=lambda *_: budget.check())
    of_runs = budget.part(limits.seconds)
    fewest = len(names)
    stated = [closed(goals, goal) for goal in stated_goals(goals)]
    narrowing = _Narrowing(session, goals, limits, note, Fitting(session, goals))
    with (
        SolverProcess(budget) as process,
        GoalRuns(goals, stated, of_runs, narrowing.fitting) as runs,
        suppress(OutOfTime, Unsupported),
    ):
        for left, clauses in narrowing.sets(process, runs, own):
            if len(left) < fewest:
                fewest = len(left)
                given = tuple(name for name in names if name in left)
                bodies = {own[name].formula for name in given}
                before = budget.spent
                yield Guess(given, tuple(each for each in clauses if each not in bodies))
                waited = budget.spent - before
                budget.seconds += waited
                of_runs.seconds += waited


def _clauses(machine: ir.Machine) -> dict[str, Clause]:
    return {each.name: clause_from(each.body) for each in machine.invariants}


@dataclass(frozen=True, slots=True)
class _Narrowing:
    """The search for one machine, which is without the invariants in question."""

    session: ProofSession
    machine: ir.Machine
    limits: Limits
    note: Callable[[str], None]
    fitting: Fitting

    def sets(
        self, process: SolverProcess, runs: GoalRuns, own: Mapping[str, Clause]
    ) -> Iterator[tuple[Collection[str], Iterable[ir.Expr]]]:
        """Smaller and smaller sets, each with clauses that were found. Raises: OutOfTime; Unsupported."""
        machine = self.machine
        facts = [fact.body for fact in built_in.history_facts(machine.delivery)]
        goals = stated_goals(machine)
        stated = [closed(machine, goal) for goal in goals]
        vocabulary = vocabulary_of(machine, stated, reasons=come_first(machine))
        finite = [FiniteSteps(machine, size, facts, process) for size in inductive_sizes(self.fitting)]
        budget = process.budget
        proposals = Proposals(machine, vocabulary, [], random.Random(self.limits.seed), budget)
        search = Strengthening(proposals, finite, goals, [], self.note, largest=finite[-1])
        search.base = {clause.formula: clause for clause in own.values()}
        left: Mapping[str, Clause] = own
        hoped = _narrowed(search, own)
        for left in self._needed(own, own if hoped is None else hoped):
            yield left, ()
        samplers = self._samplers(shown_rows(machine, vocabulary), budget)
        search.proposals = Proposals(machine, vocabulary, samplers, random.Random(self.limits.seed), budget)
        search.assumed = [clause.formula for clause in left.values()]
        search.start()
        search.assumed = []
        short = dict(search.base)
        search.base.update({clause.formula: clause for clause in left.values()})
        narrowed = _narrowed(search, left)
        if narrowed is not None:
            left = narrowed
            yield left, search.base
        search.runs = runs.wait()[0]
        yield from self._trials(replace(search, finite=finite[:1], base=short, wanted={}, cores={}), process, left)

    def _needed(self, own: Mapping[str, Clause], hoped: Mapping[str, Clause]) -> Iterator[Mapping[str, Clause]]:
        """Those that are hoped to be enough, if a solver proves all from them alone; or else all, without those others
        that it does without, one after the other."""
        left = own
        for names in ([name for name in own if name not in hoped], *([name] for name in own if name not in hoped)):
            rest = {name: clause for name, clause in left.items() if name not in names}
            named = [ir.NamedFormula(name, clause.formula) for name, clause in rest.items()]
            if len(rest) < len(left) and not open_steps(self.session, with_conjuncts(self.machine, named), HASTY_MS):
                left = rest
                yield left
            if set(left) == set(hoped):
                return

    def _trials(
        self, search: Strengthening, process: SolverProcess, left: Mapping[str, Clause]
    ) -> Iterator[tuple[Collection[str], Iterable[ir.Expr]]]:
        """The invariants without one for which a short search finds others, then without a second one, and so on."""
        goals, short, budget = search.goals, search.base, process.budget
        end = budget.seconds
        wanted: dict[ir.Expr, Clause] = {}
        for name in list(left):
            self.note(f"in a small universe: {len(left)} are left; without {name}")
            rest = {other: clause for other, clause in left.items() if other != name}
            budget.seconds = min(end, budget.spent + TRIAL_SHARE * self.limits.seconds)
            stated = [*goals, *(clause.formula for clause in rest.values())]
            trial = replace(search, goals=stated, base=dict(short), wanted=dict(wanted), dead=set(), cores={})
            found = False
            with suppress(OutOfTime):
                found = trial.close() is None
            budget.seconds = end
            if found:
                left, wanted = rest, trial.wanted
                yield left, (*trial.base, *wanted)
                end = budget.seconds

    def _samplers(self, shows: Mapping[Template, Compiled], whole: Budget) -> list[Sampler]:
        budget = whole.part(whole.spent + SHOTS * self.limits.seconds)
        samplers = []
        for number, universe in enumerate(SAMPLED):
            samplers.append(
                Sampler(self.session, self.machine, self.fitting(universe), self.limits.seed + number, shows)
            )
            samplers[-1].more(STATES, lambda: budget.left <= 0)
        return samplers


def _narrowed(search: Strengthening, own: Mapping[str, Clause]) -> dict[str, Clause] | None:
    """Those of the invariants, which are among the clauses of the search, that its goals do not do without.

    None: not even all are enough. Raises: OutOfTime; Unsupported.
    """
    search.drop_lost()
    if not search.is_closed:
        return None
    for clause in own.values():
        if clause.formula in search.base:
            search.do_without(clause.formula)
    return {name: clause for name, clause in own.items() if clause.formula in search.base}
