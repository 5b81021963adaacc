"""Lines and blocks in a declaration's words."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl.text.lines import Word

STRUCTURE = ("NEWLINE", "INDENT", "DEDENT")


def starts_line(words: Sequence[Word], index: int) -> bool:
    """Whether a word is the first of a logical line."""
    before = words[index - 1].type if index else "NEWLINE"
    return before in STRUCTURE and words[index].type not in (*STRUCTURE, "$END")


def start_of_line(words: Sequence[Word], index: int) -> int:
    """The first word of the logical line that a word belongs to; a DEDENT belongs to the line above."""
    while index > 0 and words[index].type in ("NEWLINE", "DEDENT", "INDENT", "$END"):
        index -= 1
    while index > 0 and words[index - 1].type not in STRUCTURE:
        index -= 1
    return index


def header_of(words: Sequence[Word], index: int) -> int:
    """The first word of the header whose block a word stands in; the first word of the file outside of all blocks."""
    depth = 0
    while index > 0:
        index -= 1
        depth += {"INDENT": -1, "DEDENT": 1}.get(words[index].type, 0)
        if depth < 0:
            return start_of_line(words, index)
    return 0


def end_of_unit(words: Sequence[Word], start: int) -> int:
    """The position behind a line, its block, and the `else` blocks that belong to it."""
    index = start
    if words[index].type != "INDENT":
        while words[index].type not in ("NEWLINE", "$END"):
            index += 1
        index += words[index].type == "NEWLINE"
    if words[index].type == "INDENT":
        depth = 0
        while True:
            depth += (words[index].type == "INDENT") - (words[index].type == "DEDENT")
            index += 1
            if depth == 0:
                break
    if words[index] == "else" and words[index].type != "DOC":
        return end_of_unit(words, index)
    return index


def enclosing_line(words: Sequence[Word], start: int) -> int | None:
    """The first word of the line whose block a line stands in, or None at the top."""
    depth, index = 0, start - 1
    while index >= 0:
        if words[index].type == "DEDENT":
            depth += 1
        elif words[index].type == "INDENT":
            if depth == 0:
                return start_of_line(words, index)
            depth -= 1
        index -= 1
    return None
