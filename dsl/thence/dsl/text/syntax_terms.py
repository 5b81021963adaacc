"""The abstract syntax of types and expressions, and the base of all nodes.

Every node is immutable. A span says where the node stands in the text; spans and line labels take
no part in equality, so that two texts that differ only in layout or comments have equal trees.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from thence.spec.value import record


@record(frozen=True, slots=True)
class Span:
    """A stretch of the text: 1-based lines and columns, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span(0, 0, 0, 0)


@record(frozen=True, slots=True)
class Node:
    """The base of every node: its place in the text."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Name(Node):
    """A name as written."""

    text: str


# --- types -------------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class NamedType(Node):
    """`process`, `message`, `bool`, `nat`, a sort of a theory, or a record."""

    name: str


@record(frozen=True, slots=True)
class CollectionType(Node):
    """`option of T`, `set of T`, `queue of T`, `sliding array of T`, `sliding map of T`."""

    kind: Literal["option", "set", "queue", "sliding array", "sliding map"]
    item: TypeExpr


@record(frozen=True, slots=True)
class MapType(Node):
    """`map K to V`."""

    key: TypeExpr
    value: TypeExpr


TypeExpr: TypeAlias = NamedType | CollectionType | MapType


# --- expressions -------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class Number(Node):
    value: int


@record(frozen=True, slots=True)
class Truth(Node):
    value: bool


@record(frozen=True, slots=True)
class Nothing(Node):
    """`none`: the absent option."""


@record(frozen=True, slots=True)
class Empty(Node):
    """`empty`: the empty set, queue, map, sliding array or sliding map."""


@record(frozen=True, slots=True)
class Variable(Node):
    """A name used as a value: a local, a state variable, `self`, or a type as a domain."""

    name: str


@record(frozen=True, slots=True)
class FieldAccess(Node):
    """`e.name`: a field of a record or message, or a query of a collection (`first`, `size`, ...)."""

    target: Expr
    name: Name


@record(frozen=True, slots=True)
class IndexAccess(Node):
    """`e[k]`: a map at a key, a sliding array at an index."""

    target: Expr
    key: Expr


@record(frozen=True, slots=True)
class Apply(Node):
    """`f(a, b)`: a relation or function of a theory or machine, a built-in (`max`, `min`, `some`), or a definition.

    `process`: in a property, `f@p(a, b)` is the definition for process p's state.
    """

    function: Name
    arguments: tuple[Expr, ...]
    process: Expr | None = None


@record(frozen=True, slots=True)
class FieldValue(Node):
    name: Name
    value: Expr


@record(frozen=True, slots=True)
class Construct(Node):
    """`Msg(rcv: j, mid: ck)`: a record by its fields (at least one)."""

    record: Name
    fields: tuple[FieldValue, ...]


@record(frozen=True, slots=True)
class SetDisplay(Node):
    """`{a, b}` (at least one item; the empty set is `empty`)."""

    items: tuple[Expr, ...]


@record(frozen=True, slots=True)
class Not(Node):
    operand: Expr


BinaryOperator: TypeAlias = Literal[
    "and",
    "or",
    "implies",
    "iff",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "+",
    "-",
    "*",
    "leads to",
]


@record(frozen=True, slots=True)
class Binary(Node):
    """`and` and `or` are left-associative; `implies` is right-associative; comparisons do not chain."""

    operator: BinaryOperator
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class IsTest(Node):
    """`e is empty`, `e is not empty`, `e is none`, `e is not none`."""

    target: Expr
    what: Literal["empty", "none"]
    negated: bool


@record(frozen=True, slots=True)
class Conditional(Node):
    """`if c then a else b`."""

    condition: Expr
    then: Expr
    otherwise: Expr


@record(frozen=True, slots=True)
class PacketPattern(Node):
    """`KIND(a, b, ...) from p to q`: names for what a packet has; with `rest`, the other parameters have none.

    `ahead`: the packet is on the channel of the packet around it, and arrives before that.
    """

    parameters: tuple[Name, ...]
    rest: bool
    sender: Name | None
    receiver: Name | None
    ahead: bool = False


Verb: TypeAlias = Literal["delivers", "receives", "does"]


@record(frozen=True, slots=True)
class ActionPattern(Node):
    """`p delivers m`, `p receives KIND(a, ...) from q`, `p does input(k)`: names for what an action has.

    `kind` is the packet kind or the input; None for `delivers`, whose one parameter is the message.
    """

    verb: Verb
    process: Name
    kind: Name | None
    parameters: tuple[Name, ...]
    rest: bool
    sender: Name | None


@record(frozen=True, slots=True)
class Binder(Node):
    """A bound variable: `x`, `x: T`, or `x in e` (at most one of type and domain).

    With `packet`, `KIND(a, b) from p to q in flight`: `name` is the packet kind, and the pattern's names are bound.
    With `action`, what is behind `when`: `name` is the process, and the pattern's names are bound. With `ahead`, `x
    ahead`: an element of the queue of the variable around it, before that.
    """

    name: Name
    type: TypeExpr | None = None
    domain: Expr | None = None
    packet: PacketPattern | None = None
    action: ActionPattern | None = None
    ahead: bool = False

    @property
    def names(self) -> tuple[Name, ...]:
        """The names that are bound."""
        if self.action is not None:
            sender = () if self.action.sender is None else (self.action.sender,)
            return (self.action.process, *self.action.parameters, *sender)
        if self.packet is None:
            return (self.name,)
        ends = (self.packet.sender, self.packet.receiver)
        return (*self.packet.parameters, *(name for name in ends if name is not None))


@record(frozen=True, slots=True)
class Quantified(Node):
    """`forall x, y: T. P`, `exists x. P`, `count x: T. P` (count is a nat). Extends as far right as it can.

    `a, b: T` gives each name its own binder: a type written after several names holds for all of them. `when` is a
    whole formula, with one binder, for an action.
    """

    kind: Literal["forall", "exists", "count", "sum", "when"]
    binders: tuple[Binder, ...]
    body: Expr


@record(frozen=True, slots=True)
class At(Node):
    """`X@p`: process p's copy of the state variable X; in properties only."""

    variable: Name
    process: Expr


Expr: TypeAlias = (
    Number
    | Truth
    | Nothing
    | Empty
    | Variable
    | FieldAccess
    | IndexAccess
    | Apply
    | Construct
    | SetDisplay
    | Not
    | Binary
    | IsTest
    | Conditional
    | Quantified
    | At
)
