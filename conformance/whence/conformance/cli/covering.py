"""`whence cover`: what each scheduler hits on a system, and what it reaches of the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whence.conformance.cli.session import REFUTED, UNKNOWN, BadInput, Output, Session
from whence.conformance.cli.specifications import protocol_of, specification
from whence.conformance.comparison import Reach, reach, together
from whence.conformance.coverage import SCENARIOS, CoveredReplay
from whence.conformance.distinguishing import distinguishing
from whence.conformance.drive import LIMIT_S, settings_for
from whence.conformance.external.system import Limits
from whence.conformance.guided import NAME as GUIDED
from whence.conformance.guided import Corpus, grown, portfolio
from whence.conformance.protocol_subject import PREFIX
from whence.conformance.rerun import opposite, take_steps
from whence.conformance.subject import load_subject
from whence.spec.verdict import Level, Result, Verdict


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
    reaches: list[Reach] = []
    interrupted = False
    corpus = Corpus()
    try:
        held = opposite(subject, settings, protocol)
        if held.protocol is None:
            raise BadInput(f"{subject.name} cannot be replayed in {protocol.name}: {held.why_not}")
        take_steps(subject, replayed=True)
        session.status(f"{protocol.name}: schedules that reach something")
        corpus = distinguishing(found, protocol) + grown(protocol, settings, seed=request.seed).corpus
        replay = CoveredReplay(protocol, settings.processes)
        foreign = subject.external
        for name, scheduler in portfolio(corpus).items():
            reaches.append(
                reach(
                    subject.make_process, name, scheduler, replay, settings,
                    cases=request.cases, operations=request.operations, seed=request.seed,
                    limit_s=None if foreign is not None else LIMIT_S,
                    progress=lambda made, done, planned: session.status(f"{made}: {done:,} of {planned:,} cases"),
                    hopeless=(lambda: None) if foreign is None else foreign.hopeless,
                )
            )  # fmt: skip
    except KeyboardInterrupt:
        interrupted = True
    finally:
        subject.close()
    results = tuple(_result(subject.name, request, one) for one in reaches)
    text = _table(reaches, corpus) if reaches else ""
    if interrupted:
        text += "incomplete: interrupted; these schedulers were finished\n"
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


_HEADER = (
    *("scheduler", "cases", "events", "failed", "rate <"),
    *("handlers", "branches", "scenarios", "abstract states", "states"),
)


def _table(reaches: list[Reach], corpus: Corpus) -> str:
    whole = together(reaches)
    failures, events = sum(one.failures for one in reaches), sum(one.events for one in reaches)
    rows = [_HEADER, *map(_row, [*reaches, Reach("all", whole.cases, failures, events, {}, whole)])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = []
    for row in rows:
        first, *others = (cell.ljust(width) if not place else cell.rjust(width)
                          for place, (cell, width) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        lines.append("  ".join([first, *others]).rstrip())
    lines.append("")
    lines.append(f"{GUIDED} starts from {len(corpus.scripts)} countermodels and counterexamples, "
                 f"and {len(corpus.schedules)} schedules that reach something in the protocol")  # fmt: skip
    seen = [(name, count) for (kind, name), count in sorted(whole.seen.items()) if kind == "scenario"]
    lines.append("sometimes: " + ", ".join(f"{name} {count:,}" for name, count in seen))
    for kind, name in whole.missing:
        explained = f" ({SCENARIOS[name]})" if name in SCENARIOS else ""
        lines.append(f"not reached: {kind} {name}{explained}")
    return "\n".join(lines) + "\n"


def _row(one: Reach) -> tuple[str, ...]:
    coverage = one.coverage
    shares = []
    for kind in ("handler", "branch", "scenario"):
        reached, there = coverage.features.count(coverage.bits, kind)
        shares.append(f"{reached} of {there}")
    return (
        one.name, f"{one.cases:,}", f"{one.events:,}", f"{one.failures:,}", f"{100 * one.bound:.2g} %", *shares,
        f"{len(coverage.abstract):,}", f"{len(coverage.local):,}",
    )  # fmt: skip
