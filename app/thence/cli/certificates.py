"""Certificates of proofs: where one goes, and who checks proof objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thence.cli.output import BadInput, Output, uncertified, unwritten
from thence.cli.proof_checker import CheckerMissing, find_checker
from thence.cli.session import Session
from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.certificate.build import Certificate, NotCertified, certificate, refuse_authors
from thence.proofs.certificate.manifest import FORMAT
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.writing import refuse_place, write
from thence.proofs.solving.assessment import Proof
from thence.proofs.solving.discharge import Options
from thence.spec.words import counted


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """The directory of a certificate, and the authors that it names."""

    directory: str
    authors: tuple[str, ...]

    def check(self) -> None:
        """Raises: BadInput where no certificate can be written there: before the proving, not after it."""
        try:
            refuse_place(Path(self.directory))
            refuse_authors(self.authors)
        except NotCertified as fault:
            raise BadInput(str(fault)) from fault


@dataclass(frozen=True, slots=True)
class Proved:
    """The proofs of a file, and its content when they began."""

    file: str
    specification: ir.Specification
    proofs: Sequence[Proof]


def certify(
    session: Session,
    request: CertificateRequest,
    proved: Proved,
    options: Options,
    output: Output,
) -> Output:
    """Writes the certificate of the proofs; the output with its levels, and with the place of the certificate.

    After Ctrl-C, and where no certificate can be written any more, the output is that of the proofs alone.
    """
    checker = installed_checker()
    try:
        loaded = load(proved.file)
        if loaded.specification != proved.specification:
            return unwritten(output, (f"no certificate: {proved.file} was changed while it was proved",))
        made = certificate(loaded, proved.proofs, options, checker, request.authors, certificate_status(session))
        write(made, Path(request.directory))
    except NotCertified as fault:
        return unwritten(output, (f"no certificate: {fault}",))
    except OSError as fault:  # of the files in which solvers and checkers get their work
        return unwritten(output, (f"no certificate: {fault.filename or 'a file'}: {fault.strerror or fault}",))
    except KeyboardInterrupt:
        return uncertified(output)
    levels = {statement.key: statement.level for statement in made.manifest.statements}
    results = tuple(
        replace(result, level=levels.get((result.kind, result.subject, result.name), result.level))
        for result in output.results
    )
    fields = {**output.fields, "certificate": _facts(request.directory, made, checker)}
    return replace(output, results=results, notes=f"{output.notes}{_said(request.directory, made)}", fields=fields)


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
    statements = counted(len(manifest.statements), "statement")
    lines = [
        f"certificate: {directory}, {statements}, {counted(len(manifest.obligations), 'obligation')}, "
        f"{checked} with a checked proof object"
    ]
    if "smtinterpol" not in manifest.programs:
        lines.append("there is no proof checker, so there are no checked proof objects: make checker")
    else:
        missing = [each.name for each in manifest.obligations if "resolute" not in each.proofs]
        lines += [f"no proof object was found for: {name}" for name in missing]
    return "".join(f"{line}\n" for line in lines)


def installed_checker() -> Smtinterpol | None:
    """The checker of proof objects; None without one. Raises: BadInput for another file in its place."""
    try:
        return find_checker()
    except CheckerMissing as fault:
        raise BadInput(str(fault)) from fault


def certificate_status(session: Session) -> Callable[[str, int, int], None]:
    """A line of progress for certificates that are made or checked."""
    return lambda what, done, total: session.status(f"certificate: {what}", done, total)
