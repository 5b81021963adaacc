"""A link, `conforms PROTOCOL to MACHINE`, checked and typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from thence.dsl import ir
from thence.dsl.check.expectations import Exploration, check_expectations
from thence.dsl.check.stated.formulas import check_formulas
from thence.dsl.check.terms.binders import introduce
from thence.dsl.check.terms.environment import PROTOCOL_TYPES, Place, Vocabulary, here, listed
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.workloads.by_name import Settings
from thence.dsl.check.workloads.kind import ProtocolKind, kind_of
from thence.dsl.ir.machine_builtins import built_in_symbols, history_parameters
from thence.dsl.ir.observability import own_invariants
from thence.dsl.ir.traversal import nodes, without_places
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.parse import parse
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.spec.words import counted

_REQUIRED = ("causal_send", "deliver")

BETWEEN_STEPS = "`between steps` formula"


def check_link(
    conforms: syntax.Conforms,
    protocol: ir.Protocol | None,
    machine: ir.Machine | None,
    scopes: Mapping[str, ir.Scope | None],
    settings: Mapping[str, Settings | None],
    known: bool,
    reporter: Reporter,
) -> ir.Link | None:
    """The typed link; None if it, its protocol or its machine is erroneous.

    `scopes` and `settings` are those of the protocol, by name; `known` says whether there is such a protocol. A link
    that names no scopes is checked in all of them.
    """
    before = reporter.errors
    name = conforms.protocol.text
    for scope in conforms.scopes:
        if scope.text not in scopes and known:
            reporter.error(
                "E0601", scope.span, f"protocol `{name}` has no scope `{scope.text}`", *did_you_mean(scope.text, scopes)
            )
    chosen = [scopes.get(scope.text) for scope in conforms.scopes] if conforms.scopes else list(scopes.values())
    delivery: ir.Delivery = "unicast" if protocol is None else protocol.delivery
    kind = ProtocolKind() if protocol is None else kind_of(protocol)
    exploration = Exploration(name, settings, {}, kind=kind) if known else None
    of = f"link `{conforms.name.text}`"
    named = _expected_of(protocol, conforms)
    expects = check_expectations(conforms.expects if known else (), reporter, "link", named, of, exploration)
    _check_named(conforms, reporter)
    _check_once_each(conforms, reporter)
    if machine is not None and machine.delivery != "off":
        _check_required(conforms, reporter, several=machine.delivery != "unicast")
    if protocol is None or machine is None:
        return None
    _check_alike(conforms, delivery, machine, reporter)
    _check_followable(conforms, machine, reporter)
    _check_internal(conforms, machine, reporter)
    clauses = [_clause(clause, protocol, machine, reporter) for clause in conforms.clauses]
    names: dict[str, Span] = {}
    invariants = check_formulas(conforms.invariants, "invariant", names, _words(protocol, machine), reporter)
    between = check_formulas(conforms.between, BETWEEN_STEPS, names, _words(protocol, machine), reporter)
    _check_delivered(conforms, protocol, machine, reporter)
    for setting in conforms.settings if not protocol.sends else ():
        reporter.error("E0621", setting.span, f"protocol `{name}` sends no messages of an application", "leave it out")
    if reporter.errors > before:
        return None
    return ir.Link(
        conforms.name.text,
        protocol,
        machine,
        tuple(clause for clause in clauses if clause is not None),
        tuple(scope for scope in chosen if scope is not None),
        expects,
        internal=tuple(name.text for name in conforms.internal),
        invariants=(*invariants, *between),
        between=frozenset(each.name for each in between),
        delivered_by=next((name.text for name in conforms.delivered_by), None),
        reactive=bool(conforms.settings),
        doc=conforms.doc,
        span=conforms.span,
    )


def _expected_of(protocol: ir.Protocol | None, conforms: syntax.Conforms) -> tuple[str, ...]:
    """The invariants of the protocol that the link may be expected to show; any, where the protocol is erroneous."""
    if protocol is None:
        return tuple(name.text for expect in conforms.expects for name in expect.names)
    return tuple(own_invariants(protocol))


def _check_named(conforms: syntax.Conforms, reporter: Reporter) -> None:
    """Checks that invariants of the protocol are expected to be `proved`: scopes say what they expect of them."""
    for expect in conforms.expects:
        if expect.names and expect.verdict != "proved":
            message = f"a link says of an invariant only that it is `proved`, not `{expect.verdict}`"
            reporter.error("E0613", expect.span, message, "say it in a scope of the protocol")


def link_formulas(protocol: ir.Protocol, machine: ir.Machine, lines: Sequence[str]) -> dict[str, ir.Expr]:
    """Of these formulas, each of one line, those that an invariant of a link could say; by text.

    They stand in no file, and no part of them has a place.
    """
    found: dict[str, ir.Expr] = {}
    for at in range(0, len(lines), _AT_ONCE):
        found |= _link_formulas(protocol, machine, lines[at : at + _AT_ONCE])
    return found


_AT_ONCE: Final = 1_000
"""So many formulas are read as one file, which has a limit."""


def _link_formulas(protocol: ir.Protocol, machine: ir.Machine, lines: Sequence[str]) -> dict[str, ir.Expr]:
    found: dict[str, ir.Expr] = {}
    tree, faults = parse(_with_invariants(protocol.name, machine.name, lines), "asked")
    assert tree is not None and not faults, faults
    (declared,) = (each for each in tree.declarations if isinstance(each, syntax.Conforms))
    for line, formula in zip(lines, declared.invariants, strict=True):
        reporter = Reporter("asked")
        checker = ExpressionChecker(_words(protocol, machine), reporter, {}, {})
        body = checker.check(formula.body, BOOL, "an invariant is true or false")
        if body is not None and not reporter.errors:
            found[line] = without_places(body)
    return found


def is_one_formula(line: str) -> bool:
    """Whether a text from elsewhere can stand in the place of a formula of one line."""
    tree, faults = parse(_with_invariants("asked", "asked", (line,)), "asked")
    if tree is None or faults or len(line.splitlines()) != 1 or len(tree.declarations) != 1:
        return False
    (declared,) = tree.declarations
    return isinstance(declared, syntax.Conforms) and len(declared.invariants) == 1 and len(declared.clauses) == 1


def _with_invariants(protocol: str, machine: str, lines: Iterable[str]) -> str:
    head = f"conforms {protocol} to {machine}:\n  causal_send(m) is causal_send(m)\n"
    return head + "".join(f"  invariant: {line}\n" for line in lines)


def names_of_link(link: ir.Link) -> frozenset[str]:
    """The names that the invariants of a link cannot bind: what the machine and the protocol declare."""
    machine, protocol = link.machine, link.protocol
    symbols = {each.name for each in _symbols(machine)}
    definitions = {each.name for each in (*machine.definitions, *protocol.definitions)}
    return frozenset(symbols | definitions | {each.name for each in protocol.constants})


def _words(protocol: ir.Protocol, machine: ir.Machine) -> Vocabulary:
    """What the invariants of a link speak of."""
    return replace(
        _vocabulary(protocol, "property", {each.name: each for each in _symbols(machine)}),
        followed={each.name: each for each in machine.definitions},
        hidden=_hidden(protocol, machine),
        numbered=True,
    )


def _check_alike(conforms: syntax.Conforms, delivery: ir.Delivery, machine: ir.Machine, reporter: Reporter) -> None:
    """Whether the machine's processes and messages are those of the protocol."""
    if machine.sorts:
        what = f"`{machine.name}` is a machine with sorts of its own, which no protocol follows"
        reporter.error("E0619", conforms.name.span, what, "a sort for the processes is `process`")
    elif machine.delivery == "off":
        spoken = (machine.symbols, machine.axioms, machine.initial, machine.transitions)
        if any(part == MESSAGE for part in nodes(spoken)):
            what = f"`{machine.name}` speaks of messages, and does not say how they are delivered"
            reporter.error("E0619", conforms.name.span, what, f"write `delivery {delivery}` in the machine")
    elif (delivery == "unicast") != (machine.delivery == "unicast"):
        what = f"`{machine.name}` is a {machine.delivery} machine, but `{conforms.protocol.text}` a {delivery} protocol"
        note = "messages have one destination in both, or sets of them in both"
        reporter.error("E0619", conforms.name.span, what, note)


