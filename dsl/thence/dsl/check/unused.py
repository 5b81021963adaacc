"""The declarations of a protocol that are not used, and what it declares and no scope explores."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from thence.dsl import ir
from thence.dsl.ir.observability import unsaid_kinds
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter


def warn_of_unused(protocol: syntax.Protocol, typed: ir.Protocol, reporter: Reporter) -> None:
    """Warns of state, packet kinds and procedures that nothing uses, and of a protocol that delivers nothing."""
    state: set[str] = set()
    sent: set[str] = set()
    called: set[str] = set()
    delivers = False
    for node in nodes((typed.handlers, typed.procedures, typed.formulas)):
        match node:
            case ir.StateOf(name=name):
                state.add(name)
            case ir.Send(kind=kind):
                sent.add(kind)
            case ir.Call(procedure=procedure):
                called.add(procedure)
            case ir.Deliver():
                delivers = True
            case _:
                pass
    _warn_of_unsaid(protocol, typed, reporter)
    users = _users(typed) if protocol.values else ()
    used = {node.symbol for node in nodes(users) if isinstance(node, ir.Apply)}
    for value in protocol.values:
        if value.name.text not in used:
            reporter.warning("W0932", value.name.span, f"{value.keyword} `{value.name.text}` is never used")
    received = {handler.kind for handler in typed.handlers if handler.event == "receive"}
    for variable in protocol.state:
        if variable.name.text not in state:
            reporter.warning("W0901", variable.name.span, f"state variable `{variable.name.text}` is never used")
    for packet in protocol.messages:
        name = packet.name.text
        if name not in sent:
            reporter.warning("W0902", packet.name.span, f"packet kind `{name}` is never sent")
        elif name not in received:
            reporter.warning(
                "W0903",
                packet.name.span,
                f"packet kind `{name}` is sent but has no handler",
                f"write `on receive {name}(...) from j:`",
            )
    for declared in protocol.procedures:
        if declared.name.text not in called:
            reporter.warning("W0904", declared.name.span, f"procedure `{declared.name.text}` is never called")
    if typed.sends and not delivers:
        reporter.warning("W0907", protocol.name.span, f"protocol `{protocol.name.text}` never delivers a message")


def warn_of_unexplored(
    protocol: syntax.Protocol,
    typed: ir.Protocol,
    workloads: Sequence[ir.Workload],
    said: Collection[str],
    reporter: Reporter,
) -> None:
    """Warns of faults of the network, and of timers, that none of the file's scopes of the protocol has. `said`: the
    settings that any of them has, if only to say that it is none."""
    for word in protocol.network:
        fault, setting = {"lossy": ("loses", "losses"), "duplicating": ("duplicates", "duplicates")}.get(
            word.text, ("", "")
        )
        if setting and setting not in said and not any(getattr(workload, setting) for workload in workloads):
            reporter.warning(
                "W0917",
                word.span,
                f"the network of `{typed.name}` is `{word.text}`, and it {fault} nothing in any scope of this file",
                f"write `{setting} 1` in a scope, or `{setting} 0` if that is meant",
            )
    for handler in protocol.handlers:
        timer = ir.PERIODICALLY if handler.kind is None else handler.kind.text
        never = all(workload.ticks_of(timer) == 0 for workload in workloads)
        if handler.event == "periodically" and never:
            reporter.warning(
                "W0918",
                handler.span if handler.kind is None else handler.kind.span,
                f"no scope of this file lets the timer `{timer}` of `{typed.name}` fire before the end of a run",
                "with `ticks 0` it fires for `delivered` only, when nothing else is left; write `ticks 1`",
            )


def _users(typed: ir.Protocol) -> tuple[object, ...]:
    """The parts of a protocol that may use a constant."""
    return (typed.handlers, typed.procedures, typed.formulas, typed.state)


def _warn_of_unsaid(protocol: syntax.Protocol, typed: ir.Protocol, reporter: Reporter) -> None:
    unsaid = {kind.name: kind for kind in unsaid_kinds(typed)}
    lost = "`csps`, `sps` and over-delay cannot be judged, and no arrival is drawn"
    for packet in protocol.messages:
        kind = unsaid.get(packet.name.text)
        if kind is not None:
            one = any(parameter.type == MESSAGE for parameter in kind.parameters)
            reporter.warning(
                "W0930",
                packet.name.span,
                f"packet `{packet.name.text}` holds messages, and does not say which one it carries",
                f"write `carries m`: without it, {lost}" if one else f"it may hold many, so it cannot say it: {lost}",
            )
