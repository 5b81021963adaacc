"""Handlers as formulas: each way through a handler, with the conditions under which it is taken.

On the way, checks are collected: no expression is without a value, each event is enabled in the machine, and at the
head of a loop the invariants of the link are true.

NOTE(loops): a `for` that only sends is one group of packets, see `Rounds`. Any other loop is cut at its head: the
invariants hold there at first and after each round, and nothing else is known of what a round may change. That a loop
ends is not shown; a step whose loop does not end is a fault, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Collection, Map, Record, Type, has_zero
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    conj,
    disj,
    exists,
    forall,
    free_locals,
    implies,
    negation,
    substitute,
)
from thence.proofs.machine.transitions import Action
from thence.proofs.refinement.effects import effects
from thence.proofs.refinement.expressions import Evaluation, Value
from thence.proofs.refinement.shapes import (
    Change,
    Entry,
    Field,
    Group,
    Leaf,
    Members,
    Parts,
    PlaceStep,
    Shape,
    Table,
    Term,
    Window,
    changed,
    flat,
    locals_of,
    merged,
    same,
    window_facts,
    without_entry,
    zero_shape,
)
from thence.proofs.refinement.states import SELF, State, forgotten, packet_value
from thence.proofs.refinement.transitions import Many, action_of, enabled, taken, taken_for

_DEEPEST = 20
"""Limit on procedures inside one another: a procedure that calls itself is refused."""


@dataclass(frozen=True, slots=True)
class Path:
    """A way through a handler, up to some statement. `variables` are the locals that statements change."""

    state: State
    locals: Mapping[str, Shape]
    conditions: tuple[ir.NamedFormula, ...] = ()
    variables: frozenset[str] = frozenset()

    def where(self, name: str, *conditions: Term) -> Path:
        new = tuple(ir.NamedFormula(name, each) for each in conditions if each != TRUE)
        return replace(self, conditions=(*self.conditions, *new))

    @property
    def possible(self) -> bool:
        return all(condition.body != FALSE for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Check:
    """The goal is true where the conditions are."""

    name: str
    conditions: tuple[ir.NamedFormula, ...]
    goal: Term


Then: TypeAlias = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the protocol, as `scopes.link` has it: its kind, the values that a clause names, the peer."""

    event: str
    kind: str | None
    values: tuple[Shape, ...]
    peer: Shape | None = None


@dataclass(frozen=True, slots=True)
class _Sending:
    """A send inside a loop: for each value of the loop variables for which the conditions are true."""

    statement: ir.Send
    variables: tuple[ir.Variable, ...]
    conditions: tuple[Term, ...]
    terms: tuple[Term, ...]
    """The packet's parameters and its receiver."""


@dataclass(frozen=True, slots=True)
class _Rounds:
    """All rounds of a loop at once: the loop variables, the conditions on them, and what was sent so far."""

    path: Path
    variables: tuple[ir.Variable, ...]
    conditions: tuple[Term, ...]
    sent: tuple[_Sending, ...] = ()


