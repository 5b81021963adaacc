"""What the tool keeps for every machine: the history of sends and deliveries, happens-before, and the properties.

A machine declares and updates none of these. `causal_send(m)` has the guard `not sent(m)` and the updates

    hb(x, m) := past(src(m), x)          before(x, m) := sent(x) and src(x) = src(m)
    past(src(m), m) := true              sent(m) := true

and `deliver(m)` has the updates

    delivered_before(x, m) := delivered(x) and dst(x) = dst(m) and x != m
    past(dst(m), x) := past(dst(m), x) or x = m or hb(x, m)
    delivered(m) := true

`past(p, x)`: x is in the causal past of process p. `hb` is happens-before of messages: of their causal sends.
No transitive closure is needed: the past of a process is closed under `hb`, and grows by deliveries.
"""

from __future__ import annotations

from whence.dsl import ir
from whence.dsl.types import BOOL, MESSAGE, PROCESS, Type

SRC = ir.Symbol("src", (ir.Variable("m", MESSAGE),), PROCESS)
DST = ir.Symbol("dst", (ir.Variable("m", MESSAGE),), PROCESS)
SENT = ir.Symbol("sent", (ir.Variable("m", MESSAGE),), BOOL)
DELIVERED = ir.Symbol("delivered", (ir.Variable("m", MESSAGE),), BOOL)
BEFORE = ir.Symbol("before", (ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)), BOOL)
PAST = ir.Symbol("past", (ir.Variable("p", PROCESS), ir.Variable("m", MESSAGE)), BOOL)
HB = ir.Symbol("hb", (ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)), BOOL)
DELIVERED_BEFORE = ir.Symbol("delivered_before", (ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)), BOOL)

SYMBOLS = (SRC, DST, SENT, DELIVERED, BEFORE, PAST, HB, DELIVERED_BEFORE)
"""The built-in functions and relations."""

MACHINE_PROPERTIES = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation")
"""What `prove` can name besides the machine's own invariants."""

OF_NETWORK_SENDS = ("csps", "sps")
"""The properties that need a `relation network_sent(m: message)`."""


def _message(name: str) -> ir.Local:
    return ir.Local(MESSAGE, name)


def _holds(symbol: str, *arguments: ir.Expr) -> ir.Expr:
    return ir.Apply(BOOL, symbol, arguments)


def _src(message: ir.Expr) -> ir.Expr:
    return ir.Apply(PROCESS, "src", (message,))


def _dst(message: ir.Expr) -> ir.Expr:
    return ir.Apply(PROCESS, "dst", (message,))


