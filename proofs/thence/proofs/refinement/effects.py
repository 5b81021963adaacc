"""What statements may change, read off their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.proofs.refinement.transitions import action_of


@dataclass(frozen=True, slots=True)
class Effects:
    """Own variables, locals, kinds of packets and machine symbols that may change.

    `only_sends`: nothing but packets is made, and every statement is passed once.
    """

    variables: frozenset[str]
    locals: frozenset[str]
    kinds: frozenset[str]
    symbols: frozenset[str]
    only_sends: bool


def effects(link: ir.Link, statements: Sequence[ir.Stmt]) -> Effects:
    """What the statements may change, with the procedures that they call."""
    procedures = {one.name: one for one in link.protocol.procedures}
    variables: set[str] = set()
    locals_: set[str] = set()
    kinds: set[str] = set()
    symbols: set[str] = set()
    only_sends = True
    called: set[str] = set()
    left: list[object] = [tuple(statements)]
    while left:
        for node in nodes(left.pop()):
            match node:
                case ir.Assign(place=place) | ir.Mutate(place=place):
                    root = root_of(place)
                    only_sends = False
                    (variables if isinstance(root, ir.StateOf) else locals_).add(root.name)
                case ir.Send(kind=kind):
                    kinds.add(kind)
                    symbols |= _changed_by(link, "send", kind)
                case ir.Deliver():
                    only_sends = False
                    symbols |= _changed_by(link, "deliver", None)
                case ir.While() | ir.Return() | ir.Var() | ir.Ref() | ir.For(ref=True) | ir.Choose() | ir.Either():
                    only_sends = False
                case ir.Call(procedure=name) if name not in called:
                    called.add(name)
                    left.append(procedures[name].body)
                case _:
                    pass
    return Effects(frozenset(variables), frozenset(locals_), frozenset(kinds), frozenset(symbols), only_sends)


def root_of(place: ir.Expr) -> ir.StateOf | ir.Local:
    """The variable that a place is in."""
    while isinstance(place, ir.FieldOf | ir.Lookup | ir.ElementAt):
        place = place.target
    assert isinstance(place, ir.StateOf | ir.Local)
    return place


def _changed_by(link: ir.Link, event: str, kind: str | None) -> frozenset[str]:
    """The machine's symbols that change when the event happens."""
    found: frozenset[str] = frozenset()
    for clause in link.clauses:
        if (clause.event, clause.kind) == (event, kind):
            found = found.union(*(action_of(link.machine, target.transition).changed for target in clause.targets))
    return found
