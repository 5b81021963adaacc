"""Files of the language: found, read, parsed and typed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import thence.spec
from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.diagnostics import Diagnostic, SourceText, nearest
from thence.dsl.text.parse import MAX_BYTES, decode, parse
from thence.spec.collector import collector_at_rest
from thence.spec.user_error import UserError
from thence.spec.value import record

SUFFIX = ".thence"

REMEMBERED = 64
"""Files that a process need not type again while their content is the same: more than the library has."""


class SourceError(UserError):
    """A file that cannot be found or read; the message says which and what to do."""


@record(frozen=True, slots=True)
class Loaded:
    """A file and what it says. `specification` is None where there are errors."""

    path: Path
    source: SourceText
    specification: ir.Specification | None
    diagnostics: tuple[Diagnostic, ...]


def library() -> tuple[Path, ...]:
    """The files of the shipped library, by name."""
    return tuple(sorted(_library_folder().glob(f"*{SUFFIX}")))


def benchmarks() -> tuple[Path, ...]:
    """The machines of the literature that are shipped in a folder of the library, by name."""
    return tuple(sorted((_library_folder() / "benchmarks").glob(f"*{SUFFIX}")))


def is_of_the_library(path: Path) -> bool:
    """Whether the file is one of the library, and not one of the same name."""
    return path.resolve() in {known.resolve() for known in library()}


def _library_folder() -> Path:
    return Path(str(thence.spec.__file__)).parent / "library"


def locate(name: str) -> Path:
    """The file that `name` means: a path, the bare name of a library file, or `benchmarks/NAME`. Raises SourceError."""
    path = Path(name)
    try:
        directory, exists = path.is_dir(), path.exists()
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror}") from error
    if directory:
        raise SourceError(f"{name} is a directory; name a {SUFFIX} file in it")
    if exists:
        return path
    wanted = name.removesuffix(SUFFIX)
    bare = "/" not in name and "\\" not in name
    shipped = {known.stem: known for known in library()}
    literature = {f"benchmarks/{known.stem}": known for known in benchmarks()}
    if found := (shipped | literature).get(wanted):
        return found
    in_folder = f"benchmarks/{wanted}" if f"benchmarks/{wanted}" in literature else None
    near = _near_file(path) or in_folder
    if near is None and (bare or wanted.startswith("benchmarks/")):
        near = nearest(wanted, shipped if bare else literature)
    hint = f"; did you mean {near}?" if near else ""
    if bare and not name.endswith(SUFFIX):
        hint = hint or f"; the library has {', '.join(shipped)}"
        raise SourceError(f"there is no file {name}, and no library file of that name{hint}")
    raise SourceError(f"there is no file {name}{hint}")


def _near_file(path: Path) -> str | None:
    """A file in the folder of the path that was perhaps meant: the suffix is missing, or a letter is wrong."""
    try:
        there = {file.name: file for file in path.parent.iterdir() if file.suffix == SUFFIX and file.is_file()}
    except OSError:
        return None
    whole = path.name if path.name.endswith(SUFFIX) else f"{path.stem if path.suffix else path.name}{SUFFIX}"
    meant = whole if whole in there else None
    if meant is None:
        stems = {name.removesuffix(SUFFIX): name for name in there}
        near = nearest(whole.removesuffix(SUFFIX), stems)
        meant = None if near is None else stems[near]
    return None if meant is None else str(there[meant])


def load(name: str) -> Loaded:
    """Reads, parses and types a file. Raises SourceError; faults of the text are diagnostics."""
    path = locate(name)
    return load_once(path, *read_source(path))


@lru_cache(maxsize=REMEMBERED)
def load_once(path: Path, content: bytes, size: int) -> Loaded:
    """As `load_bytes`. What a text means depends on the text alone, so a file that was edited is typed again."""
    return load_bytes(path, content, size)


def read_source(path: Path) -> tuple[bytes, int]:
    """The content of a file, as far as a specification goes, and its size. Raises SourceError."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1), path.stat().st_size
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def load_bytes(path: Path, content: bytes, size: int = 0) -> Loaded:
    """Parses and types the content of a file of `size` bytes, where not all of it was read."""
    file = str(path)
    text, unreadable = decode(content, file, size)
    source = SourceText(file, text or "")
    if text is None:
        return Loaded(path, source, None, unreadable)
    with collector_at_rest():
        tree, diagnostics = parse(text, file)
        if tree is None:
            return Loaded(path, source, None, diagnostics)
        if not tree.declarations:
            raise SourceError(f"{path} declares nothing; a file has at least a protocol, a machine or a theory")
        specification, more = elaborate(tree, file)
    return Loaded(path, source, specification, (*diagnostics, *more))
