"""A protocol, checked and typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.check.definitions import with_definitions
from thence.dsl.check.stated.claims import check_liveness, check_properties
from thence.dsl.check.stated.formulas import REACHABLE, check_formulas, check_promises
from thence.dsl.check.statements import BodyChecker, Signature
from thence.dsl.check.terms.constants import check_constants, types_of
from thence.dsl.check.terms.delivery import check_delivery
from thence.dsl.check.terms.environment import Vocabulary, a, declare, here, listed
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.types import resolve_parameter, resolve_records, resolve_type
from thence.dsl.ir.topology import BUILT_IN
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Type, has_zero
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.spec.words import counted


def check_protocol(
    protocol: syntax.Protocol, reporter: Reporter, shared: Sequence[syntax.Definition] = ()
) -> ir.Protocol | None:
    """The typed protocol; None if anything in it is erroneous. `shared` are the definitions of the file."""
    before = reporter.errors
    delivery = check_delivery(protocol.delivery, reporter)
    network = _network(protocol.network, protocol.name.span, reporter)
    types = resolve_records(protocol.records, reporter)
    packets, carried = _packets(protocol.messages, types, reporter)
    procedures = _procedures(protocol.procedures, types, reporter)
    given = next((word for word in protocol.network if word.text in BUILT_IN), None)
    fixed = {} if given is None else BUILT_IN[given.text]
    names = {} if given is None else dict.fromkeys(fixed, given.span)
    constants = check_constants(protocol.values, names, types, reporter)
    vocabulary = Vocabulary(
        "handler", types, procedures=frozenset(procedures), delivery=delivery, fixed=frozenset(fixed),
        constants=types_of(constants, protocol.values), kinds=packets,
    )  # fmt: skip
    state_types, state = _state(protocol, fixed, names, vocabulary, reporter)
    vocabulary = replace(vocabulary, state=state_types)
    _check_timers(protocol, packets, reporter)
    _check_inputs(protocol, packets, procedures, reporter)
    vocabulary = with_definitions(vocabulary, protocol.definitions, shared, protocol, reporter)
    handlers = [
        _handler(handler, vocabulary, packets, procedures, reporter) for handler in _distinct(protocol, reporter)
    ]
    bodies = [_procedure(procedure, vocabulary, packets, procedures, reporter) for procedure in protocol.procedures]
    _check_recursion(protocol.procedures, reporter)
    named: dict[str, Span] = {}
    inputs = {handler.kind: handler.parameters for handler in handlers if handler.event == "input" and handler.kind}
    of_steps = replace(vocabulary.at("property"), actions=True, inputs=inputs)
    invariants = check_formulas(protocol.invariants, "invariant", named, of_steps, reporter)
    witnesses = check_formulas(protocol.reachable, REACHABLE, named, of_steps, reporter)
    rest = check_formulas(protocol.rest, "formula at rest", named, vocabulary.at("property"), reporter)
    promises = check_promises(protocol.promises, named, vocabulary.at("property"), reporter)
    properties = check_properties(protocol, carried, reporter)
    eventually, fairness = check_liveness(protocol, packets, reporter)
    if reporter.errors > before:
        return None
    return ir.Protocol(
        protocol.name.text,
        network,
        tuple(
            ir.PacketKind(kind.name.text, packets[kind.name.text] or (), carried[kind.name.text])
            for kind in protocol.messages
        ),
        tuple(vocabulary.records.values()),
        state,
        tuple(handlers),
        tuple(procedure for procedure in bodies if procedure is not None),
        (*invariants, *(replace(witness, body=ir.Not(BOOL, witness.body)) for witness in witnesses)),
        properties,
        eventually,
        fairness,
        delivery=delivery,
        weakly=protocol.weakly or any(promise.weakly for promise in protocol.promises),
        witnesses=tuple(witness.name for witness in witnesses),
        definitions=tuple(one for one in vocabulary.definitions.values() if one is not None),
        constants=constants,
        rest=rest,
        promises=promises,
        doc=protocol.doc,
        span=protocol.span,
    )


_OTHER_WORDS = {
    **dict.fromkeys(("unreliable", "loss", "losses", "drops"), ("did you mean `lossy`?",)),
    **dict.fromkeys(("ordered", "in_order"), ("did you mean `fifo`?",)),
    **dict.fromkeys(("unordered", "out_of_order", "asynchronous", "async", "bag"), ("did you mean `reordering`?",)),
    **dict.fromkeys(("duplicates", "duplication"), ("did you mean `duplicating`?",)),
}


def _network(words: Sequence[syntax.Name], span: Span, reporter: Reporter) -> ir.Network:
    known = ("reliable", "lossy", "duplicating", "fifo", "reordering", "tree", "overlay")
    said: set[str] = set()
    opposites = (("reliable", "lossy"), ("fifo", "reordering"), ("tree", "overlay"))
    opposite_of = {**dict(opposites), **{other: one for one, other in opposites}}
    for word in words:
        opposite = opposite_of.get(word.text)
        if word.text not in known:
            reporter.error(
                "E0409",
                word.span,
                f"`{word.text}` is not a word about networks",
                *(_OTHER_WORDS.get(word.text) or did_you_mean(word.text, known)),
                f"the words are {listed(known)}",
            )
        elif word.text in said:
            reporter.error("E0409", word.span, f"`{word.text}` is said twice")
        elif opposite in said:
            reporter.error("E0409", word.span, f"a network cannot be both `{opposite}` and `{word.text}`")
        said.add(word.text)
    return ir.Network("lossy" in said, "duplicating" in said, "fifo" not in said, "tree" in said, "overlay" in said)


def _parameters(
    written: Sequence[syntax.Parameter], types: dict[str, Type | None], reporter: Reporter, role: str
) -> Signature:
    names: dict[str, Span] = {}
    found: list[ir.Variable] = []
    for parameter in written:
        fresh = declare(parameter.name, "parameter", names, reporter)
        type_ = resolve_parameter(parameter, types, reporter, role)
        if type_ is not None and fresh:
            found.append(ir.Variable(parameter.name.text, type_))
    return tuple(found) if len(found) == len(written) else None


def _packets(
    kinds: Sequence[syntax.MessageKind], types: dict[str, Type | None], reporter: Reporter
) -> tuple[dict[str, Signature], dict[str, int | None]]:
    """The packet kinds' signatures, and which parameter each carries."""
    names: dict[str, Span] = {}
    signatures: dict[str, Signature] = {}
    carried: dict[str, int | None] = {}
    for kind in kinds:
        name = kind.name.text
        signature = _parameters(kind.parameters, types, reporter, f"parameter of packet `{name}`")
        if not declare(kind.name, "packet kind", names, reporter):
            continue
        signatures[name], carried[name] = signature, None
        if kind.carries is None or signature is None:
            carried[name] = None if kind.carries is None else 0
            continue
        labels = [parameter.name for parameter in signature]
        if kind.carries.text not in labels:
            reporter.error(
                "E0411",
                kind.carries.span,
                f"`{kind.carries.text}` is not a parameter of packet `{name}`",
                *did_you_mean(kind.carries.text, labels),
            )
            continue
        position = labels.index(kind.carries.text)
        if signature[position].type != MESSAGE:
            reporter.error(
                "E0411", kind.carries.span, f"`{kind.carries.text}` is {a(signature[position].type)}, not a message"
            )
        carried[name] = position
    return signatures, carried


