"""`whence trace check` and `whence trace draw`."""

from __future__ import annotations

import time

from whence.conformance.cli.session import Output, Session, write_text
from whence.conformance.pictures import svg_of, text_of
from whence.spec.judgement import Judgement, judge
from whence.spec.trace import read_trace
from whence.spec.verdict import Level, Result, Verdict


def check(session: Session, files: list[str]) -> Output:
    """Judges each file; a fault of a file ends the command before anything is said of any."""
    results = []
    for number, file in enumerate(files, 1):
        session.status(f"{number} of {len(files)}: {file}")
        started = time.perf_counter()
        judgement = judge(read_trace(file).execution)
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


def draw(file: str, svg: str | None) -> Output:
    """Draws the execution: as SVG into a file, or in the terminal."""
    execution = read_trace(file).execution
    finding = judge(execution).first_violation
    if svg is not None:
        write_text(svg, svg_of(execution, finding))
        return Output(text=f"{svg} written", fields={"svg": svg})
    picture = text_of(execution, finding)
    return Output(text=picture, fields={"diagram": picture})
