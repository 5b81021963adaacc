"""Keywords that a declaration uses as names: one fault for each, where it is declared, and no echo of it elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.line_structure import STRUCTURE, enclosing_line, start_of_line, starts_line
from thence.dsl.text.lines import Word, span_of
from thence.dsl.text.vocabulary import RESERVED
from thence.spec.value import record

_STATEMENTS = frozenset(("deliver", "send", "require", "var", "ref"))
"""Words that begin a statement and are names elsewhere: a variable of this name could not be assigned to."""


@record(frozen=True, slots=True)
class KeywordNames:
    """The faults of the names, and the lines on which a keyword that is a name stands: others there would be echoes."""

    faults: tuple[Diagnostic, ...]
    lines: frozenset[int]

    def first_hand(self, faults: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The faults that are not on these lines."""
        return [fault for fault in faults if fault.span.line not in self.lines]


def keyword_names(words: Sequence[Word], file: str) -> KeywordNames:
    """Of the words of a declaration, before anything of it is mended."""
    declared: dict[str, Word] = {}
    for index, word in enumerate(words):
        if word.type not in (*STRUCTURE, "DOC") and str(word) not in declared and _is_declared(words, index):
            declared[str(word)] = word
    faults = tuple(_fault(word, file) for word in declared.values())
    lines = frozenset(word.line for word in words if str(word) in declared and word.type != "DOC")
    return KeywordNames(faults, lines if declared else frozenset())


def _is_declared(words: Sequence[Word], index: int) -> bool:
    text = str(words[index])
    if not index or text not in RESERVED | _STATEMENTS:
        return False
    before, following = words[index - 1], str(words[index + 1])
    behind_word = str(before) in ("procedure", "var", "ref") or (str(before) == "let" and text in RESERVED)
    if behind_word and (starts_line(words, index - 1) or str(words[index - 2]) in (":", ";")):
        return True
    return following == ":" and _is_of_state(words, index) and (starts_line(words, index) or str(before) in (":", ";"))


def _is_of_state(words: Sequence[Word], index: int) -> bool:
    start = start_of_line(words, index)
    around = enclosing_line(words, start)
    return any(at is not None and str(words[at]) == "state" for at in (start, around))


def _fault(word: Word, file: str) -> Diagnostic:
    message = f"`{word}` is a keyword and cannot be a name"
    if str(word) in _STATEMENTS:
        message = f"`{word}` begins a statement and cannot be the name of what a statement begins with"
    return Diagnostic("E0118", "error", message, file, span_of(word), ("choose another name",))
