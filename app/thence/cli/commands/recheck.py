"""`thence prove --certificate` and `thence recheck`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thence.cli.output import AS_EXPECTED, REFUTED, UNKNOWN, BadInput, Output
from thence.cli.proof_checker import CheckerMissing, find_checker
from thence.cli.session import Session
from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.certificate.build import Certificate, NotCertified, certificate
from thence.proofs.certificate.manifest import FORMAT
from thence.proofs.certificate.reading import NotACertificate
from thence.proofs.certificate.recheck import Confirmation, Recheck, Thoroughness
from thence.proofs.certificate.recheck import recheck as check_again
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.writing import refuse_place, write
from thence.proofs.solving.assessment import Proof
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Result, Verdict


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """Where a certificate goes, and whom it names."""

    directory: str
    authors: tuple[str, ...]

    def check(self) -> None:
        """Raises: BadInput where no certificate can be written there: before the proving, not after it."""
        try:
            refuse_place(Path(self.directory))
        except NotCertified as fault:
            raise BadInput(str(fault)) from fault


def certify(
    session: Session,
    request: CertificateRequest,
    file: str,
    proved: ir.Specification,
    proofs: Sequence[Proof],
    options: Options,
    output: Output,
) -> Output:
    """Writes the certificate of what was proved; the output with its levels, and where it is."""
    loaded = load(file)
    if loaded.specification != proved:
        raise BadInput(f"{file} was changed while it was proved")
    checker = _checker()
    try:
        made = certificate(loaded, proofs, options, checker, request.authors, _status(session))
        write(made, Path(request.directory))
    except NotCertified as fault:
        raise BadInput(f"no certificate: {fault}") from fault
    levels = {statement.key: statement.level for statement in made.manifest.statements}
    results = tuple(
        replace(result, level=levels.get((result.kind, result.subject, result.name), result.level))
        for result in output.results
    )
    fields = {**output.fields, "certificate": _facts(request.directory, made, checker)}
    return replace(output, results=results, text=f"{output.text or ''}{_said(request.directory, made)}", fields=fields)


def _facts(directory: str, made: Certificate, checker: Smtinterpol | None) -> dict[str, Any]:
    manifest = made.manifest
    return {
        "directory": directory,
        "format": FORMAT,
        "statements": len(manifest.statements),
        "obligations": len(manifest.obligations),
        "proof_objects": sum("resolute" in each.proofs for each in manifest.obligations),
        "checker": None if checker is None else checker.version,
    }


def _said(directory: str, made: Certificate) -> str:
    manifest = made.manifest
    checked = sum("resolute" in each.proofs for each in manifest.obligations)
    lines = [
        f"certificate: {directory}, {len(manifest.statements)} statements, {len(manifest.obligations)} obligations, "
        f"{checked} with a checked proof object"
    ]
    if "smtinterpol" not in manifest.programs:
        lines.append("there is no proof checker, so there are no checked proof objects: make checker")
    else:
        missing = [each.name for each in manifest.obligations if "resolute" not in each.proofs]
        lines += [f"no proof object was found for: {name}" for name in missing]
    return "".join(f"{line}\n" for line in lines)


def recheck(session: Session, directory: str, jobs: int, timeout_s: float, proofs: bool, rederived: bool) -> Output:
    """Checks a certificate: 0 confirmed, 1 it is not what it says, 2 it is no certificate, 3 not decided."""
    options = Options(timeout_ms=round(timeout_s * 1000), workers=jobs)
    try:
        found = check_again(
            Path(directory), options, _checker() if proofs else None, Thoroughness(proofs, rederived), _status(session)
        )
    except NotACertificate as fault:
        raise BadInput(str(fault)) from fault
    results = tuple(_result(confirmation, found) for confirmation in found.confirmations)
    fields: dict[str, Any] = {"faults": list(found.faults), "notes": list(found.notes)}
    if found.manifest is not None:
        fields["certificate"] = {"directory": directory, "format": FORMAT, "written_by": found.manifest.thence}
    return Output(results, text=_text(directory, found), fields=fields, exit=_exit(found))


def _exit(found: Recheck) -> int:
    if found.faults:
        return REFUTED
    return AS_EXPECTED if all(each.confirmed for each in found.confirmations) else UNKNOWN


def _result(confirmation: Confirmation, found: Recheck) -> Result:
    statement = confirmation.statement
    facts: dict[str, Any] = {
        "statement_id": statement.id,
        "proof_id": statement.proof_id,
        "obligations": len(statement.obligations),
        "proof_objects": confirmation.proofs_checked,
        "certified_level": statement.level.name,
    }
    reasons = list(confirmation.reasons)
    if confirmation.verdict is Verdict.UNKNOWN:
        facts["unknown"] = "; ".join(reasons) or "the certificate has faults"
    return Result(
        statement.name,
        statement.kind,
        statement.subject,
        confirmation.verdict,
        confirmation.level,
        confirmation.confirmed,
        found.seconds / len(found.confirmations),
        facts,
        "\n".join(reasons or [f"statement sha256:{statement.id}", f"proof sha256:{statement.proof_id}"]),
    )


def _text(directory: str, found: Recheck) -> str:
    if found.faults:
        heading = f"{directory} is NOT what it says:"
    elif all(each.confirmed for each in found.confirmations):
        heading = f"{directory}: everything is confirmed"
    else:
        heading = f"{directory}: not everything could be decided"
    lines = [heading, *(f"  {fault}" for fault in found.faults), *(f"note: {note}" for note in found.notes)]
    return "".join(f"{line}\n" for line in lines)


def _checker() -> Smtinterpol | None:
    try:
        return find_checker()
    except CheckerMissing as fault:
        raise BadInput(str(fault)) from fault


def _status(session: Session) -> Any:
    return lambda what, done, total: session.status(f"{what}: {done} of {total}")
