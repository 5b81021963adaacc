"""Built-in properties that a protocol claims, and the fairness that it assumes."""

from __future__ import annotations

from collections.abc import Collection

from thence.dsl.check.terms.environment import declare, listed
from thence.dsl.ir.observability import OF_NETWORK_SENDS
from thence.dsl.ir.properties import DEADLOCK_FREE
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span

PROTOCOL_PROPERTIES = (
    "causal", "causally_ordered", "fifo", "at_most_once", "no_creation", "csps", "sps", "total_order", "deadlock_free",
)  # fmt: skip
"""The names under `property`."""
LIVENESS = ("delivered",)
"""The names under `eventually`."""


_OF_CHOICES = (
    "no choice is fair: a run may take the same branch for ever. Where a branch is to come in the end, make it an "
    "input, `on NAME: ...`, or a timer, `periodically NAME: ...`, and write `under fair NAME`",
)
"""Said to those who want a choice to be fair."""


def check_properties(protocol: syntax.Protocol, carried: dict[str, int | None], reporter: Reporter) -> tuple[str, ...]:
    names: dict[str, Span] = {}
    for name in protocol.properties:
        if name.text in LIVENESS:
            reporter.error(
                "E0410", name.span, f"`{name.text}` is not a safety property", f"write `eventually {name.text}`"
            )
        elif name.text not in PROTOCOL_PROPERTIES:
            reporter.error(
                "E0410",
                name.span,
                f"there is no property `{name.text}`",
                *did_you_mean(name.text, PROTOCOL_PROPERTIES),
                f"the properties are {listed(PROTOCOL_PROPERTIES)}; anything else is an `invariant`",
            )
        elif not _sends(protocol) and name.text != DEADLOCK_FREE:
            _refuse_about_messages(name, protocol, reporter)
        elif name.text in OF_NETWORK_SENDS and all(position is None for position in carried.values()):
            reporter.error(
                "E0412",
                name.span,
                f"`{name.text}` is about network sends, but no packet kind carries a message",
                "say which one does: `message MSG(m: message) carries m`",
            )
        else:
            declare(name, "property", names, reporter)
    return tuple(names)


def _sends(protocol: syntax.Protocol) -> bool:
    return any(handler.event == "causal_send" for handler in protocol.handlers)


def _refuse_about_messages(name: syntax.Name, protocol: syntax.Protocol, reporter: Reporter) -> None:
    """Reports a property of messages where the application sends none: it would hold of nothing."""
    if any(handler.event == "input" for handler in protocol.handlers):  # else the handler is missing: reported
        said = f"`{name.text}` is about messages of the application, and `{protocol.name.text}` has no `on causal_send`"
        reporter.error("E0424", name.span, said, "state what is to be true as an `invariant`, or `reachable`")


def _fairness(protocol: syntax.Protocol, reporter: Reporter) -> tuple[syntax.Name, ...]:
    """The fairness of all that is to happen eventually: one, whether one line says it or each."""
    said = (protocol.fairness, protocol.weakly)
    for promise in protocol.promises:
        own = (promise.fairness, promise.weakly)
        if (
            promise.fairness
            and said[0]
            and ({name.text for name in said[0]}, said[1])
            != (
                {name.text for name in own[0]},
                own[1],
            )
        ):
            message = f"`{promise.formula.name.text}` assumes another fairness than the lines before it"
            reporter.error("E0413", promise.fairness[0].span, message, "a protocol has one fairness: say it once")
        elif promise.fairness:
            said = own
    return said[0]


def check_liveness(
    protocol: syntax.Protocol, packets: Collection[str], reporter: Reporter
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for name in protocol.eventually:
        if name.text not in LIVENESS:
            reporter.error(
                "E0413",
                name.span,
                f"`eventually` does not take `{name.text}` without a formula",
                "write `eventually delivered`, or `eventually NAME: P`",
            )
        elif not _sends(protocol):
            _refuse_about_messages(name, protocol, reporter)
    timers = [handler.kind.text for handler in protocol.handlers if handler.event == "periodically" and handler.kind]
    inputs = [handler.kind.text for handler in protocol.handlers if handler.event == "input" and handler.kind]
    fair = ("receive", "periodically", "causal_send", *packets, *timers, *inputs)
    fairness = _fairness(protocol, reporter)
    for name in fairness:
        if name.text not in fair:
            reporter.error(
                "E0413",
                name.span,
                f"`under fair` does not take `{name.text}`",
                *did_you_mean(name.text, fair),
                "it takes `receive`, `periodically`, `causal_send`, a packet kind, a timer or an input",
                *(_OF_CHOICES if name.text in ("choose", "either", "choice", "choices") else ()),
            )
    return tuple(name.text for name in protocol.eventually), tuple(name.text for name in fairness)
