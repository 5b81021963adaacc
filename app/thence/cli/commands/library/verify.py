"""`thence verify`: everything that the files state."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Optional, cast

import typer

from thence.api.pools import open_spark, require_spark
from thence.api.verifying import Task, implemented, run_task, tasks_of
from thence.cli.options import Json, Seed, Verbose
from thence.cli.output import BadInput, Output, exit_incomplete, faults_of, unwritten
from thence.cli.readers.progress import UNLIKE
from thence.cli.session import Session, check_writable, folder_for, run_command, write_text
from thence.conformance.extras import ExtraMissing
from thence.conformance.implementations import SHIPPED
from thence.conformance.tasks.kept_results import KeptResults
from thence.conformance.tasks.pool import TaskPool
from thence.conformance.tasks.processes import open_processes
from thence.conformance.tasks.running import INTERRUPTED, run_tasks
from thence.dsl.load import Loaded, library, load
from thence.dsl.text.diagnostics import nearest
from thence.spec.user_error import UserError
from thence.spec.verdict import Kind, Level, Result, Verdict
from thence.spec.words import counted

if TYPE_CHECKING:
    from thence.conformance.campaign.cluster import Cluster

WORKERS = 2

SHOWN = 4
"""Of the tasks that run, the line of progress names so many."""


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
    results: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Keep the results of each task in this directory, and do no task again whose results are there."
        ),
    ] = None,
    master: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Do each task on the workers of this Spark master, instead of in two processes here."),
    ] = None,
    only: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Check only what is about this machine, protocol, scope, mutant, link, scenario or theorem, and start"
            " no campaign on Spark. Repeatable."
        ),
    ] = None,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Checks the files, then everything that they state; writes the HTML report."""
    amount = Amount(cases, 0 if only else campaign_cases, seed)
    request = VerifyRequest(tuple(files or ()), report, amount, results, master, tuple(only or ()))
    run_command("verify", json, lambda session: _verified(session, request), verbose)


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """The files, and where their tasks are done.

    Attributes:
        files: none: the whole library.
        report: the file that gets the HTML report.
        results: a directory of results, kept from run to run.
        master: a Spark master; None: processes of this machine.
        only: names of what is checked; none: everything.
    """

    files: tuple[str, ...]
    report: str
    amount: Amount
    results: str | None
    master: str | None
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Amount:
    """The number of conformance cases, here and on Spark (0: no campaign), and the seed."""

    cases: int
    campaign_cases: int
    seed: int


