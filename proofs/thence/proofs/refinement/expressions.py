"""Expressions of a protocol as formulas, each with the condition under which it has a value.

NOTE(values): the interpreter evaluates from left to right and stops early; a part that is not evaluated may have no
value. Connectives follow that. A quantifier here has a value only where its body has one for each value of its
variables: that demands more than the interpreter does, never less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.topology import BUILT_IN
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Type, has_zero
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    conditional,
    conj,
    disj,
    exists,
    forall,
    implies,
    negation,
)
from thence.proofs.refinement.shapes.changes import merged
from thence.proofs.refinement.shapes.contents import elements, equality, in_bag, in_numbered
from thence.proofs.refinement.shapes.flat import alike, flat, is_bag, locals_of, same, term_of, variables
from thence.proofs.refinement.shapes.kinds import (
    Bag,
    Group,
    Leaf,
    Members,
    Names,
    Numbered,
    Parts,
    Perhaps,
    Shape,
    Table,
    Term,
    Window,
    within,
)
from thence.proofs.refinement.shapes.zeros import empty_from, not_zero, something_in, something_inside, zero_shape
from thence.proofs.refinement.states import SELF, State, channel_of, place_of


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression, and the condition under which it has one."""

    shape: Shape
    defined: Term = TRUE

    @property
    def term(self) -> Term:
        return term_of(self.shape)


