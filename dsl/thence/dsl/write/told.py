"""Whether the use of a bound variable tells its type, so that text need not say it.

`check/terms/inference` finds types in this way when text is read. What is told here is found there; not all that is
found there is told here, and then the type is written without need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, NAT, Nat, Sort

_TOLD = "told'"
"""Stands for whatever has a known type; no name has an apostrophe."""
_OPEN = "open'"
"""Stands for what has a type that may not be known when it is met."""


def is_open(variable: ir.Bound) -> bool:
    """Whether the text of the variable can be its name alone."""
    return variable.domain is None and isinstance(variable.type, Sort | Nat)


def are_told(variables: tuple[ir.Bound, ...], body: ir.Expr) -> bool:
    """Whether the uses in the domains and in the body tell the types of all variables without a domain."""
    own = [variable.name for variable in variables if is_open(variable)]
    if not own:
        return True
    parts = (*(variable.domain for variable in variables if variable.domain is not None), body)
    inner = [node for part in parts for node in nodes(part) if isinstance(node, ir.Bound)]
    times = Counter(variable.name for variable in inner)
    unclear = {
        variable.name
        for variable in (*variables, *inner)
        if times[variable.name] > 1 or (variable.domain is not None and not _is_clear(variable.domain))
    } - {*own}
    alike = _Alike(frozenset(own) | {each.name for each in inner if is_open(each)}, frozenset(unclear))
    for part in parts:
        for node in nodes(part):
            alike.join(node)
    return all(alike.root(name) == _TOLD for name in own)


def _is_clear(domain: ir.Expr) -> bool:
    """Whether the type of a domain shows without what its variables are."""
    return not any(isinstance(node, ir.SetOf | ir.Some | ir.Zero | ir.Conditional) for node in nodes(domain))


class _Alike:
    """Names that must have the same type."""

    def __init__(self, names: frozenset[str], unclear: frozenset[str]) -> None:
        self.names = names - unclear
        self.unclear = unclear
        self.above: dict[str, str] = {}

    def root(self, name: str) -> str:
        while name in self.above:
            name = self.above[name]
        return name

    def join(self, node: object) -> None:
        """Enters what a node says about its parts."""
        for left, right in self._equal(node):
            one, other = sorted((self.root(left), self.root(right)), key=lambda name: name == _TOLD)
            if _OPEN not in (one, other) and one != other:
                self.above[one] = other

    def _equal(self, node: object) -> Iterator[tuple[str, str]]:
        match node:
            case ir.Apply(arguments=parts) | ir.Construct(values=parts):
                yield from ((self._kind(part), _TOLD) for part in parts)
            case ir.StateOf(process=part) if part is not None:
                yield self._kind(part), _TOLD
            case ir.Attribute(target=part) | ir.Lookup(key=part) | ir.ElementAt(index=part):
                yield self._kind(part), _TOLD
            case ir.Arithmetic(left=left, right=right):
                yield from ((self._kind(part), _TOLD) for part in (left, right))
            case ir.Member(item=item, collection=ir.SetOf(items=items)):
                yield self._kind(item), self._kind(items[0])
            case ir.Member(item=item, collection=collection) if _is_clear(collection):
                yield self._kind(item), _TOLD
            case ir.Comparison(left=left, right=right) | ir.Conditional(then=left, otherwise=right):
                yield self._kind(left), self._kind(right)
            case _:
                return

    def _kind(self, part: ir.Expr) -> str:
        """The name that the part is, or whether its type is known by what it is."""
        match part:
            case ir.Local(name=name) if name in self.names:
                return name
            case ir.Local(name=name) if name in self.unclear:
                return _OPEN
            case ir.Zero(type=type_):
                return _TOLD if type_ in (NAT, BOOL) else _OPEN
            case ir.Conditional(then=then):
                return self._kind(then)
            case ir.SetOf() | ir.Some():
                return _OPEN
            case _:
                return _TOLD
