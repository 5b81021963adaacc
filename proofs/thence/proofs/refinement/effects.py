"""What statements may change, read off their text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Collection
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


def effects(link: ir.Link, statements: Sequence[ir.Handler | ir.Stmt]) -> Effects:
    """What the statements may change, with the procedures that they call."""
    variables: set[str] = set()
    locals_: set[str] = set()
    kinds: set[str] = set()
    symbols: set[str] = set()
    only_sends = True
    for node in with_procedures(link, statements):
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
                if link.reactive:
                    symbols |= _changed_by(link, "causal_send", None)
            case ir.For(ref=True, domain=ir.Expression() as domain):
                root = root_of(domain)
                only_sends = False
                (variables if isinstance(root, ir.StateOf) else locals_).add(root.name)
            case ir.While() | ir.Return() | ir.Var() | ir.Ref() | ir.Choose() | ir.Either():
                only_sends = False
            case _:
                pass
    return Effects(frozenset(variables), frozenset(locals_), frozenset(kinds), frozenset(symbols), only_sends)


def changes_of(link: ir.Link, statements: Sequence[ir.Stmt]) -> dict[str, tuple[ir.Stmt, ...]]:
    """By own variable, the statements that change it, also those of procedures that are called."""
    found: dict[str, tuple[ir.Stmt, ...]] = {}
    for node in with_procedures(link, statements):
        match node:
            case ir.Assign(place=place) | ir.Mutate(place=place):
                root = root_of(place)
            case ir.For(ref=True, domain=ir.Expression() as domain):
                root = root_of(domain)
            case _:
                continue
        if isinstance(root, ir.StateOf):
            found[root.name] = (*found.get(root.name, ()), node)
    return found


def names_given(statements: Sequence[ir.Stmt]) -> frozenset[str] | None:
    """The names to which the statements give values; None where they call procedures, which have names of their own."""
    found: set[str] = set()
    for node in nodes(tuple(statements)):
        match node:
            case ir.Call():
                return None
            case ir.Let(name=name) | ir.Var(name=name) | ir.Ref(name=name) | ir.For(name=name) | ir.Choose(name=name):
                found.add(name)
            case ir.Assign(place=place) | ir.Mutate(place=place):
                found.add(root_of(place).name)
            case _:
                pass
    return frozenset(found)


def test_of_search(loop: ir.For) -> ir.If | None:
    """The test of a loop that ends with the first value for which it is true; None where the loop is anything else.

    Its values have an order: processes, or the elements of a queue.
    """
    ordered = loop.domain is None or (isinstance(loop.domain.type, Collection) and loop.domain.type.kind == "queue")
    match loop:
        case ir.For(ref=False, body=(ir.If(then=(*_, ir.Return()), otherwise=()) as test,)) if ordered:
            return test
        case _:
            return None


def takes_out_its_own(link: ir.Link, loop: ir.For) -> bool:
    """Whether a round changes the variable that it goes through in one way only: it takes out its own element, once."""
    if not isinstance(loop.domain, ir.StateOf):
        return False
    name = loop.domain.name
    own = [statement for statement in _outside_of_loops(loop.body) if _takes_out(statement, name, loop.name)]
    if len(own) != 1:
        return False
    changes = [node for node in with_procedures(link, loop.body) if _may_change(node, name)]
    return len(changes) == 1 and changes[0] is own[0]


def _takes_out(statement: ir.Stmt, variable: str, item: str) -> bool:
    match statement:
        case ir.Mutate(method="remove", place=ir.StateOf(name=name), arguments=(ir.Local(name=taken),)):
            return (name, taken) == (variable, item)
        case _:
            return False


def _may_change(node: object, variable: str) -> bool:
    match node:
        case ir.Assign(place=place) | ir.Mutate(place=place):
            root = root_of(place)
            return isinstance(root, ir.StateOf) and root.name == variable
        case ir.Ref() | ir.For(ref=True):
            return True
        case _:
            return False


def _outside_of_loops(statements: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a block, and of what is inside conditions."""
    for statement in statements:
        yield statement
        if isinstance(statement, ir.If):
            yield from _outside_of_loops((*statement.then, *statement.otherwise))


def with_procedures(link: ir.Link, statements: Sequence[ir.Handler | ir.Stmt]) -> Iterator[object]:
    """All nodes of the statements, and of the procedures that they call. Of a link with `reactive sends` a delivery
    calls the handler of sends."""
    bodies = {one.name: one.body for one in link.protocol.procedures}
    sends = [sends_of(link)]
    left: list[object] = [tuple(statements)]
    while left:
        for node in nodes(left.pop()):
            yield node
            if isinstance(node, ir.Call):
                left.append(bodies.pop(node.procedure, ()))
            elif isinstance(node, ir.Deliver) and sends:
                left.append(sends.pop())


def sends_of(link: ir.Link) -> tuple[ir.Stmt, ...]:
    """What a delivery brings about of a link with `reactive sends`: the handler of sends. Nothing of another link."""
    handlers = (each.body for each in link.protocol.handlers if each.event == "causal_send" and link.reactive)
    return next(handlers, ())


def delivers(link: ir.Link, statement: ir.Stmt) -> bool:
    return any(isinstance(node, ir.Deliver) for node in with_procedures(link, (statement,)))


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
