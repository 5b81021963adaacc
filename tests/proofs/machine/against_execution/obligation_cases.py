"""Obligations of a machine, each beside what it means when the machine is executed.

A case says when the premise of its obligation is true in a state, and when the goal is: of the states before and after
a step, never of formulas about the state before alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

from tests.proofs.machine.against_execution.executed import (
    began,
    goes_everywhere,
    has_property,
    is_undelivered,
    rests,
    same,
    stepped,
    value,
)

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.ir.step_claims import is_about_steps
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import Structure
from thence.proofs.machine import obligations
from thence.proofs.machine.obligations import Conjunct
from thence.proofs.machine.steps import starvation, statements
from thence.proofs.machine.transitions import actions, symbols

Environment: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """A state, the values of an obligation's constants, and the state after its transition, None if not enabled."""

    before: Structure
    environment: Environment
    then: Structure | None


Meaning: TypeAlias = Callable[[Step], bool]


@dataclass(frozen=True)
class Case:
    """An obligation with its meaning; the goal's is asked for only where the step is possible.

    `transition` is None for an obligation about one state.
    """

    obligation: Obligation
    transition: ir.Transition | None
    premise: Meaning
    goal: Meaning

    def step(self, machine: ir.Machine, state: Structure, environment: Environment) -> Step:
        if self.transition is None:
            return Step(state, environment, state)
        arguments = [environment[parameter.name] for parameter in self.transition.parameters]
        return Step(state, environment, stepped(machine, self.transition, arguments, state))


