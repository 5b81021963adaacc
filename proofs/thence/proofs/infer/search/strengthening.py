"""The search for conjuncts: goals, short clauses that samples bear out, and denials of states that no run reaches.

A goal that some step loses is lost from a state, in which all conjuncts so far are true. If that state is reachable,
the goal is false. Otherwise a clause denies it: one that every sample satisfies, and that is as short as can be found.
It becomes a goal itself. Where no clause of the vocabulary denies the state, the goal is given up, or, if it was to be
proved, more variables are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.proofs.infer.candidates.clauses import Clause, generalized, linked, of_what_is_possible
from thence.proofs.infer.candidates.rows import Denial
from thence.proofs.infer.candidates.shapes import spreading
from thence.proofs.infer.finite.runs import SECONDS, FiniteRuns
from thence.proofs.infer.finite.steps import FiniteSteps, Precondition, Violation
from thence.proofs.infer.search.asking import CANDIDATES, Answer, Candidate, Cost, Ended, Lost
from thence.proofs.infer.search.proposals import MANY, Proposals
from thence.proofs.logic.formula import outer_foralls
from thence.proofs.logic.structure import Structure, evaluate
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.transitions import step

Goal: TypeAlias = ir.Expr | Precondition

LITERALS = 6
"""Limit on the literals of a clause."""

GROUP = 40
"""So many short clauses are asked about together: whether they follow from lighter ones."""

COMPARING_S = 2.5
"""Time limit of one such question."""

AT_ONCE = 12
"""So many denials with many variables are tried before the templates learn from what refuted them; else one."""

REFUSALS = 300
"""Limit on the clauses that samples refuse before a state counts as one that no clause denies."""

HASTY_S = 0.4
"""Time limit of the search for a run against a clause that is new. Most runs that there are, are found in less."""

FIRST_VARIABLES = 3
"""Clauses have at most so many variables at first."""

VARIABLES = 4
"""Limit on the variables of a clause, unless a goal has more."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A goal is lost from a state that no clause of the vocabulary denies."""

    goal: Goal
    state: Structure


