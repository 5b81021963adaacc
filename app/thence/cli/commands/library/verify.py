"""`thence verify`: everything that the files state."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, Optional, cast

import typer

from thence.cli.options import Json, Seed, Verbose
from thence.cli.output import REFUTED, UNKNOWN, BadInput, Output
from thence.cli.session import Session, check_writable, run_command, write_text
from thence.conformance.extras import ExtraMissing, require
from thence.conformance.implementations import SHIPPED
from thence.dsl import ir
from thence.dsl.load import Loaded, library, load
from thence.spec.verdict import Kind, Level, Result, Verdict, exit_code
from thence.spec.words import counted

WORKERS = 2

STATUS_EVERY_S = 0.5


def verify(
    files: Annotated[
        Optional[list[str]], typer.Argument(help="Files of yours or of the library. By default, the whole library.")  # noqa: UP045
    ] = None,
    report: Annotated[str, typer.Option(help="The file that gets the HTML report.")] = "thence-report.html",
    cases: Annotated[int, typer.Option(min=1, help="The number of conformance cases for each implementation.")] = 400,
    campaign_cases: Annotated[
        int, typer.Option(min=0, help="The number of cases of the Spark campaign. 0 leaves it out.")
    ] = 2000,
    seed: Seed = 0,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Checks the files, then everything that they state; writes the HTML report."""
    amount = Amount(cases, campaign_cases, seed)
    run_command("verify", json, lambda session: _verified(session, files or (), report, amount), verbose)


@dataclass(frozen=True, slots=True)
class Amount:
    """The number of conformance cases, here and on Spark (0: no campaign), and the seed."""

    cases: int
    campaign_cases: int
    seed: int


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work for a worker process: a declaration of a file, by kind and name."""

    kind: Literal["prove", "scope", "protocol", "mutant", "link", "scenario", "conform"]
    file: str
    name: str
    cases: int = 0
    seed: int = 0

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}"


def _verified(session: Session, files: Sequence[str], report: str, amount: Amount) -> Output:
    check_writable(report)
    if amount.campaign_cases:
        _require_spark()
    loaded = [load(file) for file in files or [str(path) for path in library()]]
    diagnostics = tuple((diagnostic, file) for file in loaded for diagnostic in file.diagnostics)
    if any(file.specification is None for file in loaded):
        return Output(diagnostics=diagnostics)
    started = time.perf_counter()
    tasks = {file.path: list(_tasks_of(file, amount)) for file in loaded}
    then = len(_tested_on_spark(loaded)) if amount.campaign_cases else 0
    done, complete = _run(session, [task for each in tasks.values() for task in each], then)
    by_file = {path: [result for task in each for result in done.get(task, ())] for path, each in tasks.items()}
    results = [result for each in by_file.values() for result in each]
    names = _short_names(list(by_file))
    sizes = [(names[path], len(each)) for path, each in by_file.items()]
    left = [f"{names[path]}: {task.label}" for path, each in tasks.items() for task in each if task not in done]
    if complete:
        _refuse_silent([path for path, each in tasks.items() if not any(done[task] for task in each)], bool(files))
    if complete and amount.campaign_cases:
        campaign, complete = _campaigns(session, loaded, amount, len(done))
        results += campaign
        sizes += [("campaigns", len(campaign))] if campaign else []
        left += [] if complete else ["some campaigns"]
    from thence.pages.html_report import Verified, render
    from thence.pages.result_lines import lines
    from thence.play.report_runs import runs_of

    sections = {names[path]: each for path, each in by_file.items()}
    campaigns = results[sum(map(len, by_file.values())) :]
    sections |= {"campaigns": campaigns} if campaigns else {}
    took = time.perf_counter() - started
    shown = [[line.first for line in lines(each, explained=True)] for each in by_file.values()]
    player, runs = runs_of([*{file.path: file for file in loaded}.values()], shown)
    write_text(report, render(Verified(sections, took, left, player=player, runs=runs)))
    said = "" if complete else "interrupted: this is what was finished\n"
    return Output(
        results=tuple(results), diagnostics=diagnostics, notes=f"{said}report: {report}\n",
        fields={"report": report, "complete": complete}, exit=_exit(results, complete), files=tuple(sizes),
    )  # fmt: skip


def _short_names(paths: Sequence[Path]) -> dict[Path, str]:
    """The files' names without folder and ending, where that tells them apart."""
    stems = Counter(path.stem for path in paths)
    return {path: path.stem if stems[path.stem] == 1 else str(path) for path in paths}