@dataclass(slots=True)
class Evaluation:
    """Evaluates expressions in one state. `own`: what `self` is; `locals` are parameters, lets and loop variables.

    `prefix` begins the names of bound variables; names with `#` are no names of a text.
    """

    protocol: ir.Protocol
    state: State
    own: Term = SELF
    locals: Mapping[str, Shape] = field(default_factory=dict)
    prefix: str = "b"
    _named: int = 0

    def name(self) -> str:
        self._named += 1
        return f"{self.prefix}#{self._named}"

    def formula(self, expr: ir.Expr) -> Term:
        """The formula that the expression has a value and is true."""
        value = self.value(expr)
        return conj((value.defined, value.term))

    def value(self, expr: ir.Expr, known: Mapping[str, Shape] | None = None) -> Value:
        """The value. Raises: Unsupported."""
        bound = self.locals if known is None else known

        def sub(part: ir.Expr) -> Value:
            return self.value(part, bound)

        match expr:
            case ir.Literal_() if expr.type in (BOOL, NAT):
                return Value(Leaf(expr))
            case ir.Zero(type=type_):
                return Value(zero_shape(type_))
            case ir.Local(name=name):
                return Value(bound[name])
            case ir.SelfProcess():
                return Value(Leaf(self.own))
            case ir.StateOf(name=name, process=None):
                return Value(self.state.mine(name) if self.own is SELF else self.state.of(name, self.own))
            case ir.StateOf(name=name, process=ir.Expression() as process):
                whose = sub(process)
                return Value(self.state.of(name, whose.term), whose.defined)
            case ir.FieldOf(target=target, name=name):
                record = sub(target)
                assert isinstance(record.shape, Parts) and isinstance(target.type, Record)
                labels = [label for label, _ in target.type.fields]
                return Value(record.shape.fields[labels.index(name)], record.defined)
            case ir.Attribute(target=target, name="dsts") if "to" in self.state.machine:
                message = sub(target)
                to = self.state.machine["to"]
                return Value(Members(lambda terms: to((message.term, *terms))), message.defined)
            case ir.Attribute(target=target, name="src" | "dst" as name):
                message = sub(target)
                return Value(Leaf(ir.Apply(PROCESS, name, (message.term,))), message.defined)
            case ir.Lookup(target=target, key=key):
                return self._lookup(sub(target), sub(key), target.type)
            case ir.ElementAt(target=target, index=index):
                return self._element_at(sub(target), sub(index))
            case ir.Query():
                return self._query(expr, sub(expr.target))
            case ir.Construct(values=values):
                parts = [sub(value) for value in values]
                return Value(Parts(tuple(part.shape for part in parts)), conj(part.defined for part in parts))
            case ir.SetOf(items=items):
                return self._set_of([sub(item) for item in items], expr.type)
            case ir.Some(item=item):
                inside = sub(item)
                return Value(Perhaps(TRUE, inside.shape), inside.defined)
            case ir.Apply(symbol="window", arguments=(start,)):
                assert isinstance(expr.type, Collection)
                number = sub(start)
                return Value(empty_from(number.term, expr.type), number.defined)
            case ir.Apply():
                return self._apply(expr, [sub(argument) for argument in expr.arguments])
            case ir.Not(operand=operand):
                denied = sub(operand)
                return Value(Leaf(_opposite(denied.term)), denied.defined)
            case ir.Connective():
                return _connective(expr.operator, sub(expr.left), sub(expr.right))
            case ir.Comparison():
                return self._comparison(expr, bound)
            case ir.Member(item=item, collection=collection):
                return self._member(sub(item), sub(collection), collection.type)
            case ir.Arithmetic():
                return _arithmetic(expr.operator, sub(expr.left), sub(expr.right))
            case ir.IsEmpty(target=target):
                held = sub(target)
                return Value(Leaf(_opposite(_not_empty(held.shape, target.type))), held.defined)
            case ir.IsNone(target=target):
                option = sub(target)
                assert isinstance(option.shape, Perhaps)
                return Value(Leaf(_opposite(option.shape.some)), option.defined)
            case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
                return self._conditional(sub(condition), sub(then), sub(otherwise))
            case ir.Quantified():
                return self._quantified(expr, bound)
            case ir.Literal_() | ir.StateOf() | ir.Attribute() | ir.InFlight() | ir.Placed() | ir.Acted():
                raise Unsupported(f"`{type(expr).__name__}` has no encoding")
            case _:
                assert_never(expr)

    def _set_of(self, members: Sequence[Value], type_: Type) -> Value:
        defined = conj(member.defined for member in members)
        if is_bag(type_):
            return Value(Bag(tuple(_one(member.shape) for member in members)), defined)
        terms = [flat(member.shape) for member in members]
        return Value(Members(lambda wanted: disj(same(wanted, each) for each in terms)), defined)

    def _conditional(self, test: Value, then: Value, otherwise: Value) -> Value:
        defined = conj(
            (test.defined, implies(test.term, then.defined), implies(_opposite(test.term), otherwise.defined))
        )
        return Value(merged(test.term, then.shape, otherwise.shape), _settled(defined, then, otherwise, test))

    def _lookup(self, target: Value, key: Value, type_: ir.Expr | object) -> Value:
        assert isinstance(type_, Map) and isinstance(target.shape, Table)
        terms = flat(key.shape)
        there = TRUE if has_zero(type_.value) else target.shape.has(terms)
        return Value(target.shape.at(terms), conj((target.defined, key.defined, there)))

    def _element_at(self, target: Value, index: Value) -> Value:
        """An element of a sliding array or map by its number."""
        held = target.shape
        assert isinstance(held, Window | Numbered)
        inside = within(held.first, index.term, held.next)
        there = inside if isinstance(held, Window) else held.has(index.term)
        return Value(held.at(index.term), conj((target.defined, index.defined, there)))

    def _query(self, expr: ir.Query, target: Value) -> Value:
        match expr.name, target.shape:
            case "size", Window(first=first, next=following):
                return Value(Leaf(ir.Arithmetic(NAT, "-", following, first)), target.defined)
            case "first", Window(first=first, at=at) if _is_queue(expr.target.type):
                return Value(at(first), conj((target.defined, something_inside(target.shape))))
            case "peek", Window(first=first, at=at):
                return Value(at(first), conj((target.defined, something_inside(target.shape))))
            case "first", Window(first=end) | Numbered(first=end):
                return Value(Leaf(end), target.defined)
            case "next", Window(next=end) | Numbered(next=end):
                return Value(Leaf(end), target.defined)
            case "value", Perhaps(some=there, item=item):
                return Value(item, conj((target.defined, there)))
            case _:
                raise Unsupported(f"`{expr.name}` of a `{expr.target.type}` has no encoding")

    def _apply(self, expr: ir.Apply, arguments: Sequence[Value]) -> Value:
        constant = next((one for one in self.protocol.constants if one.name == expr.symbol), None)
        if constant is not None and not arguments:
            if constant.type == PROCESS:
                return Value(Leaf(role(constant)))
            return Value(Leaf(ir.Literal_(constant.type, constant.value)))
        if self.protocol.network.tree and expr.type == BUILT_IN["tree"].get(expr.symbol):
            return Value(self.state.others(expr.symbol, self.own))
        if expr.symbol not in self.state.machine:
            raise Unsupported(f"`{expr.symbol}` has no encoding")
        terms = tuple(argument.term for argument in arguments)
        return Value(Leaf(self.state.machine[expr.symbol](terms)), conj(each.defined for each in arguments))

    def _member(self, item: Value, collection: Value, type_: Type) -> Value:
        defined = conj((item.defined, collection.defined))
        match collection.shape:
            case Members(has=has) | Table(has=has):
                return Value(Leaf(has(flat(item.shape))), defined)
            case Bag():
                assert isinstance(type_, Collection)
                return Value(Leaf(in_bag(collection.shape, item.shape, type_.item, self.name)), defined)
            case Numbered():
                assert isinstance(type_, Collection)
                return Value(Leaf(in_numbered(collection.shape, item.shape, type_.item, self.name)), defined)
            case Window():
                assert isinstance(type_, Collection)
                kind = type_.item
                groups = collection.shape.groups(lambda _, each: Leaf(equality(each, item.shape, kind, self.name)))
                found = (self._some(self._where_true(group)) for group in groups)
                return Value(Leaf(disj(found)), defined)
            case _:
                raise Unsupported(f"`in` a `{type_}` has no encoding")

    def _comparison(self, expr: ir.Comparison, bound: Mapping[str, Shape]) -> Value:
        counted = self._few(expr, bound)
        if counted is not None:
            return counted
        left, right = self.value(expr.left, bound), self.value(expr.right, bound)
        defined = conj((left.defined, right.defined))
        if expr.operator == "=":
            return Value(Leaf(_equality(left.shape, right.shape, expr, self.name)), defined)
        if expr.left.type not in (NAT, PROCESS):
            raise Unsupported(f"the order of `{expr.left.type}` has no encoding")
        return Value(Leaf(ir.Comparison(BOOL, expr.operator, left.term, right.term)), defined)

    # --- counts ------------------------------------------------------------------------------

    def _few(self, expr: ir.Comparison, bound: Mapping[str, Shape]) -> Value | None:
        """A sum of counts compared with 0 or 1: at most one, none, some, or exactly one. None for anything else."""
        counts, limit = _counts(expr.left), expr.right
        operator: str = expr.operator
        if counts is None and _counts(expr.right) is not None:
            counts, limit = _counts(expr.right), expr.left
            operator = {"=": "=", "<": ">", "<=": ">="}[operator]
        if counts is None or not isinstance(limit, ir.Literal_):
            return None
        known, number = [self._count(each, bound) for each in counts], int(limit.value)
        defined = conj(each.defined for each in known)
        groups = [group for each in known for group in each.groups]
        none, few = self._none(groups), self._at_most_one(groups)
        match operator, number:
            case ("=", 0) | ("<=", 0) | ("<", 1):
                said = none
            case ("=", 1):
                said = conj((few, _opposite(none)))
            case ("<=", 1) | ("<", 2):
                said = few
            case (">", 0) | (">=", 1):
                said = _opposite(none)
            case (">", 1) | (">=", 2):
                said = _opposite(few)
            case _:
                return None
        return Value(Leaf(said), defined)

    def _count(self, count: ir.Quantified, bound: Mapping[str, Shape]) -> _Counted:
        """The instances for which the body of a count is true."""
        if len(count.variables) != 1:
            raise Unsupported("a count over several variables")
        (variable,) = count.variables
        if isinstance(variable.domain, ir.Expression) and is_bag(variable.domain.type):
            raise Unsupported(f"a count over a `{variable.domain.type}`")
        groups, defined = self.groups(variable, bound)
        conditions = [defined]
        kept: list[Group] = []
        for group in groups:
            kept.append(self._where(group, variable.name, count.body, bound))
            bounds = variables(group.types, self.name)
            there, item = group.item(locals_of(bounds))
            inside = self.value(count.body, {**bound, variable.name: item})
            conditions.append(forall(bounds, implies(there, inside.defined)))
        return _Counted(tuple(kept), conj(_plain(each) for each in conditions))

    def _where(self, group: Group, name: str, body: ir.Expr, bound: Mapping[str, Shape]) -> Group:
        def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
            there, value = group.item(terms)
            return conj((there, self.value(body, {**bound, name: value}).term)), value

        return Group(group.types, item)

    def _where_true(self, group: Group) -> Group:
        """Those of a group of truth values that are true."""

        def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
            there, value = group.item(terms)
            return conj((there, term_of(value))), value

        return Group(group.types, item)

    def _none(self, groups: Sequence[Group]) -> Term:
        return conj(_opposite(self._some(group)) for group in groups)

    def _some(self, group: Group) -> Term:
        return something_in(group, self.name)

    def _at_most_one(self, groups: Sequence[Group]) -> Term:
        said: list[Term] = []
        for group in groups:
            one, other = variables(group.types, self.name), variables(group.types, self.name)
            both = conj((group.item(locals_of(one))[0], group.item(locals_of(other))[0]))
            said.append(forall((*one, *other), implies(both, same(locals_of(one), locals_of(other)))))
        said.extend(_opposite(conj((self._some(one), self._some(other)))) for one, other in combinations(groups, 2))
        return conj(said)

    # --- quantifiers -------------------------------------------------------------------------

    def groups(self, variable: ir.Bound, bound: Mapping[str, Shape]) -> tuple[tuple[Group, ...], Term]:
        """The values of a variable, and the condition under which there are such values."""
        if variable.domain is None:
            return (self.everything(variable.type),), TRUE
        if isinstance(variable.domain, ir.InFlight):
            return self._in_flight(variable.domain, bound), TRUE
        if isinstance(variable.domain, ir.Placed):
            return self._placed(variable.domain, bound)
        collection = self.value(variable.domain, bound)
        return elements(collection.shape, variable.domain.type), collection.defined

    def _in_flight(self, flying: ir.InFlight, bound: Mapping[str, Shape]) -> tuple[Group, ...]:
        """The packets of a kind; or those of them that are ahead of another: see NOTE(places)."""
        groups = self.state.network[flying.kind]
        if flying.ahead is None:
            return groups
        if self.state.end is None:
            return ()
        other = self.value(flying.ahead, bound).shape

        def on_channel(group: Group) -> Group:
            def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
                there, packet = group.item(terms)
                return conj((there, same(channel_of(packet), channel_of(other)))), packet

            return Group(group.types, item)

        return tuple(_with_place_below(on_channel(group), place_of(other)) for group in groups)

    def _placed(self, placed: ir.Placed, bound: Mapping[str, Shape]) -> tuple[tuple[Group, ...], Term]:
        """The elements of a queue with their places; or those of them before another."""
        queue = self.value(placed.queue, bound)
        assert isinstance(queue.shape, Window)
        groups = queue.shape.groups(lambda number, item: Parts((item, Leaf(number))))
        if placed.ahead is not None:
            other = self.value(placed.ahead, bound).shape
            groups = tuple(_with_place_below(group, place_of(other)) for group in groups)
        return groups, queue.defined

    def everything(self, type_: object) -> Group:
        """All processes, or all messages that were sent."""
        if type_ == PROCESS:
            return Group((PROCESS,), lambda terms: (TRUE, Leaf(terms[0])))
        if type_ == MESSAGE and "sent" in self.state.machine:
            return Group((MESSAGE,), lambda terms: (self.state.machine["sent"](terms), Leaf(terms[0])))
        raise Unsupported(f"a quantifier over all of `{type_}` has no encoding")

    def _quantified(self, expr: ir.Quantified, bound: Mapping[str, Shape]) -> Value:
        if expr.kind == "sum":
            raise Unsupported("`sum` has no encoding")
        if expr.kind == "count":
            return self._number_of(expr, bound)
        value = self._over(expr, list(expr.variables), bound)
        others = [self.groups(variable, bound)[1] for variable in expr.variables[1:]]  # also where the first is empty
        return replace(value, defined=conj((*others, value.defined)))

    def _number_of(self, expr: ir.Quantified, bound: Mapping[str, Shape]) -> Value:
        """The number of instances of which something is true: see NOTE(counting) in `logic.counting`.

        Of a queue only all elements are counted, or all that are ahead of one: their number is that of places.
        """
        (variable, *others) = expr.variables
        if not others and isinstance(variable.domain, ir.Placed) and expr.body == TRUE:
            return self._elements_ahead(variable.domain, bound)
        counted = self._count(expr, bound)
        numbers: list[Term] = []
        for group in counted.groups:
            if NAT in group.types:
                raise Unsupported("a count of elements of a queue or of numbers that is not compared with 0 or 1")
            bounds = tuple(ir.Bound(each.type, each.name) for each in variables(group.types, self.name))
            there, _ = group.item(tuple(ir.Local(each.type, each.name) for each in bounds))
            if bounds:
                numbers.append(ir.Quantified(NAT, "count", bounds, there))
            else:
                numbers.append(conditional(there, ir.Literal_(NAT, 1), ir.Literal_(NAT, 0)))
        return Value(Leaf(_sum(numbers)), counted.defined)

    def _elements_ahead(self, placed: ir.Placed, bound: Mapping[str, Shape]) -> Value:
        queue = self.value(placed.queue, bound)
        assert isinstance(queue.shape, Window)
        last = queue.shape.next if placed.ahead is None else place_of(self.value(placed.ahead, bound).shape)
        return Value(Leaf(ir.Arithmetic(NAT, "-", last, queue.shape.first)), queue.defined)

    def _over(self, expr: ir.Quantified, left: list[ir.Bound], bound: Mapping[str, Shape]) -> Value:
        if not left:
            return self.value(expr.body, bound)
        variable, *rest = left
        groups, there = self.groups(variable, bound)
        truths: list[Term] = []
        defined: list[Term] = [there]
        for group in groups:
            bounds = variables(group.types, self.name)
            condition, item = group.item(locals_of(bounds))
            inside = self._over(expr, rest, {**bound, variable.name: item})
            defined.append(_plain(forall(bounds, implies(condition, inside.defined))))
            if expr.kind == "forall":
                truths.append(_plain(forall(bounds, implies(condition, inside.term))))
            else:
                truths.append(_plain(exists(bounds, conj((condition, inside.term)))))
        joined = conj(truths) if expr.kind == "forall" else disj(truths)
        return Value(Leaf(joined), conj(defined))


