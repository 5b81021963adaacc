"""The interpreter: the one definition of a protocol's step relation.

A handler is one atomic step of one process. It depends on nothing but that process's state, so steps
are functions from (process, state, input) to (state, emissions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir import topology
from thence.dsl.ir.constants import with_values
from thence.dsl.ir.observability import judged_in_states, judged_in_steps
from thence.dsl.ir.topology import NEIGHBORS, NEXT_HOP, Edges
from thence.dsl.ir.traversal import nodes
from thence.dsl.run.choices import Choices
from thence.dsl.run.evaluate import Acts, Evaluator, Frame, Names, compile_expression
from thence.dsl.run.execute import Compiler, Decided, Delivered, Emission, Executor, Guard, Sent
from thence.dsl.run.values import Fault, Message, Occurrence, Packet, Value
from thence.dsl.text.syntax import Span

LocalState: TypeAlias = tuple[Value, ...]
"""One process's state variables, in declaration order."""


Reactions: TypeAlias = tuple[tuple[int, Message], ...]
"""The sends of the application inside deliveries of a step: the number of the delivery in the step, and the message.

Of several inside one delivery, in this order, the emission names the first one only.
"""


@dataclass(frozen=True, slots=True)
class Observation:
    """The part of an execution that settles a step: see `Interpreter.as_observed`.

    Attributes:
        answers: the application's sends in reaction to deliveries of the step: the name of the message delivered, and
            the message sent.
        order: the names of the messages of the step's deliveries in the order in which they were seen; empty: as the
            text has them.
    """

    answers: tuple[tuple[str, Message], ...] = ()
    order: tuple[str, ...] = ()


Cause: TypeAlias = Message | Packet | Occurrence
"""Why a process takes a step: the message that its application sends, the packet that arrives, or the timer that fires.
"""


class NotNow(Fault):
    """The application sends inside a delivery what the protocol does not accept there: the step does not happen."""


class Step(NamedTuple):
    """The effect of a handler: the process's new state, and its emissions in order."""

    state: LocalState
    emissions: tuple[Emission, ...]
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class _How:
    """Whether the deciding guards of a step are recorded, what the application sends inside it, and what it chooses."""

    observe: bool = False
    reactions: Reactions = ()
    choices: Choices | None = None


_PLAINLY = _How()