def _require_spark() -> None:
    """Raises BadInput where the campaign cannot run: before hours of work, not after them."""
    from thence.conformance.java import ensure_java

    try:
        require("spark", "the campaign runs on Spark")
    except ExtraMissing as error:
        raise BadInput(f"{error}, or leave it out: --campaign-cases 0") from error
    ensure_java()


def _exit(results: Sequence[Result], complete: bool) -> int | None:
    """An interrupted run is unknown, unless a refutation is known already."""
    return None if complete or exit_code(results) == REFUTED else UNKNOWN


def _refuse_silent(silent: Sequence[Path], chosen: bool) -> None:
    """Raises BadInput for files that state nothing, where they were `chosen`: no verdict is not a success."""
    if silent and chosen:
        raise BadInput(
            f"{', '.join(map(str, silent))}: nothing is stated here that could be checked: no theorem, nothing that a"
            " machine proves, no scope, link, mutant or scenario, and no protocol with a property or an invariant"
        )


def _tasks_of(file: Loaded, amount: Amount) -> Iterator[Task]:
    """The work for one file, in the order in which results are shown."""
    path, found = str(file.path), file.specification
    assert found is not None
    machines = any(isinstance(mutant.mutated, ir.Machine) for mutant in found.mutants)
    if found.theorems or found.machines or machines:
        yield Task("prove", path, file.path.stem, seed=amount.seed)
    for scope in found.scopes:
        yield Task("scope", path, f"{scope.name} of {scope.protocol}")
    stated = {scope.protocol for scope in found.scopes}
    for protocol in found.protocols:
        if protocol.name not in stated and (protocol.properties or protocol.eventually or protocol.invariants):
            yield Task("protocol", path, protocol.name)
    for link in found.links:
        yield Task("link", path, link.name)
    for mutant in found.mutants:
        if isinstance(mutant.mutated, ir.Protocol):
            yield Task("mutant", path, mutant.name)
    for scenario in found.scenarios:
        yield Task("scenario", path, scenario.name)
    for protocol in found.protocols:
        if protocol.name in SHIPPED:
            yield Task("conform", path, protocol.name, amount.cases, amount.seed)


def run_task(task: Task) -> tuple[Result, ...]:
    """Does one piece of work, in a worker process."""
    found = load(task.file).specification
    assert found is not None
    match task.kind:
        case "prove":
            from thence.proofs.prove import prove_specification
            from thence.proofs.solving.discharge import Options as ProofOptions

            return prove_specification(found, (), ProofOptions(seed=task.seed, workers=1), None)
        case "scope":
            from thence.proofs.scopes.scopes import explore_scope

            scope = next(known for known in found.scopes if f"{known.name} of {known.protocol}" == task.name)
            protocol = next(known for known in found.protocols if known.name == scope.protocol)
            return explore_scope(protocol, scope.name, scope.workload, scope.expects)
        case "protocol":
            from thence.proofs.scopes.scopes import explore_unscoped

            return explore_unscoped(next(known for known in found.protocols if known.name == task.name))
        case "link":
            from thence.proofs.scopes.scopes import check_links

            return check_links(next(known for known in found.links if known.name == task.name))
        case "mutant":
            from thence.proofs.scopes.scopes import check_mutant

            return check_mutant(found, next(known for known in found.mutants if known.name == task.name))
        case "scenario":
            from thence.proofs.scopes.scenarios import play_scenario

            return play_scenario(next(known for known in found.scenarios if known.name == task.name))
        case "conform":
            from thence.api.driving import Drive, conform_result

            return (conform_result(Drive(task.file, SHIPPED[task.name], 3, task.cases, 12, task.seed)),)


