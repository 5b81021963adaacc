"""Mutants: the edits of a file or module, and the meaning of the edited text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from thence.conformance.mutation.edits import Edit, applied, diff
from thence.conformance.mutation.specification_edits import machine_edits, protocol_edits
from thence.dsl import ir
from thence.dsl.load import Loaded, load_bytes
from thence.dsl.text import syntax
from thence.dsl.text.parse import parse

SubjectKind: TypeAlias = Literal["protocol", "machine", "implementation"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault in one subject.

    Attributes:
        number: its place among the edits of its subject, from 1: the same text has the same numbers.
        kind, subject: of the original.
        edit: the fault.
        original, text: of the file, without and with the fault.
        file: its name.
    """

    number: int
    kind: SubjectKind
    subject: str
    edit: Edit
    original: str
    text: str
    file: str

    @property
    def diff(self) -> str:
        """The change."""
        return diff(self.original, self.text, self.file)

    @property
    def title(self) -> str:
        """The mutant in one line."""
        return f"{self.subject} #{self.number}, {self.edit.place}, line {self.edit.span.line}: {self.edit.operator}"


def text_alone(loaded: Loaded, subject: ir.Protocol | ir.Machine) -> str:
    """The file with this declaration and its definitions only: the rest says nothing of its mutants. Lines stay."""
    tree, _ = parse("\n".join(loaded.source.lines), loaded.path.name)
    assert tree is not None, "the file was read before"
    defined = (each.span for each in tree.declarations if isinstance(each, syntax.Definition))
    own = {line for span in (subject.span, *defined) for line in range(span.line, span.end_line + 1)}
    return "\n".join(line if number in own else "" for number, line in enumerate(loaded.source.lines, 1))


def specification_mutants(loaded: Loaded, subject: ir.Protocol | ir.Machine) -> list[Mutant]:
    """The edits of a protocol or machine of the file, as mutants. Whether the front end takes each is open."""
    kind: SubjectKind = "protocol" if isinstance(subject, ir.Protocol) else "machine"
    lines = list(loaded.source.lines)
    edits = protocol_edits(subject, lines) if isinstance(subject, ir.Protocol) else machine_edits(subject, lines)
    original = text_alone(loaded, subject)
    return [
        Mutant(number, kind, subject.name, edit, original, applied(original, edit), loaded.path.name)
        for number, edit in enumerate(edits, 1)
    ]


def meaning(mutant: Mutant) -> ir.Specification | None:
    """The meaning of the mutant's text; None where the front end refuses it, or it means the same as the original."""
    changed = load_bytes(Path(mutant.file), mutant.text.encode()).specification
    return None if changed is None or changed == _read(mutant.file, mutant.original) else changed


@lru_cache(maxsize=4)
def _read(file: str, text: str) -> ir.Specification:
    found = load_bytes(Path(file), text.encode())
    assert found.specification is not None, [diagnostic.message for diagnostic in found.diagnostics]
    return found.specification


def subjects(specification: ir.Specification) -> Iterator[ir.Protocol | ir.Machine]:
    """The protocols and machines of a file, which are mutated."""
    yield from specification.protocols
    yield from specification.machines
