"""Recorded executions, judged: `judge`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from thence.api.errors import BadRequest
from thence.api.specifications import Source, protocol_name
from thence.api.statements import Recording, Results
from thence.conformance.recordings import Outcomes, Unreadable, listed, on_spark, one_by_one, result_of, worth_spark
from thence.conformance.replay.recordings import ReferenceProtocol, judged, judged_together
from thence.conformance.traces.reading import FORMATS
from thence.dsl.find import parted, place_of_library_file
from thence.spec.verdict import Verdict, exit_code

Report: TypeAlias = Callable[[int, int, int], None]
"""Is told how many files of how many are judged, and how many could not be read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read.

    Attributes:
        format: of the files; None: by their looks.
        merge: whether they are logs of one run.
        spark: whether on Spark; None: as their number and size suggest.
        master: the Spark master.
    """

    format: str | None = None
    merge: bool = False
    spark: bool | None = False
    master: str = "local[*]"


@dataclass(frozen=True, slots=True)
class Recordings(Results[Recording]):
    """The results: one for each file, or one for all logs of one run.

    Attributes:
        unreadable: why files could not be read.
        files: how many there are.
    """

    unreadable: tuple[str, ...] = ()
    files: int = 0

    @property
    def exit_code(self) -> int:
        """The exit code of the command: as `Results.exit_code`, but 2 where a file cannot be read and none is wrong."""
        if any(each.verdict is Verdict.REFUTED for each in self.statements):
            return 1
        return 2 if self.unreadable else exit_code(self.statements) if self.complete else 3


def judge(
    *files: str | PathLike[str],
    against: Source | None = None,
    format: str | None = None,
    merge: bool = False,
    states: int | None = None,
    spark: bool = False,
    progress: Report | None = None,
) -> Recordings:
    """Judges recorded executions: by the oracle, and where a protocol is given, whether it has a run with these events.

    Ctrl-C ends it with the files so far, and `complete` is False.

    Args:
        files: in any of the formats, or folders of them.
        against: FILE or FILE:PROTOCOL, to replay every recorded event in.
        format: ndjson, itf, shiviz, jepsen or otlp; by default what the file looks like.
        merge: the files are logs of one run without a common clock.
        states: with `against`, how many possible states are looked at.
        spark: judge the files on Spark, which the extra `spark` brings.
        progress: is told how many files of how many are judged.

    Raises:
        TraceError: the one file cannot be read. One among several is reported in its result.
        UserError: a setting is at fault; the message says so in the words of the command.
    """
    if not files:
        raise BadRequest("judge: name a file")
    reading = Reading(format, merge, spark)
    return judge_files([fspath(file) for file in files], reading, opposite(protocol_name(against), states), progress)


def opposite(name: str | None, most_states: int | None) -> ReferenceProtocol | None:
    """The protocol that recordings are held against, if there is one. Raises BadRequest for states without one."""
    if name is None:
        if most_states is not None:
            raise BadRequest("--states is for the replay in a protocol: add --against PROTOCOL")
        return None
    if most_states is not None and most_states < 1:
        raise BadRequest(f"--states {most_states}: give a number from 1 up")
    return ReferenceProtocol(name) if most_states is None else ReferenceProtocol(name, most_states)


def known_format(format_: str | None, formats: Sequence[str] = FORMATS) -> None:
    """Raises BadRequest for a format that is none."""
    if format_ is not None and format_ not in formats:
        raise BadRequest(f"there is no format {format_!r} here: {', '.join(formats)}")


def judge_files(
    paths: Sequence[str], reading: Reading, against: ReferenceProtocol | None, progress: Report | None = None
) -> Recordings:
    """Judges each file, those of directories too, or all as logs of one run. Ctrl-C keeps the verdicts so far.

    Raises: as `judge`.
    """
    known_format(reading.format)
    files = listed(paths)
    if against is not None:
        against.require()
    if reading.merge:
        return Recordings((Recording.of(judged_together(files, against)),), files=len(files))
    work = partial(judged, format_=reading.format, against=against)
    if len(files) == 1 and not reading.spark:
        return Recordings((Recording.of(work(files[0])),), files=1)
    spark = worth_spark(files) if reading.spark is None else reading.spark
    results: list[Recording] = []
    unreadable: list[str] = []
    complete = True
    outcomes = _on_spark(files, reading, against) if spark else one_by_one(files, work)
    try:
        with closing(outcomes):
            for number, (file, outcome) in enumerate(outcomes, 1):
                results.append(Recording.of(result_of(file, outcome)))
                if isinstance(outcome, Unreadable):
                    unreadable.append(outcome.problem)
                if progress is not None:
                    progress(number, len(files), len(unreadable))
    except KeyboardInterrupt:
        complete = False
    return Recordings(tuple(results), complete=complete, unreadable=tuple(unreadable), files=len(files))


def _on_spark(files: Sequence[str], reading: Reading, against: ReferenceProtocol | None) -> Outcomes:
    """The outcomes by Spark. Workers read a protocol of the user's at its absolute place; the library they have."""
    own = None
    if against is not None and place_of_library_file(against.name) is None:
        own, name = parted(against.name)
        place = str(Path(own).resolve())
        against = replace(against, name=f"{place}:{name}" if name else place)
    return on_spark(files, partial(judged, format_=reading.format, against=against), reading.master, own)
