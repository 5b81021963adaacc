"""From text to the syntax tree of a file.

Each top-level declaration is parsed by itself, so that a fault in one leaves the others readable. Within
a declaration at fault the parser goes on too: it mends what it understands (a missing `:`), leaves out the
line (with its block) that it does not, and reports every fault that it meets on the way.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from thence.dsl.text.automaton import Automaton, Grammar, Make, kind_in_place, take, update_colon
from thence.dsl.text.diagnostics import Diagnostic, did_you_mean, in_reading_order, nearest
from thence.dsl.text.foreign import DECLARATIONS, hint
from thence.dsl.text.grammar import load_grammar
from thence.dsl.text.keyword_names import keyword_names
from thence.dsl.text.line_structure import enclosing_line, end_of_unit, start_of_line, starts_line
from thence.dsl.text.lines import MAX_DEPTH, Lines, Word, read_lines, span_of
from thence.dsl.text.syntax import File, Node, Span, TopLevel
from thence.dsl.text.syntax_errors import Slip, diagnose
from thence.dsl.text.trees.declarations import Builder
from thence.dsl.text.vocabulary import RESERVED, TOP_LEVEL
from thence.spec.value import record

MAX_BYTES = 1_000_000
MAX_LINE = 10_000
MAX_FAULTS = 50
MAX_STATES = 20 * MAX_DEPTH  # on the automaton's stack, which grows with nesting that the lines do not show


class _Making:
    """The builder and its methods, one for each rule. A thread has its own: the builder has state while it builds."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.makers: list[Make] = [rule.maker(self.builder) for rule in _grammar().rules]


class _PerThread(threading.local):
    making: _Making | None = None


_per_thread = _PerThread()


