"""`whence explore` and `whence run`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whence.conformance.cli.session import BadInput, Output, Session, write_text
from whence.conformance.cli.specifications import specification
from whence.dsl import ir
from whence.dsl.diagnostics import nearest
from whence.dsl.narrate import NarratedStep, execution, record, replay, text
from whence.dsl.simulate import simulate as random_run
from whence.dsl.system import System
from whence.proofs.explore import Progress
from whence.proofs.scopes import Options, explore_scope, properties_of, workload_facts
from whence.spec.verdict import Level, Result, Verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """Which protocol in which scope, as named on the command line."""

    file: str
    scope: str | None
    processes: int | None
    sends: str | None
    mutant: str | None


@dataclass(frozen=True, slots=True)
class Target:
    """A protocol in a workload; `expects` is what the file says of that scope."""

    protocol: ir.Protocol
    scope: str | None
    workload: ir.Workload
    expects: tuple[ir.Expectation, ...]


def explore(
    session: Session, choice: Choice, properties: list[str], limit: int | None, reductions: str, svg: str | None
) -> Output:
    """Explores the chosen scopes; one result per scope and property."""
    if reductions not in ("auto", "none"):
        raise BadInput(f"--reductions {reductions}: this explorer has auto and none")
    results: list[Result] = []
    targets = _targets(choice)
    for target in targets:
        for name in properties:
            _known(name, properties_of(target.protocol) + _JUDGED, "property")

    def report(label: str, progress: Progress) -> None:
        rate = progress.states / progress.seconds if progress.seconds else 0
        session.status(
            f"{label}: {progress.states:,} states, {progress.transitions:,} transitions, depth {progress.depth}, "
            f"frontier {progress.frontier:,}, {rate:,.0f} states/s"
        )

    for target in targets:
        found = explore_scope(
            target.protocol, target.scope, target.workload, target.expects, properties, Options(limit, report)
        )
        results += found
        if any("interrupted" in str(result.facts.get("unknown", "")) for result in found):
            break
    if svg is not None:
        _draw_first(results, targets, svg)
    return Output(results=tuple(results))


_JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "delivered", "fault")


def simulate(choice: Choice, seed: int, steps: int, replayed: str | None, svg: str | None) -> Output:
    """A random run, or a recorded one again."""
    target = _targets(choice)[0]
    system = System(target.protocol, target.workload)
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
        subject=target.protocol.name,
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
    except (ValueError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not JSON: {error}") from error
    if isinstance(found, dict):
        steps = [result["counterexample"] for result in found.get("results", []) if result.get("counterexample")]
        if not steps:
            raise BadInput(f"{path} holds no counterexample")
        found = steps[0]
    if not isinstance(found, list) or not all(isinstance(step, dict) for step in found):
        raise BadInput(f"{path} holds neither results of explore nor a list of steps")
    return found


def _draw_first(results: list[Result], targets: list[Target], svg: str) -> None:
    for result in results:
        steps = result.facts.get("counterexample")
        if steps:
            scope = result.facts["scope"]
            target = next(known for known in targets if workload_facts(known.scope, known.workload) == scope)
            system = System(target.protocol, target.workload)
            write_text(svg, _svg(system, replay(system, steps)))
            return
    raise BadInput(f"there is no counterexample to draw; {svg} is not written")


def _svg(system: System, steps: tuple[NarratedStep, ...]) -> str:
    from whence.conformance.pictures import svg_of

    return svg_of(execution(system, steps))


def _targets(choice: Choice) -> list[Target]:
    found = specification(choice.file)
    if not found.protocols:
        raise BadInput(f"{choice.file} has no protocol to explore")
    protocol = found.protocols[0]
    if choice.mutant is not None:
        _known(choice.mutant, tuple(mutant.name for mutant in found.mutants), "mutant")
        mutant = next(known for known in found.mutants if known.name == choice.mutant)
        if not isinstance(mutant.mutated, ir.Protocol):
            raise BadInput(f"{choice.mutant} is a mutant of the machine {mutant.subject}; see whence prove")
        subject = mutant.subject
        mutated: ir.Protocol | None = mutant.mutated
    else:
        subject, mutated = protocol.name, None
    scopes = [scope for scope in found.scopes if choice.mutant is None or scope.protocol == subject]
    if choice.scope is not None:
        _known(choice.scope, tuple(scope.name for scope in scopes), "scope")
        scopes = [scope for scope in scopes if scope.name == choice.scope]
    given = choice.processes is not None or choice.sends is not None
    if given or not scopes:
        base = scopes[0].workload if choice.scope is not None else None
        chosen = mutated or _protocol(found, scopes[0].protocol if choice.scope else subject)
        return [Target(chosen, None, _workload(base, choice), ())]
    by_name = {known.name: known for known in found.protocols}
    return [
        Target(
            mutated or by_name[scope.protocol], scope.name, scope.workload, () if mutated is not None else scope.expects
        )
        for scope in scopes
    ]


def _protocol(found: ir.Specification, name: str) -> ir.Protocol:
    return next(known for known in found.protocols if known.name == name)


def _known(name: str, names: tuple[str, ...], what: str) -> None:
    if name not in names:
        near = nearest(name, names)
        hint = f"did you mean {near}?" if near else f"there is {', '.join(dict.fromkeys(names)) or 'none'}"
        raise BadInput(f"there is no {what} {name}; {hint}")


def _workload(base: ir.Workload | None, choice: Choice) -> ir.Workload:
    processes = choice.processes or (base.processes if base else 3)
    sends = _sends(choice.sends, processes) if choice.sends is not None else (1,) * processes
    if base is not None and base.processes == processes:
        return replace(base, sends=sends if choice.sends is not None else base.sends)
    destinations = tuple(tuple(q for q in range(processes) if q != p) for p in range(processes))
    return ir.Workload(processes, sends, destinations)


def _sends(given: str, processes: int) -> tuple[int, ...]:
    try:
        numbers = [int(part) for part in given.replace(",", " ").split()]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        numbers *= processes
    if len(numbers) != processes or min(numbers, default=-1) < 0:
        raise BadInput(f"--sends {given}: give one number, or one for each of the {processes} processes, as 2,1,1")
    return tuple(numbers)
