"""From text to words and lines: indentation, continuation lines, comments, the papers' symbols.

`read_lines` never fails. A slip that it understands (a tab, `==`, `&&`, an unclosed bracket) is
reported and mended, so that the rest is still read.

Indentation follows these rules. A block is the lines that are indented deeper than the line that opens it. Inside
brackets line ends mean nothing. A line that begins with a binary operator (but not `or:`; or with `then`, or the
`else` of an `if ... then`) continues the line before; a deeper line after a line that ends with an operator, a
comma or the `.` of a quantifier continues it too.
"""

from __future__ import annotations

import re
import unicodedata

from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.foreign import CHARACTERS
from thence.dsl.text.syntax import Comment, Span
from thence.dsl.text.vocabulary import (
    CLOSERS,
    CONTINUING,
    FOREIGN_SYMBOLS,
    LINE_OPENERS,
    PAPER_SYMBOLS,
    SYMBOLS,
    TOP_LEVEL,
    UNFINISHED,
)
from thence.spec.value import record

MAX_DEPTH = 100
MAX_DIGITS = 18
MAX_REPORTS = 1_000
_NO_BRACES = "braces are of sets, `{a, b}`; a block is what is indented deeper, below a `:`"

_WORDS = re.compile(
    r"""(?P<blank>[ ]+)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<foreign>==|&&|\|\||=>|<->|<=>|->|<>|<-(?=[ ]?[A-Za-z_0-9])|\+=|-=|\*=|/=|=/=|~=|\|=|/\\|\\/
        |\\(?:in|E|A)(?![A-Za-z0-9_])|//|\*\*|\+\+|--|=:|::=|!(?!=))
      | (?P<symbol>:=|\.\.\.|!=|<=|>=|[=<>+\-*:,;.@()\[\]{}])
      | (?P<number>[0-9][0-9A-Za-z_]*)
      | (?P<comment>\#[^\n]*)
      | (?P<end>\r?\n)
      | (?P<doc>\"\"\")
      | (?P<paper>[←∧∨¬⇒⇔∀∃∈∉≤≥≠⊥∅])
      | (?P<tab>\t+)
      | (?P<quote>\"[^"\n]*\"?|'[^'\n]*')
      | (?P<other>.)""",
    re.VERBOSE,
)

# A top-level declaration within a documentation string shows that it was left open.
_DECLARATION = re.compile(rf"^(?:{'|'.join(TOP_LEVEL)}) [A-Za-z_].*:[ ]*$", re.MULTILINE)


class Word(str):
    """A word of a text: its kind, and where it stands. Words are equal as texts are."""

    __slots__ = ("column", "end_column", "end_line", "line", "type")

    type: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __new__(cls, type: str, text: str, line: int, column: int, end_line: int, end_column: int) -> Word:
        word = str.__new__(cls, text)
        word.type = type
        word.line, word.column, word.end_line, word.end_column = line, column, end_line, end_column
        return word


