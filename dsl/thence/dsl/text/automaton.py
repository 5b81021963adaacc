"""The grammar's automaton: the words that may follow, the kind of a word in its place, and trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from thence.dsl.text.lines import Word
from thence.dsl.text.vocabulary import RESERVED, SYMBOLS
from thence.spec.value import record

Make: TypeAlias = Callable[[list[Any]], Any]
"""Makes the value of a rule of the values of its parts. The list is its own."""

_STRUCTURE = frozenset(("NEWLINE", "INDENT", "DEDENT", "DOC", "NUMBER"))


@record(frozen=True, slots=True)
class Rule:
    """A rule of the grammar: a symbol, and how many parts it has.

    `method` is the builder's, which makes its value; without one, its value is the list of its parts. `lists` are the
    parts that are such lists: their own parts take their place. Where `alone`, a single part stands for the whole.
    """

    symbol: str
    size: int
    method: str
    alone: bool
    lists: tuple[int, ...]

    def maker(self, builder: object) -> Make:
        """What makes its value."""
        lists, alone = self.lists, self.alone
        method: Make = getattr(builder, self.method) if self.method else list
        if not lists and not alone:
            return method

        def make(parts: list[Any]) -> Any:
            if lists:
                flat: list[Any] = []
                for index, part in enumerate(parts):
                    if index not in lists:
                        flat.append(part)
                    elif flat:
                        flat += part
                    else:
                        flat = part
                parts = flat
            return parts[0] if alone and len(parts) == 1 else method(parts)

        return make


@record(frozen=True, slots=True)
class Grammar:
    """The automaton of the grammar, and the words that it gives a meaning, each with its terminal.

    `rows` says for each state and symbol what comes next: the number of a state, or `~n` where rule n is complete.
    """

    rows: tuple[Mapping[str, int], ...]
    rules: tuple[Rule, ...]
    keywords: Mapping[str, str]
    start: int
    end: int


class Automaton:
    """A run of the grammar's automaton over words; `stack` holds its states."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.keywords = grammar.keywords
        self.stack = [grammar.start]

    def accepts(self, terminal: str) -> bool:
        """Whether a word of this kind can stand here."""
        return after(self.grammar, self.stack, terminal) is not None

    def accepted(self) -> frozenset[str]:
        """All the kinds of words that can stand here."""
        row = self.grammar.rows[self.stack[-1]]
        return frozenset(terminal for terminal in row if terminal.isupper() and self.accepts(terminal))

    def advance(self, terminal: str) -> bool:
        """Take one word; False (and no change) when it cannot stand here."""
        stack = after(self.grammar, self.stack, terminal)
        if stack is not None:
            self.stack = stack
        return stack is not None

    def kind_of(self, words: Sequence[Word], index: int) -> str:
        """The terminal that a word is in this place."""
        return kind_in_place(self.grammar, self.stack, words, index)


def after(grammar: Grammar, stack: list[int], terminal: str) -> list[int] | None:
    """The stack after a terminal, or None when it cannot come next."""
    rows, stack = grammar.rows, list(stack)
    while True:
        step = rows[stack[-1]].get(terminal)
        if step is None:
            return None
        if step >= 0:
            stack.append(step)
            return stack
        rule = grammar.rules[~step]
        if rule.size:
            del stack[-rule.size :]
        goto = rows[stack[-1]].get(rule.symbol)
        if goto is None:
            return None
        stack.append(goto)
        if terminal == "$END" and len(stack) == 2:  # the whole declaration is reduced to one symbol
            return stack


def take(grammar: Grammar, makers: Sequence[Make], stack: list[int], values: list[Any], word: Word) -> bool:
    """Takes a word, unless it cannot come next. `values` are those of the stack's states but the first one.

    Words are their own values. Behind the last one, `$END`, the only value is that of the whole.
    """
    rows, kind = grammar.rows, word.type
    while True:
        step = rows[stack[-1]].get(kind)
        if step is None:
            return False
        if step >= 0:
            stack.append(step)
            values.append(word)
            return True
        rule = grammar.rules[~step]
        parts = values[len(values) - rule.size :]
        if rule.size:
            del stack[-rule.size :], values[-rule.size :]
        values.append(makers[~step](parts))
        stack.append(rows[stack[-1]][rule.symbol])
        if kind == "$END" and stack[-1] == grammar.end:
            return True


def kind_in_place(grammar: Grammar, stack: list[int], words: Sequence[Word], index: int) -> str:
    """The terminal that `words[index]` is in the state on top of the stack.

    A word with a meaning here is a keyword, any other a name; reserved words are never names. The
    symbols that have two kinds (see `grammar.lark`) are told apart by their place and by the words that follow.
    """
    word = words[index]
    kind = word.type
    if kind in _STRUCTURE:
        return kind
    text = str(word)
    row = grammar.rows[stack[-1]]
    symbol = SYMBOLS.get(text)
    if symbol is None:
        if text == "forall" and "EACH" in row and update_colon(words, index) is not None:
            return "EACH"
        keyword = grammar.keywords.get(text)
        if keyword is None or (keyword not in row and text not in RESERVED):
            return "NAME"
        # A row says what can stand here after other reductions; where both could, look closer.
        both = "NAME" in row and text not in RESERVED
        if both and text == "when" and not _next_is_name(words, index):  # a formula begins with a variable of this name
            return "NAME"
        return "NAME" if both and after(grammar, stack, keyword) is None else keyword
    if symbol == "COLON":
        return "EACH_COLON" if kind == "EACH_COLON" else symbol
    if symbol == "DOT" and "FULL_STOP" in row and after(grammar, stack, "FULL_STOP") is not None:
        if not _touches_next(words, index) or after(grammar, stack, "DOT") is None:
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
