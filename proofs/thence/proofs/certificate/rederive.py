"""Derives a certificate again, from its source and its evidence.

The prover runs on the source. Obligations of the certificate get the answers of the recheck; others are solved. Every
statement must come out with the certified verdict, and rest on exactly the obligations that are listed for it; its
evidence must be the due kind for it and is evaluated. From what comes out the manifest is made once more: a
certificate must be the same byte for byte, so it says nothing that is not derived here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, cast

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import VACUITY
from thence.dsl.ir.observability import own_invariants
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK, starving_transition
from thence.dsl.load import SourceError, load_bytes
from thence.proofs.certificate.build import (
    MANIFEST,
    Heading,
    Part,
    Shown,
    Solved,
    assembled,
    evidence_of,
    omitted,
)
from thence.proofs.certificate.directory import shown
from thence.proofs.certificate.evaluation import FAULTS, Budget, TooCostly, check_machine_run, check_theorem_model
from thence.proofs.certificate.evidence import FalseEvidence, model_of, run_of
from thence.proofs.certificate.forms.obligation_form import obligation_name
from thence.proofs.certificate.manifest import CertifiedStatement, Key, Manifest
from thence.proofs.certificate.reading import Reading
from thence.proofs.certificate.statement import Statement, Subject, rested_on, stated, statement_of, subject_of
from thence.proofs.machine.goals import Falsification, Firing, Goal, reaching
from thence.proofs.machine.prover import statement_formula
from thence.proofs.machine.steps.prover import WITNESS, step_goals, step_statements
from thence.proofs.machine.transitions import actions
from thence.proofs.machine.witness import witness_goals, witness_shows
from thence.proofs.prove import proofs_by
from thence.proofs.refinement.carrying.properties import by_its_link
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION, Proof
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Answer, Check, SolverPool, SolverRequest

Status = Literal["sat", "unsat", "unknown"]


@dataclass(frozen=True, slots=True)
class RecheckedAnswers:
    """A memory with the answers of the recheck about the certificate's obligations. Other questions are solved."""

    statuses: Mapping[str, Mapping[str, str]]
    complete: ClassVar[bool] = True

    def recall(self, request: SolverRequest) -> Answer | None:
        known = self.statuses.get(request.text) if isinstance(request, Check) and not request.core else None
        if known is None or not isinstance(request, Check):
            return None
        return Answer(cast(Status, known.get(request.solver, "unknown")), "as rechecked", 0.0)

    def keep(self, request: SolverRequest, answer: Answer) -> None:
        """Nothing is kept."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between a statement and its source; `undecided` ones may be due to a lack of time."""

    faults: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """The differences of each statement, and those of the manifest as a whole."""

    differences: Mapping[Key, Difference]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A statement as it was derived, and how the certified one differs."""

    part: Part
    difference: Difference


def rederive(reading: Reading, statuses: Mapping[str, Mapping[str, str]], options: Options) -> Derivation:
    """The differences of a certificate from what its source and its evidence give.

    Statements that rest on obligations are proved again. Executions and runs are evaluated, without a search.

    Args:
        statuses: the answers of the recheck, by obligation text and solver.
    """
    manifest = reading.manifest
    assert manifest is not None
    specification, unreadable = _specification(reading, manifest)
    if specification is None:
        return Derivation({statement.key: Difference((unreadable,)) for statement in manifest.statements})
    names = _names(specification, manifest)
    budget = Budget()
    all_decided = all("unsat" in each.values() for each in statuses.values())
    with SolverPool(options.workers, RecheckedAnswers(statuses)) as pool:
        session = ProofSession(pool, options)
        proofs = tuple(proofs_by(pool, specification, names, options)) if names else ()
        by_key = {_key(proof): proof for proof in (*proofs, *by_its_link(specification.links, proofs))}
        found = {
            each.key: _Derived(specification, reading, session, budget, all_decided).found(each, by_key.get(each.key))
            for each in manifest.statements
        }
    differences = {key: each.difference for key, each in found.items()}
    if any(each.faults for each in differences.values()):
        return Derivation(differences)
    parts = [each.part for each in found.values()]
    return Derivation(differences, tuple(_manifest_faults(reading, manifest, parts, stated(specification))))


def _key(proof: Proof) -> Key:
    return proof.result.kind, proof.result.subject, proof.result.name


def _manifest_faults(
    reading: Reading, manifest: Manifest, parts: Sequence[Part], stated_keys: Sequence[Key]
) -> Iterator[str]:
    """How the files differ from those that are made from the derived statements, with the recorded answers."""
    solved = {reading.text(each.file): Solved(each.results, each.proofs) for each in manifest.obligations}
    statements = [part.statement for part in parts]
    heading = Heading(
        manifest.thence, manifest.source, manifest.authors, manifest.programs, omitted(stated_keys, statements)
    )
    due, files = assembled(heading, parts, solved)
    if manifest.omitted != due.omitted:
        yield f"{MANIFEST} does not list exactly what its source states besides"
    elif reading.files[MANIFEST] != due.content():
        yield f"{MANIFEST} is not what its source and its evidence give"
    for file in sorted(files):
        if reading.files.get(file) != files[file]:
            yield f"{file} is not what its source gives"


def _specification(reading: Reading, manifest: Manifest) -> tuple[ir.Specification | None, str]:
    content = reading.files[manifest.source]
    try:
        loaded = load_bytes(Path(manifest.source), content)
    except SourceError as fault:
        return None, shown(str(fault))
    if loaded.specification is None:
        first = next(iter(loaded.diagnostics))
        return None, shown(f"{manifest.source}:{first.span.line}: {first.message}")
    return loaded.specification, ""


def _names(specification: ir.Specification, manifest: Manifest) -> tuple[str, ...]:
    """The names to prove: theorems, machines, mutants and links of the statements that rest on obligations, and
    invariants of protocols, which links show where they are named."""
    there = {
        "theorem": [theorem.name for theorem in specification.theorems],
        "machine": [machine.name for machine in specification.machines],
        "mutant": [mutant.name for mutant in specification.mutants],
        "link": [link.name for link in specification.links],
    }
    invariants = {name for link in specification.links for name in own_invariants(link.protocol)}
    wanted: dict[str, None] = {}
    for each in manifest.statements:
        named = {"theorem": each.name, "machine": each.subject, "link": each.subject}.get(
            each.kind, each.name.partition(": ")[0]
        )
        if each.obligations and named in there[each.kind]:
            wanted[named] = None
        if each.kind == "link" and each.name in invariants:
            wanted[each.name] = None
    return tuple(wanted)


@dataclass(frozen=True, slots=True)
class _Derived:
    """Statements derived one by one. The evidence of all of them shares a budget.

    `all_decided`: no obligation of the certificate is left open here. Otherwise less may be proved, from less.
    """

    specification: ir.Specification
    reading: Reading
    session: ProofSession
    budget: Budget
    all_decided: bool

    def found(self, certified: CertifiedStatement, proof: Proof | None) -> _Found:
        subject = subject_of(self.specification, certified.kind, certified.subject, certified.name)
        try:
            told = None if subject is None else (subject.id, subject.says, subject.rests_on)
        except ValueError:
            told = None
        said = certified.kind == "link" or certified.key in stated(self.specification)  # a link need not claim a proof
        if subject is None or told is None or not said:
            return self._lost(certified, "its source has no such statement")
        faults = []
        if told != (certified.id, certified.says, certified.rests_on):
            faults.append("its id, its words or what it rests on are not those of what its source says")
        due = rested_on(subject, certified.verdict)
        if due is None and not certified.obligations:
            return self._lost(certified, "a statement of this kind is not proved by executions or runs", *faults)
        if due is not None and certified.obligations:
            return self._lost(certified, "a statement of this kind does not rest on obligations", *faults)
        derived = None if due is not None or proof is None else statement_of(self.specification, proof)
        undecided: list[str] = []
        if due is None and proof is None:
            return self._lost(certified, "its source has no such statement", *faults)
        if due is None and proof is not None and derived is None:
            # Its obligations may be undecided here, or a search that a proof begins with may need more time.
            why = str(proof.assessment.facts.get("unknown", ""))
            undecided.append(f"the prover does not come to it here: {why}")
        if derived is not None:
            if derived.verdict is not certified.verdict:
                faults.append(f"by its source it is {derived.verdict.value}")
            due = tuple((each.shows, each.name) for each in evidence_of(derived))
            different = tuple(self._obligation_faults(certified, derived))
            by_stages = certified.name.endswith(WITHOUT_DEADLOCK) or starving_transition(subject.name) is not None
            if by_stages or not self.all_decided:
                # The stages of such a proof are looked for within short time limits, and others may do as well.
                undecided.extend(f"another proof is found here: {each}" for each in different)
            else:
                faults.extend(different)
        if due is not None:
            faults.extend(_unlike(certified, due))
        for fault, is_open in self._evidence_faults(certified, subject):
            (undecided if is_open else faults).append(fault)
        statement = self._as_certified(certified, subject) if derived is None or undecided else derived
        part = Part(statement, self.reading.evidence(certified))
        return _Found(part, Difference(tuple(faults), tuple(undecided)))

    def _lost(self, certified: CertifiedStatement, *faults: str) -> _Found:
        """A statement with nothing to derive it from."""
        part = Part(self._as_certified(certified, None), self.reading.evidence(certified))
        return _Found(part, Difference(faults))

    def _as_certified(self, certified: CertifiedStatement, subject: Subject | None) -> Statement:
        """The statement with the verdict and obligations of the certificate, where they are not derived."""
        return Statement(
            certified.name,
            certified.kind,
            certified.subject,
            certified.verdict,
            certified.says if subject is None else subject.says,
            certified.id if subject is None else subject.id,
            tuple(self.reading.text(file) for file in certified.obligations),
            rests_on=certified.rests_on if subject is None else subject.rests_on,
        )

    def _obligation_faults(self, certified: CertifiedStatement, derived: Statement) -> Iterator[str]:
        listed = {self.reading.text(file): file for file in certified.obligations}
        for text in derived.obligations:
            if text not in listed:
                yield f"its source needs the obligation `{obligation_name(text)}`, which is not listed"
        needed = frozenset(derived.obligations)
        for text, file in listed.items():
            if text not in needed:
                yield f"{file}, `{obligation_name(text)}`, is not an obligation that its source gives"

    def _evidence_faults(self, certified: CertifiedStatement, subject: Subject) -> Iterator[tuple[str, bool]]:
        """The faults of the finite evidence, by evaluation; whether a fault leaves the statement open."""
        for each in certified.evidence:
            shown_here = Shown(each.shows, each.name, self.reading.files[each.file])
            try:
                self._evaluate(subject, shown_here)
            except FalseEvidence as fault:
                yield f"{each.file}: {fault}", False
            except TooCostly as fault:
                yield f"{each.file}: {fault}", True
            except FAULTS as fault:
                yield f"{each.file} is no such evidence: {fault}", False

    def _evaluate(self, subject: Subject, evidence: Shown) -> None:
        """Raises: FalseEvidence, TooCostly, or an error of the evaluation."""
        if subject.theorem is not None:
            about = _about(evidence)
            check_theorem_model(subject.theorem, about, model_of(evidence.content), self.budget)
        else:
            assert subject.machine is not None
            goals = _goals(subject.machine, subject.name, evidence, self.session)
            check_machine_run(subject.machine, goals, run_of(subject.machine, evidence.content), self.budget)


def _unlike(certified: CertifiedStatement, due: Sequence[tuple[str, str]]) -> Iterator[str]:
    """How the listed evidence differs from the due one.

    Evidence that an assumption is needed is looked for within short time limits. It may be there though the prover does
    not find it here: it speaks for itself. Without it the certificate does not say that the assumption is needed.
    """
    listed = [(each.shows, each.name) for each in certified.evidence]
    for shows, name in due:
        if (shows, name) not in listed and shows != "needed":
            yield _MISSING[shows].format(name=name)
    for shows, name in listed:
        if (shows, name) not in due and shows != "needed":
            yield f"it has evidence that is not due: {shows} {name}".rstrip()
    if [name for _, name in listed] != sorted({name for _, name in listed}):
        yield "its evidence is not in order, each once"


_MISSING = {
    "refuted": "there is no execution or run that refutes it",
    "happens": "there is no run in which {name} happens",
    "possible": "there is no run in which {name}",
}


def _about(evidence: Shown) -> str:
    """The assumption that an execution of a theory leaves out, or the mark of a refutation. Raises: FalseEvidence."""
    if evidence.shows == "refuted" and evidence.name == REFUTATION:
        return REFUTATION
    if evidence.shows == "possible" and evidence.name == POSSIBLE:
        return POSSIBLE
    if evidence.shows == "needed" and evidence.name not in (REFUTATION, POSSIBLE):
        return evidence.name
    raise FalseEvidence(f"no execution shows this of a theorem: {evidence.shows} {evidence.name}".rstrip())


def _goals(machine: ir.Machine, name: str, evidence: Shown, session: ProofSession) -> tuple[Goal, ...]:
    """The goals of the run, of which it must reach one: a transition, a formula, or a violation of the statement.

    Raises: FalseEvidence where no run can show such a thing of such a statement; Unsupported.
    """
    reachable = {formula.name: formula for formula in machine.reachable}
    match evidence.shows, evidence.name:
        case "happens", action if name == VACUITY and action in {each.name for each in actions(machine)}:
            return (Firing(action),)
        case "happens", told if name in reachable and told == WITNESS:
            return (reaching(reachable[name]),)
        case "possible", told if told == witness_shows(machine):
            return witness_goals(machine)
        case "refuted", told if told == REFUTATION and name != VACUITY and name not in reachable:
            if name in step_statements(machine):
                return step_goals(session, machine, name)
            return (Falsification(statement_formula(machine, name)),)
        case _:
            raise FalseEvidence(f"no run shows this of {name}: {evidence.shows} {evidence.name}".rstrip())
