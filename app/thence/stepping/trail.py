"""The way of a step through the text: the statements that it executed, and the conditions that decided."""

from __future__ import annotations

from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.run.actions import Action, State
from thence.dsl.run.choices import Choices
from thence.dsl.run.execute import Guard
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence, Packet, show
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_expression


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that was evaluated: its line, its text, what came out, and the values that decided."""

    line: int
    condition: str
    outcome: bool
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Trail:
    """The way of one step.

    Attributes:
        handler: the lines of the handler that ran, the first and the last one; None where none did.
        lines: where the executed statements begin, in the order of their first execution.
        decisions: the conditions, in the order of evaluation; of a step at fault there are none.
        fault: why the step is at fault; empty where it is not. The last line is then the one at fault.
    """

    handler: tuple[int, int] | None = None
    lines: tuple[int, ...] = ()
    decisions: tuple[Decision, ...] = ()
    fault: str = ""


@dataclass(slots=True)
class Follower:
    """Takes steps of a system once more, one statement after the other. It changes nothing in the system."""

    system: System
    _visited: list[Span]
    _interpreter: Interpreter

    @staticmethod
    def of(system: System) -> Follower:
        """The follower of a system's steps."""
        visited: list[Span] = []
        workload = system.workload
        return Follower(system, visited, Interpreter(system.protocol, workload.processes, workload.tree, visited))

    def trail(self, state: State, action: Action) -> Trail:
        """The way of the step that an action makes in a state."""
        if action.kind in ("duplicate", "lose"):
            return Trail()
        cause, reactions = self.system.cause(state, action)
        handler = _handler(self.system.protocol, cause)
        if handler is None:
            return Trail()
        local = self.system.local(state.locals[action.process])
        guards: tuple[Guard, ...] = ()
        fault = ""
        try:
            # A step at fault may have taken a great many conditions, and shows none.
            for observe in (False, True):
                self._visited.clear()
                choices = Choices(action.script)
                step = self._interpreter.step(action.process, local, cause, reactions, choices, observe=observe)
                guards = step.guards
        except Fault as found:
            fault = str(found)
        lines = tuple(dict.fromkeys(span.line for span in self._visited))
        return Trail((handler.span.line, handler.span.end_line), lines, tuple(map(_decision, guards)), fault)


def _handler(protocol: ir.Protocol, cause: Message | Packet | Occurrence) -> ir.Handler | None:
    return next((handler for handler in protocol.handlers if _takes(handler, cause)), None)


def _takes(handler: ir.Handler, cause: Message | Packet | Occurrence) -> bool:
    match cause:
        case Message():
            return handler.event == "causal_send"
        case Packet():
            return handler.event == "receive" and handler.kind == cause.kind
        case Occurrence():
            return cause.name == (handler.timer or (handler.kind if handler.event == "input" else None))


def _decision(guard: Guard) -> Decision:
    values = tuple((text, show(value, type_)) for text, value, type_ in guard.values)
    condition = guard.statement.condition
    return Decision(guard.statement.span.line, show_expression(condition), guard.outcome, values)
