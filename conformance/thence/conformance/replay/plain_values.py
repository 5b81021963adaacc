"""The plain form of values, in which a protocol's and a subject's are compared: see the table in `packet_fields`.

For each type there is a function that gives the plain form. It is made once, and runs for every packet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, TypeAlias

from thence.conformance.systems.contract import Foreign
from thence.dsl.ir.types import NAT, PROCESS, Bool, Collection, Map, Nat, Record, Sort, Type
from thence.dsl.run.values import Value

Plain: TypeAlias = Any
"""A value of either side, in the form in which both are compared."""

MISSING: Final = object()
"""In the place of an attribute that is not there."""


class Incomparable(Exception):
    """The value stands for none of the type."""


def attribute(packet: object, name: str) -> Any:
    """Its attribute, or what a program says in `fields`; `MISSING` where there is none."""
    if isinstance(packet, Foreign):
        return (packet.fields or {}).get(name, MISSING)
    try:
        return getattr(packet, name, MISSING)
    except Exception:
        return MISSING


@cache
def plain(type_: Type) -> Callable[[Value], Plain]:
    """Gives the plain form of the protocol's values of the type. It raises Incomparable where they are not compared."""
    match type_:
        case Nat() | Bool() | Sort("process"):
            return lambda value: value
        case Sort("message"):
            return lambda value: value.name
        case Record(fields=fields):
            inner = [plain(kind) for _, kind in fields]
            return lambda value: tuple([part(held) for part, held in zip(inner, value, strict=False)])
        case Collection("option", Collection("option")):
            return _refuse  # None could be either.
        case Collection("option", item):
            held = plain(item)
            return lambda value: None if value is None else (held(value[0]),)
        case Collection("set", item):
            held = plain(item)
            return lambda value: frozenset([held(part) for part in value])
        case Collection("queue", item):
            held = plain(item)
            return lambda value: tuple([held(part) for part in value])
        case Map(key, item):
            known, held = plain(key), plain(item)
            return lambda value: frozenset([(known(one), held(part)) for one, part in value])
        case _:
            return _refuse


@cache
def stands_for(type_: Type) -> Callable[[Any], Plain]:
    """Gives the plain form of a subject's value. It raises Incomparable where that stands for no value of the type."""
    match type_:
        case Nat() | Sort("process"):
            return _exactly(int)
        case Bool():
            return _exactly(bool)
        case Sort("message"):
            return _exactly(str)
        case Record(fields=fields):
            return _record([(name, stands_for(kind)) for name, kind in fields])
        case Collection("option", Collection("option")):
            return _refuse
        case Collection("option", item):
            held = stands_for(item)
            return lambda value: None if value is None else (held(value),)
        case Collection("set", item):
            return _set(stands_for(item))
        case Collection("queue", item):
            return _queue(stands_for(item))
        case Map(key, item):
            return _mapping(key, item)
        case _:
            return _refuse


def _refuse(_: Any) -> Plain:
    raise Incomparable


def _exactly(kind: type) -> Callable[[Any], Plain]:
    def read(value: Any) -> Plain:
        if type(value) is kind:
            return value
        raise Incomparable

    return read


def _record(fields: list[tuple[str, Callable[[Any], Plain]]]) -> Callable[[Any], Plain]:
    def read(value: Any) -> Plain:
        known = value.get if type(value) is dict else lambda name: attribute(value, name)
        return tuple([part(known(name)) for name, part in fields])

    return read


def _set(item: Callable[[Any], Plain]) -> Callable[[Any], Plain]:
    def read(value: Any) -> Plain:
        if not isinstance(value, set | frozenset | list | tuple):
            raise Incomparable
        found = frozenset([item(part) for part in value])
        if len(found) < len(value):
            raise Incomparable
        return found

    return read


def _queue(item: Callable[[Any], Plain]) -> Callable[[Any], Plain]:
    def read(value: Any) -> Plain:
        if type(value) is list or type(value) is tuple:
            return tuple([item(part) for part in value])
        raise Incomparable

    return read


def _mapping(key: Type, item: Type) -> Callable[[Any], Plain]:
    known, held, first = stands_for(key), stands_for(item), _first(item)
    vector, numbered = key == PROCESS, key in (NAT, PROCESS)

    def read(value: Any) -> Plain:
        pairs: Iterable[tuple[Any, Any]]
        if type(value) is dict:
            keys = [int(one) if numbered and type(one) is str and one.isdecimal() else one for one in value]
            pairs = zip(map(known, keys), value.values(), strict=True)
        elif vector and (type(value) is list or type(value) is tuple):
            pairs = enumerate(value)
        else:
            raise Incomparable
        return frozenset([pair for one, part in pairs if (pair := (one, held(part)))[1] not in first])

    return read


def _first(type_: Type) -> tuple[Plain, ...]:
    """The value from which entries of a map start, where their type has one."""
    match type_:
        case Sort() | Record():
            return ()
        case Collection("option"):
            return (None,)
        case Bool():
            return (False,)
        case Nat():
            return (0,)
        case Map() | Collection("set"):
            return (frozenset(),)
        case _:
            return ((),)
