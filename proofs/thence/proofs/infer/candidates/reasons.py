"""What a transition leaves behind, what stands in its way, and what it can do no more.

Invariants often speak of these, and the text of a machine shows them. They are candidates, nothing more: whether one
is true is found out as for any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Literal, TypeGuard

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Sort
from thence.proofs.infer.candidates.orders import is_ordered
from thence.proofs.logic.formula import (
    TRUE,
    children,
    conj,
    disj,
    equal,
    exists,
    forall,
    free_locals,
    local,
    map_children,
    negation,
    operands,
    substitute,
    symbols_of,
)
from thence.proofs.machine.obligations import state_properties
from thence.proofs.machine.steps.statements import split
from thence.proofs.machine.transitions import Action, actions

CAUSAL = {"before", "hb", "past"}
"""The relations of the history that say which message is later than another one, for whatever reason."""


MAKERS = 4
"""If more transitions make a relation true, what excludes all of them together is not looked for."""


def reasons_of(action: Action, machine: ir.Machine, *, few: bool = False) -> Iterator[ir.Expr]:
    """All of them, or without the less likely causes. Solvers find them hard."""
    yield from _causes(action, machine, few=few)
    yield from _blocks(action, machine)
    yield from _shadows(action)
    yield from _impossible(action, machine)
    for told in _told(action, machine):
        yield from _causes(told, machine, few=True)
        yield from _impossible(told, machine)
    yield from along_an_order(machine)


def come_first(machine: ir.Machine) -> bool:
    """Whether they are likely to be needed: something can stand in the way of a transition.

    Of a block they say which messages it is later than: that matters where what is stated speaks of causal order.
    """
    causal = any(symbols_of(stated) & CAUSAL for stated in _stated(machine))
    every = actions(machine)
    blocked = causal and any(True for action in every for _ in _blocks(action, machine))
    forms = (form for action in every for form in (action, *_told(action, machine)))
    return blocked or any(True for form in forms for _ in _impossible(form, machine))


def _stated(machine: ir.Machine) -> Iterator[ir.Expr]:
    for each in (*machine.invariants, *state_properties(machine)):
        yield each.body


def _causes(action: Action, machine: ir.Machine, *, few: bool) -> Iterator[ir.Expr]:
    """What a transition leaves behind: some guards were true of some values of its parameters.

    Whatever the transition marks, `decided(v)`, it marks for a reason, `exists q. ...`. Where the guards speak of q
    alone, this says that there is such a q at all, if that can change: `exists q. forall n. member(n, q) implies
    ready(n)`. Of all that is needed of a quorum in some round, it hides both. Only a `few` are of parameters that the
    effect does not show: these are the likely ones.
    """
    parts = [part for guard in action.guards for part in split(guard.body)]
    written = {name for update in action.updates for part in _written(update) for name in free_locals(part)}
    changed = _changed(machine)
    positive = [part for part in parts if not isinstance(part, ir.Not)]
    yield from (exists(hidden, part) for part, hidden, _ in _needs(action, ()) if len(hidden) > 1)
    for chosen in (*((part,) for part in positive), *combinations(positive, 2)):
        body = conj(chosen)
        used = [each for each in action.parameters if each.name in free_locals(body)]
        for hidden in used:
            is_shown = hidden.name in written
            at_all = not is_shown and bool(symbols_of(body) & changed)
            if isinstance(hidden.type, Sort) and (len(used) > 1 or at_all) and not (few and is_shown):
                yield exists((hidden,), body)


def _told(action: Action, machine: ir.Machine) -> Iterator[Action]:
    """The transition with what others have said for what it has heard of them, and with these guards alone.

    Where `decide(n, v, q)` needs `forall m. member(m, q) implies heard(n, m, v)`, and n hears only what m has voted,
    all of q have voted v. This is true of whatever is decided, and of what can still be decided.
    """
    guards = [each for guard in action.guards for part in split(guard.body) for each in _from_sources(part, machine)]
    if guards:
        yield replace(action, guards=tuple(ir.NamedFormula("told", each) for each in guards))


def _from_sources(part: ir.Expr, machine: ir.Machine) -> Iterator[ir.Expr]:
    """A guard about all with the source of what it needs of them, if this speaks of them and not of who heard it."""
    if isinstance(part, ir.Quantified) and part.kind == "forall":
        needed = part.body.right if _is_implication(part.body) else part.body
        if isinstance(needed, ir.Apply):
            bound = {each.name for each in part.variables} & free_locals(needed).keys()
            for source in sources(needed, machine):
                if bound <= free_locals(source).keys() < free_locals(needed).keys():
                    body = replace(part.body, right=source) if _is_implication(part.body) else source
                    yield replace(part, body=body)


def sources(needed: ir.Apply, machine: ir.Machine) -> Iterator[ir.Apply]:
    """Relations that are true of its arguments whenever this one is, unless it is true at first: all that makes it true
    needs them, and nothing makes them false."""
    if only_grows(needed.symbol, machine):
        first, *others = [each.known() for each in _makers(needed, machine)]
        for part in first:
            is_shared = all(part in other for other in others)
            if is_shared and isinstance(part, ir.Apply) and only_grows(part.symbol, machine):
                yield part


def only_grows(relation: str, machine: ir.Machine) -> bool:
    """Whether transitions change a relation, and no one makes it false."""
    updates = [update for action in actions(machine) for update in action.updates if update.symbol == relation]
    return bool(updates) and all(added(update) for update in updates)


def added(update: ir.Update) -> tuple[ir.Expr, ...]:
    """Where an update makes a relation true, and leaves it as it is elsewhere; nothing where it does something else."""
    if update.value == TRUE:
        return (TRUE,)
    itself = ir.Apply(BOOL, update.symbol, update.arguments)
    cases = operands(update.value, "or")
    return tuple(each for each in cases if each != itself) if itself in cases else ()


def _changed(machine: ir.Machine) -> set[str]:
    return set[str]().union(*(action.changed for action in actions(machine)))


def _written(update: ir.Update) -> Iterator[ir.Expr]:
    yield from update.arguments
    yield update.value


def _blocks(action: Action, machine: ir.Machine) -> Iterator[ir.Expr]:
    """What stands in the way of a transition, and which message stands before that.

    A guard `forall y. P(y) implies Q(y, m)` blocks m while `exists y. P(y) and not Q(y, m)`; a relation that a
    transition fills, `R(m, y) := Q(y, m)` or `R(m, y) := P(y) and Q(y, m)`, remembers the same. Of a message a,
    `before(a, y)` says that the block is due to something later than a. A function of m alone is a variable: what
    blocks src(m) blocks a process.
    """
    history = machine.delivery != "off"
    own = {symbol.name for symbol in machine.symbols}
    for body, y in (*_obstacles(action), *_remembered(action, own)):
        if history and y.type == MESSAGE:
            first = ir.Local(MESSAGE, "a_")
            later: ir.Expr = ir.Apply(BOOL, "before", (first, local(y)))
            if machine.delivery != "unicast":  # a message may be in its own way: at another of its destinations
                later = disj((later, equal(first, local(y))))
            yield exists((y,), conj((_general(body, action, y), later)))


def _obstacles(action: Action) -> Iterator[tuple[ir.Expr, ir.Variable]]:
    for guard in action.guards:
        for part in split(guard.body):
            if isinstance(part, ir.Quantified) and part.kind == "forall" and len(part.variables) == 1:
                (bound,) = part.variables
                if isinstance(bound.type, Sort) and bound.domain is None:
                    yield denied(part.body), ir.Variable(bound.name, bound.type)


def _remembered(action: Action, own: Collection[str]) -> Iterator[tuple[ir.Expr, ir.Variable]]:
    for update in action.updates:
        if update.value.type == BOOL and len(update.binders) == 1 and update.symbol in own:
            (binder,) = update.binders
            if isinstance(update.value, ir.Apply) or _is_conjunction(update.value):
                yield update.value, binder


def _general(body: ir.Expr, action: Action, y: ir.Variable) -> ir.Expr:
    """The formula with a variable for f(m), where it speaks of a parameter m only by that."""
    for parameter in action.parameters:
        terms = {
            part
            for part in parts(body)
            if isinstance(part, ir.Apply)
            and part.arguments == (local(parameter),)
            and isinstance(part.type, Sort)
            and parameter.name != y.name
        }
        if len(terms) == 1:
            (term,) = terms
            other = _replaced(body, term, ir.Local(term.type, f"{parameter.name}_"))
            if parameter.name not in free_locals(other):
                return other
    return body


def along_an_order(machine: ir.Machine) -> Iterator[ir.Expr]:
    """That somebody at a place of an order, or before or behind it, has a property.

    The place is a function without arguments that transitions change, as that of a token which goes round: `exists k.
    black(k) and k <= token()` says that the token has not met all who are black.
    """
    changed = _changed(machine)
    places = [each for each in machine.symbols if not each.parameters and each.name in changed]
    for place, relation in product(places, machine.symbols):
        if place.result == NAT or not is_ordered(place.result, machine.ordered) or relation.name not in changed:
            continue
        for parameter in relation.parameters:
            if relation.result == BOOL and parameter.type == place.result:
                has = ir.Apply(BOOL, relation.name, tuple(local(each) for each in relation.parameters))
                here, there = local(parameter), ir.Apply(place.result, place.name, ())
                for order in (
                    ir.Comparison(BOOL, "<=", here, there),
                    ir.Comparison(BOOL, "<", here, there),
                    ir.Comparison(BOOL, "<", there, here),
                ):
                    yield exists((parameter,), conj((has, order)))


def _shadows(action: Action) -> Iterator[ir.Expr]:
    """Of a relation that a guard has under a quantifier, what is left without the arguments that it alone has.

    Where a guard says `forall d, w. voted(n, d, w) implies d <= c`, `exists w. voted(n, d, w)` says that n has voted
    in d.
    """
    for guard in action.guards:
        for part in parts(guard.body):
            if not isinstance(part, ir.Quantified) or part.kind not in ("forall", "exists"):
                continue
            inner = list(parts(part.body))
            for atom in inner:
                if isinstance(atom, ir.Apply) and atom.type == BOOL:
                    own = [each for each in part.variables if _is_only_in(each.name, atom, inner)]
                    rest = free_locals(atom).keys() - {each.name for each in own}
                    if own and rest and not (len(own) == len(part.variables) and part.body in (atom, negation(atom))):
                        yield ir.Quantified(BOOL, "exists", tuple(own), atom)


def _is_only_in(name: str, atom: ir.Expr, inner: Iterable[ir.Expr]) -> bool:
    """Whether all places of a name among the parts of a formula are in this atom, which is one of them."""
    there, everywhere = (
        sum(isinstance(part, ir.Local) and part.name == name for part in some) for some in (parts(atom), inner)
    )
    return 0 < there == everywhere


def _impossible(action: Action, machine: ir.Machine) -> Iterator[ir.Expr]:
    """That a transition can have an effect no more: what it needs of somebody can become true no more.

    Where `decide(v, q)` needs `forall n. member(n, q) implies vote(n, v)`, and only an n with `not voted(n)` votes,
    v is lost if of every q somebody has voted otherwise: `forall q. exists n. member(n, q) and not vote(n, v) and
    voted(n)`. Or it cannot have the effect before something else is known: where `end(r, q)` needs an answer of each
    member of q, and an answer of n passes on `stored(n, v)`, r does not end without v while of every q somebody who has
    stored v has not answered.
    """
    for part, hidden, gone in _needs(action, machine.ordered):
        for each in (*closed_to(gone, machine), *_told_by(gone, machine)):
            yield _lost(part, hidden, each)


def lost_instead(machine: ir.Machine) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Formulas that say of a transition that it has had an effect, or that it can have it now; each with one that says
    that it can have it no more, under the same names.

    What is true of whatever is decided is often true of all that can still be decided.
    """
    for action in (form for each in actions(machine) for form in (each, *_told(each, machine))):
        for part, hidden, needed in _needs(action, machine.ordered):
            for gone in closed_to(needed, machine):
                lost = _lost(part, hidden, gone)
                could = (exists(hidden, part), part) if hidden else (part,)
                has = [mark for mark in _marks(action) if free_locals(lost).keys() <= free_locals(mark).keys()]
                yield from ((each, lost) for each in (*has, *could))


