"""Reads a certificate and checks everything that needs no solver: form, hashes, ids, references.

A fault means that the certificate was changed after it was written, or was never written by Thence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from thence.proofs.certificate.build import MANIFEST, SUMS, Shown, derived_files, rests_on, strength, sums
from thence.proofs.certificate.directory import contents, shown
from thence.proofs.certificate.evidence import form_fault
from thence.proofs.certificate.forms.expressions import ascii_text
from thence.proofs.certificate.forms.json_form import value_of
from thence.proofs.certificate.forms.obligation_form import obligation_fault, obligation_name
from thence.proofs.certificate.forms.proof_form import proof_fault
from thence.proofs.certificate.manifest import (
    FORMAT,
    BadManifest,
    CertifiedStatement,
    Key,
    Manifest,
    manifest_of,
    proof_id,
)
from thence.proofs.certificate.solver_results import is_set_by_thence
from thence.spec.user_error import UserError

Item = TypeVar("Item")


class NotACertificate(UserError):
    """The directory has no certificate that this version of Thence reads; the message says why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The files of a certificate; the manifest is None where it cannot be understood, which is one of the faults."""

    files: Mapping[str, bytes]
    manifest: Manifest | None
    faults: tuple[str, ...]

    def text(self, file: str) -> str:
        """A file's text, for files that had no fault."""
        return self.files[file].decode("ascii")

    def evidence(self, statement: CertifiedStatement) -> tuple[Shown, ...]:
        """The evidence that is listed for a statement."""
        return tuple(Shown(each.shows, each.name, self.files[each.file]) for each in statement.evidence)


def read(directory: Path) -> Reading:
    """The certificate in the directory, with its faults. Raises: NotACertificate."""
    where = shown(str(directory))
    if not directory.is_dir():
        if directory.exists():
            raise NotACertificate(f"{where} is a file; a certificate is the directory that `prove --certificate` wrote")
        raise NotACertificate(f"there is no directory {where}")
    try:
        found = contents(directory)
    except OSError as error:
        raise NotACertificate(f"{where} cannot be read: {error.strerror or error}") from error
    files, strange = found.files, found.faults
    if MANIFEST not in files:
        why = next((f": {fault}" for fault in strange if fault.startswith(f"{MANIFEST} ")), "")
        raise NotACertificate(f"{where} has no {MANIFEST} that can be read: it is not a certificate{why}")
    try:
        value = value_of(files[MANIFEST])
    except ValueError as fault:
        said = f"{MANIFEST} is not JSON of the form that Thence writes: {shown(str(fault))}"
        return Reading(files, None, (*strange, *_sum_faults(files), said))
    _refuse_other_formats(where, value)
    try:
        manifest = manifest_of(value)
    except BadManifest as fault:
        return Reading(files, None, (*strange, *_sum_faults(files), str(fault)))
    faults = [*strange, *_sum_faults(files), *_set_faults(manifest, files)]
    if not faults:
        faults = list(_content_faults(manifest, files))
    if not faults:
        faults = list(_manifest_faults(manifest, files))
    return Reading(files, manifest, tuple(faults))


def same_version(manifest: Manifest) -> bool:
    """Whether the Thence that reads is the one that wrote."""
    return manifest.thence == version("thence")


def _refuse_other_formats(where: str, value: Any) -> None:
    named = value.get("format") if isinstance(value, dict) else None
    if not isinstance(named, str) or not named.startswith("thence-certificate/"):
        raise NotACertificate(f"{where}/{MANIFEST} does not say that it is a certificate")
    if named != FORMAT:
        raise NotACertificate(
            f"{where} has the format {shown(named)}; Thence {version('thence')} reads {FORMAT}: "
            "use the version that wrote it, or have it written anew"
        )


def _sum_faults(files: Mapping[str, bytes]) -> Iterator[str]:
    """How the files differ from `SHA256SUMS`."""
    if SUMS not in files:
        yield f"{SUMS} is missing"
        return
    if files[SUMS] == sums(files).encode("utf-8", "surrogateescape"):
        return
    told = [line.partition("  ") for line in files[SUMS].decode("utf-8", "replace").split("\n")]
    hashes = {file: hash_ for hash_, mark, file in told if mark}
    changed = False
    for file in sorted({*hashes, *files} - {SUMS}):
        if file not in files:
            yield f"{shown(file)} is missing"
        elif file not in hashes:
            yield f"{shown(file)} is not in {SUMS}"
        elif sha256(files[file]).hexdigest() != hashes[file]:
            yield f"{shown(file)} is not as it was written: its SHA-256 differs from {SUMS}"
        else:
            continue
        changed = True
    if not changed:
        yield f"{SUMS} is not as it was written"


