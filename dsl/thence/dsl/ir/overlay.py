"""An overlay in plain expressions, for whoever reads a protocol's text: what is left has no overlay.

The first value of `neighbors` becomes a set for each process, and the receiver of a packet has no value where it is no
neighbor, which is a fault. The interpreter judges the packets of a step instead; both find the same faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from thence.dsl.ir import topology
from thence.dsl.ir.protocols import Protocol
from thence.dsl.ir.statements import Send
from thence.dsl.ir.terms import (
    Apply,
    Comparison,
    Conditional,
    Expr,
    Literal_,
    Member,
    Query,
    SelfProcess,
    SetOf,
    StateOf,
    Zero,
)
from thence.dsl.ir.types import BOOL, PROCESS, Collection
from thence.dsl.text.syntax import Span

_SET = Collection("set", PROCESS)
_NOBODY = Query(PROCESS, Zero(Collection("option", PROCESS)), "value")
"""A process that is none: evaluating it is a fault."""


def spelled_out(protocol: Protocol, processes: int) -> Protocol:
    """The protocol, whose links a scope has given, without its overlay: it has the same steps and the same faults."""
    if not protocol.network.overlay:
        return protocol
    near = _neighbors(topology.overlay(protocol.network.links, processes))
    state = tuple(replace(variable, initial=_given(variable.initial, near)) for variable in protocol.state)
    return replace(
        protocol,
        network=replace(protocol.network, overlay=False, links=()),
        state=state,
        handlers=_kept(protocol.handlers),
        procedures=_kept(protocol.procedures),
    )


def _neighbors(known: tuple[frozenset[int], ...]) -> Expr:
    """The set of the process that reads it."""
    sets = [SetOf(_SET, tuple(Literal_(PROCESS, process) for process in sorted(near))) for near in known]
    found: Expr = sets[-1]
    for process, near in reversed(list(enumerate(sets[:-1]))):
        is_here = Comparison(BOOL, "=", SelfProcess(PROCESS), Literal_(PROCESS, process))
        found = Conditional(_SET, is_here, near, found)
    return found


def _given(part: Any, near: Expr) -> Any:
    """A part of an initial value, with the set in the place of `neighbors`."""
    match part:
        case Apply(symbol=topology.NEIGHBORS):
            return near
        case _:
            return _each(part, lambda one: _given(one, near))


def _kept(part: Any) -> Any:
    match part:
        case Send(to=to):
            linked = Member(BOOL, to, StateOf(_SET, topology.NEIGHBORS, None))
            return replace(part, to=Conditional(PROCESS, linked, to, _NOBODY))
        case _:
            return _each(part, _kept)


def _each(part: Any, changed: Callable[[Any], Any]) -> Any:
    """The part, with its own parts changed."""
    match part:
        case tuple():
            return tuple(changed(each) for each in part)
        case _ if is_dataclass(part) and not isinstance(part, type | Span):
            return replace(part, **{one.name: changed(getattr(part, one.name)) for one in fields(part) if one.init})
        case _:
            return part