def decode(data: bytes, file: str, size: int = 0) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The text of a file's bytes, or None and why it is none. `size` is the file's, where not all of it was read."""
    size = max(size, len(data))
    if size > MAX_BYTES:
        return None, (_fault("E0150", _too_large(size), file, Span(1, 1, 1, 2)),)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"this is not text: byte {error.start} (0x{data[error.start]:02X}) is not UTF-8"
        return None, (_fault("E0101", message, file, Span(line, column, line, column + 1)),)


@record(frozen=True, slots=True)
class Reading:
    """What can be read of a text. `tree` is the file's where `diagnostics` is empty.

    Else it has the declarations that are without fault, and those that could be mended: in these, the lines at fault
    are left out. `words` are the text's, as they were before anything was mended.
    """

    tree: File
    words: tuple[Word, ...]
    diagnostics: tuple[Diagnostic, ...]


def parse(text: str, file: str) -> tuple[File | None, tuple[Diagnostic, ...]]:
    """The syntax tree of a text, or None and at least one error. Never raises, whatever the text.

    `file` is the name that diagnostics carry.
    """
    reading = read(text, file)
    return (None if reading.diagnostics else reading.tree), reading.diagnostics


def read(text: str, file: str) -> Reading:
    """As `parse`, and what can be read of a text that is at fault. Never raises, whatever the text."""
    refusal = _refuse(text, file)
    if refusal is not None:
        return Reading(File(()), (), (refusal,))
    lines = read_lines(text, file)
    builder = _making().builder
    labels = {comment.line: comment.text for comment in lines.comments if comment.trailing}
    builder.begin(file, labels)
    if any(fault.code == "E0152" for fault in lines.diagnostics):
        return Reading(File(()), lines.words, _capped(lines.diagnostics, file))
    doc, chunks, faults = _chunks(lines, file)
    declarations: list[TopLevel] = []
    for chunk in chunks:
        names, known = keyword_names(chunk, file), len(builder.faults)
        declaration, found = _declaration(chunk, file)
        builder.faults[known:] = names.first_hand(builder.faults[known:])
        faults += [*names.faults, *names.first_hand(found)]
        if declaration is not None:
            declarations.append(declaration)
        if len(faults) + len(builder.faults) > MAX_FAULTS:
            break
    faults += builder.faults
    if faults or lines.diagnostics:
        # On a line whose words are at fault already, what the grammar says is mostly an echo.
        marked = {fault.span.line for fault in lines.diagnostics}
        first_hand = [fault for fault in faults if fault.span.line not in marked]
        told = _capped([*lines.diagnostics, *first_hand], file)
    else:
        told = ()
    last = lines.words[-1] if lines.words else None
    span = Span(1, 1, last.end_line, last.end_column) if last else Span(1, 1, 1, 1)
    bare_lines = builder.bare_lines | ({lines.words[0].line} if doc else set())
    tree = File(tuple(declarations), doc, lines.comments, tuple(sorted(bare_lines)), span=span)
    return Reading(tree, lines.words, told)


@record(frozen=True, slots=True)
class Continuations:
    """What can stand in a place: keywords, other terminals of the grammar, and the words of its line before it."""

    keywords: frozenset[str]
    terminals: frozenset[str]
    before: tuple[Word, ...]


def continuations(text: str) -> Continuations:
    """What can stand where the text ends, in the place of its last word. Faults before it are left out."""
    if _refuse(text, "") is not None:
        return Continuations(frozenset(), frozenset(), ())
    chunks = _cut(read_lines(text, "").words)
    words = [word for chunk in chunks[-1:] for word in chunk]
    here = next((word for word in reversed(words) if word.type not in ("NEWLINE", "INDENT", "DEDENT")), None)
    if here is None or here is words[0]:
        return Continuations(frozenset(TOP_LEVEL), frozenset(), ())
    words.append(_end_behind(words[-1]))
    automaton = Automaton(_grammar())
    _faults_in(words, "", automaton, here)
    at = next((index for index, word in enumerate(words) if word is here), None)
    if at is None:
        return Continuations(frozenset(), frozenset(), ())
    terminals = automaton.accepted()
    known = frozenset(word for word, terminal in _grammar().keywords.items() if terminal in terminals)
    line = words[start_of_line(words, at) : at]
    return Continuations(known, terminals, tuple(word for word in line if word.type not in ("INDENT", "DEDENT")))


def keyword_words() -> frozenset[str]:
    """The words that the grammar gives a meaning; all but the reserved ones are names elsewhere."""
    return frozenset(_grammar().keywords)


def word_kinds(words: Sequence[Word]) -> list[str | None]:
    """The terminal that each word of a text is in its place; None from where its declaration cannot be read.

    Structure (line ends, indentation) has its own kinds.
    """
    kinds: list[str | None] = []
    for chunk in _cut(words):
        automaton: Automaton | None = Automaton(_grammar())
        if [word.type for word in chunk] == ["DOC", "NEWLINE"]:
            kinds += ["DOC", "NEWLINE"]
            continue
        for index in range(len(chunk)):
            kind = None if automaton is None else automaton.kind_of(chunk, index)
            if kind == "EACH":
                colon = update_colon(chunk, index)
                if colon is not None:
                    chunk[colon].type = "EACH_COLON"
            if automaton is not None and kind is not None and not automaton.advance(kind):
                automaton, kind = None, None
            kinds.append(kind)
    return kinds


@cache
def _grammar() -> Grammar:
    return load_grammar()


def _making() -> _Making:
    making = _per_thread.making
    if making is None:
        making = _per_thread.making = _Making()
    return making


def _refuse(text: str, file: str) -> Diagnostic | None:
    """The reason why a text is not read at all: it is too large, binary, or has an endless line."""
    if len(text) > MAX_BYTES:
        return _fault("E0150", _too_large(len(text)), file, Span(1, 1, 1, 2))
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        return _fault("E0101", "this is not text: it has a NUL character", file, Span(line, 1, line, 2))
    for number, line_text in enumerate(text.split("\n"), start=1):
        if len(line_text) > MAX_LINE:
            message = f"a line of {len(line_text):,} characters"
            return _fault("E0151", message, file, Span(number, 1, number, 2), f"at most {MAX_LINE:,} are read")
    return None


def _chunks(lines: Lines, file: str) -> tuple[str, list[list[Word]], list[Diagnostic]]:
    """The file's documentation string, and the words of each top-level declaration."""
    chunks = _cut(lines.words)
    faults: list[Diagnostic] = []
    doc = ""
    if chunks and [word.type for word in chunks[0]] == ["DOC", "NEWLINE"]:
        doc = str(chunks.pop(0)[0])
    stray = [chunk for chunk in chunks if chunk[0].type == "DOC"]
    chunks = [chunk for chunk in chunks if chunk[0].type != "DOC"]
    for chunk in stray:
        note = "the file's own comes first of all, a declaration's right after its first line"
        faults.append(_fault("E0134", "no documentation string can stand here", file, span_of(chunk[0]), note))
    return doc, chunks, faults


