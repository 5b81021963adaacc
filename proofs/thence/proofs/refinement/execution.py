"""Handlers as formulas: each way through a handler, with the conditions under which it is taken.

On the way, checks are collected: no expression is without a value, each event is enabled in the machine, and at the
head of a loop the invariants of the link are true.

NOTE(loops): a `for` that only sends is one group of packets, see NOTE(rounds), and one that changes each entry of a map
by itself is one change of the map, see NOTE(entrywise); so is a `for ref` that changes elements in place, see
NOTE(elementwise). Any other loop is cut at its head: the invariants hold there at first and after each round, and
nothing else is known of what a round may change. That a loop ends is not shown; a step whose loop does not end is a
fault, and changes nothing.

NOTE(not visited before): a round of a `for` over a collection may take its own element out of it, and no other. Then an
element is there at the head of its round: of equal elements of a queue, each earlier round took out one at most.

NOTE(first found): in `for x in Q: if P: ...; return` nothing happens before the first x for which P is true, and
nothing after it. So there is no cut: that x has a name, and P is false for all before it, or there is none. Elements of
a queue come in its order, processes in theirs.

NOTE(first round): a part of an invariant may say of each process what denies the test of a `while`: between steps a
buffer is empty, and the loop empties it. Then the loop begins where that invariant is false, so its first round is
executed as it stands, and the loop is cut at its next head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.substitution import instantiated
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Collection, Map, Record, has_zero
from thence.proofs.logic.formula import (
    TRUE,
    Unsupported,
    conj,
    exists,
    forall,
    implies,
    local,
    negation,
    operands,
)
from thence.proofs.refinement.effects import (
    changes_of,
    delivers,
    effects,
    names_given,
    sends_of,
    takes_out_its_own,
    test_of_search,
)
from thence.proofs.refinement.elementwise import changes_elements, joined, places, with_elements
from thence.proofs.refinement.entrywise import Entrywise, entries_of
from thence.proofs.refinement.expressions import Value
from thence.proofs.refinement.following import Event, Path, Then, opposite, restored, sure
from thence.proofs.refinement.frames import only_added_to, only_key, other_entries, what_stays
from thence.proofs.refinement.mutation import any_like, cleared, mutation, with_numbered, without_numbered
from thence.proofs.refinement.reactions import between_at_heads
from thence.proofs.refinement.rounds import DEEPEST, Rounds
from thence.proofs.refinement.shapes.changes import Change, Element, Entry, Field, PlaceStep, changed, without_element
from thence.proofs.refinement.shapes.contents import equality, in_numbered
from thence.proofs.refinement.shapes.flat import flat, locals_of, variables
from thence.proofs.refinement.shapes.kinds import Group, Leaf, Numbered, Parts, Shape, Table, Term, Window, within
from thence.proofs.refinement.shapes.zeros import something_inside
from thence.proofs.refinement.states import State, facts_of_new, forgotten, packet_of_self, place_facts
from thence.proofs.refinement.trees import facts_of_flight


@dataclass(slots=True)
class Execution(Entrywise):
    """Executes statements of the link's protocol.

    `unrolled`: that many rounds of a loop are executed one by one, and longer ways left out, in place of cutting it; of
    a loop over a queue up to `elements` rounds. Tests compare that with the interpreter.
    """

    unrolled: int | None = None
    elements: int = 3

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
                then(replace(sure(path, found), locals={**path.locals, name: found.shape}))
            case ir.Var(name=name, value=value):
                found = self._value(path, value)
                after = replace(sure(path, found), locals={**path.locals, name: found.shape})
                then(replace(after, variables=path.variables | {name}))
            case ir.Assign(place=place, value=value):
                found = self._value(path, value)
                self._change(sure(path, found), place, lambda _: found.shape, then, read=False)
            case ir.Mutate():
                self._mutate(statement, path, then)
            case ir.Call():
                self._call(statement, path, then, depth)
            case ir.If():
                test = self._value(path, statement.condition)
                known = sure(path, test)
                line = f"line {statement.span.line}"
                self._block(statement.then, known.where(line, test.term), then, back, depth)
                self._block(statement.otherwise, known.where(line, opposite(test.term)), then, back, depth)
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
                self.happen(sure(path, found), Event("deliver", None, (found.shape,)), then)
            case ir.Ref():
                raise Unsupported(f"`ref {statement.name}` has no encoding")
            case ir.Choose() | ir.Either():
                raise Unsupported("a choice (`choose`, `either`) has no encoding")
            case _:
                assert_never(statement)

    def _block(self, statements: Sequence[ir.Stmt], path: Path, then: Then, back: Then, depth: int) -> None:
        """A block inside another: its names end with it."""
        self.run(statements, path, lambda after: then(restored(after, path)), back, depth)

    def _call(self, statement: ir.Call, path: Path, then: Then, depth: int) -> None:
        if depth > DEEPEST:
            raise Unsupported(f"`{statement.procedure}` calls itself")
        procedure = next(one for one in self.link.protocol.procedures if one.name == statement.procedure)
        given = [self._value(path, argument) for argument in statement.arguments]
        names = [parameter.name for parameter in procedure.parameters]
        known = sure(path, *given)
        inside = replace(
            known, locals=dict(zip(names, (each.shape for each in given), strict=True)), variables=frozenset()
        )

        def returned(after: Path) -> None:
            then(replace(after, locals=path.locals, variables=path.variables))

        self.run(procedure.body, inside, returned, returned, depth + 1)

    # --- places ------------------------------------------------------------------------------

    def _change(self, path: Path, place: ir.Expr, change: Change, then: Then, *, read: bool) -> None:
        """Changes what is at a place; `read`: the change reads it, so that it must be there."""
        chain: list[ir.FieldOf | ir.Lookup | ir.ElementAt] = []
        while isinstance(place, ir.FieldOf | ir.Lookup | ir.ElementAt):
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
            if isinstance(part, ir.ElementAt):
                assert isinstance(inside, Window)
                index = self._value(path, part.index)
                path = sure(path, index)
                there = within(inside.first, index.term, inside.next)
                self._check(f"no fault on line {part.span.line}", path, there)
                path = path.where("in the window", there)
                steps.append(Element(index.term))
                inside = inside.at(index.term)
                continue
            assert isinstance(part, ir.Lookup) and isinstance(part.target.type, Map) and isinstance(inside, Table)
            key = self._value(path, part.key)
            path = sure(path, key)
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
        path = sure(path, *given)
        items = [each.shape for each in given]
        place, type_ = statement.place, statement.place.type
        kind = type_.kind if isinstance(type_, Collection) else None
        if statement.method == "clear":
            self._change(path, place, lambda shape: cleared(shape, type_), then, read=True)
            return
        if statement.method == "pop" or (statement.method, kind) == ("remove", "sliding array"):
            held = self._value(path, place)
            assert isinstance(held.shape, Window)
            some = something_inside(held.shape)
            self._check(f"no fault on line {statement.span.line}", path, some)
            path = path.where("not empty", some)
        if statement.method == "remove" and isinstance(type_, Collection) and kind == "queue":
            self._remove_first(path, place, type_, items[0], then)
            return
        if isinstance(type_, Collection) and kind == "sliding map":
            numbered = self._add_numbered if statement.method == "add" else self._remove_numbered
            numbered(path, place, type_, items[0], then)
            return
        change = mutation(statement.method, type_, items, lambda: f"#{self._number()}")
        self._change(path, place, change, then, read=True)

    def _remove_first(self, path: Path, place: ir.Expr, type_: Collection, item: Shape, then: Then) -> None:
        """A queue loses the first of its elements that is this one, if there is any; its place has a name."""
        held = self._value(path, place).shape
        assert isinstance(held, Window)
        names = self._evaluation(path.state, path.locals).name
        number, place_ = ir.Variable(names(), NAT), ir.Local(NAT, f"#at {self._number()}")

        def is_it(index: Term) -> Term:
            return equality(held.at(index), item, type_.item, names)

        index = local(number)
        there = conj((within(held.first, index, held.next), is_it(index)))
        then(path.where("not in the queue", negation(exists((number,), there))))
        earlier = conj((within(held.first, index, place_), is_it(index)))
        found = path.where(
            "in the queue",
            within(held.first, place_, held.next),
            is_it(place_),
            negation(exists((number,), earlier)),
        )
        known = self.link.delivered_by is not None
        self._change(found, place, lambda _: without_element(held, place_, old_places=known), then, read=True)

    def _in_numbered(self, path: Path, place: ir.Expr, type_: Collection, item: Shape) -> tuple[Numbered, Term]:
        """The sliding map at the place, and whether the element is in it."""
        held = self._value(path, place).shape
        assert isinstance(held, Numbered)
        names = self._evaluation(path.state, path.locals).name
        return held, in_numbered(held, item, type_.item, names)

    def _add_numbered(self, path: Path, place: ir.Expr, type_: Collection, item: Shape, then: Then) -> None:
        """A sliding map gets an element, which has the next number, unless it is there."""
        held, there = self._in_numbered(path, place, type_, item)
        then(path.where("in the sliding map", there))
        new = path.where("not in the sliding map", opposite(there))
        self._change(new, place, lambda _: with_numbered(held, item), then, read=True)

    def _remove_numbered(self, path: Path, place: ir.Expr, type_: Collection, item: Shape, then: Then) -> None:
        """A sliding map loses an element, if it is there; the least of the numbers that are left has a name."""
        held, there = self._in_numbered(path, place, type_, item)
        names = self._evaluation(path.state, path.locals).name
        then(path.where("not in the sliding map", opposite(there)))
        found = path.where("in the sliding map", there)
        left = without_numbered(held, item, type_.item, names)
        number = ir.Variable(names(), NAT)
        index, least = local(number), ir.Local(NAT, f"#at {self._number()}")
        behind = implies(left.has(index), ir.Comparison(BOOL, "<=", least, index))
        some = found.where(
            "others are left", within(held.first, least, held.next), left.has(least), forall((number,), behind)
        )
        self._change(some, place, lambda _: replace(left, first=least), then, read=True)
        nothing = found.where("nothing is left", forall((number,), opposite(left.has(index))))
        self._change(nothing, place, lambda _: replace(left, first=held.next), then, read=True)

    def _send(self, statement: ir.Send, path: Path, then: Then) -> None:
        given = [self._value(path, each) for each in (*statement.arguments, statement.to)]
        path = sure(path, *given)
        *arguments, to = (each.shape for each in given)
        assert isinstance(to, Leaf)
        self._goes_to_neighbor(path, statement.span.line, to.term)
        kind = self._kind(statement.kind)
        values = packet_of_self(arguments, to)
        state = path.state.sending(kind.name, Group((), lambda _: (TRUE, values)))
        event = Event("send", kind.name, tuple(arguments), to)
        self.happen(replace(path, state=state), event, then)

    # --- loops that look for the first -------------------------------------------------------

    def _find(self, statement: ir.For, test: ir.If, path: Path, then: Then, back: Then, depth: int) -> None:
        """A loop that ends with the first element for which a test is true: see NOTE(first found)."""
        (group,), there = self._searched(path, statement)
        self._check(f"no fault on line {statement.span.line}", path, there)
        path = path.where("a value", there)
        evaluation = self._evaluation(path.state, path.locals)

        def of(terms: tuple[Term, ...]) -> tuple[Term, Shape, Value]:
            condition, item = group.item(terms)
            return condition, item, evaluation.value(test.condition, {**path.locals, statement.name: item})

        def passed(terms: tuple[Term, ...]) -> Term:
            condition, _, found = of(terms)
            return implies(condition, conj((found.defined, opposite(found.term))))

        (each,) = variables(group.types, evaluation.name)
        (first,) = (local(one) for one in self._loop_variables(group.types))
        condition, item, found = of((first,))
        earlier = forall((each,), implies(ir.Comparison(BOOL, "<", local(each), first), passed((local(each),))))
        head = path.where("in the loop", condition).where("passed", earlier)
        self._check(f"no fault on line {test.span.line}", head, found.defined)
        known = sure(head, found).where(f"line {test.span.line}", found.term)
        self.run(test.then, replace(known, locals={**known.locals, statement.name: item}), then, back, depth)
        then(path.where("nothing found", forall((each,), passed((local(each),)))))

    def _searched(self, path: Path, statement: ir.For) -> tuple[tuple[Group, ...], Term]:
        """What a search goes through, in the order of the terms of one group: processes, or places in a queue."""
        if statement.domain is None:
            return self._domain(path, statement)
        found = self._value(path, statement.domain)
        return (places(found.shape, statement.domain.type),), found.defined

    # --- loops that are cut ------------------------------------------------------------------

    def _while(
        self, statement: ir.While, path: Path, then: Then, back: Then, depth: int, *, first: bool = False
    ) -> None:
        """`first`: the first round is over, see NOTE(first round)."""
        if self.unrolled is not None:
            self._unroll(statement, path, then, back, depth, self.unrolled)
            return
        if not first and self._is_denied(statement.condition):
            test = self._value(path, statement.condition)
            known = sure(path, test)
            then(restored(known.where("no round", opposite(test.term)), path))

            def again(after: Path) -> None:
                self._while(statement, restored(after, path), then, back, depth, first=True)

            self.run(statement.body, known.where("the first round", test.term), again, back, depth)
            return
        head, stays = self._cut(statement, path)
        test = self._value(head, statement.condition)
        known = sure(head, test)
        inside = known.where("another round", test.term)

        def left(after: Path) -> None:
            back(after.knowing(stays))

        self.run(statement.body, inside, lambda after: self._keeps(after, statement), left, depth)
        then(restored(known.where("no other round", opposite(test.term)).knowing(stays), path))

    def _is_denied(self, test: ir.Expr) -> bool:
        """Whether an invariant says of each process that the test is false, also where a loop begins."""
        return any(_denies(one.body, test) for one in self.link.claimed(inside=True))

    def _unroll(self, statement: ir.While, path: Path, then: Then, back: Then, depth: int, left: int) -> None:
        test = self._value(path, statement.condition)
        known = sure(path, test)
        then(known.where("no other round", opposite(test.term)))
        if left:

            def again(after: Path) -> None:
                self._unroll(statement, restored(after, path), then, back, depth, left - 1)

            self.run(statement.body, known.where("another round", test.term), again, back, depth)

    def _unroll_for(self, statement: ir.For, path: Path, then: Then, back: Then, depth: int) -> None:
        if statement.domain is None:
            raise Unsupported("a loop over all processes is not unrolled")
        found = self._value(path, statement.domain)
        if not isinstance(found.shape, Window):
            raise Unsupported("a loop over a collection without an order is not unrolled")
        start, queue = sure(path, found), found.shape

        def round_(before: Path, number: int) -> None:
            index = ir.Arithmetic(NAT, "+", queue.first, ir.Literal_(NAT, number))
            another = ir.Comparison(BOOL, "<", index, queue.next)
            then(restored(before.where("no other round", negation(another)), path))
            if number < self.elements:
                inside = before.where("another round", another)
                inside = replace(inside, locals={**inside.locals, statement.name: queue.at(index)})
                self.run(statement.body, inside, lambda after: round_(restored(after, path), number + 1), back, depth)

        round_(start, 0)

    def _cut(self, loop: ir.While | ir.For, path: Path) -> tuple[Path, tuple[ir.NamedFormula, ...]]:
        """The head of a loop: the invariants are checked, and all that is known of what a round may change.

        And what the rounds leave as it was. That is of use where the loop ends: a round keeps what is true at the head.
        """
        self._keeps(path, loop)
        found = effects(self.link, loop.body)
        version = f"#{self._number()}"
        state, new = forgotten(path.state, self.link, version, found.variables, found.kinds, found.symbols)
        self.symbols.extend(new)
        locals_ = dict(path.locals)
        for name in found.locals & path.variables:
            locals_[name] = any_like(locals_[name], f"{name}{version}")
        known = (ir.NamedFormula(one.name, state.about_machine(one.body)) for one in self.known)
        in_flight = (*place_facts(state), *facts_of_flight(self.link.protocol, state)) if found.kinds else ()
        facts = (*facts_of_new(self.link, version, found.variables), *in_flight)
        invariants = (*self.invariants(state, inside=True, also=self._also(loop)), *self.invariants_of_self(state))
        conditions = (*path.conditions, *invariants, *known, *facts)
        return replace(path, state=state, locals=locals_, conditions=conditions), tuple(
            self._what_stays(loop, path, state)
        )

    def _what_stays(self, loop: ir.While | ir.For, path: Path, after: State) -> Iterator[ir.NamedFormula]:
        """What the rounds of a loop leave as it was: see NOTE(frames)."""
        changes, given = changes_of(self.link, loop.body), names_given((loop,))
        of_sends = changes_of(self.link, sends_of(self.link)) if delivers(self.link, loop) else {}
        names = self._evaluation(after, {}).name
        for variable in self.link.protocol.state:
            own = changes.get(variable.name, ())
            before, now = path.state.mine(variable.name), after.mine(variable.name)
            stays: Term = TRUE
            if own and only_added_to(own):
                stays = what_stays(before, now, variable.type, names)
            elif variable.name in of_sends or given is None:
                continue
            elif own and (key := only_key(own, given)) is not None:
                try:
                    stays = other_entries(before, now, variable.type, self._value(path, key).shape, names)
                except Unsupported:
                    continue
            if stays != TRUE:
                yield ir.NamedFormula(f"{variable.name} stays", stays)

    def _keeps(self, path: Path, loop: ir.While | ir.For) -> None:
        for goal, claim in self.kept(path.state, inside=True, also=self._also(loop)):
            self._check(f"the loop on line {loop.span.line} keeps {goal.name}", path, goal.body, claim=claim)

    def _also(self, loop: ir.While | ir.For) -> frozenset[str]:
        """What is between steps, and true at the head of this loop, too: see NOTE(sends at heads)."""
        return between_at_heads(self.link) if self.link.reactive and delivers(self.link, loop) else frozenset()

    def _for(self, statement: ir.For, path: Path, then: Then, back: Then, depth: int) -> None:
        if statement.ref:
            self._for_ref(statement, path, then, depth)
            return
        if effects(self.link, statement.body).only_sends:
            start = Rounds(path, (), ())
            self._rounds((statement,), start, depth, lambda done: self._all_sent(done, path, then))
            return
        test = test_of_search(statement)
        if test is not None:
            self._find(statement, test, path, then, back, depth)
            return
        entries = entries_of(statement)
        if entries:
            then(self._entrywise(entries, path))
            return
        if self.unrolled is not None:
            self._unroll_for(statement, path, then, back, depth)
            return
        groups, there = self._domain(path, statement)
        self._check(f"no fault on line {statement.span.line}", path, there)
        head, stays = self._cut(statement, path.where("a value", there))

        def left(after: Path) -> None:
            back(after.knowing(stays))

        for group in groups:
            variables = self._loop_variables(group.types)
            condition, item = group.item(locals_of(variables))
            inside = replace(head.where("in the loop", condition), locals={**head.locals, statement.name: item})
            if statement.domain is not None and takes_out_its_own(self.link, statement):
                own = ir.Member(BOOL, ir.Local(statement.variable, statement.name), statement.domain)
                inside = inside.where(
                    "not visited before", self._evaluation(inside.state, inside.locals).value(own).term
                )
            self.run(statement.body, inside, lambda after: self._keeps(after, statement), left, depth)
        then(restored(head.knowing(stays), path))

    def _for_ref(self, statement: ir.For, path: Path, then: Then, depth: int) -> None:
        """All rounds at once: see NOTE(elementwise)."""
        if not changes_elements(statement):
            raise Unsupported(f"`for ref {statement.name}` that changes more than its elements has no encoding")
        assert statement.domain is not None
        domain = statement.domain
        found = self._value(path, domain)
        start = sure(path, found)
        group = places(found.shape, domain.type)
        variables = self._loop_variables(group.types)
        there, element = group.item(locals_of(variables))
        inside = start.where("in the loop", there)
        inside = replace(inside, locals={**inside.locals, statement.name: element})
        ways: list[tuple[list[Term], Shape]] = []

        def end(after: Path) -> None:
            more = after.conditions[len(inside.conditions) :]
            ways.append(([each.body for each in more], after.locals[statement.name]))

        self.run(statement.body, inside, end, end, depth)
        if not ways:  # no element is there, or a round is a fault, which is checked
            then(start)
            return
        change = with_elements(variables, joined(ways), domain.type)
        self._change(start, domain, change, then, read=True)


def _denies(invariant: ir.Expr, test: ir.Expr) -> bool:
    """Whether the invariant, or a part of it, says of each process, in these words, that the test is false."""
    match invariant:
        case ir.Quantified(kind="forall", variables=(ir.Bound(type=type_, name=name, domain=None),), body=body):
            said = instantiated(test, {}, ir.Local(PROCESS, name), ())
            return type_ == PROCESS and any(
                each == ir.Not(BOOL, said) or said == ir.Not(BOOL, each) for each in operands(body, "and")
            )
        case ir.Connective(operator="and", left=left, right=right):
            return _denies(left, test) or _denies(right, test)
        case _:
            return False
