"""`thence explore`: every execution of a protocol in a scope, and short counterexamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from thence.api.closed_sets import ClosedSet
from thence.api.exploring import ANY_NUMBER, Exploration, Manner, explored
from thence.api.targets import Choice, targets
from thence.cli.counterexamples import Drawing, Files, with_first, without_packet_rows
from thence.cli.options import File, Json, MutantName, NoPackets, Processes, ScopeName, Sends, SettingTexts, Verbose
from thence.cli.output import BAD_INPUT, Output, exit_incomplete, uncertified
from thence.cli.reducing import reductions_text
from thence.cli.session import Session, run_command
from thence.proofs.explore.exploration import Progress
from thence.spec.words import counted


def explore(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    property_: Annotated[
        Optional[list[str]], typer.Option("--property", help="Judge only this property. Repeatable.")  # noqa: UP045
    ] = None,
    limit: Annotated[Optional[int], typer.Option(min=1, help="Stop after this many states.")] = None,  # noqa: UP045
    reductions: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The reductions: auto (the default), none, or symmetry. Verdicts stay the same."),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="The engine: native, interpreted, or auto, which takes native code for all but small scopes."
        ),
    ] = "auto",
    cross_check: Annotated[bool, typer.Option("--cross-check", help="Run both engines. They must agree.")] = False,
    storage: Annotated[
        str,
        typer.Option(
            help="How states are stored: exact, in memory; layers, which needs less memory where every step is "
            "progress; or disk, in files. All of them are exact."
        ),
    ] = "exact",
    folder: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="With --storage disk or --master: keep the files in this folder until the exploration is over. A "
            "stopped exploration goes on from them."
        ),
    ] = None,
    master: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Let the workers of this Spark explore: local[N], or spark://HOST:PORT with --folder, a folder that "
            "all of them see. States are kept in files, and --memory is for each task, by default 256M."
        ),
    ] = None,
    any_number: Annotated[
        bool, typer.Option("--any-number", help="Let each process send any number of messages.")
    ] = False,
    memory: Annotated[
        Optional[str], typer.Option(help="Stop when the states take this much memory, such as 4G.")  # noqa: UP045
    ] = None,
    threads: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=64, help="The threads of the native engine. By default, one for each processor."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the first counterexample's diagram to this file.")] = None,  # noqa: UP045
    itf: Annotated[
        Optional[str], typer.Option(help="Write the first counterexample's states to this file, as an ITF trace.")  # noqa: UP045
    ] = None,
    trace: Annotated[
        Optional[str], typer.Option(help="Write the first counterexample's events to this file, as thence-trace/1.")  # noqa: UP045
    ] = None,
    pytest: Annotated[
        Optional[str], typer.Option(help="Write a pytest file that replays the first counterexample.")  # noqa: UP045
    ] = None,
    html: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write the first counterexample to this file, as a page that plays it step by step."),
    ] = None,
    certificate: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Write the states to this directory, so that others can check what holds with recheck, by the "
            "interpreter alone."
        ),
    ] = None,
    no_packets: NoPackets = False,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Explores the protocol, or a mutant of it, in the chosen scopes."""
    settings = (*(setting or ()), *((ANY_NUMBER,) if any_number else ()))
    choice = Choice(file, scope, processes, sends, mutant, settings)
    manner = Manner(limit, reductions, engine, cross_check, memory, threads, storage, folder, master)
    files = Files(None if svg is None else Drawing(svg, packets=not no_packets), itf, trace, pytest, html)

    closed = None if certificate is None else ClosedSet(file, certificate)

    def body(session: Session) -> Output:
        output = _explored(session, choice, property_ or (), manner, files, closed)
        return without_packet_rows(output) if no_packets else output

    run_command("explore", json, body, verbose)


def _explored(
    session: Session,
    choice: Choice,
    properties: Sequence[str],
    manner: Manner,
    files: Files,
    closed: ClosedSet | None,
) -> Output:
    """Explores the chosen scopes; one result per scope and property. Ctrl-C ends it with what was covered."""

    def report(label: str, progress: Progress) -> None:
        seen[label] = None
        rate = progress.states / progress.seconds if progress.seconds else 0
        memory = f", {progress.memory / 1e6:,.0f} MB" if progress.memory else ""
        session.status(
            f"{label}: {counted(progress.states, 'state')}, "
            f"{counted(progress.transitions, 'transition')}, {_depth(progress)}, "
            f"frontier {progress.frontier:,}, {rate:,.0f} states/s{memory}",
            len(seen) - 1, len(chosen) if len(chosen) > 1 else 0, "scopes",
        )  # fmt: skip

    seen: dict[str, None] = {}
    files.check()
    with manner.opened(report) as options:
        chosen = targets(choice)
        if closed is not None:
            closed.refuse(chosen, options)
            options = closed.options(options)
        found = explored(chosen, properties, options)
    output = _output(found)
    if closed is not None:
        output = _certified(output, closed, found)
    if found.complete:
        output = with_first(output, choice.file, zip(found.targets, found, strict=True), files)
    asked = bool(choice.scope or choice.mutant or properties)
    return replace(output, files=((Path(choice.file).stem, len(found.statements)),), asked=asked)


def _certified(output: Output, closed: ClosedSet, found: Exploration) -> Output:
    """The output with what became of the closed set; without one, the exit code is not 0."""
    try:
        made = closed.made(found)
    except KeyboardInterrupt:
        return uncertified(output)
    if isinstance(made, str):
        said = f"no certificate: {made}"
        fields = {**output.fields, "notes": [said]}
        return replace(output, notes=f"{output.notes}{said}\n", fields=fields, exit=output.exit_code() or BAD_INPUT)
    said, facts = made
    return replace(output, notes=output.notes + said, fields={**output.fields, "certificate": facts})


def _depth(progress: Progress) -> str:
    expected = progress.expected_depth
    about = f" of about {expected}" if expected is not None and progress.depth <= expected else ""
    return f"depth {progress.depth}{about}"


def _output(found: Exploration) -> Output:
    notes = "".join(f"{note}\n" for note in found.notes) + reductions_text(found.statements)
    if found.complete:
        return Output(found.statements, notes=notes)
    covered = max((result.facts["states"] for result in found.statements[-1:]), default=0)
    said = f"incomplete: interrupted; the last exploration had covered {counted(covered, 'state')}\n"
    code = exit_incomplete(found.statements)
    return Output(found.statements, notes=notes + said, fields={"complete": False}, exit=code)
