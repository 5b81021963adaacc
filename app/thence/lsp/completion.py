"""What can be written at a place: keywords by the grammar, names in reach with their types, fields and operations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from thence.dsl.check.stated.claims import PROTOCOL_PROPERTIES
from thence.dsl.check.terms.delivery import DELIVERIES
from thence.dsl.check.terms.environment import BUILT_IN_FUNCTIONS
from thence.dsl.check.terms.queries import operations, queries
from thence.dsl.ir.machine_builtins import MACHINE_PROPERTIES
from thence.dsl.text import syntax
from thence.dsl.text.parse import Continuations, continuations
from thence.dsl.text.syntax import Span
from thence.lsp.analysis import Analysis, declaration_at
from thence.lsp.naming.explanations import BUILT_IN, KEYWORDS
from thence.lsp.naming.symbols import LOCAL_KINDS, Symbol, SymbolKind
from thence.lsp.positions import contains

_HERE = "thence_completes_here"
"""Stands for what is about to be written."""

_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

ChoiceKind: TypeAlias = SymbolKind | Literal["keyword", "type", "operation", "property"]

NETWORK = ("reliable", "lossy", "duplicating", "fifo", "reordering", "tree", "overlay")
_TYPES = ("process", "message", "bool", "nat")
_FAIR = ("receive", "periodically", "causal_send")


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be written."""

    text: str
    kind: ChoiceKind
    detail: str = ""
    doc: str = ""


def completions(analysis: Analysis, line: int, column: int) -> tuple[Choice, ...]:
    """What can stand at a place, instead of the word that ends there."""
    lines = analysis.text.removeprefix("\ufeff").split("\n")
    if line > len(lines) or _in_comment_or_doc(lines, line, column):
        return ()
    before, after = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    prefix = _PREFIX.search(before)
    before = before[: prefix.start()] if prefix else before
    if before[-1:].isdigit():
        return ()
    rest = after[len(_word_at_start(after)) :]
    above = lines[: line - 1]
    here = continuations("\n".join([*above, before + _HERE]))
    with_word = Analysis("\n".join([*above, before + _HERE + rest, *lines[line:]]), analysis.file, line)
    if [str(word) for word in here.before][-1:] == ["."] and "NAME" in here.terminals:
        return tuple(_after_dot(analysis.file, with_word, [*above], before, rest, lines[line:]))
    choices = (*_names(here, with_word, line, column), *_keywords(here))
    first: dict[str, Choice] = {}
    for choice in choices:
        first.setdefault(choice.text, choice)
    return tuple(first.values())


def _word_at_start(text: str) -> str:
    found = re.match(r"[A-Za-z0-9_]+", text)
    return found[0] if found else ""


def _in_comment_or_doc(lines: Sequence[str], line: int, column: int) -> bool:
    text = "\n".join([*lines[: line - 1], lines[line - 1][: column - 1]])
    parts = text.split('"""')
    if len(parts) % 2 == 0:
        return True
    return "#" in parts[-1].rpartition("\n")[2]


def _keywords(here: Continuations) -> Iterator[Choice]:
    for word in sorted(here.keywords):
        if word != _HERE:
            yield Choice(word, "keyword", "", KEYWORDS.get(word, ""))


# --- fields and operations -----------------------------------------------------------------------


def _after_dot(
    file: str, with_word: Analysis, above: list[str], before: str, rest: str, below: Sequence[str]
) -> Iterator[Choice]:
    """The fields of what stands before the dot, and its operations where a statement begins with it."""
    target = _target(with_word)
    for ending in ("()" + rest, ": pass", " = " + _HERE):
        if target is None:
            with_word = Analysis("\n".join([*above, before + _HERE + ending, *below]), file, len(above) + 1)
            target = _target(with_word)
    type_ = None if target is None else with_word.types.get(target.span)
    if type_ is None:
        return
    for name, result in queries(type_).items():
        yield Choice(name, "field", f"{name}: {result}", BUILT_IN.get(f".{name}", ""))
    if re.fullmatch(r"\s*(?:\w+:\s*|else:\s*|.*;\s*)?[\w.\[\]]+\.", before):
        for operation in operations(type_):
            takes = ", ".join(map(str, operation.parameters))
            method = operation.method
            yield Choice(method, "operation", f"{method}({takes})", BUILT_IN.get(f".{method}()", ""))


