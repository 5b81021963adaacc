"""`thence infer`: invariants of machines, found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Optional

import typer

from thence.api.inferring import infer as infer_invariants
from thence.api.inferring import is_of_the_library, written
from thence.cli.options import File, Json, Seed, Verbose
from thence.cli.output import AS_EXPECTED, REFUTED, UNKNOWN, BadInput, Output
from thence.cli.session import Session, run_command, write_text
from thence.dsl.load import locate
from thence.proofs.infer.inference import Inference
from thence.proofs.infer.naming import line_of


def infer(
    file: File,
    names: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Machines, or mutants of machines. By default, every machine."),
    ] = None,
    hide: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Do without this invariant of the file, or without 'all'. Repeatable."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=1.0, help="The time limit for each machine, in seconds.")] = 120.0,
    seed: Seed = 0,
    write: Annotated[bool, typer.Option("--write", help="Put what was found and proved into the file.")] = False,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Finds invariants that prove what machines state, or a run that violates it."""
    request = InferRequest(file, tuple(names or ()), tuple(hide or ()), timeout, seed, write)
    run_command("infer", json, lambda session: _inferred(session, request), verbose)


@dataclass(frozen=True, slots=True)
class InferRequest:
    """The machines, and how long to look."""

    file: str
    names: tuple[str, ...]
    hide: tuple[str, ...]
    timeout_s: float
    seed: int
    write: bool


def _inferred(session: Session, request: InferRequest) -> Output:
    if request.write and request.hide:
        raise BadInput("--write does not go with --hide: the hidden invariants are in the file")
    path = locate(request.file)
    if request.write and is_of_the_library(path):
        raise BadInput(f"{request.file} is a file of the library; --write is for files of your own")
    found = infer_invariants(
        request.file,
        *request.names,
        hide=request.hide,
        timeout=request.timeout_s,
        seed=request.seed,
        progress=lambda machine, doing: session.status(f"{machine}: {doing}"),
    )
    text = "\n".join(_lines(each, session.verbosity) for each in found)
    if request.write:
        text += _write(str(path), found)
    codes = [_exit_of(each) for each in found]
    code = REFUTED if REFUTED in codes else max(codes, default=AS_EXPECTED)
    return Output(text=text, fields={"machines": [_json(each) for each in found]}, exit=code)


def _exit_of(found: Inference) -> int:
    if found.refuted is not None:
        return REFUTED
    return AS_EXPECTED if found.proved else UNKNOWN


def _write(path: str, found: Sequence[Inference]) -> str:
    """Writes the conjuncts of the machines that are proved into the file; a sentence about it."""
    with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
        before = text = file.read()
    new = 0
    for each in found:
        if each.proved and each.conjuncts:
            text, new = written(text, path, each), new + len(each.conjuncts)
    if text == before:
        return "\nnothing to write"
    write_text(path, text)
    return f"\nwrote {_counted(new)} into {path}"


def _lines(found: Inference, verbosity: int) -> str:
    name, seconds = found.machine.name, f"{found.seconds:.1f} s"
    if found.refuted is not None:
        return f"{name}: {found.refuted.name} is refuted, in {seconds}\n{found.refuted.text}"
    goals = ", ".join(found.goals) or "nothing"
    if found.proved:
        many = "no invariant is missing" if not found.conjuncts else f"with {_counted(len(found.conjuncts))} found"
        head = f"{name}: {goals}: proved for any number of elements of each sort, {many}, in {seconds}"
    else:
        head = f"{name}: {goals}: unknown after {seconds}: {found.reason}"
        if found.conjuncts:
            head += "\nwhat no run refuted, and a small universe supports so far:"
    lines = [head]
    for conjunct in found.conjuncts:
        lines.append(f"  {line_of(conjunct.formula)}")
        if verbosity and conjunct.without:
            lines.append("    without it:")
            lines += [f"    {line}" for line in conjunct.without.splitlines()]
    return "\n".join(lines)


def _counted(number: int) -> str:
    return f"{number} invariant{'' if number == 1 else 's'}"


def _json(found: Inference) -> Mapping[str, Any]:
    refuted = None if found.refuted is None else {"statement": found.refuted.name, "run": found.refuted.text}
    return {
        "machine": found.machine.name,
        "goals": list(found.goals),
        "verdict": "refuted" if refuted else "proved" if found.proved else "unknown",
        "reason": found.reason,
        "seconds": round(found.seconds, 3),
        "refuted": refuted,
        "invariants": [
            {"name": each.formula.name, "text": line_of(each.formula), "without": each.without}
            for each in found.conjuncts
        ],
    }
