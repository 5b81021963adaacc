"""The expressions of the typed intermediate representation: names resolved, each with its type."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from thence.dsl.ir.types import Type
from thence.dsl.text.syntax import NOWHERE, Span
from thence.spec.value import record


@record(frozen=True, slots=True)
class Expression:
    """The base of every expression: its type and its place in the text."""

    type: Type
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Literal_(Expression):
    """A nat or a truth value."""

    value: int | bool


@record(frozen=True, slots=True)
class Zero(Expression):
    """The zero of its type: `none`, `empty`, 0, false."""


@record(frozen=True, slots=True)
class Local(Expression):
    """A parameter, a `let`, `ref` or `for` name, or a bound variable."""

    name: str


@record(frozen=True, slots=True)
class SelfProcess(Expression):
    """The process that takes the step."""


@record(frozen=True, slots=True)
class StateOf(Expression):
    """A state variable: of the process that takes the step, or in a property of `process` (`X@p`)."""

    name: str
    process: Expr | None


@record(frozen=True, slots=True)
class FieldOf(Expression):
    """A field of a record."""

    target: Expr
    name: str


@record(frozen=True, slots=True)
class Attribute(Expression):
    """`m.src`, `m.dst` (the only destination), `m.dsts` of a message, in a protocol."""

    target: Expr
    name: Literal["src", "dst", "dsts"]


@record(frozen=True, slots=True)
class Lookup(Expression):
    """A map at a key. A missing key reads as the zero of the value type, or is a fault where it has none."""

    target: Expr
    key: Expr


@record(frozen=True, slots=True)
class ElementAt(Expression):
    """A sliding array at an index; outside the window first <= i < next it is a fault.

    In invariants of links also a sliding map at a number; one that it does not have is a fault.
    """

    target: Expr
    index: Expr


@record(frozen=True, slots=True)
class Query(Expression):
    """`size` of any collection or map; `first` of a queue (an element); `first`, `next` (indices) and
    `peek` (an element) of a sliding array; `first`, `next` (indices) of a sliding map; `value` of an option.
    """

    target: Expr
    name: Literal["size", "first", "next", "peek", "value"]


@record(frozen=True, slots=True)
class Construct(Expression):
    """A record; `values` in the order of the record's fields."""

    values: tuple[Expr, ...]


@record(frozen=True, slots=True)
class SetOf(Expression):
    items: tuple[Expr, ...]


@record(frozen=True, slots=True)
class Some(Expression):
    item: Expr


@record(frozen=True, slots=True)
class Apply(Expression):
    """A relation or function of a theory or machine, declared or built in."""

    symbol: str
    arguments: tuple[Expr, ...]


@record(frozen=True, slots=True)
class NamedConstant(Apply):
    """A constant or role of a protocol, by its name."""


@record(frozen=True, slots=True)
class Not(Expression):
    operand: Expr


@record(frozen=True, slots=True)
class Connective(Expression):
    operator: Literal["and", "or", "implies", "iff"]
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class Comparison(Expression):
    """Equality at any type; order at nat and at ordered sorts. `!=`, `>`, `>=` have been rewritten."""

    operator: Literal["=", "<", "<="]
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class Member(Expression):
    """`e in S`: of a set, a queue, a sliding array or map (its elements), or a map (its keys)."""

    item: Expr
    collection: Expr


@record(frozen=True, slots=True)
class Arithmetic(Expression):
    """On nat. A difference below zero is a fault of the protocol."""

    operator: Literal["+", "-", "*", "max", "min"]
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class IsEmpty(Expression):
    target: Expr


@record(frozen=True, slots=True)
class IsNone(Expression):
    target: Expr


@record(frozen=True, slots=True)
class Conditional(Expression):
    condition: Expr
    then: Expr
    otherwise: Expr


@record(frozen=True, slots=True)
class Bound(Expression):
    """A bound variable: over all of its sort (process, message, a theory's sort), or over `domain`."""

    name: str
    domain: Expr | None = None


@record(frozen=True, slots=True)
class InFlight(Expression):
    """The packets of a kind that are in flight, as a queue of records: their parameters, then both ends.

    With `ahead`, a name for another packet in flight: those on its channel that arrive before it. There are none where
    channels do not keep their order.
    """

    kind: str
    ahead: Expr | None = None


@record(frozen=True, slots=True)
class Placed(Expression):
    """The elements of a queue, as a queue of records: the element, and its place in the queue.

    With `ahead`, a name for such a record: those before it.
    """

    queue: Expr
    ahead: Expr | None = None


@record(frozen=True, slots=True)
class Acted(Expression):
    """What was done in the step that has just been made, as a queue of records: by whom, with what.

    `delivers`: the process and the message. `receives` packets of a kind: the process, their parameters, and their
    sender. `does`: the process, and the parameters of the input `kind`.
    """

    verb: Literal["delivers", "receives", "does"]
    kind: str | None


@record(frozen=True, slots=True)
class Quantified(Expression):
    """A truth value; `count` and `sum` give a nat: of how many values the body is true, and the sum of its values."""

    kind: Literal["forall", "exists", "count", "sum"]
    variables: tuple[Bound, ...]
    body: Expr


Expr: TypeAlias = (
    Literal_
    | Zero
    | Local
    | SelfProcess
    | StateOf
    | FieldOf
    | Attribute
    | Lookup
    | ElementAt
    | Query
    | Construct
    | SetOf
    | Some
    | Apply
    | Not
    | Connective
    | Comparison
    | Member
    | Arithmetic
    | IsEmpty
    | IsNone
    | Conditional
    | InFlight
    | Placed
    | Acted
    | Quantified
)
