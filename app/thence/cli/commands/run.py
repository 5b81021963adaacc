"""`thence run`: a simulation, a replayed counterexample, or a scenario: a named execution of the file."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import File, Json, MutantName, Processes, ScopeName, Seed, Sends, SettingTexts
from thence.cli.output import BadInput, Output
from thence.cli.session import check_writable, run_command, write_text
from thence.cli.targets import Choice, targets
from thence.conformance.harness.pictures import svg_of
from thence.dsl.find import known, specification
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import execution, record, replay, text
from thence.dsl.run.simulate import simulate
from thence.proofs.scopes.reports import workload_facts
from thence.proofs.scopes.scenarios import play_scenario
from thence.spec.verdict import Level, Result, Verdict


def run(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    seed: Seed = 0,
    steps: Annotated[int, typer.Option(min=1, help="At most so many steps.")] = 100,
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
    json: Json = False,
) -> None:
    """Runs the protocol in one scope; `--scenario` and `--list` are about the file's own executions."""
    choice = Choice(file, scope, processes, sends, mutant, tuple(setting or ()))
    if scenario is not None or listed:
        run_command("run", json, lambda session: _played(choice, scenario, replayed, svg))
    run_command("run", json, lambda session: _simulated(choice, seed, steps, replayed, svg))


def _simulated(choice: Choice, seed: int, steps: int, replayed: str | None, svg: str | None) -> Output:
    """A random run, or a recorded one again."""
    check_writable(svg)
    target = targets(choice)[0]
    system = system_of(target.protocol, target.workload)
    taken = simulate(system, seed, steps) if replayed is None else replay(system, _recorded(replayed))
    last = taken[-1].outcome if taken else None
    findings = list(last.findings) if last else []
    stuck = system.stuck(last.state) if last else None
    if stuck is not None:
        findings.append(stuck)
    shown = text(taken)
    if svg is not None:
        write_text(svg, svg_of(execution(system, taken)))
    for finding in findings if stuck is not None else []:
        if finding.property == "delivered" and finding.message is not None:
            shown += f"\n\nNothing is in flight, and p{finding.process} never delivers {finding.message.name}."
    result = Result(
        name="replay" if replayed is not None else f"run, seed {seed}",
        kind="scope",
        subject=target.subject,
        verdict=Verdict.REFUTED if findings else Verdict.TESTED,
        level=Level.L0,
        expected=not findings,
        facts={
            "scope": workload_facts(target.scope, target.workload, target.protocol),
            "seed": seed,
            "events": len(taken),
            "violated": sorted({finding.property for finding in findings}),
            "steps": record(system, taken),
        },
    )
    return Output(results=(result,), text=shown, table=False)


def _recorded(path: str) -> list[dict[str, Any]]:
    try:
        found = json_text.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON: {error}") from error
    if isinstance(found, dict) and isinstance(found.get("results"), list):
        results = [result for result in found["results"] if isinstance(result, dict)]
        found = next((result["counterexample"] for result in results if result.get("counterexample")), None)
        if found is None:
            raise BadInput(f"{path} holds no counterexample")
    if not isinstance(found, list) or not all(isinstance(step, dict) for step in found):
        raise BadInput(f"{path} holds neither results of explore nor a list of steps")
    return found


def _played(choice: Choice, name: str | None, replay: str | None, svg: str | None) -> Output:
    """Plays a scenario of the chosen file; without a name, lists the scenarios of the file.

    Raises:
        BadInput: for a name that the file does not have, a file that cannot be written, or options of other runs.
    """
    what = "--list" if name is None else f"--scenario {name}"
    if choice != Choice(choice.file) or replay is not None or (name is None and svg is not None):
        raise BadInput(f"{what} stands alone: a scenario says itself what happens among whom")
    check_writable(svg)
    file = choice.file
    found = specification(file)
    if name is None:
        listed = [{"name": one.name, "subject": one.subject, "doc": one.doc} for one in found.scenarios]
        lines = [f"{one['name']} of {one['subject']}: {' '.join(one['doc'].split()) or '-'}" for one in listed]
        return Output(text="\n".join(lines) or f"{file} has no scenarios", fields={"scenarios": listed}, table=False)
    known(name, tuple(scenario.name for scenario in found.scenarios), "scenario")
    results = play_scenario(next(scenario for scenario in found.scenarios if scenario.name == name))
    shown = next((result for result in results if result.verdict is Verdict.REFUTED), results[0])
    if svg is not None:
        write_text(svg, shown.picture)
    text = shown.explanation if all(result.expected for result in results) else None
    return Output(results=results, text=text, brief=True)
