"""Applications that send inside a delivery: of which of them a proof of a link says something.

NOTE(reactions): a proof takes the application's sends as steps of their own. A send inside a delivery is one right
after the step, if what the step still does has nothing to do with it: no delivery, no event of the link, no variable
that one of the two changes and the other one reads or changes, and no order of packets on channels. Then the state and
the events are the same in both orders; so are the transitions that the events are, if no clause for the send's events
speaks of the state before the step. Elsewhere the handler of the send begins in a state that is none between steps,
and in scopes with `reactive sends` the protocol may do what is proved that it never does.

NOTE(sends at heads): a link that says `reactive sends` is about these applications, too. Where a round of a loop
delivers, and the rest of the round has nothing to do with a send, the send is one at the next head of the loop. So what
a send changes is forgotten at the head, as what a round changes is, and from any state in which the invariants of heads
are true a send has to keep them. What is true between steps is claimed at these heads, too, unless it denies that there
is another round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir.substitution import mapped
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL
from thence.proofs.logic.formula import operands
from thence.proofs.refinement.effects import delivers, effects, sends_of, test_of_search, with_procedures

SENDS_BETWEEN_STEPS = "nobody sends inside a delivery"


@dataclass(frozen=True, slots=True)
class _Touched:
    """What statements have to do with the process and the network, and with the machine of a link."""

    read: frozenset[str]
    changed: frozenset[str]
    kinds: frozenset[str]
    delivers: bool


def sends_inside_matter(link: ir.Link) -> bool:
    """Whether a send inside a delivery may do something else than one right after the step."""
    return _matter(link, at_heads=False)


def sends_between_rounds(link: ir.Link) -> bool:
    """Whether a send inside a delivery is one after the step or at a loop's head: see NOTE(sends at heads)."""
    return not _matter(link, at_heads=True)


def _matter(link: ir.Link, *, at_heads: bool) -> bool:
    if not link.protocol.sends:
        return False
    handlers = link.protocol.handlers
    sends = _touched(link, *(each for each in handlers if each.event == "causal_send"))
    if _touched(link, *handlers).delivers and _reads_state(link, sends):
        return True
    rests = (rest for each in handlers for rest in _after(link, each.body, at_heads).rest)
    return any(_concern_each_other(link, sends, _touched(link, each)) for each in rests)


def sends_change_what_is_in(link: ir.Link, loop: ir.While) -> bool:
    """Whether a send inside a delivery of the loop may change a variable that the loop speaks of, so that a round may
    not be the step towards its end that it is by itself. See NOTE(ending) in `carrying.ending`."""
    if not link.reactive or not delivers(link, loop):
        return False
    alone = replace(link, reactive=False)
    return bool(effects(link, sends_of(link)).variables & _touched(alone, loop).read)


def _concern_each_other(link: ir.Link, sends: _Touched, rest: _Touched) -> bool:
    events = {clause.kind for clause in link.clauses if clause.event == "send"}
    ordered = not link.protocol.network.reordering and sends.kinds and rest.kinds
    variables = (sends.changed & rest.read) | (sends.changed & rest.changed) | (sends.read & rest.changed)
    return bool(rest.delivers or ordered or rest.kinds & events or variables)


def _reads_state(link: ir.Link, sends: _Touched) -> bool:
    """Whether what a send and its packets are in the machine depends on the state before the step."""
    about = {("causal_send", None), ("deliver", None), *(("send", kind) for kind in sends.kinds)}
    clauses = [each for each in link.clauses if (each.event, each.kind) in about]
    return any(isinstance(node, ir.StateOf) for node in nodes(tuple(clauses)))


def _touched(link: ir.Link, *parts: ir.Handler | ir.Stmt) -> _Touched:
    found = [*with_procedures(link, parts)]
    changed = effects(link, parts)
    places = [each.place for each in found if isinstance(each, ir.Ref)]
    return _Touched(
        _variables_in(*found),
        changed.variables | _variables_in(*(node for place in places for node in nodes(place))),
        changed.kinds,
        any(isinstance(node, ir.Deliver) for node in found),
    )


def _variables_in(*found: object) -> frozenset[str]:
    return frozenset(node.name for node in found if isinstance(node, ir.StateOf))


def between_at_heads(link: ir.Link) -> frozenset[str]:
    """The formulas of the link between steps that are claimed at the heads of loops that deliver, too: those that deny
    no test of these loops. See NOTE(sends at heads)."""
    everything = (*link.protocol.handlers, *link.protocol.procedures)
    loops = [node for node in nodes(everything) if isinstance(node, ir.While) and delivers(link, node)]
    tests = [_shape(loop.condition) for loop in loops]
    return frozenset(
        each.name
        for each in link.invariants
        if each.name in link.between and not any(_denies(_shape(each.body), test) for test in tests)
    )


def _denies(formula: ir.Expr, test: ir.Expr) -> bool:
    while isinstance(formula, ir.Quantified):
        formula = formula.body
    return any(each == ir.Not(BOOL, test) or test == ir.Not(BOOL, each) for each in operands(formula, "and"))


def _shape(expr: ir.Expr) -> ir.Expr:
    """The expression whatever the names, and whatever the process of a variable."""
    match expr:
        case ir.Local(type=type_):
            return ir.Local(type_, "_")
        case ir.StateOf():
            return replace(expr, process=None)
        case _:
            return mapped(expr, _shape)


@dataclass(frozen=True, slots=True)
class _After:
    """What comes after the deliveries of a block, up to its end or to the head of a loop.

    Attributes:
        leaves: whether what comes after the block does, too.
        returns: whether the block may end its procedure or handler after a delivery.
    """

    rest: tuple[ir.Stmt, ...] = ()
    leaves: bool = False
    returns: bool = False


def _after(link: ir.Link, body: Sequence[ir.Stmt], at_heads: bool) -> _After:
    """`at_heads`: up to the head of a loop. Else a loop that delivers comes after its deliveries as a whole."""
    rest, leaves, returns = list[ir.Stmt](), False, False
    for at, statement in enumerate(body):
        for part in _parts(link, statement, at_heads):
            behind = body[at + 1 :] if part.leaves else ()
            rest += [*part.rest, *behind]
            leaves |= part.leaves
            returns |= part.returns or any(isinstance(node, ir.Return) for node in nodes(tuple(behind)))
    return _After(tuple(rest), leaves, returns)


def _parts(link: ir.Link, statement: ir.Stmt, at_heads: bool) -> Iterator[_After]:
    match statement:
        case ir.Deliver():
            yield _After(leaves=True)
        case ir.Call(procedure=name):
            called = next(each for each in link.protocol.procedures if each.name == name)
            yield replace(_after(link, called.body, at_heads), returns=False)
        case ir.If(then=then, otherwise=otherwise):
            yield from (_after(link, block, at_heads) for block in (then, otherwise))
        case ir.Choose(body=block, otherwise=otherwise):
            yield from (_after(link, each, at_heads) for each in (block, otherwise))
        case ir.Either(branches=branches):
            yield from (_after(link, block, at_heads) for block in branches)
        case ir.For() if (test := test_of_search(statement)) is not None:  # its first round is the last one
            yield _after(link, test.then, at_heads)
        case ir.While(body=block) | ir.For(body=block):
            inside = _after(link, block, at_heads)
            if at_heads:
                yield replace(inside, leaves=inside.returns)
            elif inside.leaves:
                yield _After((statement,), True, inside.returns)
        case _:
            pass
