"""The interpreter: the one definition of a protocol's step relation.

A handler is one atomic step of one process. It depends on nothing but that process's state, so steps
are functions from (process, state, input) to (state, emissions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.topology import NEIGHBOURS, NEXT_HOP, Edges, line, neighbours, next_hops
from thence.dsl.run.evaluate import Evaluator, Frame, Names, compile_expression
from thence.dsl.run.execute import Compiler, Delivered, Emission, Executor, Guard, Sent
from thence.dsl.run.values import Fault, Message, Packet, Value

LocalState: TypeAlias = tuple[Value, ...]
"""One process's state variables, in declaration order."""


Reactions: TypeAlias = tuple[tuple[int, Message], ...]
"""The sends of the application inside deliveries of a step: the number of the delivery in the step, and the message.

Of several inside one delivery, in this order, the emission names the first one only.
"""


Cause: TypeAlias = Message | Packet | None
"""Why a process takes a step: the message that its application sends, the packet that arrives, or (None) its timer."""


class NotNow(Fault):
    """The application sends inside a delivery what the protocol does not accept there: the step does not happen."""


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of a handler: the process's new state, and its emissions in order."""

    state: LocalState
    emissions: tuple[Emission, ...]
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class _Body:
    parameters: tuple[str, ...]
    run: Executor


