"""Invariants of a link, found and then proved; or a run that the link forbids.

The stages: random runs of the protocol with its machine; clauses that are true in all of them, few kinds at first; what
the obligations of the link use of these, see `support`; the fewest. At the end the prover of links proves the link with
what was found, as it proves any other. Only what it proves is called proved.

A search that ends without an answer keeps its clauses. Another one begins with those that were enough, or else goes on
at the rank that the first one came to, without those that no proof was found of.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.proofs.infer.budget import Budget, OutOfTime
from thence.proofs.infer.candidates.naming import free_name
from thence.proofs.infer.links.alone import alone
from thence.proofs.infer.links.atoms import speaks_of
from thence.proofs.infer.links.candidates import (
    BETWEEN,
    PAIRS,
    RANKS,
    SEVERAL,
    Candidate,
    between_processes,
    candidates,
    equal_names,
    pairs_of_scenes,
    with_name,
)
from thence.proofs.infer.links.earlier import read_again
from thence.proofs.infer.links.numbers import numbers_of_processes
from thence.proofs.infer.links.rows import IS_ZERO, Rows, rows_of
from thence.proofs.infer.links.sampling import LinkSamples
from thence.proofs.infer.links.several import several_facts
from thence.proofs.infer.links.shown import wrong_without
from thence.proofs.infer.links.support import Resting, implied_clauses, support
from thence.proofs.infer.links.wider import own_entries, wider_facts
from thence.proofs.infer.search.inference import INTERRUPTED, PROOF_S, Aids, Note
from thence.proofs.infer.search.kept import Kept, digest
from thence.proofs.infer.search.outcome import Limits, Refuted
from thence.proofs.links.breaking import run_that_breaks
from thence.proofs.links.witness import says_nothing
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.obligations import consequences, obligations
from thence.proofs.refinement.premises import premises
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict
from thence.spec.words import counted

FEWEST = 0.6
"""Share of the time limit until which it is tried to do without single clauses."""

MOST = 400
"""So many clauses are tried at most; of more than these, the first of which no other one says more."""


FEW_PAIRS = 20
"""Fewer clauses of two facts are not tried alone, but together with those about two processes."""

SHORT_S = 10.0
"""So long a run that breaks the link is looked for in small scopes, at most: one that is shorter than the one that was
drawn, or one that was not drawn."""


SOON_MS = 1_000
"""Time limit for a question about a form of what was found that is not the last one, and about what is open."""


SHOWN_S = 10.0
"""So much processor time is taken, at most, to show what the invariants exclude."""


@dataclass(frozen=True, slots=True)
class Said:
    """An invariant that was found, its text, and what goes wrong without it, in words."""

    formula: ir.NamedFormula
    text: str
    without: str = ""

    @property
    def line(self) -> str:
        """The invariant as a line of a link."""
        return f"invariant {self.formula.name}: {self.text}"


@dataclass(frozen=True, slots=True)
class LinkInference:
    """What came out.

    Attributes:
        link: as it was searched, without what is hidden.
        conjuncts: what was found; proved together with the link if `proved`.
        refuted: a run that the link forbids.
        reason: why the link is not proved; empty where it is.
        text: the obligation that is open, and a state in which it fails, if one was found.
        seconds: how long it took by the clock; `processor_seconds`: that of processors, with the solvers'.
        facts: how many clauses of an earlier search still fit, if the search went on with one.
        kept: what another search can go on with; None where nothing is left to look for.
        interrupted: by the user, once all was proved: what some invariants exclude is not said.
    """

    link: ir.Link
    conjuncts: tuple[Said, ...] = ()
    refuted: Refuted | None = None
    reason: str = ""
    text: str = ""
    seconds: float = 0.0
    processor_seconds: float = 0.0
    facts: Mapping[str, int] = field(default_factory=dict)
    kept: Kept | None = None
    interrupted: bool = False

    @property
    def proved(self) -> bool:
        return not self.reason and self.refuted is None

    @property
    def rests_on(self) -> dict[str, object]:
        """Where it is proved, `where` and what it `assumes`, as of a verdict: see NOTE(premises)."""
        return premises(self.link).as_facts() if self.proved else {}


def without_invariants(link: ir.Link, names: Collection[str]) -> ir.Link:
    """The link without these of its invariants, or without any where `all` is named."""
    kept = (each for each in link.invariants if each.name not in names and "all" not in names)
    return replace(link, invariants=tuple(kept))


def promising_hints(
    session: ProofSession, link: ir.Link, names: Sequence[str], limits: Limits, note: Note
) -> tuple[str, ...] | None:
    """Those of the link's invariants that may be enough as hints; None where no guess was made within the limits.

    All clauses that are true in the samples are tried together with the invariants, and the invariants are used last.
    Nothing here proves anything: a set is enough once the link is proved with it. Raises: KeyboardInterrupt.
    """
    budget = Budget(limits.seconds)
    budget.count(lambda: session.pool.processor_s)
    session = replace(session, note=lambda *_: budget.check())
    search = _Search(session, without_invariants(link, names), limits, note, budget, Aids())
    try:
        with session.pool.watched(budget.look):
            return search.used_of([each for each in link.invariants if each.name in names])
    except (Unsupported, OutOfTime):
        return None


def as_kept(found: LinkInference) -> Kept:
    """A search that is settled, in the form in which another one begins with what it found, and proves it again."""
    return Kept(digest(found.link), False, -1, tuple(each.text for each in found.conjuncts), (), (), (), ())


def infer_link(
    session: ProofSession, link: ir.Link, limits: Limits, note: Note, aids: Aids | None = None
) -> LinkInference:
    """Looks for invariants with which the link is proved. Nobody is asked.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    started = time.monotonic()
    budget = Budget(limits.seconds)
    budget.count(lambda: session.pool.processor_s)
    search = _Search(replace(session, note=lambda *_: budget.check()), link, limits, note, budget, aids or Aids())
    search.note = search.aids.keeping.noting(note, search.kept)
    try:
        with session.pool.watched(budget.look):
            found = search.run()
    except Unsupported as reason:
        found = LinkInference(link, reason=str(reason))
    except OutOfTime as reason:
        found = search.partial(str(reason))
    except KeyboardInterrupt:
        found = search.partial(INTERRUPTED)
    return replace(
        found,
        seconds=time.monotonic() - started,
        processor_seconds=budget.spent,
        facts=search.facts,
        kept=None if found.proved or found.refuted is not None else search.kept(),
    )


