"""`thence explore` and `thence run`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thence.cli.byte_sizes import byte_size
from thence.cli.counterexamples import Files, write_first
from thence.cli.output import REFUTED, UNKNOWN, BadInput, Output
from thence.cli.reducing import reductions_of, reductions_text
from thence.cli.session import Session, check_writable, write_text
from thence.cli.targets import Choice, Target, targets
from thence.dsl.find import known
from thence.dsl.ir.properties import COMPLETES
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import NarratedStep, execution, record, replay, text
from thence.dsl.run.simulate import simulate as random_run
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import STORAGES, Engine, Progress, Resources
from thence.proofs.scopes.reports import workload_facts
from thence.proofs.scopes.scopes import Options, Report, explore_scope, properties_of
from thence.spec.verdict import Level, Result, Verdict, exit_code

_JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "deadlock_free", "delivered", "fault")
"""What can be judged of every protocol, whatever it names."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to explore, as named on the command line."""

    limit: int | None = None
    reductions: str | None = None
    engine: str = "auto"
    cross_check: bool = False
    memory: str | None = None
    threads: int | None = None
    storage: str = "exact"

    def options(self, report: Report) -> Options:
        """The same, understood.

        Raises:
            BadInput: for what there is not.
        """
        engine = next((known for known in _ENGINES if known == self.engine), None)
        if engine is None:
            raise BadInput(f"--engine {self.engine}: there are {', '.join(_ENGINES[:-1])} and {_ENGINES[-1]}")
        if self.cross_check and engine != "auto":
            raise BadInput(f"--cross-check takes both engines; leave --engine {engine} out")
        both: Engine = "both" if self.cross_check else engine
        reductions = reductions_of(self.reductions, both)
        storage = next((known for known in STORAGES if known == self.storage), None)
        if storage is None:
            raise BadInput(f"--storage {self.storage}: there are {', '.join(STORAGES)}")
        if storage != "exact" and self.cross_check:
            raise BadInput(f"--cross-check compares all states; leave --storage {storage} out")
        if storage != "exact" and engine == "interpreted":
            raise BadInput(f"--storage {storage}: the interpreter keeps every state")
        resources = Resources(None if self.memory is None else byte_size("--memory", self.memory), self.threads)
        return Options(self.limit, report, both, resources, reductions, storage)


_ENGINES: tuple[Engine, ...] = ("auto", "native", "interpreted")


def _interpreted_anyway(chosen: Sequence[Target], engine: Engine) -> dict[int, str]:
    """Where native code is asked for: the targets, by position, that it cannot take, and why.

    Raises:
        BadInput: if it can take none.
    """
    if engine not in ("native", "both"):
        return {}
    from thence.proofs.native.engine import why_not

    reasons = [why_not(system_of(target.protocol, target.workload)) for target in chosen]
    refused = {at: reason for at, reason in enumerate(reasons) if reason is not None}
    if len(refused) == len(chosen):
        raise BadInput(f"native code cannot explore {chosen[0].subject}: {reasons[0]}")
    return refused


def settings(given: Sequence[str], any_number: bool) -> tuple[str, ...]:
    """The settings of `--setting`, and of `--any-number`."""
    return (*given, *(("any number of messages",) if any_number else ()))


def explore(session: Session, choice: Choice, properties: list[str], manner: Manner, files: Files) -> Output:
    """Explores the chosen scopes; one result per scope and property. Ctrl-C ends it with what was covered."""

    def report(label: str, progress: Progress) -> None:
        rate = progress.states / progress.seconds if progress.seconds else 0
        memory = f", {progress.memory / 1e6:,.0f} MB" if progress.memory else ""
        session.status(
            f"{label}: {progress.states:,} states, {progress.transitions:,} transitions, {_depth(progress)}, "
            f"frontier {progress.frontier:,}, {rate:,.0f} states/s{memory}"
        )

    options = manner.options(report)
    files.check()
    chosen = targets(choice)
    for target in chosen:
        for name in properties:
            shape = (COMPLETES,) if target.workload.programs else ()
            known(name, (*properties_of(target.protocol), *_JUDGED, *shape), "property")
    refused = _interpreted_anyway(chosen, options.engine)
    results: list[tuple[Target, Result]] = []
    interrupted = False
    for at, target in enumerate(chosen):
        wanted = properties or _asked(target)
        found: tuple[Result, ...] = ()
        with suppress(KeyboardInterrupt):
            how = replace(options, engine="interpreted") if at in refused else options
            found = _explore_scope(target, wanted, how)
        results += [(target, _about(target, result)) for result in found]
        interrupted = not found or any("interrupted" in str(result.facts.get("unknown", "")) for result in found)
        if interrupted:
            break
    if not interrupted:
        write_first(choice.file, results, files)
    notes = "".join(
        f"{chosen[at].scope or chosen[at].subject}: by the interpreter only: {reason}\n"
        for at, reason in refused.items()
    )
    found_in_all = [result for _, result in results]
    return _output(found_in_all, interrupted, notes + reductions_text(found_in_all))


def _depth(progress: Progress) -> str:
    expected = progress.expected_depth
    about = f" of about {expected}" if expected is not None and progress.depth <= expected else ""
    return f"depth {progress.depth}{about}"


def _explore_scope(target: Target, properties: Collection[str], how: Options) -> tuple[Result, ...]:
    """Explores one scope.

    Raises:
        BadInput: where it cannot be stored as asked for.
    """
    try:
        return explore_scope(target.protocol, target.scope, target.workload, target.expects, properties, how)
    except ValueError as error:
        if how.storage != "layers" or type(error).__name__ != "NoMeasure":
            raise
        raise BadInput(f"--storage layers: {target.subject}: {error}") from error


def _asked(target: Target) -> Collection[str]:
    """What a mutant's expectations name in that workload, so that the verdicts have something to be held against."""
    if "/" not in target.subject:
        return ()
    judged = {*properties_of(target.protocol), *_JUDGED}
    return tuple(dict.fromkeys(name for expect in target.expects for name in expect.names if name in judged))


def _about(target: Target, result: Result) -> Result:
    return replace(result, subject=target.subject, kind="mutant" if "/" in target.subject else "scope")


def _output(results: Sequence[Result], interrupted: bool, notes: str) -> Output:
    if not interrupted:
        return Output(tuple(results), text=notes or None)
    covered = max((result.facts["states"] for result in results[-1:]), default=0)
    said = f"incomplete: interrupted; the last exploration had covered {covered:,} states\n"
    code = REFUTED if exit_code(results) == REFUTED else UNKNOWN
    return Output(tuple(results), text=notes + said, fields={"complete": False}, exit=code)


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
    from thence.conformance.harness.pictures import svg_of

    return svg_of(execution(system, steps))
