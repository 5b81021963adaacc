"""Many recorded executions: the files of folders, judged one after the other or on Spark, with the same outcomes.

A file that cannot be read is an outcome of its own and stops nothing. Outcomes come as soon as they are there, so that
an interruption keeps them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from thence.conformance.extras import missing, require
from thence.spec.trace import TraceError
from thence.spec.verdict import Level, Result, Verdict

MANY_FILES: Final = 1_000
MANY_BYTES: Final = 256 << 20
"""Number of files, or of bytes in several files, from which Spark is worth its start on several processors."""

A_JOB: Final = 64
"""Files for each processor that Spark has at once; an interruption loses as many."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is no recorded execution; `problem` says why, with the name of the file."""

    problem: str


Outcome: TypeAlias = Result | Unreadable
Outcomes: TypeAlias = Generator[tuple[str, Outcome], None, None]
"""Each file with its outcome, in the order of the files."""

Judge: TypeAlias = Callable[[str], Result]
"""Judges the file of a name. Raises TraceError. On Spark it is pickled."""


def listed(paths: Iterable[str]) -> list[str]:
    """The files of the paths: of a directory, all files in it and below it by name, but no hidden ones.

    Raises:
        TraceError: a directory cannot be read, or has no files.
    """
    files: list[str] = []
    for path in paths:
        if Path(path).is_dir():
            files += _below(Path(path))
        else:
            files.append(path)
    return list(dict.fromkeys(files))


def _below(directory: Path) -> list[str]:
    def refuse(error: OSError) -> None:
        place = Path(error.filename or directory)
        raise TraceError(place, None, f"cannot be read: {error.strerror}", "Check the permissions") from error

    found = []
    for folder, names, files in os.walk(directory, onerror=refuse):
        names[:] = sorted(name for name in names if not name.startswith("."))
        found += [str(Path(folder) / file) for file in files if not file.startswith(".")]
    for file in found:
        _require_inside(Path(file), directory)
    if not found:
        raise TraceError(directory, None, "has no files in it", "Name files, or a directory with files")
    return sorted(found)


def _require_inside(file: Path, directory: Path) -> None:
    """Raises TraceError: a folder from elsewhere may hold links to the reader's own files, and pipes without end."""
    if file.is_symlink() and not file.resolve().is_relative_to(directory.resolve()):
        raise TraceError(file, None, "is a symbolic link that leads out of the folder", "Name it to have it judged")
    if not file.is_file():
        raise TraceError(file, None, "is not a regular file", "Take it out of the folder")


def worth_spark(files: Sequence[str]) -> bool:
    """Whether there is so much to judge that Spark pays, there is more than one processor, and Spark is installed."""
    if len(files) < 2 or (os.cpu_count() or 1) < 2 or missing("spark"):
        return False
    return len(files) >= MANY_FILES or sum(map(_size, files)) >= MANY_BYTES


def _size(file: str) -> int:
    try:
        return Path(file).stat().st_size
    except OSError:
        return 0


def outcome_of(judge: Judge, file: str) -> Outcome:
    """The outcome of a file."""
    try:
        return judge(file)
    except TraceError as error:
        return Unreadable(str(error))


def result_of(file: str, outcome: Outcome) -> Result:
    """The outcome as a result; a file that cannot be read has none but the reason."""
    match outcome:
        case Unreadable(problem):
            facts = {"unknown": f"not judged: {problem}"}
            return Result("causal delivery", "trace", file, Verdict.UNKNOWN, Level.L0, False, 0.0, facts)
        case Result():
            return outcome


def one_by_one(files: Iterable[str], judge: Judge) -> Outcomes:
    """Each file with its outcome, in order."""
    for file in files:
        yield file, outcome_of(judge, file)


def on_spark(files: Sequence[str], judge: Judge, master: str, rests_on: str | None = None) -> Outcomes:
    """As `one_by_one`, on any Spark; its workers have to find the files by the same absolute paths.

    A worker that has another file than this machine judges it not: it cannot be read. `rests_on` is a file that the
    judge reads besides, such as a protocol; a worker that has another one ends the work.

    Raises:
        CampaignError: Spark does not start, or loses a part of the work; a worker has another file that it rests on.
        ExtraMissing: it is not installed.
    """
    require("spark", "the files are to be judged on Spark")
    from thence.conformance.campaign.cluster import open_cluster

    besides = None if rests_on is None else _There(str(Path(rests_on).resolve()), rests_on, _digest(rests_on))
    places = [str(Path(file).resolve()) for file in files]
    with TemporaryDirectory(prefix="thence-spark-") as folder:
        opened: AbstractContextManager[Any] = open_cluster(master, Path(folder) / "spark.log")
        with opened as cluster:
            step = A_JOB * cluster.parallelism
            for first in range(0, len(files), step):
                part = range(first, min(first + step, len(files)))
                there = [
                    _There(place, file, _digest(place))
                    for place, file in zip(places[first : part.stop], files[first : part.stop], strict=True)
                ]
                work = partial(_judged, there, judge, besides)
                for pickled in cluster.run(work, range(len(part)), min(len(part), 4 * cluster.parallelism)):
                    index, outcome = pickle.loads(pickled)
                    yield files[first + index], outcome


@dataclass(frozen=True, slots=True)
class _There:
    """A file as a worker is told of it: where it is, how the user calls it, and its hash on this machine."""

    place: str
    name: str
    digest: str

    @property
    def is_alike(self) -> bool:
        """Whether the file is the same here."""
        return _digest(self.place) == self.digest


def _digest(file: str) -> str:
    """The hash of a regular file's content; empty where it cannot be read."""
    try:
        if not Path(file).is_file():
            return ""
        with Path(file).open("rb") as content:
            return file_digest(content, "sha256").hexdigest()
    except OSError:
        return ""


def _judged(files: Sequence[_There], judge: Judge, besides: _There | None, indices: Iterable[int]) -> Iterator[bytes]:
    """The work of a Spark task: the outcomes of some files, under the names by which they were asked for.

    Raises: UnlikeWorkerError, where the file that the judge reads `besides` is another one here.
    """
    if besides is not None and not besides.is_alike:
        from thence.conformance.campaign.alike import UnlikeWorkerError

        raise UnlikeWorkerError(f"a worker has another {besides.name} than this machine, or none at {besides.place}")
    for index in indices:
        file = files[index]
        outcome = outcome_of(judge, file.place) if file.is_alike else _unlike(file)
        match outcome:
            case Unreadable(problem):
                outcome = Unreadable(problem.replace(file.place, file.name))
            case Result():
                outcome = replace(outcome, subject=file.name)
        yield pickle.dumps((index, outcome))


def _unlike(file: _There) -> Unreadable:
    there = "another file" if _digest(file.place) else "no file that it can read"
    return Unreadable(f"{file.name}: a worker has {there} at the same place")
