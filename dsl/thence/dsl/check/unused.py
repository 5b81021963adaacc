"""The declarations of a protocol that are not used."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.observability import unsaid_kinds
from thence.dsl.ir.traversal import nodes
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
    used = {node.symbol for node in nodes(_users(typed)) if isinstance(node, ir.Apply)}
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


def _users(typed: ir.Protocol) -> tuple[object, ...]:
    """The parts of a protocol that may use a constant."""
    return (typed.handlers, typed.procedures, typed.formulas, typed.state)


def _warn_of_unsaid(protocol: syntax.Protocol, typed: ir.Protocol, reporter: Reporter) -> None:
    unsaid = {kind.name for kind in unsaid_kinds(typed)}
    for packet in protocol.messages:
        if packet.name.text in unsaid:
            reporter.warning(
                "W0930",
                packet.name.span,
                f"packet `{packet.name.text}` holds messages, and does not say which one it carries",
                "write `carries m`: without it, `csps`, `sps` and over-delay cannot be judged, and no arrival is drawn",
            )