def _target(analysis: Analysis) -> syntax.Expr | None:
    """What stands before the dot behind which something is about to be written."""
    for node in _nodes(analysis.tree.declarations):
        match node:
            case syntax.FieldAccess(target=target, name=syntax.Name(text=name)) if name == _HERE:
                return target
            case syntax.Mutate(place=place, method=syntax.Name(text=name)) if name == _HERE:
                return place
            case _:
                continue
    return None


def _nodes(tree: Any) -> Iterator[syntax.Node]:
    pending = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending += item
        elif isinstance(item, syntax.Node):
            yield item
            pending += [getattr(item, part.name) for part in fields(item) if part.name != "span"]


# --- names ---------------------------------------------------------------------------------------


def _names(here: Continuations, analysis: Analysis, line: int, column: int) -> Iterator[Choice]:
    """The names that fit, by the words of the line before the place."""
    if "SLIDING" in here.terminals:
        yield from (Choice(name, "type", doc=BUILT_IN[name]) for name in _TYPES)
        yield from _symbols(analysis, declaration_at(analysis.tree, line), ("record", "sort"))
        return
    if "NAME" not in here.terminals:
        return
    words = [str(word) for word in here.before]
    own = declaration_at(analysis.tree, line)
    if {"NUMBER", "TRUE"} <= here.terminals:
        yield from _values(analysis, own, line, column)
        return
    match words:
        case ["send"] | ["on", "receive"] | ["receive"]:
            yield from _symbols(analysis, own, ("packet kind",))
        case [_, "receives"] | [_, "cannot", "receive"] | ["network", "loses" | "duplicates"]:
            yield from _symbols(analysis, own, ("packet kind",))
        case ["network", *_]:
            yield from (Choice(word, "property", doc=BUILT_IN[word]) for word in NETWORK if word not in words[1:])
        case ["delivery", *_]:
            yield from (Choice(word, "property", doc=BUILT_IN[word]) for word in DELIVERIES)
        case ["property", *_] if isinstance(own, syntax.Protocol):
            yield from (
                Choice(word, "property", doc=BUILT_IN[word]) for word in PROTOCOL_PROPERTIES if word not in words[1:]
            )
        case ["eventually"]:
            yield Choice("delivered", "property", doc=BUILT_IN["delivered"])
        case ["eventually", *_]:
            yield from (Choice(word, "property", doc=BUILT_IN[word]) for word in _FAIR if word not in words)
            yield from _symbols(analysis, own, ("packet kind",))
        case ["scope" | "scenario", _, "of"] | ["conforms"]:
            yield from _top(analysis, ("protocol",))
        case ["mutant", _, "of"]:
            yield from _top(analysis, ("protocol", "machine"))
        case ["conforms", _, "to"]:
            yield from _top(analysis, ("machine",))
        case ["theorem", _, "in"]:
            yield from _top(analysis, ("theory",))
        case ["scenario", _, "of", of, "with"]:
            yield from _top(analysis, ("mutant",), of)
        case ["conforms", of, "to", _, "in", *_]:
            yield from _top(analysis, ("scope",), of)
        case ["use", *_] if isinstance(own, syntax.Theorem):
            yield from _top(analysis, ("theorem",))
        case ["expect", *_, "in"]:
            yield from _top(analysis, ("scope",), _of(own))
        case ["expect", *_] | ["prove", *_] | ["assume" | "needs", *_]:
            yield from _statements(analysis, own)
        case [*_, "@"]:
            yield from _locals(analysis, line, column)
        case [*_, "is" | "or"] | ["internal", *_] | [*_, "starvation"]:
            yield from _symbols(analysis, own, ("transition",))
        case [] if own is not None:
            yield from _values(analysis, own, line, column)
        case _ if isinstance(own, syntax.Scenario):
            yield from _locals(analysis, line, column)
        case _:
            return


def _of(declaration: syntax.TopLevel | None) -> str:
    """The protocol, machine or theory that a declaration is about; its own name where it is one."""
    match declaration:
        case syntax.Scope(protocol=of) | syntax.Scenario(protocol=of) | syntax.Conforms(protocol=of):
            return of.text
        case syntax.Mutant(subject=of):
            return of.text
        case syntax.Theorem(theory=of):
            return of.text
        case None:
            return ""
        case _:
            return declaration.name.text