def _set_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """The files must be exactly those that the manifest names, each once."""
    proofs = [file for each in manifest.obligations for file in each.proofs.values()]
    evidence = [each.file for statement in manifest.statements for each in statement.evidence]
    obligations = [each.file for each in manifest.obligations]
    named = [MANIFEST, SUMS, manifest.source, *derived_files(manifest), *obligations, *proofs, *evidence]
    for file in sorted(set(files) - set(named)):
        yield f"{shown(file)} is no part of the certificate"
    for file in sorted(set(named) - set(files)):
        yield f"{file} is missing"
    for file in sorted(_repeated(named)):
        yield f"{file} is named more than once"
    used = {file for statement in manifest.statements for file in statement.obligations}
    for file in sorted(used - set(obligations)):
        yield f"{file} is not among the obligations"
    for file in sorted(set(obligations) - used):
        yield f"{file} is an obligation of no statement"
    yield from _faults_of_chains(manifest)
    keys: list[Key] = [*(statement.key for statement in manifest.statements), *manifest.omitted]
    for key in sorted(_repeated(keys)):
        yield f"the statement {' '.join(key)} is there more than once"


def _faults_of_chains(manifest: Manifest) -> Iterator[str]:
    """What a property of a protocol rests on must be in the certificate, at its level or a higher one."""
    there = {statement.key: statement for statement in manifest.statements}
    for statement in manifest.statements:
        named = f"{statement.subject}, {statement.name}"
        for key in statement.rests_on:
            if key not in there:
                yield f"{named}: it rests on the statement {' '.join(key)}, which is missing"
            elif there[key].level < statement.level:
                yield f"{named}: its level is above that of {' '.join(key)}, on which it rests"


def _repeated(items: list[Item]) -> list[Item]:
    return [item for item, count in Counter(items).items() if count > 1]


def _manifest_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """Faults of the manifest itself, and of the files that are made from it."""
    if files[MANIFEST] != manifest.content():
        yield f"{MANIFEST} is not written as Thence writes it"
    if same_version(manifest):
        yield from derived_faults(manifest, files)
    yield from _program_faults(manifest)
    by_file = {each.file: each for each in manifest.obligations}
    texts = {each.file: files[each.file].decode("ascii") for each in manifest.obligations}
    for statement in manifest.statements:
        named = f"{statement.subject}, {statement.name}"
        obligations = [by_file[file] for file in statement.obligations]
        checked = ["resolute" in each.proofs for each in obligations]
        if statement.level is not strength(obligations, checked, [each.results for each in obligations]):
            yield f"{named}: {statement.level.name} is not what its obligations give"
        if not any(each.shows != "needed" for each in statement.evidence) and not obligations:
            yield f"{named}: there is nothing that its verdict rests on"
        given = [texts[file] for file in statement.obligations]
        evidence = [Shown(each.shows, each.name, files[each.file]) for each in statement.evidence]
        if proof_id(statement.id, statement.verdict, rests_on(given, evidence)) != statement.proof_id:
            yield f"{named}: the proof id is not that of its obligations or evidence"


def derived_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """The files that are not what this version of Thence makes from the manifest."""
    for file, content in derived_files(manifest).items():
        if files[file] != content:
            yield f"{file} is not what {MANIFEST} gives"


def _program_faults(manifest: Manifest) -> Iterator[str]:
    """The programs are those that the results and proof objects are from, with options as Thence sets them."""
    solvers = [name for name in ("z3", "cvc5") if name in manifest.programs]
    for each in manifest.obligations:
        if sorted(each.results) != sorted(solvers):
            yield f"{each.file} has answers of other solvers than those named"
    kept = {ending for each in manifest.obligations for ending in each.proofs}
    if "resolute" in kept and "smtinterpol" not in manifest.programs:
        yield "there are proof objects of SMTInterpol, which is not named"
    for name, program in manifest.programs.items():
        if not is_set_by_thence(name, program):
            yield f"the options of {name} are not as Thence sets them"


def _content_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """Obligations and proof objects must be in their form, and named as listed; so must evidence."""
    for each in manifest.obligations:
        text = ascii_text(files[each.file])
        fault = "it is not printable ASCII" if text is None else obligation_fault(text)
        if text is None or fault is not None:
            yield f"{each.file} is not an obligation: {shown(fault or '')}"
        elif obligation_name(text) != each.name:
            yield f"{each.file} is not the obligation `{each.name}`"
        for ending, file in each.proofs.items():
            proof = ascii_text(files[file])
            fault = "it is not printable ASCII" if proof is None else proof_fault(ending, proof)
            if fault is not None:
                yield f"{file} is not a proof object: {shown(fault)}"
    for statement in manifest.statements:
        for evidence in statement.evidence:
            fault = form_fault(evidence.file, files[evidence.file])
            if fault is not None:
                yield shown(fault)
