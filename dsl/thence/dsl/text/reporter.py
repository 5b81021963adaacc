"""The collector of the diagnostics of all passes of the front end.

A pass never stops at the first error: it reports, gives the erroneous part no type, and goes on. Parts without a
type (`None`) silence everything that would only follow from them.
"""

from __future__ import annotations

from typing import Any

from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.syntax import Span


class Reporter:
    """Collects the diagnostics of one file. `notes` are added to each: what is checked besides the text itself."""

    def __init__(self, file: str, notes: tuple[str, ...] = ()) -> None:
        self.file = file
        self.notes = notes
        self.found: list[Diagnostic] = []
        self.typed: list[tuple[Span, Any]] | None = None
        """The types of expressions and local names, by place, as they are found out; kept where it is a list."""

    def within(self, notes: tuple[str, ...]) -> Reporter:
        """A collector with other notes, of the same file. The types that it is told are kept here."""
        inner = Reporter(self.file, notes)
        inner.typed = self.typed
        return inner

    def error(self, code: str, span: Span, message: str, *notes: str) -> None:
        """The text is at fault."""
        self.found.append(Diagnostic(code, "error", message, self.file, span, (*notes, *self.notes)))

    def warning(self, code: str, span: Span, message: str, *notes: str) -> None:
        """The text means something, but hardly what was meant."""
        self.found.append(Diagnostic(code, "warning", message, self.file, span, (*notes, *self.notes)))

    @property
    def errors(self) -> int:
        """The number of errors so far."""
        return sum(1 for diagnostic in self.found if diagnostic.severity == "error")
