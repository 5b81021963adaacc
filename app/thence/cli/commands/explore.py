"""`thence explore`: every execution of a protocol in a scope, and shortest counterexamples."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Optional

import typer

from thence.cli.counterexamples import Files, write_first
from thence.cli.options import File, Json, MutantName, Processes, ScopeName, Sends, SettingTexts, byte_size
from thence.cli.output import REFUTED, UNKNOWN, BadInput, Output
from thence.cli.reducing import reductions_of, reductions_text
from thence.cli.session import Session, run_command
from thence.cli.targets import Choice, Target, targets
from thence.dsl.find import known
from thence.dsl.run.identity_reuse import system_of
from thence.proofs.explore.exploration import STORAGES, Engine, Progress, Resources
from thence.proofs.native.progress_measure import NoMeasure
from thence.proofs.scopes.scopes import Options, Report, explore_scope, judgeable
from thence.spec.verdict import Result, exit_code

ANY_NUMBER = "any number of messages"
"""The setting of `--any-number`."""


def explore(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    property_: Annotated[Optional[list[str]], typer.Option("--property", help="Judge only this; repeatable.")] = None,  # noqa: UP045
    limit: Annotated[Optional[int], typer.Option(min=1, help="Stop after so many states.")] = None,  # noqa: UP045
    reductions: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="auto (the default), none, or symmetry. Verdicts stay the same."),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="native, interpreted, or auto: native code for all but small scopes.")
    ] = "auto",
    cross_check: Annotated[bool, typer.Option("--cross-check", help="Both engines, which must agree.")] = False,
    storage: Annotated[
        str,
        typer.Option(help="exact, or layers: as exact, in less memory, where every step is progress."),
    ] = "exact",
    any_number: Annotated[bool, typer.Option("--any-number", help="Any number of messages, not so many each.")] = False,
    memory: Annotated[Optional[str], typer.Option(help="At most so much for the states, such as 4G.")] = None,  # noqa: UP045
    threads: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=64, help="Of native code; by default one for each processor."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the first counterexample's diagram to this file.")] = None,  # noqa: UP045
    itf: Annotated[Optional[str], typer.Option(help="Write its states to this file, as an ITF trace.")] = None,  # noqa: UP045
    trace: Annotated[Optional[str], typer.Option(help="Write its events to this file, as thence-trace/1.")] = None,  # noqa: UP045
    pytest: Annotated[Optional[str], typer.Option(help="Write a pytest file that replays it.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Explores the protocol, or a mutant of it, in the chosen scopes."""
    settings = (*(setting or ()), *((ANY_NUMBER,) if any_number else ()))
    choice = Choice(file, scope, processes, sends, mutant, settings)
    manner = Manner(limit, reductions, engine, cross_check, memory, threads, storage)
    files = Files(svg, itf, trace, pytest)
    run_command("explore", json, lambda session: _explored(session, choice, property_ or (), manner, files))


@dataclass(frozen=True, slots=True)
class Manner:
    """How to explore, as the options say it."""

    limit: int | None = None
    reductions: str | None = None
    engine: str = "auto"
    cross_check: bool = False
    memory: str | None = None
    threads: int | None = None
    storage: str = "exact"

    def options(self, report: Report) -> Options:
        """The options of the exploration.

        Raises:
            BadInput: for an unknown engine or storage, and for options that contradict each other.
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


def _explored(session: Session, choice: Choice, properties: Sequence[str], manner: Manner, files: Files) -> Output:
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
            known(name, judgeable(target.protocol, target.workload), "property")
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
    except NoMeasure as error:
        if how.storage != "layers":
            raise
        raise BadInput(f"--storage layers: {target.subject}: {error}") from error


def _asked(target: Target) -> Collection[str]:
    """What a mutant's expectations name in that workload, so that the verdicts have something to be held against."""
    if "/" not in target.subject:
        return ()
    judged = judgeable(target.protocol, target.workload)
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
