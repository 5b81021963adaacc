"""Names in all files of the opened folders: declarations and their parts, found by a part of the name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path

from thence.lsp.analysis import Analysis
from thence.lsp.outline import Entry, outline

MOST_FILES = 1_000
"""Files that are read, and"""
MOST_FOLDERS = 10_000
"""folders that are looked into: somebody may have opened a whole disk."""
MOST_BYTES = 1 << 20
"""A larger file is left out."""
MOST_FOUND = 500
"""Names of an answer; the editor asks again when more is typed."""
_NOT_SOURCES = frozenset(("node_modules", "__pycache__", "site-packages"))


@dataclass(frozen=True, slots=True)
class Found:
    """A name: the file in which it is declared, its entry in the outline, and the declaration that it is a part of."""

    analysis: Analysis
    uri: str
    entry: Entry
    within: str = ""


@dataclass(slots=True)
class Search:
    """Finds names; a file is read again when it has changed on the disk."""

    _read: dict[Path, tuple[tuple[int, int], Analysis]] = field(default_factory=dict)

    def found(self, query: str, folders: Iterable[Path], opened: Mapping[str, Analysis]) -> tuple[Found, ...]:
        """Names that have the letters of the query in its order, in any case: the nearest first.

        `opened` are the files in the editor, which count as they are there, saved or not.
        """
        files, shown = dict(opened), {to_fs_path(uri) for uri in opened}
        for path in _files(folders):
            uri = from_fs_path(str(path))
            if uri is not None and str(path) not in shown and (known := self._analysis(path)) is not None:
                files[uri] = known
        names = (one for uri, analysis in files.items() for one in _names(uri, analysis) if _fits(query, one))
        return tuple(sorted(names, key=lambda one: _distance(query, one))[:MOST_FOUND])

    def _analysis(self, path: Path) -> Analysis | None:
        """What is known of a file on the disk; None where it cannot be read."""
        try:
            status = path.stat()
            stamp = status.st_mtime_ns, status.st_size
            known = self._read.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if status.st_size > MOST_BYTES:
                return None
            text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError:
            return None
        analysis = Analysis(text, str(path))
        self._read[path] = stamp, analysis
        return analysis


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    """The files of the language in these folders, in the order of their names; hidden folders are left out."""
    files = looked = 0
    seen: set[Path] = set()
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = sorted(name for name in inner if name[0] != "." and name not in _NOT_SOURCES)
            looked += 1
            if looked > MOST_FOLDERS:
                return
            for name in sorted(names):
                path = Path(place, name)
                if path.suffix == ".thence" and path not in seen:
                    seen.add(path)
                    files += 1
                    if files > MOST_FILES:
                        return
                    yield path


def _names(uri: str, analysis: Analysis) -> Iterator[Found]:
    for entry in outline(analysis):
        yield Found(analysis, uri, entry)
        yield from (Found(analysis, uri, part, entry.name) for part in entry.parts)


def _fits(query: str, one: Found) -> bool:
    letters = iter(one.entry.name.casefold())
    return all(letter in letters for letter in query.casefold() if not letter.isspace())


def _distance(query: str, one: Found) -> tuple[bool, bool, int, str, str]:
    """How far a name is from the query: the name itself, then what contains it, then the shorter one."""
    name, wanted = one.entry.name.casefold(), query.casefold()
    return name != wanted, wanted not in name, len(name), name, one.uri
