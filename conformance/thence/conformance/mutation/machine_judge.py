"""Mutants of a machine: killed when a statement about the machine is not provable of them.

A mutant differs from its machine in one transition. The other transitions keep the invariants as before, so it is
enough to ask about that one: whether it keeps each conjunct, and whether it can happen. A conjunct that it does not
keep is not always false in some run: the mutant is killed because the proof fails, as it would for a user who wrote
it. A mutant that keeps every conjunct may be too strong: then the protocol's events are not enabled in it, which the
link shows, or a formula is no longer reachable, or no longer refuted, against its statement.

The cheap questions come first: all conjuncts together, over small universes; then all together by a solver; and one by
one only where that leaves it open.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.linked import LinkedScope, linked_scopes
from thence.dsl import ir
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK, is_about_steps, starving_transition
from thence.dsl.ir.types import BOOL
from thence.proofs.logic.formula import Unsupported, conj, equal, forall, implies, local, negation
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import evaluate
from thence.proofs.machine.goals import Falsification, Firing, Goal, reaching
from thence.proofs.machine.inductive_set import InductiveSet, inductive_set
from thence.proofs.machine.obligations import conjuncts, delivered_once, impossible, preservations, signature_of
from thence.proofs.machine.prover import statement_formula, stating
from thence.proofs.machine.reachability import search
from thence.proofs.machine.steps.first import first_of_steps
from thence.proofs.machine.steps.leads_to import leads_to_obligations, progress, pursuit
from thence.proofs.machine.steps.prover import prove_steps, step_goals, step_statements, waiting_for
from thence.proofs.machine.steps.starvation import starvation_obligations
from thence.proofs.machine.steps.statements import stable_obligations
from thence.proofs.machine.transitions import Action, actions, after, symbols
from thence.proofs.prove import expected_names
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.finite_models import Model, negated_obligation
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

FAST: Final = Options(timeout_ms=3_000, solvers=("z3",), workers=1)
"""One solver, and little time: a mutant that is not settled by then is undecided."""

QUICK_MS: Final = 300
"""The solver's time for a question that may be put in another way."""

UNIVERSES: Final = tuple(
    {"message": messages, "process": processes} for messages in (1, 2, 3) for processes in (1, 2, 3)
)
"""Universes that are searched for steps that break a conjunct."""

LARGER: Final = tuple(
    {"message": messages, "process": processes} for messages, processes in ((4, 3), (5, 3), (2, 4), (3, 4))
)
"""Universes that are searched next, one by one, if the solver does not decide."""

ONCE: Final = "at_most_once"


@dataclass(frozen=True, slots=True)
class MachineBaseline:
    """The baseline of a machine.

    Attributes:
        machine: it, with what is expected of it under `prove`.
        kept: names of the conjuncts that are proved of it.
        steps: names of what is proved of its steps: stable formulas, and freedom from starvation and deadlock.
        shown: names of what a run shows: reachable formulas, and what is expected to be refuted.
        lost: what is stated and not established with little time; nothing is asked about it.
        linked: where the events of linked protocols are enabled in it.
    """

    machine: ir.Machine
    kept: frozenset[str]
    steps: frozenset[str]
    shown: frozenset[str]
    lost: frozenset[str]
    linked: tuple[LinkedScope, ...]


def machine_baseline(
    pool: SolverPool, specification: ir.Specification, machine: ir.Machine, options: Options = FAST
) -> MachineBaseline:
    """Proves the machine. Raises: Unsupported, CrossCheckError."""
    session = ProofSession(pool, options)
    found = inductive_set(session, machine)
    kept = frozenset((*found.members, *found.consequences)).difference(found.fallen)
    if ONCE in machine.prove:
        facts = [conjunct for conjunct in conjuncts(machine) if conjunct.name in kept]
        (once,) = session.discharge((delivered_once(machine, facts),))
        kept |= {ONCE} if once.proved else frozenset()
    about_steps = [name for name in step_statements(machine) if name not in _reachable(machine)]
    proofs = prove_steps(session, machine, about_steps, found)
    steps = frozenset(name for name, assessment in proofs.items() if assessment.verdict is Verdict.PROVED)
    stated = stating(machine, expected_names(machine.expects))
    to_show = {*_reachable(machine), *_expected_refuted(machine)}
    shown = frozenset(to_show - _missing(session, stated, to_show).keys())
    stated_of_it = {*machine.prove, *found.fallen, *about_steps, *to_show}
    own = [link for link in specification.links if link.machine.name == machine.name]
    linked = tuple(scope for link in own for scope in linked_scopes(link))
    return MachineBaseline(stated, kept, steps, shown, frozenset(stated_of_it - kept - steps - shown), linked)


