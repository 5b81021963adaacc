"""The delivery line of a machine or protocol, and the error of `dst` where a message has several destinations."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl import ir
from thence.dsl.check.terms.environment import listed
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span

DELIVERIES: tuple[ir.Delivery, ...] = ("unicast", "multicast", "broadcast")
MACHINE_DELIVERIES: tuple[ir.MachineDelivery, ...] = (*DELIVERIES, "off")
"""Those of machines: with off, there is no history of messages."""


def delivery_of(words: Sequence[syntax.Name]) -> ir.Delivery:
    """The word of a protocol's delivery line that has been checked; `unicast` where it is missing or erroneous."""
    return next((delivery for delivery in DELIVERIES if words and words[0].text == delivery), "unicast")


def machine_delivery_of(words: Sequence[syntax.Name]) -> ir.MachineDelivery:
    """As `delivery_of`, for a machine."""
    return "off" if words and words[0].text == "off" else delivery_of(words)


def check_delivery(words: Sequence[syntax.Name], reporter: Reporter) -> ir.Delivery:
    """The word of a protocol's delivery line; `unicast` where there is none, or an erroneous one, which is reported."""
    _check(words, DELIVERIES, reporter)
    return delivery_of(words)


def check_machine_delivery(words: Sequence[syntax.Name], reporter: Reporter) -> ir.MachineDelivery:
    """As `check_delivery`, for a machine."""
    _check(words, MACHINE_DELIVERIES, reporter)
    return machine_delivery_of(words)


def _check(words: Sequence[syntax.Name], kinds: Sequence[str], reporter: Reporter) -> None:
    for word in words[1:]:
        reporter.error("E0418", word.span, "`delivery` is said twice", "one of " + listed(kinds))
    if words and words[0].text not in kinds:
        reporter.error(
            "E0418",
            words[0].span,
            f"`{words[0].text}` is not a kind of delivery",
            *did_you_mean(words[0].text, kinds),
            f"the kinds are {listed(kinds)}",
        )


def report_dst(written: str, delivery: ir.MachineDelivery, span: Span, instead: str, reporter: Reporter) -> None:
    """Reports the single destination of a message that has several."""
    reporter.error("E0419", span, f"there is no `{written}`: delivery is `{delivery}` here", instead)