def _procedures(
    procedures: Sequence[syntax.Procedure], types: dict[str, Type | None], reporter: Reporter
) -> dict[str, Signature]:
    names: dict[str, Span] = {}
    signatures: dict[str, Signature] = {}
    for procedure in procedures:
        name = procedure.name.text
        signature = _parameters(procedure.parameters, types, reporter, f"parameter of procedure `{name}`")
        if declare(procedure.name, "procedure", names, reporter):
            signatures[name] = signature
    return signatures


def _state(
    protocol: syntax.Protocol,
    fixed: Mapping[str, Type],
    names: dict[str, Span],
    vocabulary: Vocabulary,
    reporter: Reporter,
) -> tuple[dict[str, Type | None], tuple[ir.StateVariable, ...]]:
    """The types of the state variables, and the variables; `fixed` are those that the network gives.

    `names` are taken; the variables' are entered.
    """
    types = dict(vocabulary.types)
    state_types: dict[str, Type | None] = dict(fixed)
    for variable in protocol.state:
        type_ = resolve_type(variable.type, types, reporter)
        if declare(variable.name, "state variable", names, reporter):
            state_types[variable.name.text] = type_
            if variable.name.text in types:
                reporter.error("E0209", variable.name.span, f"`{variable.name.text}` hides the type of this name")
        else:
            state_types.setdefault(variable.name.text, None)
    words = Vocabulary("initial", types, {}, state_types, constants=vocabulary.constants, fixed=vocabulary.fixed)
    checker = ExpressionChecker(words, reporter, {}, {})
    state: list[ir.StateVariable] = []
    for variable in protocol.state:
        name, type_ = variable.name.text, state_types.get(variable.name.text)
        if variable.initial is not None:
            if type_ is None:
                continue
            initial = checker.check(variable.initial, type_, f"`{name}` is {a(type_)}")
            if initial is not None:
                state.append(ir.StateVariable(name, type_, initial, span=variable.span))
        elif type_ is not None:
            if not has_zero(type_):
                reporter.error(
                    "E0310",
                    variable.name.span,
                    f"`{name}` needs an initial value: {a(type_)} has no zero",
                    f"write `{name}: {type_} = ...`, or make it an `option of {type_}`",
                )
            state.append(ir.StateVariable(name, type_, ir.Zero(type_), span=variable.span))
    state += [ir.StateVariable(name, type_, ir.Apply(type_, name, ())) for name, type_ in fixed.items()]
    return state_types, tuple(state)