def _cut(words: Sequence[Word]) -> list[list[Word]]:
    """The words of each top-level declaration or stray documentation string."""
    chunks: list[list[Word]] = []
    depth, start = 0, 0
    for index, word in enumerate(words):
        if word.type == "INDENT":
            depth += 1
        elif word.type == "DEDENT":
            depth -= 1
        following = words[index + 1] if index + 1 < len(words) else None
        at_end = word.type in ("NEWLINE", "DEDENT") and depth == 0
        if following is None or (at_end and following.type not in ("INDENT", "DEDENT")):
            chunks.append(list(words[start : index + 1]))
            start = index + 1
    return chunks


def _end_behind(last: Word) -> Word:
    """The end of a declaration, as a word."""
    return Word("$END", "", last.end_line, last.end_column, last.end_line, last.end_column)


def _declaration(words: list[Word], file: str) -> tuple[TopLevel | None, list[Diagnostic]]:
    """A declaration, and what is wrong with it. What the builder reports comes besides, in its `faults`."""
    words.append(_end_behind(words[-1]))
    first = words[0]
    if str(first) not in TOP_LEVEL:
        if first.type == "INDENT":
            fault = _fault(
                "E0106", "the first line is indented", file, span_of(words[1]), "declarations start at the margin"
            )
            return None, [fault]
        message = f"`{first}` begins no declaration"
        kinds = "a file is made of: " + ", ".join(TOP_LEVEL)
        notes = (*(did_you_mean(str(first), TOP_LEVEL) or hint(DECLARATIONS, str(first))), kinds)
        fault = Diagnostic("E0114", "error", message, file, span_of(first), notes)
        near = nearest(str(first), TOP_LEVEL)
        if near is None:
            return None, [fault]
        place = fault.span
        words[0] = Word("WORD", near, place.line, place.column, place.end_line, place.end_column)
        words.pop()
        mended, more = _declaration(words, file)
        return mended, [fault, *more]
    tree = _build(words)
    if tree is None:
        faults = _faults_in(words, file)
        rebuilt = _build(words)  # what the builder has to say of the words as mended
        usable = rebuilt is not None and not isinstance(rebuilt, Span) and _deepest(rebuilt) is None
        return (rebuilt if usable and not isinstance(rebuilt, Span) else None), faults
    deepest = tree if isinstance(tree, Span) else _deepest(tree)
    if isinstance(tree, Span) or deepest is not None:
        assert deepest is not None
        return None, [_too_deep(deepest, file)]
    return tree, []


def _build(words: list[Word]) -> TopLevel | Span | None:
    """The tree of a declaration; None where its words are not one; where it gets too deep to go on."""
    grammar, makers = _grammar(), _making().makers
    stack, values = [grammar.start], list[Any]()
    for index, word in enumerate(words):
        if word.type != "$END":
            if len(stack) > MAX_STATES:
                return span_of(word)
            word.type = kind_in_place(grammar, stack, words, index)
            if word.type == "EACH":
                colon = update_colon(words, index)
                assert colon is not None
                words[colon].type = "EACH_COLON"
        if not take(grammar, makers, stack, values, word):
            return None
    return values[0]  # type: ignore[no-any-return]