@dataclass(frozen=True, slots=True)
class Lost:
    """That a transition can have its effect no more.

    Attributes:
        where: guards that never change and that speak of the same alone: where one is false, it can never have it.
        needed: what the transition needs of everybody.
        everybody: who that is, as variables of `needed`.
    """

    formula: ir.Expr
    where: tuple[ir.Expr, ...]
    needed: ir.Apply
    everybody: tuple[ir.Variable, ...]

    def given_by(self, arguments: Iterable[ir.Expr]) -> Iterator[ir.Expr]:
        """That one of these has given what is needed of everybody, under the names of the formula."""
        names = {*free_locals(self.formula), *(each.name for each in self.everybody)}
        if len(self.everybody) == 1 and free_locals(self.needed).keys() <= names:
            (somebody,) = self.everybody
            for each in arguments:
                if each.type == somebody.type and somebody.name in free_locals(self.needed):
                    yield substitute(self.needed, {somebody.name: each})


def lost_where(machine: ir.Machine) -> Iterator[Lost]:
    """What the transitions can do no more, each time with what they need for it."""
    changed = _changed(machine)
    for action in (form for each in actions(machine) for form in (each, *_told(each, machine))):
        guards = [part for guard in action.guards for part in split(guard.body) if not symbols_of(part) & changed]
        for part, hidden, needed in _needs(action, machine.ordered):
            for gone in closed_to(needed, machine):
                lost = _lost(part, hidden, gone)
                names = free_locals(lost).keys()
                where = (each for each in guards if each != part and free_locals(each))
                known = tuple(each for each in where if free_locals(each).keys() <= names)
                yield Lost(lost, known, needed, tuple(ir.Variable(each.name, each.type) for each in part.variables))