@dataclass(frozen=True)
class Cases:
    """The cases of one machine; `known` are the conjuncts that the obligations assume."""

    machine: ir.Machine
    known: tuple[Conjunct, ...]

    @cached_property
    def transitions(self) -> Mapping[str, ir.Transition]:
        return {transition.name: transition for transition in self.machine.transitions}

    def true(self, conjunct: Conjunct, state: Structure) -> bool:
        if conjunct.origin == "property":
            return has_property(conjunct.name, self.machine, state)
        return bool(value(conjunct.formula.body, state, {}))

    def axioms(self, step: Step) -> bool:
        stated = all(bool(value(axiom.body, step.before, {})) for axiom in self.machine.axioms)
        return stated and goes_everywhere(self.machine, step.before)

    def assumed(self, step: Step) -> bool:
        return self.axioms(step) and all(self.true(conjunct, step.before) for conjunct in self.known)

    def possible(self, step: Step) -> bool:
        return self.assumed(step) and step.then is not None

    def after(self, formula: ir.Expr, step: Step) -> Any:
        assert step.then is not None
        return value(formula, step.then, step.environment)

    def groups(self) -> list[tuple[Case, ...]]:
        """The cases of each kind; the properties and the own statements of the machine apart from the history's."""
        facts = {fact.name for fact in built_in.history_facts(self.machine.delivery)}
        kept = list(self.preserved())
        own = [case for case in kept if case.obligation.goal.name not in facts]
        groups = [
            tuple(case for case in kept if case.obligation.goal.name in facts),
            tuple(case for case in own if case.transition is None),
            tuple(case for case in own if case.transition is not None),
            tuple(self.of_states()),
            tuple(self.stable()),
        ]
        if self.machine.delivery != "off":
            groups += [tuple(self.once()), tuple(self.deadlock()), tuple(self.waiting()), tuple(self.resting())]
        return [group for group in groups if group]

    # --- the inductive set ---

    def preserved(self) -> Iterator[Case]:
        goals = obligations.conjuncts(self.machine)
        stated = obligations.preservations(self.machine, goals, self.known)
        assert {(each.conjunct.name, each.action and each.action.name) for each in stated} == set(
            product(conjunct_names(self.machine), (None, *(transition.name for transition in self.machine.transitions)))
        )
        for each in stated:
            conjunct = each.conjunct
            if each.action is None:
                yield Case(each.obligation, None, self.axioms, self._initially(conjunct))
            else:
                transition = self.transitions[each.action.name]
                yield Case(each.obligation, transition, self.possible, self._kept(conjunct))

    def _initially(self, conjunct: Conjunct) -> Meaning:
        return lambda step: self.true(conjunct, began(self.machine, step.before))

    def _kept(self, conjunct: Conjunct) -> Meaning:
        def kept(step: Step) -> bool:
            assert step.then is not None
            return self.true(conjunct, step.then)

        return kept

    def of_states(self) -> Iterator[Case]:
        for conjunct in obligations.conjuncts(self.machine):
            stated = obligations.consequence(self.machine, conjunct, self.known)
            yield Case(stated, None, self.assumed, lambda step, it=conjunct: self.true(it, step.before))  # type: ignore[misc]
        for action in actions(self.machine):
            stated = obligations.impossible(self.machine, action, self.known)
            yield Case(stated, self.transitions[action.name], self.possible, _never)
        yield Case(obligations.inconsistent(self.machine), None, self.axioms, _never)

    def once(self) -> Iterator[Case]:
        deliver = self.transitions["deliver"]
        names = [parameter.name for parameter in deliver.parameters]

        def not_yet(step: Step) -> bool:
            return not step.before.tables["delivered"][tuple(step.environment[name] for name in names)]

        yield Case(obligations.delivered_once(self.machine, self.known), deliver, self.possible, not_yet)

    # --- stable ---

    def stable(self) -> Iterator[Case]:
        for stable in self.machine.stable:
            stated = statements.stable_obligations(self.machine, stable, self.known)
            assert [each.name for each in stated] == [
                f"{transition.name} keeps {stable.formula.name} true" for transition in self.machine.transitions
            ]
            for transition, obligation in zip(self.machine.transitions, stated, strict=True):
                own = len(transition.parameters)
                apart = [constant.name for constant in obligation.constants[own:]]
                yield Case(obligation, transition, self._was(stable, apart), self._still(stable, apart))

    def _was(self, stable: ir.Stable, apart: Sequence[str]) -> Meaning:
        return lambda step: self.possible(step) and self._is(stable, apart, step, step.before)

    def _still(self, stable: ir.Stable, apart: Sequence[str]) -> Meaning:
        return lambda step: step.then is not None and self._is(stable, apart, step, step.then)

    def _is(self, stable: ir.Stable, apart: Sequence[str], step: Step, state: Structure) -> bool:
        parameters = (parameter.name for parameter in stable.parameters)
        given = {name: step.environment[renamed] for name, renamed in zip(parameters, apart, strict=True)}
        return bool(value(stable.formula.body, state, given))

    # --- deadlock ---

    def deadlock(self) -> Iterator[Case]:
        for relation in statements.orders(self.machine):
            irreflexive, transitive = statements.strictly_orders(self.machine, relation, self.known)
            yield Case(irreflexive, None, self.assumed, _is_irreflexive(relation))
            yield Case(transitive, None, self.assumed, _is_transitive(relation))
        ordering = statements.orders(self.machine)[:1]
        left = statements.undelivered(self.machine, ir.Local(MESSAGE, "m"))
        last = statements.goal_stages("undelivered", left, ordering)
        for stages in statements.helpful_stages(self.machine, ordering):
            for stage in stages:
                yield self._stage(stage, ())
            yield self._stage(last[0], stages[:2])
        yield self._stage(last[0], ())
        stated = Obligation(
            "without deadlock",
            obligations.signature_of(self.machine),
            obligations.known_facts(self.machine, self.known),
            statements.no_deadlock(self.machine),
        )
        yield Case(stated, None, self.assumed, self._delivers_all)

    def _delivers_all(self, step: Step) -> bool:
        messages = range(step.before.universe["message"])
        left = any(is_undelivered(self.machine, step.before, m) for m in messages)
        return not (left and rests(self.machine, step.before))

    def _stage(self, stage: statements.DeadlockStage, over: Sequence[statements.DeadlockStage]) -> Case:
        def left(each: statements.DeadlockStage, state: Structure, m: int) -> bool:
            if each.words == "undelivered":
                return is_undelivered(self.machine, state, m)
            return bool(value(each.left, state, {"m": m}))

        def is_first(step: Step) -> bool:
            state, m = step.before, step.environment["m"]
            messages = range(state.universe["message"])
            return (
                self.assumed(step)
                and left(stage, state, m)
                and not any(state.tables[stage.order][(x, m)] and left(stage, state, x) for x in messages)
                and not any(left(each, state, x) for each in over for x in messages)
                and rests(self.machine, state)
            )

        return Case(statements.stage_obligation(self.machine, stage, over, self.known), None, is_first, _never)

    # --- starvation ---

    def waiting(self) -> Iterator[Case]:
        for action in actions(self.machine):
            if action.name == "causal_send":
                continue
            transition = self.transitions[action.name]
            guards = statements.own_guards(action)
            for guard, stated in zip(guards, starvation.falsified(self.machine, action), strict=True):
                yield Case(
                    stated,
                    transition,
                    lambda step: self.axioms(step) and step.then is not None,
                    lambda step, it=guard: not self.after(it, step),  # type: ignore[misc]
                )
            yield from self._starves(starvation.waiting(action, [True] * len(guards)))
            yield from self._starves(starvation.waiting(action, [False] * len(guards)))

    def _starves(self, state: starvation.Waiting) -> Iterator[Case]:
        stated = iter(starvation.starvation_obligations(self.machine, state, self.known))
        awaited = [parameter.name for parameter in state.parameters]
        for part in state.parts:
            for action in actions(self.machine):
                own = [parameter.name for parameter in action.parameters]

                def waits_on(step: Step, part: starvation.Part = part, name: str = action.name, own: Any = own) -> bool:
                    return (
                        self.possible(step)
                        and (name != state.action.name or _values(step, own) != _values(step, awaited))
                        and bool(value(state.waits, step.before, step.environment))
                        and bool(self.after(state.waits, step))
                        and bool(value(part.done, step.before, step.environment))
                    )

                def done(step: Step, part: starvation.Part = part) -> bool:
                    return bool(self.after(part.done, step))

                yield Case(next(stated), self.transitions[action.name], waits_on, done)
        assert next(stated, None) is None

        def at_rest(step: Step) -> bool:
            return (
                self.assumed(step)
                and bool(value(state.waits, step.before, step.environment))
                and rests(self.machine, step.before)
            )

        yield Case(starvation.nothing_waits(self.machine, state, self.known), None, at_rest, _never)

    def resting(self) -> Iterator[Case]:
        among = [action for action in actions(self.machine) if action.name != "causal_send" and action.updates]
        ways = dict.fromkeys(starvation.changed_relations(self.machine, among), True)
        for relation in ways:
            for way in (True, False):
                stated = iter(starvation.one_way(self.machine, among, relation, way, self.known))
                for action in among:
                    for update in action.updates:
                        if update.symbol == relation:
                            yield self._one_way(next(stated), self.transitions[action.name], update, way)
                assert next(stated, None) is None
        numbers = starvation.rises(self.machine, among)
        for function, bound in numbers:
            stated = iter(starvation.bounded_rise(self.machine, among, function, bound, self.known))
            for action in among:
                for update in action.updates:
                    if update.symbol == function:
                        yield self._rises(next(stated), self.transitions[action.name], update, bound)
        directions = {**ways, **{function: True for function, _ in numbers}}
        for action in among:
            obligation = starvation.uses_up(self.machine, action, directions, self.known)
            yield Case(obligation, self.transitions[action.name], self._has_effect, self._uses(directions))
            down = dict.fromkeys(ways, False)
            obligation = starvation.uses_up(self.machine, action, down, self.known)
            yield Case(obligation, self.transitions[action.name], self._has_effect, self._uses(down))

    def _one_way(self, obligation: Obligation, transition: ir.Transition, update: ir.Update, way: bool) -> Case:
        def was(step: Step) -> bool:
            return self.possible(step) and bool(_at(update, step, step.before)) is way

        def still(step: Step) -> bool:
            assert step.then is not None
            return bool(_at(update, step, step.then)) is way

        return Case(obligation, transition, was, still)

    def _rises(self, obligation: Obligation, transition: ir.Transition, update: ir.Update, bound: str) -> Case:
        def rises(step: Step) -> bool:
            assert step.then is not None
            was, now = _at(update, step, step.before), _at(update, step, step.then)
            limit = step.before.tables[bound].get(_values(step, _names(update)), 0)
            return was <= now and (now == was or now <= limit)

        return Case(obligation, transition, self.possible, rises)

    def _has_effect(self, step: Step) -> bool:
        return self.possible(step) and step.then is not None and not same(step.before, step.then)

    def _uses(self, ways: Mapping[str, bool]) -> Meaning:
        types = {each.name: [one.type for one in each.parameters] for each in symbols(self.machine)}

        def is_finite(name: str, key: tuple[int, ...], step: Step) -> bool:
            """No argument is a number, or a message that was not sent."""
            arguments = list(zip(key, types[name], strict=True))
            sent = all(step.before.tables["sent"][(one,)] for one, type_ in arguments if type_ == MESSAGE)
            return sent and all(type_ != NAT for _, type_ in arguments)

        def uses(step: Step) -> bool:
            assert step.then is not None
            for name, way in ways.items():
                was, now = step.before.tables[name], step.then.tables[name]
                for key in (key for key in {*was, *now} if is_finite(name, key, step)):
                    before, after = was.get(key, 0), now.get(key, 0)
                    if (before < after) if way else (before > after):
                        return True
            return False

        return uses


