"""Packets in flight and actions as the language writes them: `KIND(a, b) from p to q in flight`, `p delivers m`.

In the IR one variable stands for the packet or action, and the names are its fields. Here they are given names again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.remembered import remembered
from thence.dsl.ir.substitution import mapped
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Record

Names: TypeAlias = Mapping[tuple[str, str], str]
"""The name of each field of each packet, by the packet's variable."""

_ENDS: Final = {"from'": "sender", "to'": "receiver"}
"""The fields for the ends of a channel, and how they are called."""

_CALLED: Final = {**_ENDS, "by'": "p", "message'": "m"}
"""The fields that no text declares, and how they are called."""


def with_packet_names(expression: ir.Expr, others: Iterable[str] = ()) -> ir.Expr:
    """The expression to be shown: a variable for a packet in flight or an action is called as it is written; that
    of a packet has no domain. `others` are names that no field gets, beside those that the expression uses."""
    if not _names_are_missing(expression):
        return expression
    used = {*others, *(node.name for node in nodes(expression) if isinstance(node, ir.Local | ir.Bound))}
    used |= {node.symbol for node in nodes(expression) if isinstance(node, ir.Apply)}
    return _named(expression, {}, frozenset(used))


@remembered
def _names_are_missing(expression: ir.Expr) -> bool:
    """Whether a variable stands for a packet in flight, an element of a queue or an action."""
    return any(isinstance(node, ir.InFlight | ir.Placed | ir.Acted) for node in nodes(expression))


def field_names(variable: ir.Bound, formula: ir.Quantified, taken: Iterable[str]) -> Names:
    """The names of the fields of a variable for packets in flight, actions or elements of a queue, others than those
    `taken`; of other variables none."""
    match variable.domain:
        case ir.InFlight() | ir.Acted():
            return _names_of(variable, formula, frozenset(taken))
        case ir.Placed():
            return {(variable.name, "item'"): variable.name.removesuffix("'")}
        case _:
            return {}


def with_field_names(part: ir.Expr, names: Names) -> ir.Expr:
    """A part of a formula, in which the fields have these names."""
    if not names and not _names_are_missing(part):
        return part
    free = {node.name for node in nodes(part) if isinstance(node, ir.Local)}
    return _named(part, names, frozenset(names.values()) | free)


def _named(part: ir.Expr, names: Names, taken: frozenset[str]) -> ir.Expr:
    match part:
        case ir.FieldOf(target=ir.Local(name=packet), name=label) if (packet, label) in names:
            return ir.Local(part.type, names[packet, label], span=part.span)
        case ir.Quantified(variables=variables):
            bounds: list[ir.Bound] = []
            for variable in variables:
                domain = variable.domain
                if isinstance(domain, ir.InFlight):
                    own = _names_of(variable, part, taken)
                    names, taken = {**names, **own}, taken | {*own.values()}
                    bounds.append(replace(variable, name=_text(domain, own), domain=None))
                elif isinstance(domain, ir.Placed):
                    called = variable.name.removesuffix("'")
                    names, taken = {**names, (variable.name, "item'"): called}, taken | {called}
                    name = called if domain.ahead is None else f"{called} ahead"
                    queue = None if domain.ahead is not None else _named(domain.queue, names, taken)
                    bounds.append(replace(variable, name=name, domain=queue))
                elif isinstance(domain, ir.Acted):
                    own = _names_of(variable, part, taken)
                    names, taken = {**names, **own}, taken | {*own.values()}
                    bounds.append(replace(variable, name=_action(domain, own)))
                else:
                    changed = None if domain is None else _named(domain, names, taken)
                    bounds.append(replace(variable, domain=changed))
            return replace(part, variables=tuple(bounds), body=_named(part.body, names, taken))
        case _:
            return mapped(part, lambda inner: _named(inner, names, taken))


def _names_of(packet: ir.Bound, formula: ir.Quantified, taken: frozenset[str]) -> Names:
    """Names for all parameters, and for those ends that the formula reads."""
    assert isinstance(packet.type, Record)
    read = {
        node.name
        for node in nodes(formula)
        if isinstance(node, ir.FieldOf) and isinstance(node.target, ir.Local) and node.target.name == packet.name
    }
    own: dict[tuple[str, str], str] = {}
    for label, _ in packet.type.fields:
        if label in _ENDS and label not in read:
            continue
        name = called = _CALLED.get(label, label)
        number = 1
        while name in taken or name in own.values():
            number += 1
            name = f"{called}_{number}"
        own[packet.name, label] = name
    return own


def _text(domain: ir.InFlight, own: Names) -> str:
    parameters = ", ".join(name for (_, label), name in own.items() if label not in _ENDS)
    ends = "".join(f" {label[:-1]} {name}" for (_, label), name in own.items() if label in _ENDS)
    return f"{domain.kind}({parameters}){ends} in flight{'' if domain.ahead is None else ' ahead'}"


def _action(done: ir.Acted, own: Names) -> str:
    names = {label: name for (_, label), name in own.items()}
    by, sender = names.pop("by'"), names.pop("from'", None)
    listed = ", ".join(names.values())
    what = listed if done.kind is None else f"{done.kind}({listed})"
    return f"{by} {done.verb} {what}{'' if sender is None else f' from {sender}'}"
