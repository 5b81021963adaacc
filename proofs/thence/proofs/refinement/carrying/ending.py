"""Loops that come to their end in every state, by their text alone.

NOTE(ending): each round of such a loop takes something out of a variable of the process, and no round adds to it, so
there are no more rounds than there are elements. A round takes something out if one of these stands in the loop's body,
inside no condition and no other loop:

- `Q.pop()`, or `Q.remove()` of a sliding array: of an empty one that is a fault, which ends the step, too;
- `C.remove(e)` in a loop `while e in C`, with nothing before it but `let`, `send` and `deliver`;
- in a loop `while exists x in C. P(x)`: `for x in C: if P(x): C.remove(x)` and nothing else. The first x that is
  visited of which P is true is taken out, and there is one, since nothing is changed before.

What else changes the variable takes elements out of it, too, at the same depth: of `V[i]` or of `V`, say. A body with a
call is not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.substitution import instantiated, mapped
from thence.dsl.ir.traversal import nodes
from thence.proofs.refinement.effects import root_of

_Change: TypeAlias = ir.Mutate | ir.Assign | ir.Call | ir.Ref | ir.For

_CHANGES_NOTHING = (ir.Let, ir.Send, ir.Deliver)

_TAKES_OUT = frozenset({"pop", "remove", "clear"})


def ends(loop: ir.While) -> bool:
    """Whether each round takes an element out of a variable of the process, and none adds to it: see NOTE(ending)."""
    return any(_only_taken_from(loop, taken.place) for taken in _taken_out(loop))


def _taken_out(loop: ir.While) -> Iterator[ir.Mutate]:
    """The statements that take something out in each round."""
    for at, statement in enumerate(loop.body):
        if isinstance(statement, ir.Mutate):
            always = statement.method == "pop" or (statement.method == "remove" and not statement.arguments)
            if always or (_takes_what_is_there(loop, statement) and _change_nothing(loop.body[:at], loop.condition)):
                yield statement
    yield from _first_found(loop)


def _takes_what_is_there(loop: ir.While, statement: ir.Mutate) -> bool:
    """Whether it takes out what is there by the condition of the loop."""
    match loop.condition:
        case ir.Member(item=item, collection=collection):
            return (statement.method, statement.place, statement.arguments) == ("remove", collection, (item,))
        case _:
            return False


def _change_nothing(statements: Sequence[ir.Stmt], condition: ir.Expr) -> bool:
    """Whether the statements change no state, and give no other value to a name of the condition."""
    named = {node.name for node in nodes(condition) if isinstance(node, ir.Local)}
    given = {each.name for each in statements if isinstance(each, ir.Let)}
    return all(isinstance(each, _CHANGES_NOTHING) for each in statements) and not named & given


def _first_found(loop: ir.While) -> Iterator[ir.Mutate]:
    """What a loop over the elements takes out, of which the condition of the outer loop says that one is found."""
    match loop.condition, loop.body:
        case (
            ir.Quantified(kind="exists", variables=(ir.Bound(domain=ir.StateOf() as domain) as bound,), body=wanted),
            (ir.For(ref=False, domain=ir.StateOf() as visited) as inner,),
        ) if visited == domain and inner.variable == bound.type:
            match inner.body:
                case (ir.If(condition=condition, then=(ir.Mutate() as first, *_), otherwise=()),):
                    own = ir.Local(inner.variable, inner.name)
                    same = _normal(condition) == _normal(instantiated(wanted, {bound.name: own}, None, ()))
                    if same and (first.method, first.place, first.arguments) == ("remove", domain, (own,)):
                        yield first


def _normal(condition: ir.Expr) -> ir.Expr:
    """The condition with `<` and `<=` in place of `>` and `>=`."""
    match condition:
        case ir.Comparison(operator=">" | ">=" as operator, left=left, right=right):
            turned = "<" if operator == ">" else "<="
            return ir.Comparison(condition.type, turned, _normal(right), _normal(left))
        case _:
            return mapped(condition, _normal)


def _only_taken_from(loop: ir.While, place: ir.Expr) -> bool:
    """Whether the loop changes the variable of the place in no way but that it takes elements out, at this depth."""
    variable = root_of(place)
    if not isinstance(variable, ir.StateOf):
        return False
    changes = [node for node in nodes(loop.body) if isinstance(node, _Change)]
    return all(_adds_nothing(each, variable.name, _depth(place)) for each in changes)


def _adds_nothing(change: _Change, name: str, depth: int) -> bool:
    match change:
        case ir.Mutate(place=place, method=method):
            return not _is_inside(place, name) or (method in _TAKES_OUT and _depth(place) == depth)
        case ir.Assign(place=place):
            return not _is_inside(place, name)
        case ir.For(ref=ref):
            return not ref
        case _:
            return False


def _is_inside(place: ir.Expr, name: str) -> bool:
    root = root_of(place)
    return isinstance(root, ir.StateOf) and root.name == name


def _depth(place: ir.Expr) -> int:
    """How many steps lead from the variable to the place."""
    steps = 0
    while isinstance(place, ir.FieldOf | ir.Lookup | ir.ElementAt):
        place, steps = place.target, steps + 1
    return steps
