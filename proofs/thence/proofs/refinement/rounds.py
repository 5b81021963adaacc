"""Loops that only send: all rounds at once.

NOTE(rounds): such a loop is one group of packets for each `send` in it, one packet for each value of the loop variables
for which the conditions around it are true. A condition that is the same in all rounds is one of the whole loop. If the
link has an event for the packets, the machine takes a transition for each: see NOTE(together). Where channels keep
their order, it is shown that no two rounds send to one process: their packets have no order here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

from thence.dsl import ir
from thence.dsl.ir.types import BOOL
from thence.proofs.logic.formula import (
    TRUE,
    Unsupported,
    conj,
    equal,
    forall,
    free_locals,
    implies,
    local,
    negation,
    substitute,
)
from thence.proofs.refinement.expressions import Value
from thence.proofs.refinement.following import Event, Following, Path, Then, opposite, restored
from thence.proofs.refinement.shapes.changes import substituted
from thence.proofs.refinement.shapes.flat import is_bag, locals_of
from thence.proofs.refinement.shapes.kinds import Group, Leaf, Shape, Term
from thence.proofs.refinement.states import packet_of_self
from thence.proofs.refinement.transitions import Many, enabled, taken_for

DEEPEST = 20
"""Limit on procedures inside one another: a procedure that calls itself is refused."""


@dataclass(frozen=True, slots=True)
class Sending:
    """A send inside a loop: for each value of the loop variables for which the conditions are true."""

    statement: ir.Send
    variables: tuple[ir.Variable, ...]
    conditions: tuple[Term, ...]
    arguments: tuple[Shape, ...]
    to: Term


@dataclass(frozen=True, slots=True)
class Rounds:
    """All rounds of a loop at once: the loop variables, the conditions on them, and what was sent so far."""

    path: Path
    variables: tuple[ir.Variable, ...]
    conditions: tuple[Term, ...]
    sent: tuple[Sending, ...] = ()


@dataclass(slots=True)
class Looping(Following):
    """Executes loops that only send."""

    def _rounds(
        self, statements: Sequence[ir.Stmt], rounds: Rounds, depth: int, then: Callable[[Rounds], None]
    ) -> None:
        """All rounds at once. A condition that is the same in all rounds is one of the whole loop."""
        if not rounds.path.possible:
            return
        if not statements:
            then(rounds)
            return
        first, rest = statements[0], statements[1:]

        def onwards(after: Rounds) -> None:
            outside = after.path if isinstance(first, ir.Let) else restored(after.path, rounds.path)
            kept = replace(after, path=outside, variables=rounds.variables, conditions=rounds.conditions)
            self._rounds(rest, kept, depth, then)

        path, inner = rounds.path, rounds.conditions
        match first:
            case ir.Let(name=name, value=value):
                found = self._value(path, value, inner)
                self._within(rounds, found, {name: found.shape}, onwards)
            case ir.If():
                self._if_in_rounds(first, rounds, depth, onwards)
            case ir.For():
                if first.domain is not None and is_bag(first.domain.type):
                    raise Unsupported(f"a loop over a `{first.domain.type}` that only sends")
                groups, there = self._domain(path, first)
                self._check(f"no fault on line {first.span.line}", path, there, inner)
                self._each_group(first, groups, rounds, depth, onwards)
            case ir.Send():
                given = [self._value(path, each, inner) for each in (*first.arguments, first.to)]
                *arguments, to = given
                self._goes_to_neighbor(path, first.span.line, to.term, inner)
                said = tuple(each.shape for each in arguments)
                sending = Sending(first, rounds.variables, inner, said, to.term)
                onwards(replace(rounds, sent=(*rounds.sent, sending)))
            case ir.Call():
                self._call_in_rounds(first, rounds, depth, onwards)
            case _:
                raise AssertionError(first)

    def _within(self, rounds: Rounds, found: Value, names: Mapping[str, Shape], then: Callable[[Rounds], None]) -> None:
        then(replace(rounds, path=replace(rounds.path, locals={**rounds.path.locals, **names})))

    def _if_in_rounds(self, first: ir.If, rounds: Rounds, depth: int, then: Callable[[Rounds], None]) -> None:
        test = self._value(rounds.path, first.condition, rounds.conditions)
        names = {variable.name for variable in rounds.variables}
        line = f"line {first.span.line}"
        if not names & set(free_locals(test.term)):
            for term, block in ((test.term, first.then), (opposite(test.term), first.otherwise)):
                whole = replace(rounds, path=rounds.path.where(line, term))
                self._rounds(block, whole, depth, then)
            return

        def otherwise(after: Rounds) -> None:
            conditions = (*rounds.conditions, opposite(test.term))
            path = restored(after.path, rounds.path)
            self._rounds(first.otherwise, replace(after, path=path, conditions=conditions), depth, then)

        self._rounds(first.then, replace(rounds, conditions=(*rounds.conditions, test.term)), depth, otherwise)

    def _each_group(
        self, first: ir.For, groups: Sequence[Group], rounds: Rounds, depth: int, then: Callable[[Rounds], None]
    ) -> None:
        if not groups:
            then(rounds)
            return
        group, *rest = groups
        variables = self._loop_variables(group.types)
        condition, item = group.item(locals_of(variables))
        path = replace(rounds.path, locals={**rounds.path.locals, first.name: item})
        conditions = rounds.conditions if condition == TRUE else (*rounds.conditions, condition)
        inside = replace(rounds, path=path, variables=(*rounds.variables, *variables), conditions=conditions)

        def onwards(after: Rounds) -> None:
            kept = replace(
                after,
                path=restored(after.path, rounds.path),
                variables=rounds.variables,
                conditions=rounds.conditions,
            )
            self._each_group(first, rest, kept, depth, then)

        self._rounds(first.body, inside, depth, onwards)

    def _call_in_rounds(self, first: ir.Call, rounds: Rounds, depth: int, then: Callable[[Rounds], None]) -> None:
        if depth > DEEPEST:
            raise Unsupported(f"`{first.procedure}` calls itself")
        procedure = next(one for one in self.link.protocol.procedures if one.name == first.procedure)
        given = [self._value(rounds.path, argument, rounds.conditions) for argument in first.arguments]
        names = [parameter.name for parameter in procedure.parameters]
        locals_ = dict(zip(names, (each.shape for each in given), strict=True))
        inside = replace(rounds, path=replace(rounds.path, locals=locals_))

        def returned(after: Rounds) -> None:
            then(replace(after, path=replace(after.path, locals=rounds.path.locals)))

        self._rounds(procedure.body, inside, depth + 1, returned)

    def _all_sent(self, rounds: Rounds, path: Path, then: Then) -> None:
        """After the loop: the packets are in flight, and the machine has taken the transitions that they are."""
        after = restored(rounds.path, path)
        state = after.state
        for sending in rounds.sent:
            state = state.sending(sending.statement.kind, self._group(sending))
        if state.end is not None:
            self._check_channels(rounds.sent, after)
        events = [sending for sending in rounds.sent if self._clause(self._event(sending)) is not None]
        if len(events) > 1:
            raise Unsupported(f"the loop on line {events[1].statement.span.line} has two events of the link")
        after = replace(after, state=state)
        for sending in events:
            after = self._happen_for_all(after, sending)
        then(after)

    def _check_channels(self, sent: Sequence[Sending], path: Path) -> None:
        """What two rounds send goes to two processes."""
        for one, other in combinations_with_replacement(sent, 2):
            pairs = zip(one.variables, other.variables, strict=False)
            shared = [variable for variable, its in pairs if variable == its]
            renamed = {variable.name: replace(variable, name=f"{variable.name}!") for variable in other.variables}
            values = {name: local(variable) for name, variable in renamed.items()}
            there = [substitute(condition, values) for condition in other.conditions]
            same_round = conj(equal(local(each), values[each.name]) for each in shared)
            if one is not other and not shared:
                continue  # not in one loop: one is sent after the other
            to_one = equal(one.to, substitute(other.to, values))
            goal = forall(
                (*one.variables, *renamed.values()), implies(conj((*one.conditions, *there, to_one)), same_round)
            )
            line = other.statement.span.line
            self._check(f"the loop sends one packet to each process on line {line}", path, goal)

    def _group(self, sending: Sending) -> Group:
        names = [variable.name for variable in sending.variables]

        def item(values: tuple[Term, ...]) -> tuple[Term, Shape]:
            given = dict(zip(names, values, strict=True))
            arguments = [substituted(one, given) for one in sending.arguments]
            packet = packet_of_self(arguments, Leaf(substitute(sending.to, given)))
            return substitute(conj(sending.conditions), given), packet

        return Group(tuple(variable.type for variable in sending.variables), item)

    def _event(self, sending: Sending) -> Event:
        return Event("send", sending.statement.kind, sending.arguments, Leaf(sending.to))

    def _happen_for_all(self, path: Path, sending: Sending) -> Path:
        """The machine takes the transitions that the packets of a loop are: see NOTE(together)."""
        event = self._event(sending)
        clause = self._clause(event)
        assert clause is not None
        if len(clause.targets) != 1 or any(argument is None for argument in clause.targets[0].arguments):
            raise Unsupported("`or` and `any` for an event in a loop have no encoding")
        evaluation = self._of_clause(clause, event)
        conditions = list(sending.conditions)
        line = sending.statement.span.line
        if clause.when is not None:
            when = evaluation.value(clause.when)
            self._check(f"the condition of send {clause.kind} has a value", path, when.defined, conditions)
            conditions.append(when.term)
        target = self._target(path, clause.targets[0], evaluation)
        self._check(f"the arguments of send {clause.kind} have a value", path, target.defined, conditions)
        many = Many(target.action, target.arguments, sending.variables)
        whole = conj(conditions)
        done = ir.Symbol(f"#done {self._number()}", sending.variables, BOOL)
        self.symbols.append(done)
        delivery = self.link.machine.delivery

        def is_done(values: Mapping[str, Term]) -> Term:
            return ir.Apply(BOOL, done.name, tuple(values[variable.name] for variable in sending.variables))

        here = {variable.name: ir.Local(variable.type, variable.name) for variable in sending.variables}
        some = replace(path.state, machine=taken_for(path.state, many, is_done, delivery))
        others = tuple(replace(variable, name=f"{variable.name}!") for variable in sending.variables)
        there = {one.name: ir.Local(one.type, other.name) for one, other in zip(sending.variables, others, strict=True)}
        only = forall(others, implies(is_done(there), substitute(whole, there)))
        more = (*conditions, only, negation(is_done(here)))
        goal = enabled(some, target.action, target.arguments)
        self._check(f"send {clause.kind} on line {line} is enabled in each round", path, goal, more)
        every = taken_for(path.state, many, lambda values: substitute(whole, values), delivery)
        return replace(path, state=replace(path.state, machine=every))
