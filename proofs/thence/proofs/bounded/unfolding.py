"""A protocol in a scope, step by step, as a circuit whose inputs choose the actions.

A step of a process is the symbolic execution of one handler. The history is that of `thence.dsl.run.causality`, but
over all messages: a violation depends on undelivered messages only, so keeping the delivered ones makes no difference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal as Literal_

from thence.dsl import ir
from thence.dsl.ir.overlay import spelled_out
from thence.dsl.ir.types import Bool, Type
from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.bounded.expressions import Frame, Messages, condition_at, evaluate
from thence.proofs.bounded.history import History
from thence.proofs.bounded.network import Emitted, Network, Origin, parts_of
from thence.proofs.bounded.operations import Bounds, Workshop
from thence.proofs.bounded.refinement import literals_of, refined
from thence.proofs.bounded.statements import Emission, Executor
from thence.proofs.bounded.symbolic import (
    Choice,
    Fields,
    Slots,
    Symbolic,
    choice,
    choice_of,
    condition_of,
    known,
    select,
    supported,
)


@dataclass(frozen=True, slots=True)
class Option:
    """An action that may happen in a step, and the input that chooses it.

    Attributes:
        subject: the message that is sent, the process whose timer fires or whose application has an input.
        origin: the packet that is received, duplicated or lost, by its origin.
        name: the timer that fires, or the input, with its `arguments`.
    """

    literal: Literal
    kind: Literal_["send", "receive", "tick", "input", "duplicate", "lose"]
    subject: int = -1
    origin: Origin = (-1, -1)
    name: str = ir.PERIODICALLY
    arguments: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """One step: its options, and the conditions under which something goes wrong.

    Attributes:
        delivers: whether it delivers a message.
        movable: by process, whether it sends or receives.
        unforced: by process, whether it sends, or receives a packet that the step before did not send.
    """

    options: tuple[Option, ...]
    violations: dict[str, Literal]
    delivers: Literal
    fault: Literal
    overflow: dict[str, Literal]
    movable: dict[int, Literal]
    unforced: dict[int, Literal]


@dataclass(slots=True)
class Unfolding:
    """The steps so far, and the state after them. `counts`: of timers and inputs that the scope counts, by process."""

    protocol: ir.Protocol
    workload: ir.Workload
    circuit: Circuit
    bounds: Bounds
    properties: Collection[str]
    messages: Messages = field(init=False)
    locals: list[list[Symbolic]] = field(init=False)
    network: Network = field(init=False)
    history: History = field(init=False)
    counts: dict[tuple[str, int], Choice] = field(init=False)
    duplicates: Choice = field(default_factory=lambda: known(0))
    losses: Choice = field(default_factory=lambda: known(0))
    moments: list[Moment] = field(default_factory=list)
    choices: list[Literal] = field(default_factory=list)
    _positions: dict[str, int] = field(init=False)
    _executor: Executor = field(init=False)
    _text: ir.Protocol = field(init=False)

    def __post_init__(self) -> None:
        for variable in self.protocol.state:
            supported(variable.type)
        for packet in self.protocol.packets:
            for parameter in packet.parameters:
                supported(parameter.type)
        self.messages = self._messages()
        self.network = Network(self.circuit, self.protocol.network.reordering)
        self._positions = {variable.name: at for at, variable in enumerate(self.protocol.state)}
        text = self._text = spelled_out(self.protocol, self.workload.processes)
        procedures = {procedure.name: procedure for procedure in text.procedures}
        kinds = {packet.name: number for number, packet in enumerate(self.protocol.packets)}
        self._executor = Executor(procedures, Emission(kinds))
        self.history = History(self.circuit, self.messages, self.workload.processes)
        timers = (timer for timer in self.protocol.timers if self.workload.ticks_of(timer) is not None)
        self.counts = {
            (name, process): known(0)
            for name in (*timers, *(use.name for use in self.workload.inputs))
            for process in range(self.workload.processes)
        }
        self.locals = []
        for process in range(self.workload.processes):
            frame = self.frame(self.workshop(), process)
            self.locals.append([evaluate(variable.initial, frame, TRUE) for variable in text.state])

    def _messages(self) -> Messages:
        """Every message that can be sent, with inputs that choose its destinations."""
        sources: list[int] = []
        destinations: list[tuple[tuple[Literal, tuple[int, ...]], ...]] = []
        for process, number in enumerate(self.workload.sends):
            possible = self.workload.choices(process)
            for _ in range(number if possible else 0):
                sources.append(process)
                destinations.append(tuple(zip(self._one_of(len(possible)), possible, strict=True)))
        return Messages(tuple(sources), tuple(destinations))

    def _one_of(self, number: int) -> list[Literal]:
        """Inputs of which exactly one is true."""
        if number == 1:
            return [TRUE]
        literals = [self.circuit.fresh() for _ in range(number)]
        self.choices += literals
        self._exactly_one(literals)
        return literals

    def _exactly_one(self, literals: Sequence[Literal]) -> None:
        self.circuit.require(self.circuit.disj(literals))
        for one, other in combinations(literals, 2):
            self.circuit.require(self.circuit.disj((-one, -other)))

    def workshop(self) -> Workshop:
        return Workshop(self.circuit, self.bounds)

    def frame(self, workshop: Workshop, process: int = 0) -> Frame:
        return Frame(workshop, self.messages, self.workload.processes, self._positions, process)

    # --- simplification of the state ------------------------------------------------------------

    def literals(self) -> frozenset[Literal]:
        """The literals of the state, without those that are known."""
        found: set[Literal] = set()
        counts = (*self.counts.values(), self.duplicates, self.losses)
        for value in (*(part for state in self.locals for part in state), *counts):
            found.update(literals_of(value))
        found.update(self.network.literals())
        found.update(self.history.literals())
        return frozenset(found - {TRUE, FALSE})

    def refine(self) -> None:
        """Simplifies the state by the literals that the circuit has learnt."""
        circuit = self.circuit
        self.locals = [[refined(value, circuit) for value in state] for state in self.locals]
        self.counts = {key: _refined(number, circuit) for key, number in self.counts.items()}
        self.duplicates, self.losses = _refined(self.duplicates, circuit), _refined(self.losses, circuit)
        self.network.refine()
        self.history.refine()

    # --- one step ------------------------------------------------------------------------------

    def advance(self) -> Moment:
        """One more step, in which exactly one thing happens. Raises: Unsupported."""
        number = len(self.moments)
        workshop = self.workshop()
        options = tuple(option for option in self._options(workshop) if option.literal != FALSE)
        self._exactly_one([option.literal for option in options])
        self.choices += [option.literal for option in options]
        sends = {option.subject: option.literal for option in options if option.kind == "send"}
        for message, literal in sends.items():
            self.history.sent(message, literal)
        arrivals = {option.origin: option.literal for option in options if option.kind == "receive"}
        occurrences: dict[tuple[str, int], list[Option]] = {}
        for option in options:
            if option.kind in ("tick", "input"):
                occurrences.setdefault((option.name, option.subject), []).append(option)
        before = [list(state) for state in self.locals]
        emitted: list[tuple[Literal, Slots]] = []
        actors: dict[int, list[Literal]] = {}
        for process in range(self.workload.processes):
            cases: list[tuple[Literal, list[Symbolic]]] = []
            for handler in self._text.handlers:
                frame = self.frame(self.workshop(), process)
                frame.state = list(before[process])
                when = self._bind(handler, frame, sends, arrivals, occurrences)
                if when == FALSE:
                    continue
                if handler.guard is not None:
                    condition_at(handler.guard, frame, TRUE)  # where it is a fault, the step is
                self._executor.block(handler.body, frame, TRUE)
                workshop.adopt(frame.workshop, when)
                cases.append((when, frame.state))
                emitted.append((when, frame.emitted))
                actors.setdefault(process, []).append(when)
            self.locals[process] = self._joined(before[process], cases)
        lost = {option.origin: option.literal for option in options if option.kind == "lose"}
        self.network.remove(
            {origin: self.circuit.disj((arrivals[origin], lost.get(origin, FALSE))) for origin in arrivals}
        )
        self._count(options, occurrences)
        self.network.duplicate(
            {option.origin: option.literal for option in options if option.kind == "duplicate"}, number
        )
        violations: dict[str, Literal] = {}
        delivers = FALSE
        emissions = select(self.circuit, emitted)
        if isinstance(emissions, Slots):
            happened = self.circuit.disj(when for when, _ in emitted)
            all_emitted = Emitted(happened, choice(self.circuit, actors), emissions)
            violations, delivers = self._watch(all_emitted, workshop)
            self.network.post(all_emitted, len(self.protocol.packets), number)
        fault = workshop.fault  # then nothing else happens in the step
        violations = {name: self.circuit.conj((where, -fault)) for name, where in violations.items()}
        overflow = {bound: self.circuit.conj((literal, -fault)) for bound, literal in workshop.overflow.items()}
        overflow = {name: where for name, where in overflow.items() if where != FALSE}
        movable, unforced = self._movable(sends, arrivals, number)
        delivers = self.circuit.conj((delivers, -fault))
        moment = Moment(options, violations, delivers, fault, overflow, movable, unforced)
        self.moments.append(moment)
        return moment

    def _movable(
        self, sends: dict[int, Literal], arrivals: dict[Origin, Literal], number: int
    ) -> tuple[dict[int, Literal], dict[int, Literal]]:
        circuit = self.circuit
        movable: dict[int, list[Literal]] = {process: [] for process in range(self.workload.processes)}
        unforced: dict[int, list[Literal]] = {process: [] for process in range(self.workload.processes)}
        for message, literal in sends.items():
            movable[self.messages.sources[message]].append(literal)
            unforced[self.messages.sources[message]].append(literal)
        for packet in self.network.slots:
            for process, to in packet.to.options:
                here = circuit.conj((arrivals.get(packet.origin, FALSE), to))
                movable[process].append(here)
                if packet.origin[0] < number - 1:
                    unforced[process].append(here)
        return (
            {process: circuit.disj(literals) for process, literals in movable.items()},
            {process: circuit.disj(literals) for process, literals in unforced.items()},
        )

    def order(self) -> None:
        """Requires that the last two steps are in the order of their processes, if they commute.

        Two steps of different processes, each a send or the arrival of a packet that the other did not send, commute:
        every state is still reached, by as many steps. So this is required after the violations of the last step itself
        (rather than of the state after it) have been checked. Other actions keep their place: timers may need an empty
        network, and duplications and losses share a count.
        """
        if len(self.moments) < 2:
            return
        earlier, later = self.moments[-2:]
        for process, first in earlier.movable.items():
            for other, second in later.unforced.items():
                if other < process:
                    self.circuit.require(-self.circuit.conj((first, second)))

    def _options(self, workshop: Workshop) -> list[Option]:
        """The options of the step. The input of each implies that its action is possible."""
        found: list[Option] = []
        handlers = {handler.kind: handler for handler in self._text.handlers if handler.event == "input"}
        sending = next((handler for handler in self._text.handlers if handler.event == "causal_send"), None)
        for message, process in enumerate(self.messages.sources):
            sendable = self.history.can_send(message)
            if sendable != FALSE and sending is not None:
                sendable = self._guarded(sending, process, [Choice(((message, TRUE),))], sendable, workshop)
            found.append(Option(self._chosen(sendable), "send", message))
        for use in self.workload.inputs:
            handler = handlers[use.name]
            types = [parameter.type for parameter in handler.parameters]
            for process, limit in enumerate(use.limits):
                left = _below(self.circuit, self.counts[use.name, process], limit)
                for arguments in use.choices if left != FALSE else ():
                    given = [_constant(value, type_) for value, type_ in zip(arguments, types, strict=True)]
                    chosen = self._chosen(self._guarded(handler, process, given, left, workshop))
                    found.append(Option(chosen, "input", process, name=use.name, arguments=arguments))
        for packet, arriving in self.network.receivable():
            found.append(Option(self._chosen(arriving), "receive", origin=packet.origin))
            again = self.circuit.conj((arriving, _below(self.circuit, self.duplicates, self.workload.duplicates)))
            found.append(Option(self._chosen(again), "duplicate", origin=packet.origin))
            losing = self.circuit.conj((arriving, _below(self.circuit, self.losses, self.workload.losses)))
            found.append(Option(self._chosen(losing), "lose", origin=packet.origin))
        for timer in self.protocol.timers:
            for process in range(self.workload.processes):
                found.append(Option(self._chosen(self._timer(timer, process)), "tick", process, name=timer))
        return found

    def _chosen(self, possible: Literal) -> Literal:
        """An input that implies that this is possible."""
        if possible == FALSE:
            return FALSE
        literal = self.circuit.fresh()
        self.circuit.require(self.circuit.implies(literal, possible))
        return literal

    def _timer(self, timer: str, process: int) -> Literal:
        limit = self.workload.ticks_of(timer)
        if limit is None:
            return self.network.empty
        return _below(self.circuit, self.counts[timer, process], limit)

    def _guarded(
        self, handler: ir.Handler, process: int, given: Sequence[Symbolic], when: Literal, workshop: Workshop
    ) -> Literal:
        """Whether the protocol takes the message or input; a fault of the guard counts as well: it is to be seen."""
        if handler.guard is None:
            return when
        frame = self.frame(self.workshop(), process)
        frame.state = self.locals[process]
        frame.locals.update(zip((one.name for one in handler.parameters), given, strict=True))
        holds = condition_at(handler.guard, frame, TRUE)
        for bound, exceeded in frame.workshop.overflow.items():
            workshop.exceed(bound, self.circuit.conj((when, exceeded)))
        return self.circuit.conj((when, self.circuit.disj((holds, frame.workshop.fault))))

    def _bind(
        self,
        handler: ir.Handler,
        frame: Frame,
        sends: dict[int, Literal],
        arrivals: dict[Origin, Literal],
        occurrences: Mapping[tuple[str, int], Sequence[Option]],
    ) -> Literal:
        """Binds the handler's parameters, and returns the condition under which it runs at the frame's process."""
        circuit, process = self.circuit, frame.process
        match handler.event:
            case "input":
                given = occurrences.get((handler.kind or "", process), ())
                for position, parameter in enumerate(handler.parameters):
                    frame.locals[parameter.name] = select(
                        circuit,
                        [(option.literal, _constant(option.arguments[position], parameter.type)) for option in given],
                    )
                return circuit.disj(option.literal for option in given)
            case "periodically":
                assert handler.timer is not None
                return circuit.disj(option.literal for option in occurrences.get((handler.timer, process), ()))
            case "causal_send":
                own = {
                    message: literal for message, literal in sends.items() if self.messages.sources[message] == process
                }
                (parameter,) = handler.parameters
                frame.locals[parameter.name] = Choice(tuple(sorted(own.items())))
                return circuit.disj(own.values())
            case "receive":
                assert handler.kind is not None
                kind = self._executor.emission.kinds[handler.kind]
                cases = []
                for packet in self.network.slots:
                    here = (arrivals.get(packet.origin, FALSE), condition_of(packet.to, process))
                    when = circuit.conj((*here, condition_of(packet.kind, kind)))
                    if when != FALSE:
                        cases.append((when, packet))
                payload = select(circuit, [(when, packet.payload[kind]) for when, packet in cases])
                if handler.parameters and isinstance(payload, Fields):
                    for parameter, value in zip(handler.parameters, payload.values, strict=True):
                        frame.locals[parameter.name] = value
                if handler.sender is not None:
                    frame.locals[handler.sender] = select(circuit, [(when, packet.source) for when, packet in cases])
                return circuit.disj(when for when, _ in cases)

    def _joined(self, before: list[Symbolic], cases: list[tuple[Literal, list[Symbolic]]]) -> list[Symbolic]:
        """A process's state after the step."""
        idle = -self.circuit.disj(when for when, _ in cases)
        after = []
        for position, old in enumerate(before):
            changed = [(when, state[position]) for when, state in cases if state[position] is not old]
            kept = self.circuit.disj((idle, *(when for when, state in cases if state[position] is old)))
            after.append(select(self.circuit, [*changed, (kept, old)]) if changed else old)
        return after

    def _count(self, options: Sequence[Option], occurrences: Mapping[tuple[str, int], Sequence[Option]]) -> None:
        def plus(number: Choice, when: Literal) -> Choice:
            found: dict[int, list[Literal]] = {}
            for value, literal in number.options:
                found.setdefault(value, []).append(self.circuit.conj((literal, -when)))
                found.setdefault(value + 1, []).append(self.circuit.conj((literal, when)))
            return choice(self.circuit, found)

        for key, number in self.counts.items():
            happens = self.circuit.disj(option.literal for option in occurrences.get(key, ()))
            self.counts[key] = plus(number, happens)
        of_kind = {
            kind: self.circuit.disj(option.literal for option in options if option.kind == kind)
            for kind in ("duplicate", "lose")
        }
        self.duplicates = plus(self.duplicates, of_kind["duplicate"])
        self.losses = plus(self.losses, of_kind["lose"])

    def _watch(self, emitted: Emitted, workshop: Workshop) -> tuple[dict[str, Literal], Literal]:
        """The violations of the emissions, in their order, by the history; and whether one is a delivery."""
        found: dict[str, list[Literal]] = {}
        deliveries: list[Literal] = []
        for position, item in enumerate(emitted.items.items):
            tag, _, *payload = parts_of(item)
            there = self.circuit.conj((emitted.happened, workshop.above(emitted.items.count, position)))
            for kind, packet in enumerate(self.protocol.packets):
                if packet.carries is not None and isinstance(payload[kind], Fields):
                    when = self.circuit.conj((there, condition_of(choice_of(tag), kind)))
                    message = choice_of(parts_of(payload[kind])[packet.carries])
                    for name, where in self.history.network_sent(message, emitted.actor, when, self.properties):
                        found.setdefault(name, []).append(where)
            deliver = self._executor.emission.deliver
            if isinstance(payload[deliver], Fields):
                when = self.circuit.conj((there, condition_of(choice_of(tag), deliver)))
                deliveries.append(when)
                message = choice_of(parts_of(payload[deliver])[0])
                for name, where in self.history.delivered(message, emitted.actor, when, self.properties):
                    found.setdefault(name, []).append(where)
        conditions = {name: self.circuit.disj(wheres) for name, wheres in found.items()}
        return {name: where for name, where in conditions.items() if where != FALSE}, self.circuit.disj(deliveries)


def _refined(number: Choice, circuit: Circuit) -> Choice:
    return choice_of(refined(number, circuit))


def _constant(value: int, type_: Type) -> Symbolic:
    """An argument of an input."""
    return (TRUE if value else FALSE) if isinstance(type_, Bool) else known(value)


def _below(circuit: Circuit, number: Choice, limit: int) -> Literal:
    return circuit.disj(literal for value, literal in number.options if value < limit)
