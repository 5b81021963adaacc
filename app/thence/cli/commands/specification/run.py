"""`thence run`: a simulation, a replayed counterexample, or a scenario: a named execution of the file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Optional

import typer

from thence.api.running import Manner, played, ran
from thence.api.targets import Choice, targets
from thence.cli.counterexamples import Drawing, without_packet_rows
from thence.cli.options import (
    File,
    Json,
    MutantName,
    NoPackets,
    OneScope,
    Processes,
    Seed,
    Sends,
    SettingTexts,
    verbosity,
)
from thence.cli.output import BadInput, Output, faults_of, unwritten
from thence.cli.recorded_steps import recorded_steps
from thence.cli.session import Session, check_writable, run_command
from thence.dsl.find import specification
from thence.spec.verdict import Verdict


def run(
    file: File,
    scope: OneScope = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    property_: Annotated[
        Optional[list[str]], typer.Option("--property", help="Judge only this property. Repeatable.")  # noqa: UP045
    ] = None,
    seed: Seed = 0,
    steps: Annotated[int, typer.Option(min=1, help="Stop after this many steps.")] = 100,
    replayed: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--replay",
            help="Replay the counterexample in this JSON file, from --json of explore, or a list of steps.",
        ),
    ] = None,
    scenario: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Play this scenario of the file: a named execution, with what it says of the states."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the scenarios of the file, and run nothing.")] = False,
    svg: Annotated[Optional[str], typer.Option(help="Write the space-time diagram to this file.")] = None,  # noqa: UP045
    no_packets: NoPackets = False,
    verbose: Annotated[
        int, verbosity("Explain everything in a scenario that is not as expected, not only three statements.")
    ] = 0,
    json: Json = False,
) -> None:
    """Runs the protocol in one scope; `--scenario` and `--list` are about the file's own executions."""
    choice = Choice(file, scope, processes, sends, mutant, tuple(setting or ()))
    drawn = None if svg is None else Drawing(svg, packets=not no_packets)
    manner = Manner(seed, steps, properties=tuple(property_ or ()))

    def body(session: Session) -> Output:
        if scenario is not None or listed:
            output = _played(choice, scenario, replayed, drawn)
        else:
            output = _simulated(choice, manner, replayed, drawn)
        return without_packet_rows(output) if no_packets else output

    run_command("run", json, body, verbose)


def _simulated(choice: Choice, manner: Manner, replayed: str | None, drawn: Drawing | None) -> Output:
    """A random run, or a recorded one again."""
    if drawn is not None:
        check_writable(drawn.path)
    target = targets(choice)[0]
    if replayed is not None:
        recorded, about = recorded_steps(replayed)
        manner = replace(manner, replay=recorded, about=about)
    result = ran(target, manner)
    faults: tuple[str, ...] = ()
    if drawn is not None:
        faults = faults_of([partial(drawn.write, result.picture)])
    return unwritten(Output(results=(result,), text=result.explanation, table=False), faults)


def _played(choice: Choice, name: str | None, replay: str | None, drawn: Drawing | None) -> Output:
    """Plays a scenario of the chosen file; without a name, lists the scenarios of the file.

    Raises:
        BadInput: for a name that the file does not have, a file that cannot be written, or options of other runs.
    """
    what = "--list" if name is None else f"--scenario {name}"
    if choice != Choice(choice.file) or replay is not None or (name is None and drawn is not None):
        raise BadInput(f"{what} stands alone: a scenario says itself what happens among whom")
    if drawn is not None:
        check_writable(drawn.path)
    file = choice.file
    found = specification(file)
    if name is None:
        listed = [{"name": one.name, "subject": one.subject, "doc": one.doc} for one in found.scenarios]
        lines = [f"{one['name']} of {one['subject']}: {' '.join(one['doc'].split()) or '-'}" for one in listed]
        return Output(text="\n".join(lines) or f"{file} has no scenarios", fields={"scenarios": listed}, table=False)
    results = played(found, name)
    faults: tuple[str, ...] = ()
    shown = next((result for result in results if result.verdict is Verdict.REFUTED), results[0])
    if drawn is not None:
        faults = faults_of([partial(drawn.write, shown.picture)])
    return unwritten(Output(results=results, asked=True), faults)