def _verified(session: Session, request: VerifyRequest) -> Output:
    check_writable(request.report)
    files, amount = request.files, request.amount
    if amount.campaign_cases:
        try:
            require_spark("the campaign runs on Spark")
        except ExtraMissing as error:
            raise BadInput(f"{error}, or leave it out: --campaign-cases 0") from error
    kept = None if request.results is None else KeptResults(folder_for(request.results, "the results"))
    loaded = [load(file) for file in files or [str(path) for path in library()]]
    diagnostics = tuple((diagnostic, file) for file in loaded for diagnostic in file.diagnostics)
    if any(file.specification is None for file in loaded):
        return Output(diagnostics=diagnostics)
    started = time.perf_counter()
    everything = {file.path: list(tasks_of(file, amount.cases, amount.seed)) for file in loaded}
    tasks = _narrowed(everything, request.only)
    loaded = [file for file in loaded if file.path in tasks]
    then = len(_tested_on_spark(loaded)) if amount.campaign_cases else 0
    campaign: list[Result] = []
    unkept: set[str] = set()
    with _pool(request.master) as (pool, cluster):
        done, why = _run(session, [task for each in tasks.values() for task in each], then, pool, kept, unkept)
        if not why:
            _refuse_silent([path for path, each in tasks.items() if not any(done[task] for task in each)], bool(files))
        left = [task for each in tasks.values() for task in each if task not in done]
        if amount.campaign_cases and not why:
            campaign, why = _campaigns(session, loaded, amount, len(done), cluster)
    by_file = {path: [result for task in each for result in done.get(task, ())] for path, each in tasks.items()}
    results = [*(result for each in by_file.values() for result in each), *campaign]
    names = _short_names(list(by_file))
    sizes = [(names[path], len(each)) for path, each in by_file.items()]
    sizes += [("campaigns", len(campaign))] if campaign else []
    missing = [f"{names[Path(task.file)]}: {task.label}" for task in left]
    missing += ["some campaigns"] if why and not left else []
    chosen = ""
    fields: dict[str, object] = {"report": request.report, "complete": not why}
    if request.only:
        counts = sum(map(len, tasks.values())), sum(map(len, everything.values()))
        fields["chosen"] = {"only": [*request.only], "tasks": counts[0], "of_tasks": counts[1]}
        chosen = f"only what is about {', '.join(request.only)}: {counts[0]:,} of {counted(counts[1], 'task')}"
    from thence.pages.html_report import Verified, render
    from thence.pages.result_lines import lines

    sections = {names[path]: each for path, each in by_file.items()}
    sections |= {"campaigns": campaign} if campaign else {}
    took = time.perf_counter() - started
    shown = [[line.first for line in lines(each, explained=True)] for each in by_file.values()]
    player, runs = _runs(session, [*{file.path: file for file in loaded}.values()], shown)
    page = render(Verified(sections, took, left=missing, chosen=chosen, player=player, runs=runs))
    faults = faults_of([lambda: write_text(request.report, page)])
    said = f"{why}: this is what was finished\n" if why else ""
    said += f"{chosen}\n" if chosen else ""
    said += "" if faults else f"report: {request.report}\n"
    output = Output(
        results=tuple(results), diagnostics=diagnostics, notes=said,
        fields=fields, exit=exit_incomplete(results) if why else None, files=tuple(sizes),
    )  # fmt: skip
    return unwritten(output, (*sorted(unkept), *faults))


def _narrowed(tasks: dict[Path, list[Task]], only: Sequence[str]) -> dict[Path, list[Task]]:
    """The tasks that are about what was named, and their files. Raises: BadInput for a name that nothing has."""
    if not only:
        return tasks
    known = sorted({name for each in tasks.values() for task in each for name in task.names})
    for name in only:
        if name not in known:
            near = nearest(name, known)
            more = f" and {len(known) - SHOWN:,} more" if len(known) > SHOWN else ""
            hint = f"did you mean {near}?" if near else f"there are {', '.join(known[:SHOWN])}{more}"
            raise BadInput(f"{name}: the files state nothing about it; {hint}")
    chosen = {path: [task for task in each if set(task.names) & set(only)] for path, each in tasks.items()}
    return {path: each for path, each in chosen.items() if each}


def _short_names(paths: Sequence[Path]) -> dict[Path, str]:
    """The files' names without folder and ending, where that tells them apart."""
    stems = Counter(path.stem for path in paths)
    return {path: path.stem if stems[path.stem] == 1 else str(path) for path in paths}


@contextmanager
def _pool(master: str | None) -> Iterator[tuple[TaskPool, Cluster | None]]:
    """Whoever does the tasks; and the Spark, where that is Spark."""
    if master is None:
        with open_processes(WORKERS) as processes:
            yield processes, None
    else:
        with open_spark(master) as scattered:
            yield scattered, scattered.cluster


def _refuse_silent(silent: Sequence[Path], chosen: bool) -> None:
    """Raises BadInput for files that state nothing, where they were `chosen`: no verdict is not a success."""
    if silent and chosen:
        raise BadInput(
            f"{', '.join(map(str, silent))}: nothing is stated here that could be checked: no theorem, nothing that a"
            " machine proves, no scope, link, mutant or scenario, and no protocol with a property or an invariant"
        )


def _run(
    session: Session, tasks: Sequence[Task], then: int, pool: TaskPool, kept: KeptResults | None, unkept: set[str]
) -> tuple[dict[Task, tuple[Result, ...]], str]:
    """Runs the tasks, but for those whose results are kept; the results by task, and why some are missing, if any are.

    `then`: the number of campaigns that follow. `unkept` gets the reasons why results could not be kept.
    """
    done = {} if kept is None else {task: found for task in tasks if (found := kept.read(task.about)) is not None}

    def finished(task: Task, future: Future[tuple[Result, ...]]) -> None:
        done[task] = _outcome(task, future)
        if kept is not None and future.exception() is None:
            try:
                kept.keep(task.about, done[task])
            except OSError as error:
                unkept.add(f"results cannot be kept: {Path(error.filename).parent}: {error.strerror}")

    def told(running: Sequence[Task]) -> None:
        doing = ", ".join(task.label for task in running[:SHOWN])
        session.status(doing, len(done), len(tasks) + then, "tasks", UNLIKE)

    left = sorted((task for task in tasks if task not in done), key=lambda task: -task.seconds)
    return done, run_tasks(pool, run_task, left, finished, told)