@dataclass(frozen=True, slots=True)
class _Counted:
    groups: tuple[Group, ...]
    defined: Term


def _with_place_below(group: Group, limit: Term) -> Group:
    """Those of a group that have a smaller place."""

    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        there, each = group.item(terms)
        return conj((there, ir.Comparison(BOOL, "<", place_of(each), limit))), each

    return Group(group.types, item)


def _sum(numbers: Sequence[Term]) -> Term:
    if not numbers:
        return ir.Literal_(NAT, 0)
    first, *rest = numbers
    for each in rest:
        first = ir.Arithmetic(NAT, "+", first, each)
    return first


def _is_queue(type_: Type) -> bool:
    return isinstance(type_, Collection) and type_.kind == "queue"


def _not_empty(shape: Shape, type_: Type) -> Term:
    if isinstance(shape, Window | Numbered):
        return something_inside(shape)
    return not_zero(shape, type_)


def _one(value: Shape) -> Group:
    return Group((), lambda _: (TRUE, value))


def role(constant: ir.Constant) -> ir.Local:
    """The process that a role is."""
    return ir.Local(PROCESS, f"#role {constant.name}")


def roles(protocol: ir.Protocol) -> tuple[ir.Constant, ...]:
    """The roles of a protocol, in the order of its text."""
    return tuple(constant for constant in protocol.constants if constant.type == PROCESS)


