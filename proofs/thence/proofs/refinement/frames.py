"""What the rounds of a loop leave as it was.

NOTE(frames): a loop that is cut at its head forgets the variables that it may change. Of some of them it is known what
stays.

- What a loop only adds to keeps its elements, with their numbers: a queue, a sliding array, a sliding map, a set. The
  number of the first stays, too; a sliding map that is empty has the number of the next element as the first, and an
  element that is added gets this number.
- A map of which a loop changes the entry of one key keeps all other entries. The key is `self`, or a name that the loop
  gives no value: its own variable is none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Collection, Map, Type
from thence.proofs.logic.formula import Unsupported, conj, equal, forall, implies, local, negation
from thence.proofs.refinement.shapes.contents import equality
from thence.proofs.refinement.shapes.flat import alike, flat, leaves, locals_of, same, variables
from thence.proofs.refinement.shapes.kinds import Members, Numbered, Shape, Table, Term, Window, within


def what_stays(before: Shape, after: Shape, type_: Type, names: Callable[[], str]) -> Term:
    """What a loop that only adds to a variable leaves as it was."""
    assert isinstance(type_, Collection)
    return conj(_what_stays(before, after, type_, names))


def _what_stays(before: Shape, after: Shape, type_: Collection, names: Callable[[], str]) -> Iterator[Term]:
    match before, after:
        case (Window() as old, Window() as new) | (Numbered() as old, Numbered() as new):
            yield equal(new.first, old.first)
            yield ir.Comparison(BOOL, "<=", old.next, new.next)
            (number,) = variables((NAT,), names)
            at = local(number)
            try:
                alike_there = equality(new.at(at), old.at(at), type_.item, names)
            except Unsupported:
                return
            if isinstance(old, Numbered) and isinstance(new, Numbered):
                yield forall((number,), implies(old.has(at), conj((new.has(at), alike_there))))
            else:
                yield forall((number,), implies(within(old.first, at, old.next), alike_there))
        case Members(), Members():
            bound = variables(leaves(type_.item), names)
            yield forall(bound, implies(before.has(locals_of(bound)), after.has(locals_of(bound))))
        case _:
            return


def only_added_to(changes: Sequence[ir.Stmt]) -> bool:
    """Whether these changes of one own variable only add to it."""
    return all(
        isinstance(each, ir.Mutate) and isinstance(each.place, ir.StateOf) and each.method in ("push", "add")
        for each in changes
    )


def only_key(changes: Sequence[ir.Stmt], given: frozenset[str]) -> ir.Expr | None:
    """The key whose entry alone these changes of one map change; None where there is no such key. `given`: the names
    to which the loop gives values, its own variable among them. `for ref` over the map changes all its entries.
    """
    keys = {_outermost_key(each.place) if isinstance(each, ir.Assign | ir.Mutate) else None for each in changes}
    key = next(iter(keys), None)
    fixed = isinstance(key, ir.SelfProcess) or (isinstance(key, ir.Local) and key.name not in given)
    return key if len(keys) == 1 and fixed else None


def _outermost_key(place: ir.Expr) -> ir.Expr | None:
    """The key of the variable's entry that a place is in."""
    key: ir.Expr | None = None
    while isinstance(place, ir.FieldOf | ir.Lookup | ir.ElementAt):
        key = place.key if isinstance(place, ir.Lookup) else None
        place = place.target
    return key


def other_entries(before: Shape, after: Shape, type_: Type, key: Shape, names: Callable[[], str]) -> Term:
    """The entries of a map of all other keys are as they were. Raises: Unsupported."""
    assert isinstance(type_, Map) and isinstance(before, Table) and isinstance(after, Table)
    bound = variables(leaves(type_.key), names)
    at = locals_of(bound)
    as_it_was = conj((alike(after.has(at), before.has(at)), equality(after.at(at), before.at(at), type_.value, names)))
    return forall(bound, implies(negation(same(at, flat(key))), as_it_was))
