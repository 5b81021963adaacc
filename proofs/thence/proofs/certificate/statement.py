"""The statements of a certificate, made from results with their evidence.

Writing and checking a certificate use the same function: `build` with the proofs that were found, `rederive` with the
proofs that come out when the sources are proved again with the certificate's obligations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import HISTORY, VACUITY
from thence.dsl.ir.observability import own_invariants
from thence.dsl.ir.properties import DELIVERED
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK, starving_transition
from thence.dsl.write.show import show_expression
from thence.proofs.certificate.ids.link_id import carried_id, invariant_id, link_id, progress_id
from thence.proofs.certificate.ids.statement_id import machine_statement_id, theorem_id
from thence.proofs.certificate.manifest import LIMITS, Key, Shows
from thence.proofs.logic.formula import free_locals
from thence.proofs.logic.smt import smt_text
from thence.proofs.machine.prover import statement_formula, statements, stating
from thence.proofs.machine.steps.prover import WITNESS, step_statements
from thence.proofs.machine.steps.statements import no_deadlock
from thence.proofs.machine.transitions import actions, axiom_faults
from thence.proofs.machine.witness import witness_shows
from thence.proofs.prove import expected_names, is_claimed
from thence.proofs.refinement.carrying.progress import conditions
from thence.proofs.refinement.carrying.properties import (
    carrying,
    follows_statement,
    link_statement,
    named_by,
    own_statement,
    progress_statement,
    rests_on,
)
from thence.proofs.refinement.premises import premises
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION, Proof, RunEvidence
from thence.proofs.solving.finite_models import Model
from thence.spec.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a statement: a theorem, a link, or a machine (of a mutant, too) and the name of what it states.

    With a link and a machine it is what the link's protocol has by both: see NOTE(carried).
    """

    theorem: ir.Theorem | None
    machine: ir.Machine | None
    name: str
    link: ir.Link | None = None

    @property
    def id(self) -> str:
        """The statement id. Raises: ValueError where the machine has no such statement."""
        if self.theorem is not None:
            return theorem_id(self.theorem)
        if self.link is not None:
            if self.invariant is not None:
                return invariant_id(self.link, self.invariant)
            if self.machine is None:
                return progress_id(self.link) if self.is_progress else link_id(self.link)
            return carried_id(self.link, self.machine, self.name, self.own)
        assert self.machine is not None
        return machine_statement_id(self.machine, self.name)

    @property
    def rests_on(self) -> tuple[Key, ...]:
        """The statements from which a property of a protocol follows; none, of any other statement."""
        return () if self.link is None or self.machine is None else rests_on(self.link, self.name)

    @property
    def is_progress(self) -> bool:
        """Whether it is what a protocol's fair runs do for its machine."""
        return self.link is not None and self.machine is None and self.name == progress_statement(self.link)

    @property
    def own(self) -> str:
        """The machine's statement from which a protocol has a property."""
        return self.rests_on[0][2]

    @property
    def invariant(self) -> ir.NamedFormula | None:
        """The invariant of the link's protocol that it is, or that it says to follow; None for all else."""
        named = {} if self.link is None else own_invariants(self.link.protocol)
        wanted = ((follows_statement(name) if self.machine is None else name, each) for name, each in named.items())
        return next((each for said, each in wanted if said == self.name), None)

    @property
    def says(self) -> tuple[str, ...]:
        """The statement in the words of the file. Raises: ValueError where the machine has no such statement."""
        return _said(self)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with a verdict that can be checked again.

    Attributes:
        name: as a result names it; unique with `kind` and `subject`.
        says: the statement in the words of the file, for readers.
        id: the statement id; see `statement_id`.
        obligations: SMT-LIB2 texts that must all be unsatisfiable; empty where the verdict rests on models or runs.
        models: the refutation, or for each needed assumption a model that shows it.
        runs: the refutation, or for each transition a run in which it happens.
        rests_on: of a property of a protocol, the machine's statement and the link from which it follows.
    """

    name: str
    kind: Literal["theorem", "machine", "mutant", "link"]
    subject: str
    verdict: Verdict
    says: tuple[str, ...]
    id: str
    obligations: tuple[str, ...] = ()
    models: Mapping[str, Model] = field(default_factory=dict)
    runs: Mapping[str, RunEvidence] = field(default_factory=dict)
    rests_on: tuple[Key, ...] = ()

    @property
    def key(self) -> Key:
        return self.kind, self.subject, self.name


def stated(specification: ir.Specification) -> tuple[Key, ...]:
    """The keys of everything that a file states for any number of processes, in its order."""
    found: list[Key] = [("theorem", theorem.theory.name, theorem.name) for theorem in specification.theorems]
    for machine in specification.machines:
        names = (*statements(machine), *step_statements(machine), *expected_names(machine.expects), VACUITY)
        found.extend(("machine", machine.name, name) for name in names)
    for mutant in specification.mutants:
        if isinstance(mutant.mutated, ir.Machine):
            named = [f"{mutant.name}: {name}" for name in expected_names(mutant.expects)]
            if any(not expectation.names for expectation in mutant.expects):
                named.append(mutant.name)
            found.extend(("mutant", mutant.subject, name) for name in named)
    claimed = [link for link in specification.links if is_claimed(link)]
    found.extend(("link", link.name, link_statement(link)) for link in claimed)
    found.extend(("link", link.name, progress_statement(link)) for link in claimed if link.delivered_by is not None)
    for link in claimed:
        own = expected_names(link.expects)
        found.extend(("link", link.name, follows_statement(name)) for name in own)
        carried = (name for name in named_by(link) if name in own or own_statement(link, name) is not None)
        found.extend(("link", link.protocol.name, name) for name in carried)
    return tuple(dict.fromkeys(found))


def statement_of(specification: ir.Specification, proof: Proof) -> Statement | None:
    """The statement of a result; None where the result is neither `proved` nor `refuted`, or names no statement.

    A mutant whose expectation names no statement says only that something fails, which is no statement of its own.
    A verdict that rests on nothing that can be written down, or on a machine whose axioms restrict what a transition
    updates, cannot be checked by others.
    """
    result, assessment = proof.result, proof.assessment
    if assessment.verdict not in (Verdict.PROVED, Verdict.REFUTED) or result.kind not in (
        "theorem",
        "machine",
        "mutant",
        "link",
    ):
        return None
    subject = subject_of(specification, result.kind, result.subject, result.name)
    if subject is None:
        return None
    machine = subject.machine if subject.link is None else subject.link.machine
    if machine is not None and axiom_faults(machine):
        return None
    if not assessment.discharges and rested_on(subject, assessment.verdict) is None:
        return None
    return Statement(
        result.name,
        result.kind,
        result.subject,
        assessment.verdict,
        subject.says,
        subject.id,
        tuple(dict.fromkeys(smt_text(each.obligation.essential) for each in assessment.discharges)),
        assessment.models,
        assessment.runs,
        subject.rests_on,
    )


def rested_on(subject: Subject, verdict: Verdict) -> tuple[tuple[Shows, str], ...] | None:
    """The evidence, and nothing else, that such a verdict on such a statement rests on; None: it rests on obligations.

    A refutation is an execution or a run. Only what says that runs exist is proved by runs, and refuted by obligations.
    """
    machine = subject.machine
    if subject.link is not None:
        return None
    if machine is not None and subject.name == VACUITY:
        shown: list[tuple[Shows, str]] = [("happens", action.name) for action in actions(machine)]
        due = sorted([*shown, ("possible", witness_shows(machine))], key=lambda each: each[1])
        return tuple(due) if verdict is Verdict.PROVED else None
    if machine is not None and subject.name in {formula.name for formula in machine.reachable}:
        return (("happens", WITNESS),) if verdict is Verdict.PROVED else None
    return (("refuted", REFUTATION),) if verdict is Verdict.REFUTED else None


def subject_of(specification: ir.Specification, kind: str, subject: str, name: str) -> Subject | None:
    """The subject of a statement, by the kind, subject and name of its result; None if the file does not have it."""
    match kind:
        case "theorem":
            theorem = next((each for each in specification.theorems if each.name == name), None)
            return None if theorem is None or theorem.theory.name != subject else Subject(theorem, None, name)
        case "machine":
            machine = next((each for each in specification.machines if each.name == subject), None)
            if machine is None:
                return None
            return Subject(None, stating(machine, expected_names(machine.expects)), name)
        case "link":
            link = next((each for each in specification.links if each.name == subject), None)
            if link is None:
                return _carried(specification, subject, name)
            names = (link_statement(link), *((progress_statement(link),) if link.delivered_by is not None else ()))
            found = Subject(None, None, name, link)
            return found if name in names or found.invariant is not None else None
        case _:
            mutant, _, stated = name.partition(": ")
            other = next((e for e in specification.mutants if (e.subject, e.name) == (subject, mutant)), None)
            if other is None or not stated or not isinstance(other.mutated, ir.Machine):
                return None
            return Subject(None, stating(other.mutated, expected_names(other.expects)), stated)


def _carried(specification: ir.Specification, protocol: str, name: str) -> Subject | None:
    link = carrying(specification.links, protocol, name)
    if link is None:
        return None
    machine = next(each for each in specification.machines if each.name == link.machine.name)
    return Subject(None, stating(machine, expected_names(machine.expects)), name, link)


def obligations_of(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Every obligation once, in the order of the statements."""
    return tuple(dict.fromkeys(text for statement in statements for text in statement.obligations))


