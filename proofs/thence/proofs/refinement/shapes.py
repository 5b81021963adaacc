"""Values of a protocol as formulas: relations and functions over processes, messages and numbers say what a value is.

A type becomes a shape. A leaf (truth value, number, process, message) is a term. A collection is a function from terms
to formulas, kept as a Python function, so that a changed value is the old one with a case in front of it.

NOTE(absent): a map entry whose value is the zero of its type is no entry (`dsl.run.values`), so a map to a type with a
zero has the keys at which its value is not zero. A map to processes, messages or records says of each key whether it is
there.

NOTE(window): a queue or sliding array is its elements at the numbers first <= i < next. `push` and `add` write at
`next`, `pop` and `remove` raise `first`. Where a queue begins says nothing, so queues are not compared.

NOTE(numbered): a sliding map is its elements at the numbers that it has, all below `next`; `first` is the least of
them, and `next` where there are none. No element has two numbers.

NOTE(bag): a set of values that hold collections is a bag of groups. The values of such a type are elements of a sort of
their own, and symbols that no step changes say what each is; a set that a variable has at first is a relation on them.
What a step adds is a group of one more. So a member may be there more than once, which changes the value of no formula
but a count, and counts are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Collection, Map, Record, Sort, Type, has_zero
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    conditional,
    conj,
    disj,
    equal,
    exists,
    forall,
    implies,
    negation,
    substitute,
)

Term: TypeAlias = ir.Expr
Names: TypeAlias = Callable[[], str]
"""Gives a name for a bound variable that nothing around it has."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A truth value, number, process or message."""

    term: Term


@dataclass(frozen=True, slots=True)
class Parts:
    """A record, its fields in order."""

    fields: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Perhaps:
    """An option; `item` means something only where `some` is true."""

    some: Term
    item: Shape


@dataclass(frozen=True, slots=True)
class Members:
    """A set of flat values."""

    has: Callable[[tuple[Term, ...]], Term]


@dataclass(frozen=True, slots=True)
class Bag:
    """A set of values that hold collections: see NOTE(bag)."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A map from flat keys. `has` is asked only where the values have no zero: see NOTE(absent)."""

    at: Callable[[tuple[Term, ...]], Shape]
    has: Callable[[tuple[Term, ...]], Term]