def _equal(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Comparison(BOOL, "=", left, right)


def _not(operand: ir.Expr) -> ir.Expr:
    return ir.Not(BOOL, operand)


def _and(first: ir.Expr, *others: ir.Expr) -> ir.Expr:
    result = first
    for other in others:
        result = ir.Connective(BOOL, "and", result, other)
    return result


def _or(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Connective(BOOL, "or", left, right)


def _implies(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Connective(BOOL, "implies", left, right)


def _forall(body: ir.Expr, **variables: Type) -> ir.Expr:
    bounds = tuple(ir.Bound(type_, name) for name, type_ in variables.items())
    return ir.Quantified(BOOL, "forall", bounds, body)


_A, _B, _C, _M, _X, _Y = (_message(name) for name in "abcmxy")
_P = ir.Local(PROCESS, "p")
_SAME_SRC = _equal(_src(_A), _src(_B))
_SAME_DST = _equal(_dst(_A), _dst(_B))


def _fact(name: str, body: ir.Expr, doc: str, **variables: Type) -> ir.NamedFormula:
    return ir.NamedFormula(f"ghost_{name}", _forall(body, **variables), doc)


GHOST_FACTS: tuple[ir.NamedFormula, ...] = (
    _fact(
        "past_sent",
        _implies(_holds("past", _P, _X), _holds("sent", _X)),
        "pasts hold sent messages",
        p=PROCESS,
        x=MESSAGE,
    ),
    _fact(
        "hb_sent",
        _implies(_holds("hb", _A, _B), _and(_holds("sent", _A), _holds("sent", _B))),
        "happens-before relates sent messages",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "own_past",
        _implies(_holds("sent", _M), _holds("past", _src(_M), _M)),
        "a sent message is in its sender's past",
        m=MESSAGE,
    ),
    _fact(
        "delivered_past",
        _implies(_holds("delivered", _M), _and(_holds("sent", _M), _holds("past", _dst(_M), _M))),
        "a delivered message was sent and is in its receiver's past",
        m=MESSAGE,
    ),
    _fact(
        "past_closed",
        _implies(_and(_holds("past", _P, _X), _holds("hb", _Y, _X)), _holds("past", _P, _Y)),
        "pasts are closed under happens-before",
        p=PROCESS,
        x=MESSAGE,
        y=MESSAGE,
    ),
    _fact(
        "sender_past",
        _implies(_holds("hb", _A, _B), _holds("past", _src(_B), _A)),
        "what happens before a message is in its sender's past",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "hb_transitive",
        _implies(_and(_holds("hb", _A, _B), _holds("hb", _B, _C)), _holds("hb", _A, _C)),
        "happens-before is transitive",
        a=MESSAGE,
        b=MESSAGE,
        c=MESSAGE,
    ),
    _fact("hb_irreflexive", _not(_holds("hb", _A, _A)), "nothing happens before itself", a=MESSAGE),
    _fact(
        "before_hb",
        _implies(
            _holds("before", _A, _B),
            _and(_holds("sent", _A), _holds("sent", _B), _SAME_SRC, _holds("hb", _A, _B), _not(_equal(_A, _B))),
        ),
        "causal-send order is between messages of one sender, and within happens-before",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "before_total",
        _implies(
            _and(_holds("sent", _A), _holds("sent", _B), _SAME_SRC, _not(_equal(_A, _B))),
            _or(_holds("before", _A, _B), _holds("before", _B, _A)),
        ),
        "messages of one sender are ordered",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "before_asymmetric",
        _not(_and(_holds("before", _A, _B), _holds("before", _B, _A))),
        "causal-send order has no circles of two",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "before_transitive",
        _implies(_and(_holds("before", _A, _B), _holds("before", _B, _C)), _holds("before", _A, _C)),
        "causal-send order is transitive",
        a=MESSAGE,
        b=MESSAGE,
        c=MESSAGE,
    ),
    _fact(
        "hb_same_sender",
        _implies(_and(_holds("hb", _A, _B), _SAME_SRC), _holds("before", _A, _B)),
        "between messages of one sender, happens-before is causal-send order",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "delivery_order",
        _implies(
            _holds("delivered_before", _A, _B),
            _and(_holds("delivered", _A), _holds("delivered", _B), _SAME_DST, _not(_equal(_A, _B))),
        ),
        "delivery order is between delivered messages of one receiver",
        a=MESSAGE,
        b=MESSAGE,
    ),
    _fact(
        "delivery_total",
        _implies(
            _and(_holds("delivered", _A), _holds("delivered", _B), _SAME_DST, _not(_equal(_A, _B))),
            _or(_holds("delivered_before", _A, _B), _holds("delivered_before", _B, _A)),
        ),
        "messages delivered at one receiver are ordered",
        a=MESSAGE,
        b=MESSAGE,
    ),
)
"""True in every reachable state of every machine whose deliveries are of sent messages, and inductive together.

They are proved with each machine, not assumed: `ghost_delivered_past` rests on the guard of `deliver`.
"""

_DELIVERED_IN_ORDER = _and(_holds("delivered", _A), _holds("delivered_before", _A, _B))
_ORDERED = {
    "causal": ("hb", "what happens before a message to the same process is delivered before it"),
    "fifo": ("before", "messages from one process to another are delivered in causal-send order"),
}


def property_formula(name: str) -> ir.NamedFormula:
    """A built-in property of states; `at_most_once` is about a transition and has its own function."""
    match name:
        case "causal" | "fifo":
            relation, doc = _ORDERED[name]
            premises = _and(_holds(relation, _A, _B), _SAME_DST, _holds("delivered", _B))
            return ir.NamedFormula(name, _forall(_implies(premises, _DELIVERED_IN_ORDER), a=MESSAGE, b=MESSAGE), doc)
        case "csps" | "sps":
            premises = _and(_holds("network_sent", _M), _holds("hb", _A, _M), _not(_equal(_src(_A), _src(_M))))
            doc = "what happens before a message, sent by others, is delivered when it is network-sent"
            if name == "sps":
                premises = _and(premises, _not(_equal(_dst(_A), _src(_M))), _not(_equal(_src(_A), _dst(_M))))
                doc += ", unless it goes to this sender or comes from the destination (Almeida, Definition 4.1)"
            return ir.NamedFormula(
                name, _forall(_implies(premises, _holds("delivered", _A)), a=MESSAGE, m=MESSAGE), doc
            )
        case "no_creation":
            body = _forall(_implies(_holds("delivered", _M), _holds("sent", _M)), m=MESSAGE)
            return ir.NamedFormula(name, body, "only messages that were sent are delivered")
        case _:
            raise ValueError(f"{name} is not a built-in property of states")


def at_most_once(parameter: ir.Variable) -> ir.NamedFormula:
    """What the guard of `deliver` has to imply, over its parameter: the message is not delivered yet."""
    body = _not(_holds("delivered", ir.Local(MESSAGE, parameter.name)))
    return ir.NamedFormula("at_most_once", body, "no message is delivered twice")
