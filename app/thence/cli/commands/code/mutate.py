"""`thence mutate`: small faults in files, in the library and in implementations, and those that go unnoticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Optional

import typer

from thence.api.driving import links_given
from thence.api.pools import open_spark
from thence.cli.options import Json, Verbose
from thence.cli.output import BadInput, Output, exit_incomplete, faults_of, unwritten
from thence.cli.session import Session, folder_for, run_command, write_text
from thence.conformance.implementations import SHIPPED
from thence.conformance.mutation.explanations import Explanation, explained, library_explanations
from thence.conformance.mutation.fate import OUTCOMES, Outcome
from thence.conformance.mutation.lanes import mutate_all
from thence.conformance.mutation.run import Limits, Score, implementation_settings, score_of
from thence.conformance.mutation.scattered import mutate_on
from thence.conformance.mutation.subjects import Subject, chosen, library_subjects, subjects_of
from thence.conformance.mutation.workers import Judged
from thence.conformance.systems.subject import load_subject
from thence.dsl.check.workloads.workload import MOST_PROCESSES
from thence.dsl.find import Rejected, known, protocol_of
from thence.dsl.load import is_of_the_library, load
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted

STATEMENT = "mutation score"


def mutate(
    file: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A .thence file, or the bare name of a library file; without one, the whole library."),
    ] = None,
    names: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Protocols or machines of the file, or impl; by default all that there are."),
    ] = None,
    impl: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The implementation, as module:Class; by default the shipped one of a library file."),
    ] = None,
    links: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="For impl: the links of an overlay, as a scope has them, '0 to 1; 1 with 2'. By default, all of them."
        ),
    ] = None,
    limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="The greatest number of mutants of each, spread evenly over the text."),
    ] = None,
    budget: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.1, help="The time for each protocol, machine or implementation, in seconds."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="The number of mutants that are judged at a time.")] = 2,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, help="The time limit for one mutant, in seconds. After it, the mutant is undecided."),
    ] = 120.0,
    at_least: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="The expected score: the share of the mutants that are noticed. Below it, the exit code is 1.",
        ),
    ] = 0.0,
    survivors: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--save", help="Write each mutant that nothing notices to this directory, as a file of its own."),
    ] = None,
    results: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Keep the result of each mutant in this directory, and judge no mutant again whose result is there."
        ),
    ] = None,
    master: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Judge each mutant on the workers of this Spark master; --jobs does not matter then."),
    ] = None,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Judges small faults in a file, or in the whole library."""
    limits = Limits(jobs, timeout, limit, budget)
    request = MutateRequest(file, tuple(names or ()), impl, links, limits, at_least, survivors, results, master)
    run_command("mutate", json, lambda session: _mutated(session, request), verbose)


@dataclass(frozen=True, slots=True)
class MutateRequest:
    """The subjects to mutate, and the work to spend.

    Attributes:
        file: a file or library name; None: the whole library.
        names: protocols and machines of it, or `impl`; none: all of them.
        impl: the implementation, as module:Class; by default the shipped one of a library file, if there is one.
        links: of the overlay that the implementation runs on, in the words of a scope; None: all of them.
        limits: of the work.
        at_least: the score that is expected, from 0 to 1.
        save: a directory that gets each mutant that is still alive, as a file of its own.
        results: a directory of fates, kept from run to run.
        master: a Spark master; None: processes of this machine.
    """

    file: str | None
    names: tuple[str, ...]
    impl: str | None
    links: str | None
    limits: Limits
    at_least: float
    save: str | None
    results: str | None
    master: str | None


def _mutated(session: Session, request: MutateRequest) -> Output:
    """Judges the mutants of each subject; one result per subject. Ctrl-C ends it with the fates so far."""
    if request.master is not None and request.limits.budget_s is not None:
        raise BadInput("--budget does not go with --master: all protocols and machines share the cluster")
    subjects = library_subjects() if request.file is None else _subjects(request, request.file)
    if request.file is None and (request.names or request.impl is not None or request.links is not None):
        raise BadInput("the whole library is mutated: names, --impl and --links are for one file")
    saved = None if request.save is None else folder_for(request.save, "the mutants")
    results = None if request.results is None else folder_for(request.results, "the results")
    far: dict[str, tuple[int, int]] = {}

    def progress(subject: str, done: int, wanted: int) -> None:
        far[subject] = (done, wanted)
        made = f"{done:,} of {counted(wanted, 'mutant')}" if done else "the original"
        share = sum(judged / planned for judged, planned in far.values() if planned) / len(subjects)
        over = sum(all_done == there for all_done, there in far.values())
        if len(subjects) > 1:
            session.status(f"{subject}: {made}", over, len(subjects), "subjects", share)
        else:
            session.status(f"{subject}: {made}", done, wanted, "mutants")

    if request.master is None:
        scores, why = mutate_all(subjects, request.limits, progress, results)
    else:
        with open_spark(request.master) as workers:
            scores, why = mutate_on(workers, subjects, request.limits, progress, results)
    unsaved = () if saved is None else faults_of(partial(_save, saved, score) for score in scores)
    unkept = tuple(dict.fromkeys(score.unkept for score in scores if score.unkept))
    found = tuple(_result(score, request.at_least, library_explanations()) for score in scores)
    text = _table(scores) + (f"incomplete: {why}; these are the fates so far\n" if why else "")
    whole = {} if len(scores) == 1 else {"score": _rounded(score_of(scores))}
    asked = request.file is not None
    fields = {**whole, "complete": not why}
    output = Output(found, text=text, fields=fields, exit=exit_incomplete(found) if why else None, asked=asked)
    return unwritten(output, (*unkept, *unsaved))


