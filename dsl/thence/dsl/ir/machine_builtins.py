"""The symbols that every machine comes with: the history of sends and deliveries, and happens-before.

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
The facts about the history and the built-in properties are in `check.built_in`.
"""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS

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

MACHINE_PROPERTIES = ("causal", "causally_ordered", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order")
"""The names under `prove` besides the machine's own invariants."""

HISTORY = "history"
"""The name of the result that the facts about the history are kept."""

VACUITY = "vacuity"
"""The name of the result that every transition can happen."""

OF_NETWORK_SENDS = ("csps", "sps")
"""The properties that need a `relation network_sent(m: message)`."""


def built_in_symbols(delivery: ir.MachineDelivery) -> tuple[ir.Symbol, ...]:
    """The built-in functions and relations."""
    if delivery == "off":
        return ()
    return SYMBOLS if delivery == "unicast" else MULTICAST_SYMBOLS


HISTORY_TRANSITIONS = ("causal_send", "deliver")
"""The transitions at which the history grows. Every machine with messages has them."""


def history_transitions(delivery: ir.MachineDelivery) -> tuple[str, ...]:
    """The transitions at which the history of a machine grows."""
    return () if delivery == "off" else HISTORY_TRANSITIONS


def history_parameters(transition: str, delivery: ir.MachineDelivery) -> tuple[ir.Variable, ...]:
    """The parameters of one of the `HISTORY_TRANSITIONS`: a message, and in multicast the process that delivers it."""
    at_one = transition == "deliver" and delivery != "unicast"
    return (_OF_MESSAGE, _AT_PROCESS) if at_one else (_OF_MESSAGE,)


def rigid_symbols(delivery: ir.MachineDelivery) -> frozenset[str]:
    """The built-in symbols that never change: who sends a message, and to whom."""
    if delivery == "off":
        return frozenset()
    return frozenset({"src", "dst"} if delivery == "unicast" else {"src", "to"})


def at_most_once(*parameters: ir.Variable) -> ir.NamedFormula:
    """The condition that the guard of `deliver` has to imply, over its parameters: not delivered there yet."""
    arguments = tuple(ir.Local(parameter.type, parameter.name) for parameter in parameters)
    body = ir.Not(BOOL, ir.Apply(BOOL, "delivered", arguments))
    return ir.NamedFormula("at_most_once", body, "no message is delivered twice")
