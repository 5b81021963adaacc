"""`thence recheck`: a certificate, checked again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from thence.cli.certificates import certificate_status, installed_checker
from thence.cli.options import Json
from thence.cli.output import AS_EXPECTED, REFUTED, UNKNOWN, BadInput, Output
from thence.cli.session import Session, run_command
from thence.proofs.certificate.manifest import FORMAT
from thence.proofs.certificate.reading import NotACertificate
from thence.proofs.certificate.recheck import Confirmation, Recheck, Thoroughness
from thence.proofs.certificate.recheck import recheck as recheck_certificate
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Result, Verdict


def recheck(
    directory: Annotated[str, typer.Argument(help="A certificate, from prove --certificate.")],
    proofs: Annotated[
        bool, typer.Option("--proofs/--no-proofs", help="Whether proof objects are checked; without, no level is L4.")
    ] = True,
    rederive: Annotated[
        bool,
        typer.Option(
            "--rederive/--no-rederive",
            help="Whether the obligations are derived again from the source; without, it is only known that the "
            "SMT-LIB2 files are unsatisfiable.",
        ),
    ] = True,
    jobs: Annotated[int, typer.Option(min=1, help="Solver processes at a time.")] = 2,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds per obligation and solver.")] = 10.0,
    json: Json = False,
) -> None:
    """Checks a certificate: 0 confirmed, 1 it is not what it says, 2 it is no certificate, 3 not decided."""
    options = Options(timeout_ms=round(timeout * 1000), workers=jobs)
    thoroughness = Thoroughness(proofs, rederive)
    run_command("recheck", json, lambda session: _rechecked(session, directory, options, thoroughness))


def _rechecked(session: Session, directory: str, options: Options, thoroughness: Thoroughness) -> Output:
    try:
        found = recheck_certificate(
            Path(directory),
            options,
            installed_checker() if thoroughness.proofs else None,
            thoroughness,
            certificate_status(session),
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
