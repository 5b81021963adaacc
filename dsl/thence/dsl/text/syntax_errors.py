"""The explanation of a word that does not fit: what the writer probably meant.

`diagnose` looks at the word, at the words that could have stood in its place, and at the line; the first rule that
fits gives code, message and notes, and, where the intention is plain, the words that mend it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thence.dsl.text.automaton import Automaton, after
from thence.dsl.text.diagnostics import Diagnostic, did_you_mean, nearest
from thence.dsl.text.foreign import (
    CLAUSES,
    FIELDS,
    FIRST_VALUES,
    MACHINE_MEMBERS,
    MEMBERS,
    OPERATORS,
    STATEMENTS,
    TYPES,
    hint,
)
from thence.dsl.text.line_advice import (
    GUARDS,
    NAMED,
    WRITTEN_TYPES,
    advice,
    advice_on_connection,
    advice_on_number,
    advice_on_rest,
)
from thence.dsl.text.line_structure import STRUCTURE, header_of, start_of_line
from thence.dsl.text.lines import Word, span_of
from thence.dsl.text.syntax import Span
from thence.dsl.text.vocabulary import FOREIGN_WORDS, HEADERS, RESERVED, SYMBOLS
from thence.spec.value import record

_TERMINAL_TEXT = {name: text for text, name in SYMBOLS.items()} | {
    "NAME": "a name", "NUMBER": "a number", "NEWLINE": "the end of the line", "DOC": "a documentation string",
    "INDENT": "a deeper line", "DEDENT": "the end of the block", "$END": "the end of the file",
    "FULL_STOP": ".", "LIST_COMMA": ",", "EDGE_SEMICOLON": ";", "EACH_COLON": ":", "EACH": "forall",
}  # fmt: skip
_CONNECTING = (
    "OF",
    "IN",
    "IS",
    "ON",
    "THEN",
    "ELSE",
    "CLAIM",
    "INDUCTION",
    "ARRAY",
    "FAIR",
    "PROCESS",
    "SENDS",
    "ONCE",
)


@record(frozen=True, slots=True)
class Slip:
    """A fault and, where it can be mended, the words to put in the place of `where` (position, count)."""

    diagnostic: Diagnostic
    mends: tuple[Word, ...] = ()
    where: tuple[int, int] = (0, 0)


# --- the rules ---------------------------------------------------------------------------------


def diagnose(
    words: Sequence[Word], index: int, automaton: Automaton, starts: Mapping[int, list[int]], file: str
) -> Slip:
    """The fault of a word that the automaton does not take."""
    return _Case(words, index, automaton, starts, file).slip()


class _Case:
    """A word that does not fit, and what the rules look at."""

    def __init__(
        self, words: Sequence[Word], index: int, automaton: Automaton, starts: Mapping[int, list[int]], file: str
    ) -> None:
        self.words = words
        self.index = index
        self.automaton = automaton
        self.file = file
        self.word = words[index]
        self.text = str(self.word)
        self.accepted = automaton.accepted()
        self.kind = self.word.type if self.word.type == "$END" else automaton.kind_of(words, index)
        self.start = start_of_line(words, index)
        self.first = words[self.start]
        self.before = words[index - 1] if index else None
        stack = starts.get(self.start, automaton.stack)
        self.openers = frozenset(
            terminal
            for terminal in automaton.grammar.rows[stack[-1]]
            if terminal.isupper() and after(automaton.grammar, stack, terminal) is not None
        )

    def slip(self) -> Slip:
        rules = (
            self.indentation, self.body, self.replaced_header, self.body_below, self.doc, self.stray_else,
            self.header_behind, self.added, self.assignment, self.place_or_act, self.foreign, self.misspelt,
            self.misspelt_handler, self.quantifier, self.colon, self.verdict, self.misspelt_here, self.sender,
            self.receiver, self.connection, self.type_, self.name, self.expression, self.number, self.separator,
            self.leftover,
        )  # fmt: skip
        for rule in rules:
            slip = rule()
            if slip is not None:
                return slip
        if note := advice(self.line(), "" if self.kind == "NEWLINE" else self.text, self.accepted):
            return self.fault("E0131", f"{self.found()} does not fit here", note=note)
        if notes := self.foreign_operator():
            return self.fault("E0131", f"{self.found()} is no operator", notes=notes)
        if self.before is not None and str(self.before) == ";" and self.kind == "NEWLINE":
            note = "`;` stands between two short lines; none is needed at the end"
            return self.fault("E0131", "nothing follows this `;`", at=span_of(self.before), note=note)
        expected = sorted(self.accepted)[:8]
        return self.fault(
            "E0131",
            f"{self.found()} does not fit here",
            note="here can stand: " + ", ".join(self.describe(terminal) for terminal in expected) if expected else "",
        )

    def line(self) -> list[str]:
        """The words of the line before this one."""
        return [str(word) for word in self.words[self.start : self.index]]

    def fault(
        self, code: str, message: str, *, at: Span | None = None, note: str = "", notes: tuple[str, ...] = ()
    ) -> Slip:
        notes = (*notes, *((note,) if note else ()))
        return Slip(Diagnostic(code, "error", message, self.file, at or self.place(), notes))

    # --- questions of the rules --------------------------------------------------------------------

    def place(self) -> Span:
        """The place of the word; the end of a line or block is shown right behind the last word."""
        if self.kind in ("NEWLINE", "DEDENT", "$END") and self.before is not None:
            return self.behind(self.words[self.last_visible()])
        return span_of(self.word)

    def last_visible(self) -> int:
        index = self.index - 1
        while index > 0 and self.words[index].type in STRUCTURE:
            index -= 1
        return index

    def behind(self, word: Word) -> Span:
        return Span(word.end_line, word.end_column, word.end_line, word.end_column + 1)

    def found(self) -> str:
        return self.describe(self.kind) if self.kind in (*STRUCTURE, "$END", "DOC") else f"`{self.text}`"

    def describe(self, terminal: str) -> str:
        text = _TERMINAL_TEXT.get(terminal)
        if text is None:
            text = next((word for word, name in self.automaton.keywords.items() if name == terminal), terminal.lower())
            return f"`{text}`"
        return text if " " in text else f"`{text}`"

    def keywords_of(self, terminals: frozenset[str]) -> tuple[str, ...]:
        return tuple(sorted(word for word, name in self.automaton.keywords.items() if name in terminals))

    def depth(self) -> int:
        """The number of brackets of the line that are open before the word."""
        kinds = [word.type for word in self.words[self.start : self.index]]
        opened = sum(kind in ("LPAR", "LSQB", "LBRACE") for kind in kinds)
        return opened - sum(kind in ("RPAR", "RSQB", "RBRACE") for kind in kinds)

    def rest_of_line(self) -> list[str]:
        texts: list[str] = []
        for word in self.words[self.index :]:
            if word.type in (*STRUCTURE, "$END"):
                break
            texts.append(str(word))
        return texts

    def mended(self, slip: Slip, text: str, kind: str, *, replacing: bool) -> Slip:
        place = span_of(self.word)
        end = (place.end_line, place.end_column) if replacing else (place.line, place.column)
        word = Word(kind, text, place.line, place.column, *end)
        return Slip(slip.diagnostic, (word,), (self.index, int(replacing)))

    # --- indentation and blocks ----------------------------------------------------------------

    def indentation(self) -> Slip | None:
        if self.kind != "INDENT":
            return None
        note = "a block starts after a line that ends with `:`; a formula goes on with an operator at the line's start"
        return self.fault(
            "E0106",
            "this line is indented deeper than the one above",
            at=span_of(self.words[self.index + 1]),
            note=note,
        )

    def body(self) -> Slip | None:
        if "INDENT" not in self.accepted:
            return None
        header = self.words[start_of_line(self.words, self.index - 1)]
        return self.fault(
            "E0107",
            f"`{header}` has no body",
            at=span_of(header),
            note="the lines of its body are indented deeper than it; a body that does nothing is `pass`",
        )

    def body_below(self) -> Slip | None:
        """`for x in e: if P:` at the end of a line."""
        if self.kind != "NEWLINE" or str(self.before) != ":" or "LET" not in self.accepted:
            return None
        heads = [word for word in self.words[self.start : self.index] if str(word) in HEADERS]
        return self.fault(
            "E0107",
            f"`{heads[-1]}` stands on the line of another header, and its body is missing there",
            at=span_of(heads[-1]),
            note=f"a body on deeper lines is that of a line's first header: give this `{heads[-1]}` its own line",
        )

    def doc(self) -> Slip | None:
        if self.kind != "DOC":
            return None
        note = "it follows the first line of a top-level declaration or formula; elsewhere, use `#`"
        return self.fault("E0134", "no documentation string can stand here", note=note)

    def stray_else(self) -> Slip | None:
        if self.kind != "ELSE" or ("NEWLINE" not in self.accepted and self.index != self.start):
            return None
        if self.index != self.start:
            note = "below its `if`, indented like the line of the `if`"
            return self.fault("E0117", "`else` begins a line of its own", note=note)
        above = self.words[start_of_line(self.words, self.index - 1) : self.index] if self.index else ()
        note = "it stands right below the block of its `if`, indented like the `if`"
        if "if" in map(str, above) and str(above[0]) in HEADERS:
            note += f"; the line above begins with `{above[0]}`, and an `if` behind its `:` has no `else`"
        return self.fault("E0117", "this `else` belongs to no `if`", note=note)

    def header_behind(self) -> Slip | None:
        """`x := 1; if P: ...`."""
        if self.text not in HEADERS or str(self.before) != ";" or "LET" not in self.accepted:
            return None
        note = "between `;` there are statements without a body"
        message = f"`{self.text}` begins a line of its own, or stands behind a header's `:`"
        return self.fault("E0120", message, note=note)

    # --- edits of mutants -------------------------------------------------------------------------

    def edits(self, *words: str) -> bool:
        """Whether the line begins with one of these words, as an edit does."""
        return str(self.first) in words and self.automaton.keywords.get(str(self.first)) in self.openers

    def replaced_header(self) -> Slip | None:
        """`replace if P by: if Q`, where a block would have to follow."""
        if self.kind != "NEWLINE" or not self.edits("replace"):
            return None
        if [word.type for word in self.words[self.index + 1 : self.index + 2]] == ["INDENT"]:
            return None
        line = [str(word) for word in self.words[self.start : self.index]]
        at = line.index("by") if "by" in line else len(line)
        if len(line) < at + 3 or line[at + 1] != ":" or not {line[1], line[at + 2]} <= set(HEADERS):
            return None
        note = f"a header is replaced by a header, without this `:`: `replace {line[1]} ... by {line[at + 2]} ...`"
        colon = self.words[self.start + at + 1]
        return self.fault("E0131", "`:` does not fit here", at=span_of(colon), note=note)

    def added(self) -> Slip | None:
        """`after S add:`."""
        if not self.edits("before", "after") or "COLON" not in self.accepted or self.rest_of_line()[1:2] != [":"]:
            return None
        note = f"write `{self.first} STATEMENT:`; what is added stands behind the `:`, or on deeper lines"
        return self.fault("E0131", f"{self.found()} does not fit here", note=note)

    # --- operators -----------------------------------------------------------------------------

    def assignment(self) -> Slip | None:
        if self.kind == "EQUAL" and "ASSIGN" in self.accepted:
            slip = self.fault("E0111", "`=` compares; here a value is assigned", note="assignment is `:=`")
            return self.mended(slip, ":=", "ASSIGN", replacing=True)
        if self.kind == "ASSIGN" and "EQUAL" in self.accepted:
            if "AND" in self.accepted:
                slip = self.fault("E0111", "`:=` assigns; here two values are compared", note="equality is `=`")
            else:
                slip = self.fault(
                    "E0111", "`:=` changes something that is there; this gives a first value", note="write `=`"
                )
            return self.mended(slip, "=", "EQUAL", replacing=True)
        return None

    def place_or_act(self) -> Slip | None:
        """A line that begins with an expression: it assigns to no place, or does nothing."""
        if not (self.index == self.start and "LET" in self.accepted) and not {"ASSIGN", "NEWLINE"} <= self.accepted:
            return None
        rest = self.rest_of_line()
        operators = {"PLUS", "MINUS", "AND", "OR", "IS", "IN", "NOT", "LESS", "MORE", "AT_MOST", "AT_LEAST"}
        if self.kind not in operators | {"NUMBER", "LPAR", "LBRACE", "TRUE", "FALSE", "NONE", "EMPTY", "EXISTS"}:
            return None
        at = span_of(self.first)
        if ":=" in rest:
            note = "a place is a variable, or a field or entry of one: `x`, `x.f`, `x[k]`"
            return self.fault("E0122", "this is not a place that can be assigned to", at=at, note=note)
        return self.fault("E0124", "a value by itself does nothing", at=at, note=self.advice_on_values())

    def advice_on_values(self) -> str:
        """What to write instead of a formula or value that stands alone; empty where nothing is likely."""
        header = str(self.words[header_of(self.words, self.start)])
        if "initial" in (str(self.first), header):
            return "`initial` gives first values: `forall x: r(x) := P` (false and 0 where it says nothing)"
        if header == "transition" and str(self.first) in GUARDS:
            return "when a transition can happen is said by `require P`"
        return ""

    def quantifier(self) -> Slip | None:
        if self.kind == "FORALL" and "LET" in self.accepted:
            if ":=" in self.rest_of_line():
                message = "the variables of an update for every value end with `:`"
                return self.fault("E0125", message, note="write `forall x: r(x) := e`")
            loop = "a loop is `for x in e: ...`" if "SEND" in self.openers else "in a machine, a guard is `require ...`"
            return self.fault("E0124", "a formula by itself does nothing", note=self.advice_on_values() or loop)
        if "EACH_COLON" in self.accepted and "FULL_STOP" not in self.accepted:
            return self.fault("E0125", "the variables of an update for every value end with `:`")
        if "FULL_STOP" in self.accepted:
            message = f"`.` is missing between the variables and the formula, before {self.found()}"
            note = "write `forall x, y: T. P`, `exists x in S. P`, `count p: process. P`"
            if str(self.before) == "flight":
                note = "write `forall KIND(...) from p to q in flight. P`"
            if self.index > 1 and str(self.words[self.index - 2]) == ":" and self.kind == "LPAR":
                note = f"`{self.before}` is read as their type here; a formula begins after `.`: `forall x, y. P`"
            return self.fault("E0125", message, note=note)
        return None

    # --- words ---------------------------------------------------------------------------------

    def foreign(self) -> Slip | None:
        text = str(self.first)
        notes = self.foreign_notes(text)
        if self.index - self.start > 2 or not notes or self.first.type == "DOC":
            return None
        if self.automaton.keywords.get(text) in self.openers:
            return None
        return self.fault("E0129", f"`{text}` is not in the language", at=span_of(self.first), notes=notes)

    def foreign_notes(self, text: str) -> tuple[str, ...]:
        """How this language writes what the word begins in others. Some words are foreign in handlers only."""
        if text in FOREIGN_WORDS:
            members = MACHINE_MEMBERS if "TRANSITION" in self.openers else MEMBERS
            inside = {"TRANSITION", "PROCEDURE"} & self.openers
            return (inside and hint(members, text)) or (FOREIGN_WORDS[text],)
        known = text in self.automaton.keywords or "SEND" not in self.openers
        return () if known else hint(STATEMENTS, text)

    def foreign_operator(self) -> tuple[str, ...]:
        """How this language writes a word of another one that stands between two values."""
        return hint(OPERATORS, self.text) if "AND" in self.accepted else ()

    def foreign_meaning(self, text: str) -> tuple[str, ...]:
        """What a word means that begins a line and has no meaning there."""
        if "INTERNAL" in self.openers:
            return hint(CLAUSES, text)
        if "SEND" in self.openers:
            return hint(STATEMENTS, text)
        if "TRANSITION" in self.openers:
            return hint(MACHINE_MEMBERS, text) or hint(MEMBERS, text)
        return hint(MEMBERS, text) if "PROCEDURE" in self.openers else ()

    def misspelt_handler(self) -> Slip | None:
        """`on recieve MSG(m) from j`: no input, since a packet follows."""
        if str(self.first) != "on" or self.index - self.start != 2 or self.kind != "NAME":
            return None
        before = self.words[self.start + 1]
        near = nearest(str(before), ("receive",)) if before.type == "NAME" else None
        if near is None:
            return None
        place = span_of(before)
        slip = self.fault("E0114", f"`{before}` is not a keyword", at=place, note=f"did you mean `{near}`?")
        word = Word("WORD", near, place.line, place.column, place.end_line, place.end_column)
        return Slip(slip.diagnostic, (self.first, word), (self.start, 2))

    def misspelt_here(self) -> Slip | None:
        """A word in the middle of a line that is near a keyword that can stand there."""
        if self.index == self.start or self.kind != "NAME" or len(self.text) < 3:
            return None
        near = nearest(self.text, self.keywords_of(self.accepted - {"TRUE", "FALSE"}))
        if near is None:
            return None
        slip = self.fault("E0114", f"`{self.text}` is not a keyword", note=f"did you mean `{near}`?")
        return self.mended(slip, near, "WORD", replacing=True)

    def misspelt(self) -> Slip | None:
        """The line begins with a word that is near a keyword, or with none that can stand here."""
        text = str(self.first)
        if self.first.type in (*STRUCTURE, "DOC", "NUMBER", "$END") or text in SYMBOLS:
            return None
        choices = self.keywords_of(self.openers - {"ELSE", "TRUE", "FALSE", "NONE", "EMPTY"})
        offset = self.index - self.start
        if not choices or offset > 2 or text in choices or (offset == 0 and "NAME" in self.accepted):
            return None
        if choices == ("pass",) and text in ("var", "let", "const", "variable"):
            note = "under `state:`, a variable is its name and its type: `x: bool`"
            return self.fault("E0114", f"`{text}` cannot stand here", at=span_of(self.first), note=note)
        near = nearest(text, choices)
        here = "here can stand: " + ", ".join(f"`{word}`" for word in choices)
        if text in self.automaton.keywords:
            notes = (*(self.foreign_meaning(text) or did_you_mean(text, choices)), here)
            return self.fault("E0114", f"`{text}` cannot stand here", at=span_of(self.first), notes=notes)
        if near is None:
            notes = (*self.foreign_meaning(text), here)
            return self.fault("E0114", f"`{text}` begins no line here", notes=notes) if offset == 0 else None
        notes = (f"did you mean `{near}`?", *((here,) if offset == 0 else ()))
        slip = self.fault("E0114", f"`{text}` is not a keyword", at=span_of(self.first), notes=notes)
        place = span_of(self.first)
        word = Word("WORD", near, place.line, place.column, place.end_line, place.end_column)
        return Slip(slip.diagnostic, (word,), (self.start, 1))

    def verdict(self) -> Slip | None:
        if "HOLDS" not in self.accepted:
            return None
        verdicts = ("proved", "holds", "refuted", "unknown")
        notes = did_you_mean(self.text, verdicts)
        behind = self.rest_of_line()[1:2]
        if behind and behind[0] in verdicts:
            notes = (f"the verdict stands first: `expect {behind[0]} {self.text}`",)
        return self.fault(
            "E0132",
            f"{self.found()} is not a verdict",
            notes=notes,
            note="write `proved`, `holds`, `refuted` or `unknown`",
        )

    def sender(self) -> Slip | None:
        if "FROM" not in self.accepted:
            return None
        return self.fault("E0115", "`from` is missing: who sent the packet?", note="write `receive KIND(...) from j`")

    def receiver(self) -> Slip | None:
        if "TO" not in self.accepted or "NEWLINE" in self.accepted:
            return None
        if str(self.first) == "send" or "send" in map(str, self.words[self.start : self.index]):
            return self.fault("E0116", "`to` is missing: who gets the packet?", note="write `send KIND(...) to p`")
        note = "write `map K to V`" if "map" in map(str, self.words[self.start : self.index]) else ""
        if str(self.first) == "function" and self.kind == "NEWLINE":
            name = self.words[self.start + 1]
            note = f"a single value is `function {name}(): {self.before}`, with parentheses"
        return self.fault("E0116", f"`to` is missing before {self.found()}", note=note)

    def connection(self) -> Slip | None:
        in_formula = "AND" in self.accepted  # there, `in` and `is` are operators
        candidates = ("THEN", "ELSE") if in_formula else _CONNECTING
        wanted = [terminal for terminal in candidates if terminal in self.accepted]
        if not wanted or "LET" in self.accepted:
            return None
        if "NEWLINE" in self.accepted or ("NAME" in self.accepted and "NUMBER" not in self.accepted):
            return None
        note = advice_on_connection(self.line(), self.text)
        if str(self.words[header_of(self.words, self.start)]) == "def":
            note = (
                "`def` gives a value a name, `def one_more(n: nat): n + 1`; statements stand in a `procedure name():`"
            )
        return self.fault("E0135", f"{self.describe(wanted[0])} is missing before {self.found()}", note=note)

    # --- words that should have stood here -----------------------------------------------------------

    def colon(self) -> Slip | None:
        if "COLON" not in self.accepted or self.before is None:
            return None
        if self.depth() > 0:
            if "EQUAL" in self.accepted or self.kind not in ("NAME", "SET", "QUEUE", "MAP", "OPTION", "SLIDING"):
                return None
            message = f"`:` is missing between `{self.before}` and its type"
        elif self.kind in ("EQUAL", "ASSIGN") and str(self.first) == "def":
            slip = self.fault("E0103", f"a definition has `:` before its expression, not {self.found()}")
            return self.mended(slip, ":", "COLON", replacing=True)
        elif self.kind == "EQUAL" and self.takes_type_after_colon():
            given = [*self.rest_of_line(), ""][1]
            type_ = "process" if str(self.first) == "role" else "bool" if given in ("true", "false") else "nat"
            said = " ".join(map(str, self.words[self.start : self.index]))
            note = f"write `{said}: {type_ if given.isalnum() else 'T'} = ...`"
            slip = self.fault("E0103", f"`{self.before}` has no type", at=self.behind(self.before), note=note)
            place = span_of(self.before)
            ends = (place.end_line, place.end_column, place.end_line, place.end_column)
            return Slip(slip.diagnostic, (Word("COLON", ":", *ends), Word("WORD", type_, *ends)), (self.index, 0))
        elif ":" in self.rest_of_line():
            return None
        elif self.takes_type_after_colon():
            message = f"`:` is missing between `{self.before}` and its type"
        else:
            message = f"`:` is missing at the end of this `{self.first}` line"
        then, brace = self.kind == "THEN", self.kind == "LBRACE"
        note = "`then` is of values: `if P then a else b`" if then else ""
        note = "there are no braces: the lines of a block are indented deeper" if brace else note
        if self.kind == "NAME" and (str(self.before) in WRITTEN_TYPES or hint(TYPES, str(self.before))):
            note = f"the name comes first: `{self.text}: {self.before}`"
        slip = self.fault("E0103", message, at=self.behind(self.before), note=note)
        return self.mended(slip, ":", "COLON", replacing=then)

    def takes_type_after_colon(self) -> bool:
        grammar, stack = self.automaton.grammar, after(self.automaton.grammar, self.automaton.stack, "COLON")
        return stack is not None and after(grammar, stack, "SLIDING") is not None

    def type_(self) -> Slip | None:
        if "SLIDING" not in self.accepted:
            return None
        note = (
            "a type is `process`, `message`, `bool`, `nat`, a record, `option of T`, `set of T`, `queue of T`, "
            "`map K to V`, `sliding array of T` or `sliding map of T`"
        )
        return self.fault("E0126", f"a type is expected, not {self.found()}", note=note)

    def name(self) -> Slip | None:
        if "NAME" not in self.accepted or "NUMBER" in self.accepted or "LET" in self.accepted:
            return None
        if self.text in RESERVED and self.kind not in STRUCTURE:
            notes = hint(FIELDS, self.text) if str(self.before) == "." else ()
            message = f"`{self.text}` is a keyword and cannot be a name"
            if str(self.before) in NAMED and self.text in ("forall", "exists", "not", "count", "true", "false"):
                notes = (f"a formula has a name: `{self.before} NAME: {self.text} ...`",)
            return self.fault("E0118", message, notes=notes or ("choose another name",))
        note = ""
        if str(self.before) == "send":
            note = "write `send KIND(...) to p`"
        elif str(self.before) in ("count", "sum", "forall", "exists"):
            note = f"write `{self.before} x in S. P`"
        elif str(self.before) == "network" and self.kind == "COLON":
            note = "write `network reliable, reordering`, without `:`"
        elif str(self.before) == "receive" and str(self.first) == "on":
            note = "write `on receive KIND(...) from p:`"
        elif str(self.before) == "deliver" and self.text == "(":
            note = "write `deliver m is TRANSITION(...)`"
        elif str(self.before) == "@" and self.kind == "NUMBER":
            note = f"a process that all know is a role: `role first: process = {self.text}`, and `x@first`"
        elif str(self.before) == "." and self.kind == "NUMBER":
            note = "numbers are whole"
        return self.fault("E0118", f"a name is expected, not {self.found()}", note=note)

    def expression(self) -> Slip | None:
        if not {"NUMBER", "TRUE"} <= self.accepted:
            return None
        if self.kind == "MINUS":
            return self.fault(
                "E0119", "there are no negative numbers", note="numbers are natural; write a difference: `a - b`"
            )
        behind = "" if self.before is None or self.before.type in STRUCTURE else f" after `{self.before}`"
        note = ""
        if self.kind == "LSQB" or f"{self.before}{self.text}" in ("{}", "()"):
            note = "an empty collection is `empty`; a set with elements is `{a, b}`"
        elif str(self.before) == ";" and self.kind == "NEWLINE":
            note = "`;` stands between two statements of a line, not at its end"
        elif self.index == self.start and self.rest_of_line()[1:2] == [":="]:
            note = f"`{self.text}` is a keyword and cannot be a name"
        elif str(self.before) == "require" and self.kind == "COLON":
            note = "write `require P`, without `:`"
        return self.fault("E0119", f"an expression is missing{behind}, before {self.found()}", note=note)

    def number(self) -> Slip | None:
        if "NUMBER" not in self.accepted:
            return None
        note = advice_on_number(self.line(), self.text)
        if not note and self.index == self.start + 1 and str(self.first) not in self.automaton.keywords:
            note = (
                f"`{self.first}` stands for an input of the protocol, and a number says how often it happens; how "
                "packets travel is said by the protocol's `network`, and by `losses N`, `duplicates N` and `fifo`"
            )
        return self.fault("E0136", f"a number is expected, not {self.found()}", note=note)

    def separator(self) -> Slip | None:
        """Two things side by side within brackets."""
        if self.depth() == 0 or not {"COMMA", "RPAR", "RSQB", "RBRACE"} & self.accepted:
            return None
        note = "write `exists x in S. P` or `forall x in S. P`" if self.text == "for" else ""
        note = next(iter(self.foreign_operator()), note)
        message = f"a comma, an operator or a bracket is missing before {self.found()}"
        return self.fault("E0131", message, at=self.place(), note=note)

    def inner_statement(self) -> str | None:
        """The keyword that the word before is near, where that word begins a statement inside the line."""
        if self.index - 2 < self.start or str(self.words[self.index - 2]) not in (":", ";"):
            return None
        return nearest(str(self.before), self.keywords_of(self.openers))

    def leftover(self) -> Slip | None:
        if "NEWLINE" not in self.accepted or self.kind in ("DEDENT", "$END"):
            return None
        note = ""
        if str(self.first) == "return":
            note = "`return` leaves the procedure or handler; it gives no value"
        elif str(self.first) in ("relation", "function") and self.kind in ("EQUAL", "ASSIGN"):
            note = FIRST_VALUES
        elif str(self.first) == "record" and self.kind == "COMMA":
            note = "fields are separated by `;`, or stand on lines of their own"
        elif str(self.first) in ("prove", "property") and self.kind == "COLON":
            note = "this line takes names only, such as `causal`; a formula is `invariant NAME: P`"
        elif found := advice_on_rest(self.line(), self.text, len(self.rest_of_line()) == 1):
            note = found
        elif self.foreign_operator():
            note = self.foreign_operator()[0]
        elif self.text in ("of", "[", "{") and hint(TYPES, str(self.before)):
            note = hint(TYPES, str(self.before))[0]
        elif self.foreign_notes(str(self.first)):
            note = self.foreign_notes(str(self.first))[0]
        elif self.text == "if" and ":=" in map(str, self.words[self.start : self.index]):
            note = "a choice between two values is `if P then a else b`"
        elif self.text in ("for", "forall") and ":=" in map(str, self.words[self.start : self.index]):
            relation = str(self.words[self.start + 1]) == "("
            several = "forall k: f(k) := e" if relation else "for k in process: M[k] := e"
            note = f"what changes several values is written `{several}`"
        elif (near := self.inner_statement()) is not None:
            note = f"did you mean `{near}`?"
        elif self.kind == "COLON" and self.index == self.start + 1 and "SEND" in self.openers:
            note = "this line opens no block; a local name is `let x = e`"
        elif self.kind == "COLON":
            note = "this line opens no block"
        elif self.before is not None and self.text in self.keywords_of(self.openers):
            note = "several statements on a line are separated by `;`"
        elif "AND" in self.accepted:
            note = "is an operator missing before it?"
        return self.fault("E0120", f"the line should end before {self.found()}", note=note)
