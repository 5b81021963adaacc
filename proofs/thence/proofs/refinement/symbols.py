"""The symbols that say the values of a type, the values that they say, and what is true of all of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Collection, Map, Record, Sort, Type, has_zero
from thence.proofs.logic.formula import conj, forall, implies
from thence.proofs.refinement.shapes.contents import equality
from thence.proofs.refinement.shapes.flat import is_bag, is_flat, leaves, locals_of, same
from thence.proofs.refinement.shapes.kinds import (
    Bag,
    Group,
    Leaf,
    Members,
    Numbered,
    Parts,
    Perhaps,
    Shape,
    Term,
    Window,
    within,
)
from thence.proofs.refinement.shapes.zeros import something_inside, table

ENDS = ("#first", "#next")
"""How the symbols for the ends of a window end; no field of a record has such a name."""


def symbols_of(name: str, parameters: tuple[ir.Variable, ...], type_: Type) -> tuple[ir.Symbol, ...]:
    """The symbols that say a value of this type for each value of the parameters.

    What is no field of a record has a name with `#`, so that no field hides it.
    """
    match type_:
        case Record(fields=fields):
            return tuple(one for label, part in fields for one in symbols_of(f"{name}.{label}", parameters, part))
        case Collection(kind="option", item=item):
            some = ir.Symbol(f"{name}.#some", parameters, BOOL)
            return (some, *symbols_of(f"{name}.#value", parameters, item))
        case Collection(kind="set", item=item):
            inside = leaves(item) if is_flat(item) else (value_sort(item),)
            return (ir.Symbol(name, _more(parameters, inside), BOOL),)
        case Collection(kind="queue" | "sliding array" | "sliding map", item=item):
            ends = (ir.Symbol(f"{name}.{end}", parameters, NAT) for end in ENDS)
            inner = _more(parameters, (NAT,))
            there = (ir.Symbol(f"{name}.#has", inner, BOOL),) if type_.kind == "sliding map" else ()
            return (*ends, *there, *symbols_of(f"{name}.#at", inner, item))
        case Map(key=key, value=value):
            inner = _more(parameters, leaves(key))
            there = () if has_zero(value) else (ir.Symbol(f"{name}.#has", inner, BOOL),)
            return (*there, *symbols_of(name, inner, value))
        case _:
            return (ir.Symbol(name, parameters, type_),)


def value_sort(type_: Type) -> Sort:
    """The sort of the values of a type with collections: see NOTE(bag)."""
    return Sort(f"value {type_}")


def value_sorts(type_: Type) -> tuple[Type, ...]:
    """The types inside this one whose values are elements of a sort."""
    match type_:
        case Record(fields=fields):
            return tuple(one for _, part in fields for one in value_sorts(part))
        case Collection(item=item):
            return (*((item,) if is_bag(type_) else ()), *value_sorts(item))
        case Map(value=value):
            return value_sorts(value)
        case _:
            return ()


def value_symbols(type_: Type) -> tuple[ir.Symbol, ...]:
    """The symbols that say what an element of the type's sort is."""
    return symbols_of(value_sort(type_).name, (ir.Variable("v", value_sort(type_)),), type_)


def _more(parameters: tuple[ir.Variable, ...], types: Sequence[Type]) -> tuple[ir.Variable, ...]:
    more = (ir.Variable(f"x{number}", type_) for number, type_ in enumerate(types, len(parameters)))
    return (*parameters, *more)


def facts_of(name: str, parameters: tuple[ir.Variable, ...], type_: Type) -> Iterator[ir.NamedFormula]:
    """What is true of every value that the symbols of `symbols_of` say: see NOTE(window) and NOTE(numbered).

    Raises: Unsupported for sliding maps whose elements cannot be compared.
    """
    match type_:
        case Record(fields=fields):
            for label, part in fields:
                yield from facts_of(f"{name}.{label}", parameters, part)
        case Collection(kind="option", item=item):
            yield from facts_of(f"{name}.#value", parameters, item)
        case Collection(kind="queue" | "sliding array" | "sliding map", item=item):
            shape = shape_of(name, locals_of(parameters), type_)
            assert isinstance(shape, Window | Numbered)
            yield ir.NamedFormula("window", forall(parameters, ir.Comparison(BOOL, "<=", shape.first, shape.next)))
            if isinstance(shape, Numbered):
                yield from _facts_of_numbers(shape, parameters, item)
            yield from facts_of(f"{name}.#at", _more(parameters, (NAT,)), item)
        case Map(key=key, value=value):
            yield from facts_of(name, _more(parameters, leaves(key)), value)
        case _:
            pass


def _facts_of_numbers(shape: Numbered, parameters: tuple[ir.Variable, ...], item: Type) -> Iterator[ir.NamedFormula]:
    """What is true of the numbers of a sliding map."""
    one, other = (ir.Variable(f"{name}#", NAT) for name in ("i", "k"))
    i, k = locals_of((one, other))
    numbers = iter(range(1_000))
    inside = implies(shape.has(i), within(shape.first, i, shape.next))
    least = implies(something_inside(shape), shape.has(shape.first))
    equal = equality(shape.at(i), shape.at(k), item, lambda: f"l#{next(numbers)}")
    apart = implies(conj((shape.has(i), shape.has(k), equal)), same((i,), (k,)))
    for name, variables, body in (
        ("numbers inside", (one,), inside),
        ("the least number", (), least),
        ("one number", (one, other), apart),
    ):
        yield ir.NamedFormula(name, forall((*parameters, *variables), body))


def shape_of(name: str, arguments: tuple[Term, ...], type_: Type) -> Shape:
    """The value that the symbols of `symbols_of` say at these arguments."""
    match type_:
        case Record(fields=fields):
            return Parts(tuple(shape_of(f"{name}.{label}", arguments, part) for label, part in fields))
        case Collection(kind="option", item=item):
            some = ir.Apply(BOOL, f"{name}.#some", arguments)
            return Perhaps(some, shape_of(f"{name}.#value", arguments, item))
        case Collection(kind="set", item=item) if not is_flat(item):
            sort = value_sort(item)

            def member(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
                return ir.Apply(BOOL, name, (*arguments, *terms)), shape_of(sort.name, terms, item)

            return Bag((Group((sort,), member),))
        case Collection(kind="set"):
            return Members(lambda terms: ir.Apply(BOOL, name, (*arguments, *terms)))
        case Collection(kind="queue" | "sliding array" | "sliding map", item=item):
            first, following = (ir.Apply(NAT, f"{name}.{end}", arguments) for end in ENDS)

            def element(index: Term) -> Shape:
                return shape_of(f"{name}.#at", (*arguments, index), item)

            if type_.kind != "sliding map":
                return Window(first, following, element)
            return Numbered(
                first, following, lambda index: ir.Apply(BOOL, f"{name}.#has", (*arguments, index)), element
            )
        case Map(value=value):
            return table(
                value,
                lambda terms: shape_of(name, (*arguments, *terms), value),
                lambda terms: ir.Apply(BOOL, f"{name}.#has", (*arguments, *terms)),
            )
        case _:
            return Leaf(ir.Apply(type_, name, arguments))
