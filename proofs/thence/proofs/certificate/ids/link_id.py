"""The canonical typed form of a link between a protocol and a machine, and its id.

Two links have the same id exactly when protocol, machine and clauses say the same in the same words. Names of
parameters and of local variables count, other than in theorems and machines. Comments, positions, documentation, the
order of declarations, and all that is not about the link do not: properties of the protocol, its promises and scopes,
and the invariants of the link, which are hints for a proof. An invariant of the protocol that the link shows has an id
of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import get_args

from thence.dsl import ir
from thence.dsl.ir.properties import DELIVERED
from thence.dsl.ir.types import Type
from thence.proofs.certificate.ids.statement_id import Form, awaited_form, digest, machine_form, machine_statement_id

_UNTOLD = frozenset({"span", "label", "doc"})


def link_id(link: ir.Link) -> str:
    """The id of the statement that every event of the protocol is a step of the machine, by the link's clauses."""
    return digest(
        {
            "protocol": protocol_form(link.protocol),
            "machine": machine_form(link.machine),
            "clauses": _sorted(link.clauses),
            "internal": sorted(link.internal),
        }
    )


def progress_id(link: ir.Link) -> str:
    """The id of the statement that fair runs of the protocol do what a statement of the machine waits for."""
    assert link.delivered_by is not None
    parts = {"link": link_id(link), "machine": machine_statement_id(link.machine, link.delivered_by)}
    fairness: Form = ["weakly" if link.protocol.weakly else "strongly", *sorted(link.protocol.fairness)]
    waits_for = awaited_form(link.machine, link.delivered_by)
    return digest({"progress": parts, "fairness": fairness, "waits for": waits_for})


def carried_id(link: ir.Link, machine: ir.Machine, name: str, own: str) -> str:
    """The id of the statement that the protocol of the link has a property, by it and the machine's statement `own`."""
    parts = {"link": link_id(link), "machine": machine_statement_id(machine, own)}
    if name == DELIVERED:
        parts["progress"] = progress_id(link)
    return digest({"protocol": protocol_form(link.protocol), "property": name, **parts})


def invariant_id(link: ir.Link, invariant: ir.NamedFormula) -> str:
    """The id of the statement that an invariant of the protocol is true in every run that is one of the machine's."""
    return digest({"link": link_id(link), "follows": written(invariant.body)})


def protocol_form(protocol: ir.Protocol) -> Form:
    """The transitions of a protocol, and its network; not what is claimed of it."""
    return {
        "network": written(protocol.network),
        "delivery": protocol.delivery,
        "packets": _sorted(protocol.packets),
        "records": _sorted(protocol.records),
        "constants": _sorted(protocol.constants),
        "state": _sorted(protocol.state),
        "handlers": _sorted(protocol.handlers),
        "procedures": _sorted(protocol.procedures),
    }


def written(node: object) -> Form:
    """A part of a protocol or link, by kind and parts. Raises: AssertionError for what is no such part."""
    match node:
        case None:
            return "none"
        case bool() | int() | str():
            return node
        case tuple():
            return [written(part) for part in node]
        case _ if isinstance(node, get_args(Type)):
            return str(node)
    assert is_dataclass(node), f"not part of a link: {type(node).__name__}"
    derived = isinstance(node, ir.Expression) and not isinstance(node, ir.Literal_ | ir.Zero)
    untold = _UNTOLD | {"type"} if derived else _UNTOLD
    return [
        type(node).__name__,
        *(written(getattr(node, each.name)) for each in fields(node) if each.name not in untold),
    ]


def _sorted(parts: Iterable[object]) -> Sequence[Form]:
    return sorted(map(written, parts), key=json.dumps)