def _reachable(machine: ir.Machine) -> frozenset[str]:
    return frozenset(formula.name for formula in machine.reachable)


def _expected_refuted(machine: ir.Machine) -> frozenset[str]:
    return frozenset(name for expect in machine.expects if expect.verdict == "refuted" for name in expect.names)


def _missing(
    session: ProofSession,
    machine: ir.Machine,
    names: Collection[str],
    also: Mapping[str, Goal] | None = None,
) -> dict[str, str]:
    """Those of what runs are to show that no run shows: why, and "" where the search was not given up."""
    goals: dict[str, Goal] = dict(also or {})
    owner = {name: name for name in goals}
    for name in sorted(names):
        for number, goal in enumerate(_goals(session, machine, name)):
            goals[f"{name} {number}"] = goal
            owner[f"{name} {number}"] = name
    if not goals:
        return {}
    searched = search(session, machine, goals)
    reached = {owner[key] for key in searched.runs}
    return {name: searched.unknown for name in dict.fromkeys(owner.values()) if name not in reached}


def _goals(session: ProofSession, machine: ir.Machine, name: str) -> tuple[Goal, ...]:
    reachable = {formula.name: formula for formula in machine.reachable}
    if name in reachable:
        return (reaching(reachable[name]),)
    if is_about_steps(name) or name in step_statements(machine):
        return step_goals(session, machine, name)
    return (Falsification(statement_formula(machine, name)),)


def judge_machine(pool: SolverPool, known: MachineBaseline, mutated: ir.Machine, options: Options = FAST) -> Fate:
    """The fate of a mutant of the machine, of which the transitions count. Raises: CrossCheckError."""
    changed = tuple(
        transition.name
        for transition, before in zip(mutated.transitions, known.machine.transitions, strict=True)
        if transition != before
    )
    assert changed, "a mutant differs in a transition"
    try:
        session = ProofSession(pool, options)
        return _Trial(session, known, replace(known.machine, transitions=mutated.transitions), changed).fate()
    except Unsupported as reason:
        return Fate("undecided", str(reason))