def _owners(declaration: syntax.TopLevel | None) -> frozenset[str]:
    """The declarations whose names are in reach in a declaration."""
    owners = {_of(declaration)}
    if isinstance(declaration, syntax.Conforms):
        owners.add(declaration.machine.text)
    if declaration is not None:
        owners.add(declaration.name.text)
    return frozenset(owners)


def _declared(analysis: Analysis) -> Iterator[Symbol]:
    seen: set[Symbol] = set()
    for occurrence in analysis.occurrences:
        symbol = occurrence.symbol
        if occurrence.declares and symbol not in seen and symbol.name != _HERE:
            seen.add(symbol)
            yield symbol


def _choice(symbol: Symbol) -> Choice:
    return Choice(symbol.name, symbol.kind, symbol.detail, symbol.doc)


def _symbols(analysis: Analysis, declaration: syntax.TopLevel | None, kinds: Sequence[SymbolKind]) -> Iterator[Choice]:
    owners = _owners(declaration)
    for symbol in _declared(analysis):
        if symbol.kind in kinds and symbol.within in owners:
            yield _choice(symbol)


def _top(analysis: Analysis, kinds: Sequence[SymbolKind], of: str = "") -> Iterator[Choice]:
    for symbol in _declared(analysis):
        if symbol.kind in kinds and of in ("", symbol.within):
            yield _choice(symbol)


def _statements(analysis: Analysis, declaration: syntax.TopLevel | None) -> Iterator[Choice]:
    yield from _symbols(analysis, declaration, ("statement",))
    if isinstance(declaration, syntax.Theorem):
        return
    names = MACHINE_PROPERTIES if isinstance(declaration, syntax.Machine) else (*PROTOCOL_PROPERTIES, "delivered")
    yield from (Choice(name, "property", doc=BUILT_IN[name]) for name in names)
    if isinstance(declaration, syntax.Mutant):
        yield Choice("link", "property", doc=BUILT_IN["link"])


def _values(analysis: Analysis, declaration: syntax.TopLevel | None, line: int, column: int) -> Iterator[Choice]:
    """Everything that an expression or a statement can begin with."""
    yield from _locals(analysis, line, column)
    kinds: list[SymbolKind] = [
        "state variable",
        "function",
        "relation",
        "record",
        "procedure",
        "definition",
        "named value",
    ]
    yield from _symbols(analysis, declaration, kinds)
    yield from _top(analysis, ("definition",))
    history: tuple[str, ...]
    match declaration:
        case syntax.Machine():
            history = ("src", "dst", "sent", "delivered", "before", "past", "hb", "delivered_before")
            yield from (Choice(name, "function", doc=BUILT_IN[name]) for name in history)
        case syntax.Scenario():
            history = ("delivered", "delivered_at", "network_sent", "arrived", "hb")
            yield from (Choice(name, "function", doc=BUILT_IN[name]) for name in history)
        case syntax.Protocol() | syntax.Mutant() | syntax.Conforms():
            yield from (Choice(name, "function", doc=BUILT_IN[name]) for name in BUILT_IN_FUNCTIONS)
            yield from (Choice(name, "type", doc=BUILT_IN[name]) for name in ("self", "process"))
        case _:
            return


def _locals(analysis: Analysis, line: int, column: int) -> Iterator[Choice]:
    """The local names in reach. Their region goes on over the lines that are indented deeper than its first one."""
    text = analysis.text.removeprefix("\ufeff").split("\n")
    for symbol in _declared(analysis):
        if symbol.kind not in LOCAL_KINDS or symbol.region is None or symbol.span is None:
            continue
        declared = (symbol.span.line, symbol.span.column)
        if symbol.kind in ("constant", "variable", "reference") and symbol.span.line == line:
            continue  # its own value is being written
        if declared < (line, column) and contains(_lengthened(symbol.region, text), line, column):
            yield _choice(symbol)


def _lengthened(region: Span, text: Sequence[str]) -> Span:
    first = text[region.line - 1] if region.line <= len(text) else ""
    indent, end = len(first) - len(first.lstrip()), region.end_line
    while end < len(text) and (not text[end].strip() or len(text[end]) - len(text[end].lstrip()) > indent):
        end += 1
    length = len(text[end - 1]) + 1 if end <= len(text) else 1
    return max(region, Span(region.line, region.column, end, length), key=lambda one: (one.end_line, one.end_column))
