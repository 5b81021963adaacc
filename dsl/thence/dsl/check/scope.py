"""A scope, checked and typed."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.expectations import Exploration, check_expectations
from thence.dsl.check.stated.claims import LIVENESS, PROTOCOL_PROPERTIES
from thence.dsl.check.terms.constants import kinds_of
from thence.dsl.check.terms.delivery import delivery_of
from thence.dsl.check.terms.environment import listed
from thence.dsl.check.workloads.by_name import Settings, overridden
from thence.dsl.check.workloads.destinations import silent_senders
from thence.dsl.check.workloads.kind import ProtocolKind
from thence.dsl.check.workloads.workload import build_workload
from thence.dsl.ir.properties import COMPLETES
from thence.dsl.ir.traversal import nodes
from thence.dsl.text import syntax
from thence.dsl.text.programs import imbalance
from thence.dsl.text.reporter import Reporter
from thence.spec.words import counted


def expectable(protocol: syntax.Protocol) -> set[str]:
    """The names in expectations about the protocol in a scope."""
    invariants = {
        formula.name.text or f"invariant_{position}" for position, formula in enumerate(protocol.invariants, start=1)
    }
    promises = (promise.formula for promise in protocol.promises)
    named = {formula.name.text for formula in (*protocol.reachable, *protocol.rest, *promises)}
    return {*PROTOCOL_PROPERTIES, *LIVENESS, "fault", COMPLETES, *invariants, *named}


def declared_kind(subject: syntax.Protocol | syntax.Machine) -> ProtocolKind:
    """The kind of a protocol before it is checked; machines have no scopes."""
    delivery = delivery_of(subject.delivery)
    if isinstance(subject, syntax.Machine):
        return ProtocolKind(delivery)
    inputs = tuple(
        (handler.kind.text, tuple((one.name.text, _type_name(one)) for one in handler.parameters))
        for handler in subject.handlers
        if handler.event == "input" and handler.kind is not None
    )
    sends = any(handler.event == "causal_send" for handler in subject.handlers)
    tree, overlay = (any(word.text == known for word in subject.network) for known in ("tree", "overlay"))
    chooses = any(
        isinstance(node, syntax.Choose | syntax.Either) for node in nodes((subject.handlers, subject.procedures))
    )
    return ProtocolKind(delivery, tree, timers_of(subject), sends, inputs, kinds_of(subject.values), chooses, overlay)


def _type_name(parameter: syntax.Parameter) -> str:
    """The type of an input's parameter as it is written; what has none is reported with the protocol."""
    return parameter.type.name if isinstance(parameter.type, syntax.NamedType) else ""


def timers_of(protocol: syntax.Protocol) -> tuple[str, ...]:
    """The names of the protocol's timers; `periodically` is the one that has none."""
    timers = [handler for handler in protocol.handlers if handler.event == "periodically"]
    return tuple(ir.PERIODICALLY if timer.kind is None else timer.kind.text for timer in timers)


def check_scope(scope: syntax.Scope, protocol: syntax.Protocol, reporter: Reporter) -> tuple[ir.Scope, Settings] | None:
    """The typed scope and its settings; None if anything in it is erroneous."""
    before = reporter.errors
    settings = overridden({}, scope.settings)
    kind = declared_kind(protocol)
    workload = build_workload(settings, scope.name.span, reporter, kind)
    if workload is None:
        return None
    name = protocol.name.text
    expects = check_expectations(
        scope.expects,
        reporter,
        "scope",
        expectable(protocol),
        f"protocol `{name}`",
        Exploration(name, {scope.name.text: settings}, settings, kind=kind),
    )
    if reporter.errors > before:
        return None
    _warn(scope, protocol, settings, workload, reporter)
    typed = ir.Scope(scope.name.text, name, workload, expects, doc=scope.doc, span=scope.span)
    return typed, settings


def _warn(
    scope: syntax.Scope,
    protocol: syntax.Protocol,
    settings: Settings,
    workload: ir.Workload,
    reporter: Reporter,
) -> None:
    words = {word.text for word in protocol.network}
    for setting, number, word in (
        ("duplicates", workload.duplicates, "duplicating"),
        ("losses", workload.losses, "lossy"),
    ):
        if number and word not in words:
            reporter.warning(
                "W0909",
                settings[setting].span,
                f"`{setting}`, but the network of `{protocol.name.text}` is not `{word}`",
                "the scope is explored all the same: with faults that the protocol does not have to stand",
            )
    if workload.fifo and "fifo" in words:
        reporter.warning("W0914", settings["fifo"].span, f"the network of `{protocol.name.text}` is `fifo` anyway")
    timers = timers_of(protocol)
    if workload.ticks and not timers:
        reporter.warning(
            "W0910", settings["ticks"].span, f"`ticks`, but `{protocol.name.text}` does nothing `periodically`"
        )
    for handler in protocol.handlers:
        if handler.event == "input" and handler.kind is not None:
            name = handler.kind.text
            if f"input {name}" not in settings:
                reporter.warning(
                    "W0916",
                    scope.name.span,
                    f"the input `{name}` of `{protocol.name.text}` never comes in this scope",
                    f"write `{name} 1 per process`, or `{name} 0 per process` if that is meant",
                )
    wrong = imbalance(workload.programs)
    if wrong is not None:
        process, taken, sent = wrong
        reporter.warning(
            "W0913",
            settings[f"program {process}"].span,
            f"process {process} receives {counted(taken, 'message')}; it is sent {sent}",
            "a message is delivered only where the program of its destination receives one",
        )
    silent = silent_senders(settings, workload)
    if silent:
        reporter.warning(
            "W0912",
            settings["destinations"].span,
            f"no destinations for {listed(str(process) for process in silent)}: it sends nothing"
            if len(silent) == 1
            else f"no destinations for {listed(str(process) for process in silent)}: they send nothing",
        )