def conjunct_names(machine: ir.Machine) -> list[str]:
    """The names of what must be inductive: the history's facts, the invariants, the built-in properties of states."""
    invariants = [invariant.name for invariant in machine.invariants]
    properties = (name for name in machine.prove if name != "at_most_once" and not is_about_steps(name))
    facts = [fact.name for fact in built_in.history_facts(machine.delivery)]
    return [*facts, *invariants, *(name for name in properties if name not in invariants)]


def _names(update: ir.Update) -> list[str]:
    return [argument.name for argument in update.arguments if isinstance(argument, ir.Local)]


def _values(step: Step, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(step.environment[name] for name in names)


def _at(update: ir.Update, step: Step, state: Structure) -> Any:
    nothing = {BOOL: False, NAT: 0}.get(update.value.type, 0)
    return state.tables[update.symbol].get(_values(step, _names(update)), nothing)


def _never(_: Step) -> bool:
    return False


def _is_irreflexive(relation: str) -> Meaning:
    return lambda step: not any(step.before.tables[relation][(m, m)] for m in range(step.before.universe["message"]))


def _is_transitive(relation: str) -> Meaning:
    def transitive(step: Step) -> bool:
        messages, table = range(step.before.universe["message"]), step.before.tables[relation]
        return all(table[(a, c)] for a, b, c in product(messages, repeat=3) if table[(a, b)] and table[(b, c)])

    return transitive
