"""The queries of a value, and the changes of a collection, by type."""

from __future__ import annotations

from typing import Literal, TypeAlias

from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Collection, Map, Record, Type
from thence.spec.value import record

Method: TypeAlias = Literal["push", "pop", "add", "remove", "clear"]

ATTRIBUTES: dict[str, Type] = {"src": PROCESS, "dst": PROCESS, "dsts": Collection("set", PROCESS)}
"""Of a message: its sender, its only destination, all its destinations."""


def queries(type_: Type) -> dict[str, Type]:
    """The names after the dot of a value of the type, and the type of each."""
    match type_:
        case Record(fields=fields):
            return dict(fields)
        case Map():
            return {"size": NAT}
        case Collection("option", item):
            return {"value": item}
        case Collection("set"):
            return {"size": NAT}
        case Collection("queue", item):
            return {"size": NAT, "first": item}
        case Collection("sliding array", item):
            return {"size": NAT, "first": NAT, "next": NAT, "peek": item}
        case Collection("sliding map"):
            return {"size": NAT, "first": NAT, "next": NAT}
        case _:
            return dict(ATTRIBUTES) if type_ == MESSAGE else {}


def element_type(type_: Type) -> Type | None:
    """The type of the elements that a loop or bound variable over the collection ranges over; None if it has none."""
    match type_:
        case Map(key=key):
            return key
        case Collection("set" | "queue" | "sliding array" | "sliding map", item):
            return item
        case _:
            return None


def place_type(type_: Type) -> Type | None:
    """The type of the places that `for ref` names, one by one; None if the elements are not places."""
    match type_:
        case Map(value=value):
            return value
        case Collection("queue" | "sliding array", item):
            return item
        case _:
            return None


def index_types(type_: Type, *, numbered: bool) -> tuple[Type, Type] | None:
    """The types of k and of `e[k]`; None if the value takes no index. `numbered`: sliding maps take one."""
    match type_:
        case Map(key=key, value=value):
            return key, value
        case Collection("sliding array", item):
            return NAT, item
        case Collection("sliding map", item) if numbered:
            return NAT, item
        case _:
            return None


def can_be_empty(type_: Type) -> bool:
    """Whether `is empty` can be asked."""
    return isinstance(type_, Map) or (isinstance(type_, Collection) and type_.kind != "option")


@record(frozen=True, slots=True)
class Operation:
    """A change of a collection in place: `place.method(arguments)`."""

    method: Method
    parameters: tuple[Type, ...]


def operations(type_: Type) -> tuple[Operation, ...]:
    """The changes that a collection takes."""
    match type_:
        case Map(key=key):
            return (Operation("remove", (key,)), Operation("clear", ()))
        case Collection("set", item):
            return (Operation("add", (item,)), Operation("remove", (item,)), Operation("clear", ()))
        case Collection("queue", item):
            return (
                Operation("push", (item,)),
                Operation("pop", ()),
                Operation("remove", (item,)),
                Operation("clear", ()),
            )
        case Collection("sliding array", item):
            return (Operation("add", (item,)), Operation("remove", ()), Operation("clear", ()))
        case Collection("sliding map", item):
            return (Operation("add", (item,)), Operation("remove", (item,)), Operation("clear", ()))
        case _:
            return ()