def _short(link: ir.Link, drawn: str, seconds: float) -> str:
    """A shortest run that breaks the link in small scopes, as `prove` shows it; without one, the run that was drawn."""
    found = run_that_breaks(link, seconds)
    return f"this run breaks the link:\n{drawn}" if found.run is None else f"{found.said}\n\n{found.run.explanation}"


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What an earlier search left that still fits.

    Attributes:
        enough: clauses that were enough; empty where none were.
        wanted: clauses that proofs rested on.
        given_up: texts of clauses of which no proof was found at that rank.
        rank: that the search came to; all below were not enough.
    """

    enough: Mapping[Candidate, ir.Expr] = field(default_factory=dict)
    wanted: Mapping[Candidate, ir.Expr] = field(default_factory=dict)
    given_up: frozenset[str] = frozenset()
    rank: int = -1


@dataclass(slots=True)
class _Search:
    """One inference.

    Attributes:
        facts: how many clauses of an earlier search still fit, if there is one.
        _rank: of the clauses that are tried; -1: none so far.
        _tried: these clauses, in the order of their numbers.
        _resting: what is asked about them.
        _anew: whether what was enough for an earlier search is behind this one.
        _gone: texts of clauses of this rank that an earlier search gave up.
        _used: the clauses that proofs rest on; they are enough where nothing is `_open`.
        _alike: by the beginning of clauses, pairs of names that are always of one process there.
        _follows: by text, the clauses from which one follows; None where it was asked and none was found.
    """

    session: ProofSession
    link: ir.Link
    limits: Limits
    note: Note
    budget: Budget
    aids: Aids
    facts: dict[str, int] = field(default_factory=dict)
    _rank: int = -1
    _tried: tuple[Candidate, ...] = ()
    _resting: Resting | None = None
    _used: tuple[Candidate, ...] = ()
    _open: str = ""
    _enough: bool = False
    _anew: bool = False
    _gone: frozenset[str] = frozenset()
    _alike: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _follows: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def run(self) -> LinkInference:
        """What came out. Raises: Unsupported; OutOfTime."""
        self.note("random runs")
        samples = LinkSamples(self.link)
        samples.collect(self.limits.seed, self.budget.check)
        if samples.forbidden is not None:
            text = _short(self.link, samples.forbidden.text, min(SHORT_S, self.budget.left))
            return LinkInference(self.link, refuted=Refuted("the link", text))
        if not samples.size:
            return LinkInference(self.link, reason="no scope has a run in which the machine can run along")
        self.note("the machine")
        inductive = proved_set(self.session, self.link.machine)
        if inductive is None:
            return LinkInference(self.link, reason=f"nothing is proved of machine `{self.link.machine.name}`")
        known = tuple(each.formula for each in proved_conjuncts(self.link.machine, inductive))
        earlier = self._earlier(samples)
        if earlier.enough:
            found = self._attempt(known, inductive, earlier.enough, samples.size)
            if found is not None:
                return found
        self._anew = True
        told = {each.text for each in earlier.wanted}
        tried: dict[Candidate, ir.Expr] = {}
        simple = tried
        for rank in range(-1, RANKS):
            if rank >= 0:
                new = self._true(rank, samples)
                tried = tried | new if rank <= PAIRS else {**simple, **new, **tried}
                if rank == PAIRS and len(new) < FEW_PAIRS:
                    continue
            if rank < PAIRS:
                simple = tried
            if rank < earlier.rank:
                continue
            before = {each: tried[each] for each in self._used if each in tried}
            rest = {each: body for each, body in tried.items() if each.text not in told}
            first = {**earlier.wanted, **before, **rest}
            self._rank, self._gone = rank, earlier.given_up if rank == earlier.rank else frozenset()
            asked = {each: body for each, body in first.items() if each.text not in self._gone}
            found = self._attempt(known, inductive, asked, samples.size)
            if found is None and rank == 0:
                found = self._broken()
            if found is not None:
                return found
        return self._unproved(inductive, {each: first[each] for each in self._used})

    def used_of(self, hidden: Sequence[ir.NamedFormula]) -> tuple[str, ...] | None:
        """Those of these invariants that are used if all clauses come first; None where not even all are enough.

        Raises: Unsupported; OutOfTime.
        """
        self.note("which invariants are used")
        samples = LinkSamples(self.link)
        samples.collect(self.limits.seed, self.budget.check)
        inductive = proved_set(self.session, self.link.machine)
        if samples.forbidden is not None or not samples.size or inductive is None:
            return None
        known = tuple(each.formula for each in proved_conjuncts(self.link.machine, inductive))
        tried: dict[Candidate, ir.Expr] = {}
        for rank in range(RANKS):
            tried |= self._true(rank, samples)
        bodies = _most(tried).values()
        clauses = tuple(ir.NamedFormula(f"clause {at}", body) for at, body in enumerate(bodies))
        resting = support(
            self.session, self.link, known, (*clauses, *hidden), {}, frozenset(each.name for each in clauses)
        )
        if resting.open:
            return None
        for each in reversed(hidden):
            if each.name in resting.used:
                resting.do_without(each.name)
        return tuple(each.name for each in hidden if each.name in resting.used)

    def _attempt(
        self,
        known: tuple[ir.NamedFormula, ...],
        inductive: InductiveSet,
        tried: Mapping[Candidate, ir.Expr],
        states: int,
    ) -> LinkInference | None:
        """What came out, if these clauses are enough; None where something is open with them."""
        self.note(f"{counted(len(tried), 'clause')} that are true in {states} states")
        clauses = _most(tried)
        resting = self._support(known, clauses)
        self._note_used(resting, clauses)
        if resting.open:
            return None
        self._leave_out(resting, clauses)
        return self._confirmed(inductive, {each: clauses[each] for each in self._used})

    def _earlier(self, samples: LinkSamples) -> _Earlier:
        """What an earlier search kept, as far as it fits. Of an edited link, what was given up is tried again."""
        kept = self.aids.kept
        if kept is None:
            return _Earlier()
        same = kept.machine == digest(self.link)
        proposed = [each for rank in range(PAIRS) for each in candidates(self.link, rank)]
        clauses = read_again(self.link, (*kept.base, *kept.wanted), proposed)
        named = [ir.NamedFormula(each.text, body) for each, body in clauses.items()]
        true = samples.true_of_all(named, self.budget.check)
        fits = {each: body for each, body in clauses.items() if each.text in true and self._is_said(body)}
        self.facts["clauses"] = len(fits)
        enough = {each: body for each, body in fits.items() if kept.base}
        if not same:
            return _Earlier(enough, fits)
        return _Earlier(enough, fits, frozenset(kept.given_up), min(kept.variables, RANKS - 1))

    def kept(self) -> Kept | None:
        """What another search can go on with. Where this one came to nothing, it is as the earlier one left it."""
        if self._resting is None or not (self._anew or self._enough):
            return self.aids.kept
        link, resting = digest(self.link), self._resting
        if self._enough:
            return Kept(link, False, self._rank, tuple(each.text for each in self._used), (), (), (), ())
        dropped = [each.text for at, each in enumerate(self._tried) if f"clause {at}" in resting.dropped]
        wanted = [each.text for at, each in enumerate(self._tried) if f"clause {at}" in resting.used]
        before = [each.text for each in self._used if each.text not in (*wanted, *dropped)]
        if not (wanted or before) and self.aids.kept is not None:
            wanted = [*self.aids.kept.wanted]
        return Kept(link, False, self._rank, (), (*wanted, *before), (*sorted(self._gone), *dropped), (), ())

    def partial(self, reason: str) -> LinkInference:
        """Where the search was ended: the clauses that proofs rest on so far."""
        bodies = self._formulas([each.text for each in self._used])
        whole = {each: bodies[each.text] for each in self._used}
        text = f"open: {self._open}" if self._open else ""
        return LinkInference(self.link, self._named(self._merged(whole)), reason=reason, text=text)

    def _formulas(self, texts: Sequence[str]) -> dict[str, ir.Expr]:
        return link_formulas(self.link.protocol, self.link.machine, list(dict.fromkeys(texts)))

    def _true(self, rank: int, samples: LinkSamples) -> dict[Candidate, ir.Expr]:
        """The clauses of a rank that are true in all samples, and that the prover can say; of nothing, none is."""
        if rank < PAIRS:
            proposed = candidates(self.link, rank)
        elif rank == PAIRS:
            proposed = pairs_of_scenes(self.link, lambda prefix, facts: self._rows(prefix, facts, samples))
        elif rank == BETWEEN:
            proposed = between_processes(self.link, lambda texts: self._always(texts, samples)) + alone(self.link)
        elif rank == SEVERAL:
            proposed = several_facts(self.link, lambda prefix, facts: self._rows(prefix, facts, samples))
        else:
            proposed = numbers_of_processes(
                self.link, lambda prefix, facts, numbers: self._rows(prefix, facts, samples, numbers)
            )
            proposed += wider_facts(self.link, lambda prefix, facts: self._rows(prefix, facts, samples))
            proposed += tuple(own_entries(self.link))
        nothing = {each.prefix: f"{each.prefix}false" for each in proposed}
        bodies = self._formulas([*(each.text for each in proposed), *nothing.values()])
        named = [ir.NamedFormula(text, body) for text, body in bodies.items()]
        true = samples.true_of_all(named, self.budget.check)
        left = [each for each in proposed if each.text in true and nothing[each.prefix] not in true]
        left = self._said_once(left)
        return {each: bodies[each.text] for each in left if self._is_said(bodies[each.text])}

    def _said_once(self, clauses: Sequence[Candidate]) -> list[Candidate]:
        """The clauses without those that say the same as another one, since two names there are always of one process:
        where all packets go to the coordinator, as `q = coordinator` says, what is said of q is said of it."""
        for each in clauses:
            if (names := equal_names(each.atom)) is not None:
                self._alike.setdefault(each.prefix, []).append(names)
        texts = {each.text for each in clauses}
        return [
            each
            for each in clauses
            if not any(
                speaks_of(each.atom, again) and each.prefix + with_name(each.atom, again, name) in texts
                for name, again in self._alike.get(each.prefix, ())
            )
        ]

    def _always(self, texts: Sequence[str], samples: LinkSamples) -> frozenset[str]:
        """The formulas that are true in all states."""
        named = [ir.NamedFormula(text, body) for text, body in self._formulas(texts).items()]
        return samples.true_of_all(named, self.budget.check)

    def _rows(self, prefix: str, facts: Sequence[str], samples: LinkSamples, numbers: Sequence[str] = ()) -> Rows:
        """Which of these facts are true together behind this beginning, with these numbers."""
        said = [*facts, *(f"{each}{IS_ZERO}" for each in numbers)]
        formulas = self._formulas([f"{prefix}false", *(prefix + each for each in said)])
        return rows_of(prefix, facts, formulas, lambda body: samples.seen(body, self.budget.check), numbers)

    def _is_said(self, body: ir.Expr) -> bool:
        """Whether the prover of links has an encoding of the formula."""
        try:
            consequences(replace(self.link, invariants=(ir.NamedFormula("asked", body),)), ())
        except Unsupported:
            return False
        return True

    def _support(self, known: tuple[ir.NamedFormula, ...], clauses: Mapping[Candidate, ir.Expr]) -> Resting:
        formulas = [ir.NamedFormula(f"clause {at}", body) for at, body in enumerate(clauses.values())]
        implied: dict[str, frozenset[str]] = {}
        for formula, one in zip(formulas, clauses, strict=True):
            more = [each.name for each, other in zip(formulas, clauses, strict=True) if other.says_more_than(one)]
            if more:
                implied[formula.name] = frozenset(more)
        stronger = [each for each in formulas if each.name not in implied]
        implied |= self._following(known, stronger, {f"clause {at}": each.text for at, each in enumerate(clauses)})
        before = {each.text for each in self._used}
        first = frozenset(each.name for each, one in zip(formulas, clauses, strict=True) if one.text in before)
        self._tried, self._enough = tuple(clauses), False
        return support(self.session, self.link, known, formulas, implied, first, self._begun)

    def _following(
        self, known: tuple[ir.NamedFormula, ...], clauses: Sequence[ir.NamedFormula], texts: Mapping[str, str]
    ) -> dict[str, frozenset[str]]:
        """The clauses that follow from clauses before them. What was asked with fewer clauses is not asked again."""
        names = {texts[each.name]: each.name for each in clauses}
        places = {each.name: at for at, each in enumerate(clauses)}
        found: dict[str, frozenset[str]] = {}
        for text, name in names.items():
            others = self._follows.get(text)
            if others is not None and all(
                places.get(names.get(each, ""), len(places)) < places[name] for each in others
            ):
                found[name] = frozenset(names[each] for each in others)
        asked = {name for text, name in names.items() if text not in self._follows}
        new = implied_clauses(self.session, self.link, known, clauses, asked)
        for name in asked:
            self._follows[texts[name]] = frozenset(texts[each] for each in new[name]) if name in new else None
        return found | new

    def _begun(self, resting: Resting) -> None:
        self._resting = resting

    def _note_used(self, resting: Resting, clauses: Mapping[Candidate, ir.Expr]) -> None:
        self._open, self._enough = resting.open, not resting.open
        self._used = tuple(each for at, each in enumerate(clauses) if f"clause {at}" in resting.used)

    def _leave_out(self, resting: Resting, clauses: Mapping[Candidate, ir.Expr]) -> None:
        """One clause after the other that the link can do without, the last first, as long as there is time."""
        for at in reversed(range(len(clauses))):
            if f"clause {at}" in resting.used and self.budget.spent < FEWEST * self.limits.seconds:
                self.note(f"{len(self._used)} clauses are enough; without one of them")
                if resting.do_without(f"clause {at}"):
                    self._note_used(resting, clauses)

    def _confirmed(self, inductive: InductiveSet, clauses: Mapping[Candidate, ir.Expr]) -> LinkInference:
        """The proof of the link by the prover, with the first form of the clauses that is proved soon, or the last."""
        self.note("the proof")
        self.budget.seconds = max(self.budget.seconds, self.budget.spent + PROOF_S)
        *shorter, longest = self._forms(clauses)
        chosen = next((each for each in shorter if self._is_proved_soon(inductive, each)), longest)
        found = self._proof(inductive, chosen)
        return self._shown(inductive, found) if found.proved else found

    def _shown(self, inductive: InductiveSet, found: LinkInference) -> LinkInference:
        """What is proved, with what goes wrong without each invariant; nothing of those for which time is missing."""
        known = tuple(each.formula for each in proved_conjuncts(self.link.machine, inductive))
        link, shown = self._with(found.conjuncts), list(found.conjuncts)
        self.budget.seconds = min(self.budget.seconds, self.budget.spent + SHOWN_S)
        interrupted = False
        try:
            self.note("what each invariant excludes")
            for at, each in enumerate(found.conjuncts):
                shown[at] = replace(each, without=wrong_without(self.session, link, known, each.formula.name))
        except (OutOfTime, Unsupported, KeyboardInterrupt) as why:
            interrupted = isinstance(why, KeyboardInterrupt)
        return replace(found, conjuncts=tuple(shown), interrupted=interrupted)

    def _forms(self, clauses: Mapping[Candidate, ir.Expr]) -> list[list[tuple[Candidate, ir.Expr]]]:
        """The clauses as invariants: those with one beginning are one, or those without a quantifier inside are, or
        each is one. A loop keeps an invariant as a whole, or not at all."""
        plain = {each: body for each, body in clauses.items() if not _quantifies(each.atom)}
        apart = [(each, body) for each, body in clauses.items()]
        partly = [*self._merged(plain), *(each for each in apart if each[0] not in plain)]
        by_length = {len(each): each for each in (apart, partly, self._merged(clauses))}
        return [by_length[each] for each in sorted(by_length)]

    def _is_proved_soon(self, inductive: InductiveSet, clauses: Sequence[tuple[Candidate, ir.Expr]]) -> bool:
        known = tuple(each.formula for each in proved_conjuncts(self.link.machine, inductive))
        asked = obligations(self._with(self._named(clauses)), known)
        soon = self.session.within(SOON_MS).with_one_solver()
        return all(each.proved for each in soon.discharge(asked, look_for_models=False, groups=[""] * len(asked)))

    def _with(self, conjuncts: Sequence[Said]) -> ir.Link:
        """The link with these invariants, too."""
        return replace(self.link, invariants=(*self.link.invariants, *(each.formula for each in conjuncts)))

    def _proof(
        self, inductive: InductiveSet, clauses: Sequence[tuple[Candidate, ir.Expr]], most_ms: int | None = None
    ) -> LinkInference:
        """What the prover says of the link with these clauses, perhaps with at most this time for each question."""
        session = self.session if most_ms is None else self.session.within(most_ms)
        conjuncts = self._named(clauses)
        link = self._with(conjuncts)
        assessment = prove_link(session, link, inductive)
        if assessment.verdict is Verdict.PROVED and (nothing := says_nothing(link)) is not None:
            assessment = unknown(nothing, assessment.facts, assessment.text)
        if assessment.verdict is Verdict.PROVED:
            return LinkInference(self.link, conjuncts)
        return LinkInference(self.link, conjuncts, reason=_reason(assessment), text=assessment.text)

    def _broken(self) -> LinkInference | None:
        """A run of a small scope that breaks the link, if there is one that no random run was."""
        self.note("runs of small scopes")
        found = run_that_breaks(self.link, min(SHORT_S, self.budget.left))
        if found.run is None:
            return None
        return LinkInference(self.link, refuted=Refuted("the link", f"{found.said}\n\n{found.run.explanation}"))

    def _unproved(self, inductive: InductiveSet, clauses: Mapping[Candidate, ir.Expr]) -> LinkInference:
        """What is open with the clauses that are used so far, in the words of the prover."""
        self.budget.seconds = max(self.budget.seconds, self.budget.spent + PROOF_S)
        found = self._proof(inductive, self._merged(clauses), SOON_MS)
        return found if found.reason else replace(found, reason="the search did not confirm its own proof")

    def _merged(self, clauses: Mapping[Candidate, ir.Expr]) -> list[tuple[Candidate, ir.Expr]]:
        groups: dict[tuple[str, str], list[Candidate]] = {}
        for each in clauses:
            groups.setdefault((each.label, each.prefix), []).append(each)
        found = [Candidate(*beginning, _all_of(each)) for beginning, each in groups.items()]
        bodies = self._formulas([each.text for each in found])
        return [(each, bodies[each.text]) for each in found]

    def _named(self, clauses: Iterable[tuple[Candidate, ir.Expr]]) -> tuple[Said, ...]:
        taken = {*self.aids.taken, *(each.name for each in self.link.invariants)}
        found: list[Said] = []
        for each, body in clauses:
            name = free_name(each.label, taken)
            taken.add(name)
            found.append(Said(ir.NamedFormula(name, body), each.text))
        return tuple(found)


def _most(tried: Mapping[Candidate, ir.Expr]) -> dict[Candidate, ir.Expr]:
    """As many of the clauses as are tried, in their order."""
    if len(tried) <= MOST:
        return dict(tried)
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for each in tried:
        groups.setdefault((each.label, each.prefix), []).append(each)
    strong = [each for each in tried if not any(one.says_more_than(each) for one in groups[each.label, each.prefix])]
    return {each: tried[each] for each in strong[:MOST]}


def _quantifies(atom: str) -> bool:
    return any(word in atom for word in ("forall ", "exists ", "count "))


def _all_of(clauses: Sequence[Candidate]) -> str:
    """What all of them say; one alone needs no brackets around it."""
    if len(clauses) > 1:
        return " and ".join(each.atom for each in clauses)
    (one,) = clauses
    return one.bare


def _reason(assessment: Assessment) -> str:
    return str(assessment.facts["unknown"])
