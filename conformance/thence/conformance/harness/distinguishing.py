"""Executions that distinguish a protocol from its mutants: the shortest counterexamples that the explorer finds.

An implementation may have the fault of a mutant, and a statement that the file refutes marks a weakness of the protocol
itself. Each counterexample is kept twice: as a script, which any system can be led through, and as a schedule of all
its packets, timers and network faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from thence.conformance.cases.network import Channel, Destination
from thence.conformance.cases.schedule import Duplicate, Have, Lose, Operation, React, Receive, Schedule, Send, Tick
from thence.conformance.harness.guided import Corpus, Script, script_of
from thence.dsl import ir
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.narrate import NarratedStep, execution
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import ONE_THREAD, Method

STATES: Final = 20_000
"""States of a mutant that are explored."""


def distinguishing(specification: ir.Specification, protocol: ir.Protocol, limit: int = STATES) -> Corpus:
    """The counterexamples to the protocol and to its mutants that the file states, in the scopes that it names."""
    scripts: dict[Script, None] = {}
    schedules: dict[Schedule, None] = {}
    for subject, expects in _stated(specification, protocol):
        for workload, names in _refuted(subject, expects).items():
            explored = explore(
                subject, workload, names, stop_when_refuted=True, limit=limit, method=Method(resources=ONE_THREAD)
            )
            for violation in explored.violations.values():
                scripts[script_of(execution(violation.system, violation.steps))] = None
                if all(step.action.kind != "send" or step.action.destinations for step in violation.steps):
                    schedules[schedule_of(violation.system, violation.steps)] = None
    return Corpus(tuple(filter(None, scripts)), tuple(filter(None, schedules)))


def schedule_of(system: System, steps: Sequence[NarratedStep]) -> Schedule:
    """The run as operations, which bring it about on a system that sends the same packets."""
    delivery = system.protocol.delivery
    flights: list[tuple[Channel, int]] = []
    operations: list[Operation] = []

    def place(packet: int) -> tuple[int, Channel]:
        """The packet's position on its channel, and the channel."""
        known = system.packet(packet)
        channel = known.src, known.dst
        return [number for on, number in flights if on == channel].index(packet), channel

    def destination(destinations: tuple[int, ...]) -> Destination:
        match delivery:
            case "unicast":
                return destinations[0]
            case "multicast":
                return tuple(sorted(destinations))
            case "broadcast":
                return None

    for step in steps:
        action, outcome = step.action, step.outcome
        for emission in outcome.emissions:
            if isinstance(emission, Delivered) and emission.then is not None:
                operations.append(React(action.process, destination(emission.then.dsts)))
        match action.kind:
            case "send":
                operations.append(Send(action.process, destination(action.destinations)))
            case "tick":
                operations.append(Tick(action.process, action.name))
            case "input":
                operations.append(Have(action.process, action.name, action.arguments))
            case "receive" | "lose":
                position, channel = place(action.packet)
                operations.append((Receive if action.kind == "receive" else Lose)(position, channel))
                flights.remove((channel, action.packet))
            case "duplicate":
                position, channel = place(action.packet)
                operations.append(Duplicate(position, channel))
                flights.append((channel, action.packet))
        for emission in outcome.emissions:
            if isinstance(emission, Sent):
                number = system.packet_number(action.process, emission)
                flights.append(((action.process, emission.to), number))
    return tuple(operations)


def _stated(
    specification: ir.Specification, protocol: ir.Protocol
) -> Iterator[tuple[ir.Protocol, Iterable[ir.Expectation]]]:
    """The protocol and its mutants, each with the verdicts that the file expects."""
    for scope in specification.scopes:
        if scope.protocol == protocol.name:
            yield protocol, [_in_scope(expect, scope) for expect in scope.expects]
    for mutant in specification.mutants:
        if mutant.subject == protocol.name and isinstance(mutant.mutated, ir.Protocol):
            yield mutant.mutated, mutant.expects


def _in_scope(expect: ir.Expectation, scope: ir.Scope) -> ir.Expectation:
    settings = expect.settings or scope.workload
    return ir.Expectation(expect.verdict, expect.names, expect.scope, settings)


def _refuted(protocol: ir.Protocol, expects: Iterable[ir.Expectation]) -> dict[ir.Workload, Sequence[str]]:
    """The statements that are expected to be refuted, by scope; without endless scopes, links, and what is `reachable`:
    no run refutes it."""
    wanted: dict[ir.Workload, list[str]] = {}
    for expect in expects:
        names = [name for name in expect.names if name != "link" and name not in protocol.witnesses]
        if expect.verdict == "refuted" and expect.settings is not None and expect.settings.ends and names:
            wanted.setdefault(expect.settings, []).extend(names)
    return dict(wanted)
