"""Optimised machine code that is kept between runs: making it again takes an eighth of a second.

It is keyed by the text that it is generated from, the compiler's version and the processor, so an edit of a protocol
never meets the code of another. Two processes may keep the same at once: a file appears whole or not at all. A file
that was cut off or spoilt is noticed by its checksum, and the code is generated anew.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm

from thence.spec.cache_folder import cache_folder, read_kept

FORMAT: Final = b"thence-code/1\n"
FOLDER: Final = "code"

MOST_KEPT: Final = 64
"""So many pieces of code are kept, those that were used last. One is about 50 kB."""

_SUM_BYTES: Final = 32


def folder() -> Path | None:
    """The folder of the code, or None: it cannot be used, or `THENCE_CACHE=off` forbids it."""
    return None if os.environ.get("THENCE_CACHE") == "off" else cache_folder(FOLDER)


def key_of(text: str, machine: Any) -> str:
    """A hash of everything that the code depends on: what it says, who compiles it, and for which processor."""
    parts = (FORMAT.decode(), *_here(), machine.triple, text)
    return sha256("\0".join(parts).encode()).hexdigest()


@cache
def _here() -> tuple[str, str, str]:
    """The compiler, the processor and its features."""
    compiler = f"{llvmlite.__version__} {llvm.llvm_version_info}"
    return compiler, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def recall(key: str) -> bytes | None:
    """The code that was kept under the key, or None."""
    place = folder()
    if place is None:
        return None
    path = place / key
    try:
        found = read_kept(path)
        with suppress(OSError):
            os.utime(path)
    except OSError:
        return None
    head = len(FORMAT) + _SUM_BYTES
    code = found[head:]
    whole = found.startswith(FORMAT) and found[len(FORMAT) : head] == _sum(key, code)
    return code if whole else None


def keep(key: str, code: bytes) -> None:
    """Keeps the code, if that is possible, and removes what was not used for longest."""
    place = folder()
    if place is None:
        return
    draft = place / f".{key}.{os.getpid()}.{threading.get_ident()}"
    with suppress(OSError):
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(FORMAT + _sum(key, code) + code)
            draft.replace(place / key)
        finally:
            draft.unlink(missing_ok=True)
        _prune(place)


def _sum(key: str, code: bytes) -> bytes:
    return sha256(key.encode() + code).digest()


def _prune(place: Path) -> None:
    now = time.time()
    used = sorted(((now - path.stat().st_mtime, path) for path in place.iterdir()), key=lambda each: each[0])
    for _, path in used[MOST_KEPT:]:
        path.unlink(missing_ok=True)
