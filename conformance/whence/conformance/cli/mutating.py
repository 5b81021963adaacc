"""`whence mutate`: faults put into what a file has, and into its implementation; which of them nothing notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from whence.conformance.cli.session import UNKNOWN, BadInput, Output, Rejected, Session, write_text
from whence.conformance.cli.specifications import known, protocol_of
from whence.conformance.drive import settings_for
from whence.conformance.implementations import SHIPPED
from whence.conformance.mutation.fate import Outcome
from whence.conformance.mutation.implementation_judge import implementation_baseline
from whence.conformance.mutation.mutants import subjects
from whence.conformance.mutation.run import (
    OUTCOMES,
    Limits,
    Progress,
    Score,
    mutate_implementation,
    mutate_specification,
)
from whence.conformance.mutation.workers import Judged
from whence.conformance.subject import load_subject
from whence.dsl import ir
from whence.dsl.load import Loaded, load
from whence.spec.verdict import Level, Result, Verdict

STATEMENT = "mutation score"


@dataclass(frozen=True, slots=True)
class Request:
    """What to mutate.

    Attributes:
        file: a file or library name.
        names: protocols and machines of it, or `impl`; none: all of them.
        impl: the implementation, as module:Class; by default the shipped one of a library file, if there is one.
        limits: how much work.
        at_least: the score that is expected, from 0 to 1.
        save: a directory that gets each mutant that is still alive, as a file of its own.
    """

    file: str
    names: tuple[str, ...]
    impl: str | None
    limits: Limits
    at_least: float
    save: str | None


def mutate(session: Session, request: Request) -> Output:
    """Judges the mutants of each subject; one result per subject. Ctrl-C ends it with the fates so far."""
    loaded = load(request.file)
    if loaded.specification is None:
        raise Rejected(loaded)
    folder = None if request.save is None else _folder(request.save)
    scores: list[Score] = []

    def progress(subject: str, done: int, total: int) -> None:
        made = f"{done:,} of {total:,} mutants" if done else "the original"
        session.status(f"mutate {subject}: {made}")

    for score in _scores(request, loaded, loaded.specification, progress):
        scores.append(score)
        if folder is not None:
            _save(folder, score)
        if score.why_incomplete == "interrupted":
            break
    results = tuple(_result(score, request.at_least) for score in scores)
    interrupted = any(score.why_incomplete == "interrupted" for score in scores)
    text = _table(scores) + ("incomplete: interrupted; these are the fates so far\n" if interrupted else "")
    return Output(
        results, text=text, fields={"complete": not interrupted}, exit=UNKNOWN if interrupted else None
    )  # fmt: skip


def _scores(request: Request, loaded: Loaded, specification: ir.Specification, progress: Progress) -> Iterator[Score]:
    there = list(subjects(specification))
    stem = loaded.path.stem
    impl = request.impl or SHIPPED.get(stem)
    names = tuple(subject.name for subject in there) + (("impl",) if impl is not None else ())
    for name in request.names:
        known(name, names, "protocol, machine or implementation")
    if not names:
        raise BadInput(f"{request.file} has neither a protocol nor a machine")
    wanted = set(request.names or names)
    if request.impl is not None and not request.names:
        wanted = {"impl"}
    for subject in there:
        if subject.name in wanted:
            yield mutate_specification(loaded, subject, request.limits, progress)
    if "impl" in wanted:
        assert impl is not None
        protocol = protocol_of(request.file, specification)
        settings = settings_for(protocol)
        load_subject(impl, settings.processes).require(protocol.delivery)
        yield mutate_implementation(implementation_baseline(impl, protocol, settings), request.limits, progress)


def _result(score: Score, at_least: float) -> Result:
    value = score.score
    counts = {outcome: score.count(outcome) for outcome in OUTCOMES}
    alive = [_shown(one) for one in score.alive]
    facts: dict[str, Any] = {
        "mutated": score.kind,
        "score": None if value is None else round(value, 4),
        "mutants": {"total": score.total, **counts},
        "operators": _operators(score),
        "alive": alive,
        "equal": [_shown(one) for one in score.judged if one.fate.outcome == "equal"],
        "killed": [
            {"number": one.mutant.number, "line": one.mutant.edit.span.line, "reason": one.fate.reason}
            for one in score.judged
            if one.fate.outcome == "killed"
        ],
        "notes": list(score.notes),
        "complete": not score.why_incomplete,
    }
    expected = value is not None and value >= at_least
    verdict = Verdict.TESTED
    if score.why_incomplete:
        facts["unknown"] = f"{score.why_incomplete}: {len(score.judged)} of {score.total} mutants judged"
        verdict, expected = Verdict.UNKNOWN, False
    return Result(
        STATEMENT, "mutant", score.subject, verdict, Level.L0, expected, score.seconds, facts, _explained(score)
    )


def _shown(one: Judged) -> dict[str, Any]:
    return {
        "number": one.mutant.number,
        "place": one.mutant.edit.place,
        "line": one.mutant.edit.span.line,
        "operator": one.mutant.edit.operator,
        "outcome": one.fate.outcome,
        "reason": one.fate.reason,
        "diff": one.mutant.diff,
    }


def _operators(score: Score) -> dict[str, dict[str, int]]:
    made: Counter[str] = Counter(one.mutant.edit.operator for one in score.judged if one.fate.outcome != "refused")
    killed: Counter[str] = Counter(one.mutant.edit.operator for one in score.judged if one.fate.outcome == "killed")
    return {operator: {"mutants": made[operator], "killed": killed[operator]} for operator in sorted(made)}


def _explained(score: Score) -> str:
    """The mutants that are alive, and those that are equal in scope, each with its diff."""
    parts = []
    for one in (*score.alive, *(one for one in score.judged if one.fate.outcome == "equal")):
        change = "\n".join(line for line in one.mutant.diff.splitlines()[3:])
        parts.append(f"{one.mutant.title}: {one.fate.outcome}\n  {one.fate.reason}\n{change}")
    return "\n\n".join((*score.notes, *parts))


def _table(scores: list[Score]) -> str:
    lines = []
    for score in scores:
        value = "no score" if score.score is None else f"{100 * score.score:.1f} %"
        counts = ((score.count(outcome), word) for outcome, word in _WORDS.items())
        counted = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "none judged"
        lines.append(f"{score.kind} {score.subject}: {value} of {len(score.judged):,} mutants: {counted}")
    return "\n".join(lines) + "\n"


_WORDS: Final[dict[Outcome, str]] = {
    "killed": "killed",
    "survived": "survived",
    "undecided": "undecided",
    "equal": "equal in scope",
    "refused": "refused",
}


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{name} cannot hold the mutants: {error.strerror or error}") from error
    return folder


def _save(folder: Path, score: Score) -> None:
    for one in score.alive:
        suffix = Path(one.mutant.file).suffix
        name = f"{score.subject.rpartition(':')[2]}-{one.mutant.number}{suffix}"
        write_text(str(folder / name), one.mutant.text)
