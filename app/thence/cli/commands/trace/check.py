"""`thence trace check`: recorded executions, judged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Optional

import typer

from thence.cli.options import Json, Merge, TraceFormat
from thence.cli.output import BAD_INPUT, UNKNOWN, BadInput, Output
from thence.cli.session import Session, check_writable, run_command, write_text
from thence.cli.trace_formats import known_format
from thence.conformance.campaign.recordings import Unreadable, listed, on_spark, one_by_one, result_of, worth_spark
from thence.conformance.replay.recordings import ReferenceProtocol, judged, judged_together, said_of
from thence.conformance.traces.reading import FORMATS
from thence.spec.events import printable
from thence.spec.verdict import Result, Verdict


def check(
    files: Annotated[list[str], typer.Argument(help="Recorded executions, in any of the formats, or folders of them.")],
    format_: TraceFormat = None,
    merge: Merge = False,
    spark: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option(help="Judge the files on Spark, or one after the other; by default as many or large as they are."),
    ] = None,
    master: Annotated[str, typer.Option(help="Any Spark master, whose workers have the files as well.")] = "local[*]",
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A library protocol or a file, or FILE:PROTOCOL, to replay every recorded event in."),
    ] = None,
    states: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="With --against: how many possible states are looked at; 20,000 by default."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram of what is wrong to this file.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Judges each file, those of directories too, or all as logs of one run; against a protocol, where one is given."""

    def body(session: Session) -> Output:
        where, opposite = Where(spark, master), _opposite(against, states)
        return _checked(session, files, Reading(format_, merge), where, opposite, svg)

    run_command("trace check", json, body)


@dataclass(frozen=True, slots=True)
class Reading:
    """The format of the files (None: by their looks), and whether they are logs of one run."""

    format: str | None
    merge: bool


@dataclass(frozen=True, slots=True)
class Where:
    """The place of the work: on Spark, here, or (None) as the number and size of files suggest; and the master."""

    spark: bool | None
    master: str


def _opposite(name: str | None, most_states: int | None) -> ReferenceProtocol | None:
    """The protocol of `--against`, if there is one. Raises BadInput for a number of states without one."""
    if name is None:
        if most_states is not None:
            raise BadInput("--states is for the replay in a protocol: add --against PROTOCOL")
        return None
    return ReferenceProtocol(name) if most_states is None else ReferenceProtocol(name, most_states)


def _checked(
    session: Session,
    paths: Sequence[str],
    reading: Reading,
    where: Where,
    against: ReferenceProtocol | None,
    svg: str | None,
) -> Output:
    """Judges each file, or all as logs of one run. Ctrl-C keeps the verdicts so far.

    An unreadable one among several files is reported and stops nothing.
    """
    known_format(reading.format, FORMATS)
    check_writable(svg)
    files = listed(paths)
    if against is not None:
        against.require()
        session.status(f"replay in {against.name}")
    if reading.merge:
        return _single(judged_together(files, against), svg)
    work = partial(judged, format_=reading.format, against=against)
    if len(files) == 1 and not where.spark:
        return _single(work(files[0]), svg)
    if svg is not None:
        raise BadInput("--svg draws one recording; name one file")
    spark = worth_spark(files) if where.spark is None else where.spark
    results: list[Result] = []
    unreadable: list[str] = []
    session.status(f"0 of {len(files):,} files{', on Spark' if spark else ''}")
    outcomes = on_spark(files, work, where.master) if spark else one_by_one(files, work)
    interrupted = False
    try:
        with closing(outcomes):
            for number, (file, outcome) in enumerate(outcomes, 1):
                results.append(result_of(file, outcome))
                if isinstance(outcome, Unreadable):
                    unreadable.append(outcome.problem)
                session.status(f"{number:,} of {len(files):,} files, {len(unreadable):,} cannot be read")
    except KeyboardInterrupt:
        interrupted = True
    lines = [_line(result) for result in results]
    if interrupted:
        lines.append(f"incomplete: interrupted; {len(files) - len(results):,} of {len(files):,} files are not judged")
    if unreadable:
        lines.append(f"{len(unreadable):,} of {len(files):,} files cannot be read")
    faulty = any(result.verdict is Verdict.REFUTED for result in results)
    undecided = interrupted or any(result.verdict is Verdict.UNKNOWN for result in results)
    code = 1 if faulty else BAD_INPUT if unreadable else UNKNOWN if undecided else 0
    text = "\n".join(lines) + "\n"
    return Output(tuple(results), text=text, fields={"complete": not interrupted}, exit=code, table=False)


def _single(result: Result, svg: str | None) -> Output:
    text = _line(result) + "\n"
    if svg is not None and result.picture:
        write_text(svg, result.picture)
        text += f"{svg} written\n"
    elif svg is not None:
        text += f"nothing is wrong; {svg} is not written\n"
    code = {Verdict.REFUTED: 1, Verdict.UNKNOWN: UNKNOWN}.get(result.verdict, 0)
    return Output((result,), text=text, exit=code, table=False)


def _line(result: Result) -> str:
    facts = result.facts
    if "unknown" in facts and "causal" not in facts:
        return f"{printable(result.subject)}: {facts['unknown']}"
    wrong = [f"not {name}" for name in ("causal", "fifo") if not facts[name]]
    wrong += [name for name in ("stuck", "duplicate") if facts[name]]
    said = ", ".join(wrong) or "causal, FIFO, all delivered once"
    if not wrong and not facts["detail"]["deliveries"]:
        said = "nothing was delivered: no verdict"
    if "conforms" in facts:
        said = f"{said_of(result)}; {said}"
    events = f"{facts['detail']['events']:,} events"
    lines = [f"  {line}" for line in result.explanation.splitlines()]
    return "\n".join([f"{printable(result.subject)}: {said} ({events})", *lines])
