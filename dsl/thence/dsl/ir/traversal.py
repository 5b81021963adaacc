"""Walking over trees, of the abstract syntax or of the IR, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any

from thence.dsl.text.syntax import NOWHERE, Span


@cache
def _labels(kind: Any) -> tuple[str, ...]:
    """The fields with the children of nodes of this kind; none of what is no node."""
    if issubclass(kind, Span) or not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind) if field.name not in ("span", "label", "doc", "comments"))


@cache
def _backwards(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    """What gives the children of a node of this kind, the last one first; None where it has none."""
    labels = _labels(kind)[::-1]
    if len(labels) == 1:
        get = attrgetter(*labels)
        return lambda node: (get(node),)
    return attrgetter(*labels) if labels else None


@cache
def _is_node(kind: Any) -> bool:
    return is_dataclass(kind)


def nodes(tree: Any) -> Iterator[Any]:
    """Every node in the tree, the tree itself first; types, names and numbers too."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(reversed(node))
        else:
            yield node
            children = _backwards(node.__class__)
            if children is not None:
                stack += children(node)


def depth(tree: Any) -> int:
    """The depth of the expression: the most nodes that stand inside one another."""
    deepest = 0
    stack = [(tree, 1)]
    while stack:
        node, level = stack.pop()
        if level > deepest:
            deepest = level
        is_tuple = isinstance(node, tuple)
        below = level if is_tuple else level + 1
        for child in node if is_tuple else [getattr(node, label) for label in _labels(node.__class__)]:
            if isinstance(child, tuple) or _is_node(child.__class__):
                stack.append((child, below))
    return deepest


def without_places(node: Any) -> Any:
    """The node of the IR, or the nodes of a tuple, without places in a text. Types have none."""
    if isinstance(node, tuple):
        return tuple(map(without_places, node))
    kind: Any = type(node)
    labels, has_place = _labels(kind), hasattr(node, "span")
    if not labels and not has_place:
        return node
    parts = {label: without_places(getattr(node, label)) for label in labels if label != "type"}
    return replace(node, **parts | ({"span": NOWHERE} if has_place else {}))
