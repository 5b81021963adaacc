"""`thence evaluate`: latency, throughput and cost of shipped implementations on a simulated network."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from thence.cli.options import Json
from thence.cli.output import AS_EXPECTED, UNKNOWN, BadInput, Output
from thence.cli.session import Session, run_command, write_text
from thence.cli.subjects import not_shipped
from thence.cli.tables import PIPED_WIDTH
from thence.conformance.evaluation import settings
from thence.conformance.evaluation.measures import Figures, figures, interval
from thence.conformance.evaluation.network import Network
from thence.conformance.evaluation.processing import measured
from thence.conformance.evaluation.simulation import simulate
from thence.conformance.evaluation.workload import Workload
from thence.conformance.implementations import SHIPPED

UNICAST = tuple(name for name in SHIPPED if name not in {"cbcast", "newtop", "synchronous", "client_server"})
"""The systems that are evaluated unasked: messages go to any process, and no workload gets them stuck."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A system, and the figures of its repetitions; None for one in which nothing was delivered."""

    system: str
    costs: dict[str, float]
    runs: tuple[Figures | None, ...]

    @property
    def figures(self) -> tuple[Figures, ...]:
        return tuple(run for run in self.runs if run is not None)

    @property
    def stuck(self) -> str:
        """What was not delivered, as a sentence; empty, if all was."""
        silent = len(self.runs) - len(self.figures)
        missing = sum(run.undelivered for run in self.figures)
        of = sum(run.messages for run in self.figures)
        parts = [f"{missing:,} of {of:,} messages never came; no figure has them"] if missing else []
        parts += [f"nothing was delivered in {silent} of {len(self.runs)} repetitions"] if silent else []
        return "; ".join(parts)


