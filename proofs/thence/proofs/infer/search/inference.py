"""An inductive strengthening of what a machine states, found and then proved; or a run that violates the statement.

The stages: random runs; clauses that hold in all of them; induction in a small universe, by propositional search; the
fewest conjuncts; induction in any universe, by a solver, whose counterexamples ask for more. At the end the prover of
machines proves the machine with what was found, as it proves any other.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.write.show import show_expression
from thence.proofs.infer.budget import Budget, FirstPart, OutOfTime
from thence.proofs.infer.candidates.clauses import Clause
from thence.proofs.infer.candidates.naming import name_of, names_of
from thence.proofs.infer.candidates.reasons import come_first
from thence.proofs.infer.candidates.vocabulary import Vocabulary, shown_rows, vocabulary_of
from thence.proofs.infer.finite.goal_runs import GoalRuns
from thence.proofs.infer.finite.runs import FiniteRuns
from thence.proofs.infer.finite.samples import SAMPLED, Sampler, few, violated_in
from thence.proofs.infer.finite.solver_process import SolverProcess
from thence.proofs.infer.finite.steps import FiniteSteps, Precondition, inductive_sizes
from thence.proofs.infer.search.asking import Answer, Ask, Candidate, Ended, Judging, Lost, Question, priced, shown
from thence.proofs.infer.search.goals import about_states, closed, goals_of, may_deliver_unsent, stated_goals
from thence.proofs.infer.search.kept import Keeping, Kept, clauses_of, digest, kept_of, replayed, restore
from thence.proofs.infer.search.open_steps import (
    SOLVER_MS,
    Open,
    enough_for,
    lost,
    lost_in_small,
    model_against,
    open_steps,
)
from thence.proofs.infer.search.outcome import Found, Inference, Limits, Refuted, with_conjuncts
from thence.proofs.infer.search.proposals import Proposals
from thence.proofs.infer.search.strengthening import Goal, Strengthening, Stuck
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.counterexample import run_counterexample
from thence.proofs.machine.goals import Falsification, TransitionRun
from thence.proofs.machine.inductive_set import proved_conjuncts
from thence.proofs.machine.obligations import state_properties
from thence.proofs.machine.prover import prove_machine, refusal
from thence.proofs.machine.smallest_run import smallest, without_detours
from thence.proofs.machine.universe import Fitting
from thence.proofs.machine.witness import guarded
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict

Note = Callable[[str], None]

STATES = 800
"""Samples of each universe."""

HASTY_MS = 1_000
"""Time limit of a solver for one obligation where it is asked whether the file lacks anything."""

FEW_LEFT = 3
"""So many obligations that this solver leaves are the prover's to decide, which asks another one, too, and longer."""

PATIENT_MS = 20_000
"""Time limit of a solver for one obligation where no state against an obligation is found in a larger universe."""

FIRST_SHARE = 0.5
"""Share of the time limit for the first attempt, but for the longer search for runs that goes on beside it."""

LONG_SHARE = 0.75
"""The same, where the first attempt has a vocabulary of many formulas."""

REST_SHARE = 0.375
"""Share of the time limit that the first attempt still has after its random runs, at least; but no more than
`LONG_SHARE` in all."""

NEAR_SHARE = 0.125
"""Share of the time limit that the first attempt still has, whenever nothing is open in small universes; but no more
than `LONG_SHARE` in all."""

SHOTS = 0.25
"""Share of the time limit that random runs may take."""

PROOF_S = 30.0
"""So long the prover has at least for what was found within the time limit."""

SMALLER_S = 3.0
"""So long a run that violates a statement may be made smaller at least, even when the time limit is over."""

DENIED = 4
"""So many states of larger universes are denied, one after the other, before all is proved again."""

INTERRUPTED = "interrupted"
"""The reason where Ctrl-C or SIGTERM ended a search."""

ENDED = "ended by the user"

NO_CREATION = "no_creation"
"""The property that the built-in facts about the history rest on."""


@dataclass(frozen=True, slots=True)
class Aids:
    """What else there is: an earlier search to go on with, a user to ask, names that no conjunct gets, a place."""

    kept: Kept | None = None
    ask: Ask | None = None
    taken: frozenset[str] = frozenset()
    keeping: Keeping = field(default_factory=Keeping)


