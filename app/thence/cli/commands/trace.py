"""`thence trace check`, `thence trace draw` and `thence trace convert`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from thence.cli.output import BAD_INPUT, UNKNOWN, BadInput, Output
from thence.cli.session import Session, check_writable, write_text
from thence.conformance.campaign.recordings import Unreadable, listed, on_spark, one_by_one, result_of, worth_spark
from thence.conformance.harness.pictures import svg_of, text_of
from thence.conformance.replay.recordings import ReferenceProtocol, judged, judged_together, said_of
from thence.conformance.traces.reading import FORMATS, WRITTEN, read, read_merged, written
from thence.spec.judgement import judge
from thence.spec.trace import write_trace
from thence.spec.verdict import Result, Verdict


def _known(format_: str | None, formats: Sequence[str]) -> None:
    """Raises BadInput for a format that is none."""
    if format_ is not None and format_ not in formats:
        raise BadInput(f"there is no format {format_!r} here: {', '.join(formats)}")


@dataclass(frozen=True, slots=True)
class Where:
    """Where files are judged: on Spark, here, or (None) as their number and size suggest; and on which master."""

    spark: bool | None = None
    master: str = "local[*]"


def opposite(name: str | None, most_states: int | None) -> ReferenceProtocol | None:
    """The protocol that was asked for, if one was. Raises BadInput for a number of states without one."""
    if name is None:
        if most_states is not None:
            raise BadInput("--states is for the replay in a protocol: add --against PROTOCOL")
        return None
    return ReferenceProtocol(name) if most_states is None else ReferenceProtocol(name, most_states)


def check(
    session: Session,
    paths: list[str],
    format_: str | None,
    merge: bool,
    where: Where = Where(),
    against: ReferenceProtocol | None = None,
    svg: str | None = None,
) -> Output:
    """Judges each file, those of directories too, or all as logs of one run; against a protocol, where one is given.

    Of several files, one that cannot be read is said to be so and stops nothing. Ctrl-C keeps what is judged.
    """
    _known(format_, FORMATS)
    check_writable(svg)
    files = listed(paths)
    if against is not None:
        against.require()
        session.status(f"replay in {against.name}")
    if merge:
        return _single(judged_together(files, against), svg)
    work = partial(judged, format_=format_, against=against)
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
        return f"{result.subject}: {facts['unknown']}"
    wrong = [f"not {name}" for name in ("causal", "fifo") if not facts[name]]
    wrong += [name for name in ("stuck", "duplicate") if facts[name]]
    said = ", ".join(wrong) or "causal, FIFO, all delivered once"
    if "conforms" in facts:
        said = f"{said_of(result)}; {said}"
    events = f"{facts['detail']['events']:,} events"
    shown = [f"{result.subject}: {said} ({events})", *[f"  {line}" for line in result.explanation.splitlines()]]
    return "\n".join(shown)


def convert(files: list[str], output: str, to: str, format_: str | None, merge: bool) -> Output:
    """Writes the execution of a file, or of logs of one run, in another format."""
    _known(format_, FORMATS)
    _known(to, WRITTEN)
    if len(files) > 1 and not merge:
        raise BadInput("one file is converted at a time; --merge takes several as logs of one run")
    trace = read_merged(files) if merge else read(files[0], format_)
    text = written(trace, to)
    if text is None:
        check_writable(output)
        write_trace(output, trace)
    else:
        write_text(output, text)
    events = len(trace.execution.events)
    return Output(text=f"{output} written: {events:,} events", fields={"files": [output]})


def draw(file: str, svg: str | None, format_: str | None) -> Output:
    """Draws the execution: as SVG into a file, or in the terminal."""
    _known(format_, FORMATS)
    execution = read(file, format_).execution
    finding = judge(execution).first_violation
    if svg is not None:
        write_text(svg, svg_of(execution, finding))
        return Output(text=f"{svg} written", fields={"svg": svg})
    picture = text_of(execution, finding)
    return Output(text=picture, fields={"diagram": picture})
