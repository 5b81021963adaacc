"""Diagnostics: what the tool says about a text that is at fault.

A diagnostic has a stable code. The catalogue below gives each code's meaning in one sentence; the
message of a diagnostic says it for the case at hand. Adding a code is one line in the catalogue and
one golden fixture named after it; `docs/errors.md` is generated from the catalogue.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from whence.dsl.syntax import Span

Severity: TypeAlias = Literal["error", "warning"]

CODES: dict[str, str] = {
    # W01xx: text and syntax
    "W0101": "The file is not UTF-8 text.",
    "W0102": "A character that the language does not use.",
    "W0103": "A `:` is missing between a header and its block.",
    "W0104": "A tab in the indentation or between words; indentation is spaces only.",
    "W0105": "A line is indented to a depth that no enclosing block has.",
    "W0106": "A line is indented deeper although no block starts there.",
    "W0107": "A header that ends with `:` has no body.",
    "W0108": "A bracket is opened and never closed.",
    "W0109": "A closing bracket without an opening one, or of another kind.",
    "W0110": "A documentation string is not closed.",
    "W0111": "`=` where `:=` is meant, or `:=` where `=` is meant.",
    "W0112": "`==` where `=` is meant.",
    "W0113": "`&&`, `||` or `!` of other languages where `and`, `or` or `not` is meant.",
    "W0114": "A word where a keyword is expected, such as a misspelt one.",
    "W0115": "The `from NAME` of a receive is missing.",
    "W0116": "The `to PROCESS` of a send, or the `to` of a declaration, is missing.",
    "W0117": "An `else` without an `if` above it.",
    "W0118": "A number, keyword or symbol where a name is expected.",
    "W0119": "An expression is missing or unfinished.",
    "W0120": "Something is left over after a complete line.",
    "W0121": "Comparisons do not chain: `a < b < c` is `a < b and b < c`.",
    "W0122": "The left side of `:=` is not a place.",
    "W0123": "A change of state, such as `q.pop()`, stands as a statement of its own.",
    "W0124": "A line that does nothing: neither an update nor a call.",
    "W0125": "The `.` or `:` after the variables of a quantifier or update is missing.",
    "W0126": "A type is expected.",
    "W0127": "Text in quotes other than a documentation string in triple quotes.",
    "W0128": "A name or number is malformed, such as `2pc` or a number of more than 18 digits.",
    "W0129": "A word with which other languages write what this one writes differently (`elif`, `def`, `var`).",
    "W0130": "A setting, clause or item is given twice where once is the most.",
    "W0131": "The token does not fit here.",
    "W0132": "A verdict is expected: `proved`, `holds`, `refuted` or `unknown`.",
    "W0133": "`not` binds less tightly than the operator before it: parentheses are missing.",
    "W0134": "A documentation string stands where none can stand.",
    "W0150": "The file is too large.",
    "W0151": "A line is too long.",
    "W0152": "The text is nested too deeply.",
    "W0153": "The file has more faults than are reported at once.",
    # W02xx: names
    # W03xx: types
    # W04xx: rules of protocols
    # W05xx: rules of machines and theories
    # W06xx: scopes, links, mutants, expectations
    # W09xx: warnings
}

_CHAPTERS = {
    "W01": "Text and syntax",
    "W02": "Names",
    "W03": "Types",
    "W04": "Rules of protocols",
    "W05": "Rules of machines and theories",
    "W06": "Scopes, links, mutants and expectations",
    "W09": "Warnings",
}

_EXCERPT_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault of a text: `code` is in the catalogue, `notes` are whole sentences that help."""

    code: str
    severity: Severity
    message: str
    file: str
    span: Span
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.code in CODES, f"{self.code} is not in the catalogue"

    def to_json(self) -> dict[str, object]:
        """The stable JSON form, as DESIGN.md lists its fields."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "line": self.span.line,
            "column": self.span.column,
            "end_line": self.span.end_line,
            "end_column": self.span.end_column,
            "notes": list(self.notes),
        }


class SourceText:
    """A text under its file name, as lines; lines and columns count from 1, columns in characters."""

    __slots__ = ("file", "lines", "text")

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.replace("\r\n", "\n").split("\n")

    def line(self, number: int) -> str:
        """The text of a line, empty when there is no such line."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them is an error."""
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted by place, then by code; duplicates (same code at the same place) removed."""
    kept: dict[tuple[str, int, int, str], Diagnostic] = {}
    for diagnostic in diagnostics:
        kept.setdefault((diagnostic.file, diagnostic.span.line, diagnostic.span.column, diagnostic.code), diagnostic)
    return tuple(kept[key] for key in sorted(kept))


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that the writer most likely meant, or None when none is near."""
    pool = sorted(set(candidates) - {name, ""})
    folded = {candidate.casefold(): candidate for candidate in reversed(pool)}
    if name.casefold() in folded:
        return folded[name.casefold()]
    cutoff = 0.6 if len(name) > 3 else 0.5
    matches = difflib.get_close_matches(name[:80].casefold(), folded, n=1, cutoff=cutoff)
    return folded[matches[0]] if matches else None


