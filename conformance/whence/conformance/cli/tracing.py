"""`whence trace check`, `whence trace draw` and `whence trace convert`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from whence.conformance.cli.session import BadInput, Output, Session, check_writable, write_text
from whence.conformance.pictures import svg_of, text_of
from whence.conformance.traces.reading import FORMATS, WRITTEN, read, read_merged, written
from whence.spec.judgement import Judgement, judge
from whence.spec.trace import write_trace
from whence.spec.verdict import Level, Result, Verdict


def _known(format_: str | None, formats: Sequence[str]) -> None:
    """Raises BadInput for a format that is none."""
    if format_ is not None and format_ not in formats:
        raise BadInput(f"there is no format {format_!r} here: {', '.join(formats)}")


def check(session: Session, files: list[str], format_: str | None, merge: bool) -> Output:
    """Judges each file, or all as logs of one run; a fault of a file ends the command before anything is said."""
    _known(format_, FORMATS)
    if merge:
        started = time.perf_counter()
        name = " + ".join(files)
        merged = _result(name, judge(read_merged(files).execution), time.perf_counter() - started)
        return Output((merged,), text=_line(merged) + "\n", exit=0 if merged.expected else 1, table=False)
    results = []
    for number, file in enumerate(files, 1):
        session.status(f"{number} of {len(files)}: {file}")
        started = time.perf_counter()
        judgement = judge(read(file, format_).execution)
        results.append(_result(file, judgement, time.perf_counter() - started))
    text = "\n".join(_line(result) for result in results) + "\n"
    faulty = any(not result.expected for result in results)
    return Output(tuple(results), text=text, exit=1 if faulty else 0, table=False)


def _line(result: Result) -> str:
    facts = result.facts
    wrong = [f"not {name}" for name in ("causal", "fifo") if not facts[name]]
    wrong += [name for name in ("stuck", "duplicate") if facts[name]]
    said = ", ".join(wrong) or "causal, FIFO, all delivered once"
    events = f"{facts['detail']['events']:,} events"
    shown = [f"{result.subject}: {said} ({events})", *[f"  {line}" for line in result.explanation.splitlines()]]
    return "\n".join(shown)


def _result(file: str, judgement: Judgement, seconds: float) -> Result:
    facts = judgement.to_json()
    return Result(
        name="causal delivery",
        kind="trace",
        subject=file,
        verdict=Verdict.TESTED if judgement.faultless else Verdict.REFUTED,
        level=Level.L0,
        expected=judgement.faultless,
        seconds=seconds,
        facts=facts,
        explanation="\n".join(str(finding) for finding in judgement.findings()[:5]),
    )


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
