"""Derives the obligations of a certificate again, from its sources alone.

The prover is run on the sources. What is in the certificate is answered as it was rechecked, the rest is solved. Each
statement must come out with the certified verdict, and rest on exactly the obligations that are listed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from whence.dsl import ir
from whence.dsl.load import SourceError, load_bytes
from whence.proofs.certificate.assemble import Statement, statement_of, subject_of
from whence.proofs.certificate.build import evidence_of, obligation_name
from whence.proofs.certificate.evidence import (
    FalseEvidence,
    check_machine_run,
    check_theorem_model,
    model_of,
    run_of,
)
from whence.proofs.certificate.manifest import CertifiedStatement, Evidence, Manifest
from whence.proofs.certificate.read import Reading
from whence.proofs.discharge import Options
from whence.proofs.finding import REFUTATION
from whence.proofs.formula import Unsupported, negation
from whence.proofs.machine_prover import statement_formula
from whence.proofs.prove import VACUITY, UnknownName, proofs_by
from whence.proofs.reachability import Firing, Goal, Violation
from whence.proofs.solver import Answer, Check, Request, SolverPool
from whence.proofs.step_prover import step_goals, step_statements

Status = Literal["sat", "unsat", "unknown"]


@dataclass(frozen=True, slots=True)
class RecheckedAnswers:
    """Spares a prover what was just rechecked: the certificate's obligations. Everything else is left to be solved."""

    statuses: Mapping[str, Mapping[str, str]]

    def recall(self, request: Request) -> Answer | None:
        known = self.statuses.get(request.text) if isinstance(request, Check) and not request.core else None
        if known is None or not isinstance(request, Check):
            return None
        return Answer(cast(Status, known.get(request.solver, "unknown")), "as rechecked", 0.0)

    def keep(self, request: Request, answer: Answer) -> None:
        """Nothing is kept."""


def rederive(
    reading: Reading, statuses: Mapping[str, Mapping[str, str]], options: Options
) -> Mapping[tuple[str, str, str], tuple[str, ...]]:
    """For each statement how it differs from what its source gives; nothing where it does not.

    Args:
        statuses: by obligation text and solver, what was found now. What comes out otherwise only because an obligation
            is not decided is no difference.
    """
    manifest = reading.manifest
    assert manifest is not None
    keys = [statement.key for statement in manifest.statements]
    specification, unreadable = _specification(reading, manifest)
    if specification is None:
        return dict.fromkeys(keys, (unreadable,))
    try:
        with SolverPool(options.workers, RecheckedAnswers(statuses)) as pool:
            names = _names(specification, manifest)
            proofs = tuple(proofs_by(pool, specification, names, options)) if names else ()
            wrong = {
                each.key: tuple(_evidence_faults(each, specification, reading, pool, options))
                for each in manifest.statements
                if each.evidence and subject_of(specification, *each.key) is not None
            }
    except UnknownName as fault:
        return dict.fromkeys(keys, (str(fault),))
    found = {each.key: each for proof in proofs if (each := statement_of(specification, proof)) is not None}
    reasons: dict[tuple[str, str, str], str] = {
        (proof.result.kind, proof.result.subject, proof.result.name): proof.finding.facts.get("unknown", "")
        for proof in proofs
    }
    differences: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for statement in manifest.statements:
        derived = found.get(statement.key)
        if derived is None:
            listed = [reading.text(file) for file in statement.obligations]
            undecided = any("unsat" not in statuses[text].values() for text in listed)
            why = reasons.get(statement.key, "there is no such statement")
            missing = () if undecided else (f"its source does not give it: {why}",)
            differences[statement.key] = (*missing, *wrong.get(statement.key, ()))
            continue
        faults = (*_statement_faults(statement, derived, reading), *wrong.get(statement.key, ()))
        differences[statement.key] = faults
    return differences


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
    """What to prove of the file: the certified statements, and whatever the same machine states by the same name."""
    there = {
        "theorem": [theorem.name for theorem in specification.theorems],
        "machine": [machine.name for machine in specification.machines],
        "mutant": [mutant.name for mutant in specification.mutants],
    }
    wanted: dict[str, None] = {}
    for each in manifest.statements:
        match each.kind:
            case "theorem":
                wanted |= {each.name: None} if each.name in there["theorem"] else {}
            case "machine":
                wanted |= {each.subject: None} if each.subject in there["machine"] else {}
            case "mutant":
                mutant = each.name.partition(": ")[0]
                wanted |= {mutant: None} if mutant in there["mutant"] else {}
    return tuple(wanted)


def _statement_faults(certified: CertifiedStatement, derived: Statement, reading: Reading) -> Iterator[str]:
    if derived.verdict is not certified.verdict:
        yield f"by its source it is {derived.verdict.value}"
    if derived.id != certified.id:
        yield "the statement id is not that of what its source says"
    if derived.says != certified.says:
        yield "what it says is not what its source says"
    listed = [reading.text(file) for file in certified.obligations]
    for text in [text for text in derived.obligations if text not in listed]:
        yield f"its source needs the obligation `{obligation_name(text)}`, which is not listed"
    for file, text in zip(certified.obligations, listed, strict=True):
        if text not in derived.obligations:
            yield f"{file}, `{obligation_name(text)}`, is not an obligation that its source gives"
    shown = {(shows, name) for shows, name, _ in evidence_of(derived)}
    there = {(each.shows, each.name) for each in certified.evidence}
    for shows, name in sorted(shown - there):
        yield f"there is no evidence for: {_about(shows, name)}"
    for shows, name in sorted(there - shown):
        yield f"its source gives no evidence for: {_about(shows, name)}"


def _about(shows: str, name: str) -> str:
    return f"{shows} {name}".rstrip()


def _evidence_faults(
    certified: CertifiedStatement,
    specification: ir.Specification,
    reading: Reading,
    pool: SolverPool,
    options: Options,
) -> Iterator[str]:
    """What is wrong with the finite evidence, by evaluating it."""
    subject = subject_of(specification, certified.kind, certified.subject, certified.name)
    assert subject is not None
    for each in certified.evidence:
        try:
            value = reading.json(each.file)
            if subject.theorem is not None:
                about = REFUTATION if each.shows == "refuted" else each.name
                check_theorem_model(subject.theorem, about, model_of(value))
            else:
                assert subject.machine is not None
                goals = _goals(subject.machine, subject.name, each, pool, options)
                check_machine_run(subject.machine, goals, run_of(subject.machine, value))
        except FalseEvidence as fault:
            yield f"{each.file}: {fault}"
        except (Unsupported, LookupError, ValueError, TypeError) as fault:
            yield f"{each.file} is no such evidence: {fault}"


def _goals(machine: ir.Machine, name: str, evidence: Evidence, pool: SolverPool, options: Options) -> tuple[Goal, ...]:
    """What the run shows, one of these: that something happens or is reached, or that the statement fails."""
    if name == VACUITY:
        return (Firing(evidence.name),)
    for formula in machine.reachable:
        if formula.name == name:
            return (Violation(ir.NamedFormula(f"never {name}", negation(formula.body))),)
    if name in step_statements(machine):
        return step_goals(pool, machine, name, options)
    return (Violation(statement_formula(machine, name)),)
