"""The names that a file declares, read line by line. It is enough for completion, and needs no parser.

A header stands at the margin: `scope small of rst:`. What it holds is indented: `property causal, fifo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import thence.spec

SUFFIX = ".thence"

_MOST_BYTES = 1_000_000
"""The text of a larger file is not looked at."""

_HEADER = re.compile(
    r"(theory|theorem|machine|protocol|scope|mutant|scenario)\s+(\w+)(?=\s*:|\s+(?:of|in)\s[^:]*:)", re.ASCII
)
_NAMED = re.compile(r"\s+(?:invariant|stable|reachable)\s+(\w+)", re.ASCII)
_LISTED = re.compile(r"\s+property\s+([\w, ]+)", re.ASCII)


def library_names() -> list[str]:
    """The bare names of the library's files."""
    return sorted(path.stem for path in _library().glob(f"*{SUFFIX}"))


def declared(file: str, *kinds: str) -> list[str]:
    """The names that a file declares by these words (`scope`, `mutant`), in the order of the text."""
    found = [match[2] for line in _lines(file) if (match := _HEADER.match(line)) and match[1] in kinds]
    return list(dict.fromkeys(found))


def properties(file: str) -> list[str]:
    """The properties and invariants that the protocols of a file state."""
    return list(dict.fromkeys(_properties(file)))


def _properties(file: str) -> Iterator[str]:
    kind = ""
    for line in _lines(file):
        if header := _HEADER.match(line):
            kind = header[1]
        elif kind != "protocol":
            continue
        elif listed := _LISTED.match(line):
            yield from filter(None, (name.strip() for name in listed[1].split(",")))
        elif named := _NAMED.match(line):
            yield named[1]


def is_specification(file: str) -> bool:
    """Whether this is a file of the language, or the bare name of one of the library."""
    path = Path(file)
    return path.is_file() if path.suffix == SUFFIX else file in library_names()


def _lines(file: str) -> list[str]:
    """The lines of a path or of a library file; none where nothing can be read."""
    path = Path(file)
    if not path.exists():
        path = _library() / f"{Path(file).name.removesuffix(SUFFIX)}{SUFFIX}"
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _library() -> Path:
    return Path(str(thence.spec.__file__)).parent / "library"
