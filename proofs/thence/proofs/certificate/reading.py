"""Reads a certificate and checks everything that needs no solver: form, hashes, ids, references.

A fault means that the certificate was changed after it was written, or was never written by Thence.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from thence.proofs.certificate.build import MANIFEST, SUMS, derived_files, obligation_name, strength, sums
from thence.proofs.certificate.manifest import (
    FORMAT,
    BadManifest,
    CertifiedStatement,
    Manifest,
    evidence_schema,
    hold_against,
    manifest_of,
    obligation_digest,
    proof_id,
)
from thence.proofs.certificate.smt_commands import plainness_fault


class NotACertificate(Exception):
    """The directory has no certificate that this version of Thence reads; the message says why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The files of a certificate; the manifest is None where it cannot be understood, which is one of the faults."""

    files: Mapping[str, bytes]
    manifest: Manifest | None
    faults: tuple[str, ...]

    def text(self, file: str) -> str:
        """A file's text, for files that had no fault."""
        return self.files[file].decode()

    def json(self, file: str) -> Any:
        """A JSON file's value, for files that had no fault."""
        return json.loads(self.files[file])


def read(directory: Path) -> Reading:
    """The certificate in the directory, with its faults. Raises: NotACertificate."""
    if not directory.is_dir():
        raise NotACertificate(f"there is no directory {directory}")
    if not (directory / MANIFEST).is_file():
        raise NotACertificate(f"{directory} has no {MANIFEST}: it is not a certificate")
    files, strange = _files(directory)
    try:
        value = json.loads(files[MANIFEST].decode())
    except (ValueError, RecursionError) as fault:
        return Reading(files, None, (*strange, *_sum_faults(files), f"{MANIFEST} is not JSON: {fault}"))
    _refuse_other_formats(directory, value)
    try:
        manifest = manifest_of(value)
    except BadManifest as fault:
        return Reading(files, None, (*strange, *_sum_faults(files), str(fault)))
    faults = [*strange, *_sum_faults(files), *_set_faults(manifest, files)]
    if not faults:
        faults += [*_manifest_faults(manifest, files), *_content_faults(manifest, files)]
    return Reading(files, manifest, tuple(faults))


def same_version(manifest: Manifest) -> bool:
    """Whether the Thence that reads is the one that wrote."""
    return manifest.thence == version("thence")


def _files(directory: Path) -> tuple[dict[str, bytes], list[str]]:
    files: dict[str, bytes] = {}
    strange: list[str] = []
    for folder, folders, names in os.walk(directory):
        here = Path(folder)
        strange += [
            f"{(here / name).relative_to(directory)} is a link" for name in folders if (here / name).is_symlink()
        ]
        for name in names:
            path = here / name
            file = path.relative_to(directory).as_posix()
            if path.is_symlink() or not path.is_file():
                strange.append(f"{file} is not a file")
            else:
                files[file] = path.read_bytes()
    return files, strange


def _refuse_other_formats(directory: Path, value: Any) -> None:
    named = value.get("format") if isinstance(value, dict) else None
    if not isinstance(named, str) or not named.startswith("thence-certificate/"):
        raise NotACertificate(f"{directory}/{MANIFEST} does not say that it is a certificate")
    if named != FORMAT:
        raise NotACertificate(
            f"{directory} has the format {named}; Thence {version('thence')} reads {FORMAT}: "
            "use the version that wrote it, or have it written anew"
        )


def _sum_faults(files: Mapping[str, bytes]) -> Iterator[str]:
    """How the files differ from `SHA256SUMS`."""
    if SUMS not in files:
        yield f"{SUMS} is missing"
        return
    if files[SUMS] == sums(files).encode():
        return
    told = [line.partition("  ") for line in files[SUMS].decode("utf-8", "replace").splitlines()]
    hashes = {file: hash_ for hash_, _, file in told}
    changed = False
    for file in sorted({*hashes, *files} - {SUMS}):
        if file not in files:
            yield f"{file} is missing"
        elif file not in hashes:
            yield f"{file} is not in {SUMS}"
        elif sha256(files[file]).hexdigest() != hashes[file]:
            yield f"{file} is not as it was written: its SHA-256 differs from {SUMS}"
        else:
            continue
        changed = True
    if not changed:
        yield f"{SUMS} is not as it was written"


