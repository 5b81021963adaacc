"""Which of many clauses a link rests on: what its obligations use, what the proofs of that use, and so on.

Only what is used is asked about. A clause that is used and not proved to be kept is dropped, and what used it is asked
again without it. At the end the clauses that are left keep each other, and all else that is to be shown follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.proofs.infer.links.denying import Denial, denied
from thence.proofs.logic.mentions import Mentioned
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import Written, smt_text
from thence.proofs.refinement.following import Kept
from thence.proofs.refinement.obligations import consequences, due
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.lemmas import core_positions
from thence.proofs.solving.relevance import Choice, relevant
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Check

LIMIT_MS = 500
"""Time limit of the first solver for one obligation of a clause."""

IMPLIED = Choice(0.5, 3, 50)
"""Of which clauses a solver is asked, and for how long, whether another one follows from them."""

PATIENT_MS = 3_000
"""Time limit of each solver for what has to be shown without any clause."""

PATIENT_TIMES = 8
"""For so many obligations of clauses a proof is waited for as long, where no small state denies them."""

HASTY_MS = 150
"""Time limit of the first solver where it is tried to do without a clause."""

LITTLE_MS = 75
"""Time limit of the first solver for the question whether the clauses that proofs rest on so far are enough."""

MOST_BROUGHT = 12
"""A proof from all clauses, found at once, may bring in so many: of more, few are chosen by states."""

OF_SELF = " of self"
"""How the names of facts end that say of the process of a step what a clause says of all."""


def support(
    session: ProofSession,
    link: ir.Link,
    known: tuple[ir.NamedFormula, ...],
    clauses: Sequence[ir.NamedFormula],
    implied: Mapping[str, frozenset[str]],
    first: frozenset[str] = frozenset(),
    begun: Callable[[Resting], None] = lambda _resting: None,
) -> Resting:
    """Which of the clauses the link rests on, its own invariants among what is to be shown.

    Args:
        implied: clauses that follow from these others; they are left out as long as none of the others is dropped.
        first: clauses that proofs rest on if they can, before they rest on others.
        begun: is given what is asked about, before it is: an interrupt finds there what is known so far.

    Raises: Unsupported.
    """
    left = tuple(clauses)
    while True:
        own = replace(link, invariants=(*link.invariants, *left))
        found = Resting(session, own, known, frozenset(each.name for each in left), implied, first)
        begun(found)
        found.settle()
        if found.open or len(found.used) == len(left):
            return found
        left, implied = tuple(each for each in left if each.name in found.used), {}


def implied_clauses(
    session: ProofSession,
    link: ir.Link,
    known: tuple[ir.NamedFormula, ...],
    clauses: Sequence[ir.NamedFormula],
    asked: Collection[str],
) -> dict[str, frozenset[str]]:
    """Of the clauses named in `asked`, those that follow from clauses before them, with those that the proof uses.

    The question is about what concerns a clause only, see NOTE(relevant), and one moment long: most do not follow, and
    a clause too many costs little. Raises: Unsupported.
    """
    own = replace(link, invariants=(*link.invariants, *clauses))
    all_ = consequences(own, known)[len(link.invariants) :]
    wanted = [each for each in all_ if each.name in asked and not each.by_frame]
    mentioned = Mentioned()
    smaller = [each.with_only(relevant(each, IMPLIED, mentioned)) for each in wanted]
    options, written = session.options, Written()
    questions = [
        Check.within(
            options.solvers[0],
            smt_text(each, named=True, written=written),
            IMPLIED.limit_ms,
            options.seed,
            core="first",
        )
        for each in smaller
    ]
    names = frozenset(each.name for each in clauses)
    found = {each.name: frozenset({_same(each)}) for each in all_ if each.name in asked and each.by_frame}
    for at, answer in session.pool.answers([replace(each, only_refute=True) for each in questions]):
        if answer.status == "unsat":
            used = (smaller[at].hypotheses[position].name for position in core_positions(smaller[at], answer.core))
            found[smaller[at].name] = names.intersection(used)
    return {name: used & names for name, used in found.items()}


def _same(obligation: Obligation) -> str:
    """The hypothesis that says what the goal says."""
    return next(each.name for each in obligation.hypotheses if each.body == obligation.goal.body)


def used_in(session: ProofSession, done: Sequence[Discharge]) -> list[frozenset[str]]:
    """The names of the hypotheses that each of these proofs uses.

    Where the solver did not say so when it proved it, it is asked once more; about all of these at a time.
    """
    found: dict[int, frozenset[str]] = {}
    for at, each in enumerate(done):
        if each.obligation.by_frame:
            found[at] = frozenset({_same(each.obligation)})
        elif used := _said_of_use(each):
            found[at] = used
    left, written = [at for at in range(len(done)) if at not in found], Written()
    limit_ms, seed = min(LIMIT_MS, session.options.timeout_ms), session.options.seed
    texts = [smt_text(done[at].obligation, named=True, written=written) for at in left]
    asked = [
        Check.within(done[at].prover, text, limit_ms, seed, core="first") for at, text in zip(left, texts, strict=True)
    ]
    for number, answer in session.pool.answers([replace(each, only_refute=True) for each in asked]):
        hypotheses = done[left[number]].obligation.hypotheses
        known = core_positions(done[left[number]].obligation, answer.core)
        positions = known if answer.status == "unsat" else tuple(range(len(hypotheses)))
        found[left[number]] = frozenset(hypotheses[position].name for position in positions)
    return [found[at] for at in range(len(done))]


def _said_of_use(done: Discharge) -> frozenset[str]:
    """The names of the hypotheses that a proof uses, where the solver said so; else none."""
    core = next((each.core for each in done.answers.values() if each.status == "unsat" and each.core), ())
    return frozenset(done.obligation.hypotheses[at].name for at in core_positions(done.obligation, core))


class Resting:
    """What a link rests on.

    Attributes:
        used: the clauses that proofs rest on, by name.
        dropped: the clauses that are not proved to be kept, by name.
        open: an obligation that is not proved with all that are left; empty where there is none.
    """

    def __init__(
        self,
        session: ProofSession,
        link: ir.Link,
        known: tuple[ir.NamedFormula, ...],
        names: frozenset[str],
        implied: Mapping[str, frozenset[str]],
        first: frozenset[str] = frozenset(),
    ) -> None:
        self.used: frozenset[str] = frozenset()
        self._first = first
        self.open = ""
        self._session = session
        self._names = names
        self._due = due(link, known)
        self._made: dict[int, Obligation] = {}
        kept = [each.claim.invariant.name if isinstance(each.claim, Kept) else "" for each in self._due]
        self._owners = [name if name in names else "" for name in kept]
        self.dropped: set[str] = set()
        self._implied = dict(implied)
        self._uses: dict[int, frozenset[str]] = {}
        self._patience = PATIENT_TIMES

    def settle(self) -> None:
        """Asks until all that is needed is proved, or something is open."""
        self._settle()

    def do_without(self, name: str) -> bool:
        """Whether the link rests on the other clauses alone; if so, it does from now on.

        What used this clause is proved from others that are used already, or it is needed: it is not tried to do
        without what used it, too.
        """
        before = self.used, self.dropped.copy(), self._uses
        self._drop(name)
        if self._rests_on_the_others(self.used - {name}):
            self.used = self._needed() - {""}
            return True
        self.used, self.dropped, self._uses = before
        return False

    def _rests_on_the_others(self, names: frozenset[str]) -> bool:
        wanted = [at for at, owner in enumerate(self._owners) if owner in {"", *names} and at not in self._uses]
        asked = [self._with(self._obligation(at), names) for at in wanted]
        quick = self._session.within(HASTY_MS).with_one_solver()
        done = quick.discharge(asked, look_for_models=False, groups=[""] * len(asked), core="first")
        if not all(each.proved for each in done):
            return False
        self._learn(dict(zip(wanted, done, strict=True)))
        return True

    def _settle(self) -> None:
        self.open = ""
        while True:
            needed = self._needed()
            self.used = needed - {""}
            wanted = [at for at, owner in enumerate(self._owners) if owner in needed and at not in self._uses]
            if self.open or not wanted:
                return
            hard = [at for at in wanted if not self._owners[at]]
            asked = hard or wanted
            answered = dict(zip(asked, self._asked(asked), strict=True))
            self._learn({at: done for at, done in answered.items() if done.proved})
            for at, done in answered.items():
                if done.proved:
                    continue
                if self._owners[at]:
                    self._drop(self._owners[at])
                else:
                    self.open = self.open or done.obligation.name

    def _learn(self, proved: Mapping[int, Discharge]) -> None:
        """What these proofs use."""
        hypotheses = {at: [one.name for one in each.obligation.hypotheses] for at, each in proved.items()}
        about_clauses = {at: each for at, each in proved.items() if self._clauses_among(hypotheses[at])}
        self._uses |= dict.fromkeys(proved.keys() - about_clauses.keys(), frozenset())
        for at, names in zip(about_clauses, used_in(self._session, list(about_clauses.values())), strict=True):
            self._uses[at] = self._clauses_among(names)

    def _clauses_among(self, hypotheses: Iterable[str]) -> frozenset[str]:
        """The clauses that some hypotheses say."""
        return frozenset(map(self._clause, hypotheses)) - {""}

    def _needed(self) -> frozenset[str]:
        """The link itself, under "", and the clauses that the proofs so far rest on."""
        needed, new = {""}, {""}
        while new:
            using = {name for at, names in self._uses.items() if self._owners[at] in new for name in names}
            new = using - needed
            needed |= new
        return frozenset(needed)

    def _drop(self, name: str) -> None:
        self.dropped.add(name)
        self._implied = {each: others for each, others in self._implied.items() if name not in others}
        self._uses = {at: names for at, names in self._uses.items() if name not in names}

    def _asked(self, numbers: Sequence[int]) -> Sequence[Discharge]:
        """What became of these obligations with the clauses that proofs rest on so far, if that is enough, or with all.

        So a proof brings in another clause only where it has to: each one has to be kept, too, and few hypotheses make
        short proofs.
        """
        few = self.used | self._first
        done = dict(zip(numbers, self._asked_with(numbers, few, LITTLE_MS), strict=True))
        left: dict[int, Denial] = {}
        rest = [at for at in numbers if not done[at].proved]
        for at, found in zip(rest, self._asked_with(rest, self._names, LITTLE_MS), strict=True):
            brought = self._clauses_among(_said_of_use(found))
            if found.proved and brought and len(brought - few) <= MOST_BROUGHT:
                done[at] = found
                few |= brought
        for at in [at for at in rest if not done[at].proved]:
            whole = self._with(self._obligation(at), self._names)
            denial = denied(self._session, whole, self._clause, few)
            if denial.done is not None and denial.done.proved:
                done[at] = denial.done
                few |= denial.chosen
            elif not denial.is_open:
                left[at] = denial
            elif not self._owners[at]:
                return [done[at] for at in numbers]  # one that is open is enough to know that more clauses are needed
        done |= zip(left, self._asked_with(list(left), self._names, LIMIT_MS), strict=True)
        for at, denial in left.items():
            if not done[at].proved:
                done[at] = self._patiently(at, denial, done[at])
                if not done[at].proved and not self._owners[at]:
                    break
        return [done[at] for at in numbers]

    def _patiently(self, number: int, denial: Denial, asked: Discharge) -> Discharge:
        """What becomes of an obligation, of which nothing is known so far, if it is waited for.

        A few clauses that deny all small states are likely to be enough. A clause is waited for only a few times.
        """
        if self._owners[number]:
            if denial.done is None or not self._patience:
                return asked
            self._patience -= 1
        patient = self._session.within(PATIENT_MS)
        few = asked.obligation if denial.done is None else denial.done.obligation
        for each in (few,) if self._owners[number] or few is asked.obligation else (few, asked.obligation):
            (asked,) = patient.discharge([each], look_for_models=False, groups=[""])
            if asked.proved:
                break
        return asked

    def _asked_with(self, numbers: Sequence[int], names: frozenset[str], limit_ms: int) -> Sequence[Discharge]:
        """What the first solver says of the obligations with these clauses as hypotheses."""
        asked = [self._with(self._obligation(at), names) for at in numbers]
        groups = [self._owners[at] or f"#{at}" for at in numbers]
        quick = self._session.within(limit_ms).with_one_solver()
        return quick.discharge(asked, look_for_models=False, groups=groups, core="first")

    def _obligation(self, number: int) -> Obligation:
        """The obligation with this number, made when it is asked about for the first time."""
        if number not in self._made:
            self._made[number] = self._due[number].claimed().obligation
        return self._made[number]

    def _with(self, obligation: Obligation, names: frozenset[str]) -> Obligation:
        """The obligation with these of the clauses, without those that are dropped, or follow from others."""
        gone = (self._names - names) | self.dropped | self._implied.keys()
        kept = [at for at, each in enumerate(obligation.hypotheses) if self._clause(each.name) not in gone]
        return obligation.with_only(kept)

    def _clause(self, hypothesis: str) -> str:
        """The clause that a hypothesis says, or nothing."""
        name = hypothesis.removesuffix(OF_SELF)
        return name if name in self._names else ""
