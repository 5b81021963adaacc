"""Walking over trees, of the abstract syntax or of the IR, without recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from thence.dsl.text.syntax import Span


@cache
def _labels(kind: Any) -> tuple[str, ...]:
    """The fields with the children of nodes of this kind; none of what is no node."""
    if issubclass(kind, Span) or not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind) if field.name not in ("span", "label", "doc", "comments"))


def _children(node: Any) -> Sequence[Any]:
    if isinstance(node, tuple):
        return node
    kind: Any = type(node)
    return [getattr(node, label) for label in _labels(kind)]


def nodes(tree: Any) -> Iterator[Any]:
    """Every node in the tree, the tree itself first; types, names and numbers too."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, tuple):
            yield node
        stack.extend(reversed(_children(node)))


def depth(tree: Any) -> int:
    """The depth of the expression: the most nodes that stand inside one another."""
    deepest = 0
    stack = [(tree, 1)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        below = level if isinstance(node, tuple) else level + 1
        stack.extend((child, below) for child in _children(node) if isinstance(child, tuple) or is_dataclass(child))
    return deepest
