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


def delivery_of(words: Sequence[syntax.Name]) -> ir.Delivery:
    """The word of a delivery line that has been checked; `unicast` where it is missing or erroneous."""
    return next((delivery for delivery in DELIVERIES if words and words[0].text == delivery), "unicast")


def check_delivery(words: Sequence[syntax.Name], reporter: Reporter) -> ir.Delivery:
    """The word of the delivery line; `unicast` where there is none, or where it is erroneous, which is reported."""
    for word in words[1:]:
        reporter.error("E0418", word.span, "`delivery` is said twice", "one of " + listed(DELIVERIES))
    if words and words[0].text not in DELIVERIES:
        reporter.error(
            "E0418",
            words[0].span,
            f"`{words[0].text}` is not a kind of delivery",
            *did_you_mean(words[0].text, DELIVERIES),
            f"the kinds are {listed(DELIVERIES)}",
        )
    return delivery_of(words)


def report_dst(written: str, delivery: ir.Delivery, span: Span, instead: str, reporter: Reporter) -> None:
    """Reports the single destination of a message that has several."""
    reporter.error("E0419", span, f"there is no `{written}`: delivery is `{delivery}` here", instead)
