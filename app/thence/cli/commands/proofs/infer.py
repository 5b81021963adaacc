"""`thence infer`: invariants of machines and of links, found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Optional

import typer

from thence.api.inferring import (
    Found,
    infer_at_once,
    infer_on_spark,
    is_of_the_library,
    kept_at,
    link_names_among,
    written,
)
from thence.api.inferring import hints as find_hints
from thence.api.inferring import infer as infer_invariants
from thence.cli.asking import Asking
from thence.cli.options import File, Json, Seed, verbosity
from thence.cli.output import AS_EXPECTED, BAD_INPUT, REFUTED, UNKNOWN, BadInput, Output
from thence.cli.session import Session, check_rewritable, rewrite_text, run_command
from thence.dsl.load import locate
from thence.pages.result_lines import premises_words
from thence.proofs.infer.candidates.naming import line_of
from thence.proofs.infer.hints import Hints
from thence.proofs.infer.links.inference import LinkInference
from thence.proofs.infer.search.outcome import Inference
from thence.spec.user_error import UserError
from thence.spec.words import counted


def infer(
    file: File,
    names: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Machines, mutants of machines, or links. By default, every machine."),
    ] = None,
    hide: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Do without this invariant of the file, or without 'all'. Repeatable."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1.0, help="The time limit for each machine or link, in seconds of processor time.")
    ] = 120.0,
    seed: Seed = 0,
    write: Annotated[bool, typer.Option("--write", help="Put what was found and proved into the file.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what the last search kept; all of it is checked again.")
    ] = False,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask", help="Ask which clause of a machine excludes a state: a number, a formula, or q, line by line."
        ),
    ] = False,
    hints: Annotated[
        bool,
        typer.Option(
            "--hints",
            help="Find a small set of the hidden invariants that is enough for finding the others."
            " By default, all are hidden.",
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="The number of machines and links that are searched at a time.")
    ] = 1,
    master: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Search each machine or link on the workers of this Spark master; --jobs does not matter then."
        ),
    ] = None,
    verbose: Annotated[int, verbosity("Show a step, or of a link a state, that each invariant excludes.")] = 0,
    json: Json = False,
) -> None:
    """Finds invariants that prove what machines state, or that protocols follow them; or a run that violates it."""
    request = InferRequest(file, tuple(names or ()), tuple(hide or ()), timeout, seed, write, resume, ask, jobs, master)
    asked = _hinted if hints else _inferred
    run_command("infer", json, lambda session: asked(session, request), verbose)


@dataclass(frozen=True, slots=True)
class InferRequest:
    """The machines and links, and how long to look."""

    file: str
    names: tuple[str, ...]
    hide: tuple[str, ...]
    timeout_s: float
    seed: int
    write: bool
    resume: bool
    ask: bool
    jobs: int
    master: str | None


def _inferred(session: Session, request: InferRequest) -> Output:
    if request.write and request.hide:
        raise BadInput("--write does not go with --hide: the hidden invariants are in the file")
    if request.ask and session.json:
        raise BadInput("--ask does not go with --json: questions and answers are lines of text")
    if request.ask and request.master is not None:
        raise BadInput("--ask does not go with --master: the search is on another machine")
    if request.ask and request.jobs > 1:
        raise BadInput("--ask does not go with --jobs: you are asked about one machine at a time")
    path = locate(request.file)
    if request.write and is_of_the_library(path):
        raise BadInput(f"{request.file} is a file of the library; --write is for files of your own")
    target = str(path.resolve())
    before = _text_of(target) if request.write else ""
    if request.write:
        check_rewritable(target)
    links = link_names_among(request.file, request.names)
    if request.ask and links:
        raise BadInput(f"{links[0]} is a link: --ask is for machines; no clause of a link is chosen")
    if 0 < len(links) < len(request.names) and request.hide:
        raise BadInput("--hide goes with machines or with links, not with both")
    found = _searched(session, request)
    text = "\n".join(_lines_of(each, session.verbosity) for each in found)
    if request.resume:
        text += "".join(f"\nno earlier search of {_name(each)} was kept" for each in found if not each.facts)
    if any(each.kept is not None for each in found) and kept_at(str(path), "") is not None:
        text += "\nwhat was found is kept; --resume goes on with it"
    unwritten = ""
    if request.write:
        try:
            text += _write(str(path), before, found)
        except UserError as error:  # What was found is shown all the same.
            unwritten = str(error)
            text += f"\n{unwritten}"
    codes = [*map(_exit_of, found)]
    code = REFUTED if REFUTED in codes else max(codes, default=AS_EXPECTED)
    fields: dict[str, Any] = {"machines": [_json(each) for each in found if isinstance(each, Inference)]}
    if links:
        fields["links"] = [_link_json(each) for each in found if isinstance(each, LinkInference)]
    if unwritten:
        fields["unwritten"] = [unwritten]
    return Output(text=text, fields=fields, exit=BAD_INPUT if unwritten else code)


def _searched(session: Session, request: InferRequest) -> tuple[Found, ...]:
    return _search(session, request)(
        request.file,
        *request.names,
        hide=request.hide,
        timeout=request.timeout_s,
        seed=request.seed,
        resume=request.resume,
        progress=lambda name, doing: session.status(f"{name}: {doing}"),
    )


def _search(session: Session, request: InferRequest) -> Callable[..., tuple[Found, ...]]:
    """Who searches: this process, several at once, or Spark."""
    if request.master is not None:
        return partial(infer_on_spark, request.master)
    if request.jobs > 1:
        return partial(infer_at_once, request.jobs)
    return partial(infer_invariants, ask=Asking(session) if request.ask else None)


def _hinted(session: Session, request: InferRequest) -> Output:
    """The table of `--hints`."""
    if request.write or request.resume or request.ask or request.jobs > 1 or request.master is not None:
        raise BadInput("--hints goes with --hide, --timeout and --seed only")
    links = link_names_among(request.file, request.names)
    if 0 < len(links) < len(request.names) and request.hide:
        raise BadInput("--hide goes with machines or with links, not with both")
    found = find_hints(
        request.file,
        *request.names,
        hide=request.hide,
        timeout=request.timeout_s,
        seed=request.seed,
        progress=lambda name, doing: session.status(f"{name}: {doing}"),
    )
    first = "machine" if not links else "link" if len(links) == len(request.names) else "name"
    rows = [(first, "hidden", "given back", "time"), *(_hint_row(subject.name, each) for subject, each in found)]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    codes = [_exit_of(each.inference) if each.given is None else AS_EXPECTED for _, each in found]
    fields: dict[str, Any] = {"machines": []}
    for _, each in found:
        key = "machines" if isinstance(each.inference, Inference) else "links"
        said = _json(each.inference) if isinstance(each.inference, Inference) else _link_json(each.inference)
        fields.setdefault(key, []).append({**said, "hints": _hints_json(each)})
    return Output(text="\n".join(lines), fields=fields, exit=REFUTED if REFUTED in codes else max(codes))


def _hint_row(name: str, hints: Hints) -> tuple[str, str, str, str]:
    """`time` is that of the attempt that proves the machine or link."""
    if hints.given is None:
        refuted = hints.inference.refuted
        said = f"unknown: {hints.inference.reason}" if refuted is None else f"{refuted.name} is refuted"
    elif hints.given:
        said = f"{', '.join(hints.given)} ({len(hints.given)}, {hints.standing})"
    else:
        said = "nothing"
    return name, str(len(hints.hidden)), said, f"{hints.inference.seconds:.1f} s"


def _hints_json(hints: Hints) -> Mapping[str, Any]:
    given = None if hints.given is None else list(hints.given)
    return {"hidden": list(hints.hidden), "given": given, "standing": hints.standing, "attempts": hints.attempts}


def _name(found: Found) -> str:
    return found.link.name if isinstance(found, LinkInference) else found.machine.name


def _exit_of(found: Found) -> int:
    if found.refuted is not None:
        return REFUTED
    return AS_EXPECTED if found.proved else UNKNOWN


def _text_of(path: str) -> str:
    """The text of a file, with its own ends of lines. Raises: BadInput."""
    try:
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error


def _write(path: str, before: str, found: Sequence[Found]) -> str:
    """Writes the conjuncts of the machines and links that are proved into the file; a sentence about it.

    `before`: the text that was searched. Raises: UserError, where the file is another one now, or cannot be written.
    """
    text, new = before, 0
    if _text_of(path) != before:
        raise BadInput(f"{path} was changed during the search; nothing was written")
    for each in found:
        if each.proved and each.conjuncts:
            text, new = written(text, path, each), new + len(each.conjuncts)
    if text == before:
        return "\nnothing to write"
    rewrite_text(path, text)
    return f"\nwrote {counted(new, 'invariant')} into {path}"


def _lines_of(found: Found, verbosity: int) -> str:
    return _link_lines(found, verbosity) if isinstance(found, LinkInference) else _lines(found, verbosity)


def _lines(found: Inference, verbosity: int) -> str:
    name, seconds = found.machine.name, f"{found.seconds:.1f} s"
    if found.refuted is not None:
        return f"{name}: {found.refuted.name} is refuted, in {seconds}\n{found.refuted.text}"
    goals = ", ".join(found.goals) or "nothing"
    if found.proved:
        many = (
            "no invariant is missing"
            if not found.conjuncts
            else f"with {counted(len(found.conjuncts), 'invariant')} found"
        )
        head = f"{name}: {goals}: proved for any number of elements of each sort, {many}, in {seconds}"
        if found.facts:
            head += f"\n{_resumed(found)}"
    else:
        head = f"{name}: {goals}: unknown after {seconds}: {found.reason}"
        if found.facts:
            head += f"\n{_resumed(found)}"
        if found.conjuncts:
            head += "\nwhat no run refuted, and a small universe supports so far:"
    lines = [head]
    for conjunct in found.conjuncts:
        lines.append(f"  {line_of(conjunct.formula)}")
        if verbosity:
            lines += _without(conjunct.without)
    if found.text:
        lines += ["what none of this excludes:", *(f"  {line}" for line in found.text.splitlines())]
        lines.append("an invariant that is false in this state is missing; --ask shows clauses that may be it")
    return "\n".join(lines)


def _without(text: str) -> list[str]:
    """What is possible without an invariant, under it."""
    return ["    without it:", *(f"    {line}" for line in text.splitlines())] if text else []


def _link_lines(found: LinkInference, verbosity: int) -> str:
    name, seconds = found.link.name, f"{found.seconds:.1f} s"
    if found.refuted is not None:
        return f"{name}: refuted, in {seconds}\n{found.refuted.text}"
    if found.proved:
        many = counted(len(found.conjuncts), "invariant")
        with_them = f"with {many} found" if found.conjuncts else "no invariant is missing"
        limits = "".join(f", {each}" for each in premises_words(found.rests_on))
        lines = [f"{name}: proved for any number of processes and messages{limits}, {with_them}, in {seconds}"]
    else:
        lines = [f"{name}: unknown after {seconds}: {found.reason}"]
    if found.facts:
        lines.append(_resumed(found))
    if not found.proved:
        if found.text != found.reason:
            lines += found.text.splitlines()
        if found.conjuncts:
            lines.append("what no run refuted, and proofs rest on so far:")
    for each in found.conjuncts:
        lines.append(f"  {each.line}")
        if verbosity:
            lines += _without(each.without)
    return "\n".join(lines)


def _link_json(found: LinkInference) -> Mapping[str, Any]:
    return {
        "link": found.link.name,
        "verdict": "refuted" if found.refuted else "proved" if found.proved else "unknown",
        "reason": found.reason,
        "text": found.text,
        "seconds": round(found.seconds, 3),
        "processor_seconds": round(found.processor_seconds, 3),
        "resumed": dict(found.facts),
        "refuted": None if found.refuted is None else {"run": found.refuted.text},
        "invariants": [
            {"name": each.formula.name, "text": each.line, "without": each.without} for each in found.conjuncts
        ],
        **found.rests_on,
    }


def _resumed(found: Found) -> str:
    """What an earlier search left; of a link it leaves no samples."""
    kinds = (("samples", "sample"), ("clauses", "clause")) if isinstance(found, Inference) else (("clauses", "clause"),)
    there = " and ".join(counted(found.facts.get(kind, 0), one) for kind, one in kinds)
    return f"went on with {there}, checked again"


def _json(found: Inference) -> Mapping[str, Any]:
    refuted = None if found.refuted is None else {"statement": found.refuted.name, "run": found.refuted.text}
    return {
        "machine": found.machine.name,
        "goals": list(found.goals),
        "verdict": "refuted" if refuted else "proved" if found.proved else "unknown",
        "reason": found.reason,
        "text": found.text,
        "seconds": round(found.seconds, 3),
        "processor_seconds": round(found.processor_seconds, 3),
        "resumed": dict(found.facts),
        "refuted": refuted,
        "invariants": [
            {"name": each.formula.name, "text": line_of(each.formula), "without": each.without}
            for each in found.conjuncts
        ],
    }
