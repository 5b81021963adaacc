"""`thence matrix`: a system under each assumption, and the use of each assumption."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Optional, get_args

import typer

from thence.api.driving import Drive, limits_of
from thence.cli.options import (
    Exec,
    ExecPerProcess,
    GroupSize,
    Impl,
    Json,
    MemoryLimit,
    ReplyLimit,
    Schedules,
    Seed,
    StartLimit,
    TimeBudget,
    Verbose,
)
from thence.cli.output import BadInput, Output, exit_incomplete
from thence.cli.reaching import withheld_text
from thence.cli.readers.colours import bare
from thence.cli.readers.layout import Entry, laid_out, width_of, wrapped
from thence.cli.readers.sums import summed
from thence.cli.session import Session, run_command
from thence.cli.subjects import subject_name
from thence.conformance.cases.network import Claim
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.claims import claims_of
from thence.conformance.conform.conform import settings_for
from thence.conformance.conform.matrix import ASSUMPTIONS, Cell, MatrixSubject, cells
from thence.conformance.conform.outcomes import rounded
from thence.conformance.conform.over_delay import withheld_json
from thence.conformance.conform.rerun import introduced
from thence.conformance.conform.sampling import Sampling
from thence.conformance.harness.explain import explained, picture
from thence.conformance.harness.sources import known_schedules
from thence.conformance.systems.foreign import SystemRaised
from thence.dsl.find import named_protocol, parted, specification
from thence.impl.commands import Delivery
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted, percent


def matrix(
    protocol: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A library protocol, or a file with one: what is claimed, and what to replay."),
    ] = None,
    impl: Impl = None,
    exec_: Exec = None,
    exec_per_process: ExecPerProcess = None,
    processes: GroupSize = 3,
    cases: Annotated[int, typer.Option(min=1, help="The number of cases for each cell.")] = 400,
    operations: Annotated[int, typer.Option(min=1, help="The number of operations in a case.")] = 12,
    time: TimeBudget = None,
    seed: Seed = 0,
    reply_limit: ReplyLimit = 5.0,
    start_limit: StartLimit = 20.0,
    memory_limit: MemoryLimit = "2G",
    schedules_from: Schedules = None,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Drives the system under each assumption about channels and applications."""

    def body(session: Session) -> Output:
        system = subject_name(impl, exec_, exec_per_process, protocol, needed=True)
        limits = limits_of(reply_limit, start_limit, memory_limit)
        sources = tuple(schedules_from or ())
        drive = Drive(protocol, system, processes, cases, operations, seed, limits, sources, time)
        return tried_assumptions(session, drive)

    run_command("matrix", json, body, verbose)


def tried_assumptions(session: Session, drive: Drive) -> Output:
    """Drives the system under each assumption; one result per cell. Ctrl-C ends it with the cells so far."""
    if not drive.system:
        raise BadInput("what is to be driven? give one of --impl, --exec and --exec-per-process")
    found_in = None if drive.protocol is None else specification(parted(drive.protocol)[0])
    protocol = None if drive.protocol is None else named_protocol(drive.protocol)
    subject = drive.subject()
    foreign = subject.external
    default = subject.settings(drive.processes) if protocol is None else settings_for(protocol, drive.processes)
    found: list[Cell] = []
    interrupted = False
    try:
        if protocol is not None:
            subject.require(default)
            if not default.sends:
                raise BadInput(
                    f"the cells are about messages, and the application of {protocol.name} sends none;"
                    " ask thence conform"
                )
        deliveries: Sequence[Delivery]
        if subject.delivery is not None:
            deliveries = [subject.delivery]
        else:
            deliveries = [protocol.delivery] if protocol is not None else get_args(Delivery)
        session.status("counterexamples that are known")
        corpus = known_schedules(found_in, protocol, drive.sources)
        system = MatrixSubject(subject.make_process, deliveries, default, protocol, replayed=foreign is None)
        sampling = Sampling(drive.cases, drive.operations, drive.seed, corpus)
        if foreign is not None:
            with suppress(SystemRaised):  # A refusal of some settings is an answer; the cells say which.
                introduced(subject, foreign, replace(default, delivery=deliveries[0]))
        made = cells(
            system,
            sampling,
            lambda cell, done, planned: _say(session, len(found), cell, done / planned),
            drive.budget_s,
        )
        try:
            found.extend(made)
        except KeyboardInterrupt:
            interrupted = True
    finally:
        subject.close()
    ran = [cell for cell in found if cell.settings is not None]
    if not any(cell.cases for cell in ran) and not interrupted:
        reasons = {cell.not_applicable for cell in found}
        raise BadInput(f"{drive.name} cannot be driven: {'; '.join(sorted(reasons))}")
    results = tuple(_result(drive, cell) for cell in ran)
    text = (
        _table(found)
        + f"\n{drive.name}: {summed(results)}\n"
        + ("incomplete: interrupted; the last cell is not finished\n" if interrupted else "")
    )
    code = None
    if interrupted:
        code = exit_incomplete(results)
    return Output(results, text=text, fields={"complete": not interrupted}, exit=code, table=False)


def _say(session: Session, over: int, cell: str, share: float) -> None:
    """A line of progress: the cells that are over, and how far the present one is."""
    every = len(ASSUMPTIONS) * len(get_args(Delivery))
    session.status(f"{cell}, {share:.0%}", over, every, "cells", (over + share) / every)