class _Trial:
    """One mutant, and the questions about it."""

    def __init__(
        self, session: ProofSession, known: MachineBaseline, mutated: ir.Machine, changed: tuple[str, ...]
    ) -> None:
        self._session = session
        self._quick = session.within(QUICK_MS)
        self._known = known
        self._mutated = mutated
        self._changed = changed
        self._facts = [conjunct for conjunct in conjuncts(mutated) if conjunct.name in known.kept]
        self._open: list[str] = []
        self._happened: set[str] = set()

    def fate(self) -> Fate:
        asked = [
            each.obligation
            for each in preservations(self._mutated, self._facts, self._facts)
            if each.action is not None and each.action.name in self._changed and not each.obligation.by_frame
        ]
        if "deliver" in self._changed and ONCE in self._known.kept:
            asked.append(delivered_once(self._mutated, self._facts))
        whole = None if not asked else _together(asked)
        if whole is not None and (broken := self._broken(whole, asked)) is not None:
            return Fate("killed", f"not provable: {broken}, a finite countermodel exists")
        proved = whole is None or self._proved(whole, self._quick)
        for name in self._changed:
            never = impossible(self._mutated, _action(self._mutated, name), self._facts)
            if self._proved(never, self._quick):
                return Fate("killed", f"vacuity: {name} can never happen")
        if all(self._equivalent(name) for name in self._changed):
            return self._steps() or self._unlinked() or self._equal()
        found = None if proved else self._one_by_one(asked)
        return found or self._steps() or self._unlinked() or self._shown() or self._rest()

    def _equal(self) -> Fate:
        if self._open:
            return Fate("undecided", self._open[0])
        does = f"{' and '.join(self._changed)} {'does' if len(self._changed) == 1 else 'do'}"
        return Fate("equal", f"{does} the same in every state that satisfies the invariants, or nothing: proved by Z3")

    def _rest(self) -> Fate:
        if self._open:
            return Fate("undecided", self._open[0])
        return Fate("survived", "everything stated is proved of it as well")

    def _broken(
        self, whole: Obligation, parts: Sequence[Obligation], sizes: Sequence[Mapping[str, int]] = UNIVERSES
    ) -> str | None:
        """The obligations that a step over a small universe refutes."""
        try:
            found = self._session.find_model(negated_obligation(whole), sizes, least=False).model
        except Unsupported:
            return None
        return None if found is None else _false_in(found, parts)

    def _proved(self, obligation: Obligation, session: ProofSession) -> bool:
        (found,) = session.discharge((obligation,), look_for_models=False)
        return found.proved

    def _one_by_one(self, asked: Sequence[Obligation]) -> Fate | None:
        """Killed by an obligation that fails by itself; those that are not settled are noted."""
        left = []
        for obligation in asked:
            (found,) = self._quick.discharge((obligation,), look_for_models=False)
            if found.satisfiable:
                return Fate("killed", f"not provable: {obligation.name}, a solver has a countermodel")
            if not found.proved:
                left.append(obligation)
        for obligation in left:
            (found,) = self._session.discharge((obligation,))
            if found.failed or found.satisfiable:
                return Fate("killed", f"not provable: {obligation.name}, a countermodel exists")
            if not found.proved and self._broken(obligation, (obligation,), LARGER) is not None:
                return Fate("killed", f"not provable: {obligation.name}, a finite countermodel exists")
            if not found.proved:
                self._open.append(f"{obligation.name}: {found.reason}")
        return None

    def _steps(self) -> Fate | None:
        """The statements about steps: stable formulas and starvation by their obligations, deadlock by its proof."""
        for name in sorted(self._known.steps - {WITHOUT_DEADLOCK}):
            asked = self._about_steps(name)
            if not asked or self._proved(_together(asked), self._quick):
                continue
            if (broken := self._broken(_together(asked), asked)) is not None:
                return Fate("killed", f"not provable: {name}: {broken}, a finite countermodel exists")
            unsettled = len(self._open)
            if (found := self._one_by_one(asked)) is not None:
                return Fate("killed", f"{found.reason} ({name})")
            self._open[unsettled:] = [f"{name}: {reason}" for reason in self._open[unsettled:]]
        if WITHOUT_DEADLOCK in self._known.steps:
            members = InductiveSet({conjunct.name: () for conjunct in self._facts}, {}, {})
            asked_of = (WITHOUT_DEADLOCK,)
            assessment = prove_steps(self._session, self._mutated, asked_of, members)[WITHOUT_DEADLOCK]
            if assessment.verdict is Verdict.REFUTED:
                return Fate("killed", f"{WITHOUT_DEADLOCK} is refuted by a run")
            if assessment.verdict is not Verdict.PROVED:
                self._open.append(f"{WITHOUT_DEADLOCK}: not proved")
        return None

    def _about_steps(self, name: str) -> list[Obligation]:
        """The obligations of a statement that the changed transition has a part in."""
        transition = starving_transition(name)
        eventual = next((each for each in self._mutated.eventually if each.name == name), None)
        if eventual is not None:
            claim = pursuit(self._mutated, eventual)
            first, _ = first_of_steps(self._session, self._mutated, claim, self._facts)
            asked = leads_to_obligations(self._mutated, claim, self._facts)
            return [*(each for each in asked if not each.by_frame), progress(self._mutated, claim, first, self._facts)]
        if transition is None:
            stable = next(each for each in self._mutated.stable if each.formula.name == name)
            asked = stable_obligations(self._mutated, stable, self._facts)
        else:
            state, _ = waiting_for(self._session, self._mutated, transition)
            asked = starvation_obligations(self._mutated, state, self._facts)
        own = transition in self._changed
        prefixes = tuple(f"{name} " for name in self._changed)
        return [each for each in asked if (own or each.name.startswith(prefixes)) and not each.by_frame]

    def _unlinked(self) -> Fate | None:
        for scope in self._known.linked:
            tried = scope.tried(self._mutated, self._changed)
            if tried.broken is not None:
                link = scope.follow.link
                return Fate("killed", f"link of {link.protocol.name}: an event is not enabled {tried.broken}")
            self._happened |= tried.happened
        return None

    def _shown(self) -> Fate | None:
        """What runs of the machine show, and whether the transitions happen in one, if they are no events of a link."""
        also = {f"{name} happens": Firing(name) for name in self._changed if name not in self._happened}
        missing = _missing(self._session, self._mutated, self._known.shown, also)
        for name, gave_up in missing.items():
            if not gave_up:
                what = "reachable" if name in _reachable(self._mutated) or name in also else "expected to be refuted"
                return Fate("killed", f"{what}: {name}: no run shows it any more")
        for name, gave_up in missing.items():
            if name in _reachable(self._mutated) and self._never(name):
                return Fate("killed", f"reachable: {name}: false in every reachable state, by induction")
            self._open.append(f"{name}: the search for a run gave up: {gave_up}")
        return None

    def _never(self, name: str) -> bool:
        """Whether a formula that is stated to be reachable is proved to be false in every reachable state."""
        members = InductiveSet({conjunct.name: () for conjunct in self._facts}, {}, {})
        assessment = prove_steps(self._session, self._mutated, (name,), members)[name]
        return assessment.verdict is Verdict.REFUTED

    def _equivalent(self, name: str) -> bool:
        """Whether the transition has the same effect in both, where the conjuncts are true and it is enabled in both,
        and no effect where it is enabled in one of them only.

        The conjuncts are true in every reachable state of the machine, so that the mutant, by induction over its runs,
        reaches the same states, by the same steps, apart from steps that change nothing. Statements about steps, and
        links, see whether those can be taken.
        """
        machine = self._known.machine
        before, now = _action(machine, name), _action(self._mutated, name)
        goals: list[ir.Expr] = []
        by_name = {symbol.name: symbol for symbol in symbols(machine)}
        both, old_only = conj((before.guard, now.guard)), conj((before.guard, negation(now.guard)))
        new_only = conj((now.guard, negation(before.guard)))
        for changed in sorted(before.changed | now.changed):
            symbol = by_name[changed]
            binders = tuple(
                ir.Variable(f"at{place}", parameter.type) for place, parameter in enumerate(symbol.parameters)
            )
            value = ir.Apply(symbol.result, changed, tuple(local(binder) for binder in binders))
            old, new = after(value, before), after(value, now)
            if old != new:
                goals.append(implies(both, forall(binders, _same(old, new))))
            goals.append(implies(old_only, forall(binders, _same(old, value))))
            goals.append(implies(new_only, forall(binders, _same(new, value))))
        hypotheses = (*machine.axioms, *(conjunct.formula for conjunct in self._facts))
        asked = [
            Obligation(
                f"{name} does the same, {number}", signature_of(machine), hypotheses,
                ir.NamedFormula("the same", goal), before.parameters,
            )
            for number, goal in enumerate(goals)
        ]  # fmt: skip
        if not asked:
            return True
        if self._broken(_together(asked), asked) is not None:
            return False
        return self._proved(_together(asked), self._quick) or all(self._proved(one, self._session) for one in asked)