def infer(
    session: ProofSession, machine: ir.Machine, limits: Limits, note: Note, aids: Aids | None = None
) -> Inference:
    """Looks for conjuncts with which the goals of a machine are inductive.

    The built-in facts about the history are proved, too, and rest on deliveries of sent messages. Where the guard does
    not ask for that, it is looked for as well; a machine that delivers others is searched again without.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    stated = about_states(machine)
    aids = aids or Aids()
    aids = replace(aids, taken=aids.taken | names_of(machine))
    if not goals_of(machine):
        return Inference(stated, (), reason="nothing is stated of its states, or all of it is hidden")
    if NO_CREATION in stated.prove or not may_deliver_unsent(stated):
        return _inferred(session, machine, stated, limits, note, aids)
    found = _inferred(session, machine, replace(stated, prove=(*stated.prove, NO_CREATION)), limits, note, aids)
    if found.refuted is None or found.refuted.name != NO_CREATION:
        return found
    if found.reason == INTERRUPTED:
        return replace(found, refuted=None)
    left = replace(limits, seconds=limits.seconds - found.processor_seconds)
    return _inferred(session, machine, stated, left, note, aids)


def _inferred(
    session: ProofSession, machine: ir.Machine, stated: ir.Machine, limits: Limits, note: Note, aids: Aids
) -> Inference:
    """Looks for what the statements of `stated` need; the answer is about the goals of `machine`."""
    started = time.monotonic()
    goals = goals_of(machine)
    budget = Budget(limits.seconds)
    budget.count(lambda: session.pool.processor_s)
    search = _Search(session, stated, limits, note, aids)
    try:
        with session.pool.watched(budget.look):
            refused = refusal(session, stated)
            if refused is not None:
                return Inference(machine, goals, reason=refused)
            with (
                SolverProcess(budget) as process,
                GoalRuns(stated, search.closed_goals, budget.part(limits.seconds), search.fitting) as goal_runs,
            ):
                found = search.run(process, goal_runs)
    except Unsupported as reason:
        found = Inference(stated, goals, reason=str(reason))
    except OutOfTime as reason:
        found = search.partial(str(reason))
    except KeyboardInterrupt:
        found = search.partial(INTERRUPTED)
    except Ended:
        found = search.partial(ENDED)
    settled = found.proved or found.refuted is not None
    kept = None if settled else search.kept()
    return replace(
        found,
        machine=stated,
        goals=goals,
        seconds=time.monotonic() - started,
        processor_seconds=budget.spent,
        facts=search.facts,
        kept=kept,
    )


class _Violated(Exception):
    """A goal is false: a run violates it."""

    def __init__(self, goal: Goal, run: TransitionRun) -> None:
        super().__init__(goal, run)
        self.goal = goal
        self.run = run


class _Search:
    """One inference."""

    def __init__(self, session: ProofSession, machine: ir.Machine, limits: Limits, note: Note, aids: Aids) -> None:
        self._session = session
        self._machine = machine
        self.fitting = Fitting(session, machine)
        self._limits = limits
        self._note = aids.keeping.noting(note, self.kept)
        self._earlier = aids.kept
        self._ask = aids.ask
        self._taken = aids.taken
        self._goal_runs: GoalRuns
        self._budget: Budget
        self._reasons = False
        self._is_last = False
        self._part: FirstPart | None = None
        self.facts: dict[str, int] = {}
        self._strengthening: Strengthening | None = None
        self._samplers: list[Sampler] = []
        self._first: list[Sampler] = []  # of the first attempt, once there is another
        self._names: dict[ir.Expr, str] = {}

    def run(self, process: SolverProcess, goal_runs: GoalRuns) -> Inference:
        """What came out. Raises: Unsupported; OutOfTime."""
        self._goal_runs, self._budget = goal_runs, process.budget
        self._session = replace(self._session, note=lambda *_: process.budget.check())
        try:
            found = self._attempts(process)
            if not found.proved and found.refuted is None:
                self._runs(goal_runs.violation())
            return found
        except _Violated as violated:
            return self._refuted(violated.goal, violated.run)

    def _attempts(self, process: SolverProcess) -> Inference:
        """First without guards that were true of somebody, which solvers find hard, then with them; or the other way
        round, where messages can be blocked.

        Raises: _Violated; Unsupported; OutOfTime.
        """
        complete = self._complete(process)
        if complete is not None:
            return complete
        order: tuple[bool, ...] = (True, False) if come_first(self._machine) else (False, True)
        if self._vocabulary(reasons=True) == self._vocabulary(reasons=False):
            order = order[:1]
        elif self._earlier is not None and self._earlier.reasons == order[1]:
            order = order[1:]
        found = None
        if len(order) > 1:
            if self._ask is None:
                goal_runs = self._goal_runs
                share = LONG_SHARE if self._vocabulary(reasons=order[0]).is_cut else FIRST_SHARE
                self._part = FirstPart(self._budget, share * self._limits.seconds, lambda: goal_runs.beside_s)
            with suppress(OutOfTime):
                found = self._attempt(process, reasons=order[0])
            if found is not None and (found.proved or found.refuted is not None):
                return found
            self._earlier = None
            self._first, self._samplers = self._samplers, []
            self._note("again, with another vocabulary")
        self._part, self._budget.seconds = None, self._limits.seconds
        process.renew()
        self._is_last = True
        try:
            return self._attempt(process, reasons=order[-1])
        except OutOfTime:
            if found is not None:
                return found
            raise

    def _complete(self, process: SolverProcess) -> Inference | None:
        """The proof without any conjunct, where the file lacks none. Raises: Unsupported; OutOfTime."""
        machine = self._machine
        facts = [fact.body for fact in built_in.history_facts(machine.delivery)]
        proposals = self._proposals(self._vocabulary(reasons=False), [])
        search = Strengthening(proposals, [], self._goals(), [], self._noted)
        for size in inductive_sizes(self.fitting):
            search.finite.append(FiniteSteps(machine, size, facts, process))
            if not search.is_closed:
                return None
        left = self._failed({}, HASTY_MS)
        if len(left) > FEW_LEFT or any(self._state_against(each.discharge) is not None for each in left):
            return None
        found = self._confirmed(search, {})
        return found if found.proved or found.motionless else None

    def _proposals(self, vocabulary: Vocabulary, samplers: list[Sampler]) -> Proposals:
        return Proposals(self._machine, vocabulary, samplers, random.Random(self._limits.seed), self._budget)

    def _vocabulary(self, *, reasons: bool) -> Vocabulary:
        return vocabulary_of(self._machine, self.closed_goals, reasons=reasons)

    @property
    def closed_goals(self) -> list[ir.Expr]:
        """What is to be proved, as formulas about states."""
        return [closed(self._machine, goal) for goal in self._goals()]

    def _noted(self, line: str) -> None:
        """Says how far one came. Raises: _Violated, once a run is found that violates a goal."""
        self._note(line)
        self._look()

    def _look(self) -> None:
        """Raises: _Violated, once a run is found that violates a goal."""
        if self._part is not None:
            self._part.renew()
        if self._goal_runs.is_done:
            self._runs()

    def _runs(self, violation: tuple[int, TransitionRun] | None = None) -> FiniteRuns:
        """The runs in which clauses are looked at.

        Raises: _Violated where one violates a goal; Unsupported; OutOfTime.
        """
        runs, first = self._goal_runs.wait()
        if first is None and self._goal_runs.is_done:
            violation = self._goal_runs.violation()
        found = first or violation
        if found is not None:
            number, run = found
            raise _Violated(self._goals()[number], run)
        return runs

    def _attempt(self, process: SolverProcess, *, reasons: bool) -> Inference:
        machine = self._machine
        goals = self._goals()
        vocabulary = self._vocabulary(reasons=reasons)
        samplers = self._sampled(vocabulary)
        if self._part is not None:
            self._part.lengthen(REST_SHARE * self._limits.seconds, LONG_SHARE * self._limits.seconds)
        violated = self._violated(samplers)
        if violated is not None:
            return violated
        self._look()
        proposals = self._proposals(vocabulary, samplers)
        facts = [fact.body for fact in built_in.history_facts(machine.delivery)]
        sizes = inductive_sizes(self.fitting)
        first, *wider = [FiniteSteps(machine, size, facts, process) for size in sizes]
        search = Strengthening(proposals, [first], goals, [], self._noted, largest=[first, *wider][-1])
        search.may_be_loose, search.look = self._is_last, self._look
        if self._ask is not None:
            search.ask = lambda goal, lost, candidates: self._asked(search, goal, lost, candidates)
        self._begin(search, reasons=reasons)
        for finite in wider:
            stuck = search.close()
            if stuck is not None:
                return self._stuck(stuck)
            search.widen(finite)
        return self._closed(search)

    def _begin(self, search: Strengthening, *, reasons: bool) -> None:
        """Starts with what an earlier search kept, if there is one; all of it is checked again."""
        machine, earlier = self._machine, self._earlier
        if earlier is None:
            self._strengthening, self._reasons = search, reasons
            search.start()
            search.runs = self._runs().anew() if self._first else self._runs()
            return
        same = earlier.machine == digest(machine)
        for forest in earlier.runs:
            search.proposals.learn([state for state in replayed(machine, forest) if state is not None])
        base = clauses_of(machine, earlier.base)
        if same:
            search.dead.update(clauses_of(machine, earlier.given_up))
            search.most_variables = max(search.most_variables, min(earlier.variables, search.limit))
        search.start(list(base.values()), only=same and bool(base))
        search.runs = self._runs()
        wanted = search.want(clauses_of(machine, earlier.wanted).values(), again=not same)
        self.facts["clauses"] = wanted + len([formula for formula in base if formula in search.base])
        self._strengthening, self._reasons = search, reasons

    def kept(self) -> Kept | None:
        """What another search can go on with. What this one has not come to yet is as the earlier one left it."""
        samplers = [*self._samplers, *self._first[len(self._samplers) :]]
        return kept_of(self._machine, self._strengthening, self._reasons, samplers, self._earlier)

    def _asked(self, search: Strengthening, goal: Goal, lost: Lost, candidates: tuple[Candidate, ...]) -> Answer:
        """The user's answer. Raises: OutOfTime."""
        assert self._ask is not None
        own = goal in self._goals()
        name, text = self._open_text(goal, lost)
        judging = Judging(self._machine, self._samplers, search.runs)
        offered = priced(self._session.within(self._budget.at_most(HASTY_MS)), self._machine, candidates)
        samples, steps = judging.looked_at
        return self._ask(Question(name, text, offered, samples, steps, own, lambda line: judging(line, lost)))

    def _open_text(self, goal: Goal, lost: Lost) -> tuple[str, str]:
        """The name of the goal, or what it says, and the step that loses it."""
        formula = closed(self._machine, goal)
        name = self._name_of(goal) if goal in self._goals() else show_expression(formula)
        return name, shown(self._machine, ir.NamedFormula(name, formula), lost)

    def partial(self, reason: str) -> Inference:
        """What there is when the search ends before its end: the clauses that support each other are true."""
        conjuncts: tuple[Found, ...] = ()
        text = ""
        if self._strengthening is not None:
            clauses = {**self._strengthening.base, **self._strengthening.wanted}
            conjuncts = tuple(Found(each) for each in self._named(clauses))
            with suppress(Unsupported):
                if (left := self._strengthening.open_now()) is not None:
                    text = self._open_text(*left)[1]
        return Inference(self._machine, (), conjuncts, reason=reason, text=text)

    def _goals(self) -> list[Goal]:
        return stated_goals(self._machine)

    def _sampled(self, vocabulary: Vocabulary) -> list[Sampler]:
        machine, seed = self._machine, self._limits.seed
        shows = shown_rows(machine, vocabulary)
        budget = self._budget.part(min(self._budget.seconds, self._budget.spent + SHOTS * self._limits.seconds))
        kept = () if self._earlier is None else self._earlier.samples
        same = self._earlier is not None and self._earlier.machine == digest(machine)
        for number, universe in enumerate(SAMPLED[len(self._samplers) :], len(self._samplers)):
            self._note(f"random runs, universe {number + 1} of {len(SAMPLED)}")
            sampler = Sampler(self._session, machine, self.fitting(universe), seed + number, shows)
            self._samplers.append(sampler)
            there = restore(sampler, machine, kept)
            if kept:
                self.facts["samples"] = self.facts.get("samples", 0) + there
            sampler.more(STATES - there if same else STATES, lambda: budget.left <= 0)
        return self._samplers

    def _violated(self, samplers: Sequence[Sampler]) -> Inference | None:
        """A goal that is false in a sample, or in one of a few runs in universes with more elements of some sorts."""
        others = (
            [] if self._first else few(self._session, self.fitting, self._limits.seed, lambda: self._budget.left <= 0)
        )
        for goal in self._goals():
            for sampler in (*samplers, *others):
                try:
                    number = violated_in(closed(self._machine, goal), sampler.samples)
                except Unsupported as reason:
                    raise Unsupported(f"`{self._name_of(goal)}` is not searched: {reason}") from reason
                if number is not None:
                    return self._refuted(goal, sampler.samples.run_to(number))
        return None

    def _refuted(self, goal: Goal, run: TransitionRun) -> Inference:
        """The goal is false: the run is made small, as far as there is time, and replayed."""
        machine = self._machine
        formula = ir.NamedFormula(self._name_of(goal), closed(machine, goal))
        falls = Falsification(formula)
        budget = self._budget.part(max(self._limits.seconds, self._budget.spent + SMALLER_S))
        reason = ""
        try:
            run = without_detours(machine, falls, run, lambda: budget.left <= 0)
            run = smallest(machine, falls, run, lambda: budget.left <= 0)
        except KeyboardInterrupt:  # the run is there, only not so small
            reason = INTERRUPTED
        shown = run_counterexample(machine, run, formula)
        return Inference(machine, (), refuted=Refuted(formula.name, shown.drawn()), reason=reason)

    def _name_of(self, goal: Goal) -> str:
        if isinstance(goal, Precondition):
            return "at_most_once"
        stated = (*self._machine.invariants, *state_properties(self._machine))
        return next(each.name for each in stated if each.body == goal)

    # --- any universe --------------------------------------------------------------------------

    def _closed(self, search: Strengthening) -> Inference:
        """Closes the goals in the small universe, then asks a solver about any universe, until both agree."""
        while True:
            stuck = search.close()
            if stuck is not None:
                return self._stuck(stuck)
            if self._part is not None:  # it may be near its end
                self._part.lengthen(NEAR_SHARE * self._limits.seconds, LONG_SHARE * self._limits.seconds)
            chosen = self._plain(search, search.fewest())
            self._note(f"a solver is asked about any universe, with {len(chosen)} conjuncts")
            failed = self._failed(chosen, HASTY_MS)
            if failed:
                self._note(f"{len(failed)} steps are open in some universe")
            if not failed:
                return self._confirmed(search, chosen)
            before = len(search.must)
            for each in failed:
                self._deny(search, chosen, each.discharge)
            if len(search.must) == before:
                failed = self._failed(chosen, PATIENT_MS)
                if not failed:
                    return self._confirmed(search, chosen)
                asked = {each.preservation.conjunct.formula.body for each in failed if each.preservation is not None}
                doubtful = [formula for formula in chosen if formula in asked]
                if not doubtful:
                    reserve = search.reserve(chosen)
                    held = enough_for(self._session, failed, self._named(reserve), self._budget.at_most(HASTY_MS))
                    if not search.hold(reserve[each] for each in held):
                        return self._unsolved(chosen, failed[0].discharge)
                for formula in doubtful:
                    search.give_up(formula)
                    search.give_up(replace(chosen[formula], apart=True).formula)  # the search may have it so
                self._note(f"{len(doubtful)} conjuncts that no solver proves are given up")

    def _deny(self, search: Strengthening, chosen: Mapping[ir.Expr, Clause], discharge: Discharge) -> None:
        """Holds on to clauses without which the goal of the obligation is lost in a larger universe: a few of them."""
        for _ in range(DENIED):
            held = [formula for formula in search.must if formula not in chosen]
            state = self._state_against(discharge, held)
            if state is None:
                return
            if search.deny(state, chosen) is None:
                return

    def _plain(self, search: Strengthening, chosen: Mapping[ir.Expr, Clause]) -> dict[ir.Expr, Clause]:
        """The clauses without `a != b` where all together say the same without it, and without those that follow.

        Of larger universes the small one says nothing: a clause that denies a state there is kept.
        """
        everything = list(chosen)
        found: dict[ir.Expr, Clause] = {}
        kept: set[ir.Expr] = set()
        for formula, clause in chosen.items():
            simpler = replace(clause, apart=False)
            same = simpler.formula != formula and search.follows(simpler.formula, everything)
            found[simpler.formula if same else formula] = simpler if same else clause
            if formula in search.must:
                kept.add(simpler.formula if same else formula)
        for formula in sorted(found, key=lambda each: -found[each].weight):
            rest = [other for other in found if other != formula]
            if formula not in kept and search.follows(formula, rest):
                del found[formula]
        return found

    def _named(self, clauses: Mapping[ir.Expr, Clause]) -> list[ir.NamedFormula]:
        taken = set(self._taken)
        named: list[ir.NamedFormula] = []
        for clause in sorted(clauses.values(), key=lambda each: each.weight):
            name = name_of(clause, taken)
            taken.add(name)
            named.append(ir.NamedFormula(name, clause.formula))
        return named

    def _failed(self, clauses: Mapping[ir.Expr, Clause], limit_ms: int) -> list[Open]:
        """The obligations that one solver does not prove in a short time. Raises: OutOfTime."""
        machine = with_conjuncts(self._machine, self._named(clauses))
        least = self._budget.at_most(limit_ms)
        found = open_steps(self._session, machine, least)
        if found and least < limit_ms:  # with less time than it was to have, a solver says less
            raise self._budget.over()
        return found

    def _state_against(self, discharge: Discharge, held: Iterable[ir.Expr] = ()) -> Structure | None:
        """A state of a larger universe, where all `held` is true, from which the goal of the obligation is lost.

        Raises: OutOfTime.
        """
        model = model_against(self.fitting, discharge, self._budget.at_most(SOLVER_MS), held)
        self._budget.check()
        return None if model is None else model.structure

    def _confirmed(self, search: Strengthening, clauses: Mapping[ir.Expr, Clause]) -> Inference:
        """The prover has the last word; each conjunct is shown with a step that is possible without it.

        Raises: OutOfTime, where the prover takes too long.
        """
        named = self._named(clauses)
        machine = with_conjuncts(self._machine, named)
        self._note("the prover proves the machine with what was found")
        self._budget.seconds = max(self._budget.seconds, self._budget.spent + PROOF_S)
        assessments, inductive = prove_machine(self._session, machine)
        missed = [name for name, each in assessments.items() if each.verdict is not Verdict.PROVED]
        reason, motionless = f"the prover does not prove {', '.join(missed)}", False
        if not missed and inductive is not None:
            known = proved_conjuncts(machine, inductive)
            assessments = guarded(self._session, machine, known, assessments)
            missed = [name for name, each in assessments.items() if each.verdict is not Verdict.PROVED]
            reason = f"{', '.join(missed)}: hold for nothing, since no run was found in which anything happens"
            motionless = bool(missed)
        if missed:
            found = tuple(Found(each) for each in named)
            return Inference(self._machine, (), found, None, reason, motionless, assessments=assessments)
        shown: dict[ir.NamedFormula, str] = {}
        interrupted = False
        for formula in tuple(named):
            fewer = [each for each in named if each is not formula]
            machine = with_conjuncts(self._machine, fewer)
            try:
                step = lost_in_small(machine, search.finite) or lost(self._session, machine)
                if not step:  # it is superfluous in any universe, if the prover says so
                    judged, _ = prove_machine(self._session, machine)
                    left = [each for each in judged.values() if each.verdict is not Verdict.PROVED]
                    if not left:
                        named, assessments = fewer, judged
                        continue
                    step = left[0].text
            except (OutOfTime, KeyboardInterrupt) as why:  # all is proved; nothing is said of those that are left
                interrupted = isinstance(why, KeyboardInterrupt)
                break
            shown[formula] = step
        found = tuple(Found(each, shown.get(each, "")) for each in named)
        return Inference(self._machine, (), found, assessments=assessments, interrupted=interrupted)

    def _stuck(self, stuck: Stuck) -> Inference:
        name = self._name_of(stuck.goal) if stuck.goal in self._goals() else "a conjunct"
        reason = f"nothing that can be said with few variables excludes a state from which {name} is lost"
        return replace(self.partial(reason), reason=reason)

    def _unsolved(self, chosen: Mapping[ir.Expr, Clause], discharge: Discharge) -> Inference:
        reason = f"inductive in a small universe, but in general not proved: {discharge.obligation.name}"
        found = tuple(Found(each) for each in self._named(chosen))
        return Inference(self._machine, (), found, reason=f"{reason}: {discharge.reason}")
