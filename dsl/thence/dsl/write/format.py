"""The canonical form of a file, as `thence fmt` writes it.

It is printed from the syntax tree, in the order of the source, with two spaces for each level. Kept from
the source: comments, single blank lines, which statements share a line, where formulas are broken, and how most lines
end.
Formatting twice changes nothing, and the tree of the result is the tree of the source.
"""

from __future__ import annotations

from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.write.declarations import lines_of_file
from thence.dsl.write.line_ends import with_line_ends
from thence.dsl.write.weave import weave


def format_source(text: str, file: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The canonical form of a text, or None and what keeps it from being parsed."""
    tree, diagnostics = parse(text, file)
    if tree is None:
        return None, diagnostics
    blank_lines = frozenset(number for number, line in enumerate(text.split("\n"), start=1) if not line.strip())
    return with_line_ends(weave(lines_of_file(tree), tree.comments, blank_lines), text), diagnostics


def print_file(file: syntax.File) -> str:
    """A tree as canonical text, with its comments. `parse` gives the same tree back."""
    return weave(lines_of_file(file), file.comments, frozenset())
