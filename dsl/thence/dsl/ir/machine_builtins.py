"""What the tool keeps for every machine: the history of sends and deliveries, happens-before, and the properties.

A machine declares and updates none of these. `causal_send(m)` has the guard `not sent(m)` and the updates

    hb(x, m) := past(src(m), x)          before(x, m) := sent(x) and src(x) = src(m)
    past(src(m), m) := true              sent(m) := true

and `deliver(m)` has the updates

    delivered_before(x, m) := delivered(x) and dst(x) = dst(m) and x != m
    past(dst(m), x) := past(dst(m), x) or x = m or hb(x, m)
    delivered(m) := true

In a multicast machine a message has a set of destinations, `to(m, p)`, and `deliver(m, p)` has the updates

    delivered_before(x, m, p) := delivered(x, p) and x != m
    past(p, x) := past(p, x) or x = m or hb(x, m)
    delivered(m, p) := true

In a broadcast machine every process other than its sender is a destination of a message; whether the sender is one
too is free, or said by an axiom.

`past(p, x)`: x is in the causal past of process p. `hb` is happens-before of messages: of their causal sends.
No transitive closure is needed: the past of a process is closed under `hb`, and grows by deliveries.
"""

from __future__ import annotations

from typing import Literal

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS, Type

_OF_MESSAGE = ir.Variable("m", MESSAGE)
_AT_PROCESS = ir.Variable("p", PROCESS)
_TWO_MESSAGES = (ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE))

SRC = ir.Symbol("src", (_OF_MESSAGE,), PROCESS)
DST = ir.Symbol("dst", (_OF_MESSAGE,), PROCESS)
TO = ir.Symbol("to", (_OF_MESSAGE, _AT_PROCESS), BOOL)
SENT = ir.Symbol("sent", (_OF_MESSAGE,), BOOL)
DELIVERED = ir.Symbol("delivered", (_OF_MESSAGE,), BOOL)
DELIVERED_AT = ir.Symbol("delivered", (_OF_MESSAGE, _AT_PROCESS), BOOL)
BEFORE = ir.Symbol("before", _TWO_MESSAGES, BOOL)
PAST = ir.Symbol("past", (_AT_PROCESS, _OF_MESSAGE), BOOL)
HB = ir.Symbol("hb", _TWO_MESSAGES, BOOL)
DELIVERED_BEFORE = ir.Symbol("delivered_before", _TWO_MESSAGES, BOOL)
DELIVERED_BEFORE_AT = ir.Symbol("delivered_before", (*_TWO_MESSAGES, _AT_PROCESS), BOOL)

SYMBOLS = (SRC, DST, SENT, DELIVERED, BEFORE, PAST, HB, DELIVERED_BEFORE)
"""The built-in functions and relations of a unicast machine."""

MULTICAST_SYMBOLS = (SRC, TO, SENT, DELIVERED_AT, BEFORE, PAST, HB, DELIVERED_BEFORE_AT)
"""Those of a multicast or broadcast machine."""

MACHINE_PROPERTIES = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order")
"""What `prove` can name besides the machine's own invariants."""

OF_NETWORK_SENDS = ("csps", "sps")
"""The properties that need a `relation network_sent(m: message)`."""


def built_in_symbols(delivery: ir.Delivery) -> tuple[ir.Symbol, ...]:
    """The built-in functions and relations."""
    return SYMBOLS if delivery == "unicast" else MULTICAST_SYMBOLS


HISTORY_TRANSITIONS = ("causal_send", "deliver")
"""The transitions that every machine has: the history grows there."""


def history_parameters(transition: str, delivery: ir.Delivery) -> tuple[ir.Variable, ...]:
    """The parameters of one of the `HISTORY_TRANSITIONS`: a message, and in multicast the process that delivers it."""
    at_one = transition == "deliver" and delivery != "unicast"
    return (_OF_MESSAGE, _AT_PROCESS) if at_one else (_OF_MESSAGE,)


