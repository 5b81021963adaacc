"""What can be asked about a file: explore a scope, prove a machine or theorem, check a link, play a scenario.

A task is what a code lens runs. Its verdicts stay valid as long as everything that they are about stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from thence.dsl.text import syntax
from thence.dsl.text.syntax import Span
from thence.lsp.analysis import Analysis

TaskKind: TypeAlias = Literal["scope", "prove", "link", "mutant", "scenario"]

VERBS: dict[TaskKind, str] = {
    "scope": "explore", "prove": "prove", "link": "check the link", "mutant": "explore", "scenario": "play",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """One question. `of` is the protocol of a scope, or the subject of a mutant."""

    kind: TaskKind
    name: str
    of: str = ""

    def to_json(self) -> dict[str, str]:
        """As an argument of a command."""
        return {key: str(value) for key, value in asdict(self).items()}

    @property
    def title(self) -> str:
        """The task in words: `explore scope small of cykas`."""
        what = {"prove": "", "link": "", "scope": "scope ", "mutant": "mutant ", "scenario": "scenario "}[self.kind]
        verb = VERBS[self.kind]
        return f"{verb} {what}{self.name}" + (f" of {self.of}" if self.of else "")


@dataclass(frozen=True, slots=True)
class Place:
    """A task, and the name beside which it is offered. `basis` is everything that its verdicts depend on.

    `expects`: the text states what is expected.
    """

    task: Task
    span: Span
    basis: tuple[syntax.TopLevel, ...]
    expects: bool


def task_from(value: Any) -> Task:
    """The task that `to_json` wrote. Raises ValueError for anything else."""
    match value:
        case {
            "kind": ("scope" | "prove" | "link" | "mutant" | "scenario") as kind,
            "name": str(name),
            "of": str(of),
        }:
            return Task(kind, name, of)
        case _:
            raise ValueError("this is no task of Thence")


def places(analysis: Analysis) -> tuple[Place, ...]:
    """Everything that can be asked about a file, in its order."""
    return tuple(_places(analysis.tree.declarations))


def _places(declarations: Sequence[syntax.TopLevel]) -> Iterator[Place]:
    for one in declarations:
        found = _task(one, declarations)
        if found is None:
            continue
        names = _about(one) | {one.name.text}
        basis = tuple(other for other in declarations if other is one or _concerns(other, one, names))
        yield Place(found, _at(one), basis, bool(getattr(one, "expects", ())))


def _task(declaration: syntax.TopLevel, declarations: Sequence[syntax.TopLevel]) -> Task | None:
    name = declaration.name.text
    match declaration:
        case syntax.Theorem() | syntax.Machine():
            return Task("prove", name)
        case syntax.Scope(protocol=of):
            return Task("scope", name, of.text)
        case syntax.Conforms():
            return Task("link", name)
        case syntax.Scenario():
            return Task("scenario", name)
        case syntax.Mutant(subject=of):
            machines = {one.name.text for one in declarations if isinstance(one, syntax.Machine)}
            return Task("prove" if of.text in machines else "mutant", name, of.text)
        case _:
            return None


def _at(declaration: syntax.TopLevel) -> Span:
    if isinstance(declaration, syntax.Conforms):
        return Span(declaration.span.line, declaration.span.column, declaration.span.line, declaration.span.column + 8)
    return declaration.name.span


def _about(declaration: syntax.TopLevel) -> set[str]:
    """The subjects of a declaration, by name."""
    match declaration:
        case syntax.Theorem(theory=of):
            return {of.text}
        case syntax.Scope(protocol=of) | syntax.Mutant(subject=of):
            return {of.text}
        case syntax.Conforms(protocol=of, machine=to):
            return {of.text, to.text}
        case syntax.Scenario(protocol=of, mutant=mutant):
            return {of.text, *((mutant.text,) if mutant is not None else ())}
        case _:
            return set()


def _concerns(other: syntax.TopLevel, one: syntax.TopLevel, names: set[str]) -> bool:
    """Whether the verdicts on `one`, which speaks of these names, depend on another declaration."""
    match one, other:
        case _, syntax.Definition():
            return True  # of the file: any formula may be written by it
        case syntax.Theorem(lemmas=(_, *_)), syntax.Theorem():
            return True  # its lemmas may use others
        case syntax.Mutant(), syntax.Conforms():
            return bool(_about(other) & names)  # `expect refuted link`
        case ((syntax.Mutant() | syntax.Conforms()), syntax.Scope()):
            return bool(_about(other) & names)
        case syntax.Mutant(), syntax.Machine():
            return True  # of the link, or the subject
        case _, (syntax.Theory() | syntax.Machine() | syntax.Protocol()):
            return other.name.text in names
        case syntax.Scenario(), syntax.Mutant():
            return other.name.text in names
        case _:
            return False