@dataclass(slots=True)
class Execution:
    """Executes statements of the link's protocol from the state `before`.

    `unrolled`: that many rounds of a loop are executed one by one, and longer ways left out, in place of cutting it;
    tests compare that with the interpreter. `known` are the machine's invariants.
    """

    link: ir.Link
    before: State
    known: tuple[ir.NamedFormula, ...] = ()
    unrolled: int | None = None
    checks: list[Check] = field(default_factory=list)
    symbols: list[ir.Symbol] = field(default_factory=list)
    _numbers: int = 0

    # --- small helpers -----------------------------------------------------------------------

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _evaluation(self, state: State, locals: Mapping[str, Shape]) -> Evaluation:
        return Evaluation(self.link.protocol, state, locals=locals, prefix=f"e{self._number()}")

    def _value(self, path: Path, expr: ir.Expr, more: Sequence[Term] = ()) -> Value:
        """The value of an expression on the way; that it has one is checked, and known from then on."""
        found = self._evaluation(path.state, path.locals).value(expr)
        self._check(f"no fault on line {expr.span.line}", path, found.defined, more)
        return found

    def _check(self, name: str, path: Path, goal: Term, more: Sequence[Term] = ()) -> None:
        if goal != TRUE and path.possible:
            inner = tuple(ir.NamedFormula("in the loop", each) for each in more)
            self.checks.append(Check(name, (*path.conditions, *inner), goal))

    def invariants(self, state: State) -> tuple[ir.NamedFormula, ...]:
        """The invariants of the link in a state: each has a value, and is true."""
        return tuple(
            ir.NamedFormula(one.name, Evaluation(self.link.protocol, state, prefix="i").formula(one.body))
            for one in self.link.invariants
        )

    # --- statements --------------------------------------------------------------------------

    def run(self, statements: Sequence[ir.Stmt], path: Path, then: Then, back: Then, depth: int = 0) -> None:
        """Executes a block: `then` takes the ways that come to its end, `back` those that return."""
        if not path.possible:
            return
        if not statements:
            then(path)
            return
        first, rest = statements[0], statements[1:]

        def onwards(after: Path) -> None:
            self.run(rest, after, then, back, depth)

        self._statement(first, path, onwards, back, depth)

    def _statement(self, statement: ir.Stmt, path: Path, then: Then, back: Then, depth: int) -> None:
        match statement:
            case ir.Let(name=name, value=value):
                found = self._value(path, value)
                then(replace(_sure(path, found), locals={**path.locals, name: found.shape}))
            case ir.Var(name=name, value=value):
                found = self._value(path, value)
                after = replace(_sure(path, found), locals={**path.locals, name: found.shape})
                then(replace(after, variables=path.variables | {name}))
            case ir.Assign(place=place, value=value):
                found = self._value(path, value)
                self._change(_sure(path, found), place, lambda _: found.shape, then, read=False)
            case ir.Mutate():
                self._mutate(statement, path, then)
            case ir.Call():
                self._call(statement, path, then, depth)
            case ir.If():
                test = self._value(path, statement.condition)
                sure = _sure(path, test)
                line = f"line {statement.span.line}"
                self._block(statement.then, sure.where(line, test.term), then, back, depth)
                self._block(statement.otherwise, sure.where(line, _opposite(test.term)), then, back, depth)
            case ir.While():
                self._while(statement, path, then, back, depth)
            case ir.For():
                self._for(statement, path, then, back, depth)
            case ir.Return():
                back(path)
            case ir.Send():
                self._send(statement, path, then)
            case ir.Deliver(message=message):
                found = self._value(path, message)
                self.happen(_sure(path, found), Event("deliver", None, (found.shape,)), then)
            case ir.Ref():
                raise Unsupported(f"`ref {statement.name}` has no encoding")
            case _:
                assert_never(statement)

    def _block(self, statements: Sequence[ir.Stmt], path: Path, then: Then, back: Then, depth: int) -> None:
        """A block inside another: its names end with it."""
        self.run(statements, path, lambda after: then(_restored(after, path)), back, depth)

    def _call(self, statement: ir.Call, path: Path, then: Then, depth: int) -> None:
        if depth > _DEEPEST:
            raise Unsupported(f"`{statement.procedure}` calls itself")
        procedure = next(one for one in self.link.protocol.procedures if one.name == statement.procedure)
        given = [self._value(path, argument) for argument in statement.arguments]
        names = [parameter.name for parameter in procedure.parameters]
        sure = _sure(path, *given)
        inside = replace(
            sure, locals=dict(zip(names, (each.shape for each in given), strict=True)), variables=frozenset()
        )

        def returned(after: Path) -> None:
            then(replace(after, locals=path.locals, variables=path.variables))

        self.run(procedure.body, inside, returned, returned, depth + 1)

    # --- places ------------------------------------------------------------------------------

    def _change(self, path: Path, place: ir.Expr, change: Change, then: Then, *, read: bool) -> None:
        """Changes what is at a place; `read`: the change reads it, so that it must be there."""
        chain: list[ir.Expr] = []
        while isinstance(place, ir.FieldOf | ir.Lookup):
            chain.append(place)
            place = place.target
        if isinstance(place, ir.StateOf):
            shape = path.state.mine(place.name)
        elif isinstance(place, ir.Local):
            shape = path.locals[place.name]
        else:
            raise Unsupported(f"a change of `{type(place).__name__}` has no encoding")
        steps: list[PlaceStep] = []
        inside = shape
        for number, part in enumerate(reversed(chain), 1):
            if isinstance(part, ir.FieldOf):
                assert isinstance(inside, Parts) and isinstance(part.target.type, Record)
                labels = [label for label, _ in part.target.type.fields]
                steps.append(Field(labels.index(part.name)))
                inside = inside.fields[labels.index(part.name)]
                continue
            assert isinstance(part, ir.Lookup) and isinstance(part.target.type, Map) and isinstance(inside, Table)
            key = self._value(path, part.key)
            path = _sure(path, key)
            terms = flat(key.shape)
            needed = read or number < len(chain)
            if needed and not has_zero(part.target.type.value):
                self._check(f"no fault on line {part.span.line}", path, inside.has(terms))
                path = path.where("there", inside.has(terms))
            steps.append(Entry(terms, part.target.type.value))
            inside = inside.at(terms)
        after = changed(shape, steps, change)
        if isinstance(place, ir.StateOf):
            then(replace(path, state=path.state.assigned(place.name, after)))
        else:
            then(replace(path, locals={**path.locals, place.name: after}))

    def _mutate(self, statement: ir.Mutate, path: Path, then: Then) -> None:
        given = [self._value(path, argument) for argument in statement.arguments]
        path = _sure(path, *given)
        items = [each.shape for each in given]
        place, type_ = statement.place, statement.place.type
        if statement.method == "clear":
            self._change(path, place, lambda _: zero_shape(type_), then, read=True)
            return
        if statement.method == "pop":
            held = self._value(path, place)
            assert isinstance(held.shape, Window)
            some = ir.Comparison(BOOL, "<", held.shape.first, held.shape.next)
            self._check(f"no fault on line {statement.span.line}", path, some)
            path = path.where("not empty", some)
        change = _mutation(statement.method, type_, items)
        self._change(path, place, change, then, read=True)

    # --- events ------------------------------------------------------------------------------

    def accepted(self, path: Path, guard: ir.Expr) -> Path:
        """The application has an input or sends, which the protocol accepts."""
        found = self._value(path, guard)
        return _sure(path, found).where("accepted", found.term)

    def happen(self, path: Path, event: Event, then: Then) -> None:
        """The machine takes the transition that the event is."""
        clause = self._clause(event)
        if clause is None:
            then(path)
            return
        evaluation = self._of_clause(clause, event)
        what = f"{clause.event}{f' {clause.kind}' if clause.kind else ''}"
        if clause.when is not None:
            when = evaluation.value(clause.when)
            self._check(f"the condition of {what} has a value", path, when.defined)
            path = _sure(path, when)
            then(path.where(f"{what} is silent", _opposite(when.term)))
            path = path.where(f"{what} is an event", when.term)
            if not path.possible:
                return
        targets = [self._target(path, target, evaluation) for target in clause.targets]
        for target in targets:
            self._check(f"the arguments of {what} have a value", path, target.defined)
            path = path.where("a value", target.defined)
        self._check(f"{what} is enabled", path, disj(target.possible(path.state) for target in targets))
        refused: list[Term] = []
        for target in targets:
            here = path.where(f"{what} is refused", *refused).where(f"{what} is enabled", *target.choice(path.state))
            after = taken(path.state, target.action, target.arguments)
            then(replace(here, state=replace(path.state, machine=after)))
            refused.append(_opposite(target.possible(path.state)))

    def _clause(self, event: Event) -> ir.Clause | None:
        for clause in self.link.clauses:
            known = (clause.event, clause.kind)
            if known == (event.event, event.kind):
                if clause.once:
                    raise Unsupported("`once` in a link has no encoding")
                return clause
        return None

    def _of_clause(self, clause: ir.Clause, event: Event) -> Evaluation:
        names = {one.name: shape for one, shape in zip(clause.parameters, event.values, strict=False)}
        if clause.peer is not None:
            assert event.peer is not None
            names[clause.peer] = event.peer
        return self._evaluation(self.before, names)

    def _target(self, path: Path, target: ir.Target, evaluation: Evaluation) -> _Taking:
        action = action_of(self.link.machine, target.transition)
        arguments: list[Term] = []
        found: list[ir.Variable] = []
        defined: list[Term] = []
        for parameter, argument in zip(action.parameters, target.arguments, strict=True):
            if argument is None:
                found.append(ir.Variable(f"#any {self._number()}", parameter.type))
                arguments.append(ir.Local(parameter.type, found[-1].name))
            else:
                value = evaluation.value(argument)
                defined.append(value.defined)
                arguments.append(value.term)
        return _Taking(action, tuple(arguments), tuple(found), conj(defined))

    def _send(self, statement: ir.Send, path: Path, then: Then) -> None:
        given = [self._value(path, each) for each in (*statement.arguments, statement.to)]
        path = _sure(path, *given)
        terms = tuple(term for each in given for term in flat(each.shape))
        kind = self._kind(statement.kind)
        values = packet_value(kind, (*terms[:-1], SELF, terms[-1]))
        state = path.state.sending(kind.name, Group((), lambda _: (TRUE, values)))
        event = Event("send", kind.name, values.fields[:-2], Leaf(terms[-1]))
        self.happen(replace(path, state=state), event, then)

    def _kind(self, name: str) -> ir.PacketKind:
        return next(kind for kind in self.link.protocol.packets if kind.name == name)

    # --- loops that are cut ------------------------------------------------------------------

    def _while(self, statement: ir.While, path: Path, then: Then, back: Then, depth: int) -> None:
        if self.unrolled is not None:
            self._unroll(statement, path, then, back, depth, self.unrolled)
            return
        head = self._cut(statement.body, path, statement.span.line)
        test = self._value(head, statement.condition)
        sure = _sure(head, test)
        inside = sure.where("another round", test.term)
        self.run(statement.body, inside, lambda after: self._keeps(after, statement.span.line), back, depth)
        then(_restored(sure.where("no other round", _opposite(test.term)), path))

    def _unroll(self, statement: ir.While, path: Path, then: Then, back: Then, depth: int, left: int) -> None:
        test = self._value(path, statement.condition)
        sure = _sure(path, test)
        then(sure.where("no other round", _opposite(test.term)))
        if left:

            def again(after: Path) -> None:
                self._unroll(statement, _restored(after, path), then, back, depth, left - 1)

            self.run(statement.body, sure.where("another round", test.term), again, back, depth)

    def _cut(self, body: Sequence[ir.Stmt], path: Path, line: int) -> Path:
        """The head of a loop: the invariants are checked, and all that is known of what a round may change."""
        self._keeps(path, line)
        found = effects(self.link, body)
        version = f"#{self._number()}"
        state, new = forgotten(path.state, self.link, version, found.variables, found.kinds, found.symbols)
        self.symbols.extend(new)
        locals_ = dict(path.locals)
        for name in found.locals & path.variables:
            locals_[name] = _any_like(locals_[name], f"{name}{version}")
        known = (ir.NamedFormula(one.name, state.about_machine(one.body)) for one in self.known)
        conditions = (*path.conditions, *self.invariants(state), *known, *window_facts(new))
        return replace(path, state=state, locals=locals_, conditions=conditions)

    def _keeps(self, path: Path, line: int) -> None:
        for invariant in self.invariants(path.state):
            self._check(f"the loop on line {line} keeps {invariant.name}", path, invariant.body)

    def _for(self, statement: ir.For, path: Path, then: Then, back: Then, depth: int) -> None:
        if statement.ref:
            raise Unsupported(f"`for ref {statement.name}` has no encoding")
        if effects(self.link, statement.body).only_sends:
            start = _Rounds(path, (), ())
            self._rounds((statement,), start, depth, lambda done: self._all_sent(done, path, then))
            return
        if self.unrolled is not None:
            raise Unsupported("a loop over a collection that changes something is not unrolled")
        groups, there = self._domain(path, statement)
        self._check(f"no fault on line {statement.span.line}", path, there)
        head = self._cut(statement.body, path.where("a value", there), statement.span.line)
        for group in groups:
            variables = self._loop_variables(group.types)
            condition, item = group.item(locals_of(variables))
            inside = replace(head.where("in the loop", condition), locals={**head.locals, statement.name: item})
            self.run(statement.body, inside, lambda after: self._keeps(after, statement.span.line), back, depth)
        then(_restored(head, path))

    def _domain(self, path: Path, statement: ir.For) -> tuple[tuple[Group, ...], Term]:
        bound = ir.Bound(statement.variable, statement.name, statement.domain)
        return self._evaluation(path.state, path.locals).groups(bound, path.locals)

    def _loop_variables(self, types: Sequence[Type]) -> tuple[ir.Variable, ...]:
        return tuple(ir.Variable(f"#each {self._number()}", type_) for type_ in types)

    # --- loops that only send ----------------------------------------------------------------

    def _rounds(
        self, statements: Sequence[ir.Stmt], rounds: _Rounds, depth: int, then: Callable[[_Rounds], None]
    ) -> None:
        """All rounds at once. A condition that is the same in all rounds is one of the whole loop."""
        if not rounds.path.possible:
            return
        if not statements:
            then(rounds)
            return
        first, rest = statements[0], statements[1:]

        def onwards(after: _Rounds) -> None:
            restored = _restored(after.path, rounds.path) if not isinstance(first, ir.Let) else after.path
            kept = replace(after, path=restored, variables=rounds.variables, conditions=rounds.conditions)
            self._rounds(rest, kept, depth, then)

        path, inner = rounds.path, rounds.conditions
        match first:
            case ir.Let(name=name, value=value):
                found = self._value(path, value, inner)
                self._within(rounds, found, {name: found.shape}, onwards)
            case ir.If():
                self._if_in_rounds(first, rounds, depth, onwards)
            case ir.For():
                groups, there = self._domain(path, first)
                self._check(f"no fault on line {first.span.line}", path, there, inner)
                self._each_group(first, groups, rounds, depth, onwards)
            case ir.Send():
                given = [self._value(path, each, inner) for each in (*first.arguments, first.to)]
                terms = tuple(term for each in given for term in flat(each.shape))
                sending = _Sending(first, rounds.variables, inner, terms)
                onwards(replace(rounds, sent=(*rounds.sent, sending)))
            case ir.Call():
                self._call_in_rounds(first, rounds, depth, onwards)
            case _:
                raise AssertionError(first)

    def _within(
        self, rounds: _Rounds, found: Value, names: Mapping[str, Shape], then: Callable[[_Rounds], None]
    ) -> None:
        then(replace(rounds, path=replace(rounds.path, locals={**rounds.path.locals, **names})))

    def _if_in_rounds(self, first: ir.If, rounds: _Rounds, depth: int, then: Callable[[_Rounds], None]) -> None:
        test = self._value(rounds.path, first.condition, rounds.conditions)
        names = {variable.name for variable in rounds.variables}
        line = f"line {first.span.line}"
        if not names & set(free_locals(test.term)):
            for term, block in ((test.term, first.then), (_opposite(test.term), first.otherwise)):
                whole = replace(rounds, path=rounds.path.where(line, term))
                self._rounds(block, whole, depth, then)
            return

        def otherwise(after: _Rounds) -> None:
            conditions = (*rounds.conditions, _opposite(test.term))
            path = _restored(after.path, rounds.path)
            self._rounds(first.otherwise, replace(after, path=path, conditions=conditions), depth, then)

        self._rounds(first.then, replace(rounds, conditions=(*rounds.conditions, test.term)), depth, otherwise)

    def _each_group(
        self, first: ir.For, groups: Sequence[Group], rounds: _Rounds, depth: int, then: Callable[[_Rounds], None]
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

        def onwards(after: _Rounds) -> None:
            kept = replace(
                after,
                path=_restored(after.path, rounds.path),
                variables=rounds.variables,
                conditions=rounds.conditions,
            )
            self._each_group(first, rest, kept, depth, then)

        self._rounds(first.body, inside, depth, onwards)

    def _call_in_rounds(self, first: ir.Call, rounds: _Rounds, depth: int, then: Callable[[_Rounds], None]) -> None:
        if depth > _DEEPEST:
            raise Unsupported(f"`{first.procedure}` calls itself")
        procedure = next(one for one in self.link.protocol.procedures if one.name == first.procedure)
        given = [self._value(rounds.path, argument, rounds.conditions) for argument in first.arguments]
        names = [parameter.name for parameter in procedure.parameters]
        locals_ = dict(zip(names, (each.shape for each in given), strict=True))
        inside = replace(rounds, path=replace(rounds.path, locals=locals_))
        self._rounds(procedure.body, inside, depth + 1, then)

    def _all_sent(self, rounds: _Rounds, path: Path, then: Then) -> None:
        """After the loop: the packets are in flight, and the machine has taken the transitions that they are."""
        after = _restored(rounds.path, path)
        state = after.state
        for sending in rounds.sent:
            state = state.sending(sending.statement.kind, self._group(sending))
        events = [sending for sending in rounds.sent if self._clause(self._event(sending)) is not None]
        if len(events) > 1:
            raise Unsupported(f"the loop on line {events[1].statement.span.line} has two events of the link")
        after = replace(after, state=state)
        for sending in events:
            after = self._happen_for_all(after, sending)
        then(after)

    def _group(self, sending: _Sending) -> Group:
        kind = self._kind(sending.statement.kind)
        names = [variable.name for variable in sending.variables]

        def item(values: tuple[Term, ...]) -> tuple[Term, Shape]:
            given = dict(zip(names, values, strict=True))
            terms = tuple(substitute(term, given) for term in sending.terms)
            return substitute(conj(sending.conditions), given), packet_value(kind, (*terms[:-1], SELF, terms[-1]))

        return Group(tuple(variable.type for variable in sending.variables), item)

    def _event(self, sending: _Sending) -> Event:
        kind = self._kind(sending.statement.kind)
        values = packet_value(kind, (*sending.terms[:-1], SELF, sending.terms[-1]))
        return Event("send", kind.name, values.fields[:-2], Leaf(sending.terms[-1]))

    def _happen_for_all(self, path: Path, sending: _Sending) -> Path:
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


@dataclass(frozen=True, slots=True)
class _Taking:
    """A transition that an event may be; `found` are the arguments that the machine finds."""

    action: Action
    arguments: tuple[Term, ...]
    found: tuple[ir.Variable, ...]
    defined: Term

    def choice(self, state: State) -> tuple[Term, ...]:
        """Of the found arguments: that they are processes or sent messages, and enable the transition."""
        messages = (one for one in self.found if one.type == MESSAGE)
        sent = (state.machine["sent"]((ir.Local(MESSAGE, one.name),)) for one in messages)
        return (*sent, enabled(state, self.action, self.arguments))

    def possible(self, state: State) -> Term:
        return exists(self.found, conj(self.choice(state)))


def _sure(path: Path, *found: Value) -> Path:
    """The way from there on: the values were there."""
    return path.where("a value", *(each.defined for each in found))


def _restored(after: Path, before: Path) -> Path:
    """After a block: the names of the block are gone."""
    kept = {name: after.locals[name] for name in before.locals}
    return replace(after, locals=kept, variables=before.variables)


def _opposite(term: Term) -> Term:
    if term in (TRUE, FALSE):
        return FALSE if term == TRUE else TRUE
    return negation(term)


def _any_like(shape: Shape, name: str) -> Shape:
    """Some value of the same kind."""
    match shape:
        case Leaf(term=term):
            return Leaf(ir.Local(term.type, name))
        case Parts(fields=fields):
            return Parts(tuple(_any_like(each, f"{name}.{at}") for at, each in enumerate(fields)))
        case _:
            raise Unsupported("a local collection that a loop changes")


def _mutation(method: str, type_: Type, items: Sequence[Shape]) -> Change:
    """The value after the mutation, from the value before it."""
    match method, type_:
        case "push", Collection(kind="queue"):
            return lambda shape: _pushed(shape, items[0])
        case "pop", Collection(kind="queue"):
            return _popped
        case "add" | "remove", Collection(kind="set"):
            return lambda shape: _with_member(shape, flat(items[0]), there=method == "add")
        case "remove", Map(value=value):
            return lambda shape: without_entry(_table(shape), flat(items[0]), value)
        case _:
            raise Unsupported(f"`{method}` of a `{type_}` has no encoding")


def _table(shape: Shape) -> Table:
    assert isinstance(shape, Table)
    return shape


def _pushed(shape: Shape, item: Shape) -> Shape:
    assert isinstance(shape, Window)
    last = shape.next
    following = ir.Arithmetic(NAT, "+", last, ir.Literal_(NAT, 1))
    return Window(shape.first, following, lambda index: merged(same((index,), (last,)), item, shape.at(index)))


def _popped(shape: Shape) -> Shape:
    assert isinstance(shape, Window)
    return replace(shape, first=ir.Arithmetic(NAT, "+", shape.first, ir.Literal_(NAT, 1)))


def _with_member(shape: Shape, item: tuple[Term, ...], *, there: bool) -> Shape:
    assert isinstance(shape, Members)
    if there:
        return Members(lambda terms: disj((same(terms, item), shape.has(terms))))
    return Members(lambda terms: conj((_opposite(same(terms, item)), shape.has(terms))))
