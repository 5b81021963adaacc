"""The use of queues, counters and packets without content in the text of a protocol.

If a queue is used letter by letter, a run of equal letters behaves alike at any length. If a number is only counted up
and down and compared with constants, all large numbers behave alike. Both are read off the text: every place where the
variable stands must have one of the forms below. Any other use is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Collection, Map, Type


class NotApplicable(Exception):
    """The counter abstraction does not apply to this protocol or scope; the message says why."""


@dataclass(frozen=True, slots=True)
class Discipline:
    """The parts of a protocol that behave alike from some size on.

    Attributes:
        packets: kinds without messages and numbers in them.
        queues: variables (`queue of T`, or a map of processes to such) used letter by letter.
        counters: numbers used as counters; from this value on, all behave alike in any one step.
        waiting: the queue in which causal-sent messages wait to be network-sent; None: none wait.
    """

    packets: frozenset[str]
    queues: frozenset[str]
    counters: Mapping[str, int]
    waiting: str | None


def discipline_of(protocol: ir.Protocol) -> Discipline:
    """The discipline that the text keeps. Raises: NotApplicable."""
    if any(handler.event == "periodically" for handler in protocol.handlers):
        raise NotApplicable("the protocol has a timer")
    if any(handler.guard is not None for handler in protocol.handlers):
        raise NotApplicable("the protocol keeps the application from sending (`when`)")
    if any(_by_identity(node) for node in nodes((protocol.handlers, protocol.procedures))):
        raise NotApplicable("a loop visits messages in the order in which they were sent, which identities do not keep")
    return Discipline(
        frozenset(kind.name for kind in protocol.packets if all(_finite(each.type) for each in kind.parameters)),
        frozenset(
            variable.name
            for variable in protocol.state
            if (queue := _queue_type(variable.type)) is not None
            and _finite(queue.item)
            and _stands(protocol, variable.name) == _letterwise(protocol, variable.name)
        ),
        {
            variable.name: alike
            for variable in protocol.state
            if variable.type == NAT and (alike := _alike_from(protocol, variable.name)) is not None
        },
        _waiting(protocol),
    )


def _finite(type_: Type) -> bool:
    """Whether the type has neither messages nor numbers in it."""
    return not any(node in (MESSAGE, NAT) or _is_sliding(node) for node in nodes(type_))


def _by_identity(node: Any) -> bool:
    """Whether this is a loop over a set or map whose order depends on which of two messages was sent first."""
    match node:
        case ir.For(domain=domain) if domain is not None:
            match domain.type:
                case Collection("set", visited) | Map(visited, _):
                    return MESSAGE in nodes(visited)
    return False


def _is_sliding(node: Any) -> bool:
    return isinstance(node, Collection) and node.kind in ("sliding array", "sliding map", "queue")


def _queue_type(type_: Type) -> Collection | None:
    """The type of the queue, or of the queues of a map of processes."""
    held = type_.value if isinstance(type_, Map) and type_.key == PROCESS else type_
    return held if isinstance(held, Collection) and held.kind == "queue" else None


def _stands(part: Any, name: str) -> int:
    """How often the variable stands in a part of the text; an invariant does not count."""
    if isinstance(part, ir.Protocol):
        part = (part.handlers, part.procedures)
    return sum(1 for node in nodes(part) if isinstance(node, ir.StateOf) and node.name == name)


def _is_queue(expression: ir.Expr, name: str) -> bool:
    """Whether the expression is the queue, or a queue of the map at a key that a loop does not change."""
    match expression:
        case ir.StateOf(name=known, type=Collection("queue")):
            return known == name
        case ir.Lookup(target=ir.StateOf(name=known), key=ir.Local() | ir.SelfProcess() | ir.Attribute()):
            return known == name
        case _:
            return False


def _letterwise(protocol: ir.Protocol, name: str) -> int:
    """The number of places where only the first letter, or each letter by itself, matters."""
    found = 0
    for node in nodes((protocol.handlers, protocol.procedures)):
        match node:
            case ir.Mutate(place=place, method="push", arguments=arguments) if _is_queue(place, name):
                found += not _stands(arguments, name)
            case ir.Query(target=target, name="first") | ir.IsEmpty(target=target) if _is_queue(target, name):
                found += 1
            case ir.For(ref=True, domain=domain, body=body, name=item) if domain is not None and _is_queue(
                domain, name
            ):
                found += not _stands(body, name) and _changes_only(body, item)
            case ir.While(body=body) if _drains(body, name):
                found += 1
    return found


def _changes_only(body: Iterable[ir.Stmt], item: str) -> bool:
    """Whether the statements change the loop's element and nothing else, and send nothing."""
    for statement in body:
        match statement:
            case ir.Mutate(place=place) | ir.Assign(place=place):
                if _root(place) != item:
                    return False
            case ir.If(then=then, otherwise=otherwise):
                if not _changes_only((*then, *otherwise), item):
                    return False
            case _:
                return False
    return True