def _set_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """The files must be exactly those that the manifest names."""
    proofs = [file for each in manifest.obligations for file in each.proofs.values()]
    evidence = [each.file for statement in manifest.statements for each in statement.evidence]
    obligations = [each.file for each in manifest.obligations]
    named = [MANIFEST, SUMS, manifest.source, *derived_files(manifest), *obligations, *proofs, *evidence]
    for file in sorted(set(files) - set(named)):
        yield f"{file} is no part of the certificate"
    for file in sorted(set(named) - set(files)):
        yield f"{file} is missing"
    for file in sorted({file for file in named if named.count(file) > 1}):
        yield f"{file} is named more than once"
    used = {file for statement in manifest.statements for file in statement.obligations}
    for file in sorted(used - set(obligations)):
        yield f"{file} is not among the obligations"
    for file in sorted(set(obligations) - used):
        yield f"{file} is an obligation of no statement"
    for key in sorted({each.key for each in manifest.statements if [*_keys(manifest)].count(each.key) > 1}):
        yield f"the statement {' '.join(key)} is there more than once"


def _keys(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    return (statement.key for statement in manifest.statements)


def _manifest_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """Faults of the manifest itself, and of the files that are made from it."""
    if files[MANIFEST] != manifest.text().encode():
        yield f"{MANIFEST} is not written as Thence writes it"
    if same_version(manifest):
        for file, content in derived_files(manifest).items():
            if files[file] != content:
                yield f"{file} is not what {MANIFEST} gives"
    results = {each.file: each for each in manifest.obligations}
    for statement in manifest.statements:
        obligations = [results[file] for file in statement.obligations]
        checked = ["resolute" in each.proofs for each in obligations]
        if statement.level is not strength(obligations, checked, [each.results for each in obligations]):
            yield f"{statement.subject}, {statement.name}: {statement.level.name} is not what its obligations give"
        if not any(each.shows != "needed" for each in statement.evidence) and not obligations:
            yield f"{statement.subject}, {statement.name}: there is nothing that its verdict rests on"
        if _proof_id(statement, files) != statement.proof_id:
            yield f"{statement.subject}, {statement.name}: the proof id is not that of its obligations or evidence"


def _proof_id(statement: CertifiedStatement, files: Mapping[str, bytes]) -> str:
    rests_on = [obligation_digest(files[file].decode("utf-8", "replace")) for file in statement.obligations]
    if not rests_on:
        shown = (each.file for each in statement.evidence if each.shows != "needed")
        rests_on = [sha256(files[file]).hexdigest() for file in shown]
    return proof_id(statement.id, statement.verdict, rests_on)


def _content_faults(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[str]:
    """Obligations must be plain, and named as listed; evidence must be of its schema."""
    for each in manifest.obligations:
        try:
            text = files[each.file].decode()
        except UnicodeDecodeError:
            yield f"{each.file} is not text"
            continue
        fault = plainness_fault(text)
        if fault is not None:
            yield f"{each.file} is not an obligation: {fault}"
        elif obligation_name(text) != each.name:
            yield f"{each.file} is not the obligation `{each.name}`"
        for file in each.proofs.values():
            if not _is_text(files[file]):
                yield f"{file} is not text"
    for statement in manifest.statements:
        for evidence in statement.evidence:
            try:
                hold_against(evidence_schema(), json.loads(files[evidence.file]), evidence.file)
            except (ValueError, RecursionError) as fault_:
                yield f"{evidence.file} is not JSON: {fault_}"
            except BadManifest as fault_:
                yield str(fault_)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
