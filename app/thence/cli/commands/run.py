"""`thence run`: a simulation, a replayed counterexample, or a scenario: a named execution of the file."""

from __future__ import annotations

import json as json_text
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import File, Json, MutantName, Processes, ScopeName, Seed, Sends, SettingTexts
from thence.cli.output import BadInput, Output
from thence.cli.session import check_writable, run_command, write_text
from thence.cli.targets import Choice, targets
from thence.dsl.find import known, specification
from thence.dsl.ir.observability import unobservable
from thence.dsl.ir.properties import FAULT
from thence.dsl.run.causality import Finding
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import NarratedStep, describe, execution, record, replay, text
from thence.dsl.run.quiescence import blocked
from thence.dsl.run.simulate import at_rest, simulate
from thence.dsl.run.system import System, watching
from thence.proofs.scopes.reports import ORACLE_KINDS, workload_facts
from thence.proofs.scopes.scenarios import play_scenario
from thence.proofs.scopes.scopes import judgeable, properties_of
from thence.spec.diagram import draw_svg, highlight_of
from thence.spec.events import Execution
from thence.spec.oracle import Oracle
from thence.spec.verdict import Level, Result, Verdict


def run(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    property_: Annotated[Optional[list[str]], typer.Option("--property", help="Judge only this; repeatable.")] = None,  # noqa: UP045
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
    manner = Manner(seed, steps, replayed, tuple(property_ or ()))
    run_command("run", json, lambda session: _simulated(choice, manner, svg))


@dataclass(frozen=True, slots=True)
class Manner:
    """How to run: at random from a seed, or again what is recorded in `replay`; and the properties asked for."""

    seed: int
    steps: int
    replay: str | None
    properties: tuple[str, ...]


def _simulated(choice: Choice, manner: Manner, svg: str | None) -> Output:
    """A random run, or a recorded one again."""
    check_writable(svg)
    target = targets(choice)[0]
    for name in manner.properties:
        known(name, judgeable(target.protocol, target.workload), "property")
    recorded, about = ([], ()) if manner.replay is None else _recorded(manner.replay)
    judged = manner.properties or tuple(dict.fromkeys((*properties_of(target.protocol), *about)))
    protocol = watching(target.protocol, judged)
    system = system_of(protocol, target.workload)
    again = manner.replay is not None
    taken = replay(system, recorded) if again else simulate(system, manner.seed, manner.steps, judged)
    end = _end_of(system, taken, judged, again)
    findings = end.findings
    observed = execution(system, taken)
    if svg is not None:
        write_text(svg, _drawn(observed, findings))
    unseen = [why for name in manner.properties if (why := unobservable(protocol, name)) is not None]
    found = Verdict.UNKNOWN if unseen else Verdict.TESTED
    result = Result(
        name="replay" if again else f"run, seed {manner.seed}",
        kind="scope",
        subject=target.subject,
        verdict=Verdict.REFUTED if findings else found,
        level=Level.L0,
        expected=not findings and not unseen,
        facts={
            "scope": workload_facts(target.scope, target.workload, target.protocol),
            "seed": manner.seed,
            "events": len(taken),
            "judged": list(judged),
            "ended": end.kind,
            "violated": sorted({finding.property for finding in findings}),
            **({"unknown": "; ".join(unseen)} if unseen and not findings else {}),
            "steps": record(system, taken),
        },
    )
    return Output(results=(result,), text="\n\n".join([text(taken), *unseen, end.said]), table=False)


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run: why it is there (`violation`, `rest`, `cut`, `replayed`), in words, and what was violated."""

    kind: str
    said: str
    findings: tuple[Finding, ...]


def _end_of(system: System, taken: Sequence[NarratedStep], judged: Collection[str], again: bool) -> End:
    """How the run ended, and the violations of what is judged.

    That a message is not delivered, or a process waits for ever, is judged at rest only: a run that was cut says
    nothing of what would come. A recorded run is judged where it ends.
    """
    states = [system.initial(), *(step.outcome.state for step in taken)]
    found = [*system.broken(states[0])]
    for step in taken:
        found += [*step.outcome.findings, *system.broken(step.outcome.state)]
    rests = at_rest(system, states[-1])
    if rests or again:
        found += filter(None, (system.stuck(states[-1]), blocked(system, states[-1])))
    wanted = {FAULT, *judged} - {*system.protocol.witnesses}
    findings = tuple({finding.property: finding for finding in reversed(found) if finding.property in wanted}.values())
    if findings:
        said = "\n".join(f"Refuted: {one.property}: {describe(one)}." for one in findings)
        return End("violation", said, findings)
    nothing = "nothing that is judged is violated"
    if rests:
        return End("rest", f"Nothing can happen any more; {nothing}.", ())
    if again:
        return End("replayed", f"Replayed to its end, where more could happen; {nothing}.", ())
    return End("cut", f"Cut after {len(taken)} steps (--steps), where more could happen; {nothing} so far.", ())


def _drawn(observed: Execution, findings: Sequence[Finding]) -> str:
    """The diagram as SVG, with the first violation that the oracle sees brought out."""
    kinds = {ORACLE_KINDS[finding.property] for finding in findings if finding.property in ORACLE_KINDS}
    oracle = Oracle(observed.processes)
    seen = [finding for event in observed.events for finding in oracle.observe(event)]
    seen += oracle.at_quiescence()
    shown = next((finding for finding in seen if finding.kind in kinds), None)
    return draw_svg(observed, None if shown is None else highlight_of(shown))


def _recorded(path: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The steps in a file, and the properties that its results say they violate."""
    try:
        found = json_text.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON: {error}") from error
    about: tuple[str, ...] = ()
    if isinstance(found, dict) and isinstance(found.get("results"), list):
        results = [result for result in found["results"] if isinstance(result, dict)]
        shown = next((result for result in results if result.get("counterexample")), None)
        if shown is None:
            raise BadInput(f"{path} holds no counterexample")
        found = shown["counterexample"]
        about = (shown["property"],) if isinstance(shown.get("property"), str) else ()
    if not isinstance(found, list) or not all(isinstance(step, dict) for step in found):
        raise BadInput(f"{path} holds neither results of explore nor a list of steps")
    return found, about


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
