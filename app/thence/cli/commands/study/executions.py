"""`thence executions`: kinds of executions, and which protocols generate them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import Json
from thence.cli.output import UNKNOWN, BadInput, Output
from thence.cli.session import Session, run_command
from thence.dsl import ir
from thence.dsl.find import protocol_of
from thence.dsl.text.programs import describe
from thence.proofs.executions.figures import FIGURES
from thence.proofs.executions.generation import generates, why_not
from thence.proofs.executions.kinds import KINDS, Kind, kinds_of, strictest
from thence.proofs.executions.ordering import Ordering, of_programs, orderings
from thence.proofs.executions.reading import read_programs
from thence.spec.diagram.text import draw_text
from thence.spec.words import counted

DEFAULT = (
    "synchronous", "mf", "mf_pipelined", "tree", "cykas", "rst", "rst_hunch", "rst_mf", "ses", "ks",
    "hybrid_basic", "hybrid_optimal", "hybrid_remembering", "hybrid_multicast", "client_server", "fifo",
)  # fmt: skip
"""The protocols of the library that send to one process and are not there for a fault."""

ANSWERS: Mapping[bool | None, str] = {True: "yes", False: "no", None: "unknown"}


def executions(
    protocols: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(
            help="The protocols that are asked, and whose executions are counted. By default those of the library, "
            "without counts."
        ),
    ] = None,
    processes: Annotated[int, typer.Option(min=2, max=5, help="The greatest number of processes of an execution.")] = 4,
    messages: Annotated[int, typer.Option(min=1, max=5, help="The greatest number of messages of an execution.")] = 4,
    program: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A file with lines such as '0: send to 1; receive from 2': every execution of this program."),
    ] = None,
    json: Json = False,
) -> None:
    """Lists executions by their kinds, and asks the protocols which they generate."""
    names = protocols or ()
    run_command("executions", json, lambda session: _listed(session, names, processes, messages, program))


@dataclass(slots=True)
class _Findings:
    """The findings so far; all of them are shown, also after an interrupt."""

    shown: list[tuple[str, Ordering, dict[str, bool | None]]] = field(default_factory=list)
    per_kind: Counter[Kind] = field(default_factory=Counter)
    counts: dict[str, Counter[tuple[Kind, bool | None]]] = field(default_factory=dict)
    alike: list[tuple[Kind, Kind]] = field(default_factory=list)


def _listed(session: Session, names: Sequence[str], processes: int, messages: int, program: str | None) -> Output:
    """Kinds of executions, what separates them, and which protocols generate them. Ctrl-C keeps what is done."""
    protocols = {name: protocol_of(name) for name in names or DEFAULT}
    for name, protocol in protocols.items():
        if (reason := why_not(protocol)) is not None:
            raise BadInput(f"{name}: {reason}")
    found = _Findings()
    complete = True
    head = ""
    try:
        if program is not None:
            head = _of_program(session, program, protocols, found)
        else:
            most = f"{counted(messages, 'message')} among up to {counted(processes, 'process')}"
            head = f"Executions of up to {most}, up to their numbers."
            _of_bounds(session, processes, messages, protocols, bool(names), found)
    except KeyboardInterrupt:
        complete = False
    unknown = any(answer is None for _, _, answers in found.shown for answer in answers.values()) or any(
        answer is None for counts in found.counts.values() for _, answer in counts
    )
    text = "\n".join(_text(head, found, complete))
    fields: dict[str, Any] = {"executions": _json(found), **({} if complete else {"complete": False})}
    return Output(text=text, fields=fields, table=False, exit=UNKNOWN if unknown or not complete else None)


def _of_program(session: Session, file: str, protocols: Mapping[str, ir.Protocol], found: _Findings) -> str:
    try:
        programs = read_programs(Path(file).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: not UTF-8 text") from error
    except ValueError as error:
        raise BadInput(f"{file}: {error}") from error
    for number, ordering in enumerate(of_programs(programs), 1):
        found.per_kind[strictest(ordering)] += 1
        _ask(session, f"execution {number}", ordering, protocols, found)
    lines = (f"p{process}: {describe(steps)}" for process, steps in enumerate(programs))
    return "\n".join(("Every execution of the program", *lines))


def _of_bounds(
    session: Session,
    processes: int,
    messages: int,
    protocols: Mapping[str, ir.Protocol],
    counting: bool,
    found: _Findings,
) -> None:
    every: list[tuple[Kind, Ordering]] = []
    separating: dict[str, Ordering] = {}
    for count in range(1, messages + 1):
        for among in range(2, min(processes, 2 * count) + 1):
            for ordering in orderings(among, count):
                kinds = kinds_of(ordering)
                kind = next(kind for kind in KINDS if kind in kinds)
                every.append((kind, ordering))
                found.per_kind[kind] += 1
                for looser in KINDS:
                    for stricter in KINDS:
                        if looser in kinds and stricter not in kinds and abs(_place(looser) - _place(stricter)) == 1:
                            separating.setdefault(_separation(looser, stricter), ordering)
                session.status(counted(len(every), "execution"))
    for first, second in pairwise(KINDS):
        if not any(_separation(one, other) in separating for one, other in ((first, second), (second, first))):
            found.alike.append((first, second))
    for name, ordering in sorted(separating.items(), key=lambda item: len(item[1].ends)):
        _ask(session, name, ordering, protocols, found)
    for name, ordering in FIGURES.items():
        _ask(session, name, ordering, protocols, found)
    if counting:
        for name, protocol in protocols.items():
            counts: Counter[tuple[Kind, bool | None]] = Counter()
            for number, (kind, ordering) in enumerate(every, 1):
                session.status(name, number, len(every), "executions")
                counts[kind, generates(protocol, ordering).generated] += 1
            found.counts[name] = counts


def _separation(looser: Kind, stricter: Kind) -> str:
    return f"smallest {looser}, not {stricter}"


def _place(kind: Kind) -> int:
    return KINDS.index(kind)


def _ask(
    session: Session, name: str, ordering: Ordering, protocols: Mapping[str, ir.Protocol], found: _Findings
) -> None:
    answers: dict[str, bool | None] = {}
    found.shown.append((name, ordering, answers))
    for subject, protocol in protocols.items():
        session.status(f"{name}: {subject}")
        answers[subject] = generates(protocol, ordering).generated


def _text(head: str, found: _Findings, complete: bool) -> list[str]:
    lines: list[str] = [head, ""]
    running = 0
    for kind in KINDS:
        running += found.per_kind[kind]
        lines.append(f"  {kind:<13} {running:>6}   {found.per_kind[kind]:>6} of them not stricter")
    lines += [f"  none of them tells {first} from {second}" for first, second in found.alike]
    for name, ordering, answers in found.shown:
        lines += ["", name if name.startswith("smallest") else f"{name}: {_described(strictest(ordering))}", ""]
        lines += draw_text(ordering.execution()).rstrip("\n").split("\n")
        for said, answer in (("generated by", True), ("not generated by", False), ("not decided for", None)):
            if subjects := [subject for subject, given in answers.items() if given is answer]:
                lines.append(f"  {said} {', '.join(subjects)}")
    for subject, counts in found.counts.items():
        lines += ["", f"{subject} generates"]
        for kind in KINDS:
            if there := found.per_kind[kind]:
                some = f", {counts[kind, None]} not decided" if counts[kind, None] else ""
                lines.append(f"  {counts[kind, True]:>6} of {there:>6} {_described(kind)}{some}")
    if not complete:
        lines += ["", "interrupted: incomplete, this was finished"]
    return [*lines, ""]


def _described(kind: Kind) -> str:
    """`causal, not mailbox`: the strictest kind, and the one that it is not of."""
    place = _place(kind)
    return kind if not place else f"{kind}, not {KINDS[place - 1]}"


def _json(found: _Findings) -> dict[str, Any]:
    return {
        "kinds": {kind: found.per_kind[kind] for kind in KINDS},
        "alike": [list(pair) for pair in found.alike],
        "shown": [
            {
                "name": name,
                "kind": strictest(ordering),
                "programs": [describe(steps) for steps in ordering.programs() if steps is not None],
                "messages": [list(pair) for pair in ordering.ends],
                "order": [[[event.kind, event.message] for event in line] for line in ordering.processes],
                "generated": {subject: ANSWERS[answer] for subject, answer in answers.items()},
            }
            for name, ordering, answers in found.shown
        ],
        "counts": {
            subject: {
                kind: {said: counts[kind, answer] for answer, said in ANSWERS.items()}
                for kind in KINDS
                if found.per_kind[kind]
            }
            for subject, counts in found.counts.items()
        },
    }