def _distinct(protocol: syntax.Protocol, reporter: Reporter) -> list[syntax.Handler]:
    """The handlers, one for each event; reports second ones and a missing `on causal_send`."""
    first: dict[tuple[str, str | None], syntax.Handler] = {}
    for handler in protocol.handlers:
        key = (handler.event, handler.kind.text if handler.kind else None)
        if key in first:
            what = key[1] if handler.event == "input" else f"{handler.event} {key[1]}" if key[1] else handler.event
            line = first[key].span.line
            reporter.error("E0208", handler.span, f"a second handler of `{what}`", f"the first is on line {line}")
        else:
            first[key] = handler
    if ("causal_send", None) not in first and all(event != "input" for event, _ in first):
        reporter.error(
            "E0408",
            protocol.name.span,
            f"protocol `{protocol.name.text}` has no `on causal_send(m):`",
            "this is where the application hands over a message to send; or it has inputs of its own, `on request():`",
        )
    return list(first.values())


def _check_timers(protocol: syntax.Protocol, packets: Mapping[str, Signature], reporter: Reporter) -> None:
    """Checks that no timer has a name that means something else after `under fair`."""
    for handler in protocol.handlers:
        if handler.event != "periodically" or handler.kind is None:
            continue
        name = handler.kind.text
        if name in ("receive", "causal_send", ir.PERIODICALLY):
            reporter.error("E0212", handler.kind.span, f"`{name}` is a word of the language and cannot name a timer")
        elif name in packets:
            reporter.error("E0208", handler.kind.span, f"timer `{name}` has the name of a packet kind")


_NOT_INPUTS = frozenset(
    (
        "causal_send", "receive", "deliver", "send", "periodically", "processes", "sends", "losses",
        "duplicates", "ticks", "capacity", "destinations", "tree", "links", "program", "fifo", "prompt", "reactive",
        "any", "expect", "self", "process", "message", "bool", "nat",
    )
)  # fmt: skip
"""Names that mean something else behind `on`, or at the beginning of a line of a scope."""


def _check_inputs(
    protocol: syntax.Protocol,
    packets: Mapping[str, Signature],
    procedures: Mapping[str, Signature],
    reporter: Reporter,
) -> None:
    """Checks the names of inputs, and that a scope can say which values their parameters have."""
    timers = {handler.kind.text for handler in protocol.handlers if handler.event == "periodically" and handler.kind}
    for handler in protocol.handlers:
        if handler.event != "input" or handler.kind is None:
            continue
        name = handler.kind.text
        taken = {**dict.fromkeys(packets, "packet kind"), **dict.fromkeys(procedures, "procedure")}
        taken |= dict.fromkeys(timers, "timer")
        if name in _NOT_INPUTS:
            reporter.error("E0212", handler.kind.span, f"`{name}` is a word of the language and cannot name an input")
        elif name in taken:
            reporter.error("E0208", handler.kind.span, f"input `{name}` has the name of a {taken[name]}")


