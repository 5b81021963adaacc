"""What is known of one text: its tree, its types, its faults, and which name means what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from thence.dsl.check.elaborate import Examined, examine
from thence.dsl.ir.types import Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic, has_errors
from thence.dsl.text.parse import Reading, read
from thence.dsl.text.syntax import Span
from thence.lsp.naming.names import resolve
from thence.lsp.naming.symbols import Occurrence, Symbol
from thence.lsp.positions import contains


@dataclass(frozen=True)
class Analysis:
    """One text under a file name. What follows from it is found out when it is asked for, and once.

    Two threads may find out the same thing at the same time; they find the same. `around`: only the types around this
    line are wanted. A mutant is typed with all that it takes over, so that most of the work is left out.
    """

    text: str
    file: str
    around: int | None = None

    @cached_property
    def reading(self) -> Reading:
        """The tree, as far as it can be read, and the faults of the syntax."""
        return read(self.text, self.file)

    @property
    def tree(self) -> syntax.File:
        """The declarations that can be read."""
        return self.reading.tree

    @cached_property
    def examined(self) -> Examined:
        """The types and the typed declarations, as far as there are any."""
        tree = self.tree
        if self.around is not None:
            kept = tuple(one for one in tree.declarations if self._is_typed(one, self.around))
            tree = replace(tree, declarations=kept)
        return examine(tree, self.file)

    def _is_typed(self, declaration: syntax.TopLevel, line: int) -> bool:
        """Whether the types of a declaration are wanted, or those that depend on it."""
        apart = isinstance(declaration, syntax.Mutant | syntax.Scenario | syntax.Conforms)
        return not apart or declaration is declaration_at(self.tree, line)

    @property
    def types(self) -> Mapping[Span, Type]:
        """The types of expressions and local names, by place."""
        return self.examined.types

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What `thence check` says: faults of the syntax, and only where there are none, the others."""
        return self.reading.diagnostics or self.examined.diagnostics

    @property
    def is_sound(self) -> bool:
        """Whether the text has no error."""
        return not has_errors(self.diagnostics)

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """Every place where something is named, in the order of the text."""
        return resolve(self.tree, self.types)

    def occurrence_at(self, line: int, column: int) -> Occurrence | None:
        """What is named at a place; right behind a name counts, too."""
        found = [occurrence for occurrence in self.occurrences if contains(occurrence.span, line, column)]
        return next((one for one in found if (one.span.end_line, one.span.end_column) != (line, column)), None) or (
            found[0] if found else None
        )

    def of_symbol(self, symbol: Symbol) -> Iterator[Occurrence]:
        """All places where a declared symbol is named."""
        return (occurrence for occurrence in self.occurrences if occurrence.symbol == symbol)


def declaration_at(tree: syntax.File, line: int) -> syntax.TopLevel | None:
    """The declaration that a line belongs to: the last one that begins at it or before."""
    above = [one for one in tree.declarations if one.span.line <= line]
    return above[-1] if above else None