def _action(machine: ir.Machine, name: str) -> Action:
    return next(action for action in actions(machine) if action.name == name)


def _together(obligations: Sequence[Obligation]) -> Obligation:
    """The conjunction of obligations, which may differ in their hypotheses and constants."""
    first = obligations[0]
    same = all(each.hypotheses == first.hypotheses and each.constants == first.constants for each in obligations)
    if same:
        goal = conj(each.goal.body for each in obligations)
        return replace(first, name="all of them", goal=ir.NamedFormula("all of them", goal))
    constants = tuple(dict.fromkeys(constant for each in obligations for constant in each.constants))
    common = [one for one in first.hypotheses if all(one in each.hypotheses for each in obligations)]
    goal = conj(
        implies(conj(one.body for one in each.hypotheses if one not in common), each.goal.body) for each in obligations
    )
    together = ir.NamedFormula("all of them", goal)
    return replace(first, name="all of them", hypotheses=tuple(common), goal=together, constants=constants)


def _false_in(model: Model, obligations: Sequence[Obligation]) -> str:
    """The name of the first obligation that the model refutes."""
    for each in obligations:
        bodies = (one.body for one in each.hypotheses)
        if all(bool(evaluate(body, model.structure, model.environment)) for body in bodies) and not evaluate(
            each.goal.body, model.structure, model.environment
        ):
            return each.name
    raise AssertionError("a model of the negation of all of them refutes one of them")


def _same(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Connective(BOOL, "iff", left, right) if left.type == BOOL else equal(left, right)