def settled(machine: ir.Machine) -> tuple[ir.Symbol, ...]:
    """The relations of one argument that no transition changes: who is honest, which ballots are fast."""
    changed = _changed(machine)
    return tuple(
        each
        for each in machine.symbols
        if each.result == BOOL and len(each.parameters) == 1 and each.name not in changed
    )


def _marks(action: Action) -> Iterator[ir.Apply]:
    return (ir.Apply(BOOL, each.symbol, each.arguments) for each in action.updates if each.value == TRUE)


def _needs(
    action: Action, ordered: Collection[str]
) -> Iterator[tuple[ir.Quantified, tuple[ir.Variable, ...], ir.Apply]]:
    """What a transition needs of all: the guard, the parameters that its effect does not show, and the relation.

    What it does in some round is also looked at in each round: then the round is not among these parameters.
    """
    effect = {name for mark in _marks(action) for name in free_locals(mark)}
    for guard in action.guards:
        for part in split(guard.body):
            if isinstance(part, ir.Quantified) and part.kind == "forall":
                needed = part.body.right if _is_implication(part.body) else part.body
                free = free_locals(part).keys()
                if isinstance(needed, ir.Apply) and free & effect:
                    hidden = tuple(each for each in action.parameters if each.name in free - effect)
                    yield part, hidden, needed
                    in_each = tuple(each for each in hidden if not is_ordered(each.type, ordered))
                    if in_each != hidden:
                        yield part, in_each, needed