@dataclass(slots=True)
class Strengthening:
    """The search in finite universes: clauses that goals want, and `base`, the short ones that support themselves.

    `dead` has the clauses that were given up; `undenied` those of them that are lost from a state which no clause over
    `most_variables` variables denies. `must` has those of the others that deny states of larger universes: whether one
    can do without these, no universe here says. Where a goal is stuck, and `may_be_loose`, clauses get `loose`: they
    may say of different elements what nothing else connects. `look` is called before a clause is looked at, and may
    raise: a run against a goal may have been found meanwhile. `open` is the last goal that was lost, and how.
    """

    proposals: Proposals
    finite: list[FiniteSteps]
    goals: list[Goal]
    assumed: list[ir.Expr]
    note: Callable[[str], None]
    runs: FiniteRuns | None = None
    look: Callable[[], None] = lambda: None
    base: dict[ir.Expr, Clause] = field(default_factory=dict)
    wanted: dict[ir.Expr, Clause] = field(default_factory=dict)
    must: dict[ir.Expr, Clause] = field(default_factory=dict)
    dead: set[ir.Expr] = field(default_factory=set)
    undenied: set[ir.Expr] = field(default_factory=set)
    looked_at: set[ir.Expr] = field(default_factory=set)
    cores: dict[tuple[int, Goal], set[ir.Expr]] = field(default_factory=dict)
    most_variables: int = FIRST_VARIABLES
    may_be_loose: bool = False
    loose: bool = False
    ask: Callable[[Goal, Lost, tuple[Candidate, ...]], Answer] | None = None
    largest: FiniteSteps | None = None
    open: tuple[Goal, Lost] | None = None
    refused: int = 0
    refuting: list[TransitionRun] = field(default_factory=list)

    @property
    def known(self) -> list[ir.Expr]:
        own = [goal for goal in self.goals if not isinstance(goal, Precondition)]
        return [*self.assumed, *own, *self.base, *self.wanted]

    def open_now(self) -> tuple[Goal, Lost] | None:
        """A goal and a step that loses it, from a state in which all is true that is known by now."""
        if self.open is None:
            return None
        goal, lost = self.open
        state = lost.state if isinstance(lost, Violation) else lost
        known = self.known
        is_left = isinstance(goal, Precondition) or goal in known
        return self.open if is_left and all(evaluate(each, state, {}) for each in known) else None

    def start(self, first: Sequence[Clause] = (), *, only: bool = False) -> None:
        """Finds the short clauses that support each other: of `first`, and of all others but for `only`.

        Raises: Unsupported; OutOfTime.
        """
        candidates = [clause for clause in first if self.proposals.refusal(clause.formula) is None]
        if not only:
            candidates += self.proposals.short()
        self.note(f"{len(candidates)} short clauses are true in all samples")
        self.base = self._new(candidates, None if only else COMPARING_S)
        kept = self.base
        self.note(f"{len(kept)} of them say something new")
        self.drop_lost()
        self.note(f"{len(self.base)} of them support each other")

    def _new(self, candidates: Sequence[Clause], seconds: float | None) -> dict[ir.Expr, Clause]:
        """The clauses without those that follow from lighter ones: of a group, a state refutes some, or all follow.

        That all follow, the largest universe says. Where a solver does not say it in time, a state of a small universe
        may still refute some; the others are left out, too: what is wanted of them is found again.
        """
        kept: dict[ir.Expr, Clause] = {}
        for first in range(0, len(candidates), GROUP):
            self.note(f"{first} of them are compared, {len(kept)} say something new")
            group = {clause.formula: clause for clause in candidates[first : first + GROUP]}
            for finite in dict.fromkeys((self.largest or self.finite[-1], self.finite[0])):
                while group and (state := finite.state_against(list(group), list(kept), seconds)):
                    formula = next(each for each in group if self.proposals.refusal(each, (state,)) is not None)
                    kept[formula] = group.pop(formula)
        return kept

    def follows(self, formula: ir.Expr, known: Sequence[ir.Expr]) -> bool:
        """Whether the formula follows in any state, of the largest universe that there will be."""
        return (self.largest or self.finite[-1]).state_against([formula], known) is None

    def widen(self, finite: FiniteSteps) -> None:
        """From now on everything is to be kept in one more universe."""
        self.finite.append(finite)
        self.drop_lost()

    def drop_lost(self) -> None:
        """Drops the short clauses that some step loses, until the others support each other."""
        while self._fall():
            pass

    def want(self, clauses: Iterable[Clause], *, again: bool) -> int:
        """Makes goals of clauses of an earlier search that no sample (`again`: and no run) refutes; their number."""
        for clause in clauses:
            false = self._refuted(clause) if again else self.proposals.refusal(clause.formula) is not None
            if not false and clause.formula not in self.base:
                self.wanted[clause.formula] = clause
        return len(self.wanted)

    def _refuted(self, clause: Clause, seconds: float = HASTY_S) -> bool:
        """Whether a sample or a run makes the clause false; the templates learn from it."""
        self.look()
        if self.proposals.is_stale(clause.formula):
            return True
        refuser = self.proposals.refusal(clause.formula)
        if refuser is not None:
            self.proposals.learn((refuser,))
            return True
        run = None if self.runs is None else self.runs.violation(clause.formula, seconds)
        if run is None:
            return False
        self.refused += 1
        self.refuting.append(run)
        self.proposals.learn(run.states())
        return True

    def _fall(self) -> bool:
        """Takes out the clauses that a step loses; whether there were any."""
        for number, finite in enumerate(self.finite):
            for formula in list(self.base):
                if formula not in self.base or (number, formula) in self.cores:
                    continue
                found = self._kept(number, finite, formula)
                if isinstance(found, Violation):
                    after = step(found.action, found.arguments, found.state)
                    lost = [each for each in self.base if self.proposals.refusal(each, (after,)) is not None]
                    self._drop(lost or [formula])
                    return True
        return False

    def _kept(self, number: int, finite: FiniteSteps, goal: Goal) -> Lost | set[ir.Expr]:
        """What the goal rests on, or how it is lost. What is kept is remembered."""
        if (number, goal) in self.cores:
            return self.cores[number, goal]
        found = self._asked(finite, goal, self.known)
        if isinstance(found, set):
            self.cores[number, goal] = found
        return found

    def _asked(
        self, finite: FiniteSteps, goal: Goal, known: Sequence[ir.Expr], *, again: bool = False
    ) -> Lost | set[ir.Expr]:
        if isinstance(goal, Precondition):
            return finite.enabled_against(goal, known, again=again)
        return finite.lost_or_used(goal, known, again=again)

    def _drop(self, formulas: Iterable[ir.Expr]) -> None:
        gone = set(formulas)
        for each in gone:
            self.base.pop(each, None)
            self.wanted.pop(each, None)
            self.must.pop(each, None)
        self.cores = {key: used for key, used in self.cores.items() if not used & gone and key[1] not in gone}

    @property
    def is_closed(self) -> bool:
        """Whether all that is to be kept is kept. Raises: Unsupported; OutOfTime."""
        return self._first_lost() is None

    def do_without(self, formula: ir.Expr) -> bool:
        """Drops a short clause, and those that are lost without it, if the goals are still kept; whether they are.

        Raises: Unsupported; OutOfTime.
        """
        before = dict(self.base), dict(self.wanted), dict(self.must), dict(self.cores)
        self._drop([formula])
        self.drop_lost()
        if self.is_closed:
            return True
        self.base, self.wanted, self.must, self.cores = before
        return False

    def close(self) -> Stuck | None:
        """Adds clauses until every goal is kept; the goal that is stuck otherwise. Raises: Unsupported; OutOfTime."""
        while True:
            self.drop_lost()  # what rested on a clause that was given up
            found = self._first_lost()
            if found is None:
                return None
            goal, lost = found
            if self._is_not_wanted(goal):
                continue
            self.open = goal, lost
            state = lost.state if isinstance(lost, Violation) else lost
            clause = self._denial(state) if self.ask is None else self._answered(goal, lost)
            if clause == "give up":
                self.give_up(goal)
            elif clause is not None:
                self.wanted[clause.formula] = clause
                self.note(
                    f"{len(self.wanted)} clauses wanted, {len(self.dead)} given up, {self.refused} refuted by runs"
                )
            elif self.most_variables < self.limit and self._are_more_worth_it(goal):
                self.most_variables += 1
                self.dead -= self.undenied  # a clause with more variables may deny what they are lost from
                self.undenied.clear()
            elif not isinstance(goal, Precondition) and goal in self.wanted:
                self.undenied.add(goal)
                self.give_up(goal)
            elif self.may_be_loose and not self.loose:
                self.loose, self.most_variables = True, FIRST_VARIABLES
                self.dead -= self.undenied
                self.undenied.clear()
            else:
                return Stuck(goal, state)

    def _are_more_worth_it(self, goal: Goal) -> bool:
        """Whether clauses with one more variable are the way on where a goal is stuck.

        A wanted clause is given up first, unless others were, and there are few such clauses.
        """
        return goal not in self.wanted or (bool(self.dead) and self.proposals.are_few(self.most_variables + 1))

    def _is_not_wanted(self, goal: Goal) -> bool:
        """Whether what is lost is a wanted clause that is not needed, or that is false: then it is dropped."""
        if isinstance(goal, Precondition) or goal not in self.wanted:
            return False
        return self._is_dispensable(goal) or self._is_false(goal)

    def _is_dispensable(self, goal: ir.Expr) -> bool:
        """Whether all else can do without a wanted clause that is lost: then it is not wanted any more."""
        if goal in self.must:
            return False
        instead = self._instead(goal, self.cores, [formula for formula in self.known if formula != goal])
        if instead is None:
            return False
        self.cores.update(instead)
        self._drop([goal])
        return True

    def _is_false(self, goal: ir.Expr) -> bool:
        """Whether a patient search finds a run against a wanted clause: then it is not wanted any more."""
        if goal in self.looked_at:
            return False
        self.looked_at.add(goal)
        if not self._refuted(self.wanted[goal], SECONDS):
            return False
        self._drop([goal])
        return True

    def give_up(self, goal: Goal) -> None:
        """Does without a clause from now on: it does not come back."""
        assert not isinstance(goal, Precondition)
        self.dead.add(goal)
        self._drop([goal])

    def _answered(self, goal: Goal, lost: Lost) -> Clause | Literal["give up"]:
        """What the user wants. Raises: Ended."""
        assert self.ask is not None
        denials = self._candidates(lost.state if isinstance(lost, Violation) else lost)
        stated = (*self.goals, *self.wanted)
        open_now = [each for each in stated if self._losing(each, self.known)[0]] if denials else []
        answer = self.ask(goal, lost, tuple(Candidate(each, self._cost(each.clause, open_now)) for each in denials))
        if answer == "end":
            raise Ended
        return answer

    def _cost(self, clause: Clause, open_now: Sequence[Goal]) -> Cost:
        """What has to be shown once the clause is taken. `open_now`: the goals that are lost without it."""
        known = [*self.known, clause.formula]
        lost_by, used = self._losing(clause.formula, known)
        left = sum(len(self._losing(goal, known)[0]) for goal in open_now)
        return Cost(tuple(sorted(lost_by)), left, frozenset(() if lost_by else used - {clause.formula}))

    def _losing(self, goal: Goal, known: Sequence[ir.Expr]) -> tuple[set[str], set[ir.Expr]]:
        """The transitions that lose a goal in some universe, and what is enough for the others."""
        found = [finite.losing(goal, known) for finite in self.finite]
        return set().union(*(lost for lost, _ in found)), set().union(*(used for _, used in found))

    def _candidates(self, state: Structure) -> tuple[Denial, ...]:
        """A few clauses that are false in the state, and that no run refutes."""
        found: dict[ir.Expr, Denial] = {}
        for _ in range(REFUSALS):
            refused = False
            for denial in (each for several in self.proposals.denials(state, self.most_variables) for each in several):
                if len(found) == CANDIDATES:
                    return tuple(found.values())
                formula = denial.clause.formula
                if formula not in found and self._is_offered(denial.clause):
                    refused = self._refuted(denial.clause)
                    if refused:
                        break  # the templates know more now
                    found[formula] = denial
            if not refused:
                break
        return tuple(found.values())

    def _is_offered(self, clause: Clause) -> bool:
        return len(clause.literals) <= LITERALS and self._belongs_together(clause) and clause.formula not in self.dead

    def _belongs_together(self, clause: Clause) -> bool:
        return clause.connected or (self.loose and clause.connected_by_difference)

    @property
    def limit(self) -> int:
        """Variables that a clause may have: as many as a goal has, if these are more."""
        own = [outer_foralls(goal)[0] for goal in self.goals if not isinstance(goal, Precondition)]
        return max([VARIABLES, *map(len, own)])

    def _first_lost(self) -> tuple[Goal, Lost] | None:
        """A goal, or a wanted clause, that is lost, and how."""
        universes = list(enumerate(self.finite))
        last = None if self.open is None else self.open[0]
        first = () if last is None or last not in (*self.goals, *self.wanted) else (last,)
        asked = [(goal, each) for goal in first for each in universes]
        asked += [(goal, each) for each in universes for goal in (*self.goals, *reversed(self.wanted))]
        for goal, (number, finite) in asked:
            found = self._kept(number, finite, goal)
            if not isinstance(found, set):
                return goal, found
        return None

    def reserve(self, chosen: Collection[ir.Expr]) -> dict[ir.Expr, Clause]:
        """What there is beside the chosen clauses; and what spreads, though it may follow in a small universe."""
        spread = {each.formula: each for each in spreading(self.proposals.machine) if each in self.proposals.unique}
        return {
            formula: each for formula, each in {**spread, **self.base, **self.wanted}.items() if formula not in chosen
        }

    def hold(self, clauses: Iterable[Clause]) -> bool:
        """Holds on to some clauses, though a small universe can do without them; whether there are any."""
        new = {each.formula: each for each in clauses if each.formula not in self.must}
        self.wanted.update(new)
        self.must.update(new)
        return bool(new)

    def deny(self, state: Structure, chosen: Collection[ir.Expr]) -> Clause | None:
        """Holds on to a clause that denies a state of a larger universe: one beside the chosen ones, or a new one.

        None where there is none.
        """
        at_hand = {formula: clause for formula, clause in {**self.base, **self.wanted}.items() if formula not in chosen}
        for clause in sorted(at_hand.values(), key=lambda each: each.weight):
            if self.proposals.refusal(clause.formula, (state,)) is not None:
                self.must[clause.formula] = clause
                return clause
        new = self._denial(state)
        while new is None and self.most_variables < self.limit and self.proposals.are_few(self.most_variables + 1):
            self.most_variables += 1
            new = self._denial(state)
        if new is not None:
            self.wanted[new.formula] = self.must[new.formula] = new
        return new

    def _denial(self, state: Structure) -> Clause | None:
        """A clause that is false in the state and true in all samples, and that no run refutes."""
        refused = 0
        while refused < REFUSALS:
            before = refused
            for denial in self._shortest(state):
                if not self._refuted(denial.clause):
                    return self._linked(self._general(self._of_what_is_possible(denial.clause, state)))
                refused += 1
            if refused == before:
                return None
        return None

    def _of_what_is_possible(self, clause: Clause, state: Structure) -> Clause:
        """The clause, or one that says the same of all that is still possible, not only of what is.

        Before anything says that what is has been possible, it need not deny the state.
        """
        for stronger in of_what_is_possible(clause, self.proposals.lost_instead):
            denies = self.proposals.refusal(stronger.formula, (state,)) is not None
            if denies and stronger.formula not in self.dead and not self._refuted(stronger):
                return stronger
        return clause

    def _general(self, clause: Clause) -> Clause:
        """The clause, or one that says more, and that no run makes false."""
        for general in generalized(clause, self.proposals.vocabulary.names):
            if general.formula not in self.dead and not self._refuted(general):
                return general
        return clause

    def _linked(self, clause: Clause) -> Clause:
        """The clause, or one that says more: of what there is by it, `exists y. ...`, that it is later than a message.

        Of several blocks one may go; the one after the message stays.
        """
        for stronger in linked(clause) if self.proposals.machine.delivery != "off" else ():
            if stronger.formula not in self.dead and not self._refuted(stronger):
                return stronger
        return clause

    def _shortest(self, state: Structure) -> Iterator[Denial]:
        """What arguments determine others, if that denies the state; or else the denials over the fewest variables, as
        the templates know them at first; a few of them."""
        for clause in self.proposals.unique:
            if clause.formula not in self.dead and self.proposals.refusal(clause.formula, (state,)) is not None:
                yield Denial(clause, 1, clause.weight)
                return
        for variables, denials in enumerate(self.proposals.denials(state, self.most_variables), 2):
            offered = [denial for denial in denials if self._is_offered(denial.clause)]
            if offered:
                offered.sort(key=lambda denial: not denial.clause.connected)
                yield from offered[: 1 if variables < MANY else AT_ONCE]
                return

    def fewest(self) -> dict[ir.Expr, Clause]:
        """What the goals need in small universes, without what turns out to be unnecessary; and all of `must`."""
        chosen = self._reached(None)
        cores = {key: used for key, used in self.cores.items() if key[1] in chosen or key[1] in self.goals}
        for formula in sorted(chosen, key=lambda each: -chosen[each].weight):
            if formula in self.must or formula not in chosen:
                continue
            own = [goal for goal in self.goals if not isinstance(goal, Precondition)]
            rest = [*self.assumed, *own, *(each for each in chosen if each != formula)]
            instead = self._instead(formula, cores, rest, again=True)
            if instead is not None:
                cores.update(instead)
                chosen = self._reached(cores)
                cores = {key: used for key, used in cores.items() if key[1] in chosen or key[1] in self.goals}
                self.note(f"{len(chosen)} conjuncts are enough in a small universe")
        return chosen

    def _instead(
        self,
        formula: ir.Expr,
        cores: Mapping[tuple[int, Goal], set[ir.Expr]],
        known: Sequence[ir.Expr],
        *,
        again: bool = False,
    ) -> dict[tuple[int, Goal], set[ir.Expr]] | None:
        """On what else all that rests on a formula can rest; None where something needs it."""
        found: dict[tuple[int, Goal], set[ir.Expr]] = {}
        for (number, user), used in cores.items():
            if formula in used and user != formula:
                instead = self._asked(self.finite[number], user, known, again=again)
                if not isinstance(instead, set):
                    return None
                found[number, user] = instead
        return found

    def _reached(self, cores: Mapping[tuple[int, Goal], set[ir.Expr]] | None) -> dict[ir.Expr, Clause]:
        """The clauses that the goals and `must` rest on, what these rest on, and all of `must`: by these cores, or by
        those of all that is known."""
        everything = {**self.base, **self.wanted}
        found: dict[ir.Expr, None] = dict.fromkeys(self.must)
        waiting: list[Goal] = [*self.goals, *self.must]
        while waiting:
            goal = waiting.pop()
            for number, finite in enumerate(self.finite):
                used = self._kept(number, finite, goal) if cores is None else cores[number, goal]
                assert isinstance(used, set)
                for each in everything:  # in one order, whatever the hash seed is
                    if each in used and each not in found:
                        found[each] = None
                        waiting.append(each)
        return {formula: everything[formula] for formula in found}
