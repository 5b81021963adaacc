"""Writes a certificate to a directory, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from thence.proofs.certificate.build import MANIFEST, SUMS, Certificate, NotCertified


def write(found: Certificate, directory: Path) -> None:
    """Writes the certificate whole or not at all. It replaces another certificate.

    Raises: NotCertified where the directory has something else in it, or cannot be written.
    """
    refuse_place(directory)
    target = directory.absolute()
    draft, old = (target.with_name(f".{target.name}.{what}.{os.getpid()}") for what in ("new", "old"))
    try:
        for file, content in found.files.items():
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            (draft / file).write_bytes(content)
        if target.exists():
            target.rename(old)
        draft.rename(target)
    except OSError as error:
        if old.exists() and not target.exists():
            old.rename(target)
        raise NotCertified(f"{directory} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def refuse_place(directory: Path) -> None:
    """Raises: NotCertified where `write` would destroy files that are no certificate."""
    if not directory.exists():
        if not directory.absolute().parent.is_dir():
            raise NotCertified(f"{directory} cannot be written: there is no folder {directory.absolute().parent}")
        return
    if not directory.is_dir():
        raise NotCertified(f"{directory} is a file; name a directory for the certificate")
    if any(directory.iterdir()) and not _is_certificate(directory):
        raise NotCertified(f"{directory} has something else in it than a certificate; name another directory")


def _is_certificate(directory: Path) -> bool:
    """Whether the directory has a certificate and nothing else."""
    try:
        value = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        listed = (directory / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return False
    known = {line.partition("  ")[2] for line in listed} | {SUMS}
    there = {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}
    is_format = isinstance(value, dict) and str(value.get("format", "")).startswith("thence-certificate/")
    return is_format and there <= known