def _faults_in(
    words: list[Word], file: str, automaton: Automaton | None = None, until: Word | None = None
) -> list[Diagnostic]:
    """All the faults of a declaration that is at fault, in one run that mends or leaves out what does not fit.

    The run can be of an automaton that is given, and only `until` a word.
    """
    faults: list[Diagnostic] = []
    automaton = automaton or Automaton(_grammar())
    starts: dict[int, list[int]] = {}  # the automaton's stack at the start of each line
    mended: set[int] = set()
    taken: set[str] = set()  # keywords that something is named by: the lines that use the name say nothing new
    index = 0
    while index < len(words) and words[index] is not until and len(faults) < MAX_FAULTS:
        if starts_line(words, index):
            starts[index] = automaton.stack
        if len(automaton.stack) > MAX_STATES:
            faults.append(_too_deep(span_of(words[index]), file))
            break
        kind = words[index].type if words[index].type == "$END" else automaton.kind_of(words, index)
        if kind == "EACH":
            colon = update_colon(words, index)
            assert colon is not None
            words[colon].type = "EACH_COLON"
        if automaton.advance(kind):
            index += 1
            continue
        if id(words[index]) not in mended:
            slip = diagnose(words, index, automaton, starts, file)
            header = words[start_of_line(words, index - 1) : index] if index else []
            follows = slip.diagnostic.code == "E0107" and any(id(word) in mended for word in header)
            if not follows and not _names_one_of(words, index, taken):
                faults.append(slip.diagnostic)
            if slip.diagnostic.code == "E0118" and str(words[index]) in RESERVED:
                taken.add(str(words[index]))
            if slip.mends:
                index = _mend(words, index, slip, automaton, starts)
                mended.update(id(word) for word in words[index : index + len(slip.mends)])
                continue
        resumed = _leave_out(words, index, automaton, starts, mended)
        if resumed is None:
            break
        index = resumed
    return faults


def _names_one_of(words: Sequence[Word], index: int, taken: set[str]) -> bool:
    """Whether one of these words is on the line."""
    end = index
    while words[end].type not in ("NEWLINE", "$END"):
        end += 1
    return any(str(word) in taken for word in words[start_of_line(words, index) : end])


def _mend(words: list[Word], index: int, slip: Slip, automaton: Automaton, starts: dict[int, list[int]]) -> int:
    """Put the slip's words in the place of those at fault; returns where to go on."""
    position, width = slip.where
    words[position : position + width] = slip.mends
    if position < index:
        automaton.stack = starts[position]
    return position


def _leave_out(
    words: list[Word], index: int, automaton: Automaton, starts: dict[int, list[int]], mended: set[int]
) -> int | None:
    """Leave out the line at fault with its block, or the block around it; where to go on, None if nowhere."""
    if words[index].type == "INDENT":
        del words[index : end_of_unit(words, index)]
        return index
    start: int | None = start_of_line(words, index)
    while start is not None and start > 0:
        automaton.stack = starts[start]
        if automaton.accepts("PASS"):
            here = words[start]
            place = (here.line, here.column, here.line, here.column)
            substitute = [Word("WORD", "pass", *place), Word("NEWLINE", "", *place)]
            words[start : end_of_unit(words, start)] = substitute
            mended.update(id(word) for word in substitute)
            return start
        start = enclosing_line(words, start)
    return None


def _deepest(tree: Node) -> Span | None:
    """The place at which a tree is too deep to be read, or None. Not recursive: the tree may be very deep."""
    parts: dict[type, tuple[str, ...]] = {}
    pending: list[tuple[Any, int]] = [(tree, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, tuple):
            pending += [(part, depth) for part in item]
        elif isinstance(item, Node):
            if depth > MAX_DEPTH:
                return item.span
            names = parts.get(type(item))
            if names is None:
                names = tuple(field.name for field in fields(item) if field.name not in ("span", "label", "doc"))
                parts[type(item)] = names
            pending += [(getattr(item, name), depth + 1) for name in names]
    return None


def _capped(faults: Sequence[Diagnostic], file: str) -> tuple[Diagnostic, ...]:
    ordered = in_reading_order(faults)
    if len(ordered) <= MAX_FAULTS:
        return ordered
    rest = _fault("E0153", f"there are more faults than these {MAX_FAULTS}", file, ordered[MAX_FAULTS].span)
    return (*ordered[:MAX_FAULTS], rest)


def _too_deep(span: Span, file: str) -> Diagnostic:
    note = f"at most {MAX_DEPTH} levels are read; name parts of it, or split it"
    return _fault("E0152", "this is nested too deeply", file, span, note)


def _too_large(size: int) -> str:
    return f"the file is too large: {size:,} bytes, at most {MAX_BYTES:,} are read"


def _fault(code: str, message: str, file: str, span: Span, note: str = "") -> Diagnostic:
    return Diagnostic(code, "error", message, file, span, (note,) if note else ())