def _check_delivered(conforms: syntax.Conforms, protocol: ir.Protocol, machine: ir.Machine, reporter: Reporter) -> None:
    """Whether `eventually delivered by` names a statement of the machine about a message and where it goes."""
    for name in conforms.delivered_by[1:]:
        said = f"line {conforms.delivered_by[0].span.line} says already by which statement messages are delivered"
        reporter.error("E0644", name.span, said)
    for name in conforms.delivered_by[:1]:
        stated = {each.name: each for each in machine.eventually}
        if "delivered" not in protocol.eventually:
            said = f"protocol `{protocol.name}` does not state `eventually delivered`"
            reporter.error("E0644", name.span, said, "a proof carries what the protocol claims")
        elif machine.delivery == "off":
            reporter.error("E0644", name.span, f"machine `{machine.name}` has no messages that are delivered")
        elif name.text not in stated:
            said = f"machine `{machine.name}` has no `eventually {name.text}`"
            reporter.error("E0644", name.span, said, *did_you_mean(name.text, stated))
        else:
            wanted = (MESSAGE,) if machine.delivery == "unicast" else (MESSAGE, PROCESS)
            if tuple(each.type for each in stated[name.text].parameters) != wanted:
                about = "a message" if len(wanted) == 1 else "a message and a process"
                said = f"`{name.text}` of `{machine.name}` is not a statement about {about}"
                reporter.error("E0644", name.span, said, "it has to say of each message that it is delivered")