def _run(session: Session, tasks: Sequence[Task], then: int) -> tuple[dict[Task, tuple[Result, ...]], bool]:
    """Runs the tasks in worker processes; the results by task, and whether all were done.

    `then`: the number of campaigns that follow.
    """
    done: dict[Task, tuple[Result, ...]] = {}
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(WORKERS, mp_context=context, initializer=signal.signal, initargs=_QUIET)
    complete = False
    try:
        futures = {pool.submit(run_task, task): task for task in sorted(tasks, key=_weight)}
        pending = set(futures)
        while pending:
            running = ", ".join(futures[future].label for future in pending if future.running())
            session.status(running, len(done), len(tasks) + then, "tasks", _share(tasks, done, then))
            finished, pending = wait(pending, timeout=STATUS_EVERY_S, return_when=FIRST_COMPLETED)
            done |= {futures[future]: _outcome(futures[future], future) for future in finished}
        complete = True
    except KeyboardInterrupt:
        for process in list((pool._processes or {}).values()):
            process.terminate()
    finally:
        pool.shutdown(wait=complete, cancel_futures=True)
    return done, complete


_QUIET = (signal.SIGINT, signal.SIG_IGN)
"""The parent handles Ctrl-C."""


_HERE = "local[*]"
"""An embedded Spark, on all processors."""


def _weight(task: Task) -> int:
    """Long work first."""
    return ("link", "prove", "scope", "protocol", "mutant", "scenario", "conform").index(task.kind)


def _outcome(task: Task, future: Future[tuple[Result, ...]]) -> tuple[Result, ...]:
    """A task that broke is an unknown, never a success and never the end of the run."""
    error = future.exception()
    if error is None:
        return future.result()
    kinds: dict[str, Kind] = {"prove": "machine", "protocol": "scope"}
    kind = kinds.get(task.kind) or cast(Kind, task.kind)
    said = f"the check itself failed: {type(error).__name__}: {error}"
    return (Result(task.name, kind, task.file, Verdict.UNKNOWN, Level.L0, False, 0.0, {"unknown": said}, said),)


_SECONDS = {"prove": 20.0, "conform": 1.5, "link": 0.8, "scope": 0.4, "protocol": 0.4, "mutant": 0.2, "scenario": 0.1}
"""About how long a task of each kind takes, on a processor of its own."""

_CAMPAIGN_S = 5.0


def _share(tasks: Sequence[Task], done: Collection[Task], then: int, campaigns: int = 0) -> float:
    """About the share of the time that is over, when `campaigns` of those that follow are done."""
    whole = sum(_SECONDS[task.kind] for task in tasks) + _CAMPAIGN_S * then
    return (sum(_SECONDS[task.kind] for task in done) + _CAMPAIGN_S * campaigns) / whole if whole else 1.0


def _tested_on_spark(loaded: Sequence[Loaded]) -> list[str]:
    """The files' protocols with a shipped implementation."""
    protocols = [protocol.name for file in loaded if file.specification for protocol in file.specification.protocols]
    return [name for name in dict.fromkeys(protocols) if name in SHIPPED]


def _campaigns(session: Session, loaded: Sequence[Loaded], amount: Amount, before: int) -> tuple[list[Result], bool]:
    """A small campaign for each shipped implementation of the files' protocols, all on one embedded Spark.

    `before`: the number of tasks that are done already.
    """
    from thence.cli.campaigns import CampaignPlan, CasePlan, Tested, Work, parameters
    from thence.conformance.campaign import result, start
    from thence.conformance.campaign.cluster import open_cluster

    results: list[Result] = []
    shipped = _tested_on_spark(loaded)
    if not shipped:
        return results, True
    try:
        with (
            TemporaryDirectory(prefix="thence-campaign-") as folder,
            open_cluster(_HERE, Path(folder) / "log") as cluster,
        ):
            for name in shipped:
                each = max(1, amount.campaign_cases // len(shipped))
                tested = (Tested(SHIPPED[name], name),)
                plan = CampaignPlan(tested, each, amount.seed, CasePlan(grow=False), Work(2, 2000, _HERE))
                started = time.perf_counter()
                session.status(
                    f"campaign of {counted(each, 'case')}: {name}",
                    before + len(results),
                    before + len(shipped),
                    "tasks",
                )
                status = start(Path(folder) / name, parameters(plan), cluster=cluster)
                if status.interrupted:
                    return results, False
                results.append(result(status, time.perf_counter() - started))
    except KeyboardInterrupt:
        return results, False
    return results, True
