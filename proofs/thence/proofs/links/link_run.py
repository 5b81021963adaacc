"""The meaning of a link: every event that a protocol emits is enabled in its machine.

Each event of a step is replayed in the machine, in the order of the handler, be it a step of an exploration or of an
execution from elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.constants import elaborated, values_of
from thence.dsl.ir.observability import sees_network
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE, Type
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.evaluate import Evaluator, Frame, Names, compile_expression
from thence.dsl.run.execute import Delivered, Emission
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.machine_run import SENT, MachineRun, MachineState, Refusal
from thence.dsl.run.narrate import NarratedStep
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Value, show

Arguments: TypeAlias = tuple[Value | None, ...]
"""Of a transition; None for those that the machine finds."""

_Step: TypeAlias = tuple[MachineState, str, Arguments]


class Follower(NamedTuple):
    """The machine's side of a run: its state, and the `once` clauses that fired."""

    machine: MachineState
    fired: frozenset[tuple[int, tuple[Arguments, ...]]]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the protocol: kind of event, packet kind, the values that a clause's names bind, the peer."""

    event: str
    kind: str | None
    values: tuple[Value, ...]
    peer: int | None


@dataclass(frozen=True, slots=True)
class Broken:
    """An event that the machine does not enable.

    It has the first transition that the event might be, with its arguments as text, and the others; all of them are
    refused.
    """

    event: str
    refusal: Refusal
    arguments: str
    others: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        said = f"{self.refusal.transition}({self.arguments}), which the machine refuses: {self.refusal}"
        first = f"{self.event} is {said}"
        return "; ".join([first, *(f"nor {other.transition}: {other}" for other in self.others)])


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An invariant of the link that is not true after a step: protocol and machine took it, and disagree."""

    invariant: ir.NamedFormula
    fault: str = ""

    def __str__(self) -> str:
        said = f"has no value: {self.fault}" if self.fault else "is false of the protocol and the machine"
        return f"invariant {self.invariant.name} {said}"


@dataclass(frozen=True, slots=True)
class _Clause:
    number: int
    declaration: ir.Clause
    targets: tuple[tuple[str, tuple[Evaluator | None, ...]], ...]
    when: Evaluator | None


@dataclass(slots=True)
class LinkRun:
    """Replays a protocol's events in the machine of `link`. `sees_network`: an invariant of the link speaks of packets
    in flight."""

    link: ir.Link
    system: System
    sees_network: bool = field(init=False)
    _run: MachineRun = field(init=False)
    _clauses: tuple[_Clause, ...] = field(init=False)
    _invariants: tuple[tuple[ir.NamedFormula, Evaluator], ...] = field(init=False)
    _steps: dict[_Step, MachineState | Refusal] = field(init=False, default_factory=dict)
    _interned: dict[MachineState, MachineState] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.sees_network = sees_network(self.link.invariants)
        workload = self.system.workload
        ends = [(src, dsts) for src in range(workload.processes) for dsts in workload.choices(src)]
        self._run = MachineRun(self.link.machine, workload.processes, ends, self.system.interpreter.tree)
        values = values_of(self.link.protocol, dict(workload.constants), workload.processes)
        names = Names({variable.name: at for at, variable in enumerate(self.system.protocol.state)})
        self._clauses = tuple(
            _Clause(
                number,
                clause,
                tuple((target.transition, _compiled(target, names)) for target in clause.targets),
                None if clause.when is None else compile_expression(clause.when, names),
            )
            for number, clause in enumerate(elaborated(self.link.clauses, values))
        )
        self._invariants = self.compiled(self.link.invariants)

    @property
    def reads_locals(self) -> bool:
        """Whether what an event is in the machine depends on the state of its process."""
        return any(
            isinstance(node, ir.StateOf)
            for clause in self._clauses
            for tree in (clause.declaration.when, *(target.arguments for target in clause.declaration.targets))
            for node in nodes(tree)
        )

    def concerns(self, event: Event) -> bool:
        """Whether some clause is about events of this kind."""
        asked = event.event, event.kind
        return any((clause.declaration.event, clause.declaration.kind) == asked for clause in self._clauses)

    def broken_axioms(self) -> tuple[str, ...]:
        """See `MachineRun.broken_axioms`."""
        return self._run.broken_axioms()

    def initial(self) -> Follower:
        """The machine's initial state."""
        return Follower(self._run.initial(), frozenset())

    def what_breaks(self, start: State, steps: Iterable[NarratedStep]) -> Broken | Disagreement:
        """What is broken at the end of a run that breaks the link there, and no earlier."""
        state = start
        after: Follower | Broken | Disagreement = self.initial()
        after = self.disagreement(self.initial(), state) or after
        for step in steps:
            assert isinstance(after, Follower), "the link breaks earlier when it is replayed"
            after = self.follow(after, state, step.action, step.outcome)
            state = step.outcome.state
        assert not isinstance(after, Follower), "the replay does not confirm the broken link"
        return after

    @property
    def transitions(self) -> tuple[str, ...]:
        """The transitions that events may be, each once."""
        return tuple(dict.fromkeys(target.transition for each in self._clauses for target in each.declaration.targets))

    def took(self, transition: str) -> bool:
        """Whether the machine has taken the transition, for an event of the protocol."""
        taken = (after for (_, name, _), after in self._steps.items() if name == transition)
        return any(not isinstance(after, Refusal) for after in taken)

    def with_machine(self, machine: ir.Machine, changed: Collection[str]) -> LinkRun:
        """The same link to a machine that differs in the transitions `changed` only.

        The known steps of the other transitions are taken over.
        """
        other = LinkRun(replace(self.link, machine=machine), self.system)
        if not any(name in self.link.internal for name in changed):
            other._steps = {key: after for key, after in self._steps.items() if key[1] not in changed}
        return other

    def agrees_with(self, other: LinkRun, changed: Collection[str]) -> bool:
        """Whether the machine of `other`, which differs in `changed` only, takes all steps that were tried here alike.

        Then each run followed here is followed there in the same way.
        """
        if any(name in self.link.internal for name in changed):
            return False
        for (state, transition, arguments), after in self._steps.items():
            if transition in changed:
                there = other._machine_step(state, transition, arguments)
                refused = isinstance(after, Refusal), isinstance(there, Refusal)
                if not (all(refused) or after == there):
                    return False
        return True

    def disagreement(self, follower: Follower, state: State) -> Disagreement | None:
        """The first invariant of the link that is not true of the two states."""
        if not self._invariants:
            return None
        frame = self.frame(follower, state, sees_network=self.sees_network)
        for invariant, holds in self._invariants:
            try:
                if not holds(frame):
                    return Disagreement(invariant)
            except Fault as fault:
                return Disagreement(invariant, str(fault))
        return None

    def frame(self, follower: Follower, state: State, *, sees_network: bool) -> Frame:
        """What formulas about the two states see; packets in flight only where they speak of these."""
        return Frame(
            processes=self.system.workload.processes,
            all_states=self.system.locals_of(state),
            symbols=self._run.symbols(follower.machine),
            flying=[self.system.packet(number) for number in state.network] if sees_network else (),
            fifo=not self.system.protocol.network.reordering,
            messages=sorted(message for (message,) in follower.machine[SENT]),
        )

    def compiled(self, formulas: Iterable[ir.NamedFormula]) -> tuple[tuple[ir.NamedFormula, Evaluator], ...]:
        """Formulas about both states, as functions of a frame."""
        workload = self.system.workload
        values = values_of(self.link.protocol, dict(workload.constants), workload.processes)
        names = Names({variable.name: at for at, variable in enumerate(self.system.protocol.state)})
        return tuple((each, compile_expression(each.body, names)) for each in elaborated(tuple(formulas), values))

    def follow(
        self, follower: Follower, before: State, action: Action, outcome: Outcome
    ) -> Follower | Broken | Disagreement:
        """The machine's side after one step of the protocol; or the event that it refuses, or on what they disagree."""
        local = self.system.local(before.locals[action.process])
        events = self.events(action, outcome.subject, outcome.emissions)
        after = self.take(follower, action.process, local, events)
        return after if isinstance(after, Broken) else self.disagreement(after, outcome.state) or after

    def take(self, follower: Follower, process: int, local: LocalState, events: Iterable[Event]) -> Follower | Broken:
        """The machine's side after events of one step of the process, which was in the state `local` before it; or the
        first that the machine refuses. Raises: Fault, where the machine's internal transitions have no end."""
        for event in events:
            result = self._follow_event(follower, process, local, event)
            if isinstance(result, Broken):
                return result
            follower = result
        return follower

    def events(self, action: Action, subject: Message | None, emissions: Iterable[Emission]) -> Iterator[Event]:
        """The events of a step in which the process sends the message `subject`, if any, and emits so much."""
        if subject is not None:
            yield Event("causal_send", None, (subject,), None)
        if action.kind == "receive":
            packet = self.system.packet(action.packet)
            yield Event("receive", packet.kind, packet.arguments, packet.src)
        if action.kind == "input":
            yield Event("input", action.name, action.arguments, None)
        if action.kind == "tick":
            yield Event("periodically", None if action.name == ir.PERIODICALLY else action.name, (), None)
        for emission in emissions:
            if isinstance(emission, Delivered):
                yield Event("deliver", None, (emission.message,), None)
                if emission.then is not None:
                    yield Event("causal_send", None, (emission.then,), None)
            else:
                yield Event("send", emission.kind, emission.arguments, emission.to)

    def _follow_event(self, follower: Follower, process: int, local: LocalState, event: Event) -> Follower | Broken:
        for clause in self._clauses:
            declaration = clause.declaration
            if (declaration.event, declaration.kind) != (event.event, event.kind):
                continue
            try:
                targets = self._targets(follower, process, local, clause, event)
            except Fault as fault:
                refusal = Refusal(declaration.targets[0].transition, str(fault))
                return Broken(self._describe(event, process), refusal, "")
            if targets is None:
                continue
            if event.event == "deliver" and self._is_elsewhere(event, process):
                refusal = Refusal("deliver", f"p{process} is not its destination")
                return Broken(self._describe(event, process), refusal, self._arguments(*targets[0]))
            if declaration.once:
                key = (clause.number, tuple(arguments for _, arguments in targets))
                if key in follower.fired:
                    continue
                follower = follower._replace(fired=follower.fired | {key})
            refused: list[tuple[Refusal, Arguments]] = []
            for transition, arguments in targets:
                after = self._machine_step(follower.machine, transition, arguments)
                if not isinstance(after, Refusal):
                    break
                refused.append((after, arguments))
            else:
                first, *others = (self._run.explained(follower.machine, *each) for each in refused)
                return Broken(self._describe(event, process), first, self._arguments(*targets[0]), tuple(others))
            follower = follower._replace(machine=after)
        return follower

    def _is_elsewhere(self, event: Event, process: int) -> bool:
        """Whether a message is delivered where it does not go. A unicast machine has only its delivery at `dst(m)`."""
        (message,) = event.values
        assert isinstance(message, Message)
        return self.link.machine.delivery == "unicast" and process not in message.dsts

    def _arguments(self, transition: str, arguments: Arguments) -> str:
        declared = next(each for each in self.link.machine.transitions if each.name == transition)
        return _said(arguments, [parameter.type for parameter in declared.parameters])

    def _describe(self, event: Event, process: int) -> str:
        shown = _said(event.values, self._types(event))
        match event.event:
            case "send":
                return f"p{process}: send {event.kind}({shown}) to p{event.peer}"
            case "receive":
                return f"p{process}: receive {event.kind}({shown}) from p{event.peer}"
            case "input":
                return f"p{process}: {event.kind}({shown})"
            case "periodically":
                return f"p{process}: the timer{f' {event.kind}' if event.kind else ''} fires"
            case _:
                return f"p{process}: {event.event}({shown})"

    def _types(self, event: Event) -> list[Type]:
        """Of the event's values."""
        protocol = self.system.protocol
        match event.event:
            case "send" | "receive":
                (parameters,) = (each.parameters for each in protocol.packets if each.name == event.kind)
            case "input":
                (parameters,) = (each.parameters for each in protocol.inputs if each.kind == event.kind)
            case _:
                return [MESSAGE for _ in event.values]
        return [parameter.type for parameter in parameters]

    def _machine_step(self, state: MachineState, transition: str, arguments: Arguments) -> MachineState | Refusal:
        key = (state, transition, arguments)
        known = self._steps.get(key)
        if known is None:
            known = self._taken(state, transition, arguments)
            if not isinstance(known, Refusal):
                known = self._run.settled(known, self.link.internal)
                known = self._interned.setdefault(known, known)
            self._steps[key] = known
        return known

    def _taken(self, state: MachineState, transition: str, arguments: Arguments) -> MachineState | Refusal:
        found = self._run.enabling(state, transition, arguments) if None in arguments else arguments
        return found if isinstance(found, Refusal) else self._run.step(state, transition, found)

    def _targets(
        self, follower: Follower, process: int, local: LocalState, clause: _Clause, event: Event
    ) -> tuple[tuple[str, Arguments], ...] | None:
        """The transitions that the event may be, with their arguments; None where it is silent."""
        declaration = clause.declaration
        names = [parameter.name for parameter in declaration.parameters]
        values = dict(zip(names, event.values, strict=False))
        if declaration.peer is not None:
            values[declaration.peer] = event.peer
        sent: dict[tuple[int, int], Message] = {
            (message.src, message.number): message for (message,) in follower.machine[SENT]
        }

        def sent_by(sender: int, number: int) -> Message:
            if (sender, number - 1) not in sent:
                raise Fault(f"p{sender} has not sent a message of number {number}")
            return sent[sender, number - 1]

        frame = Frame(
            process=process,
            state=list(local),
            processes=self.system.workload.processes,
            locals=values,
            symbols={"sent_by": sent_by},
        )
        if clause.when is not None and not clause.when(frame):
            return None
        return tuple(
            (transition, tuple(None if each is None else each(frame) for each in arguments))
            for transition, arguments in clause.targets
        )


def _said(values: Sequence[Value | None], types: Sequence[Type]) -> str:
    """Arguments of these types, for a reader."""
    return ", ".join("any" if value is None else show(value, type_) for value, type_ in zip(values, types, strict=True))


def _compiled(target: ir.Target, names: Names) -> tuple[Evaluator | None, ...]:
    return tuple(None if each is None else compile_expression(each, names) for each in target.arguments)
