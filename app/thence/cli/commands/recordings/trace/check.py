"""`thence trace check`: recorded executions, judged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Optional

import typer

from thence.api.recordings import Reading, Recordings, judge_files, known_format, opposite
from thence.api.statements import Recording
from thence.cli.options import Json, Merge, TraceFormat, verbosity
from thence.cli.output import UNKNOWN, BadInput, Output, faults_of, unwritten
from thence.cli.readers.printing import FEW
from thence.cli.session import Session, check_writable, run_command, write_text
from thence.cli.subjects import whose_lines
from thence.conformance.recordings import listed
from thence.conformance.replay.recordings import AT_ANY_TIME, said_of
from thence.conformance.traces.following import PAUSE_S, Following
from thence.spec.events import printable
from thence.spec.verdict import Verdict
from thence.spec.words import counted


def check(
    files: Annotated[list[str], typer.Argument(help="Recorded executions, in any of the formats, or folders of them.")],
    format_: TraceFormat = None,
    merge: Merge = False,
    spark: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option(
            help="Judge the files on Spark, or one after the other. By default, on Spark where they are many or large."
        ),
    ] = None,
    master: Annotated[str, typer.Option(help="Any Spark master, whose workers have the files as well.")] = "local[*]",
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The protocol in which every recorded event is replayed: a file of yours or of the library, or "
            "FILE:PROTOCOL."
        ),
    ] = None,
    states: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="With --against: the most possible states that are looked at. By default, 20,000."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram of what is wrong to this file.")] = None,  # noqa: UP045
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Judge a file while it is being written, until Ctrl-C. The file '-' is a pipe, judged until it ends.",
        ),
    ] = False,
    verbose: Annotated[int, verbosity("Show each of many recordings, also those with nothing wrong.")] = 0,
    json: Json = False,
) -> None:
    """Judges each file, those of directories too, or all as logs of one run; against a protocol, where one is given."""

    def body(session: Session) -> Output:
        reading, opposite_ = Reading(format_, merge, spark, master), Against(against, states)
        if follow:
            return _followed(session, _the_one(files, reading, opposite_, svg))
        return _checked(session, files, reading, opposite_, svg)

    run_command("trace check", json, body, verbose)


@dataclass(frozen=True, slots=True)
class Against:
    """`--against` and `--states`."""

    name: str | None
    states: int | None


def _checked(session: Session, paths: list[str], reading: Reading, against: Against, svg: str | None) -> Output:
    """Judges each file, or all as logs of one run. Ctrl-C keeps the verdicts so far.

    An unreadable one among several files is reported and stops nothing.
    """
    protocol = opposite(against.name, against.states)
    known_format(reading.format)
    check_writable(svg)
    files = listed(paths)
    alone = reading.merge or (len(files) == 1 and not reading.spark)
    if svg is not None and not alone:
        raise BadInput("--svg draws one recording; name one file")
    if protocol is not None:
        session.status(f"replay in {protocol.name}")
    elif not alone:
        session.status("reading", 0, len(files), "files")

    def progress(done: int, total: int, unreadable: int) -> None:
        session.status(f"{unreadable:,} cannot be read" if unreadable else "judging", done, total, "files")

    found = judge_files(files, reading, protocol, progress)
    return _single(found[0], against.name, svg) if alone else _several(found, session.verbosity)


def _the_one(paths: list[str], reading: Reading, against: Against, svg: str | None) -> str:
    """The recording to be followed. Raises BadInput: what is asked for besides needs a whole recording."""
    asked = {
        "--merge": reading.merge,
        "--spark": reading.spark,
        "--against": against.name,
        "--svg": svg,
        f"--format {reading.format}": reading.format not in (None, "ndjson"),
    }
    if others := [name for name, given in asked.items() if given]:
        raise BadInput(f"--follow judges an NDJSON recording by the oracle alone; leave out {', '.join(others)}")
    if len(paths) != 1:
        raise BadInput("--follow follows one recording; name one file")
    return paths[0]


def _followed(session: Session, path: str) -> Output:
    """Judges the recording as it grows. Ctrl-C ends it with the verdict so far."""
    started = time.perf_counter()

    def wait() -> None:
        session.status(f"{counted(following.events, 'event')}, waiting for more")
        time.sleep(PAUSE_S)

    following = Following(path, wait)
    try:
        for finding in following.run():
            if finding is not None:
                session.say(printable(path) + f": event {finding.event_index + 1:,}: {finding}")
            elif following.events % 10_000 == 0:
                session.status(counted(following.events, "event"))
    except KeyboardInterrupt:
        pass
    result = Recording.of(following.result(time.perf_counter() - started))
    wrong = [f"{count:,} {kind}" for kind, count in sorted(following.found.items())]
    said = ", ".join(wrong) or result.facts.get("unknown", "nothing is wrong so far")
    left = following.undelivered
    numbers = (
        f"{counted(following.events, 'event')}, {left:,} {'delivery' if left == 1 else 'deliveries'} still to come"
    )
    if following.unread_bytes:
        numbers += "; the last line has no end and is not judged"
    code = {Verdict.REFUTED: 1, Verdict.UNKNOWN: UNKNOWN}.get(result.verdict, 0)
    return Output((result,), text=f"{printable(path)}: {said} ({numbers})\n", exit=code, table=False)


def _several(found: Recordings, verbosity: int) -> Output:
    """The recordings with something wrong, or all of a few; how many there are of each kind."""
    whole = verbosity > 0 or len(found) <= FEW
    lines = _advised_once([result for result in found if whole or not result.expected])
    fine = sum(result.expected for result in found)
    if not whole and fine:
        lines.append(f"{fine:,} of {found.files:,} files: nothing is wrong; -v shows each")
    if not found.complete:
        left = found.files - len(found)
        lines.append(f"incomplete: interrupted; {left:,} of {counted(found.files, 'file')} not judged")
    if found.unreadable:
        lines.append(f"{len(found.unreadable):,} of {found.files:,} files cannot be read")
    text = "\n".join(lines) + "\n"
    fields = {"complete": found.complete}
    return Output(found.statements, text=text, fields=fields, exit=found.exit_code, table=False)


def _advised_once(found: Sequence[Recording]) -> list[str]:
    """The lines of recordings; of those that cannot be read, the last sentence of several stands behind the last."""
    lines = [_line(result) for result in found]
    unread = [at for at, result in enumerate(found) if "causal" not in result.facts]
    last = {lines[at].rpartition(". ")[2]: at for at in unread}
    for at in unread:
        said, stop, advice = lines[at].rpartition(". ")
        if stop and last[advice] != at:
            lines[at] = said
    return lines


def _single(result: Recording, against: str | None, svg: str | None) -> Output:
    faults: tuple[str, ...] = ()
    text = _line(result) + "\n"
    if (result.facts.get("divergence") or {}).get("guard") is not None:
        text += "".join(f"{line}\n" for line in whose_lines(against))
    if svg is not None and result.picture:
        path, picture = svg, result.picture
        faults = faults_of([lambda: write_text(path, picture)])
        text += "" if faults else f"{svg} written\n"
    elif svg is not None:
        text += f"no finding to draw; {svg} is not written\n"
    code = {Verdict.REFUTED: 1, Verdict.UNKNOWN: UNKNOWN}.get(result.verdict, 0)
    return unwritten(Output((result,), text=text, exit=code, table=False), faults)


def _named_once(file: str, why: str) -> str:
    """`FILE:5: not judged: ...`: a reason that begins with the file, whose place in it then stands in front."""
    verdict, _, reason = why.partition(": ")
    if not reason.startswith(f"{file}:"):
        return f"{file}: {why}"
    line, _, problem = reason.removeprefix(f"{file}:").partition(" ")
    return f"{file}:{line} {verdict}: {problem}" if line else f"{file}: {verdict}: {problem}"


def _line(result: Recording) -> str:
    facts = result.facts
    if "unknown" in facts and "causal" not in facts:
        return _named_once(printable(result.subject), facts["unknown"])
    wrong = [f"not {name}" for name in ("causal", "fifo") if not facts[name]]
    wrong += [name for name in ("stuck", "duplicate") if facts[name]]
    wrong += ["phantom"] * bool(facts["detail"]["phantoms"])
    said = ", ".join(wrong) or "causal, FIFO, all delivered once"
    if not wrong and not facts["detail"]["deliveries"]:
        said = AT_ANY_TIME if facts.get("unknown") == AT_ANY_TIME else "nothing was delivered"
        said += ": no verdict" if result.verdict is Verdict.UNKNOWN else ""
    elif not wrong and result.verdict is Verdict.UNKNOWN and facts.get("conforms") != "unknown":
        said = facts["unknown"]
    if "conforms" in facts:
        said = f"{said_of(result)}; {said}"
    events = counted(facts["detail"]["events"], "event")
    lines = [f"  {line}".rstrip() for line in result.explanation.splitlines()]
    return "\n".join([f"{printable(result.subject)}: {said} ({events})", *lines])
