"""A scenario, checked and typed: one execution of a protocol, step by step, with assertions on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.check.expectations import check_expectations
from thence.dsl.check.stated.claims import LIVENESS, PROTOCOL_PROPERTIES
from thence.dsl.check.terms.environment import LocalName, Vocabulary, declare, listed
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.workloads.defaults import domain
from thence.dsl.check.workloads.workload import MOST_PROCESSES
from thence.dsl.ir import topology
from thence.dsl.ir.constants import elaborated, values_of
from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Name, Span
from thence.dsl.write.expressions import text_of
from thence.dsl.write.scenario import step_text
from thence.spec.words import counted

_MESSAGE, _PROCESS, _OTHER = ir.Variable("m", MESSAGE), ir.Variable("p", PROCESS), ir.Variable("a", MESSAGE)
HISTORY: dict[str, ir.Symbol] = {
    "delivered": ir.Symbol("delivered", (_MESSAGE,), BOOL),
    "delivered_at": ir.Symbol("delivered_at", (_MESSAGE, _PROCESS), BOOL),
    "network_sent": ir.Symbol("network_sent", (_MESSAGE,), BOOL),
    "arrived": ir.Symbol("arrived", (_MESSAGE, _PROCESS), BOOL),
    "hb": ir.Symbol("hb", (_OTHER, _MESSAGE), BOOL),
}
"""The symbols in assertions about the steps so far, besides the processes' states: `delivered(m)` is by all
destinations, `delivered_at(m, p)` by one; `network_sent(m)`, a packet that carries m was sent; `arrived(m, p)`, one was
received; `hb(a, m)`, a happened before m."""


def check_scenario(
    scenario: syntax.Scenario, protocol: ir.Protocol, subject: str, reporter: Reporter
) -> ir.Scenario | None:
    """The typed scenario; None if anything in it is erroneous. The protocol has no errors."""
    before = reporter.errors
    if not scenario.processes:
        reporter.error(
            "E0630",
            scenario.name.span,
            f"scenario `{scenario.name.text}` does not say which processes there are",
            "write `processes p, q, r`",
        )
        return None
    work = _Work(protocol, reporter)
    for number, name in enumerate(scenario.processes):
        if declare(name, "process", work.spans, reporter):
            work.processes[name.text] = number
    if len(scenario.processes) > MOST_PROCESSES:
        reporter.error(
            "E0602", scenario.processes[0].span, f"{len(scenario.processes)} processes, at most {MOST_PROCESSES}"
        )
    tree, links = work.links(scenario.links)
    constants = work.constants(scenario)
    steps = [work.step(step) for step in scenario.steps]
    named = {*PROTOCOL_PROPERTIES, *LIVENESS, "fault", *(one.name for one in protocol.formulas)}
    expects = check_expectations(
        scenario.expects,
        reporter,
        "scenario",
        named - {*protocol.witnesses, DEADLOCK_FREE, COMPLETES},
        f"scenario `{scenario.name.text}`",
    )
    if reporter.errors > before:
        return None
    values = values_of(protocol, dict(constants), len(work.processes))
    typed = tuple(elaborated(step, values) for step in steps if step is not None)
    return ir.Scenario(
        scenario.name.text,
        subject,
        protocol,
        tuple(work.processes),
        typed,
        replace(_workload(typed, len(work.processes), protocol), tree=tree, constants=constants, links=links),
        expects,
        doc=scenario.doc,
        span=scenario.span,
    )


def _workload(
    steps: tuple[ir.ScenarioStep | ir.NamedFormula, ...], processes: int, protocol: ir.Protocol
) -> ir.Workload:
    """The workload that the steps need: so many sends, to these destinations, so many faults and ticks."""
    played = [step for step in steps if isinstance(step, ir.ScenarioStep)]
    sends = [[step.peers for step in played if step.event == "sends" and step.process == p] for p in range(processes)]
    groups = tuple(tuple(sorted({tuple(sorted(peers)) for peers in chosen})) for chosen in sends)
    inputs = tuple(
        ir.InputUse(
            (handler.kind or ""),
            tuple(sum(step.subject == handler.kind and step.process == p for step in played) for p in range(processes)),
            tuple((one.name, domain(str(one.type), processes)) for one in handler.parameters),
        )
        for handler in protocol.inputs
    )
    ticks = Counter((step.process, step.subject) for step in played if step.event == "ticks")
    return ir.Workload(
        processes,
        tuple(len(chosen) for chosen in sends),
        tuple(tuple(sorted({peer for peers in chosen for peer in peers})) for chosen in sends),
        sum(step.event == "duplicates" for step in played),
        sum(step.event == "loses" for step in played),
        max(ticks.values(), default=None),
        () if protocol.delivery == "unicast" else groups,
        inputs=tuple(use for use in inputs if any(use.limits)),
    )


@dataclass(slots=True)
class _Work:
    """The steps of one scenario, one after the other, with the names that they bring in."""

    protocol: ir.Protocol
    reporter: Reporter
    processes: dict[str, int] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    messages: dict[str, Span] = field(default_factory=dict)

    def links(self, links: Sequence[syntax.LinkLine]) -> tuple[topology.Edges, topology.Edges]:
        """The edges of a tree network, and the links of an overlay; empty where the scenario gives none, or where they
        are at fault."""
        network = self.protocol.network
        if links and not (network.tree or network.overlay):
            self._misfit(links[0].span, f"the network of `{self.protocol.name}` is not a `tree`, and no `overlay`")
            return (), ()
        edges: list[tuple[int, int]] = []
        for line in links:
            process, peers = self._process(line.process), [self._process(peer) for peer in line.peers]
            if process is None or None in peers:
                return (), ()
            others = [peer for peer in peers if peer is not None]
            edges += topology.directed(process, others, line.mutual and network.overlay)
        if not edges:
            return (), ()
        if network.overlay:
            fault = topology.fault_of_links(tuple(edges))
            if fault is not None:
                self.reporter.error("E0632", links[-1].span, f"these are not the links of an overlay: {fault}")
            return (), tuple(sorted(edges))
        fault = topology.fault_of(tuple(edges), len(self.processes))
        if fault is not None:
            self.reporter.error(
                "E0622", links[-1].span, f"the links are not a tree of the {len(self.processes)} processes: {fault}"
            )
        return tuple(edges), ()

    def constants(self, scenario: syntax.Scenario) -> tuple[tuple[str, int | bool], ...]:
        """The constants and roles that the scenario gives a value: a role by the name of a process."""
        types = {one.name: one.type for one in self.protocol.constants}
        found: dict[str, int | bool] = {}
        for given in scenario.given:
            name = given.name.text
            if isinstance(given.value, Name):
                value: int | bool | None = self._process(given.value)
                fits = types.get(name) == PROCESS
            else:
                value = given.value
                fits = types.get(name) == (BOOL if isinstance(value, bool) else NAT)
            if name not in types:
                said = f"`{self.protocol.name}` has no constant or role `{name}`"
                self.reporter.error("E0626", given.name.span, said, *did_you_mean(name, types))
            elif name in found:
                self.reporter.error("E0130", given.span, f"`{name}` is set twice")
            elif not fits:
                hint = "name one of the processes" if types[name] == PROCESS else f"write a `{types[name]}`"
                self.reporter.error("E0627", given.span, f"`{name}` is a {types[name]}", hint)
            elif value is not None:
                found[name] = value
        for one in self.protocol.constants:
            said_elsewhere = any(given.name.text == one.name for given in scenario.given)
            if one.type == PROCESS and not said_elsewhere and one.value >= len(self.processes):
                said = f"role `{one.name}` is process {one.value}, but there are {len(self.processes)} processes"
                self.reporter.error("E0627", scenario.name.span, said, f"write `{one.name} = NAME` of a process")
        return tuple(found.items())

    def step(self, step: syntax.ScenarioStep | syntax.Assertion) -> ir.ScenarioStep | ir.NamedFormula | None:
        """The typed step; a message is known from its send on."""
        if isinstance(step, syntax.Assertion):
            body = self._checker().check(step.formula, BOOL, "an assertion is true or false")
            return None if body is None else ir.NamedFormula(text_of(step.formula), body, span=step.span)
        process = self._process(step.process)
        peers = [self._process(peer) for peer in step.peers]
        match step.event:
            case "sends":
                arguments: tuple[ir.Expr, ...] | None = ()
                self._send(step)
            case "does":
                arguments = self._input(step)
            case "ticks":
                arguments = ()
                self._tick(step)
            case "loses" | "duplicates" | "receives" | "cannot":
                arguments = self._packet(step)
        known = tuple(peer for peer in peers if peer is not None)
        if process is None or len(known) < len(peers) or arguments is None:
            return None
        subject = "" if step.subject is None else step.subject.text
        return ir.ScenarioStep(
            step.event, process, known, subject, arguments, step.rest, step_text(step), span=step.span
        )

    def _checker(self) -> ExpressionChecker:
        names = {name: LocalName(PROCESS, self.spans[name], "constant") for name in self.processes}
        names |= {name: LocalName(MESSAGE, span, "constant") for name, span in self.messages.items()}
        words = Vocabulary(
            "property",
            {"process": PROCESS, "message": MESSAGE, **{record.name: record for record in self.protocol.records}},
            HISTORY,
            {variable.name: variable.type for variable in self.protocol.state},
            delivery=self.protocol.delivery,
            definitions={definition.name: definition for definition in self.protocol.definitions},
            constants={one.name: one.type for one in self.protocol.constants},
            kinds={kind.name: kind.parameters for kind in self.protocol.packets},
            sent=True,
        )
        return ExpressionChecker(words, self.reporter, names, {})

    def _process(self, name: Name) -> int | None:
        if name.text not in self.processes:
            self.reporter.error(
                "E0630",
                name.span,
                f"there is no process `{name.text}` in this scenario",
                *did_you_mean(name.text, self.processes),
                f"the processes are {listed(self.processes)}",
            )
        return self.processes.get(name.text)

    def _input(self, step: syntax.ScenarioStep) -> tuple[ir.Expr, ...] | None:
        """The arguments of the input. They are evaluated when the step is played."""
        assert step.subject is not None
        name, inputs = step.subject.text, {handler.kind or "": handler for handler in self.protocol.inputs}
        if name not in inputs:
            self._misfit(step.subject.span, f"`{self.protocol.name}` has no input `{name}`")
            return None
        return self._checker().arguments(f"input `{name}`", step.arguments, inputs[name].parameters, step.span)

    def _tick(self, step: syntax.ScenarioStep) -> None:
        """Checks that the protocol has the timer."""
        timers, of = self.protocol.timers, f"`{self.protocol.name}`"
        if not timers:
            self._misfit(step.process.span, f"{of} does nothing `periodically`")
        elif step.subject is not None and step.subject.text not in timers:
            self._misfit(step.subject.span, f"{of} has no timer `{step.subject.text}`")
        elif step.subject is None and ir.PERIODICALLY not in timers:
            self._misfit(step.process.span, f"the timers of {of} have names: write `ticks {timers[0]}`")

    def _send(self, step: syntax.ScenarioStep) -> None:
        assert step.subject is not None
        if declare(step.subject, "message", {**self.spans, **self.messages}, self.reporter):
            self.messages[step.subject.text] = step.subject.span
        seen = {peer.text for peer in step.peers}
        if len(seen) < len(step.peers):
            self._misfit(step.subject.span, f"`{step.subject.text}` goes to one process twice")
        match self.protocol.delivery:
            case "unicast" if len(step.peers) != 1:
                self._misfit(
                    step.subject.span,
                    f"`{step.subject.text}` has {counted(len(step.peers), 'destination')}, but delivery is `unicast`",
                )
            case "broadcast" if seen | {step.process.text} != set(self.processes):
                self._misfit(
                    step.subject.span,
                    f"`{step.subject.text}` does not go to every other process, but delivery is `broadcast`",
                )
            case _:
                pass

    def _packet(self, step: syntax.ScenarioStep) -> tuple[ir.Expr, ...] | None:
        """The arguments of the packet that the step names, as far as it names them."""
        assert step.subject is not None
        packets = {packet.name: packet for packet in self.protocol.packets}
        network = self.protocol.network
        has = {"loses": network.lossy, "duplicates": network.duplicating}
        if not has.get(step.event, True):
            word = "lossy" if step.event == "loses" else "duplicating"
            self.reporter.warning(
                "W0909",
                step.span,
                f"the network {step.event} a packet, but that of `{self.protocol.name}` is not `{word}`",
                "the scenario is played all the same: with a fault that the protocol does not have to stand",
            )
        packet = packets.get(step.subject.text)
        if packet is None:
            self.reporter.error(
                "E0204",
                step.subject.span,
                f"there is no packet kind `{step.subject.text}`",
                *did_you_mean(step.subject.text, packets),
            )
            return self._checker().arguments("", step.arguments, None, step.span)
        parameters = packet.parameters
        if step.rest:
            if len(step.arguments) > len(parameters):
                what = counted(len(parameters), "argument")
                self._misfit(step.subject.span, f"packet `{packet.name}` has {what}, and more are named here")
                return None
            parameters = parameters[: len(step.arguments)]
        return self._checker().arguments(f"packet `{packet.name}`", step.arguments, parameters, step.span)

    def _misfit(self, span: Span, message: str) -> None:
        self.reporter.error("E0631", span, message)