def _lost(part: ir.Quantified, hidden: Sequence[ir.Variable], gone: ir.Expr) -> ir.Expr:
    """That of everybody who matters somebody lacks what is needed, and has what excludes it."""
    body = ir.Quantified(BOOL, "exists", part.variables, conj((denied(part.body), gone)))
    return forall(hidden, body)


def closed_to(needed: ir.Apply, machine: ir.Machine) -> Iterator[ir.Expr]:
    """What forbids a transition that would make the relation true: relations that it needs to be false; or an order,
    which all such transitions need: a replica that accepts in v only while `current(r) <= v` has left v where `v <
    current(r)`."""
    makers = list(_makers(needed, machine))
    forbidden = [list(_forbidding(maker, needed)) for maker in makers]
    orders = [dict.fromkeys(_passed(maker, machine)) for maker in makers]
    lacking = [list(_lacking(maker, machine)) for maker in makers]
    ways = [[*a, *b, *c] for a, b, c in zip(forbidden, orders, lacking, strict=True)]
    together = list(_together(ways))
    for each in dict.fromkeys(each for several in forbidden for each in several):
        if not together or all(each in way for way in ways):
            yield each
    first, *others = orders or [{}]
    yield from (each for each in first if all(each in other for other in others))
    yield from together


def _together(ways: Sequence[Sequence[ir.Expr]]) -> Iterator[ir.Expr]:
    """One fact of each list, where it takes more than one fact: an honest node votes only once, and others lie, so of
    an honest node that has voted `honest(n) and voted(n)` says that it does so no more."""
    if 1 < len(ways) <= MAKERS:
        found: dict[frozenset[ir.Expr], None] = {}
        for chosen in product(*ways):
            facts = frozenset(chosen)
            if not any(negation(fact) in facts for fact in facts):
                found.setdefault(facts)
        least = [facts for facts in found if not any(other < facts for other in found)]
        yield from (conj(sorted(facts, key=str)) for facts in least if len(facts) > 1)


def _forbidding(maker: _Maker, needed: ir.Apply) -> Iterator[ir.Expr]:
    """Relations that a transition needs to be false."""
    for part in maker.known():
        if isinstance(part, ir.Not) and isinstance(part.operand, ir.Apply) and part.operand.symbol != needed.symbol:
            yield part.operand


def _lacking(maker: _Maker, machine: ir.Machine) -> Iterator[ir.Expr]:
    """That something is false which the transition needs, and which never changes: a relation, or an equality."""
    for part in maker.known():
        is_equality = isinstance(part, ir.Comparison) and part.operator == "="
        if (isinstance(part, ir.Apply) or is_equality) and not symbols_of(part) & _changed(machine):
            yield negation(part)