def _handler(
    handler: syntax.Handler,
    vocabulary: Vocabulary,
    packets: dict[str, Signature],
    procedures: dict[str, Signature],
    reporter: Reporter,
) -> ir.Handler:
    signature: Signature = ()
    kind = handler.kind.text if handler.kind is not None else None
    match handler.event:
        case "causal_send":
            signature = (ir.Variable("m", MESSAGE),)
        case "periodically":
            signature = ()
        case "input":
            assert kind is not None
            role = f"parameter of input `{kind}`"
            meant = did_you_mean(kind, ("causal_send",))
            if meant and any(parameter.type is None for parameter in handler.parameters):
                reporter.error(
                    "E0114", handler.kind.span if handler.kind else handler.span, f"`{kind}` is no event", *meant
                )
                signature = None
            else:
                signature = _parameters(handler.parameters, dict(vocabulary.types), reporter, role)
            for parameter, declared in zip(handler.parameters, signature or (), strict=False):
                if declared.type not in (NAT, BOOL, PROCESS):
                    reporter.error(
                        "E0423",
                        parameter.span,
                        f"`{declared.name}` is {a(declared.type)}: a {role} is a `nat`, a `bool` or a `process`",
                        "a scope says which values it has",
                    )
        case "receive":
            assert handler.kind is not None and kind is not None
            signature = packets.get(kind)
            if kind not in packets:
                reporter.error(
                    "E0204", handler.kind.span, f"there is no packet kind `{kind}`", *did_you_mean(kind, packets)
                )
    types = _handler_parameters(handler, signature, vocabulary, reporter)
    bound = [(parameter.name, type_) for parameter, type_ in zip(handler.parameters, types, strict=True)]
    if handler.sender is not None:
        bound.append((handler.sender, PROCESS))
    checker = BodyChecker(vocabulary, reporter, packets, procedures)
    guard = None if handler.guard is None else checker.guard(handler.guard, bound)
    body = checker.body(handler.body, bound)
    known = tuple(ir.Variable(name.text, type_) for name, type_ in bound if type_ is not None)
    sender = handler.sender.text if handler.sender is not None else None
    parameters = known[:-1] if sender is not None else known
    return ir.Handler(handler.event, kind, parameters, sender, body, guard, span=handler.span)


def _handler_parameters(
    handler: syntax.Handler, signature: Signature, vocabulary: Vocabulary, reporter: Reporter
) -> list[Type | None]:
    """The types of a handler's parameters: its event gives them; a written type has to agree."""
    if signature is None:
        return [None] * len(handler.parameters)
    if len(signature) != len(handler.parameters):
        what = "`causal_send`" if handler.kind is None else f"packet `{handler.kind.text}`"
        has = ", ".join(parameter.name for parameter in signature)
        reporter.error(
            "E0416",
            handler.span,
            f"{what} has {counted(len(signature), 'parameter')}, {here(len(handler.parameters))}",
            *((f"it is declared with ({has})",) if handler.kind is not None else ("write `on causal_send(m):`",)),
        )
        return [None] * len(handler.parameters)
    types: list[Type | None] = []
    for parameter, given in zip(handler.parameters, signature, strict=True):
        written = given.type
        if parameter.type is not None:
            resolved = resolve_type(parameter.type, vocabulary.types, reporter)
            written = given.type if resolved is None else resolved
        if written != given.type:
            reporter.error(
                "E0416", parameter.span, f"`{parameter.name.text}` is {a(given.type)} here, not {a(written)}"
            )
        types.append(given.type)
    return types


def _procedure(
    procedure: syntax.Procedure,
    vocabulary: Vocabulary,
    packets: dict[str, Signature],
    procedures: dict[str, Signature],
    reporter: Reporter,
) -> ir.Procedure | None:
    signature = procedures.get(procedure.name.text)
    if signature is not None and len(signature) != len(procedure.parameters):
        signature = None
    types = [None] * len(procedure.parameters) if signature is None else [parameter.type for parameter in signature]
    bound = [(parameter.name, type_) for parameter, type_ in zip(procedure.parameters, types, strict=True)]
    body = BodyChecker(vocabulary, reporter, packets, procedures).body(procedure.body, bound)
    return None if signature is None else ir.Procedure(procedure.name.text, signature, body, span=procedure.span)


def _check_recursion(procedures: Sequence[syntax.Procedure], reporter: Reporter) -> None:
    """A procedure that calls itself, at once or through others, is reported once for each circle."""
    declared = {procedure.name.text: procedure for procedure in procedures}
    calls = {
        name: sorted(
            {
                node.procedure.text
                for node in nodes(procedure.body)
                if isinstance(node, syntax.Call) and node.procedure.text in declared
            }
        )
        for name, procedure in declared.items()
    }
    reported: set[str] = set()
    for name, procedure in declared.items():
        circle = _circle(name, calls)
        if circle and not reported & set(circle):
            reported |= set(circle)
            path = " calls ".join(f"`{step}`" for step in [*circle, name])
            reporter.error(
                "E0406", procedure.name.span, f"procedure `{name}` calls itself: {path}", "write a `while` loop"
            )


def _circle(start: str, calls: dict[str, list[str]]) -> list[str]:
    """A shortest way of calls from a procedure back to itself; empty if there is none."""
    paths = [[start]]
    seen: set[str] = set()
    while paths:
        path = paths.pop(0)
        for callee in calls[path[-1]]:
            if callee == start:
                return path
            if callee not in seen:
                seen.add(callee)
                paths.append([*path, callee])
    return []
