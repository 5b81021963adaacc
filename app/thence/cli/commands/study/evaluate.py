"""`thence evaluate`: latency, throughput and cost of shipped implementations on a simulated network."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import Json
from thence.cli.output import AS_EXPECTED, UNKNOWN, BadInput, Output, faults_of, unwritten
from thence.cli.readers.layout import grid, width_of, wrapped
from thence.cli.session import Session, run_command, write_text
from thence.cli.subjects import not_shipped
from thence.conformance.evaluation.measures import Figures, figures, interval
from thence.conformance.evaluation.network import Network
from thence.conformance.evaluation.processing import measured
from thence.conformance.evaluation.settings import Settings
from thence.conformance.evaluation.simulation import simulate
from thence.conformance.evaluation.sockets import Deliveries, deliveries
from thence.conformance.evaluation.workload import Everybody, Workload
from thence.conformance.implementations import SYSTEMS, broadcasts
from thence.impl.transport.endpoint import TransportError
from thence.spec.words import counted

UNICAST = tuple(name for name in SYSTEMS if name not in {"cbcast", "newtop", "synchronous", "client_server"})
"""The systems that are evaluated unasked: messages go to any process, and no workload gets them stuck."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A system, and the figures of its repetitions; None for one in which nothing was delivered."""

    system: str
    costs: dict[str, float]
    runs: tuple[Figures | None, ...]
    sockets: tuple[Deliveries, ...] = ()

    @property
    def figures(self) -> tuple[Figures, ...]:
        return tuple(run for run in self.runs if run is not None)

    @property
    def stuck(self) -> str:
        """What was not delivered, as a sentence; empty, if all was."""
        silent = len(self.runs) - len(self.figures)
        missing = sum(run.undelivered for run in self.figures)
        of = sum(run.messages for run in self.figures)
        parts = [f"{missing:,} of {counted(of, 'message')} never came; no figure has them"] if missing else []
        parts += [f"nothing was delivered in {silent} of {len(self.runs)} repetitions"] if silent else []
        return "; ".join(parts)