@dataclass(slots=True)
class Interpreter:
    """Runs the handlers of `protocol` among `processes` processes.

    Constants and roles that no scope has replaced have the values of the protocol's text.
    On a tree network these are linked by the edges of `tree`; where there are none, they form a line. On an overlay the
    links are those of the protocol's network, which a scope has put there.
    `visited`: where given, the places of the statements that steps execute are added to it, in order. `decided`: the
    same for the conditions that they evaluate, with the outcomes; steps that are observed add nothing to it.

    Every step may raise `Fault`: the protocol does something that no protocol may do.
    """

    protocol: ir.Protocol
    processes: int
    tree: Edges = ()
    visited: list[Span] | None = None
    decided: list[Decided] | None = None
    _neighbors: tuple[frozenset[int], ...] = field(init=False, default=())
    _initial: tuple[Evaluator, ...] = field(init=False, default=())
    _guard: Evaluator | None = field(init=False, default=None)
    _causal_send_body: str | None = field(init=False, default=None)
    _timers: dict[str, str] = field(init=False, default_factory=dict)
    _inputs: dict[str, tuple[str, Evaluator | None]] = field(init=False, default_factory=dict)
    _receive: dict[str, tuple[str, bool]] = field(init=False, default_factory=dict)
    _plain: dict[str, Executor] = field(init=False, default_factory=dict)
    _observed: dict[str, Executor] | None = field(init=False, default=None)
    _names: dict[str, tuple[str, ...]] = field(init=False, default_factory=dict)
    _rest: tuple[tuple[str, Evaluator], ...] = field(init=False, default=())
    _invariants: tuple[tuple[str, Evaluator], ...] = field(init=False, default=())
    _of_steps: tuple[tuple[str, Evaluator], ...] = field(init=False, default=())
    _sends_deliver: bool | None = field(init=False, default=None)
    chooses: bool = field(init=False, default=False)
    """Whether some handler chooses, so that a cause may have several steps."""

    def __post_init__(self) -> None:
        self.protocol = with_values(self.protocol, {}, self.processes)
        self.chooses = self.protocol.chooses
        positions = {variable.name: at for at, variable in enumerate(self.protocol.state)}
        if self.protocol.network.tree:
            self.tree = self.tree or topology.line(self.processes)
            self._neighbors = tuple(topology.neighbors(self.tree, process) for process in range(self.processes))
        if self.protocol.network.overlay:
            self._neighbors = topology.overlay(self.protocol.network.links, self.processes)
        for handler in self.protocol.handlers:
            name = _title(handler)
            guard = None if handler.guard is None else compile_expression(handler.guard, Names(positions))
            self._names[name] = _parameters(handler)
            match handler.event:
                case "causal_send":
                    self._causal_send_body, self._guard = name, guard
                case "periodically":
                    self._timers[handler.kind or ir.PERIODICALLY] = name
                case "input":
                    assert handler.kind is not None
                    self._inputs[handler.kind] = (name, guard)
                case "receive":
                    assert handler.kind is not None
                    self._receive[handler.kind] = (name, handler.sender is not None)
        self._plain = self._bodies(observed=False)
        self._initial = tuple(compile_expression(variable.initial, Names({})) for variable in self.protocol.state)
        names = Names(positions)
        of_states, of_steps = judged_in_states(self.protocol), judged_in_steps(self.protocol)
        self._invariants, self._of_steps, self._rest = (
            tuple((formula.name, compile_expression(formula.body, names)) for formula in formulas)
            for formulas in (of_states, of_steps, self.protocol.rest)
        )

    def _bodies(self, *, observed: bool) -> dict[str, Executor]:
        """The bodies of the handlers."""
        positions = {variable.name: at for at, variable in enumerate(self.protocol.state)}
        compiler = Compiler(positions, observed, self.visited, None if observed else self.decided)
        for procedure in self.protocol.procedures:
            compiler.add(procedure.name, [parameter.name for parameter in procedure.parameters], procedure.body)
        functions = {
            _title(handler): compiler.add(_title(handler), _parameters(handler), handler.body)
            for handler in self.protocol.handlers
        }
        compiled = compiler.compiled()
        return {title: compiled[name] for title, name in functions.items()}

    def _body(self, name: str, *, observed: bool) -> Executor:
        if not observed:
            return self._plain[name]
        if self._observed is None:
            self._observed = self._bodies(observed=True)
        return self._observed[name]

    @property
    def has_timer(self) -> bool:
        """Whether the protocol does something `periodically`."""
        return bool(self._timers)

    @property
    def timers(self) -> tuple[str, ...]:
        """The names of the timers, in the order of the text."""
        return tuple(self._timers)

    def initial(self, process: int) -> LocalState:
        """The state in which a process starts."""
        frame = Frame(process=process, processes=self.processes)
        if self._neighbors:
            frame.symbols = {
                NEIGHBORS: lambda: self._neighbors[process],
                NEXT_HOP: lambda: topology.next_hops(self.tree, process),
            }
        return tuple([value(frame) for value in self._initial])

    @property
    def sends_deliver(self) -> bool:
        """Whether the handler of causal sends may deliver messages: the process's own, for example."""
        if self._sends_deliver is None:
            called = {procedure.name: procedure.body for procedure in self.protocol.procedures}
            bodies: list[Any] = [handler.body for handler in self.protocol.handlers if handler.event == "causal_send"]
            found = False
            while bodies:
                for node in nodes(bodies.pop()):
                    found = found or isinstance(node, ir.Deliver)
                    if isinstance(node, ir.Call) and node.procedure in called:
                        bodies.append(called.pop(node.procedure))
            self._sends_deliver = found
        return self._sends_deliver

    @property
    def has_guard(self) -> bool:
        """Whether the application may have to wait until the protocol takes a message or an input."""
        return bool(self.guarded)

    @property
    def guarded(self) -> tuple[str, ...]:
        """What has a condition `when`: `causal_send`, and inputs."""
        inputs = (name for name, (_, guard) in self._inputs.items() if guard is not None)
        return (*(("causal_send",) if self._guard is not None else ()), *inputs)

    def accepts(self, process: int, state: LocalState, message: Message) -> bool:
        """Whether the application of `process` may send the message now. May raise Fault."""
        if self._guard is None:
            return True
        assert self._causal_send_body is not None
        frame = Frame.of_step(process, list(state), self.processes)
        frame.locals = dict(zip(self._names[self._causal_send_body], (message,), strict=True))
        return bool(self._guard(frame))

    def step(
        self,
        process: int,
        state: LocalState,
        cause: Cause,
        reactions: Reactions = (),
        choices: Choices | None = None,
        *,
        observe: bool = False,
    ) -> Step:
        """The step of the process for this cause; `choices` decide what it chooses. Without them, it takes the first
        alternative each time."""
        plain = not observe and not reactions and choices is None
        if plain and type(cause) is Packet:
            return self.arrival(process, state, cause)
        how = _PLAINLY if plain else _How(observe, reactions, choices)
        match cause:
            case Message():
                return self._causal_send(process, state, cause, how)
            case Packet():
                return self._receive_packet(process, state, cause, how)
            case Occurrence(name) if name in self._inputs:
                return self._input(process, state, cause, how)
            case Occurrence(timer):
                return self._run(self._timers[timer], process, state, (), how)
            case _:
                assert_never(cause)

    def causal_send(
        self, process: int, state: LocalState, message: Message, *, observe: bool = False, reactions: Reactions = ()
    ) -> Step:
        """The application of `process` sends a message, which the protocol accepts."""
        return self._causal_send(process, state, message, _How(observe, reactions))

    def _causal_send(self, process: int, state: LocalState, message: Message, how: _How) -> Step:
        assert self._causal_send_body is not None
        assert self.accepts(process, state, message), "the guard of causal_send is false"
        return self._run(self._causal_send_body, process, state, (message,), how)

    def receive(
        self, process: int, state: LocalState, packet: Packet, *, observe: bool = False, reactions: Reactions = ()
    ) -> Step:
        """A packet arrives; a kind without a handler is dropped."""
        return self._receive_packet(process, state, packet, _How(observe, reactions))

    def _receive_packet(self, process: int, state: LocalState, packet: Packet, how: _How) -> Step:
        entry = self._receive.get(packet.kind)
        if entry is None:
            return Step(state, ())
        body, with_sender = entry
        arguments = (*packet.arguments, packet.src) if with_sender else packet.arguments
        return self._run(body, process, state, arguments, how)

    def arrival(self, process: int, state: LocalState, packet: Packet) -> Step:
        """The same, of which nothing but its effect is asked."""
        entry = self._receive.get(packet.kind)
        if entry is None:
            return Step(state, ())
        body, with_sender = entry
        if with_sender:
            return self._plainly(body, process, state, (*packet.arguments, packet.src))
        return self._plainly(body, process, state, packet.arguments)

    def tick(
        self, process: int, state: LocalState, timer: str, *, observe: bool = False, reactions: Reactions = ()
    ) -> Step:
        """The timer of this name fires."""
        return self._run(self._timers[timer], process, state, (), _How(observe, reactions))

    def _input(self, process: int, state: LocalState, given: Occurrence, how: _How) -> Step:
        """The application of `process` has this input, which the protocol accepts."""
        assert self.takes(process, state, given), f"the guard of {given.name} is false"
        return self._run(self._inputs[given.name][0], process, state, given.arguments, how)

    def takes(self, process: int, state: LocalState, given: Occurrence) -> bool:
        """Whether the application of `process` may have this input now. May raise Fault."""
        body, guard = self._inputs[given.name]
        if guard is None:
            return True
        frame = Frame.of_step(process, list(state), self.processes)
        frame.locals = dict(zip(self._names[body], given.arguments, strict=True))
        return bool(guard(frame))

    def as_observed(
        self,
        process: int,
        state: LocalState,
        cause: Cause,
        seen: Observation,
        choices: Choices | None = None,
        *,
        observe: bool = False,
    ) -> Step:
        """The step of the process for this cause in an execution of a system, whose application answers deliveries.

        NOTE(answers): the application's reaction to a delivery is a step of its own. It takes place right before the
        next `deliver` of the handler, or after the end of the handler if no delivery follows: after all statements of
        the text that belong to the delivery. The handler goes on in the changed state; its locals keep their values.
        Where sends deliver (`sends_deliver`), all reactions wait for the end of the handler: the text has already
        decided what it delivers next, and its loop is not written to be entered twice.

        With `seen.order`, loops over collections visit the elements that hold these messages in this order.
        """
        frame = Frame.of_step(process, list(state), self.processes)
        arguments: tuple[Value, ...] = ()
        match cause:
            case Message():
                assert self.accepts(process, state, cause), "the guard of causal_send is false"
                body, arguments = self._causal_send_body, (cause,)
            case Packet():
                body, with_sender = self._receive.get(cause.kind, (None, False))
                arguments = (*cause.arguments, cause.src) if with_sender else cause.arguments
            case Occurrence(name, arguments):
                body = self._inputs[name][0] if name in self._inputs else self._timers.get(name)
            case _:
                assert_never(cause)
        if body is None:
            return Step(state, ())
        frame.guards = [] if observe else None
        frame.choices = choices
        if seen.order:
            frame.scan = _in_order(seen.order)
        finish = self._answering(frame, seen.answers) if seen.answers else None
        self._body(body, observed=observe)(frame, *arguments)
        if finish is not None:
            finish()
        if self._neighbors:
            self._keep_to_links(process, frame.emitted)
        return Step(tuple(frame.state), tuple(frame.emitted), tuple(frame.guards or ()))

    def broken_invariants(
        self, states: Sequence[LocalState], flying: Sequence[Packet] = ()
    ) -> tuple[tuple[str, Fault | None], ...]:
        """The invariants that are not true of the processes' states, and of the packets in flight; with the fault where
        one has no value.

        Each is judged by itself: one without a value says nothing of the others.
        """
        return self._not_true(self._invariants, states, flying)

    def broken_at_rest(
        self, states: Sequence[LocalState], flying: Sequence[Packet] = ()
    ) -> tuple[tuple[str, Fault | None], ...]:
        """The same for the formulas about states in which nothing has to happen any more."""
        return self._not_true(self._rest, states, flying)

    def broken_by_step(
        self, states: Sequence[LocalState], flying: Sequence[Packet], acted: Acts
    ) -> tuple[tuple[str, Fault | None], ...]:
        """The same for the formulas about actions: `states` and `flying` are those right after the step."""
        return self._not_true(self._of_steps, states, flying, acted)

    def _not_true(
        self,
        formulas: tuple[tuple[str, Evaluator], ...],
        states: Sequence[LocalState],
        flying: Sequence[Packet],
        acted: Acts = MappingProxyType({}),
    ) -> tuple[tuple[str, Fault | None], ...]:
        frame = Frame(processes=self.processes, all_states=states, flying=flying, acted=acted)
        frame.fifo = not self.protocol.network.reordering
        found: list[tuple[str, Fault | None]] = []
        for name, holds in formulas:
            try:
                if not holds(frame):
                    found.append((name, None))
            except Fault as fault:
                found.append((name, fault))
        return tuple(found)

    def _run(self, body: str, process: int, state: LocalState, arguments: tuple[Value, ...], how: _How) -> Step:
        if how is _PLAINLY:
            return self._plainly(body, process, state, arguments)
        frame = Frame.of_step(process, list(state), self.processes)
        frame.guards = [] if how.observe else None
        frame.application = self._reacting(how.reactions) if how.reactions else None
        frame.choices = how.choices
        run = self._body(body, observed=True) if how.observe else self._plain[body]
        run(frame, *arguments)
        if self._neighbors:
            self._keep_to_links(process, frame.emitted)
        return Step(tuple(frame.state), tuple(frame.emitted), tuple(frame.guards or ()))

    def _plainly(self, body: str, process: int, state: LocalState, arguments: tuple[Value, ...]) -> Step:
        """The step without reactions and choices, of which nothing is recorded."""
        frame = Frame.of_step(process, [*state], self.processes)
        self._plain[body](frame, *arguments)
        if self._neighbors:
            self._keep_to_links(process, frame.emitted)
        return Step((*frame.state,), (*frame.emitted,))

    def _reacting(self, reactions: Reactions) -> Callable[[Frame, Callable[[Frame], Message]], None]:
        """The application that sends these messages, each inside the delivery of this number in the step."""
        messages: dict[int, list[Message]] = {}
        for number, message in reactions:
            messages.setdefault(number, []).append(message)
        deliveries = 0

        def take(frame: Frame, message: Callable[[Frame], Message]) -> None:
            nonlocal deliveries
            answers = messages.get(deliveries, ())
            deliveries += 1
            frame.emitted.append(Delivered(message(frame), next(iter(answers), None)))
            self._answer(frame, answers)

        return take

    def _answering(self, frame: Frame, answers: Sequence[tuple[str, Message]]) -> Callable[[], None]:
        """Lets the application send these messages in reaction to deliveries, see `as_observed`. The returned function
        ends the step: it sends those that no delivery follows."""
        left = list(answers)
        delivered: list[str] = []

        def send_due() -> None:
            due = [message for name, message in left if name in delivered]
            left[:] = [one for one in left if one[0] not in delivered]
            self._answer(frame, due)

        def take(frame: Frame, message: Callable[[Frame], Message]) -> None:
            if not self.sends_deliver:
                send_due()
            handed = message(frame)
            frame.emitted.append(Delivered(handed))
            delivered.append(handed.name)

        frame.application = take
        return send_due

    def _answer(self, frame: Frame, messages: Sequence[Message]) -> None:
        """The application sends messages in the midst of a handler, whose locals stay as they are. Raises: NotNow."""
        name = self._causal_send_body
        assert name is not None
        run = self._body(name, observed=frame.guards is not None)
        for message in messages:
            if self._guard is not None:
                frame.locals = dict(zip(self._names[name], (message,), strict=True))
                if not self._guard(frame):
                    raise NotNow(f"{message.name} cannot be sent now")
            run(frame, message)

    def _keep_to_links(self, process: int, emitted: Sequence[Emission]) -> None:
        for emission in emitted:
            if isinstance(emission, Sent) and emission.to not in self._neighbors[process]:
                raise Fault(f"{emission.kind} is sent to p{emission.to}, which is not a neighbor")


def _title(handler: ir.Handler) -> str:
    """A name for the handler, unlike those of procedures and of other handlers."""
    return f"on {handler.event} {handler.kind or ''}"


def _parameters(handler: ir.Handler) -> tuple[str, ...]:
    """The names of the values that the handler is given, in their order."""
    names = tuple(parameter.name for parameter in handler.parameters)
    return names if handler.sender is None else (*names, handler.sender)


def _in_order(names: Sequence[str]) -> Callable[[Iterable[Value]], list[Value]]:
    """Puts the elements of a collection that are or hold one of the messages first, in the order of the names."""
    ranks = {name: rank for rank, name in enumerate(names)}

    def rank(element: Value) -> int:
        if isinstance(element, Message):
            return ranks.get(element.name, len(ranks))
        held = element if isinstance(element, tuple) else ()
        return min([ranks.get(part.name, len(ranks)) for part in held if isinstance(part, Message)], default=len(ranks))

    return lambda elements: sorted(elements, key=rank)
