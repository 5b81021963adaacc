"""The files of a directory that somebody sent: regular files in their places, up to a size. Nothing else is opened.

A certificate has files at its top and in four folders. Links, devices, pipes, other folders, files that cannot be read
and files beyond the limits are faults; they are named and not read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MOST_FILES: Final = 100_000
MOST_BYTES: Final = {"evidence": 1 << 20, "obligations": 8 << 20, "proofs": 128 << 20, "sources": 2 << 20, "": 16 << 20}
"""Limits on the bytes of a file, by folder."""

MOST_BYTES_TOGETHER: Final = 1 << 30

_LONGEST_SHOWN: Final = 300


def shown(text: str) -> str:
    """A text of unknown origin as part of a message: one line of printable characters, cut where it is long."""
    cut = text[:_LONGEST_SHOWN] + ("..." if len(text) > _LONGEST_SHOWN else "")
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cut)


@dataclass(slots=True)
class Contents:
    """The files by their paths, and the faults of the directory."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    most_bytes: Mapping[str, int] = field(default_factory=lambda: MOST_BYTES)
    _bytes: int = 0
    _seen: int = 0

    def add(self, entry: os.DirEntry[str], file: str) -> None:
        """Reads a file, or says why not."""
        self._seen += 1
        if self._seen > MOST_FILES:
            return
        try:
            content = self._content(entry, file)
        except OSError as error:
            self.faults.append(f"{shown(file)} cannot be read: {error.strerror or error}")
            return
        if content is not None:
            self.files[file] = content
            self._bytes += len(content)

    def _content(self, entry: os.DirEntry[str], file: str) -> bytes | None:
        if not entry.is_file(follow_symlinks=False):
            self.faults.append(f"{shown(file)} is {'a link' if entry.is_symlink() else 'not a file'}")
            return None
        # A file that is exchanged for a link or a pipe in this moment is not followed, and not waited for.
        handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                self.faults.append(f"{shown(file)} is not a file")
                return None
            limit = min(self.most_bytes[file.rpartition("/")[0]], MOST_BYTES_TOGETHER - self._bytes)
            content = stream.read(limit + 1) if os.fstat(handle).st_size <= limit else None
        if content is None or len(content) > limit:
            self.faults.append(f"{shown(file)} is not read: it is larger than {limit:,} bytes")
            return None
        return content

    @property
    def too_many(self) -> bool:
        return self._seen > MOST_FILES


def contents(directory: Path, most_bytes: Mapping[str, int] = MOST_BYTES) -> Contents:
    """The files of a certificate's directory, with limits on the bytes of a file by folder, which are its folders.

    Raises: OSError where the directory itself cannot be listed.
    """
    found = Contents(most_bytes=most_bytes)
    folders = tuple(folder for folder in most_bytes if folder)
    for folder in ("", *folders):
        for entry, file in _entries(directory, folder, found):
            if not entry.is_symlink() and entry.is_dir(follow_symlinks=False):
                if folder or entry.name not in folders:
                    found.faults.append(f"{shown(file)} is no part of the certificate")
            elif not found.too_many:
                found.add(entry, file)
    if found.too_many:
        found.faults.append(f"there are more than {MOST_FILES:,} files; the others are not read")
    return found


def _entries(directory: Path, folder: str, found: Contents) -> Iterator[tuple[os.DirEntry[str], str]]:
    place = directory / folder
    if folder and (place.is_symlink() or not place.is_dir()):
        return  # that it is something else is found among the entries of the directory
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                yield entry, f"{folder}/{entry.name}" if folder else entry.name
    except OSError as error:
        if not folder:
            raise
        found.faults.append(f"{shown(folder)} cannot be read: {error.strerror or error}")
