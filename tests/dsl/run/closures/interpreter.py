"""An interpreter that runs closures, and one that runs them beside the compiled text and compares."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from thence.dsl import ir
from thence.dsl.run.choices import Choices
from thence.dsl.run.evaluate import Evaluator, Frame
from thence.dsl.run.execute import Executor as Body
from thence.dsl.run.interpreter import Cause, Interpreter, LocalState, Observation, Reactions, Step
from thence.dsl.run.values import Fault

from .evaluate import Names, compile_expression
from .execute import Compiler, Executor


@dataclass(slots=True)
class ByClosures(Interpreter):
    """The interpreter, with closures in the place of all that is compiled."""

    def __post_init__(self) -> None:
        Interpreter.__post_init__(self)
        names = Names({variable.name: at for at, variable in enumerate(self.protocol.state)})

        def guard(handler: ir.Handler) -> Evaluator | None:
            return None if handler.guard is None else compile_expression(handler.guard, names)

        for handler in self.protocol.handlers:
            if handler.event == "causal_send":
                self._guard = guard(handler)
            if handler.event == "input":
                assert handler.kind is not None
                self._inputs[handler.kind] = (self._inputs[handler.kind][0], guard(handler))
        self._initial = tuple(compile_expression(each.initial, Names({})) for each in self.protocol.state)
        bodies = {each.name: each.body for each in (*self.protocol.invariants, *self.protocol.rest)}
        self._invariants, self._of_steps, self._rest = (
            tuple((name, compile_expression(bodies[name], names)) for name, _ in formulas)
            for formulas in (self._invariants, self._of_steps, self._rest)
        )

    def _bodies(self, *, observed: bool) -> dict[str, Body]:
        compiler = Compiler({each.name: at for at, each in enumerate(self.protocol.state)}, {}, self.visited)
        for each in self.protocol.procedures:
            parameters = tuple(parameter.name for parameter in each.parameters)
            compiler.bodies[each.name] = (parameters, compiler.block(each.body, frozenset()))
        handlers = zip(self._names.items(), self.protocol.handlers, strict=True)
        return {
            title: _body(parameters, compiler.block(handler.body, frozenset()))
            for (title, parameters), handler in handlers
        }


def _body(parameters: tuple[str, ...], run: Executor) -> Body:
    def body(frame: Frame, *arguments: Any) -> None:
        caller, frame.locals = frame.locals, dict(zip(parameters, arguments, strict=True))
        run(frame)
        frame.locals = caller

    return body


@dataclass(slots=True)
class Compared(Interpreter):
    """The interpreter; every step is also taken by closures, and must be the very same. What a step decides is what its
    guards say where it is observed.

    Attributes:
        steps: the number of steps that were compared; of these, how many are faults, and how many are observed.
    """

    steps: list[int] = field(default_factory=lambda: [0, 0, 0])
    _second: ByClosures = field(init=False)

    def __post_init__(self) -> None:
        self.visited = [] if self.visited is None else self.visited
        self.decided = []
        Interpreter.__post_init__(self)
        self._second = ByClosures(self.protocol, self.processes, self.tree, [])

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
        def taken(by: Interpreter, observe: bool, choices: Choices | None) -> Any:
            assert by.visited is not None
            by.visited.clear()
            try:
                came: Step | str = Interpreter.step(by, process, state, cause, reactions, choices, observe=observe)
                if isinstance(came, Step):
                    guards = tuple(replace(each, locals=()) for each in came.guards)
                    came = Step(came.state, came.emissions, guards)
            except Fault as fault:
                came = f"{type(fault).__name__}: {fault}"
            chosen = None if choices is None else (choices.options, choices.chosen)
            return came, tuple(by.visited), chosen

        assert self.decided is not None
        self.decided.clear()
        for observed in (False, True):
            scripts = [None if choices is None else Choices(choices.script) for _ in range(2)]
            first, second = (
                taken(by, observed, script) for by, script in zip((self, self._second), scripts, strict=True)
            )
            assert first == second, (process, state, cause, first, second)
            self.steps[0] += 1
            self.steps[1] += isinstance(first[0], str)
            self.steps[2] += not isinstance(first[0], str) and bool(first[0].guards)
        if isinstance(first[0], Step):
            assert [(each.statement, each.outcome) for each in first[0].guards] == self.decided
        self._in_descending_order(process, state, cause)
        return Interpreter.step(self, process, state, cause, reactions, choices, observe=observe)

    def _in_descending_order(self, process: int, state: LocalState, cause: Cause) -> None:
        """Steps as they are observed: loops visit elements in another order than the text's."""
        if not self.accepts_cause(process, state, cause):
            return
        seen = Observation((), tuple(f"m{source}.{number}" for source in (1, 0) for number in (2, 1)))
        found: list[Step | str] = []
        for by in (self, self._second):
            try:
                found.append(Interpreter.as_observed(by, process, state, cause, seen))
            except Fault as fault:
                found.append(str(fault))
        assert found[0] == found[1], (process, state, cause, found)

    def accepts_cause(self, process: int, state: LocalState, cause: Cause) -> bool:
        return not self.has_guard

    def broken_invariants(self, states: Any, flying: Any = ()) -> Any:
        first, second = (Interpreter.broken_invariants(by, states, flying) for by in (self, self._second))
        assert str(first) == str(second)
        return first

    def broken_at_rest(self, states: Any, flying: Any = ()) -> Any:
        first, second = (Interpreter.broken_at_rest(by, states, flying) for by in (self, self._second))
        assert str(first) == str(second)
        return first

    def initial(self, process: int) -> LocalState:
        first, second = (Interpreter.initial(by, process) for by in (self, self._second))
        assert first == second
        return first