@dataclass(frozen=True, slots=True)
class Window:
    """A queue or sliding array: see NOTE(window)."""

    first: Term
    next: Term
    at: Callable[[Term], Shape]
    pushed: tuple[Pushed, ...] = ()
    """What a step has pushed. `at` knows it, too, but a solver finds it sooner where it has a name."""
    before: tuple[Term, Callable[[Term], Shape]] | None = None
    """`next` and `at` before that."""
    members: Callable[[Callable[[Term, Shape], Shape]], tuple[Group, ...]] | None = None
    """The elements as `groups` gives them, where they have names that a solver finds sooner than `at`."""

    @property
    def older(self) -> tuple[Term, Callable[[Term], Shape]]:
        """`next` and `at` of what no step has pushed."""
        return self.before or (self.next, self.at)

    def groups(self, item: Callable[[Term, Shape], Shape]) -> tuple[Group, ...]:
        """The elements; `item` is given the number and the element."""
        if self.members is not None:
            return self.members(item)
        last, at = self.older

        def old(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
            return within(self.first, terms[0], last), item(terms[0], at(terms[0]))

        def new(pushed: Pushed) -> Group:
            there = conj((pushed.condition, ir.Comparison(BOOL, "<=", self.first, pushed.number)))
            return Group((), lambda _: (there, item(pushed.number, pushed.item)))

        return (Group((NAT,), old), *map(new, self.pushed))


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was pushed, where the condition is true, and its number."""

    condition: Term
    number: Term
    item: Shape


@dataclass(frozen=True, slots=True)
class Numbered:
    """A sliding map: see NOTE(numbered)."""

    first: Term
    next: Term
    has: Callable[[Term], Term]
    at: Callable[[Term], Shape]

    def group(self) -> Group:
        """The elements."""
        return Group((NAT,), lambda terms: (self.has(terms[0]), self.at(terms[0])))


Shape: TypeAlias = Leaf | Parts | Perhaps | Members | Bag | Table | Window | Numbered


def refuse(type_: Type) -> Unsupported:
    return Unsupported(f"a value of type `{type_}` has no encoding")


# --- flat types -----------------------------------------------------------------------------------


def leaves(type_: Type) -> tuple[Type, ...]:
    """The types of the terms that a flat value is. Raises: Unsupported for a type with collections in it."""
    match type_:
        case Record(fields=fields):
            return tuple(leaf for _, part in fields for leaf in leaves(part))
        case Map() | Collection():
            raise Unsupported(f"a value of type `{type_}` stands in a key or an input")
        case _:
            return (type_,)


def is_flat(type_: Type) -> bool:
    """Whether values of the type hold no collections."""
    if isinstance(type_, Record):
        return all(is_flat(part) for _, part in type_.fields)
    return not isinstance(type_, Map | Collection)


def is_bag(type_: Type) -> bool:
    """Whether a value of the type is a bag: see NOTE(bag)."""
    return isinstance(type_, Collection) and type_.kind == "set" and not is_flat(type_.item)


def flat(shape: Shape) -> tuple[Term, ...]:
    """The terms of a flat value."""
    match shape:
        case Leaf(term=term):
            return (term,)
        case Parts(fields=fields):
            return tuple(term for part in fields for term in flat(part))
        case _:
            raise Unsupported("a collection stands in a key or an input")


def built(type_: Type, terms: Sequence[Term]) -> Shape:
    """The flat value that the terms are: the inverse of `flat`."""
    if not isinstance(type_, Record):
        return Leaf(terms[0])
    found: list[Shape] = []
    at = 0
    for _, part in type_.fields:
        size = len(leaves(part))
        found.append(built(part, terms[at : at + size]))
        at += size
    return Parts(tuple(found))


def term_of(shape: Shape) -> Term:
    """The term that a leaf is."""
    assert isinstance(shape, Leaf)
    return shape.term


def same(left: Sequence[Term], right: Sequence[Term]) -> Term:
    """Equality term by term; between truth values by connectives."""
    return conj(alike(one, other) for one, other in zip(left, right, strict=True))


def alike(left: Term, right: Term) -> Term:
    """Equality, simplified."""
    if left == right:
        return TRUE
    if left.type == BOOL:
        if TRUE in (left, right):
            return right if left == TRUE else left
        if FALSE in (left, right):
            return negation(right if left == FALSE else left)
        return ir.Connective(BOOL, "iff", left, right)
    if isinstance(left, ir.Literal_) and isinstance(right, ir.Literal_):
        return FALSE
    return equal(left, right)


# --- maps, zeros ---------------------------------------------------------------------------------


def table(value: Type, at: Callable[[tuple[Term, ...]], Shape], has: Callable[[tuple[Term, ...]], Term]) -> Table:
    """A map to values of this type: its keys are those whose value is not zero, or those that `has` names."""
    return Table(at, (lambda terms: not_zero(at(terms), value)) if has_zero(value) else has)


def zero_shape(type_: Type) -> Shape:
    """The zero of a type; of a type without zero, some value, which only a map without keys has."""
    match type_:
        case Record(fields=fields):
            return Parts(tuple(zero_shape(part) for _, part in fields))
        case Collection(kind="option", item=item):
            return Perhaps(FALSE, zero_shape(item))
        case Collection(kind="set"):
            return Bag(()) if is_bag(type_) else Members(lambda terms: FALSE)
        case Collection(kind="queue" | "sliding array" | "sliding map"):
            return empty_from(ir.Literal_(NAT, 0), type_)
        case Map(value=value):
            return Table(lambda terms: zero_shape(value), lambda terms: FALSE)
        case Sort():
            return Leaf(ir.Local(type_, f"#some {type_.name}"))
        case _:
            return Leaf(ir.Literal_(type_, False if type_ == BOOL else 0))


def empty_from(number: Term, type_: Collection) -> Window | Numbered:
    """A queue or sliding collection of this type, without elements, whose next number is this one."""
    if type_.kind == "sliding map":
        return Numbered(number, number, lambda index: FALSE, lambda index: zero_shape(type_.item))
    return Window(number, number, lambda index: zero_shape(type_.item))


def variables(types: Sequence[Type], names: Names) -> tuple[ir.Variable, ...]:
    """Bound variables with new names."""
    return tuple(ir.Variable(names(), type_) for type_ in types)


def locals_of(bound: Sequence[ir.Variable]) -> tuple[Term, ...]:
    return tuple(ir.Local(variable.type, variable.name) for variable in bound)


def not_zero(shape: Shape, type_: Type) -> Term:
    """Whether the value is not the zero of its type."""
    match shape, type_:
        case Leaf(term=term), _:
            return term if type_ == BOOL else negation(alike(term, ir.Literal_(NAT, 0)))
        case Perhaps(some=some), _:
            return some
        case Window(), Collection(kind="queue"):
            return something_inside(shape)
        case Window() | Numbered(), _:
            return negation(alike(shape.next, ir.Literal_(NAT, 0)))
        case Members(has=has), Collection(item=item):
            bound = variables(leaves(item), _depth_names(type_))
            return exists(bound, has(locals_of(bound)))
        case Bag(groups=groups), _:
            names = _depth_names(type_)
            return disj(something_in(group, names) for group in groups)
        case Table(has=has), Map(key=key):
            bound = variables(leaves(key), _depth_names(type_))
            return exists(bound, has(locals_of(bound)))
        case _:
            raise refuse(type_)


def something_inside(shape: Window | Numbered) -> Term:
    """Whether a queue or sliding collection has an element."""
    return ir.Comparison(BOOL, "<", shape.first, shape.next)


def _depth_names(type_: Type) -> Names:
    """Names for the elements of a value of this type: an inner type has a shorter name, and so other variables."""
    numbers = iter(range(1_000))
    return lambda: f"{type_}#{next(numbers)}"


def merged(condition: Term, then: Shape, otherwise: Shape) -> Shape:
    """`if condition then ... else ...`."""
    if condition == TRUE or then is otherwise:
        return then
    if condition == FALSE:
        return otherwise
    match then, otherwise:
        case Leaf(), Leaf():
            return Leaf(conditional(condition, then.term, otherwise.term))
        case Parts(), Parts():
            pairs = zip(then.fields, otherwise.fields, strict=True)
            return Parts(tuple(merged(condition, one, other) for one, other in pairs))
        case Perhaps(), Perhaps():
            return Perhaps(
                conditional(condition, then.some, otherwise.some), merged(condition, then.item, otherwise.item)
            )
        case Members(), Members():
            return Members(lambda terms: conditional(condition, then.has(terms), otherwise.has(terms)))
        case Bag(), Bag():
            here = [limited(group, condition) for group in then.groups]
            return Bag((*here, *(limited(group, negation(condition)) for group in otherwise.groups)))
        case Table(), Table():
            return Table(
                lambda terms: merged(condition, then.at(terms), otherwise.at(terms)),
                lambda terms: conditional(condition, then.has(terms), otherwise.has(terms)),
            )
        case Window(), Window():
            whole = Window(
                conditional(condition, then.first, otherwise.first),
                conditional(condition, then.next, otherwise.next),
                lambda index: merged(condition, then.at(index), otherwise.at(index)),
            )
            if then.members is not None or otherwise.members is not None:
                return replace(whole, members=lambda item: _of_either(condition, then, otherwise, item))
            pushed = [replace(each, condition=conj((condition, each.condition))) for each in then.pushed]
            denied = negation(condition)
            pushed += [replace(each, condition=conj((denied, each.condition))) for each in otherwise.pushed]
            if not pushed:
                return whole
            (last, at), (other, there) = then.older, otherwise.older
            before = conditional(condition, last, other), lambda index: merged(condition, at(index), there(index))
            return replace(whole, pushed=tuple(pushed), before=before)
        case Numbered(), Numbered():
            return Numbered(
                conditional(condition, then.first, otherwise.first),
                conditional(condition, then.next, otherwise.next),
                lambda index: conditional(condition, then.has(index), otherwise.has(index)),
                lambda index: merged(condition, then.at(index), otherwise.at(index)),
            )
        case _:
            raise AssertionError((then, otherwise))


def _of_either(
    condition: Term, then: Window, otherwise: Window, item: Callable[[Term, Shape], Shape]
) -> tuple[Group, ...]:
    """The elements of one window where the condition is true, and of another where it is false."""
    here = (limited(group, condition) for group in then.groups(item))
    return (*here, *(limited(group, negation(condition)) for group in otherwise.groups(item)))


def equality(left: Shape, right: Shape, type_: Type, names: Names) -> Term:
    """Whether two values are equal. Raises: Unsupported for queues and sliding collections."""
    match left, right:
        case Leaf(), Leaf():
            return alike(left.term, right.term)
        case Parts(), Parts():
            assert isinstance(type_, Record)
            pairs = zip(left.fields, right.fields, type_.fields, strict=True)
            return conj(equality(one, other, part, names) for one, other, (_, part) in pairs)
        case Perhaps(), Perhaps():
            assert isinstance(type_, Collection)
            both = implies(left.some, equality(left.item, right.item, type_.item, names))
            return conj((alike(left.some, right.some), both))
        case Members(), Members():
            assert isinstance(type_, Collection)
            bound = variables(leaves(type_.item), names)
            return forall(bound, alike(left.has(locals_of(bound)), right.has(locals_of(bound))))
        case Bag(), Bag():
            assert isinstance(type_, Collection)
            return conj((_within_bag(left, right, type_.item, names), _within_bag(right, left, type_.item, names)))
        case Table(), Table():
            assert isinstance(type_, Map)
            bound = variables(leaves(type_.key), names)
            at = locals_of(bound)
            values = implies(left.has(at), equality(left.at(at), right.at(at), type_.value, names))
            return forall(bound, conj((alike(left.has(at), right.has(at)), values)))
        case Window(), Window():
            raise Unsupported("two queues or sliding arrays are compared")
        case Numbered(), Numbered():
            raise Unsupported("two sliding maps are compared")
        case _:
            raise AssertionError((left, right))


def substituted(shape: Shape, values: Mapping[str, Term]) -> Shape:
    """The value with free names replaced. No term that the shape is asked about has such a name."""
    match shape:
        case Leaf(term=term):
            return Leaf(substitute(term, values))
        case Parts(fields=fields):
            return Parts(tuple(substituted(field, values) for field in fields))
        case Perhaps(some=some, item=item):
            return Perhaps(substitute(some, values), substituted(item, values))
        case Members(has=has):
            return Members(lambda terms: substitute(has(terms), values))
        case Bag(groups=groups):
            return Bag(tuple(_substituted_group(group, values) for group in groups))
        case Table(at=at, has=has):
            return Table(lambda terms: substituted(at(terms), values), lambda terms: substitute(has(terms), values))
        case Window(first=first, next=following, at=element, pushed=pushed):
            last, before = shape.older
            new = tuple(
                Pushed(substitute(one.condition, values), substitute(one.number, values), substituted(one.item, values))
                for one in pushed
            )
            ends = substitute(first, values), substitute(following, values)
            older = substitute(last, values), lambda index: substituted(before(index), values)
            return Window(*ends, lambda index: substituted(element(index), values), new, older if new else None)
        case Numbered(first=first, next=following, has=there, at=element):
            return Numbered(
                substitute(first, values),
                substitute(following, values),
                lambda index: substitute(there(index), values),
                lambda index: substituted(element(index), values),
            )
        case _:
            assert_never(shape)


def _substituted_group(group: Group, values: Mapping[str, Term]) -> Group:
    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        there, value = group.item(terms)
        return substitute(there, values), substituted(value, values)

    return Group(group.types, item)


# --- groups: what a quantifier ranges over --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the values that a quantifier ranges over: one for each value of variables of these types.

    `item` gives, for terms of these types, whether there is such a value, and the value. Two values of a group are the
    same occurrence where the terms are equal; values of two groups are never the same occurrence.
    """

    types: tuple[Type, ...]
    item: Callable[[tuple[Term, ...]], tuple[Term, Shape]]


def limited(group: Group, condition: Term) -> Group:
    """The group where the condition is true, else nothing."""

    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        there, value = group.item(terms)
        return conj((condition, there)), value

    return Group(group.types, item)


def something_in(group: Group, names: Names) -> Term:
    """Whether there is anything in the group."""
    bound = variables(group.types, names)
    return exists(bound, group.item(locals_of(bound))[0])


def in_bag(bag: Bag, item: Shape, type_: Type, names: Names) -> Term:
    """Whether the value, of this type, is a member."""
    found: list[Term] = []
    for group in bag.groups:
        bound = variables(group.types, names)
        there, member = group.item(locals_of(bound))
        found.append(exists(bound, conj((there, equality(member, item, type_, names)))))
    return disj(found)


def in_numbered(shape: Numbered, item: Shape, type_: Type, names: Names) -> Term:
    """Whether the value, of this type, is in the sliding map."""
    (bound,) = variables((NAT,), names)
    (index,) = locals_of((bound,))
    return exists((bound,), conj((shape.has(index), equality(shape.at(index), item, type_, names))))


def _within_bag(left: Bag, right: Bag, type_: Type, names: Names) -> Term:
    found: list[Term] = []
    for group in left.groups:
        bound = variables(group.types, names)
        there, member = group.item(locals_of(bound))
        found.append(forall(bound, implies(there, in_bag(right, member, type_, names))))
    return conj(found)


def elements(shape: Shape, type_: Type) -> tuple[Group, ...]:
    """The elements of a collection, the keys of a map. Raises: Unsupported."""
    match shape, type_:
        case Members(has=has), Collection(item=item):
            return (Group(leaves(item), lambda terms: (has(terms), built(item, terms))),)
        case Table(has=has), Map(key=key):
            return (Group(leaves(key), lambda terms: (has(terms), built(key, terms))),)
        case Bag(groups=groups), _:
            return groups
        case Window(), _:
            return shape.groups(lambda _, item: item)
        case Numbered(), _:
            return (shape.group(),)
        case Perhaps(some=some, item=inside), _:
            return (Group((), lambda terms: (some, inside)),)
        case _:
            raise refuse(type_)


def within(first: Term, index: Term, following: Term) -> Term:
    """first <= index < following."""
    return conj((ir.Comparison(BOOL, "<=", first, index), ir.Comparison(BOOL, "<", index, following)))


# --- places ---------------------------------------------------------------------------------------

Change: TypeAlias = Callable[[Shape], Shape]


@dataclass(frozen=True, slots=True)
class Entry:
    """The step from a map to its value at a key."""

    key: tuple[Term, ...]
    value: Type


@dataclass(frozen=True, slots=True)
class Field:
    """The step from a record to a field."""

    position: int


@dataclass(frozen=True, slots=True)
class Element:
    """The step from a sliding array to its element with a number, which is inside."""

    number: Term


PlaceStep: TypeAlias = Entry | Field | Element


def changed(shape: Shape, path: Sequence[PlaceStep], change: Change) -> Shape:
    """The value after a change at a place inside it."""
    if not path:
        return change(shape)
    step, *rest = path
    match step:
        case Field(position=position):
            assert isinstance(shape, Parts)
            after = changed(shape.fields[position], rest, change)
            return replace(shape, fields=(*shape.fields[:position], after, *shape.fields[position + 1 :]))
        case Entry(key=key, value=value):
            assert isinstance(shape, Table)
            before = shape
            here = changed(before.at(key), rest, change)
            return table(
                value,
                lambda terms: merged(same(terms, key), here, before.at(terms)),
                lambda terms: disj((same(terms, key), before.has(terms))),
            )
        case Element(number=number):
            assert isinstance(shape, Window)
            elements_ = shape
            inside = changed(shape.at(number), rest, change)
            return Window(
                shape.first,
                shape.next,
                lambda index: merged(same((index,), (number,)), inside, elements_.at(index)),
            )
        case _:
            assert_never(step)


def without_entry(shape: Table, key: tuple[Term, ...], value: Type) -> Table:
    """A map without this key."""
    if has_zero(value):
        nothing = zero_shape(value)
        return table(value, lambda terms: merged(same(terms, key), nothing, shape.at(terms)), shape.has)
    return Table(shape.at, lambda terms: conj((negation(same(terms, key)), shape.has(terms))))


def without_element(shape: Window, index: Term, *, old_places: bool = False) -> Window:
    """A queue without the element of this number: those behind it move up.

    `old_places`: quantifiers know the elements by the places that they had. So a solver finds that one is still there;
    that something is true of all takes it longer.
    """
    one = ir.Literal_(NAT, 1)

    def at(number: Term) -> Shape:
        before = ir.Comparison(BOOL, "<", number, index)
        return merged(before, shape.at(number), shape.at(ir.Arithmetic(NAT, "+", number, one)))

    def members(item: Callable[[Term, Shape], Shape]) -> tuple[Group, ...]:
        def without(group: Group) -> Group:
            def its(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
                there, pair = group.item(terms)
                assert isinstance(pair, Parts)
                element, number = pair.fields[0], term_of(pair.fields[1])
                behind = ir.Arithmetic(NAT, "-", number, one)
                now = conditional(ir.Comparison(BOOL, "<", number, index), number, behind)
                return conj((there, negation(alike(number, index)))), item(now, element)

            return Group(group.types, its)

        return tuple(map(without, shape.groups(lambda number, element: Parts((element, Leaf(number))))))

    left = Window(shape.first, ir.Arithmetic(NAT, "-", shape.next, one), at)
    return replace(left, members=members) if old_places else left