def evaluate(
    protocols: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Library protocols with a shipped implementation; by default all that take the workload."),
    ] = None,
    processes: Annotated[int, typer.Option(min=2, max=500, help="How many processes.")] = 10,
    messages: Annotated[int, typer.Option(min=1, max=100_000, help="Sends of each process.")] = 50,
    interval: Annotated[str, typer.Option(help="Mean time between two sends of a process.")] = "10ms",
    regular: Annotated[bool, typer.Option("--regular", help="Sends come after just that time, not at random.")] = False,
    target: Annotated[str, typer.Option(help="anybody; hot 0.1 0.8; chain; near 3.")] = "anybody",
    answers: Annotated[float, typer.Option(min=0, max=1, help="Share of the messages that are answered at once.")] = 0,
    jobs: Annotated[Optional[str], typer.Option(help="Long jobs at delivery: '0.1 25ms' or '0.1 25ms 5ms'.")] = None,  # noqa: UP045
    jobs_beside: Annotated[bool, typer.Option("--jobs-beside", help="A process goes on during its jobs.")] = False,
    payload: Annotated[int, typer.Option(min=0, help="Bytes of an application message.")] = 100,
    latency: Annotated[
        str, typer.Option(help="constant 5ms; uniform 1ms 10ms; lognormal 5ms 0.5; wide-area.")
    ] = "lognormal 5ms 0.5",
    bandwidth: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Bytes per second of each process's interface, as 50k or 10M; by default no limit."),
    ] = None,
    loss: Annotated[float, typer.Option(min=0, max=0.9, help="Probability that a packet is lost.")] = 0,
    timeout: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Period of retransmission; by default two typical round trips."),
    ] = None,
    processing: Annotated[bool, typer.Option(help="Calls take the time that they take on this machine.")] = False,
    repeat: Annotated[int, typer.Option(min=1, max=15, help="Repetitions, each with a seed of its own.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
    csv: Annotated[Optional[Path], typer.Option(help="Writes each repetition as a row.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Runs shipped implementations on a simulated network, and measures them side by side.

    All systems get the same sends at the same times.
    """

    def body(session: Session) -> Output:
        workload = Workload(
            processes,
            messages,
            settings.duration(interval),
            "regular" if regular else "random",
            settings.target(target),
            answers,
            None if jobs is None else settings.jobs(jobs, blocks=not jobs_beside),
            payload,
        )
        if not workload.interval:
            raise BadInput("--interval is more than no time")
        network = Network(
            settings.latency(latency),
            None if bandwidth is None else settings.rate(bandwidth),
            loss=loss,
            timeout=None if timeout is None else settings.duration(timeout),
        )
        evaluation = _Evaluation(workload, network, processing, tuple(range(seed, seed + repeat)))
        return _evaluated(session, tuple(protocols or UNICAST), evaluation, csv)

    run_command("evaluate", json, body)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    workload: Workload
    network: Network
    processing: bool
    seeds: tuple[int, ...]


def _evaluated(session: Session, names: Sequence[str], evaluation: _Evaluation, table: Path | None) -> Output:
    """Ctrl-C ends it with the systems that are done."""
    for name in names:
        if name not in SHIPPED:
            raise not_shipped(name)
        if name in {"cbcast", "newtop"}:
            raise BadInput(f"{name} only broadcasts; the workload has messages to one process each")
    rows: list[_Row] = []
    complete = True
    try:
        for count, name in enumerate(dict.fromkeys(names)):
            rows.append(_measured(session, name, evaluation, f"{count} of {len(names)} done"))
    except KeyboardInterrupt:
        complete = False
    if table is not None:
        write_text(str(table), _csv(rows))
    text = _text(rows, evaluation)
    if not complete:
        text += "incomplete: interrupted; these are the systems so far\n"
    stuck = any(row.stuck for row in rows)
    fields: dict[str, Any] = {"evaluation": _json(rows, evaluation), **({} if complete else {"complete": False})}
    return Output(text=text, fields=fields, exit=UNKNOWN if stuck or not complete else AS_EXPECTED, table=False)


def _measured(session: Session, name: str, evaluation: _Evaluation, progress: str) -> _Row:
    impl = SHIPPED[name]
    costs: dict[str, float] = {}
    if evaluation.processing:
        session.status(f"evaluate {name}: measuring its calls, {progress}")
        costs = measured(impl, evaluation.workload, evaluation.network, evaluation.seeds[0])
    runs = []
    for seed in evaluation.seeds:
        session.status(f"evaluate {name}: seed {seed}, {progress}")
        runs.append(figures(simulate(impl, evaluation.workload, evaluation.network, seed, costs=costs)))
    return _Row(name, costs, tuple(runs))


_COLUMNS = (
    ("median", "median", 1e3),
    ("p99", "p99", 1e3),
    ("at sender", "at_sender", 1e3),
    ("in flight", "in_flight", 1e3),
    ("at receiver", "at_receiver", 1e3),
    ("msg/s", "throughput", 1.0),
    ("bytes/msg", "bytes_per_message", 1.0),
    ("control/msg", "control_per_message", 1.0),
    ("state", "state", 1.0),
)


def _text(rows: Sequence[_Row], evaluation: _Evaluation) -> str:
    """A table: means over the repetitions, with the half of their 95 % interval."""
    workload = evaluation.workload
    console = Console(highlight=False, width=PIPED_WIDTH, no_color=True)
    with console.capture() as capture:
        console.print(
            f"{workload.processes} processes, {workload.messages} messages each, repetitions: {len(evaluation.seeds)}; "
            "times in ms from the application's wish to the delivery"
        )
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("system", no_wrap=True)
        for heading, _, _ in _COLUMNS:
            table.add_column(heading, justify="right")
        for row in rows:
            if not row.figures:
                continue
            cells = []
            for _, name, scale in _COLUMNS:
                found = interval([getattr(run, name) * scale for run in row.figures])
                cells.append(f"{found.mean:,.3g}" + (f" ±{found.half:.1g}" if found.half else ""))
            table.add_row(row.system, *cells)
        console.print(table)
        for row in rows:
            if row.stuck:
                console.print(f"{row.system}: {row.stuck}")
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _json(rows: Sequence[_Row], evaluation: _Evaluation) -> dict[str, Any]:
    return {
        "workload": repr(evaluation.workload),
        "network": repr(evaluation.network),
        "seeds": list(evaluation.seeds),
        "systems": [
            {"system": row.system, "costs": row.costs, "runs": [run and run.to_json() for run in row.runs]}
            for row in rows
        ],
    }


def _csv(rows: Sequence[_Row]) -> str:
    text = io.StringIO()
    writer: Any = None
    for row in rows:
        for number, run in enumerate(row.runs):
            if run is None:
                continue
            values = {"system": row.system, "repetition": number, **run.to_json()}
            if writer is None:
                writer = csv.DictWriter(text, list(values))
                writer.writeheader()
            writer.writerow(values)
    return text.getvalue()
