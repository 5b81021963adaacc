"""Which of many clauses a link rests on: what its obligations use, what the proofs of that use, and so on.

Only what is used is asked about. A clause that is used and not proved to be kept is dropped, and what used it is asked
again without it. At the end the clauses that are left keep each other, and all else that is to be shown follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.proofs.logic.obligation import Obligation
from thence.proofs.refinement.following import Kept
from thence.proofs.refinement.obligations import claims, consequences
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.lemmas import core_positions
from thence.proofs.solving.session import ProofSession

LIMIT_MS = 500
"""Time limit of the first solver for one obligation of a clause."""

IMPLIED_MS = 100
"""Time limit of the first solver for the question whether a clause follows from those before it."""

PATIENT_MS = 3_000
"""Time limit of each solver for what has to be shown without any clause."""

HASTY_MS = 150
"""The same where it is tried to do without a clause."""

OF_SELF = " of self"
"""How the names of facts end that say of the process of a step what a clause says of all."""


def support(
    session: ProofSession,
    link: ir.Link,
    known: tuple[ir.NamedFormula, ...],
    clauses: Sequence[ir.NamedFormula],
    implied: Mapping[str, frozenset[str]],
    begun: Callable[[Resting], None] = lambda _resting: None,
) -> Resting:
    """Which of the clauses the link rests on, its own invariants among what is to be shown.

    Args:
        implied: clauses that follow from these others; they are left out as long as none of the others is dropped.
        begun: is given what is asked about, before it is: an interrupt finds there what is known so far.

    Raises: Unsupported.
    """
    left = tuple(clauses)
    while True:
        own = replace(link, invariants=(*link.invariants, *left))
        found = Resting(session, own, known, frozenset(each.name for each in left), implied)
        begun(found)
        found.settle()
        if found.open or len(found.used) == len(left):
            return found
        left, implied = tuple(each for each in left if each.name in found.used), {}


def implied_clauses(
    session: ProofSession, link: ir.Link, known: tuple[ir.NamedFormula, ...], clauses: Sequence[ir.NamedFormula]
) -> dict[str, frozenset[str]]:
    """The clauses that follow from those before them, with those that the proof uses. Raises: Unsupported."""
    own = replace(link, invariants=(*link.invariants, *clauses))
    asked = consequences(own, known)[len(link.invariants) :]
    done = session.within(IMPLIED_MS).with_one_solver().discharge(asked, look_for_models=False)
    names = frozenset(each.name for each in clauses)
    return {each.obligation.name: used_in(session, each) & names for each in done if each.proved}


def used_in(session: ProofSession, done: Discharge) -> frozenset[str]:
    """The names of the hypotheses that a proof uses."""
    obligation = done.obligation
    if obligation.by_frame:
        return frozenset({next(each.name for each in obligation.hypotheses if each.body == obligation.goal.body)})
    core = next((each.core for each in done.answers.values() if each.status == "unsat" and each.core), ())
    if positions := core_positions(obligation, core):
        return frozenset(obligation.hypotheses[at].name for at in positions)
    (asked,) = session.within(PATIENT_MS).silent().cores([done])
    return frozenset(asked.used if asked.used is not None else (each.name for each in obligation.hypotheses))


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
    ) -> None:
        self.used: frozenset[str] = frozenset()
        self.open = ""
        self._session = session
        self._names = names
        self._obligations: list[Obligation] = []
        self._owners: list[str] = []
        for each in claims(link, known):
            kept = each.claim.invariant.name if isinstance(each.claim, Kept) else ""
            self._obligations.append(each.obligation)
            self._owners.append(kept if kept in names else "")
        self.dropped: set[str] = set()
        self._implied = dict(implied)
        self._uses: dict[int, frozenset[str]] = {}

    def settle(self) -> None:
        """Asks until all that is needed is proved, or something is open."""
        self._settle(patient=True)

    def do_without(self, name: str) -> bool:
        """Whether the link rests on clauses without this one; if so, it does from now on."""
        before = self.used, self.dropped.copy(), self._uses
        self._drop(name)
        self._settle(patient=False)
        if self.open:
            self.used, self.dropped, self._uses = before
            self.open = ""
            return False
        return True

    def _settle(self, *, patient: bool) -> None:
        self.open = ""
        while True:
            needed = self._needed()
            self.used = needed - {""}
            wanted = [at for at, owner in enumerate(self._owners) if owner in needed and at not in self._uses]
            if self.open or not wanted:
                return
            hard = [at for at in wanted if not self._owners[at]]
            for at, done in zip(hard or wanted, self._asked(hard or wanted, patient=patient), strict=True):
                if done.proved:
                    self._uses[at] = self._used(done)
                elif self._owners[at]:
                    self._drop(self._owners[at])
                else:
                    self.open = self.open or done.obligation.name

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

    def _asked(self, numbers: Sequence[int], *, patient: bool) -> Sequence[Discharge]:
        obligations = [self._without_dropped(self._obligations[at]) for at in numbers]
        groups = [self._owners[at] or f"#{at}" for at in numbers]
        quick = self._session.within(LIMIT_MS if patient else HASTY_MS).with_one_solver()
        done = list(quick.discharge(obligations, look_for_models=False, groups=groups))
        left = [at for at, each in enumerate(done) if not each.proved and not self._owners[numbers[at]]]
        if patient and left:
            longer = self._session.within(PATIENT_MS)
            again = longer.discharge([obligations[at] for at in left], look_for_models=False)
            for at, each in zip(left, again, strict=True):
                done[at] = each
        return done

    def _without_dropped(self, obligation: Obligation) -> Obligation:
        gone = self.dropped | self._implied.keys()
        kept = [at for at, each in enumerate(obligation.hypotheses) if self._clause(each.name) not in gone]
        return obligation.with_only(kept)

    def _clause(self, hypothesis: str) -> str:
        """The clause that a hypothesis says, or nothing."""
        name = hypothesis.removesuffix(OF_SELF)
        return name if name in self._names else ""

    def _used(self, done: Discharge) -> frozenset[str]:
        """The clauses that a proof uses."""
        return frozenset(self._clause(name) for name in used_in(self._session, done)) - {""}
