"""The order in which loops visit sets and maps: ascending, by the language; here the same with the opposite."""

from __future__ import annotations

from dataclasses import replace

from thence.dsl.ir.declarations import Procedure, Protocol
from thence.dsl.ir.statements import Call, Choose, Either, For, If, Stmt, While
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Collection, Map, Type


def in_descending_order(protocol: Protocol) -> Protocol:
    """The protocol in which each loop over a set or a map visits it in descending order."""
    return replace(
        protocol,
        handlers=tuple(replace(each, body=_reversed(each.body)) for each in protocol.handlers),
        procedures=tuple(replace(each, body=_reversed(each.body)) for each in protocol.procedures),
    )


def ordered_loops(protocol: Protocol) -> frozenset[tuple[str, str | None]]:
    """The handlers, by event, and packet kind or timer, in which a set or a map is visited, there or in a procedure."""
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


def _reversed(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(_reversed_statement(statement) for statement in body)


def _reversed_statement(statement: Stmt) -> Stmt:
    match statement:
        case If(then=then, otherwise=otherwise):
            return replace(statement, then=_reversed(then), otherwise=_reversed(otherwise))
        case While(body=body):
            return replace(statement, body=_reversed(body))
        case For(domain=domain, body=body):
            unordered = domain is not None and _is_unordered(domain.type)
            return replace(statement, body=_reversed(body), descending=unordered != statement.descending)
        case Choose(body=body, otherwise=otherwise):
            return replace(statement, body=_reversed(body), otherwise=_reversed(otherwise))
        case Either(branches=branches):
            return replace(statement, branches=tuple(map(_reversed, branches)))
        case _:
            return statement


def _is_unordered(type_: Type) -> bool:
    return isinstance(type_, Map) or (isinstance(type_, Collection) and type_.kind == "set")
