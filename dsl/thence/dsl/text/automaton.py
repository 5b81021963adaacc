"""The grammar's automaton without its values: the words that may follow, and the kind of a word in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from thence.dsl.text.lines import Word
from thence.dsl.text.vocabulary import RESERVED, SYMBOLS

Table: TypeAlias = Mapping[int, Mapping[str, tuple[Any, Any]]]
"""For each state and symbol: shift to a state (an int), or reduce by a rule."""

_STRUCTURE = frozenset(("NEWLINE", "INDENT", "DEDENT", "DOC", "NUMBER"))


class Automaton:
    """A run of the grammar's automaton over words; `stack` holds its states."""

    def __init__(self, table: Table, keywords: Mapping[str, str], start: int) -> None:
        self.table = table
        self.keywords = keywords
        self.stack = [start]

    def accepts(self, terminal: str) -> bool:
        """Whether a word of this kind can stand here."""
        return after(self.table, self.stack, terminal) is not None

    def accepted(self) -> frozenset[str]:
        """All the kinds of words that can stand here."""
        row = self.table[self.stack[-1]]
        return frozenset(terminal for terminal in row if terminal.isupper() and self.accepts(terminal))

    def advance(self, terminal: str) -> bool:
        """Take one word; False (and no change) when it cannot stand here."""
        stack = after(self.table, self.stack, terminal)
        if stack is not None:
            self.stack = stack
        return stack is not None

    def kind_of(self, words: Sequence[Word], index: int) -> str:
        """The terminal that a word is in this place."""
        return kind_in_place(self.table, self.stack, self.keywords, words, index)


def after(table: Table, stack: list[int], terminal: str) -> list[int] | None:
    """The stack after a terminal, or None when it cannot come next."""
    stack = list(stack)
    while True:
        entry = table[stack[-1]].get(terminal)
        if entry is None:
            return None
        target = entry[1]
        if isinstance(target, int):
            stack.append(target)
            return stack
        if len(target.expansion):
            del stack[-len(target.expansion) :]
        goto = table[stack[-1]].get(target.origin.name)
        if goto is None:
            return None
        stack.append(goto[1])
        if terminal == "$END" and len(stack) == 2:  # the whole declaration is reduced to one symbol
            return stack


def kind_in_place(
    table: Table, stack: list[int], keywords: Mapping[str, str], words: Sequence[Word], index: int
) -> str:
    """The terminal that `words[index]` is in the state on top of the stack.

    A word with a meaning here is a keyword, any other a name; reserved words are never names. The
    symbols that have two kinds (see `grammar.lark`) are told apart by their place and by the words that follow.
    """
    word = words[index]
    kind = word.type
    if kind in _STRUCTURE:
        return kind
    text = str(word)
    row = table[stack[-1]]
    symbol = SYMBOLS.get(text)
    if symbol is None:
        if text == "forall" and "EACH" in row and update_colon(words, index) is not None:
            return "EACH"
        keyword = keywords.get(text)
        if keyword is None or (keyword not in row and text not in RESERVED):
            return "NAME"
        # A row says what can stand here after other reductions; where both could, look closer.
        both = "NAME" in row and text not in RESERVED
        if both and text == "when" and not _next_is_name(words, index):  # a formula begins with a variable of this name
            return "NAME"
        return "NAME" if both and after(table, stack, keyword) is None else keyword
    if symbol == "COLON":
        return "EACH_COLON" if kind == "EACH_COLON" else symbol
    if symbol == "DOT" and "FULL_STOP" in row and after(table, stack, "FULL_STOP") is not None:
        if not _touches_next(words, index) or after(table, stack, "DOT") is None:
            return "FULL_STOP"
    elif symbol == "COMMA" and "LIST_COMMA" in row and _next_is_number(words, index):
        return "LIST_COMMA"
    elif symbol == "SEMICOLON" and "EDGE_SEMICOLON" in row and _next_is_number(words, index):
        return "EDGE_SEMICOLON"
    elif symbol == "SEMICOLON" and "STEP_SEMICOLON" in row and _next_is_step(words, index):
        return "STEP_SEMICOLON"
    return symbol


def update_colon(words: Sequence[Word], index: int) -> int | None:
    """Of `forall x: r(x) := e` at `index`: where the colon after the variables is; None if it is no such update."""
    depth, colon = 0, None
    for position in range(index + 1, len(words)):
        match words[position]:
            case Word(type="NEWLINE" | "SEMICOLON"):
                return None
            case Word(type="LPAR" | "LSQB" | "LBRACE"):
                depth += 1
            case Word(type="RPAR" | "RSQB" | "RBRACE"):
                depth -= 1
            case Word(type="COLON" | "EACH_COLON") if depth == 0:
                colon = position
            case Word(type="ASSIGN") if depth == 0:
                return colon
    return None


def _touches_next(words: Sequence[Word], index: int) -> bool:
    word = words[index]
    if index + 1 >= len(words):
        return False
    following = words[index + 1]
    return (following.line, following.column) == (word.end_line, word.end_column)


def _next_is_number(words: Sequence[Word], index: int) -> bool:
    return index + 1 < len(words) and words[index + 1].type == "NUMBER"


def _next_is_name(words: Sequence[Word], index: int) -> bool:
    if index + 1 >= len(words):
        return False
    following = str(words[index + 1])
    return following.isidentifier() and following not in RESERVED


def _next_is_step(words: Sequence[Word], index: int) -> bool:
    """Whether a step of a program follows: no setting of a scope begins with these words."""
    return index + 1 < len(words) and str(words[index + 1]) in ("send", "receive")