def _runs(
    session: Session, loaded: Sequence[Loaded], results: Sequence[Sequence[Result]]
) -> tuple[str, dict[int, int]]:
    """The runs that the report plays, file by file in processes of this machine: packed, and the number of the run of
    each result, by `id`. Of a file whose process dies, and of those that an interrupt leaves, there are none."""
    from thence.play.report_runs import FileRuns, Refuted, packed, runs_there

    found: dict[Path, FileRuns] = {}
    given = [Refuted(file.path, file.source.text.encode(), those) for file, those in zip(loaded, results, strict=True)]

    def finished(task: Refuted, future: Future[FileRuns]) -> None:
        died = isinstance(future.exception(), BrokenExecutor)
        found[task.file] = FileRuns() if died else future.result()

    def told(running: Sequence[Refuted]) -> None:
        session.status("the runs of the report", len(found), len(given), "files", UNLIKE)

    with open_processes(WORKERS) as pool:
        run_tasks(pool, runs_there, given, finished, told)
    there = [(those, found[file.path]) for file, those in zip(loaded, results, strict=True) if file.path in found]
    player, numbers = packed([each for _, each in there])
    return player, {
        id(result): number
        for (those, _), own in zip(there, numbers, strict=True)
        for result, number in zip(those, own, strict=False)
        if number is not None
    }


_HERE = "local[*]"
"""An embedded Spark, on all processors."""


def _outcome(task: Task, future: Future[tuple[Result, ...]]) -> tuple[Result, ...]:
    """A task that broke is an unknown, never a success and never the end of the run."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, UserError):
        raise error
    kinds: dict[str, Kind] = {"prove": "machine", "protocol": "scope"}
    kind = kinds.get(task.kind) or cast(Kind, task.kind)
    died = (
        "its process died: out of memory, killed, or a crash of a library" if isinstance(error, BrokenExecutor) else ""
    )
    said = f"the check itself failed: {died or f'{type(error).__name__}: {error}'}"
    return (Result(task.name, kind, task.file, Verdict.UNKNOWN, Level.L0, False, 0.0, {"unknown": said}, said),)


def _tested_on_spark(loaded: Sequence[Loaded]) -> list[str]:
    """The files' protocols with a shipped implementation."""
    return list(dict.fromkeys(name for file in loaded for name in implemented(file)))


def _campaigns(
    session: Session, loaded: Sequence[Loaded], amount: Amount, before: int, there: Cluster | None
) -> tuple[list[Result], str]:
    """A small campaign for each shipped implementation of the files' protocols, all on one Spark: the one that is
    `there`, or an embedded one; and why some are missing, if any are.

    `before`: the number of tasks that are done already.
    """
    from thence.cli.campaigns import CampaignPlan, CasePlan, Tested, Work, parameters
    from thence.conformance.campaign import CampaignError, result, start
    from thence.conformance.campaign.cluster import open_cluster

    results: list[Result] = []
    shipped = _tested_on_spark(loaded)
    if not shipped:
        return results, ""
    try:
        with (
            TemporaryDirectory(prefix="thence-campaign-") as folder,
            nullcontext(there) if there is not None else open_cluster(_HERE, Path(folder) / "log") as cluster,
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
                    UNLIKE,
                )
                status = start(Path(folder) / name, parameters(plan), cluster=cluster)
                if status.interrupted:
                    return results, INTERRUPTED
                results.append(result(status, time.perf_counter() - started))
    except KeyboardInterrupt:
        return results, INTERRUPTED
    except CampaignError as error:
        return results, str(error).partition("\n")[0]
    return results, ""