def _passed(maker: _Maker, machine: ir.Machine) -> Iterator[ir.Expr]:
    """The orders of places in an ordered sort that forbid a transition: of one that it needs to be at a place, and that
    only goes up, that it is above."""
    for part in maker.known():
        if isinstance(part, ir.Comparison) and part.left.type != NAT and is_ordered(part.left.type, machine.ordered):
            if part.operator == "=":
                for at, place in ((part.left, part.right), (part.right, part.left)):
                    if isinstance(at, ir.Apply) and _only_rises(at.symbol, machine):
                        yield ir.Comparison(BOOL, "<", place, at)
            elif symbols_of(part) & _changed(machine):
                turned: Literal["<", "<="] = "<" if part.operator == "<=" else "<="
                yield ir.Comparison(BOOL, turned, part.right, part.left)


def _only_rises(function: str, machine: ir.Machine) -> bool:
    """Whether transitions change a place in an order, and need it to be below the new one."""
    updates = [(action, each) for action in actions(machine) for each in action.updates if each.symbol == function]
    return bool(updates) and all(_raises(action, update) for action, update in updates)


def _raises(action: Action, update: ir.Update) -> bool:
    itself = ir.Apply(update.value.type, update.symbol, update.arguments)
    guards = [part for guard in action.guards for part in split(guard.body)]
    orders = (part for part in guards if isinstance(part, ir.Comparison) and part.operator != "=")
    return any((part.left, part.right) == (itself, update.value) for part in orders)


@dataclass(frozen=True, slots=True)
class _Maker:
    """A way in which a transition makes a relation true of some arguments.

    Attributes:
        named: by the names of parameters, and of binders of an update that does so under a condition, these arguments.
        condition: what the update needs besides the guards.
    """

    action: Action
    named: Mapping[str, ir.Expr]
    condition: ir.Expr

    def known(self) -> list[ir.Expr]:
        """What has to be true before, as far as it speaks of the arguments alone."""
        needed = (*(guard.body for guard in self.action.guards), self.condition)
        whole = [part for body in needed for part in split(body)]
        return [substitute(part, self.named) for part in whole if free_locals(part).keys() <= self.named.keys()]


def _makers(needed: ir.Apply, machine: ir.Machine) -> Iterator[_Maker]:
    """The ways in which transitions make a relation true of its arguments, and leave it as it is elsewhere."""
    for action in actions(machine):
        for update in action.updates:
            if update.symbol != needed.symbol:
                continue
            own = {parameter.name for parameter in action.parameters}
            for condition in added(update):
                # a binder stands for everybody, unless a condition says for whom
                names = own if condition == TRUE else own | {each.name for each in update.binders}
                pairs = zip(update.arguments, needed.arguments, strict=True)
                named = {each.name: value for each, value in pairs if isinstance(each, ir.Local) and each.name in names}
                yield _Maker(action, named, condition)


def _told_by(needed: ir.Apply, machine: ir.Machine) -> Iterator[ir.Expr]:
    """Facts that a transition passes on when it makes the relation true: `stored(n, v)`, where `answer(n, r)` says
    `forall v: saw(r, v) := saw(r, v) or stored(n, v)`."""
    own = {symbol.name for symbol in machine.symbols}
    for maker in _makers(needed, machine):
        named = maker.named
        for update in (each for each in maker.action.updates if each.symbol in own):
            binders = {binder.name: ir.Local(binder.type, f"{binder.name}_") for binder in update.binders}
            for fact in operands(update.value, "or"):
                if isinstance(fact, ir.Apply) and fact.type == BOOL and fact.symbol != update.symbol:
                    free = free_locals(fact).keys()
                    if free & binders.keys() and free & named.keys() and free <= {*named, *binders}:
                        yield substitute(fact, {**named, **binders})


def _replaced(expr: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr:
    return new if expr == old else map_children(expr, lambda part: _replaced(part, old, new))


def denied(expr: ir.Expr) -> ir.Expr:
    """That the formula is false: of an implication, what it assumes and not what it says."""
    return conj((expr.left, negation(expr.right))) if _is_implication(expr) else negation(expr)


def _is_conjunction(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Connective) and expr.operator == "and"


def _is_implication(expr: ir.Expr) -> TypeGuard[ir.Connective]:
    return isinstance(expr, ir.Connective) and expr.operator == "implies"


def parts(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The expression, and all expressions in it."""
    yield expr
    for part in children(expr):
        yield from parts(part)