def rigid_symbols(delivery: ir.Delivery) -> frozenset[str]:
    """The built-in symbols that never change: who sends a message, and to whom."""
    return frozenset({"src", "dst"} if delivery == "unicast" else {"src", "to"})


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
_P, _Q = ir.Local(PROCESS, "p"), ir.Local(PROCESS, "q")
_SAME_SRC = _equal(_src(_A), _src(_B))
_SAME_DST = _equal(_dst(_A), _dst(_B))


def _fact(name: str, body: ir.Expr, doc: str, **variables: Type) -> ir.NamedFormula:
    return ir.NamedFormula(f"ghost_{name}", _forall(body, **variables), doc)


_OF_SENDS: tuple[ir.NamedFormula, ...] = (
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
)

_OF_DELIVERIES: tuple[ir.NamedFormula, ...] = (
    _fact(
        "delivered_past",
        _implies(_holds("delivered", _M), _and(_holds("sent", _M), _holds("past", _dst(_M), _M))),
        "a delivered message was sent and is in its receiver's past",
        m=MESSAGE,
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

_OF_MULTICAST_DELIVERIES: tuple[ir.NamedFormula, ...] = (
    _fact(
        "delivered_past",
        _implies(_holds("delivered", _M, _P), _and(_holds("sent", _M), _holds("past", _P, _M))),
        "a delivered message was sent and is in its receiver's past",
        m=MESSAGE,
        p=PROCESS,
    ),
    _fact(
        "delivery_order",
        _implies(
            _holds("delivered_before", _A, _B, _P),
            _and(_holds("delivered", _A, _P), _holds("delivered", _B, _P), _not(_equal(_A, _B))),
        ),
        "the delivery order of a process is between messages that it delivered",
        a=MESSAGE,
        b=MESSAGE,
        p=PROCESS,
    ),
    _fact(
        "delivery_total",
        _implies(
            _and(_holds("delivered", _A, _P), _holds("delivered", _B, _P), _not(_equal(_A, _B))),
            _or(_holds("delivered_before", _A, _B, _P), _holds("delivered_before", _B, _A, _P)),
        ),
        "the messages that a process delivered are ordered",
        a=MESSAGE,
        b=MESSAGE,
        p=PROCESS,
    ),
)

GHOST_FACTS = (*_OF_SENDS, *_OF_DELIVERIES)
"""The facts about the history of a unicast machine; see `ghost_facts`."""

_MULTICAST_GHOST_FACTS = (*_OF_SENDS, *_OF_MULTICAST_DELIVERIES)


def ghost_facts(delivery: ir.Delivery) -> tuple[ir.NamedFormula, ...]:
    """True in every reachable state of every machine whose deliveries are of sent messages, and inductive together.

    They are proved with each machine, not assumed: `ghost_delivered_past` rests on the guard of `deliver`.
    """
    return GHOST_FACTS if delivery == "unicast" else _MULTICAST_GHOST_FACTS


def built_in_axioms(delivery: ir.Delivery) -> tuple[ir.NamedFormula, ...]:
    """What is true of the destinations of every message."""
    if delivery != "broadcast":
        return ()
    everyone = _implies(_not(_equal(_P, _src(_M))), _holds("to", _M, _P))
    return (
        _fact("broadcast", everyone, "a message goes to every process other than its sender", m=MESSAGE, p=PROCESS),
    )


_ORDERED = {
    "causal": ("hb", "what happens before a message to the same process is delivered before it"),
    "fifo": ("before", "messages from one process to another are delivered in causal-send order"),
}


def property_formula(name: str, delivery: ir.Delivery = "unicast") -> ir.NamedFormula:
    """A built-in property of states; `at_most_once` is about a transition and has its own function.

    Where a message has several destinations: `causal` and `fifo` are about each process that two messages go to; for
    `csps` and `sps` a message is delivered when each of its destinations has delivered it, and it is network-sent at
    once to all of them. `total_order`: no two processes deliver two messages in different orders.
    """
    match name:
        case "causal" | "fifo":
            relation, doc = _ORDERED[name]
            return ir.NamedFormula(name, _in_order(relation, delivery), doc)
        case "csps" | "sps":
            doc = "what happens before a message, sent by others, is delivered when it is network-sent"
            if name == "sps":
                doc += ", unless it goes to this sender or comes from the destination (Almeida, Definition 4.1)"
            return ir.NamedFormula(name, _permitted(name, delivery), doc)
        case "no_creation":
            if delivery == "unicast":
                body = _forall(_implies(_holds("delivered", _M), _holds("sent", _M)), m=MESSAGE)
                return ir.NamedFormula(name, body, "only messages that were sent are delivered")
            due = _and(_holds("sent", _M), _holds("to", _M, _P))
            body = _forall(_implies(_holds("delivered", _M, _P), due), m=MESSAGE, p=PROCESS)
            return ir.NamedFormula(name, body, "only messages that were sent are delivered, and only where they go")
        case "total_order":
            doc = "no two messages are delivered in one order here and in the other there"
            if delivery == "unicast":
                crossed = _and(_holds("delivered_before", _A, _B), _holds("delivered_before", _B, _A))
                return ir.NamedFormula(name, _forall(_not(crossed), a=MESSAGE, b=MESSAGE), doc)
            crossed = _and(_holds("delivered_before", _A, _B, _P), _holds("delivered_before", _B, _A, _Q))
            body = _forall(_not(crossed), a=MESSAGE, b=MESSAGE, p=PROCESS, q=PROCESS)
            return ir.NamedFormula(name, body, doc)
        case _:
            raise ValueError(f"{name} is not a built-in property of states")


def _in_order(relation: str, delivery: ir.Delivery) -> ir.Expr:
    """Of two messages to one process that the relation orders, the first is delivered first."""
    if delivery == "unicast":
        premises = _and(_holds(relation, _A, _B), _SAME_DST, _holds("delivered", _B))
        in_order = _and(_holds("delivered", _A), _holds("delivered_before", _A, _B))
        return _forall(_implies(premises, in_order), a=MESSAGE, b=MESSAGE)
    both_due = (_holds("to", _A, _P), _holds("to", _B, _P))
    premises = _and(_holds(relation, _A, _B), *both_due, _holds("delivered", _B, _P))
    in_order = _and(_holds("delivered", _A, _P), _holds("delivered_before", _A, _B, _P))
    return _forall(_implies(premises, in_order), a=MESSAGE, b=MESSAGE, p=PROCESS)


def _permitted(name: Literal["csps", "sps"], delivery: ir.Delivery) -> ir.Expr:
    """Almeida, Definitions 4.3 and 4.1: what has been delivered when m is network-sent."""
    premises = _and(_holds("network_sent", _M), _holds("hb", _A, _M), _not(_equal(_src(_A), _src(_M))))
    if delivery == "unicast":
        if name == "sps":
            premises = _and(premises, _not(_equal(_dst(_A), _src(_M))), _not(_equal(_src(_A), _dst(_M))))
        return _forall(_implies(premises, _holds("delivered", _A)), a=MESSAGE, m=MESSAGE)
    premises = _and(premises, _holds("to", _A, _P))
    variables = {"a": MESSAGE, "m": MESSAGE, "p": PROCESS}
    if name == "sps":
        premises = _and(premises, _not(_equal(_P, _src(_M))), _holds("to", _M, _Q), _not(_equal(_src(_A), _Q)))
        variables["q"] = PROCESS
    return _forall(_implies(premises, _holds("delivered", _A, _P)), **variables)


def at_most_once(*parameters: ir.Variable) -> ir.NamedFormula:
    """What the guard of `deliver` has to imply, over its parameters: the message is not delivered there yet."""
    body = _not(_holds("delivered", *(ir.Local(parameter.type, parameter.name) for parameter in parameters)))
    return ir.NamedFormula("at_most_once", body, "no message is delivered twice")