def _hidden(protocol: ir.Protocol, machine: ir.Machine) -> dict[str, str]:
    """By name, notes about the machine's relations and functions that a definition of the protocol hides."""
    declared = {symbol.name: symbol for symbol in machine.symbols}
    return {
        each.name: (
            f"`{each.name}` is here the definition of `{protocol.name}` (line {each.span.line}), which hides the "
            f"{'relation' if declared[each.name].result == BOOL else 'function'} of `{machine.name}` (line "
            f"{declared[each.name].span.line}): give one of them another name"
        )
        for each in protocol.definitions
        if each.name in declared
    }


def _symbols(machine: ir.Machine) -> tuple[ir.Symbol, ...]:
    return (*built_in_symbols(machine.delivery), *machine.symbols)


def _check_internal(conforms: syntax.Conforms, machine: ir.Machine, reporter: Reporter) -> None:
    """Checks the internal steps: they neither send nor deliver, and have processes and messages as parameters."""
    transitions = {transition.name: transition for transition in machine.transitions}
    for name in conforms.internal:
        transition = transitions.get(name.text)
        if transition is None:
            what = f"machine `{machine.name}` has no transition `{name.text}`"
            reporter.error("E0606", name.span, what, *did_you_mean(name.text, transitions))
        elif name.text in _REQUIRED and machine.delivery != "off":
            reporter.error("E0609", name.span, f"`{name.text}` is an event of the protocol, never internal")
        elif any(parameter.type == NAT for parameter in transition.parameters):
            what = f"machine `{machine.name}` cannot be followed: `{name.text}` may be taken for any number"
            reporter.error("E0618", name.span, what)


def _check_followable(conforms: syntax.Conforms, machine: ir.Machine, reporter: Reporter) -> None:
    """A link runs the machine on the messages of a run: it cannot run over all numbers, nor count what is not sent."""
    for node in nodes((machine.axioms, machine.initial, machine.transitions)):
        if isinstance(node, ir.Quantified) and node.kind == "count":
            reporter.error(
                "E0618",
                conforms.machine.span,
                f"machine `{machine.name}` cannot be followed: a transition counts",
                "keep the number in a function, and say in an invariant what it counts",
            )
            return
        binders = node.variables if isinstance(node, ir.Quantified) else getattr(node, "binders", ())
        for binder in binders:
            if binder.type == NAT:
                reporter.error(
                    "E0618",
                    conforms.machine.span,
                    f"machine `{machine.name}` cannot be followed: it quantifies over all numbers (`{binder.name}`)",
                    "what a link runs is over processes and messages; invariants may speak of all numbers",
                )
                return
    for update in machine.initial:
        if sum(part.type == MESSAGE for part in (*update.arguments, update.value)) > 1:
            what = f"machine `{machine.name}` cannot be followed: `initial` relates messages to each other"
            note = "at first no message is sent, and a link knows unsent messages by their ends only"
            reporter.error("E0618", conforms.machine.span, what, note)
            return


def _event(clause: syntax.Clause) -> str:
    if clause.event == "input" and clause.kind is not None:
        return clause.kind.text
    return clause.event if clause.kind is None else f"{clause.event} {clause.kind.text}"