@dataclass(slots=True)
class Interpreter:
    """Runs the handlers of `protocol` among `processes` processes.

    On a tree network these are linked by the edges of `tree`; where there are none, they form a line.

    Every step may raise `Fault`: the protocol does something that no protocol may do.
    """

    protocol: ir.Protocol
    processes: int
    tree: Edges = ()
    _neighbours: tuple[frozenset[int], ...] = field(init=False, default=())
    _initial: tuple[Evaluator, ...] = field(init=False, default=())
    _guard: Evaluator | None = field(init=False, default=None)
    _causal_send: _Body | None = field(init=False, default=None)
    _tick: _Body | None = field(init=False, default=None)
    _receive: dict[str, tuple[_Body, str | None]] = field(init=False, default_factory=dict)
    _invariants: tuple[tuple[str, Evaluator], ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        positions = {variable.name: at for at, variable in enumerate(self.protocol.state)}
        if self.protocol.network.tree:
            self.tree = self.tree or line(self.processes)
            self._neighbours = tuple(neighbours(self.tree, process) for process in range(self.processes))
        compiler = Compiler(positions, {})
        for procedure in self.protocol.procedures:
            parameters = tuple(parameter.name for parameter in procedure.parameters)
            compiler.bodies[procedure.name] = (parameters, compiler.block(procedure.body, frozenset()))
        for handler in self.protocol.handlers:
            parameters = tuple(parameter.name for parameter in handler.parameters)
            body = _Body(parameters, compiler.block(handler.body, frozenset()))
            match handler.event:
                case "causal_send":
                    self._causal_send = body
                    if handler.guard is not None:
                        self._guard = compile_expression(handler.guard, Names(positions))
                case "periodically":
                    self._tick = body
                case "receive":
                    assert handler.kind is not None
                    self._receive[handler.kind] = (body, handler.sender)
        self._initial = tuple(compile_expression(variable.initial, Names({})) for variable in self.protocol.state)
        names = Names(positions)
        self._invariants = tuple(
            (formula.name, compile_expression(formula.body, names)) for formula in self.protocol.invariants
        )

    @property
    def has_timer(self) -> bool:
        """Whether the protocol does something `periodically`."""
        return self._tick is not None

    def initial(self, process: int) -> LocalState:
        """The state in which a process starts."""
        frame = Frame(process=process, processes=self.processes)
        if self.protocol.network.tree:
            frame.symbols = {
                NEIGHBOURS: lambda: self._neighbours[process],
                NEXT_HOP: lambda: next_hops(self.tree, process),
            }
        return tuple([value(frame) for value in self._initial])

    @property
    def has_guard(self) -> bool:
        """Whether the application may have to wait until the protocol takes a message."""
        return self._guard is not None

    def accepts(self, process: int, state: LocalState, message: Message) -> bool:
        """Whether the application of `process` may send the message now. May raise Fault."""
        if self._guard is None:
            return True
        assert self._causal_send is not None
        frame = Frame(process=process, state=list(state), processes=self.processes)
        frame.locals = dict(zip(self._causal_send.parameters, (message,), strict=True))
        return bool(self._guard(frame))

    def step(
        self, process: int, state: LocalState, cause: Cause, reactions: Reactions = (), *, observe: bool = False
    ) -> Step:
        """The step of the process for this cause."""
        match cause:
            case Message():
                return self.causal_send(process, state, cause, observe=observe, reactions=reactions)
            case Packet():
                return self.receive(process, state, cause, observe=observe, reactions=reactions)
            case None:
                return self.tick(process, state, observe=observe, reactions=reactions)
            case _:
                assert_never(cause)

    def causal_send(
        self,
        process: int,
        state: LocalState,
        message: Message,
        *,
        observe: bool = False,
        reactions: Reactions = (),
    ) -> Step:
        """The application of `process` sends a message, which the protocol accepts."""
        assert self._causal_send is not None
        assert self.accepts(process, state, message), "the guard of causal_send is false"
        return self._run(self._causal_send, process, state, (message,), observe, reactions=reactions)

    def receive(
        self, process: int, state: LocalState, packet: Packet, *, observe: bool = False, reactions: Reactions = ()
    ) -> Step:
        """A packet arrives; a kind without a handler is dropped."""
        entry = self._receive.get(packet.kind)
        if entry is None:
            return Step(state, ())
        body, sender = entry
        extra = {} if sender is None else {sender: packet.src}
        return self._run(body, process, state, packet.arguments, observe, extra, reactions=reactions)

    def tick(self, process: int, state: LocalState, *, observe: bool = False, reactions: Reactions = ()) -> Step:
        """A timer fires."""
        assert self._tick is not None
        return self._run(self._tick, process, state, (), observe, reactions=reactions)

    def broken_invariants(self, states: Sequence[LocalState]) -> tuple[tuple[str, Fault | None], ...]:
        """The invariants that are not true of the processes' states; with the fault where one has no value.

        Each is judged by itself: one without a value says nothing of the others.
        """
        frame = Frame(processes=self.processes, all_states=states)
        found: list[tuple[str, Fault | None]] = []
        for name, holds in self._invariants:
            try:
                if not holds(frame):
                    found.append((name, None))
            except Fault as fault:
                found.append((name, fault))
        return tuple(found)

    def _run(
        self,
        body: _Body,
        process: int,
        state: LocalState,
        arguments: tuple[Value, ...],
        observe: bool,
        extra: dict[str, Value] | None = None,
        *,
        reactions: Reactions = (),
    ) -> Step:
        frame = Frame(process=process, state=list(state), processes=self.processes)
        frame.locals = dict(zip(body.parameters, arguments, strict=True))
        if extra:
            frame.locals.update(extra)
        if observe:
            frame.guards = []
        if reactions:
            frame.application = self._reacting(reactions)
        body.run(frame)
        if self._neighbours:
            self._keep_to_tree(process, frame.emitted)
        return Step(tuple(frame.state), tuple(frame.emitted), tuple(frame.guards or ()))

    def _reacting(self, reactions: Reactions) -> Callable[[Frame, Message], None]:
        """The application that sends these messages, each inside the delivery of this number in the step."""
        messages: dict[int, list[Message]] = {}
        for number, message in reactions:
            messages.setdefault(number, []).append(message)
        deliveries = 0
        handler = self._causal_send
        assert handler is not None

        def take(frame: Frame, handed: Message) -> None:
            nonlocal deliveries
            answers = messages.get(deliveries, ())
            deliveries += 1
            frame.emitted.append(Delivered(handed, next(iter(answers), None)))
            caller = frame.locals
            for then in answers:
                frame.locals = dict(zip(handler.parameters, (then,), strict=True))
                if self._guard is not None and not self._guard(frame):
                    raise NotNow(f"{then.name} cannot be sent now")
                handler.run(frame)
            frame.locals = caller

        return take

    def _keep_to_tree(self, process: int, emitted: Sequence[Emission]) -> None:
        for emission in emitted:
            if isinstance(emission, Sent) and emission.to not in self._neighbours[process]:
                raise Fault(f"{emission.kind} is sent to p{emission.to}, which is not a neighbour")
