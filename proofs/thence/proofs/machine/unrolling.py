"""The first steps of a machine as propositions: which transition each step is, and what is true in each state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT
from thence.proofs.logic.formula import Unsupported, conj, disj, equal, forall, free_locals, local, negation
from thence.proofs.logic.ground import Cells, Grounding, Mark, Term, all_of, any_of, choose, negated, quoted
from thence.proofs.logic.structure import CrossCheckError, beyond_window, tuples
from thence.proofs.machine.goals import Change, Falsification, Firing, Goal, TransitionRun, reaches
from thence.proofs.machine.transitions import (
    Action,
    free_at_first,
    initial,
)

Changes: TypeAlias = dict[tuple[int, ...], list[tuple[str, Term]]]
"""Of a symbol, by its arguments: what it becomes, each with the choice of a transition that makes it so."""


@dataclass(slots=True)
class Unrolling:
    """The machine's steps as constants: a choice for every step, cells for every state.

    Once a state differs from the one before in the numbers of steps only, so does the text of what may happen next: it
    is not derived again, but renamed (`repeats`).

    `may_end`: from some step on nothing may happen, so that also shorter runs are found at once, and those of machines
    that come to rest.
    """

    machine: ir.Machine
    grounding: Grounding
    symbols: tuple[ir.Symbol, ...]
    actions: tuple[Action, ...]
    states: list[dict[str, Cells]] = field(default_factory=list)
    choices: list[dict[tuple[str, tuple[int, ...]], str]] = field(default_factory=list)
    may_end: bool = False
    repeats: bool = False
    _marks: list[tuple[Mark, Mark]] = field(default_factory=list)

    def start(self) -> None:
        free = free_at_first(self.machine)
        state: dict[str, Cells] = {}
        for symbol in self.symbols:
            arbitrary = symbol.name in free
            state[symbol.name] = self.grounding.fresh_cells(symbol) if arbitrary else self.grounding.known_cells(symbol)
        if self.machine.initial:
            action, changes = Action("initial", (), (), self.machine.initial), dict[str, Changes]()
            self._collect(action, {}, state, "true", changes)
            state = self._changed_cells(0, state, changes)
        self.states.append(state)
        for axiom in self.machine.axioms:
            self.grounding.assertions.append(self.grounding.formula(axiom.body, state, {}))

    def advance(self) -> None:
        """One more step: exactly one transition happens, and its guard is true; or none any more, if runs may end."""
        begin = self.grounding.mark()
        self.repeats = self._is_like_the_last(begin)
        if self.repeats:
            self.grounding.repeat(*self._marks[-1], a_step_later)
            self.choices.append({key: a_step_later(choice) for key, choice in self.choices[-1].items()})
            self.states.append(_later(self.states[-1]))
        else:
            self._derive_step()
        self._marks.append((begin, self.grounding.mark()))

    def _is_like_the_last(self, begin: Mark) -> bool:
        """Whether the next step is the last one, renamed. The first step says less than others about an end."""
        if len(self.choices) < 2 or begin.highest != self._marks[-1][0].highest:
            return False
        return self.states[-1] == _later(self.states[-2])

    def _derive_step(self) -> None:
        number, before = len(self.choices), self.states[-1]
        choices: dict[tuple[str, tuple[int, ...]], str] = {}
        changes: dict[str, Changes] = {}
        for action in self.actions:
            try:
                self._offer(action, number, before, choices, changes)
            except Unsupported as reason:
                raise Unsupported(f"transition {action.name}: {reason}") from reason
        one_of = [*choices.values(), *self._end(number)]
        self.grounding.assertions.append(any_of(one_of))
        self.grounding.assertions.extend(
            any_of((negated(one), negated(other))) for one, other in combinations(one_of, 2)
        )
        self.choices.append(choices)
        self.states.append(self._changed_cells(number + 1, before, changes))

    def _changed_cells(
        self, number: int, before: Mapping[str, Cells], changes: Mapping[str, Changes]
    ) -> dict[str, Cells]:
        """The cells of the state of this number."""
        return {
            symbol.name: {
                key: self._next(f"{symbol.name}@{number}", symbol, key, cell, changes)
                for key, cell in before[symbol.name].items()
            }
            for symbol in self.symbols
        }

    def _end(self, number: int) -> tuple[str, ...]:
        """The choice that nothing happens any more, if there is one: it stays."""
        if not self.may_end:
            return ()
        name = f"@{number}~end"
        self.grounding.constants[name] = "Bool"
        if number:
            self.grounding.assertions.append(any_of((negated(quoted(f"@{number - 1}~end")), quoted(name))))
        return (quoted(name),)

    def _offer(
        self,
        action: Action,
        number: int,
        before: Mapping[str, Cells],
        choices: dict[tuple[str, tuple[int, ...]], str],
        changes: dict[str, Changes],
    ) -> None:
        """Makes the transition one of the choices of a step, for each of its arguments."""
        for arguments in tuples([parameter.type for parameter in action.parameters], self.grounding.universe):
            environment = self._environment(action, arguments)
            guard = all_of(
                (
                    *(self.grounding.formula(guard.body, before, environment) for guard in action.guards),
                    self._in_order(action, arguments, before),
                )
            )
            if guard == "false":
                continue
            name = "!".join([f"@{number}", action.name, *map(str, arguments)])
            self.grounding.constants[name] = "Bool"
            choices[(action.name, arguments)] = quoted(name)
            self.grounding.assertions.append(any_of((negated(quoted(name)), guard)))
            self._collect(action, environment, before, quoted(name), changes)

    def _environment(self, action: Action, arguments: Sequence[int]) -> dict[str, Term]:
        return {
            parameter.name: self.grounding.element(value, parameter.type)
            for parameter, value in zip(action.parameters, arguments, strict=True)
        }

    def _in_order(self, action: Action, arguments: Sequence[int], before: Mapping[str, Cells]) -> str:
        """Messages are alike, so they are causal-sent in the order of their numbers."""
        if action.name != "causal_send" or arguments[0] == 0:
            return "true"
        earlier = before["sent"][(arguments[0] - 1,)]
        assert isinstance(earlier, str)
        return earlier

    def _collect(
        self,
        action: Action,
        environment: Mapping[str, Term],
        before: Mapping[str, Cells],
        choice: str,
        changes: dict[str, Changes],
    ) -> None:
        for update in action.updates:
            cells = changes.setdefault(update.symbol, {})
            self._stays_in_window(update, environment, before, choice)
            for values in tuples([binder.type for binder in update.binders], self.grounding.universe):
                inner = {
                    **environment,
                    **{
                        binder.name: self.grounding.element(value, binder.type)
                        for binder, value in zip(update.binders, values, strict=True)
                    },
                }
                terms = [self.grounding.term(argument, before, inner) for argument in update.arguments]
                key = tuple(int(term) if isinstance(term, str) else next(iter(term)) for term in terms)
                cells.setdefault(key, []).append((choice, self.grounding.term(update.value, before, inner)))

    def _stays_in_window(
        self, update: ir.Update, environment: Mapping[str, Term], before: Mapping[str, Cells], choice: str
    ) -> None:
        """An update over numbers changes nothing beyond the window: runs that do are not searched."""
        numbers = [binder for binder in update.binders if binder.type == NAT]
        if not numbers:
            return
        window = ir.Literal_(NAT, self.grounding.universe["nat"])
        inside = conj(ir.Comparison(BOOL, "<", local(binder), window) for binder in numbers)
        nothing = ir.Literal_(update.value.type, beyond_window(update.value.type))
        kept = forall(update.binders, disj((inside, equal(update.value, nothing))))
        self.grounding.assertions.append(any_of((negated(choice), self.grounding.formula(kept, before, environment))))

    def _next(
        self,
        prefix: str,
        symbol: ir.Symbol,
        key: tuple[int, ...],
        cell: Term,
        changes: Mapping[str, Changes],
    ) -> Term:
        """The cell after the step: the new value of the transition that happened, if it updates the cell."""
        written = changes.get(symbol.name, {}).get(key, ())
        if not written:
            return cell
        name = "!".join([prefix, *map(str, key)])
        if symbol.result == BOOL:
            assert isinstance(cell, str)
            touched = any_of(choice for choice, _ in written)
            set_true = [all_of((choice, value)) for choice, value in written if isinstance(value, str)]
            return self.grounding.named(name, any_of((*set_true, all_of((negated(touched), cell)))))
        after = cell
        for choice, value in written:
            after = choose(choice, value, after)
        if isinstance(after, str):
            if after.isdigit():
                self.grounding.keep_in_window(after)
                return after
            self.grounding.constants[name] = "Int"
            self.grounding.assertions.append(f"(= {quoted(name)} {after})")
            self.grounding.keep_in_window(quoted(name))
            return quoted(name)
        return {value: self.grounding.named(f"{name}={value}", when) for value, when in after.items()}

    def goal(self, goal: Goal) -> str:
        """The condition under which the last state, or the last step, reaches the goal."""
        state = self.states[-1]
        match goal:
            case Firing():
                return any_of(choice for (name, _), choice in self.choices[-1].items() if name == goal.action)
            case Change():
                return any_of(self._changed(goal, values) for values in self._values(goal.parameters))
            case Falsification() if not free_locals(goal.formula.body):
                return self.grounding.formula(negation(goal.formula.body), state, {})
            case Falsification():
                action = next(action for action in self.actions if action.name == "deliver")
                return any_of(
                    all_of(
                        (
                            choice,
                            self.grounding.formula(
                                negation(goal.formula.body), self.states[-2], self._environment(action, arguments)
                            ),
                        )
                    )
                    for (name, arguments), choice in self.choices[-1].items()
                    if name == "deliver"
                )

    def _values(self, parameters: Sequence[ir.Variable]) -> Iterator[tuple[int, ...]]:
        return tuples([parameter.type for parameter in parameters], self.grounding.universe)

    def _changed(self, goal: Change, values: tuple[int, ...]) -> str:
        environment = {
            parameter.name: self.grounding.element(value, parameter.type)
            for parameter, value in zip(goal.parameters, values, strict=True)
        }
        exempted = "false"
        if goal.exempt is not None:
            name, number = goal.exempt
            exempted = self.choices[-1].get((name, values[:number]), "false")
        before = self.grounding.formula(goal.before, self.states[-2], environment)
        if before == "false":
            return before
        return all_of((before, self.grounding.formula(goal.after, self.states[-1], environment), negated(exempted)))


_STEP = re.compile(r"@(\d+)")
"""The number of a step in a name. No name of a file has an `@`."""


def a_step_later(text: str) -> str:
    """The text, about what comes one step later."""
    return _STEP.sub(lambda found: f"@{int(found[1]) + 1}", text)


def _later(state: Mapping[str, Cells]) -> dict[str, Cells]:
    return {symbol: {key: _later_term(cell) for key, cell in cells.items()} for symbol, cells in state.items()}


def _later_term(term: Term) -> Term:
    if isinstance(term, str):
        return a_step_later(term)
    return {value: a_step_later(when) for value, when in term.items()}


def replayed(unrolling: Unrolling, goal: Goal, length: int, values: Mapping[str, int | bool]) -> TransitionRun:
    """The run of a model, replayed; the goal must be reached. Raises: CrossCheckError."""
    grounding = unrolling.grounding
    given = {name: grounding.table(cells, values) for name, cells in unrolling.states[0].items()}
    start = initial(unrolling.machine, grounding.universe, given)
    by_name = {action.name: action for action in unrolling.actions}
    steps: list[tuple[Action, tuple[int, ...]]] = []
    for choices in unrolling.choices[:length]:
        chosen = [key for key, choice in choices.items() if values[choice.strip("|")]]
        if len(chosen) != 1:
            raise CrossCheckError("a step with other than one transition")
        name, arguments = chosen[0]
        steps.append((by_name[name], arguments))
    run = TransitionRun(start, tuple(steps))
    if not reaches(goal, run):
        raise CrossCheckError("the replayed run does not reach what the solver says it reaches")
    return run
