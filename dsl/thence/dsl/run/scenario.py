"""Playing a scenario: its steps in the interpreter, one after the other, and its assertions where they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.properties import DELIVERED
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.choices import Choices, every_script
from thence.dsl.run.evaluate import Evaluator, Frame, Names, compile_expression
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.narrate import NarratedStep, narrate, show_packet
from thence.dsl.run.quiescence import Unsettled, stuck, unkept
from thence.dsl.run.scoped import watching
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Packet, Value


@dataclass(frozen=True, slots=True)
class Failure:
    """The step at which a scenario fails: it is not possible, or an assertion is false. Its line, and the reason."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario as far as it went.

    Attributes:
        steps: the steps that were made.
        failure: the reason why it ended there; None if it was played to the end.
        assertions: how many were true.
        violated: every finding of the steps and of the states on the way, in order.
        open: what is not decided at the end, since something can still happen: `delivered` where messages wait,
            promises that are owed, and what is said of states at rest.
        messages: the name of each message in the scenario.
        buffered: of each message that is not network-sent by the step that causal-sends it: the number of that step,
            from 1, and of the step that network-sends it (None: it is never).
    """

    system: System
    steps: tuple[NarratedStep, ...]
    failure: Failure | None
    assertions: int
    violated: tuple[Finding, ...]
    open: frozenset[str]
    messages: Mapping[Message, str]
    buffered: Mapping[str, tuple[int, int | None]]


def in_words(line: str, names: Mapping[str, str]) -> str:
    """A narration, the processes and messages called by the names of the scenario.

    The name of a state variable, which stands at the start of a line, and of a kind of packet, stays.
    """
    return re.sub(r"\bm\d+\.\d+\b|(?<![\w.])p\d+\b(?!\(|: .* -> )", lambda found: names.get(found[0], found[0]), line)


def play(scenario: ir.Scenario) -> Played:
    """Plays a scenario from the initial state; ends at a step that is not possible, or at a false assertion.

    Where the protocol chooses, it chooses so that no step and no assertion fails, if it can; if not, the execution that
    comes furthest is the result. Raises: TooManyOutcomes.
    """
    best: Played | None = None

    def run(choices: Choices) -> None:
        nonlocal best
        played = _Player(scenario, choices).play()
        if best is None or _distance(played) > _distance(best):
            best = played

    for _ in every_script(run):
        assert best is not None
        if best.failure is None:
            break
    assert best is not None
    return best


def _distance(played: Played) -> tuple[bool, int, int]:
    return played.failure is None, len(played.steps), played.assertions


@dataclass(slots=True)
class _Player:
    """The state that the steps have led to, and their history. `choices` choose for the protocol."""

    scenario: ir.Scenario
    choices: Choices
    system: System = field(init=False)
    state: State = field(init=False)
    steps: list[NarratedStep] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    assertions: int = 0
    findings: list[Finding] = field(default_factory=list)
    pasts: list[set[Message]] = field(init=False)
    before: dict[Message, frozenset[Message]] = field(default_factory=dict)
    delivered: set[tuple[Message, int]] = field(default_factory=set)
    arrived: set[tuple[Message, int]] = field(default_factory=set)
    sent_at: dict[Message, int] = field(default_factory=dict)
    network_sent: dict[Message, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        protocol, asked = self.scenario.protocol, {name for expect in self.scenario.expects for name in expect.names}
        self.system = System(watching(protocol, asked), self.scenario.workload)
        self.state = self.system.initial()
        self.findings += self._broken()
        self.pasts = [set() for _ in self.scenario.processes]

    def play(self) -> Played:
        failure = None
        for step in self.scenario.steps:
            why = self._assertion(step) if isinstance(step, ir.NamedFormula) else self._step(step)
            if why is not None:
                failure = Failure(step.span.line, why)
                break
        known = {message: name for name, message in self.messages.items()}
        ended = self._never_comes()
        if failure is None:
            ended += self._broken(at_rest=True)
        findings = (*self.findings, *ended)
        open_ = self._owed() - {finding.property for finding in findings}
        return Played(
            self.system, tuple(self.steps), failure, self.assertions, findings, open_, known, self._buffered()
        )

    def _never_comes(self) -> tuple[Finding, ...]:
        """What can never come from here on; nothing where that is not known: then it stays open."""
        try:
            waiting = stuck(self.system, self.state)
            return (*((waiting,) if waiting is not None else ()), *unkept(self.system, self.state))
        except Unsettled:
            return ()

    def _broken(self, *, at_rest: bool = False) -> tuple[Finding, ...]:
        """What is broken in the state of what is true at rest, or else of all other formulas.

        The scenario is at rest at its end at the earliest: before, its next step can happen.
        """
        names = {formula.name for formula in self.system.protocol.rest}
        return tuple(one for one in self.system.broken(self.state) if (one.property in names) is at_rest)

    def _owed(self) -> frozenset[str]:
        """What is not decided before a run has come to its end."""
        system, state = self.system, self.state
        owed = set[str]()
        if state.history.pending:
            owed.add(DELIVERED)
        if system.promises is not None:
            owed |= {instance.name for instance in system.promises.in_bits(state.owed)}
        if not system.is_at_rest(state):
            owed |= {formula.name for formula in system.protocol.rest}
        return frozenset(owed)

    def _buffered(self) -> dict[str, tuple[int, int | None]]:
        if all(kind.carries is None for kind in self.scenario.protocol.packets):
            return {}
        times = {name: (self.sent_at[one], self.network_sent.get(one)) for name, one in self.messages.items()}
        return {name: (sent, left) for name, (sent, left) in times.items() if left != sent}

    # --- steps ---------------------------------------------------------------------------------

    def _step(self, step: ir.ScenarioStep) -> str | None:
        """Makes a step; why it is not possible, if it is not."""
        match step.event:
            case "sends":
                return self._act(step, Action("send", step.process, tuple(sorted(step.peers))))
            case "ticks":
                return self._act(step, Action("tick", step.process, name=step.subject or ir.PERIODICALLY))
            case "does":
                return self._input(step)
            case "receives" | "cannot" | "loses" | "duplicates":
                return self._of_packet(step)
            case _:
                assert_never(step.event)

    def _input(self, step: ir.ScenarioStep) -> str | None:
        try:
            arguments = tuple(self._value(argument) for argument in step.arguments)
        except Fault as fault:
            return f"`{step.text}`: an argument has no value: {fault}"
        return self._act(step, Action("input", step.process, name=step.subject, arguments=arguments))

    def _of_packet(self, step: ir.ScenarioStep) -> str | None:
        receiver, sender = step.process, step.peers[0]
        if step.event in ("loses", "duplicates"):
            receiver, sender = sender, receiver
        try:
            given = tuple(self._value(argument) for argument in step.arguments)
        except Fault as fault:
            return f"`{step.text}`: an argument has no value: {fault}"
        there = [
            number
            for number in dict.fromkeys(self.state.network)
            if self._fits(self.system.packet(number), step.subject, sender, receiver, given)
        ]
        able = [number for number in there if number in set(self.system.receivable(self.state))]
        if step.event == "cannot":
            return f"`{step.text}`, but it can: {self._shown(able[0])} is there" if able else None
        if len(there) > 1:
            return f"`{step.text}` can mean {' or '.join(map(self._shown, there))}"
        if not able:
            waits = "another packet is before it" if there else f"in flight: {self._in_flight()}"
            return f"`{step.text}` is not possible: {waits}"
        match step.event:
            case "receives":
                return self._act(step, Action("receive", receiver, (), able[0]))
            case "loses":
                return self._act(step, Action("lose", sender, (), able[0]))
            case _:
                return self._act(step, Action("duplicate", sender, (), able[0]))

    def _fits(self, packet: Packet, kind: str, sender: int, receiver: int, given: tuple[Value, ...]) -> bool:
        same = (packet.kind, packet.src, packet.dst) == (kind, sender, receiver)
        return same and packet.arguments[: len(given)] == given

    def _shown(self, number: int) -> str:
        return f"`{show_packet(self.system, self.system.packet(number))}`"

    def _in_flight(self) -> str:
        names = self.scenario.processes
        packets = [self.system.packet(number) for number in self.state.network]
        shown = [f"`{show_packet(self.system, one)}` from {names[one.src]} to {names[one.dst]}" for one in packets]
        return ", ".join(shown) or "nothing"

    def _act(self, step: ir.ScenarioStep, action: Action) -> str | None:
        if action.kind == "input":
            able = [*self.system.by_choice(self.state, action)] if self.system.takes(self.state, action) else []
        else:
            able = [one for one in self.system.enabled(self.state) if one._replace(script=()) == action]
        if not able:
            return f"`{step.text}` is not possible here"
        action = able[self.choices.pick(len(able))]
        outcome = self.system.apply(self.state, action)
        narrated = narrate(self.system, self.state, action, outcome)
        if outcome.subject is not None:
            self._sent(step.subject, outcome.subject)
        names = {f"p{number}": name for number, name in enumerate(self.scenario.processes)}
        names |= {message.name: name for name, message in self.messages.items()}
        details = tuple(in_words(line, names) for line in narrated.details)
        self.steps.append(replace(narrated, title=step.text, details=details))
        self.findings += outcome.findings
        self.state = outcome.state
        self.findings += self._broken()
        if action.kind == "receive":
            carried = self.system.carried(self.system.packet(action.packet))
            if carried is not None:
                self.arrived.add((carried, action.process))
        for emission in outcome.emissions:
            match emission:
                case Delivered(message):
                    self.delivered.add((message, action.process))
                    self.pasts[action.process] |= {message} | self.before[message]
                case Sent():
                    moved = self.system.carried(emission)
                    if moved is not None:
                        self.network_sent.setdefault(moved, len(self.steps))
        return None

    def _sent(self, name: str, message: Message) -> None:
        self.messages[name] = message
        self.sent_at[message] = len(self.steps) + 1
        self.before[message] = frozenset(self.pasts[message.src])
        self.pasts[message.src].add(message)

    # --- assertions ----------------------------------------------------------------------------

    def _assertion(self, formula: ir.NamedFormula) -> str | None:
        try:
            true = self._value(formula.body)
        except Fault as fault:
            return f"`{formula.name}` has no value here: {fault}"
        self.assertions += bool(true)
        return None if true else f"`{formula.name}` is false here"

    def _value(self, expression: ir.Expr) -> Value:
        states = self.system.locals_of(self.state)
        frame = Frame(processes=len(states), all_states=states, symbols=self._history())
        frame.flying = [self.system.packet(number) for number in self.state.network]
        frame.fifo = not self.system.protocol.network.reordering
        frame.messages = tuple(sorted(self.messages.values()))
        frame.locals = {**{name: at for at, name in enumerate(self.scenario.processes)}, **self.messages}
        positions = {variable.name: at for at, variable in enumerate(self.scenario.protocol.state)}
        evaluate: Evaluator = compile_expression(expression, Names(positions))
        return evaluate(frame)

    def _history(self) -> dict[str, Callable[..., Value]]:
        """The values of the symbols that `check.scenario.HISTORY` declares."""
        return {
            "delivered": lambda m: all((m, process) in self.delivered for process in m.dsts),
            "delivered_at": lambda m, p: (m, p) in self.delivered,
            "network_sent": lambda m: m in self.network_sent,
            "arrived": lambda m, p: (m, p) in self.arrived,
            "hb": lambda a, m: a in self.before[m],
        }