def _root(place: ir.Expr) -> str | None:
    """The local name that the place is a part of; None for a variable of the state."""
    match place:
        case ir.Local(name=name):
            return name
        case ir.FieldOf(target=target) | ir.Lookup(target=target) | ir.ElementAt(target=target):
            return _root(target)
        case _:
            return None


def _drains(body: tuple[ir.Stmt, ...], name: str) -> bool:
    """Whether the body of a loop takes one letter off the queue, and may send and leave, but changes nothing else.

    Then each turn depends on the first letter only, so equal letters are treated alike.
    """
    pops = 0
    for statement in body:
        match statement:
            case ir.Mutate(place=place, method="pop") if _is_queue(place, name):
                pops += 1
            case ir.Send():
                pass
            case ir.If(then=(ir.Return(),), otherwise=()):
                pass
            case _:
                return False
    return pops == 1


def _alike_from(protocol: ir.Protocol, name: str) -> int | None:
    """The least value that one step cannot tell from a larger one; None: the variable is no mere counter."""
    allowed, compared, down = 0, 0, 0
    for node in nodes((protocol.handlers, protocol.procedures)):
        match node:
            case (
                ir.Comparison(left=ir.StateOf(name=known), right=ir.Literal_(value=constant))
                | ir.Comparison(left=ir.Literal_(value=constant), right=ir.StateOf(name=known))
            ) if known == name:
                allowed += 1
                compared = max(compared, constant)
    for statement in _straight(protocol):
        match statement:
            case ir.Assign(
                place=ir.StateOf(name=known),
                value=ir.Arithmetic(
                    operator="+" | "-" as operator, left=ir.StateOf(name=read), right=ir.Literal_(value=constant)
                ),
            ) if known == read == name:
                allowed += 2
                down += constant if operator == "-" else 0
    return compared + down + 1 if allowed == _stands(protocol, name) else None


def _straight(protocol: ir.Protocol) -> Iterator[ir.Stmt]:
    """The statements of handlers that a step takes at most once: not in loops, not in procedures."""
    left = [statement for handler in protocol.handlers for statement in handler.body]
    while left:
        statement = left.pop()
        yield statement
        if isinstance(statement, ir.If):
            left += [*statement.then, *statement.otherwise]


def _waiting(protocol: ir.Protocol) -> str | None:
    """The queue of messages that `causal_send` pushes to. Raises: NotApplicable, where it is not used as a queue."""
    handler = next((each for each in protocol.handlers if each.event == "causal_send"), None)
    if handler is None:
        raise NotApplicable("the protocol sends nothing")
    pushed = {
        node.place.name
        for node in nodes(handler.body)
        if isinstance(node, ir.Mutate) and node.method == "push" and isinstance(node.place, ir.StateOf)
        and node.place.type == Collection("queue", MESSAGE)
    }  # fmt: skip
    if not pushed:
        return None
    if len(pushed) > 1:
        raise NotApplicable(f"messages wait in more than one queue: {', '.join(sorted(pushed))}")
    (name,) = pushed
    pushes = sum(1 for node in nodes(handler.body) if _is_push(node, name))
    if pushes != sum(1 for node in nodes((protocol.handlers, protocol.procedures)) if _is_push(node, name)):
        raise NotApplicable(f"messages come into `{name}` from elsewhere than `causal_send`")
    allowed = pushes
    for node in nodes((protocol.handlers, protocol.procedures)):
        match node:
            case ir.Mutate(place=ir.StateOf(name=known), method="pop") if known == name:
                allowed += 1
            case ir.Query(target=ir.StateOf(name=known), name="first") | ir.IsEmpty(target=ir.StateOf(name=known)) if (
                known == name
            ):
                allowed += 1
    if allowed != _stands(protocol, name):
        raise NotApplicable(f"`{name}`, in which messages wait, is not used as a queue only")
    if any(_is_push(node, name) and not _is_own(node, handler) for node in nodes(handler.body)):
        raise NotApplicable(f"`causal_send` puts other messages than its own into `{name}`")
    return name


def _is_own(push: ir.Mutate, handler: ir.Handler) -> bool:
    """Whether a statement of `causal_send` pushes the message that is sent."""
    match push.arguments:
        case (ir.Local(name=name),):
            return name == handler.parameters[0].name
        case _:
            return False


def _is_push(node: Any, name: str) -> bool:
    match node:
        case ir.Mutate(place=ir.StateOf(name=known), method="push"):
            return known == name
        case _:
            return False