def did_you_mean(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """A note that proposes the nearest candidate; no note when none is near."""
    match = nearest(name, candidates)
    return (f"did you mean `{match}`?",) if match is not None else ()


def render(diagnostic: Diagnostic, source: SourceText | str) -> str:
    """The diagnostic as people read it: message, place, the line at fault with carets under it, notes.

    ```
    error[W0112]: `==` is not an operator
      --> cykas.whence:12:10
       |
    12 |   if MODE == 0: return
       |           ^^
       = note: equality is `=`
    ```
    """
    if isinstance(source, str):
        source = SourceText(diagnostic.file, source)
    span = diagnostic.span
    head = f"{diagnostic.severity}[{diagnostic.code}]: {_printable(diagnostic.message)}"
    if span.line < 1:
        return "\n".join([head, f" --> {diagnostic.file}", *(f"  = note: {note}" for note in diagnostic.notes)]) + "\n"
    number = str(span.line)
    gutter = " " * len(number)
    lines = [head, f"{gutter}--> {diagnostic.file}:{span.line}:{span.column}"]
    excerpt, carets = _excerpt(source.line(span.line), span)
    lines += [f"{gutter} |", f"{number} | {excerpt}".rstrip(), f"{gutter} | {carets}"]
    lines += [f"{gutter} = note: {_printable(note)}" for note in diagnostic.notes]
    return "\n".join(lines) + "\n"


def render_all(diagnostics: Iterable[Diagnostic], source: SourceText | str) -> str:
    """Every diagnostic, separated by blank lines."""
    return "\n".join(render(diagnostic, source) for diagnostic in diagnostics)


def render_catalogue() -> str:
    """The text of `docs/errors.md`."""
    lines = [
        "# Error codes",
        "",
        "Generated from the catalogue in `dsl/whence/dsl/diagnostics.py`; do not edit by hand. Every code has a",
        "fixture in `tests/dsl/golden` that shows it.",
    ]
    for prefix, title in _CHAPTERS.items():
        codes = [code for code in sorted(CODES) if code.startswith(prefix)]
        if codes:
            lines += ["", f"## {title}", "", "| code | meaning |", "|---|---|"]
            lines += [f"| `{code}` | {CODES[code].replace('|', chr(92) + '|')} |" for code in codes]
    return "\n".join(lines) + "\n"


def _excerpt(line: str, span: Span) -> tuple[str, str]:
    """The line at fault, cut to a window around the fault, and the carets that go under it."""
    start = max(span.column - 1, 0)
    if span.end_line > span.line:
        end = max(len(line), start + 1)
    else:
        end = max(span.end_column - 1, start + 1)
    left = max(0, min(start - _EXCERPT_WIDTH // 2, len(line) - _EXCERPT_WIDTH))
    window = line[left : left + _EXCERPT_WIDTH]
    before, after = ("...", "") if left else ("", "")
    if left + _EXCERPT_WIDTH < len(line):
        after = "..."
    offset = len(before) + start - left
    width = max(1, min(end, left + len(window)) - start)
    return before + _printable(window) + after, " " * offset + "^" * width


def _printable(text: str) -> str:
    """Tabs as one blank and other invisible characters as `?`, so that columns stay where they are."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "?" for c in text)
