"""`thence cover`: each scheduler's hits on a system, and its reach in the protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Optional

import typer

from thence.api.driving import Drive, limits_of
from thence.cli.options import Exec, ExecPerProcess, GroupSize, Json, MemoryLimit, ReplyLimit, Seed, StartLimit
from thence.cli.output import REFUTED, UNKNOWN, BadInput, Output
from thence.cli.reaching import reach_table, seen_and_missing
from thence.cli.session import Session, run_command
from thence.cli.subjects import subject_name
from thence.conformance.conform.conform import settings_for
from thence.conformance.conform.outcomes import Reach
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Trials
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.guided import Corpus, grown, portfolio
from thence.conformance.systems.protocol_subject import PREFIX
from thence.dsl.find import protocol_of, specification
from thence.spec.verdict import Level, Result, Verdict


def cover(
    protocol: Annotated[str, typer.Argument(help="A library protocol, or a file with one.")],
    impl: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The implementation, as module:Class; without any, the protocol itself is run."),
    ] = None,
    exec_: Exec = None,
    exec_per_process: ExecPerProcess = None,
    processes: GroupSize = 3,
    cases: Annotated[int, typer.Option(min=1, help="The number of cases for each scheduler.")] = 500,
    operations: Annotated[int, typer.Option(min=1, help="The number of operations in a case.")] = 12,
    seed: Seed = 0,
    reply_limit: ReplyLimit = 5.0,
    start_limit: StartLimit = 20.0,
    memory_limit: MemoryLimit = "2G",
    json: Json = False,
) -> None:
    """Runs every scheduler on the system, or on the protocol itself where no system is named."""

    def body(session: Session) -> Output:
        system = subject_name(impl, exec_, exec_per_process, None, needed=False)
        limits = limits_of(reply_limit, start_limit, memory_limit)
        return _covered(session, protocol, Drive(protocol, system, processes, cases, operations, seed, limits))

    run_command("cover", json, body)


def _covered(session: Session, name: str, drive: Drive) -> Output:
    """Runs every scheduler; one result for each, and one for all. Ctrl-C ends it with the schedulers so far."""
    found = specification(name)
    protocol = protocol_of(name, found)
    settings = settings_for(protocol, drive.processes)
    subject = replace(drive, system=drive.system or f"{PREFIX}{name}").subject()
    trials: Trials | None = None
    interrupted = False
    corpus = Corpus()
    try:
        held = opposite(subject, settings, protocol)
        if held is not None and held.why_not:
            raise BadInput(f"{subject.name} cannot be replayed in {protocol.name}: {held.why_not}")
        session.status(f"{protocol.name}: schedules that reach something")
        corpus = distinguishing(found, protocol) + grown(protocol, settings, seed=drive.seed).corpus
        sampling = Sampling(drive.cases, drive.operations, drive.seed, corpus)
        trials = Trials(subject.make_process, held, settings, sampling)
        for kind, scheduler in portfolio(corpus).items():
            for number in range(drive.cases):
                if trials.hopeless():
                    break
                trials.run(kind, scheduler, drive.seed + number)
                session.status(kind, number, drive.cases, "cases")
        trials.last_words()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        subject.close()
    reaches = [] if trials is None else list(trials.outcomes.reaches.values())
    results = tuple(_result(subject.name, drive, one) for one in reaches)
    text = _text(reaches, trials.outcomes.whole, corpus) if trials is not None and reaches else ""
    if interrupted:
        text += "incomplete: interrupted; so far it had come\n"
    code = None
    if interrupted:
        code = REFUTED if any(one.failures for one in reaches) else UNKNOWN
    return Output(results, text=text, fields={"complete": not interrupted}, exit=code, table=False)


def _result(system: str, drive: Drive, one: Reach) -> Result:
    facts: dict[str, Any] = {
        "protocol": drive.protocol,
        "scheduler": one.name,
        "operations": drive.operations,
        "seed": drive.seed,
        **{name: value for name, value in one.to_json().items() if name != "name"},
    }
    verdict = Verdict.REFUTED if one.failures else Verdict.UNKNOWN if one.vacuous else Verdict.TESTED
    if verdict is Verdict.UNKNOWN:
        facts["unknown"] = one.vacuous
    return Result(f"{one.name}: reach", "conform", system, verdict, Level.L0, verdict is Verdict.TESTED, 0.0, facts)


def _text(reaches: list[Reach], whole: Reach, corpus: Corpus) -> str:
    lines = [
        reach_table(reaches, whole),
        "",
        f"{GUIDED} starts from {len(corpus.scripts)} countermodels and counterexamples, "
        f"and {len(corpus.schedules)} schedules that reach something in the protocol",
        *seen_and_missing(whole),
    ]
    return "\n".join(lines) + "\n"
