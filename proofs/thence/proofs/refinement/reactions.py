"""Applications that send inside a delivery, of which a proof of a link says nothing.

NOTE(reactions): a proof takes the application's sends as steps of their own. Where nothing comes after a delivery in
its step, an application that sends inside of it is one that sends right after the step. Elsewhere the handler of the
send begins in a state that is none between steps, and in scopes with `reactive sends` the protocol may do what is
proved that it never does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes

SENDS_BETWEEN_STEPS = "nobody sends inside a delivery"


def something_follows_a_delivery(protocol: ir.Protocol) -> bool:
    """Whether a step may go on after a delivery, so that it matters whether the application sends inside of it."""
    if not protocol.sends:
        return False
    bodies = (*(each.body for each in protocol.handlers), *(each.body for each in protocol.procedures))
    return any(_delivers(each) for body in bodies for each in _followed(body))


def _delivers(statement: ir.Stmt) -> bool:
    return any(isinstance(node, ir.Deliver | ir.Call) for node in nodes(statement))


def _followed(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements after which something may come in their block, or which are rounds of loops."""
    yield from body[:-1]
    for last in body[-1:]:
        match last:
            case ir.If(then=then, otherwise=otherwise):
                yield from _followed(then)
                yield from _followed(otherwise)
            case ir.Deliver() | ir.Call():
                pass
            case _:
                yield last
