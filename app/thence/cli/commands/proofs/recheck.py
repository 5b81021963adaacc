"""`thence recheck`: a certificate, checked again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from thence.api.closed_sets import facts_of, results_of, text_of
from thence.api.proving import timeout_ms
from thence.cli.certificates import certificate_status, installed_checker
from thence.cli.options import Json, Verbose
from thence.cli.output import AS_EXPECTED, REFUTED, UNKNOWN, BadInput, Output
from thence.cli.session import Session, run_command
from thence.conformance.cases.time_limit import OutOfTime, limited
from thence.proofs.certificate.directory import shown
from thence.proofs.certificate.manifest import FORMAT, Manifest
from thence.proofs.certificate.recheck import Confirmation, Recheck, Thoroughness
from thence.proofs.certificate.recheck import recheck as recheck_certificate
from thence.proofs.closed.confirm import confirm
from thence.proofs.closed.reading import is_closed_set
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Result, Verdict
from thence.spec.words import counted


def recheck(
    directory: Annotated[str, typer.Argument(help="A certificate, from prove --certificate or explore --certificate.")],
    proofs: Annotated[
        bool,
        typer.Option("--proofs/--no-proofs", help="Whether proof objects are checked. If not, no level is L4."),
    ] = True,
    rederive: Annotated[
        bool,
        typer.Option(
            "--rederive/--no-rederive",
            help="Whether the certificate is derived again from its source; without, no statement is confirmed: "
            "it is only known that the SMT-LIB2 files are unsatisfiable.",
        ),
    ] = True,
    jobs: Annotated[int, typer.Option(min=1, help="The number of processes at a time.")] = 2,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="The time limit for each obligation and solver, in seconds.")
    ] = 10.0,
    limit: Annotated[float, typer.Option(min=0.01, help="The time limit for the whole check, in seconds.")] = 3600.0,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Checks a certificate: 0 confirmed, 1 it is not what it says, 2 it is no certificate, 3 not all confirmed."""
    thoroughness = Thoroughness(proofs, rederive)

    def body(session: Session) -> Output:
        options = Options(timeout_ms=timeout_ms(timeout), workers=jobs)
        return _limited(session, directory, options, thoroughness, limit)

    run_command("recheck", json, body, verbose)


def _limited(session: Session, directory: str, options: Options, thoroughness: Thoroughness, limit_s: float) -> Output:
    """The output, within a time limit for all of it: whatever is in a certificate, a recheck ends."""
    try:
        with limited(limit_s):
            if is_closed_set(Path(directory)):
                if thoroughness != Thoroughness():
                    raise BadInput("--no-proofs and --no-rederive are about proofs, and this is a closed set of states")
                return _closed(session, directory, options.workers)
            return _rechecked(session, directory, options, thoroughness)
    except OutOfTime:
        said = f"{shown(directory)}: NOT confirmed: it was not checked within {limit_s:g} s (--limit)"
        return Output(text=f"{said}\n", fields={"faults": [], "notes": [said]}, exit=UNKNOWN)


def _closed(session: Session, directory: str, jobs: int) -> Output:
    """The output on a closed set of states, from `explore --certificate`."""
    started = time.perf_counter()
    found = confirm(Path(directory), jobs, lambda what, done, of: session.status(f"certificate: {what}", done, of))
    results = results_of(found, time.perf_counter() - started)
    code = REFUTED if found.fault else UNKNOWN if found.why_open else AS_EXPECTED
    where = shown(directory)
    return Output(results, text=text_of(where, found), fields=facts_of(where, found), exit=code)


def _rechecked(session: Session, directory: str, options: Options, thoroughness: Thoroughness) -> Output:
    found = recheck_certificate(
        Path(directory),
        options,
        installed_checker() if thoroughness.proofs else None,
        thoroughness,
        certificate_status(session),
    )
    results = tuple(_result(confirmation, found) for confirmation in found.confirmations)
    fields: dict[str, Any] = {"faults": list(found.faults), "notes": list(found.notes)}
    if found.manifest is not None:
        fields["certificate"] = _facts(directory, found)
    return Output(results, text=_text(directory, found), fields=fields, exit=_exit(found))


def _exit(found: Recheck) -> int:
    if found.faults:
        return REFUTED
    return AS_EXPECTED if found.confirmed else UNKNOWN


def _result(confirmation: Confirmation, found: Recheck) -> Result:
    statement = confirmation.statement
    facts: dict[str, Any] = {
        "statement_id": statement.id,
        "proof_id": statement.proof_id,
        "obligations": len(statement.obligations),
        "proof_objects": confirmation.proofs_checked,
        "certified_verdict": statement.verdict.value,
        "certified_level": statement.level.name,
        **({"mutant": statement.name.partition(": ")[0]} if statement.kind == "mutant" else {}),
    }
    reasons = list(confirmation.reasons)
    if confirmation.verdict is Verdict.UNKNOWN:
        facts["unknown"] = "; ".join(reasons) or "the certificate has faults"
    ids = [f"statement sha256:{statement.id}", f"proof sha256:{statement.proof_id}"]
    return Result(
        statement.name,
        statement.kind,
        statement.subject,
        confirmation.verdict,
        confirmation.level,
        confirmation.confirmed,
        found.seconds / len(found.confirmations),
        facts,
        "\n".join([*reasons, *(ids if confirmation.confirmed else [])] or ["the certificate has faults"]),
    )


def _facts(directory: str, found: Recheck) -> dict[str, Any]:
    assert found.manifest is not None
    return {
        "directory": directory,
        "format": FORMAT,
        "written_by": found.manifest.thence,
        "statements": len(found.manifest.statements),
        "confirmed": sum(each.confirmed for each in found.confirmations) if not found.faults else 0,
        "omitted": len(found.manifest.omitted),
        "obligations": len(found.manifest.obligations),
        "decided": found.decided,
        "proof_objects": found.proofs_checked,
    }


def _text(directory: str, found: Recheck) -> str:
    where = shown(directory)
    if found.faults:
        heading = f"{where} is NOT what it says:"
    elif found.confirmed:
        heading = f"{where}: all statements are confirmed"
    else:
        heading = f"{where}: NOT everything is confirmed"
    lines = [heading, *(f"  {fault}" for fault in found.faults)]
    if found.manifest is not None and found.confirmations:
        lines += _coverage(found.manifest, found)
    lines += [f"note: {note}" for note in found.notes]
    return "".join(f"{line}\n" for line in lines)


def _coverage(manifest: Manifest, found: Recheck) -> Iterator[str]:
    """How much of the certificate was confirmed, in numbers."""
    total = len(manifest.statements)
    yield f"statements confirmed: {sum(each.confirmed for each in found.confirmations)} of {total}"
    if manifest.obligations:
        count = len(manifest.obligations)
        yield f"obligations found unsatisfiable: {found.decided} of {count}"
        yield f"proof objects checked for {found.proofs_checked} of {counted(count, 'obligation')}"
    if manifest.omitted:
        listed = ", ".join(f"{subject} {name}" for _, subject, name in manifest.omitted[:5])
        more = f" and {len(manifest.omitted) - 5} more" if len(manifest.omitted) > 5 else ""
        yield f"the source states this, too, and the certificate says nothing about it: {listed}{more}"
    yield "not checked, as given by whoever made it: the names of authors; versions and limits of programs as recorded"