@record(frozen=True, slots=True)
class Lines:
    """A text as words (with NEWLINE, INDENT and DEDENT), its comments, and what was wrong with it."""

    words: tuple[Word, ...]
    comments: tuple[Comment, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_lines(text: str, file: str) -> Lines:
    """Split a text into words and lines; every fault that is found becomes a diagnostic."""
    reader = _Reader(text, file)
    reader.read()
    return Lines(tuple(reader.words), tuple(reader.comments), tuple(reader.diagnostics))


def span_of(word: Word) -> Span:
    """The place of a word."""
    return Span(word.line, word.column, word.end_line, word.end_column)


def clean_doc(raw: str) -> str:
    """A documentation string without the indentation that its place in the text gives it."""
    lines = [line.rstrip() for line in raw.replace("\r\n", "\n").split("\n")]
    margins = [len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([lines[0].strip(" "), *(line[margin:] for line in lines[1:])]).strip("\n").rstrip()


class _Reader:
    """The state of one reading. `words` ends with the logical line under way."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text.removeprefix("\ufeff")
        self.file = file
        self.words: list[Word] = []
        self.comments: list[Comment] = []
        self.diagnostics: list[Diagnostic] = []
        self.indents = [1]
        self.brackets: list[Word] = []
        self.line = 1
        self.line_start = 0
        self.physical_start = 0  # index in `words` of the first word of this physical line
        self.logical_start = 0  # index in `words` of the first word of this logical line
        self.awaiting_else = 0
        self.tab_seen = False
        self.too_deep = False
        self.doc_left_open = self.text.count('"""') % 2 == 1

    def read(self) -> None:
        position, size, match_at = 0, len(self.text), _WORDS.match
        while position < size:
            match = match_at(self.text, position)
            assert match is not None
            kind, value, column = match.lastgroup, match.group(), position - self.line_start + 1
            following = match.end()
            match kind:
                case "blank":
                    pass
                case "name":
                    self.add("WORD", value, column)
                case "symbol":
                    self.add_symbol(value, column)
                case "end":
                    self.line += 1
                    self.line_start = following
                    self.physical_start = len(self.words)
                case "comment":
                    self.comment(value.rstrip("\r"), column)
                case "number":
                    self.number(value, column)
                case "doc":
                    following = self.doc(position, column)
                case "paper":
                    for word in PAPER_SYMBOLS[value].split():
                        self.add(SYMBOLS.get(word, "WORD"), word, column, width=1)
                case "foreign":
                    code, words, message, note = FOREIGN_SYMBOLS[value]
                    self.fault(code, message, self.here(column, len(value)), note)
                    if value in ("//", "--") and len(self.words) == self.physical_start:
                        following = position + len(self.text[position:].split("\n", 1)[0])
                    else:
                        for word in words.split():
                            kind = "NUMBER" if word.isdigit() else SYMBOLS.get(word, "WORD")
                            self.add(kind, word, column, width=len(value))
                case "tab":
                    self.tab(value, column)
                case "quote":
                    self.quote(value, column)
                case _:
                    self.unknown(value, column)
            position = following
        self.finish()

    # --- words ---------------------------------------------------------------------------------

    def add(self, kind: str, value: str, column: int, width: int | None = None) -> None:
        """Append a word; the first of a physical line first decides how its line joins what is before."""
        if len(self.words) == self.physical_start:
            self.begin_line(value, column)
        end = column + (len(value) if width is None else width)
        self.words.append(Word(kind, value, self.line, column, self.line, end))
        if value == "then":
            self.awaiting_else += 1
        elif value == "else":
            self.awaiting_else = max(self.awaiting_else - 1, 0)

    def add_symbol(self, value: str, column: int) -> None:
        if value in "([{":
            self.add(SYMBOLS[value], value, column)
            self.brackets.append(self.words[-1])
            self.check_depth()
            return
        if value in CLOSERS:
            opener = self.brackets.pop() if self.brackets else None
            if opener is None:
                self.fault("E0109", f"`{value}` closes nothing", self.here(column, 1))
                return
            if str(opener) != CLOSERS[value]:
                closing = next(closer for closer, opening in CLOSERS.items() if opening == str(opener))
                self.fault(
                    "E0109",
                    f"`{value}` closes `{opener}`",
                    self.here(column, 1),
                    f"`{opener}` on line {opener.line} is closed by `{closing}`",
                )
                value = closing
        self.add(SYMBOLS[value], value, column)

    def number(self, value: str, column: int) -> None:
        if not value.isdigit():
            self.fault(
                "E0128",
                f"`{value}` is neither a number nor a name",
                self.here(column, len(value)),
                "a name begins with a letter or `_`",
            )
            self.add("WORD", value, column)
        elif len(value) > MAX_DIGITS:
            self.fault(
                "E0128",
                f"a number of {len(value)} digits",
                self.here(column, len(value)),
                f"at most {MAX_DIGITS} digits",
            )
            self.add("NUMBER", "0", column, width=len(value))
        else:
            self.add("NUMBER", value, column)

    def comment(self, value: str, column: int) -> None:
        trailing = len(self.words) > self.physical_start
        self.comments.append(Comment(self.line, column, value[1:].strip(), trailing))

    def doc(self, position: int, column: int) -> int:
        """A documentation string; returns the position behind it."""
        end = self.text.find('"""', position + 3)
        if end < 0 or (self.doc_left_open and _DECLARATION.search(self.text, position, end)):
            note = 'a documentation string ends with `"""`'
            self.fault("E0110", "this documentation string is not closed", self.here(column, 3), note)
            end = self.text.find("\n", position)
            self.add("DOC", "", column, width=3)
            return end if end >= 0 else len(self.text)
        if len(self.words) == self.physical_start:
            self.begin_line('"""', column)
        raw = self.text[position + 3 : end]
        line, ends = self.line, raw.count("\n")
        if ends:
            self.line += ends
            self.line_start = position + 3 + raw.rindex("\n") + 1
        end_column = end + 3 - self.line_start + 1
        self.words.append(Word("DOC", clean_doc(raw), line, column, self.line, end_column))
        return end + 3

    def quote(self, value: str, column: int) -> None:
        """Text in quotes: reported; the line goes on without it."""
        self.fault(
            "E0127",
            "the language has no text values",
            self.here(column, len(value)),
            'documentation stands in triple quotes, `"""..."""`; remarks follow `#`',
        )

    def tab(self, value: str, column: int) -> None:
        if not self.tab_seen:
            self.fault("E0104", "a tab", self.here(column, len(value)), "indent with spaces, two for each level")
        self.tab_seen = True

    def unknown(self, value: str, column: int) -> None:
        title = unicodedata.name(value, "no name").lower()
        shown = f"`{value}`" if value.isprintable() and not value.isspace() else "an invisible character"
        note = "names are made of ASCII letters, digits and `_`" if value.isalpha() else None
        note = CHARACTERS.get(value, note)
        self.fault("E0102", f"{shown} (U+{ord(value):04X}, {title}) is not used here", self.here(column, 1), note)

    # --- lines ---------------------------------------------------------------------------------

    def begin_line(self, first: str, column: int) -> None:
        """A new physical line has a first word: does it continue the logical line, and if not, how deep is it?"""
        if self.brackets and self.left_open(first, column):
            opener = self.brackets[0]
            self.fault(
                "E0108", f"this `{opener}` is never closed", span_of(opener), _NO_BRACES if opener == "{" else None
            )
            self.brackets.clear()
        if self.words and (self.brackets or self.continues(first, column)):
            return
        self.end_logical_line()
        indent = self.indent_of(column)
        if indent > self.indents[-1]:
            self.indents.append(indent)
            self.words.append(Word("INDENT", "", self.line, column, self.line, column))
            self.check_depth()
        while indent < self.indents[-1]:
            inner = self.indents.pop()
            self.words.append(Word("DEDENT", "", self.line, column, self.line, column))
            if indent > self.indents[-1]:
                self.fault(
                    "E0105",
                    "this indentation fits no block above",
                    Span(self.line, 1, self.line, max(column, 2)),
                    f"it is {indent - 1} spaces; the blocks that are open here are at {self.indents[-1] - 1} "
                    f"and {inner - 1} spaces",
                )
                indent = self.indents[-1]
        self.logical_start = len(self.words)
        self.awaiting_else = 0

    def indent_of(self, column: int) -> int:
        """The column of a line's first word; after tabs, as if they stood at every eighth."""
        before = self.text[self.line_start : self.line_start + column - 1]
        return len(before.expandtabs(8)) + 1 if "\t" in before else column

    def left_open(self, first: str, column: int) -> bool:
        start = self.words[self.logical_start].column if self.logical_start < len(self.words) else 1
        return first in LINE_OPENERS and column <= start

    def continues(self, first: str, column: int) -> bool:
        if len(self.words) <= self.logical_start:
            return False
        last = self.words[-1]
        if last.type == "NEWLINE":
            return False
        if first == "or" and self.text.startswith(":", self.line_start + column + 1):
            return False  # the next branch of `either`
        if first in CONTINUING or (first == "else" and self.awaiting_else > 0):
            return True
        following = {"not": " in ", "leads": " to "}.get(first)  # the operators of two words
        if following is not None and self.text.startswith(following, self.line_start + column + len(first) - 1):
            return True
        unfinished = str(last) in UNFINISHED or [*map(str, self.words[-2:])] == ["leads", "to"]
        return unfinished and column > self.words[self.logical_start].column and last.type != "DOC"

    def end_logical_line(self) -> None:
        if self.words and self.words[-1].type not in ("NEWLINE", "DEDENT"):
            last = self.words[-1]
            self.words.append(Word("NEWLINE", "", last.end_line, last.end_column, last.end_line, last.end_column))

    def finish(self) -> None:
        if self.brackets:
            opener = self.brackets[0]
            self.fault(
                "E0108", f"this `{opener}` is never closed", span_of(opener), _NO_BRACES if opener == "{" else None
            )
        self.end_logical_line()
        line, column = (self.words[-1].end_line, self.words[-1].end_column) if self.words else (1, 1)
        for _ in self.indents[1:]:
            self.words.append(Word("DEDENT", "", line, column, line, column))

    # --- faults --------------------------------------------------------------------------------

    def here(self, column: int, width: int) -> Span:
        return Span(self.line, column, self.line, column + width)

    def check_depth(self) -> None:
        if len(self.brackets) + len(self.indents) > MAX_DEPTH and not self.too_deep:
            self.too_deep = True
            self.fault(
                "E0152", "this is nested too deeply", span_of(self.words[-1]), f"at most {MAX_DEPTH} levels are read"
            )

    def fault(self, code: str, message: str, span: Span, note: str | None = None) -> None:
        if len(self.diagnostics) >= MAX_REPORTS:
            return
        notes = (note,) if note is not None else ()
        self.diagnostics.append(Diagnostic(code, "error", message, self.file, span, notes))
