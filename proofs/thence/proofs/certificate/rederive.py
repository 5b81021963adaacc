"""Derives the obligations of a certificate again, from its sources alone.

The prover runs on the sources. Obligations of the certificate get the answers of the recheck; others are solved. Each
statement must have the certified verdict, and rest on exactly the obligations that are listed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import VACUITY
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK
from thence.dsl.load import SourceError, load_bytes
from thence.proofs.certificate.build import evidence_of, obligation_name
from thence.proofs.certificate.evidence import (
    FalseEvidence,
    check_machine_run,
    check_theorem_model,
    model_of,
    run_of,
)
from thence.proofs.certificate.manifest import CertifiedStatement, Evidence, Manifest
from thence.proofs.certificate.reading import Reading
from thence.proofs.certificate.statement import Statement, Subject, statement_of, subject_of
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.prover import statement_formula
from thence.proofs.machine.reachability import Falsification, Firing, Goal, reaching
from thence.proofs.machine.step_prover import step_goals, step_statements
from thence.proofs.machine.transitions import actions
from thence.proofs.machine.witness import two_deliveries
from thence.proofs.prove import proofs_by
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION, Proof
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Answer, Check, SolverPool, SolverRequest
from thence.spec.verdict import Verdict

Status = Literal["sat", "unsat", "unknown"]


@dataclass(frozen=True, slots=True)
class RecheckedAnswers:
    """A memory with the answers of the recheck about the certificate's obligations. Other questions are solved."""

    statuses: Mapping[str, Mapping[str, str]]

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


Key = tuple[str, str, str]


def rederive(reading: Reading, statuses: Mapping[str, Mapping[str, str]], options: Options) -> Mapping[Key, Difference]:
    """For each statement its differences from the source.

    Statements that rest on obligations are proved again. Executions and runs are evaluated, without a search.

    Args:
        statuses: the answers of the recheck, by obligation text and solver.
    """
    manifest = reading.manifest
    assert manifest is not None
    specification, unreadable = _specification(reading, manifest)
    if specification is None:
        return {statement.key: Difference((unreadable,)) for statement in manifest.statements}
    names = _names(specification, manifest)
    with SolverPool(options.workers, RecheckedAnswers(statuses)) as pool:
        session = ProofSession(pool, options)
        proofs = tuple(proofs_by(pool, specification, names, options)) if names else ()
        found = {_key(proof): proof for proof in proofs}
        return {
            each.key: _difference(each, specification, found.get(each.key), reading, session)
            for each in manifest.statements
        }


def _key(proof: Proof) -> Key:
    return proof.result.kind, proof.result.subject, proof.result.name


def _difference(
    certified: CertifiedStatement,
    specification: ir.Specification,
    proof: Proof | None,
    reading: Reading,
    session: ProofSession,
) -> Difference:
    subject = subject_of(specification, certified.kind, certified.subject, certified.name)
    try:
        same = subject is not None and (subject.id, subject.says) == (certified.id, certified.says)
    except ValueError:
        subject = None
    if subject is None:
        return Difference(("its source has no such statement",))
    faults = [] if same else ["its id or its words are not those of what its source says"]
    faults += _evidence_faults(certified, subject, reading, session)
    if not certified.obligations:
        return Difference((*faults, *_missing_evidence(certified, subject)))
    if proof is None:
        return Difference((*faults, "its source has no such statement"))
    derived = statement_of(specification, proof)
    if derived is None:
        # Its obligations may be undecided here, or a search that a proof begins with may need more time.
        why = proof.assessment.facts.get("unknown", "")
        return Difference(tuple(faults), (f"the prover does not come to it here: {why}",))
    if derived.verdict is not certified.verdict:
        faults.append(f"by its source it is {derived.verdict.value}")
    faults += _missed_evidence(certified, derived)
    different = tuple(_obligation_faults(certified, derived, reading))
    if certified.name.endswith(WITHOUT_DEADLOCK):
        # The stages of such a proof are looked for within short time limits, and others may do as well.
        return Difference(tuple(faults), tuple(f"another proof is found here: {each}" for each in different))
    return Difference((*faults, *different))


