"""A declared thing of a file, and the places where it is named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from thence.dsl.text.syntax import Span

SymbolKind: TypeAlias = Literal[
    "theory", "theorem", "machine", "protocol", "scope", "mutant", "scenario",
    "sort", "function", "relation", "statement", "rule", "transition",
    "packet kind", "record", "field", "state variable", "procedure", "definition",
    "named value", "handler", "input", "timer",
    "parameter", "constant", "variable", "reference", "loop variable", "bound variable",
    "process", "message", "built-in",
]  # fmt: skip

LOCAL_KINDS: frozenset[SymbolKind] = frozenset(
    ("parameter", "constant", "variable", "reference", "loop variable", "bound variable", "process", "message")
)
"""Names that live in a part of a declaration only."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared thing: two are the same if they are declared at the same place.

    Attributes:
        span: the place of its name; None for what the language brings.
        within: the name of the declaration or record that it belongs to.
        detail: its declaration in one line, without its type where that is found out.
        region: the part of the text in which a local name can be used.
    """

    kind: SymbolKind
    name: str
    span: Span | None
    within: str = field(default="", compare=False)
    detail: str = field(default="", compare=False)
    doc: str = field(default="", compare=False)
    region: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a symbol is named. `declares`: it is declared there, or a mutant states it anew."""

    span: Span
    symbol: Symbol
    declares: bool = False