def _said(subject: Subject) -> tuple[str, ...]:
    theorem = subject.theorem
    if theorem is not None:
        assumed = (f"assume {each.name}: {show_expression(each.body)}" for each in theorem.assume)
        proved = (f"prove {each.name}: {show_expression(each.body)}" for each in theorem.prove)
        return (*assumed, *proved)
    if subject.link is not None:
        if subject.invariant is not None:
            return _said_of_invariant(subject.link, subject.invariant)
        if subject.machine is not None:
            return _said_of_protocol(subject)
        return _said_of_progress(subject.link) if subject.is_progress else _said_of_link(subject.link)
    assert subject.machine is not None
    if subject.name == VACUITY:
        also = f", and in one {POSSIBLE}" if subject.machine.delivery != "off" else ""
        return (f"every transition happens in some run{also}",)
    if subject.name == HISTORY:
        return ("the facts about the history that the language builds in are true in every reachable state",)
    return _said_of_machine(subject.machine, subject.name)


def _said_of_link(link: ir.Link) -> tuple[str, ...]:
    """The statement, the systems and axioms that it rests on, and what is a step of the machine by which clause."""
    stated = (
        f"in every run of {link.protocol.name} among any number of processes, with any number of messages, "
        f"each event is a step that {link.machine.name} allows"
    )
    return (stated, *_rests_on(link), *(f"clause: {_clause(each)}" for each in link.clauses))


