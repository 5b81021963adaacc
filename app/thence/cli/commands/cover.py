"""`thence cover`: what each scheduler hits on a system, and what it reaches of the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thence.cli.output import REFUTED, UNKNOWN, BadInput, Output
from thence.cli.reaching import reach_table, seen_and_missing
from thence.cli.session import Session
from thence.conformance.conform.conform import settings_for
from thence.conformance.conform.outcomes import Reach
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Trials
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.guided import Corpus, grown, portfolio
from thence.conformance.systems.protocol_subject import PREFIX
from thence.conformance.systems.subject import load_subject
from thence.conformance.systems.system import Limits
from thence.dsl.find import protocol_of, specification
from thence.spec.verdict import Level, Result, Verdict


@dataclass(frozen=True, slots=True)
class Request:
    """What to drive: a system, as `load_subject` takes it ("": the protocol itself), and its protocol; how much."""

    protocol: str
    impl: str
    processes: int
    cases: int
    operations: int
    seed: int
    limits: Limits


def cover(session: Session, request: Request) -> Output:
    """Runs every scheduler; one result for each, and one for all. Ctrl-C ends it with the schedulers so far."""
    found = specification(request.protocol)
    protocol = protocol_of(request.protocol, found)
    settings = settings_for(protocol, request.processes)
    subject = load_subject(request.impl or f"{PREFIX}{request.protocol}", request.processes, request.limits)
    trials: Trials | None = None
    interrupted = False
    corpus = Corpus()
    try:
        held = opposite(subject, settings, protocol)
        if held.protocol is None:
            raise BadInput(f"{subject.name} cannot be replayed in {protocol.name}: {held.why_not}")
        session.status(f"{protocol.name}: schedules that reach something")
        corpus = distinguishing(found, protocol) + grown(protocol, settings, seed=request.seed).corpus
        sampling = Sampling(request.cases, request.operations, request.seed, corpus)
        trials = Trials(subject.make_process, protocol, settings, sampling)
        for name, scheduler in portfolio(corpus).items():
            for number in range(request.cases):
                if trials.hopeless():
                    break
                trials.run(name, scheduler, request.seed + number)
                session.status(f"{name}: {number:,} of {request.cases:,} cases")
    except KeyboardInterrupt:
        interrupted = True
    finally:
        subject.close()
    reaches = [] if trials is None else list(trials.outcomes.reaches.values())
    results = tuple(_result(subject.name, request, one) for one in reaches)
    text = _text(reaches, trials.outcomes.whole, corpus) if trials is not None and reaches else ""
    if interrupted:
        text += "incomplete: interrupted; so far it had come\n"
    code = None
    if interrupted:
        code = REFUTED if any(one.failures for one in reaches) else UNKNOWN
    return Output(results, text=text, fields={"complete": not interrupted}, exit=code, table=False)


def _result(system: str, request: Request, one: Reach) -> Result:
    facts: dict[str, Any] = {
        "protocol": request.protocol,
        "scheduler": one.name,
        "operations": request.operations,
        "seed": request.seed,
        **{name: value for name, value in one.to_json().items() if name != "name"},
    }
    verdict = Verdict.REFUTED if one.failures else Verdict.TESTED
    return Result(f"{one.name}: reach", "conform", system, verdict, Level.L0, not one.failures, 0.0, facts)


def _text(reaches: list[Reach], whole: Reach, corpus: Corpus) -> str:
    lines = [
        reach_table(reaches, whole),
        "",
        f"{GUIDED} starts from {len(corpus.scripts)} countermodels and counterexamples, "
        f"and {len(corpus.schedules)} schedules that reach something in the protocol",
        *seen_and_missing(whole),
    ]
    return "\n".join(lines) + "\n"
