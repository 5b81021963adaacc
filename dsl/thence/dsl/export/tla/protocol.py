"""A protocol in a scope as a TLA+ module, with the states of `thence explore` one for one.

The module keeps the same history as the explorer does, and a network of the same kind, so that TLC finds as many
distinct states as `thence explore --reductions none`, also where something is violated, if it is told to go on
(`-continue`): what a step violates is a property of the step, and no part of the state (`VIEW`). A fault of the
protocol fails an `Assert`, and ends TLC.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.export.tla.exported import Exported
from thence.dsl.export.tla.expressions import Scope, Unsupported, tla
from thence.dsl.export.tla.names import Names, field_name, prelude, words
from thence.dsl.export.tla.statements import Operators, packet_field
from thence.dsl.ir.observability import beyond_states
from thence.dsl.ir.overlay import spelled_out
from thence.dsl.ir.types import BOOL, Type
from thence.dsl.run.scoped import in_scope

_MODULE_NAMES = words("""
Process Limit Destinations Initial Carries Carried Observe Send Take CausalSend Receive Tick Duplicate Lose Init Next
Spec Checked InFlight View local net pasts pending violated sends ticks duplicates losses vars self m packet p
""")
_OF_STEPS = {
    "causal": "Causal",
    "fifo": "Fifo",
    "csps": "Csps",
    "sps": "Sps",
    "at_most_once": "AtMostOnce",
    "no_creation": "NoCreation",
}


def export_protocol(protocol: ir.Protocol, workload: ir.Workload, described: str) -> Exported:
    """The module, its TLC configuration, and the module `Thence` that it extends.

    `described` is the scope in words. Raises: Unsupported where TLA+ has no word for something in the protocol.
    """
    protocol = spelled_out(in_scope(protocol, workload), workload.processes)
    refusal = _refusal(protocol, workload)
    if refusal is not None:
        raise Unsupported(refusal)
    names = Names()
    names.reserve(_MODULE_NAMES)
    module = names.fresh(protocol.name)
    writer = _Writer(protocol, workload, names)
    lines = writer.module()
    notes = []
    if "total_order" in protocol.properties:
        notes.append("total_order is not in the export: the observer forgets deliveries")
    if "causally_ordered" in protocol.properties:
        notes.append("causally_ordered is not in the export: the observer forgets deliveries; `causal` implies it")
    if writer.timers and "delivered" in protocol.eventually:
        notes.append("`delivered` is not in the export: with timers it is not a property of single states")
    elif "delivered" in protocol.eventually:
        notes.append(
            "Delivered is about states with nothing in flight: whether packets go on for ever is not in the export"
            if writer.delivered
            else "`delivered` is not in the export: under this fairness it is not a property of single states"
        )
    for watched in ("deadlock_free", "completes"):
        if watched in protocol.properties:
            notes.append(f"`{watched}` is not in the export: `thence explore` judges it")
    for keyword, names_of in (("at rest", protocol.rest), ("eventually", protocol.promises)):
        notes += [f"`{keyword} {each.name}` is not in the export: `thence explore` judges it" for each in names_of]
    unseen = ((each.name, beyond_states(each)) for each in protocol.invariants)
    notes += [f"`{name}` is not in the export: it speaks of {said}" for name, said in unseen if said is not None]
    notes += [
        f"`reachable {each.name}` is not asked of TLC: where Invariant_{each.name} is, it finds a run that reaches it"
        for each in writer.invariants
        if each.name in protocol.witnesses
    ]
    remarks = [f"(* {line} *)" for line in (f"{protocol.name}: {described}", *notes)]
    text = "\n".join([f"---- MODULE {module} ----", *remarks, *lines, "====", ""])
    files = {f"{module}.tla": text, f"{module}.cfg": writer.configuration(), "Thence.tla": prelude()}
    return Exported(module, files, tuple(notes))


def _refusal(protocol: ir.Protocol, workload: ir.Workload) -> str | None:
    """The part of the protocol or scope that the export cannot express, if any."""
    if not workload.ends or workload.prompt:
        return "messages that are sent without end, or promptly only"
    if workload.programs or workload.reactive:
        return "programs of the application, and messages sent inside deliveries"
    return "a tree network" if protocol.network.tree else None


@dataclass(slots=True)
class _Writer:
    protocol: ir.Protocol
    workload: ir.Workload
    names: Names

    @property
    def timers(self) -> bool:
        return bool(self.protocol.timers)

    @property
    def counted(self) -> list[str]:
        """The timers and inputs of which the scope says how often they come."""
        timers = [timer for timer in self.protocol.timers if self.workload.ticks_of(timer) is not None]
        return [*timers, *(use.name for use in self.workload.inputs)]

    @property
    def checked(self) -> list[str]:
        return [name for name in self.protocol.properties if name in _OF_STEPS]

    @property
    def variables(self) -> list[str]:
        counters = {
            "ticks": bool(self.counted),
            "duplicates": self.workload.duplicates > 0,
            "losses": self.workload.losses > 0,
        }
        extra = [name for name, used in counters.items() if used]
        return ["local", "net", "pasts", "pending", "violated", "sends", *extra]

    @property
    def outbox(self) -> str:
        """The field of a process's state for what its step emits: none of the protocol's variables."""
        return Names({field_name(variable.name) for variable in self.protocol.state}).fresh("out")

    def module(self) -> list[str]:
        procedures = {each.name: self.names.fresh(each.name) for each in self.protocol.procedures}
        packets = {kind.name: kind for kind in self.protocol.packets}
        operators = Operators(procedures, packets, self.outbox)
        return [
            "EXTENDS Thence",
            "",
            *self._workload(),
            f"VARIABLES {', '.join(self.variables)}",
            f"vars == <<{', '.join(self.variables)}>>",
            f"View == <<{', '.join(name for name in self.variables if name != 'violated')}>>",
            "",
            *self._procedures(operators),
            *self._handlers(operators),
            *self._observing(),
            *self._actions(),
            *self._properties(),
        ]

    def _workload(self) -> list[str]:
        workload = self.workload
        destinations = []
        for process in range(workload.processes):
            sets = ", ".join(f"{{{_listed(choice)}}}" for choice in workload.choices(process))
            destinations.append(f"{process} :> {{{sets}}}")
        limits = [f"{process} :> {count}" for process, count in enumerate(workload.sends)]
        return [
            f"Process == 0..{workload.processes - 1}",
            f"Limit == {' @@ '.join(limits)}",
            f"Destinations == {' @@ '.join(destinations)}",
            f"Checked == {{{', '.join(_quoted(name) for name in self.checked)}}}",
            "",
        ]

    def _procedures(self, operators: Operators) -> list[str]:
        if not self.protocol.procedures:
            return []
        heads, bodies = [], []
        for procedure in self.protocol.procedures:
            names = self.names.inside()
            state = names.fresh("s")
            given = [names.fresh(parameter.name) for parameter in procedure.parameters]
            known = {parameter.name: name for parameter, name in zip(procedure.parameters, given, strict=True)}
            scope = Scope(names, state, "self", known)
            name = operators.procedures[procedure.name]
            heads.append(f"{name}({', '.join('_' for _ in (*given, 1, 2))})")
            body = operators.body(procedure.body, scope)
            bodies += [f"{name}({', '.join(['self', state, *given])}) ==", *(f"  {line}" for line in body), ""]
        return [f"RECURSIVE {', '.join(heads)}", "", *bodies]

    def _handlers(self, operators: Operators) -> list[str]:
        lines: list[str] = []
        for handler in self.protocol.handlers:
            names = self.names.inside()
            state = names.fresh("s")
            scope = Scope(names, state, "self")
            match handler.event:
                case "causal_send":
                    head = f"OnCausalSend(self, {state}, m) =="
                    scope = scope.binding(handler.parameters[0].name, "m")
                case "receive":
                    assert handler.kind is not None
                    kind = next(each for each in self.protocol.packets if each.name == handler.kind)
                    head = f"OnReceive_{handler.kind}(self, {state}, packet) =="
                    for parameter, declared in zip(handler.parameters, kind.parameters, strict=True):
                        scope = scope.binding(parameter.name, f"packet.{packet_field(kind, declared)}")
                    if handler.sender is not None:
                        scope = scope.binding(handler.sender, "packet.src")
                case "input":
                    given = [names.fresh(parameter.name) for parameter in handler.parameters]
                    for parameter, name in zip(handler.parameters, given, strict=True):
                        scope = scope.binding(parameter.name, name)
                    head = f"OnInput_{handler.kind}({', '.join(['self', state, *given])}) =="
                case "periodically":
                    head = f"OnTick{_suffix(handler.timer)}(self, {state}) =="
            lines += [head, *(f"  {line}" for line in operators.body(handler.body, scope)), ""]
        return lines

    def _observing(self) -> list[str]:
        carrying = [kind for kind in self.protocol.packets if kind.carries is not None]
        cases = [
            f"packet.kind = {_quoted(kind.name)} -> packet.{packet_field(kind, kind.parameters[kind.carries or 0])}"
            for kind in carrying
        ]
        put = "Plus" if self.protocol.network.reordering else "Enqueue"
        return [
            f"Carries == {{{', '.join(_quoted(kind.name) for kind in carrying)}}}",
            f"Carried(packet) == CASE {' [] '.join(cases)}" if cases else "Carried(packet) == packet",
            "",
            "RECURSIVE Observe(_, _, _)",
            "Observe(p, events, o) ==",
            "  IF events = <<>> THEN o",
            "  ELSE Observe(p, Tail(events),",
            '    IF Head(events).event = "deliver" THEN SeesDelivery(o, p, Head(events).message)',
            "    ELSE IF Head(events).packet.kind \\in Carries",
            "    THEN SeesNetworkSend(o, p, Carried(Head(events).packet))",
            "    ELSE o)",
            "",
            "RECURSIVE Send(_, _)",
            "Send(events, flight) ==",
            "  IF events = <<>> THEN flight",
            '  ELSE Send(Tail(events), IF Head(events).event = "send"',
            f"                          THEN {put}(flight, Head(events).packet) ELSE flight)",
            "",
        ]

    def _actions(self) -> list[str]:
        kept = [name for name in self.variables if name in ("ticks", "duplicates", "losses")]
        fifo = not self.protocol.network.reordering
        initial = replace(Scope(self.names), process="p")
        zeros = f"[t \\in {{{', '.join(map(_quoted, self.counted))}}} |-> [p \\in Process |-> 0]]"
        fields = [
            f"{field_name(variable.name)} |-> {tla(variable.initial, initial)}" for variable in self.protocol.state
        ]
        first = [
            f"/\\ local = [p \\in Process |-> [{', '.join([*fields, f'{self.outbox} |-> <<>>'])}]]",
            "/\\ net = EmptyMap",
            "/\\ pasts = [p \\in Process |-> {}]",
            "/\\ pending = EmptyMap",
            "/\\ violated = {}",
            "/\\ sends = [p \\in Process |-> 0]",
            *(f"/\\ {name} = {zeros if name == 'ticks' else '0'}" for name in kept),
        ]
        same = f"/\\ UNCHANGED <<{', '.join(kept)}>>" if kept else ""
        causal_send = [
            "CausalSend(p, dsts) ==",
            "  LET m == [src |-> p, number |-> sends[p], dsts |-> dsts] IN",
            "  /\\ sends[p] < Limit[p]",
            *_line(self._sendable()),
            "  /\\ sends' = [sends EXCEPT ![p] = @ + 1]",
            "  /\\ Take(p, OnCausalSend(p, local[p], m), net, SeesSend(Observed(pasts, pending, {}), p, m))",
            *_line(same),
            "",
        ]
        if not self.protocol.sends:
            causal_send = []
        lines = [
            "Init ==",
            *(f"  {line}" for line in first),
            "",
            "(* The handler of p has run, from flight and what the observer o knew, to the state s. *)",
            "Take(p, s, flight, o) ==",
            f"  LET seen == Observe(p, s.{self.outbox}, o) IN",
            f"  /\\ local' = [local EXCEPT ![p] = [s EXCEPT !.{self.outbox} = <<>>]]",
            f"  /\\ net' = Send(s.{self.outbox}, flight)",
            "  /\\ pasts' = seen.pasts",
            "  /\\ pending' = seen.pending",
            "  /\\ violated' = seen.violated \\cap Checked",
            "",
            f"InFlight == {'Heads(net)' if fifo else 'DOMAIN net'}",
            "",
            *causal_send,
            "Receive(packet) ==",
            f"  LET flight == {'Dequeue' if fifo else 'Less'}(net, packet) IN",
            f"  /\\ {self._received('flight')}",
            "  /\\ UNCHANGED sends",
            *_line(same),
            "",
        ]
        sends = ["\\E p \\in Process : \\E dsts \\in Destinations[p] : CausalSend(p, dsts)"]
        choices = [
            *(sends if self.protocol.sends else ()),
            "\\E packet \\in InFlight : Receive(packet)",
        ]
        for timer in self.protocol.timers:
            lines += self._tick(kept, timer)
            choices.append(f"\\E p \\in Process : Tick{_suffix(timer)}(p)")
        for use in self.workload.inputs:
            lines += self._input(kept, use)
            choices.append(f"\\E p \\in Process : Input_{use.name}(p)")
        for name, counter, after in (
            ("Duplicate", "duplicates", self._copied(fifo)),
            ("Lose", "losses", self._lost(fifo)),
        ):
            if counter in kept:
                lines += self._faulty(name, counter, after)
                choices.append(f"\\E packet \\in InFlight : {name}(packet)")
        return [*lines, "Next ==", *(f"  \\/ {choice}" for choice in choices), "Spec == Init /\\ [][Next]_vars", ""]

    def _sendable(self) -> str:
        """That the protocol takes the message m of process p; empty where it takes every one."""
        handler = next((each for each in self.protocol.handlers if each.event == "causal_send"), None)
        if handler is None or handler.guard is None:
            return ""
        scope = Scope(self.names.inside(), "local[p]", "p").binding(handler.parameters[0].name, "m")
        return f"/\\ {tla(handler.guard, scope)}"

    def _received(self, flight: str) -> str:
        observer = "Observed(pasts, pending, {})"
        handled = {handler.kind for handler in self.protocol.handlers if handler.event == "receive"}
        cases = [
            f"packet.kind = {_quoted(kind.name)} -> "
            + (
                f"OnReceive_{kind.name}(packet.dst, local[packet.dst], packet)"
                if kind.name in handled
                else "local[packet.dst]"
            )
            for kind in self.protocol.packets
        ]
        return f"Take(packet.dst, CASE {' [] '.join(cases)}, {flight}, {observer})"

    def _tick(self, kept: list[str], timer: str) -> list[str]:
        others = [name for name in kept if name != "ticks"]
        limit = self.workload.ticks_of(timer)
        if limit is not None:
            count = _quoted(timer)
            guard = [f"/\\ ticks[{count}][p] < {limit}", f"/\\ ticks' = [ticks EXCEPT ![{count}][p] = @ + 1]"]
        else:
            guard = ["/\\ net = EmptyMap"]
            others = kept
        same = f"<<{', '.join(['sends', *others])}>>"
        step = f"/\\ Take(p, OnTick{_suffix(timer)}(p, local[p]), net, Observed(pasts, pending, {{}}))"
        return [f"Tick{_suffix(timer)}(p) ==", *(f"  {line}" for line in (*guard, step, f"/\\ UNCHANGED {same}")), ""]

    def _input(self, kept: list[str], use: ir.InputUse) -> list[str]:
        """The action of an input: any of its arguments, as often as the scope says."""
        handler = next(each for each in self.protocol.inputs if each.kind == use.name)
        names, count = self.names.inside(), _quoted(use.name)
        bound = [names.fresh(parameter.name) for parameter in handler.parameters]
        limits = " @@ ".join(f"{process} :> {limit}" for process, limit in enumerate(use.limits))
        some = [
            f"\\E {name} \\in {{{', '.join(_literal(value, parameter.type) for value in values)}}} :"
            for name, parameter, (_, values) in zip(bound, handler.parameters, use.parameters, strict=True)
        ]
        others = [name for name in kept if name != "ticks"]
        guard = ""
        if handler.guard is not None:
            scope = Scope(names, "local[p]", "p")
            for parameter, name in zip(handler.parameters, bound, strict=True):
                scope = scope.binding(parameter.name, name)
            guard = f"{tla(handler.guard, scope)} /\\ "
        given = ", ".join(["p", "local[p]", *bound])
        step = f"{guard}Take(p, OnInput_{use.name}({given}), net, Observed(pasts, pending, {{}}))"
        return [
            f"Input_{use.name}(p) ==",
            f"  /\\ ticks[{count}][p] < ({limits})[p]",
            f"  /\\ ticks' = [ticks EXCEPT ![{count}][p] = @ + 1]",
            f"  /\\ {' '.join([*some, step])}",
            f"  /\\ UNCHANGED <<{', '.join(['sends', *others])}>>",
            "",
        ]

    def _copied(self, fifo: bool) -> str:
        return f"{'Enqueue' if fifo else 'Plus'}(net, packet)"

    def _lost(self, fifo: bool) -> str:
        return f"{'Dequeue' if fifo else 'Less'}(net, packet)"

    def _faulty(self, name: str, count: str, after: str) -> list[str]:
        others = [variable for variable in self.variables if variable not in ("net", "violated", count)]
        return [
            f"{name}(packet) ==",
            f"  /\\ {count} < {getattr(self.workload, count)}",
            f"  /\\ {count}' = {count} + 1",
            f"  /\\ net' = {after}",
            "  /\\ violated' = {}",
            f"  /\\ UNCHANGED <<{', '.join(others)}>>",
            "",
        ]

    def _properties(self) -> list[str]:
        lines = [f"{_OF_STEPS[name]} == [][{_quoted(name)} \\notin violated']_vars" for name in self.checked]
        if self.delivered:
            lines.append("Delivered == net = EmptyMap => pending = EmptyMap")
        for formula in self.invariants:
            lines.append(f"Invariant_{formula.name} == {tla(formula.body, Scope(self.names.inside()))}")
        return [*lines, ""]

    @property
    def invariants(self) -> tuple[ir.NamedFormula, ...]:
        """Those about the states of processes."""
        return tuple(each for each in self.protocol.invariants if beyond_states(each) is None)

    @property
    def delivered(self) -> bool:
        """Whether states at rest say that messages are delivered: every packet arrives, and the application need not go
        on. Runs that never rest are not the module's matter.
        """
        protocol = self.protocol
        fair = set(protocol.fairness) or {"receive"}
        every = "receive" in fair or {kind.name for kind in protocol.packets} <= fair
        goes_on = "causal_send" in fair or protocol.fair_inputs
        return "delivered" in protocol.eventually and not self.timers and every and not goes_on

    def configuration(self) -> str:
        """The properties of the protocol that the module states; TLC is asked for all of them."""
        stated = ["Delivered"] if self.delivered else []
        witnesses = self.protocol.witnesses
        stated += [f"Invariant_{each.name}" for each in self.invariants if each.name not in witnesses]
        invariants = ["INVARIANTS", *(f"  {name}" for name in stated)] if stated else []
        properties = ["PROPERTIES", *(f"  {_OF_STEPS[name]}" for name in self.checked)] if self.checked else []
        return "\n".join(["SPECIFICATION Spec", "VIEW View", *invariants, *properties, "CHECK_DEADLOCK FALSE", ""])


def _literal(value: int, type_: Type) -> str:
    """A value of an input's parameter."""
    return str(bool(value)).upper() if type_ == BOOL else str(value)


def _suffix(timer: str | None) -> str:
    """The end of the names of a timer's operators."""
    return "" if timer is None or timer == ir.PERIODICALLY else f"_{timer}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _listed(choice: tuple[int, ...]) -> str:
    return ", ".join(str(each) for each in choice)


def _line(text: str) -> list[str]:
    return [f"  {text}"] if text else []