def _said_of_progress(link: ir.Link) -> tuple[str, ...]:
    """The statement, what its runs are fair to, and the systems and axioms that it rests on."""
    fair = ", ".join(link.protocol.fairness) or "every packet and timer"
    stated = (
        f"in every run of {link.protocol.name} that is fair to {fair}, seen as a run of {link.machine.name}, "
        f"no step that {link.delivered_by} waits for stays enabled for ever without being taken"
    )
    return (stated, *_rests_on(link, delivered=True), f"by the link {link.name}, sha256:{link_id(link)}")


def _said_of_invariant(link: ir.Link, invariant: ir.NamedFormula) -> tuple[str, ...]:
    """The invariant, the systems and axioms that it rests on, and the link that shows it, by id."""
    runs = f"every run of {link.protocol.name} among any number of processes, with any number of messages"
    stated = f"in {runs}, at first and after each step, {invariant.name}: {show_expression(invariant.body)}"
    return (stated, *_rests_on(link), f"by the link {link.name}, sha256:{link_id(link)}")


def _rests_on(link: ir.Link, *, delivered: bool = False) -> Iterator[str]:
    found = premises(link)
    where, assumed = LIMITS
    yield from (f"{where}{said}" for said in (conditions(link) if delivered else found.words()))
    yield from (f"{assumed}{each.name}: {show_expression(each.body)}" for each in found.assumed)


def _said_of_protocol(subject: Subject) -> tuple[str, ...]:
    """The property, the systems and axioms that it rests on, and the two statements from which it follows, by id."""
    link, machine = subject.link, subject.machine
    assert link is not None and machine is not None
    runs = f"every run of {link.protocol.name} among any number of processes, with any number of messages"
    return (
        f"in {runs}, {subject.name}: the link makes its sends and deliveries those of a run of {machine.name}",
        *_rests_on(link, delivered=subject.name == DELIVERED),
        *(f"machine {machine.name}: {said}" for said in _said_of_machine(machine, subject.own)),
        f"by the statement of {machine.name}, sha256:{machine_statement_id(machine, subject.own)}",
        f"by the link {link.name}, sha256:{link_id(link)}",
        *((f"by the progress of the link, sha256:{progress_id(link)}",) if subject.name == DELIVERED else ()),
    )


def _clause(clause: ir.Clause) -> str:
    parameters = ", ".join(each.name for each in clause.parameters)
    event = f"{clause.event.replace('_', ' ') if clause.kind else clause.event} {clause.kind or ''}".strip()
    peer = f" {'to' if clause.event == 'send' else 'from'} {clause.peer}" if clause.peer else ""
    when = f" when {show_expression(clause.when)}" if clause.when is not None else ""
    targets = " or ".join(f"{each.transition}({_arguments(each)})" for each in clause.targets) or "silent"
    return f"{event}({parameters}){peer}{when} is {targets}{', once' if clause.once else ''}"


def _arguments(target: ir.Target) -> str:
    return ", ".join("_" if each is None else show_expression(each) for each in target.arguments)


def _said_of_machine(machine: ir.Machine, name: str) -> tuple[str, ...]:
    for stable in machine.stable:
        if stable.formula.name == name:
            return (f"once true, true for ever: {show_expression(stable.formula.body)}",)
    for formula in machine.reachable:
        if formula.name == name:
            return (f"some run reaches: {show_expression(formula.body)}",)
    for each in machine.eventually:
        if each.name == name:
            fair = ", ".join(dict.fromkeys(step.transition for step in each.steps))
            given, goal = show_expression(each.given), show_expression(each.goal)
            runs = f"in every run of finitely many processes that is weakly fair to {fair}"
            return (f"{runs}, whenever {given}, then or later {goal}",)
    if name == WITHOUT_DEADLOCK:
        formula = no_deadlock(machine)
        return (f"in every reachable state: {show_expression(formula.body)}",)
    transition = starving_transition(name)
    if transition is not None:
        shrinks = f"what a message waits for until {transition} only shrinks, in every run"
        return (f"{shrinks}; once nothing more is sent, runs come to rest, and nothing waits for {transition}",)
    formula = statement_formula(machine, name)
    where = "whenever deliver happens" if free_locals(formula.body) else "in every reachable state"
    return (f"{where}, {formula.name}: {show_expression(formula.body)}",)
