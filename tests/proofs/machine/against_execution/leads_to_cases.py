"""Obligations of `eventually` statements, each beside what it means when the machine is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from tests.proofs.machine.against_execution.executed import stepped, value
from tests.proofs.machine.against_execution.obligation_cases import Case, Cases, Meaning, Step

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.obligations import Conjunct
from thence.proofs.machine.steps import leads_to


def suite(machine: ir.Machine, known: tuple[Conjunct, ...]) -> list[tuple[Case, ...]]:
    """The cases of a machine in groups, those of its `eventually` statements among them."""
    cases = Cases(machine, known)
    own = tuple(case for each in machine.eventually for case in _Statement(cases, each).cases())
    return [*cases.groups(), *([own] if own else [])]


class _Statement:
    """The cases of one statement; what it says is read from the statement as it stands in the file."""

    def __init__(self, cases: Cases, statement: ir.LeadsTo) -> None:
        self.all = cases
        self.statement = statement

    def cases(self) -> Iterator[Case]:
        machine = self.all.machine
        claim = leads_to.pursuit(machine, self.statement)
        stated = iter(leads_to.leads_to_obligations(machine, claim, self.all.known))
        for transition in machine.transitions:
            yield Case(next(stated), transition, self.moves_on(None), self.still_promised)
            for number, help_step in enumerate(self.statement.steps):
                not_left = self.moves_on(lambda step, it=help_step: not self.left(it, step, step.before))  # type: ignore[misc]
                less = self.less(number)
                yield Case(next(stated), transition, not_left, less)
                if transition.name == help_step.transition:
                    yield Case(next(stated), transition, self.moves_on(self.taken(help_step, True)), less)
                other = (
                    self.taken(help_step, False) if transition.name == help_step.transition else self.is_left(help_step)
                )
                enabled = self.moves_on(
                    lambda step, it=help_step, also=other: also(step) and self.enabled(it, step, step.before)  # type: ignore[misc]
                )
                yield Case(next(stated), transition, enabled, self.kept(number))
                if self.moves(help_step, transition):
                    left = self.moves_on(self.is_left(help_step))
                    yield Case(next(stated), transition, left, self.same_instance(number))
        for help_step in self.statement.steps:
            messages = [variable.name for variable in help_step.variables if variable.type == MESSAGE]
            if messages and machine.delivery != "off":
                yield Case(next(stated), None, self.assumed_and_left(help_step), self.all_sent(messages))
        assert next(stated, None) is None
        possible = tuple(leads_to.possible_orders(machine, claim))
        for first in ((), possible[:1], possible[-2:]):
            obligation = leads_to.progress(machine, claim, first, self.all.known)
            yield Case(obligation, None, self.pending_with(first), self.some_enabled)

    # --- of states ---

    def names(self, variables: Sequence[ir.Variable], step: Step) -> dict[str, Any]:
        return {
            each.name: step.environment[f"{each.name}''"] for each in variables if f"{each.name}''" in step.environment
        }

    def given(self, step: Step) -> dict[str, Any]:
        return self.names(self.statement.parameters, step)

    def true(self, expr: ir.Expr, names: Mapping[str, Any], state: Structure) -> bool:
        return bool(value(expr, state, names))

    def pending(self, step: Step, state: Structure) -> bool:
        names = self.given(step)
        return self.true(self.statement.given, names, state) and not self.true(self.statement.goal, names, state)

    def left(self, help_step: ir.HelpStep, step: Step, state: Structure, also: Mapping[str, Any] | None = None) -> bool:
        names = {**self.given(step), **(self.names(help_step.variables, step) if also is None else also)}
        return self.true(help_step.left, names, state)

    def arguments(self, help_step: ir.HelpStep, names: Mapping[str, Any], state: Structure) -> list[Any]:
        return [value(argument, state, names) for argument in help_step.arguments]

    def enabled(
        self, help_step: ir.HelpStep, step: Step, state: Structure, also: Mapping[str, Any] | None = None
    ) -> bool:
        names = {**self.given(step), **(self.names(help_step.variables, step) if also is None else also)}
        transition = self.all.transitions[help_step.transition]
        return stepped(self.all.machine, transition, self.arguments(help_step, names, state), state) is not None

    def values(self, help_step: ir.HelpStep, state: Structure) -> Iterator[dict[str, Any]]:
        """All values of the step's variables."""
        names = [variable.name for variable in help_step.variables]
        for each in product(*(range(state.universe[str(variable.type)]) for variable in help_step.variables)):
            yield dict(zip(names, each, strict=True))

    # --- of steps ---

    def moves_on(self, also: Meaning | None) -> Meaning:
        """The step is possible in a pending state; with `also`, and leads to one where Q is not true."""

        def premise(step: Step) -> bool:
            if not self.all.possible(step) or not self.pending(step, step.before):
                return False
            if also is None:
                return True
            assert step.then is not None
            return not self.true(self.statement.goal, self.given(step), step.then) and also(step)

        return premise

    def still_promised(self, step: Step) -> bool:
        assert step.then is not None
        names = self.given(step)
        return any(self.true(part, names, step.then) for part in (self.statement.given, self.statement.goal))

    def less(self, number: int) -> Meaning:
        """The tuple is not left of the step, or one is no longer left of an earlier step."""

        def smaller(step: Step) -> bool:
            assert step.then is not None
            before, then = step.before, step.then
            return not self.left(self.statement.steps[number], step, then) or any(
                self.left(earlier, step, before, names) and not self.left(earlier, step, then, names)
                for earlier in self.statement.steps[:number]
                for names in self.values(earlier, before)
            )

        return smaller

    def kept(self, number: int) -> Meaning:
        def enabled(step: Step) -> bool:
            assert step.then is not None
            return self.enabled(self.statement.steps[number], step, step.then) or self.less(number)(step)

        return enabled

    def moves(self, help_step: ir.HelpStep, transition: ir.Transition) -> bool:
        """Whether the transition updates something that an argument of the step speaks about."""
        updated = {update.symbol for update in transition.updates}
        return any(isinstance(node, ir.Apply) and node.symbol in updated for node in nodes(help_step.arguments))

    def same_instance(self, number: int) -> Meaning:
        def unmoved(step: Step) -> bool:
            assert step.then is not None
            help_step = self.statement.steps[number]
            names = {**self.given(step), **self.names(help_step.variables, step)}
            before, then = (self.arguments(help_step, names, state) for state in (step.before, step.then))
            return before == then or self.less(number)(step)

        return unmoved

    def is_left(self, help_step: ir.HelpStep) -> Meaning:
        return lambda step: self.left(help_step, step, step.before)

    def taken(self, help_step: ir.HelpStep, itself: bool) -> Meaning:
        """The tuple is left, and the step of the machine is this one, or another one."""

        def takes(step: Step) -> bool:
            names = {**self.given(step), **self.names(help_step.variables, step)}
            parameters = self.all.transitions[help_step.transition].parameters
            own = [step.environment[parameter.name] for parameter in parameters]
            same = own == self.arguments(help_step, names, step.before)
            return self.left(help_step, step, step.before) and same is itself

        return takes

    # --- of one state ---

    def assumed_and_left(self, help_step: ir.HelpStep) -> Meaning:
        return lambda step: (
            self.all.assumed(step) and self.pending(step, step.before) and self.left(help_step, step, step.before)
        )

    def all_sent(self, messages: Sequence[str]) -> Meaning:
        return lambda step: all(step.before.tables["sent"][(step.environment[f"{name}''"],)] for name in messages)

    def pending_with(self, first: Sequence[leads_to.First]) -> Meaning:
        return lambda step: (
            self.all.assumed(step)
            and self.pending(step, step.before)
            and all(self.has_first(each, step, step.before) for each in first)
        )

    def has_first(self, first: leads_to.First, step: Step, state: Structure) -> bool:
        """The variable has a value that is left, and before which none is; or none is left."""
        help_step = self.statement.steps[first.step.number - 1]
        name = first.variable.name.removesuffix("''")
        left = {names[name] for names in self.values(help_step, state) if self.left(help_step, step, state, names)}
        table = state.tables[first.order.name]

        def comes_before(one: Any, other: Any) -> bool:
            return bool(table[(one,)] < table[(other,)] if first.by_number else table[(one, other)])

        return not left or any(not any(comes_before(other, each) for other in left) for each in left)

    def some_enabled(self, step: Step) -> bool:
        return any(
            self.left(each, step, step.before, names) and self.enabled(each, step, step.before, names)
            for each in self.statement.steps
            for names in self.values(each, step.before)
        )