def _subjects(request: MutateRequest, file: str) -> list[Subject]:
    """The subjects of the file. Raises: Rejected, BadInput, SubjectError."""
    loaded = load(file)
    specification = loaded.specification
    if specification is None:
        raise Rejected(loaded)
    shipped = SHIPPED.get(loaded.path.stem) if is_of_the_library(loaded.path) else None
    there = subjects_of(file, specification, request.impl or shipped)
    for name in request.names:
        own = ("impl" if subject.kind == "implementation" else subject.name for subject in there)
        known(name, tuple(own), "protocol, machine or implementation")
    if not there:
        raise BadInput(f"{file} has neither a protocol nor a machine")
    names = request.names or (() if request.impl is None else ("impl",))
    wanted = chosen(there, names)
    if request.links is not None:
        if any(subject.kind != "implementation" for subject in wanted):
            raise BadInput("--links is about an implementation: name impl")
        links = links_given(request.links, MOST_PROCESSES)
        wanted = [replace(subject, links=links) for subject in wanted]
    for subject in wanted:
        if subject.kind == "implementation":
            settings = implementation_settings(protocol_of(file, specification), subject.links)
            load_subject(subject.name, settings.processes).require(settings)
    return wanted


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _result(score: Score, at_least: float, explanations: tuple[Explanation, ...]) -> Result:
    value = score.score
    counts = {outcome: score.count(outcome) for outcome in OUTCOMES}
    why = {one.mutant.number: explained(one, score.row, explanations) for one in score.alive}
    alive = [{**_shown(one), "explanation": why[one.mutant.number]} for one in score.alive]
    facts: dict[str, Any] = {
        "mutated": score.kind,
        "score": _rounded(value),
        "file": score.row,
        "mutants": {"total": score.wanted, **counts},
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
        facts["unknown"] = f"{score.why_incomplete}: {len(score.judged)} of {counted(score.wanted, 'mutant')} judged"
        verdict, expected = Verdict.UNKNOWN, False
    elif value is None:
        facts["unknown"] = "there is no mutant that could be noticed, so no score"
        verdict = Verdict.UNKNOWN
    return Result(
        STATEMENT, "mutant", score.subject, verdict, Level.L0, expected, score.seconds, facts, _words(score, why)
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


def _words(score: Score, why: dict[int, str]) -> str:
    """The mutants that are alive, and those that are equal in scope, each with its diff and the explanation."""
    parts = []
    for one in (*score.alive, *(one for one in score.judged if one.fate.outcome == "equal")):
        change = "\n".join(line for line in one.mutant.diff.splitlines()[3:])
        said = why.get(one.mutant.number, "")
        explanation = f"\n  explained: {said}" if said else ""
        parts.append(f"{one.mutant.title}: {one.fate.outcome}\n  {one.fate.reason}{explanation}\n{change}")
    return "\n\n".join((*score.notes, *parts))


def _table(scores: list[Score]) -> str:
    lines = []
    for score in scores:
        value = "no score" if score.score is None else f"{100 * score.score:.1f} %"
        counts = ((score.count(outcome), word) for outcome, word in _WORDS.items())
        fates = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "none judged"
        lines.append(f"{score.kind} {score.subject}: {value} of {counted(len(score.judged), 'mutant')}: {fates}")
    whole = score_of(scores)
    if len(scores) > 1 and whole is not None:
        lines.append(f"together: {100 * whole:.1f} %")
    return "\n".join(lines) + "\n"


_WORDS: Final[dict[Outcome, str]] = {
    "killed": "killed",
    "survived": "survived",
    "undecided": "undecided",
    "equal": "equal in scope",
    "refused": "refused",
}


def _save(folder: Path, score: Score) -> None:
    for one in score.alive:
        suffix = Path(one.mutant.file).suffix
        name = f"{score.subject.rpartition(':')[2]}-{one.mutant.number}{suffix}"
        write_text(str(folder / name), one.mutant.text)
