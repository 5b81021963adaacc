"""The order in which loops visit sets and maps: ascending, by the language; here the same in any order."""

from __future__ import annotations

from dataclasses import replace

from thence.dsl.ir.protocols import Procedure, Protocol
from thence.dsl.ir.statements import Call, Choose, Either, For, If, Stmt, While
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Collection, Map, Type


def in_any_order(protocol: Protocol) -> Protocol:
    """The protocol in which each loop over a set or a map visits it in an order that is chosen, like by `choose`."""
    return replace(
        protocol,
        handlers=tuple(replace(each, body=_unordered(each.body)) for each in protocol.handlers),
        procedures=tuple(replace(each, body=_unordered(each.body)) for each in protocol.procedures),
    )


def ordered_loops(protocol: Protocol) -> frozenset[tuple[str, str | None]]:
    """The handlers, by event, and packet kind, timer or input, that visit a set or a map, also by a procedure."""
    return frozenset(
        (handler.event, handler.kind) for handler in protocol.handlers if _visits(handler.body, protocol.procedures)
    )


def _visits(body: tuple[Stmt, ...], procedures: tuple[Procedure, ...]) -> bool:
    for node in nodes(body):
        match node:
            case For(domain=domain) if domain is not None and _is_unordered(domain.type):
                return True
            case Call(procedure=name):
                if _visits(next(each.body for each in procedures if each.name == name), procedures):
                    return True
            case _:
                continue
    return False


def _unordered(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(_unordered_statement(statement) for statement in body)


def _unordered_statement(statement: Stmt) -> Stmt:
    match statement:
        case If(then=then, otherwise=otherwise):
            return replace(statement, then=_unordered(then), otherwise=_unordered(otherwise))
        case While(body=body):
            return replace(statement, body=_unordered(body))
        case For(domain=domain, body=body):
            unordered = domain is not None and _is_unordered(domain.type)
            return replace(statement, body=_unordered(body), any_order=unordered)
        case Choose(body=body, otherwise=otherwise):
            return replace(statement, body=_unordered(body), otherwise=_unordered(otherwise))
        case Either(branches=branches):
            return replace(statement, branches=tuple(map(_unordered, branches)))
        case _:
            return statement


def _is_unordered(type_: Type) -> bool:
    return isinstance(type_, Map) or (isinstance(type_, Collection) and type_.kind == "set")
