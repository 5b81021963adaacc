"""The subjects of mutation: protocols, machines and implementations; and the texts that fates depend on."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from thence.conformance.implementations import SHIPPED
from thence.conformance.mutation.mutants import SubjectKind
from thence.dsl import ir
from thence.dsl.ir.topology import Edges
from thence.dsl.load import Loaded, library, load
from thence.dsl.text import syntax
from thence.dsl.text.parse import parse

AS_PRINTED = "_printed"
"""Suffix of the names of library files with a paper's text as printed. The text is known to be wrong, so that its
mutants say nothing. Each of its faults is a mutant of the repaired protocol."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A protocol, a machine or an implementation of the file (a path or library name), which is mutated.

    `links`: of the overlay that an implementation runs on; none where each process has a link to each other one.
    """

    file: str
    kind: SubjectKind
    name: str
    links: Edges = ()

    @property
    def row(self) -> str:
        """The name of its file, without folder and suffix."""
        return Path(self.file).stem

    def declared(self, specification: ir.Specification) -> ir.Protocol | ir.Machine:
        """The protocol or machine in its file."""
        there = specification.protocols if self.kind == "protocol" else specification.machines
        return next(one for one in there if one.name == self.name)


def subjects_of(file: str, specification: ir.Specification, implementation: str | None) -> list[Subject]:
    """Everything in a file, and its implementation."""
    return [
        *(Subject(file, "protocol", protocol.name) for protocol in specification.protocols),
        *(Subject(file, "machine", machine.name) for machine in specification.machines),
        *([] if implementation is None else [Subject(file, "implementation", implementation)]),
    ]


def library_subjects() -> list[Subject]:
    """The subjects of the shipped library; a protocol of two files is there once, under the file of its name."""
    found: list[Subject] = []
    protocols: dict[str, ir.Protocol] = {}
    paths = sorted(library(), key=lambda path: (len(path.stem), path.stem))
    for path in paths:
        if path.stem.endswith(AS_PRINTED):
            continue
        specification = load(path.stem).specification
        assert specification is not None, "the library has no errors"
        for subject in subjects_of(path.stem, specification, SHIPPED.get(path.stem)):
            declared = None if subject.kind == "implementation" else subject.declared(specification)
            if isinstance(declared, ir.Protocol):
                if protocols.get(declared.name) == declared:
                    continue
                protocols[declared.name] = declared
            found.append(subject)
    return sorted(found, key=lambda subject: subject.row)


def context_of(loaded: Loaded, implementation: str | None = None) -> str:
    """The text that fates depend on, beside the mutant's: what the file states of protocols and machines, apart from
    its own mutants and theorems; of an implementation the modules of its package, or of its folder, that it uses."""
    tree, _ = parse(loaded.source.text, str(loaded.path))
    assert tree is not None, "the file has been read before"
    lines = []
    for declaration in tree.declarations:
        if not isinstance(declaration, syntax.Mutant | syntax.Theorem | syntax.Theory):
            span = declaration.span
            lines += loaded.source.lines[span.line - 1 : span.end_line]
    said = "\n".join(stripped for line in lines if (stripped := line.rstrip()))
    modules = () if implementation is None else _modules(implementation.partition(":")[0])
    return "\n".join((said, *modules))


def _modules(name: str) -> Iterator[str]:
    """The texts of a module and of those that it imports from its own package, each once. A module without a package
    has those that it imports from its folder."""
    package = name.rpartition(".")[0]
    folder = Path(getattr(sys.modules.get(name), "__file__", None) or "").parent
    waiting, seen = [name], {name}
    while waiting:
        file = getattr(sys.modules.get(waiting.pop()), "__file__", None)
        if file is None:
            continue
        text = Path(file).read_text(encoding="utf-8")
        yield text
        for other in _imported(text, package):
            if other not in seen and _belongs(other, package, folder):
                seen.add(other)
                waiting.append(other)


def _imported(text: str, package: str) -> Iterator[str]:
    """The names of what the text imports; of what it imports from a module, that of the module and those within it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            of = ".".join(filter(None, (package if node.level else "", node.module)))
            yield of
            yield from (f"{of}.{each.name}" for each in node.names)


def _belongs(name: str, package: str, folder: Path) -> bool:
    if package:
        return name.startswith(f"{package}.")
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and Path(file).is_relative_to(folder)


def chosen(subjects: Sequence[Subject], names: Sequence[str]) -> list[Subject]:
    """Those of these names; `impl` is the implementation. None named: all."""
    wanted = set(names)
    return [
        subject
        for subject in subjects
        if not wanted or subject.name in wanted or (subject.kind == "implementation" and "impl" in wanted)
    ]
