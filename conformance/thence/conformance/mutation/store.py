"""Fates that are kept between runs: a folder with a file for each subject, a line for each mutant.

A fate is kept under a digest of the mutant and of everything that was used to judge it, so that it is never taken for
that of another text. A line is written at once; one that was cut off is no fate, and its mutant is judged again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.mutants import Mutant, SubjectKind

JUDGES: Final[dict[SubjectKind, str]] = {"protocol": "4", "machine": "4", "implementation": "3"}
"""Changes when mutants are judged otherwise, so that earlier fates do not count."""


LONGEST_LINE: Final = 1 << 20
"""A longer line is read as several, none of which is a fate."""

_PLAIN: Final = os.O_NOFOLLOW | os.O_NONBLOCK
"""A folder from elsewhere may have a symbolic link, or a pipe, in the place of a file: neither is read or written."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A fate and the seconds that it took."""

    fate: Fate
    seconds: float


class Store:
    """The fates of one subject's mutants in a folder. `context` is everything that they depend on beside themselves."""

    def __init__(self, folder: Path, kind: SubjectKind, name: str, context: str) -> None:
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{name}-{kind}")
        self._path = folder / f"{stem}.ndjson"
        self._context = hashlib.sha256(f"{JUDGES[kind]}\0{context}".encode()).hexdigest()

    def digest(self, mutant: Mutant) -> str:
        """Under which the mutant's fate is kept."""
        return hashlib.sha256(f"{self._context}\0{mutant.text}".encode()).hexdigest()[:24]

    def read(self) -> Mapping[str, Kept]:
        """The kept fates, by digest; of several the last one. Raises: OSError."""
        found: dict[str, Kept] = {}
        try:
            descriptor = os.open(self._path, os.O_RDONLY | _PLAIN)
        except FileNotFoundError:
            return found
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            while line := file.readline(LONGEST_LINE):
                kept = _read(line)
                if kept is not None:
                    found[kept[0]] = kept[1]
        return found

    def keep(self, mutant: Mutant, fate: Fate, seconds: float) -> None:
        """Adds a line. Raises: OSError, which names the file."""
        fields = {
            "mutant": self.digest(mutant), "number": mutant.number, **fate.to_json(), "seconds": round(seconds, 3),
        }  # fmt: skip
        line = json.dumps(fields, ensure_ascii=False) + "\n"
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _PLAIN, 0o644)
        try:
            size = os.fstat(handle).st_size
            whole = not size or os.pread(handle, 1, size - 1) == b"\n"
            text = (line if whole else f"\n{line}").encode()
            if os.write(handle, text) < len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        finally:
            os.close(handle)


def _read(line: str) -> tuple[str, Kept] | None:
    try:
        fields: Any = json.loads(line)
        outcome, reason = str(fields["outcome"]), str(fields["reason"])
        kept = Kept(Fate.read(outcome, reason), float(fields["seconds"]))
        return str(fields["mutant"]), kept
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
