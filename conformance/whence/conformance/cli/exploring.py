"""`whence explore` and `whence run`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from whence.conformance.cli.counterexamples import Files, write_first
from whence.conformance.cli.session import REFUTED, UNKNOWN, BadInput, Output, Session, check_writable, write_text
from whence.conformance.cli.specifications import known
from whence.conformance.cli.targets import Choice, Target, targets
from whence.dsl.narrate import NarratedStep, execution, record, replay, text
from whence.dsl.recycling import system_of
from whence.dsl.simulate import simulate as random_run
from whence.dsl.system import System
from whence.proofs.explore import Progress
from whence.proofs.scopes import Options, explore_scope, properties_of, workload_facts
from whence.spec.verdict import Level, Result, Verdict, exit_code

_JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "delivered", "fault")
"""What can be judged of every protocol, whatever it names."""


def explore(
    session: Session, choice: Choice, properties: list[str], limit: int | None, reductions: str, files: Files
) -> Output:
    """Explores the chosen scopes; one result per scope and property. Ctrl-C ends it with what was covered."""
    if reductions not in ("auto", "none"):
        raise BadInput(f"--reductions {reductions}: this explorer has auto and none")
    files.check()
    chosen = targets(choice)
    for target in chosen:
        for name in properties:
            known(name, (*properties_of(target.protocol), *_JUDGED), "property")

    def report(label: str, progress: Progress) -> None:
        rate = progress.states / progress.seconds if progress.seconds else 0
        session.status(
            f"{label}: {progress.states:,} states, {progress.transitions:,} transitions, depth {progress.depth}, "
            f"frontier {progress.frontier:,}, {rate:,.0f} states/s"
        )

    options = Options(limit, report)
    results: list[tuple[Target, Result]] = []
    interrupted = False
    for target in chosen:
        wanted = properties or _asked(target)
        found: tuple[Result, ...] = ()
        with suppress(KeyboardInterrupt):
            found = explore_scope(target.protocol, target.scope, target.workload, target.expects, wanted, options)
        results += [(target, _about(target, result)) for result in found]
        interrupted = not found or any("interrupted" in str(result.facts.get("unknown", "")) for result in found)
        if interrupted:
            break
    if not interrupted:
        write_first(choice.file, results, files)
    return _output([result for _, result in results], interrupted)


def _asked(target: Target) -> Collection[str]:
    """What a mutant's expectations name in that workload, so that the verdicts have something to be held against."""
    if "/" not in target.subject:
        return ()
    judged = {*properties_of(target.protocol), *_JUDGED}
    return tuple(dict.fromkeys(name for expect in target.expects for name in expect.names if name in judged))


def _about(target: Target, result: Result) -> Result:
    return replace(result, subject=target.subject, kind="mutant" if "/" in target.subject else "scope")


def _output(results: Sequence[Result], interrupted: bool) -> Output:
    if not interrupted:
        return Output(tuple(results))
    covered = max((result.facts["states"] for result in results[-1:]), default=0)
    said = f"incomplete: interrupted; the last exploration had covered {covered:,} states\n"
    code = REFUTED if exit_code(results) == REFUTED else UNKNOWN
    return Output(tuple(results), text=said, fields={"complete": False}, exit=code)


def simulate(choice: Choice, seed: int, steps: int, replayed: str | None, svg: str | None) -> Output:
    """A random run, or a recorded one again."""
    check_writable(svg)
    target = targets(choice)[0]
    system = system_of(target.protocol, target.workload)
    taken = random_run(system, seed, steps) if replayed is None else replay(system, _recorded(replayed))
    last = taken[-1].outcome if taken else None
    findings = list(last.findings) if last else []
    stuck = system.stuck(last.state) if last else None
    if stuck is not None:
        findings.append(stuck)
    shown = text(taken)
    if svg is not None:
        write_text(svg, _svg(system, taken))
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
            "scope": workload_facts(target.scope, target.workload),
            "seed": seed,
            "events": len(taken),
            "violated": sorted({finding.property for finding in findings}),
            "steps": record(system, taken),
        },
    )
    return Output(results=(result,), text=shown, table=False)


def _recorded(path: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
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


def _svg(system: System, steps: tuple[NarratedStep, ...]) -> str:
    from whence.conformance.pictures import svg_of

    return svg_of(execution(system, steps))
