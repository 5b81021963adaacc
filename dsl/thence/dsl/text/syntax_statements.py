"""The abstract syntax of statements, and of the edits of mutants, which are about statements."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from thence.dsl.text.syntax_terms import Binder, Expr, Name, Node, TypeExpr
from thence.spec.value import record


@record(frozen=True, slots=True)
class Statement(Node):
    """`label` is the text of the comment at the end of the statement's first line, such as `A2.7`."""

    label: str | None = field(default=None, compare=False, kw_only=True)


@record(frozen=True, slots=True)
class Let(Statement):
    """`let x = e`: a local constant. `ref x = place`: another name for a place."""

    name: Name
    value: Expr
    ref: bool = False


@record(frozen=True, slots=True)
class Var(Statement):
    """`var x = e`, `var x: T = e`: a local variable, which can be changed to the end of its block."""

    name: Name
    type: TypeExpr | None
    value: Expr


@record(frozen=True, slots=True)
class Assign(Statement):
    """`place := e`. In a machine, a parallel update: `flagged(m) := e`, `forall x: waits(m, x) := e`."""

    place: Expr
    value: Expr
    binders: tuple[Binder, ...] = ()


@record(frozen=True, slots=True)
class Mutate(Statement):
    """`place.method(arguments)`: push, pop, add, remove, clear."""

    place: Expr
    method: Name
    arguments: tuple[Expr, ...]


@record(frozen=True, slots=True)
class Call(Statement):
    """`name(arguments)`: a procedure."""

    procedure: Name
    arguments: tuple[Expr, ...]


@record(frozen=True, slots=True)
class If(Statement):
    """`if c: ...` with an optional `else:`; `else if` nests an If as the only statement of `otherwise`."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@record(frozen=True, slots=True)
class While(Statement):
    condition: Expr
    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class For(Statement):
    """`for x in e: ...`; with `for ref x in place: ...` x names each element in place."""

    name: Name
    domain: Expr
    body: tuple[Stmt, ...]
    ref: bool = False


@record(frozen=True, slots=True)
class Choose(Statement):
    """`choose x in e such that c: ...` with an optional `else:`, for where there is nothing to choose."""

    name: Name
    domain: Expr
    condition: Expr | None
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@record(frozen=True, slots=True)
class Either(Statement):
    """`either: ...` with one `or: ...` or more: one of the branches."""

    branches: tuple[tuple[Stmt, ...], ...]


@record(frozen=True, slots=True)
class Return(Statement):
    pass


@record(frozen=True, slots=True)
class Pass(Statement):
    pass


@record(frozen=True, slots=True)
class Send(Statement):
    """`send KIND(arguments) to p`."""

    kind: Name
    arguments: tuple[Expr, ...]
    to: Expr


@record(frozen=True, slots=True)
class Deliver(Statement):
    """`deliver m`."""

    message: Expr


@record(frozen=True, slots=True)
class Require(Statement):
    """`require P`: a guard of a machine's transition."""

    condition: Expr


Stmt: TypeAlias = (
    Let | Var | Assign | Mutate | Call | If | While | For | Choose | Either | Return | Pass | Send | Deliver | Require
)


@record(frozen=True, slots=True)
class Edit(Node):
    """An edit of one statement, which is `place`, restated; a statement with a body is named by its header, so its body
    is empty there.

    `replace S by: BODY`, `drop S`, `before S: BODY`, `after S: BODY` with `body`; `replace HEADER by HEADER` (`header`)
    with the new header as `body`; `inside HEADER: EDITS` with `edits` of statements in its body.
    """

    action: Literal["replace", "drop", "before", "after", "header", "inside"]
    place: Stmt
    body: tuple[Stmt, ...] = ()
    edits: tuple[Edit, ...] = ()


@record(frozen=True, slots=True)
class Change(Node):
    """`change procedure NAME: EDITS`: edits of one part of the subject, in this order.

    `name` is that of the procedure, transition, packet kind, input or timer, if it has one.
    """

    event: Literal["procedure", "transition", "causal_send", "receive", "periodically", "input"]
    name: Name | None
    edits: tuple[Edit, ...]