def _result(drive: Drive, cell: Cell) -> Result:
    """A failure is expected where nothing is promised."""
    failed = bool(cell.failures)
    facts: dict[str, Any] = {
        "assumption": cell.assumption.name,
        "delivery": cell.delivery,
        "discharges": cell.assumption.discharges,
        "stated": cell.assumption.statement,
        "claimed": cell.claimed,
        "protocol": drive.protocol if cell.replayed else None,
        "settings": None if cell.settings is None else cell.settings.to_json(),
        "seed": drive.seed,
        "cases": cell.cases,
        "failures": cell.failures,
        "kinds": dict(cell.kinds),
        "refuted": _refuted(cell),
        "over_delay": withheld_json(
            cell.arrivals, cell.withheld, cell.slowest, drive.name, drive.protocol if cell.replayed else None
        ),
        "schedulers": [reach.to_json() for reach in cell.reaches],
    }
    if cell.whole is not None:
        facts["coverage"] = cell.whole.coverage.to_json()
    worst = cell.worst
    if worst is not None:
        recorded = RecordedCase(
            drive.name, drive.protocol if cell.replayed else None, worst.outcome.settings, worst.operations
        )
        facts["findings"] = [str(finding) for finding in worst.findings]
        facts["counterexample"] = recorded.to_json()
    if cell.not_applicable:
        facts["stopped"] = cell.not_applicable
    undecided = f"too many possible states of the protocol in {cell.undecided:,} of {counted(cell.cases, 'case')}"
    unknown = "" if failed else undecided if cell.undecided else cell.vacuous
    if unknown:
        facts["unknown"] = unknown
    elif cell.bound is not None:
        facts["failure_rate_bound"] = rounded(cell.bound)
    verdict = Verdict.REFUTED if failed else Verdict.UNKNOWN if unknown else Verdict.TESTED
    return Result(
        f"{cell.assumption.name}, {cell.delivery}", "conform", drive.name,
        verdict, Level.L0, cell.claimed is False if failed else not unknown,
        cell.seconds, facts, "" if worst is None else explained(worst), "" if worst is None else picture(worst.outcome),
    )  # fmt: skip


def _table(found: Sequence[Cell]) -> str:
    """The matrix, and the obligations that each row discharges."""
    kinds = [kind for kind in get_args(Delivery) if any(cell.delivery == kind and cell.cases for cell in found)]
    names = [assumption.name for assumption in ASSUMPTIONS]
    shown = {(cell.assumption.name, cell.delivery): _shown(cell) for cell in found}
    width = width_of(sys.stdout)
    rows = [[Entry("assumption"), *(Entry(kind) for kind in kinds)]]
    rows += [[Entry(name), *(Entry(shown.get((name, kind), "")) for kind in kinds)] for name in names]
    lines = [line for row in laid_out(rows, width, bare) for line in row]
    lines += ["", "What each assumption discharges:"]
    for assumption in ASSUMPTIONS:
        where = f" [{assumption.statement}]" if assumption.statement else ""
        first, *others = wrapped(f"{assumption.name}: {assumption.discharges}{where}", width - 4)
        lines += [f"  {first}", *(f"    {line}" for line in others)]
    lines += ["", *(line for said in _totals([cell for cell in found if cell.cases]) for line in wrapped(said, width))]
    others = sorted({cell.delivery for cell in found} - set(kinds))
    if others:
        reason = next(cell for cell in found if cell.delivery in others).not_applicable
        lines += wrapped(f"Not driven as {' or '.join(others)}: it is {reason}.", width)
    return "\n".join(lines) + "\n"


def _totals(ran: Sequence[Cell]) -> list[str]:
    """Over all cells: failures by scheduler, scenarios seen, arrivals kept back."""
    rates: dict[str, tuple[int, int]] = {}
    seen: dict[str, int] = {}
    for cell in ran:
        for reach in cell.reaches:
            failures, cases = rates.get(reach.name, (0, 0))
            rates[reach.name] = (failures + reach.failures, cases + reach.cases)
            for (kind, name), count in reach.coverage.seen.items():
                if kind == "scenario":
                    seen[name] = seen.get(name, 0) + count
    slowest = [cell.slowest for cell in ran if cell.slowest is not None]
    worst = max(slowest, key=lambda outcome: max(delay.rank for delay in outcome.delays), default=None)
    hits = ", ".join(f"{name} {failures:,} of {cases:,}" for name, (failures, cases) in rates.items())
    return [
        f"hits: {hits}",
        "sometimes: " + ", ".join(f"{name} {count:,}" for name, count in sorted(seen.items())),
        withheld_text(sum(cell.arrivals for cell in ran), sum(cell.withheld for cell in ran), worst),
    ]


def _refuted(cell: Cell) -> dict[Claim, int]:
    """The claims that cases refute, each with the number of cases."""
    made = () if cell.settings is None else claims_of(cell.settings, protocol=cell.replayed)
    return {claim: cell.refuting[claim] for claim in made if claim in cell.refuting}


def _shown(cell: Cell) -> str:
    if not cell.cases:
        return f"- ({cell.not_applicable})"
    outside = " (not claimed)" if cell.claimed is False else ""
    if cell.failures:
        claims = ", ".join(f"{claim} {count}" for claim, count in _refuted(cell).items())
        return f"REFUTED{outside} {cell.failures} of {cell.cases}: {claims}"
    if cell.undecided:
        return f"unknown{outside}: {cell.undecided:,} of {counted(cell.cases, 'case')} undecided"
    assert cell.bound is not None
    if cell.vacuous:
        return f"unknown: {cell.vacuous}"
    replayed = ", as its protocol" if cell.replayed else ""
    return f"passes{outside} {counted(cell.cases, 'case')}{replayed}; rate < {percent(cell.bound)}"