def _check_once_each(conforms: syntax.Conforms, reporter: Reporter) -> None:
    first: dict[str, syntax.Clause] = {}
    for clause in conforms.clauses:
        earlier = first.setdefault(_event(clause), clause)
        if earlier is not clause:
            reporter.error(
                "E0608",
                clause.span,
                f"a second clause for `{_event(clause)}`",
                f"the first is on line {earlier.span.line}; one clause says all of an event. `or` joins transitions of "
                "which the event is one, the first that is possible; of two in a row, the machine takes the other by "
                "itself: `internal`",
            )


def _check_required(conforms: syntax.Conforms, reporter: Reporter, *, several: bool) -> None:
    """Causal sends and deliveries are these very transitions: happens-before is the same on both sides."""
    clauses = {clause.event: clause for clause in conforms.clauses if clause.event in _REQUIRED}
    for event in _REQUIRED:
        delivery = "`deliver m is deliver(m, self)`" if several else "`deliver m is deliver(m)`"
        written = "`causal_send(m) is causal_send(m)`" if event == "causal_send" else delivery
        if event not in clauses:
            reporter.error("E0609", conforms.name.span, f"the link says nothing about `{event}`", f"write {written}")
        for target in clauses[event].targets if event in clauses else ():
            if target.transition.text != event:
                reporter.error(
                    "E0609",
                    target.transition.span,
                    f"`{event}` is the transition `{event}` in every link, not `{target.transition.text}`",
                    f"write {written}",
                )
    for clause in conforms.clauses:
        for target in clause.targets if clause.event not in _REQUIRED else ():
            if target.transition.text in _REQUIRED:
                what = f"nothing but `{target.transition.text}` of the protocol is the transition of this name"
                note = "what a machine has of sends and deliveries is said of the protocol, too"
                reporter.error("E0609", target.transition.span, what, note)


def _clause(clause: syntax.Clause, protocol: ir.Protocol, machine: ir.Machine, reporter: Reporter) -> ir.Clause | None:
    parameters = _pattern(clause, protocol, reporter)
    checker = _checker(protocol, reporter)
    types: list[Type | None] = [None] * len(clause.parameters)
    if parameters is not None:
        types = [parameter.type for parameter in parameters]
    bound = list(zip(clause.parameters, types, strict=True))
    if clause.peer is not None:
        bound.append((clause.peer, PROCESS))
    for name, type_ in bound:
        checker = checker.within({name.text: introduce(checker, name, type_, "parameter")})
    targets = [_target(target, checker, machine, reporter) for target in clause.targets]
    complete = tuple(target for target in targets if target is not None)
    when = None if clause.when is None else checker.check(clause.when, BOOL)
    if parameters is None or len(complete) < len(targets) or not _keeps_history(clause, machine, reporter):
        return None
    if clause.when is not None and when is None:
        return None
    return ir.Clause(
        clause.event,
        clause.kind.text if clause.kind is not None else None,
        parameters,
        clause.peer.text if clause.peer is not None else None,
        complete,
        clause.once,
        when=when,
        span=clause.span,
    )


def _target(
    target: syntax.Target, checker: ExpressionChecker, machine: ir.Machine, reporter: Reporter
) -> ir.Target | None:
    """A transition with its arguments, of which the machine finds those that are `any`."""
    name, place = target.transition.text, target.transition.span
    written = tuple(each for each in target.arguments if not isinstance(each, syntax.AnyThatEnables))
    transitions = {transition.name: transition for transition in machine.transitions}
    if name not in transitions:
        what = f"machine `{machine.name}` has no transition `{name}`"
        reporter.error("E0606", place, what, *did_you_mean(name, transitions))
        checker.arguments(name, written, None, place)
        return None
    parameters = transitions[name].parameters
    if len(target.arguments) != len(parameters):
        checker.arguments(name, written, None, place)
        takes = f"transition `{name}` takes {counted(len(parameters), 'argument')}"
        note = f"it takes {listed(f'{each.name}: {each.type}' for each in parameters)}"
        reporter.error("E0302", place, f"{takes}, {here(len(target.arguments))}", *((note,) if parameters else ()))
        return None
    pairs = list(zip(target.arguments, parameters, strict=True))
    found = [each for argument, each in pairs if isinstance(argument, syntax.AnyThatEnables)]
    given = tuple(each for each in parameters if each not in found)
    if any(each.type == NAT for each in found):
        what = f"machine `{machine.name}` cannot be followed: `{name}` may be taken for any number"
        reporter.error("E0618", place, what)
        return None
    arguments = checker.arguments(f"transition `{name}`", written, given, place)
    if arguments is None:
        return None
    values = iter(arguments)
    return ir.Target(name, tuple(None if each in found else next(values) for each in parameters))