def _specification(reading: Reading, manifest: Manifest) -> tuple[ir.Specification | None, str]:
    content = reading.files[manifest.source]
    try:
        loaded = load_bytes(Path(manifest.source), content)
    except SourceError as fault:
        return None, str(fault)
    if loaded.specification is None:
        first = next(iter(loaded.diagnostics))
        return None, f"{manifest.source}:{first.span.line}: {first.message}"
    return loaded.specification, ""


def _names(specification: ir.Specification, manifest: Manifest) -> tuple[str, ...]:
    """The names to prove: theorems, machines and mutants of the statements that rest on obligations."""
    there = {
        "theorem": [theorem.name for theorem in specification.theorems],
        "machine": [machine.name for machine in specification.machines],
        "mutant": [mutant.name for mutant in specification.mutants],
    }
    wanted: dict[str, None] = {}
    for each in manifest.statements:
        named = {"theorem": each.name, "machine": each.subject}.get(each.kind, each.name.partition(": ")[0])
        if each.obligations and named in there[each.kind]:
            wanted[named] = None
    return tuple(wanted)


def _obligation_faults(certified: CertifiedStatement, derived: Statement, reading: Reading) -> Iterator[str]:
    listed = {reading.text(file): file for file in certified.obligations}
    for text in derived.obligations:
        if text not in listed:
            yield f"its source needs the obligation `{obligation_name(text)}`, which is not listed"
    needed = frozenset(derived.obligations)
    for text, file in listed.items():
        if text not in needed:
            yield f"{file}, `{obligation_name(text)}`, is not an obligation that its source gives"


def _missed_evidence(certified: CertifiedStatement, derived: Statement) -> Iterator[str]:
    """Evidence that the prover finds for the statement and the certificate does not have."""
    there = {(each.shows, each.name) for each in certified.evidence}
    for shows, name, _ in evidence_of(derived):
        if (shows, name) not in there:
            yield f"there is no evidence for: {shows} {name}".rstrip()


def _missing_evidence(certified: CertifiedStatement, subject: Subject) -> Iterator[str]:
    """The evidence that a statement without obligations lacks: a refutation, or a run for each claim."""
    shown = [(each.shows, each.name) for each in certified.evidence]
    if certified.verdict is Verdict.REFUTED:
        if shown != [("refuted", REFUTATION)]:
            yield "there is no execution or run that refutes it"
        return
    machine = subject.machine
    if machine is not None and subject.name == VACUITY:
        for action in actions(machine):
            if ("happens", action.name) not in shown:
                yield f"there is no run in which {action.name} happens"
        if ("possible", POSSIBLE) not in shown:
            yield f"there is no run in which {POSSIBLE}"
    elif machine is None or subject.name not in {formula.name for formula in machine.reachable}:
        yield "a statement of this kind is not proved by executions or runs"
    elif not shown:
        yield "there is no run that reaches it"


def _evidence_faults(
    certified: CertifiedStatement,
    subject: Subject,
    reading: Reading,
    session: ProofSession,
) -> Iterator[str]:
    """The faults of the finite evidence, by evaluation."""
    for each in certified.evidence:
        try:
            value = reading.json(each.file)
            if subject.theorem is not None:
                about = REFUTATION if each.shows == "refuted" else each.name
                check_theorem_model(subject.theorem, about, model_of(value))
            else:
                assert subject.machine is not None
                goals = _goals(subject.machine, subject.name, each, session)
                check_machine_run(subject.machine, goals, run_of(subject.machine, value))
        except FalseEvidence as fault:
            yield f"{each.file}: {fault}"
        except (Unsupported, LookupError, ValueError, TypeError) as fault:
            yield f"{each.file} is no such evidence: {fault}"


def _goals(machine: ir.Machine, name: str, evidence: Evidence, session: ProofSession) -> tuple[Goal, ...]:
    """The goals of the run, of which it must reach one: a transition, a formula, or a violation of the statement."""
    if evidence.shows == "possible":
        return (two_deliveries(machine),)
    if name == VACUITY:
        return (Firing(evidence.name),)
    for formula in machine.reachable:
        if formula.name == name:
            return (reaching(formula),)
    if name in step_statements(machine):
        return step_goals(session, machine, name)
    return (Falsification(statement_formula(machine, name)),)
