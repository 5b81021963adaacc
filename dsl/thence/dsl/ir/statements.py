"""The statements of handlers and procedures."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from thence.dsl.ir.terms import Expr
from thence.dsl.ir.types import Type
from thence.dsl.text.syntax import NOWHERE, Span
from thence.spec.value import record


@record(frozen=True, slots=True)
class Statement:
    """`label` is the paper's line (`A2.7`), where the text has one."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
    label: str | None = field(default=None, compare=False, kw_only=True)


@record(frozen=True, slots=True)
class Let(Statement):
    name: str
    value: Expr


@record(frozen=True, slots=True)
class Ref(Statement):
    """`name` stands for a place from here on; the indices in the place are evaluated now."""

    name: str
    place: Expr


@record(frozen=True, slots=True)
class Var(Statement):
    """A local variable, with its first value."""

    name: str
    value: Expr


@record(frozen=True, slots=True)
class Assign(Statement):
    """`place` is a StateOf, a Local that a `ref` or `var` introduced, or a FieldOf, Lookup, ElementAt of a place."""

    place: Expr
    value: Expr


@record(frozen=True, slots=True)
class Mutate(Statement):
    """Queue: push(e), pop(). Set: add(e), remove(e). Map: remove(k). Sliding array: add(e), remove()
    (the first). Sliding map: add(e), remove(e). Any of them: clear(). pop or remove() on an empty
    collection is a fault; removing an element that is not there changes nothing.
    """

    place: Expr
    method: Literal["push", "pop", "add", "remove", "clear"]
    arguments: tuple[Expr, ...]


@record(frozen=True, slots=True)
class Call(Statement):
    procedure: str
    arguments: tuple[Expr, ...]


@record(frozen=True, slots=True)
class If(Statement):
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class While(Statement):
    condition: Expr
    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class For(Statement):
    """Over a set, queue, sliding array or map (a map: its keys; sets and keys in ascending order), or over
    all processes (`domain` is None). With `ref`, the domain is a place: a queue, sliding array, or map
    (its values), and the name stands for each element in place. The elements are those at the start. `any_order`: in
    whatever order is chosen; no text says so, see `ir.visiting`.
    """

    name: str
    variable: Type
    domain: Expr | None
    body: tuple[Stmt, ...]
    ref: bool
    any_order: bool = field(default=False, kw_only=True)


@record(frozen=True, slots=True)
class Choose(Statement):
    """`body` for one element of which `condition` is true, any of them; `otherwise` where there is none. The domain is
    a collection (a map: its keys), or all processes (`domain` is None).
    """

    name: str
    variable: Type
    domain: Expr | None
    condition: Expr | None
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class Either(Statement):
    """One of the branches, any of them."""

    branches: tuple[tuple[Stmt, ...], ...]


@record(frozen=True, slots=True)
class Return(Statement):
    """Leaves the procedure or handler."""


@record(frozen=True, slots=True)
class Send(Statement):
    kind: str
    arguments: tuple[Expr, ...]
    to: Expr


@record(frozen=True, slots=True)
class Deliver(Statement):
    message: Expr


Stmt: TypeAlias = (
    Let | Var | Ref | Assign | Mutate | Call | If | While | For | Choose | Either | Return | Send | Deliver
)