def _keeps_history(clause: syntax.Clause, machine: ir.Machine, reporter: Reporter) -> bool:
    """Whether a causal send or delivery is that of the same message, and in multicast by the process itself."""
    if (
        machine.delivery == "off"
        or clause.event not in _REQUIRED
        or any(target.transition.text != clause.event for target in clause.targets)
    ):
        return True
    if clause.when is not None:
        reporter.error(
            "E0609",
            clause.when.span,
            f"`{clause.event}` is the transition `{clause.event}` always, not only at times",
            "happens-before is the same on both sides",
        )
        return False
    names = [clause.parameters[0].text, "self"][: len(history_parameters(clause.event, machine.delivery))]
    if [target.arguments for target in clause.targets] == [tuple(syntax.Variable(name) for name in names)]:
        return True
    reporter.error(
        "E0609",
        clause.span,
        f"`{clause.event}` is the transition `{clause.event}` of the same message",
        f"write `{clause.event}({', '.join(names)})`",
    )
    return False


def _checker(protocol: ir.Protocol, reporter: Reporter) -> ExpressionChecker:
    return ExpressionChecker(_vocabulary(protocol, "clause", {}), reporter, {}, {})


def _vocabulary(protocol: ir.Protocol, place: Place, symbols: Mapping[str, ir.Symbol]) -> Vocabulary:
    types: dict[str, Type | None] = {**PROTOCOL_TYPES, **{record.name: record for record in protocol.records}}
    state: dict[str, Type | None] = {variable.name: variable.type for variable in protocol.state}
    defined = {definition.name: definition for definition in protocol.definitions}
    constants = {one.name: one.type for one in protocol.constants}
    return Vocabulary(
        place, types, symbols, state, delivery=protocol.delivery, definitions=defined, constants=constants,
        kinds={kind.name: kind.parameters for kind in protocol.packets}, sent=True,
    )  # fmt: skip


def _handler(clause: syntax.Clause, protocol: ir.Protocol, reporter: Reporter) -> ir.Handler | None:
    """The handler of an input or a timer."""
    what = "input" if clause.event == "input" else "timer"
    known = {each.kind: each for each in protocol.handlers if each.event == clause.event}
    name = None if clause.kind is None else clause.kind.text
    if name in known:
        return known[name]
    span = clause.span if clause.kind is None else clause.kind.span
    said = f"protocol `{protocol.name}` has no {what}{f' `{name}`' if name else ' without a name'}"
    names = [each for each in known if each is not None]
    notes = did_you_mean(name, names) if name else ()
    reporter.error("E0204", span, said, *notes)
    return None


def _pattern(clause: syntax.Clause, protocol: ir.Protocol, reporter: Reporter) -> tuple[ir.Variable, ...] | None:
    """The names that the pattern binds, typed by the event or packet kind."""
    declared: tuple[ir.Variable, ...] = (ir.Variable("m", MESSAGE),)
    what = f"`{clause.event}`"
    if clause.event in ("input", "periodically"):
        handler = _handler(clause, protocol, reporter)
        if handler is None:
            return None
        what, declared = f"`{_event(clause)}`", handler.parameters
    elif clause.kind is not None:
        kinds = {packet.name: packet for packet in protocol.packets}
        what = f"packet `{clause.kind.text}`"
        if clause.kind.text not in kinds:
            reporter.error(
                "E0204",
                clause.kind.span,
                f"protocol `{protocol.name}` has no packet kind `{clause.kind.text}`",
                *did_you_mean(clause.kind.text, kinds),
            )
            return None
        declared = kinds[clause.kind.text].parameters
    given = len(clause.parameters)
    if given > len(declared) or (given < len(declared) and not clause.rest):
        reporter.error(
            "E0607",
            clause.span,
            f"{what} has {counted(len(declared), 'parameter')}, the pattern names {given}",
            *(("`...` at the end of the pattern leaves the rest unnamed",) if given < len(declared) else ()),
        )
        return None
    return tuple(
        ir.Variable(name.text, parameter.type) for name, parameter in zip(clause.parameters, declared, strict=False)
    )