def _counts(expr: ir.Expr) -> list[ir.Quantified] | None:
    match expr:
        case ir.Quantified(kind="count"):
            return [expr]
        case ir.Arithmetic(operator="+", left=left, right=right):
            one, other = _counts(left), _counts(right)
            return None if one is None or other is None else [*one, *other]
        case _:
            return None


def _plain(formula: Term) -> Term:
    """Without quantifiers and implications that say nothing."""
    if isinstance(formula, ir.Quantified):
        body = _plain(formula.body)
        return body if body in (TRUE, FALSE) else formula
    if isinstance(formula, ir.Connective) and formula.operator == "implies":
        return TRUE if formula.right == TRUE or formula.left == FALSE else formula
    return formula


def _opposite(term: Term) -> Term:
    if term in (TRUE, FALSE):
        return FALSE if term == TRUE else TRUE
    return negation(term)


def _settled(defined: Term, *parts: Value) -> Term:
    return TRUE if all(part.defined == TRUE for part in parts) else defined


def _equality(left: Shape, right: Shape, expr: ir.Comparison, names: Names) -> Term:
    type_ = expr.left.type
    for one, other in ((expr.left, right), (expr.right, left)):
        if isinstance(one, ir.Zero) and isinstance(type_, Collection | Map):
            return _opposite(not_zero(other, type_))
    return equality(left, right, type_, names)


def _connective(operator: str, left: Value, right: Value) -> Value:
    match operator:
        case "and":
            needed, term = implies(left.term, right.defined), conj((left.term, right.term))
        case "or":
            needed, term = implies(_opposite(left.term), right.defined), disj((left.term, right.term))
        case "implies":
            needed, term = implies(left.term, right.defined), _plain(implies(left.term, right.term))
        case _:
            needed, term = right.defined, alike(left.term, right.term)
    return Value(Leaf(term), conj((left.defined, TRUE if right.defined == TRUE else needed)))


def _arithmetic(operator: str, left: Value, right: Value) -> Value:
    defined = conj((left.defined, right.defined))
    match operator:
        case "*":
            raise Unsupported("a product has no encoding")
        case "-":
            enough = ir.Comparison(BOOL, "<=", right.term, left.term)
            return Value(Leaf(ir.Arithmetic(NAT, "-", left.term, right.term)), conj((defined, enough)))
        case "+" | "max" | "min":
            return Value(Leaf(ir.Arithmetic(NAT, operator, left.term, right.term)), defined)
        case _:
            raise AssertionError(operator)
