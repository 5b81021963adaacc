"""Writes a certificate to a directory, whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from thence.proofs.certificate.build import DERIVED, MANIFEST, SUMS, Certificate, NotCertified
from thence.proofs.certificate.directory import contents
from thence.proofs.certificate.forms.json_form import value_of


def write(found: Certificate, directory: Path) -> None:
    """Writes the certificate whole or not at all. It replaces another certificate.

    Raises: NotCertified where the directory has something else in it, or cannot be written.
    """
    write_files(found.files, directory, _is_certificate)


def write_files(files: Mapping[str, bytes], directory: Path, is_own: Callable[[Path], bool]) -> None:
    """Writes the files whole or not at all, in the place of what `is_own` says may be replaced.

    Raises: NotCertified where the directory has something else in it, or cannot be written.
    """
    refuse_place(directory, is_own)
    target = directory.absolute()
    draft, old = (target.with_name(f".{target.name}.{what}.{os.getpid()}") for what in ("new", "old"))
    try:
        for file, content in files.items():
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            (draft / file).write_bytes(content)
        if target.exists():
            target.rename(old)
        draft.rename(target)
    except BaseException as error:
        if old.exists() and not target.exists():
            old.rename(target)
        if isinstance(error, OSError):
            raise NotCertified(f"{directory} cannot be written: {error.strerror or error}") from error
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def refuse_place(directory: Path, is_own: Callable[[Path], bool] | None = None) -> None:
    """Raises: NotCertified where writing would destroy files that are no certificate (of the kind of `is_own`)."""
    if not directory.exists():
        if not directory.absolute().parent.is_dir():
            raise NotCertified(f"{directory} cannot be written: there is no folder {directory.absolute().parent}")
        return
    if not directory.is_dir():
        raise NotCertified(f"{directory} is a file; name a directory for the certificate")
    if any(directory.iterdir()) and not (is_own or _is_certificate)(directory):
        raise NotCertified(f"{directory} has something else in it than a certificate; name another directory")


def _is_certificate(directory: Path) -> bool:
    """Whether the directory has a certificate and nothing else: files with the names of a certificate's files."""
    try:
        found = contents(directory)
        value = value_of(found.files.get(MANIFEST, b""))
    except (OSError, ValueError):
        return False
    is_format = isinstance(value, dict) and str(value.get("format", "")).startswith("thence-certificate/")
    return is_format and not found.faults and all(map(_FILE.fullmatch, found.files))


_FILE = re.compile(
    rf"{'|'.join(map(re.escape, (MANIFEST, SUMS, *DERIVED)))}|sources/[^/]+\.thence|obligations/[0-9]+\.smt2"
    r"|proofs/[0-9]+\.(?:resolute|alethe)|evidence/[0-9]+\.json"
)