def evaluate(
    protocols: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Library protocols with a shipped implementation; by default all that take the workload."),
    ] = None,
    processes: Annotated[int, typer.Option(min=2, max=500, help="The number of processes.")] = 10,
    messages: Annotated[
        int, typer.Option(min=1, max=100_000, help="The number of messages that each process sends.")
    ] = 50,
    interval: Annotated[str, typer.Option(help="The mean time between two sends of a process, such as 10ms.")] = "10ms",
    regular: Annotated[bool, typer.Option("--regular", help="Send after exactly that time, not at random.")] = False,
    target: Annotated[
        str,
        typer.Option(
            help="Who gets the messages: anybody, everybody, 'hot 0.1 0.8', chain, 'near 3', 'topics 5 4', "
            "or 'gossip 2 3'."
        ),
    ] = "anybody",
    answers: Annotated[
        float, typer.Option(min=0, max=1, help="The share of the messages that are answered at once.")
    ] = 0,
    jobs: Annotated[Optional[str], typer.Option(help="Long jobs at delivery: '0.1 25ms' or '0.1 25ms 5ms'.")] = None,  # noqa: UP045
    jobs_beside: Annotated[bool, typer.Option("--jobs-beside", help="Let a process go on during its jobs.")] = False,
    payload: Annotated[int, typer.Option(min=0, help="The size of an application message, in bytes.")] = 100,
    latency: Annotated[
        str,
        typer.Option(
            help="The network's latency: 'constant 5ms', 'uniform 1ms 10ms', 'lognormal 5ms 0.5', or wide-area."
        ),
    ] = "lognormal 5ms 0.5",
    bandwidth: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The bytes per second of each process's interface, such as 50k or 10M. By default, no limit."
        ),
    ] = None,
    loss_rate: Annotated[float, typer.Option(min=0, max=0.9, help="The probability that a packet is lost.")] = 0,
    timeout: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The period of retransmission. By default, two typical round trips."),
    ] = None,
    processing: Annotated[bool, typer.Option(help="Let calls take the time that they take on this machine.")] = False,
    sockets: Annotated[
        bool, typer.Option("--sockets", help="Runs the same workload over UDP sockets of this machine as well.")
    ] = False,
    repeat: Annotated[int, typer.Option(min=1, max=15, help="The number of repetitions. Each has its own seed.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0,
    csv: Annotated[Optional[Path], typer.Option(help="Write each repetition to this file, as a row of CSV.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Runs shipped implementations on a simulated network, and measures them side by side.

    All systems get the same sends at the same times.
    """

    def body(session: Session) -> Output:
        values = {
            "processes": processes, "messages": messages, "interval": interval, "regular": regular, "target": target,
            "answers": answers, "jobs": jobs or "", "jobs_beside": jobs_beside, "payload": payload, "latency": latency,
            "bandwidth": bandwidth or "", "loss": loss_rate, "timeout": timeout or "", "processing": processing,
        }  # fmt: skip
        found = Settings.of(values)
        seeds = tuple(range(seed, seed + repeat))
        evaluation = _Evaluation(found.workload, found.network, processing, seeds, sockets)
        return _evaluated(session, tuple(protocols or UNICAST), evaluation, csv)

    run_command("evaluate", json, body)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    workload: Workload
    network: Network
    processing: bool
    seeds: tuple[int, ...]
    sockets: bool = False


def _evaluated(session: Session, names: Sequence[str], evaluation: _Evaluation, table: Path | None) -> Output:
    """Ctrl-C ends it with the systems that are done."""
    for name in names:
        if name not in SYSTEMS:
            raise not_shipped(name)
        workload = evaluation.workload
        if broadcasts(name) and (workload.target != Everybody() or workload.answers):
            raise BadInput(f"{name} only broadcasts: it takes --target everybody, without --answers")
    rows: list[_Row] = []
    complete = True
    try:
        for count, name in enumerate(dict.fromkeys(names)):
            rows.append(_measured(session, name, evaluation, f"{count} of {len(names)} done"))
    except KeyboardInterrupt:
        complete = False
    faults = () if table is None else faults_of([lambda: write_text(str(table), _csv(rows))])
    text = _text(rows, evaluation)
    if not complete:
        text += "incomplete: interrupted; these are the systems so far\n"
    stuck = any(row.stuck or any(run.undelivered for run in row.sockets) for row in rows)
    fields: dict[str, Any] = {"evaluation": _json(rows, evaluation), **({} if complete else {"complete": False})}
    code = UNKNOWN if stuck or not complete else AS_EXPECTED
    return unwritten(Output(text=text, fields=fields, exit=code, table=False), faults)


def _measured(session: Session, name: str, evaluation: _Evaluation, progress: str) -> _Row:
    impl = SYSTEMS[name]
    costs: dict[str, float] = {}
    if evaluation.processing:
        session.status(f"evaluate {name}: measuring its calls, {progress}")
        costs = measured(impl, evaluation.workload, evaluation.network, evaluation.seeds[0])
    runs = []
    for seed in evaluation.seeds:
        session.status(f"evaluate {name}: seed {seed}, {progress}")
        runs.append(figures(simulate(impl, evaluation.workload, evaluation.network, seed, costs=costs)))
    return _Row(name, costs, tuple(runs), _on_sockets(session, name, evaluation, progress))


def _on_sockets(session: Session, name: str, evaluation: _Evaluation, progress: str) -> tuple[Deliveries, ...]:
    if not evaluation.sockets:
        return ()
    found = []
    for seed in evaluation.seeds:
        session.status(f"evaluate {name}: seed {seed} on sockets, {progress}")
        try:
            found.append(deliveries(SYSTEMS[name], evaluation.workload, evaluation.network, seed))
        except (ValueError, OSError, TransportError) as error:
            raise BadInput(f"{name} cannot be run on sockets: {error}") from error
    return tuple(found)


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
    width = width_of(sys.stdout)
    said = (
        f"{counted(workload.processes, 'process')}, {counted(workload.messages, 'message')} each, "
        f"repetitions: {len(evaluation.seeds)}; "
        "times in ms from the application's wish to the delivery"
    )
    table = [["system", *(heading for heading, _, _ in _COLUMNS)]]
    for row in rows:
        if row.figures:
            values = ([getattr(run, name) * scale for run in row.figures] for _, name, scale in _COLUMNS)
            table.append([row.system, *(str(interval(each)) for each in values)])
    lines = [*wrapped(said, width), "", *grid(table, width)]
    if any(row.sockets for row in rows):
        lines += ["", "Over UDP sockets of this machine, beside the simulation:", "", *grid(_socket_table(rows), width)]
    lines += [f"{row.system}: {row.stuck}" for row in rows if row.stuck]
    return "\n".join(lines) + "\n"


def _socket_table(rows: Sequence[_Row]) -> list[list[str]]:
    table = [["system", "mean", "simulated", "median", "simulated", "p99", "simulated", "never came"]]
    for row in rows:
        cells = []
        for measure in ("mean", "median", "p99"):
            for runs in (row.sockets, row.figures):
                values = [1e3 * getattr(run, measure) for run in runs]
                cells.append(str(interval(values)) if values else "-")
        table.append([row.system, *cells, str(sum(run.undelivered for run in row.sockets))])
    return table


def _json(rows: Sequence[_Row], evaluation: _Evaluation) -> dict[str, Any]:
    return {
        "workload": repr(evaluation.workload),
        "network": repr(evaluation.network),
        "seeds": list(evaluation.seeds),
        "systems": [
            {
                "system": row.system,
                "costs": row.costs,
                "runs": [run and run.to_json() for run in row.runs],
                **({"sockets": [asdict(run) for run in row.sockets]} if row.sockets else {}),
            }
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
