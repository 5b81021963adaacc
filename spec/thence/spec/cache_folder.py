"""The folder of what is kept between runs: the user's own, or none.

Whatever is kept there is data, never code: it is read as JSON. It is believed all the same, so that nothing is read
from a folder, or from a file, in which another user may write.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 64 << 20
"""A kept file is at most so long."""


def cache_folder(name: str = "") -> Path | None:
    """`$XDG_CACHE_HOME/thence`, or `~/.cache/thence`, or the folder `name` in it; it is made where it is missing.

    A relative `$XDG_CACHE_HOME` is ignored, as its specification wants it: the current directory is no place for a
    cache. None where the folder cannot be used: it cannot be made or written to, another user may write to it, or the
    system does not say who the user is, as in a browser.
    """
    if not hasattr(os, "geteuid"):
        return None
    base = os.environ.get("XDG_CACHE_HOME") or ""
    try:
        root = (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "thence"
        folder = root / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        usable = _is_own(root.stat()) and _is_own(folder.stat()) and os.access(folder, os.W_OK)
    except (OSError, RuntimeError, ValueError):
        return None
    return folder if usable else None


def read_kept(path: Path) -> bytes:
    """The content of a kept file. Raises OSError; also where it is not the user's own regular file, or too long."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_own(found) or found.st_size > MOST_BYTES:
            raise PermissionError(f"{path} is not a file of this user alone")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MOST_BYTES)
    finally:
        os.close(descriptor)


def _is_own(found: os.stat_result) -> bool:
    """Whether nobody but the user, or the administrator, can have written it."""
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
