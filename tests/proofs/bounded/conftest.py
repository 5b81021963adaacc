"""Values as symbolic constants, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.dsl.ir.types import Bool, Collection, Map, Nat, Record, Sort, Type, has_zero
from thence.dsl.run.values import ABSENT, Message, Value, ascending, lookup, with_entry, zero
from thence.proofs.bounded.circuit import FALSE, TRUE
from thence.proofs.bounded.symbolic import (
    Choice,
    Fields,
    Flags,
    Index,
    Maybe,
    Slots,
    Symbolic,
    Table,
    Window,
    is_scalar,
    known,
    zero_value,
)


class Constants:
    """Between values and symbolic constants; messages are numbered in the order of `messages`."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages

    def scalar(self, value: Value) -> int:
        return self.messages.index(value) if isinstance(value, Message) else int(value)

    def encode(self, value: Value, type_: Type) -> Symbolic:
        match type_:
            case Bool():
                return TRUE if value else FALSE
            case Nat() | Sort():
                return known(self.scalar(value))
            case Record(_, fields):
                return Fields(tuple(self.encode(part, of) for part, (_, of) in zip(value, fields, strict=True)))
            case Map(_, of):
                entries = ((self.scalar(key), TRUE, self.encode(part, of)) for key, part in value)
                return Table(tuple(sorted(entries, key=lambda entry: entry[0])))
            case Collection("option", of):
                return zero_value(type_) if value is None else Maybe(TRUE, self.encode(value[0], of))
            case Collection("set", of) if not is_scalar(of):
                return Slots(known(len(value)), tuple(self.encode(part, of) for part in ascending(value)))
            case Collection("set"):
                return Flags(tuple((element, TRUE) for element in sorted(map(self.scalar, value))))
            case Collection("queue", of):
                return Slots(known(len(value)), tuple(self.encode(part, of) for part in value))
            case Collection("sliding array", of):
                first, items = value
                indexed = tuple((first + at, self.encode(item, of)) for at, item in enumerate(items))
                return Window(known(first), known(first + len(items)), indexed)
            case Collection(_, of):
                following, pairs = value
                return Index(known(following), tuple((index, TRUE, self.encode(item, of)) for index, item in pairs))

    def number(self, value: Symbolic) -> int:
        assert isinstance(value, Choice)
        (found,) = [option for option, literal in value.options if literal == TRUE]
        assert all(literal in (TRUE, FALSE) for _, literal in value.options)
        return found

    def decode(self, value: Symbolic, type_: Type) -> Any:
        match type_, value:
            case Bool(), int():
                assert value in (TRUE, FALSE)
                return value == TRUE
            case Sort("message"), Choice():
                return self.messages[self.number(value)]
            case ((Nat() | Sort()), Choice()):
                return self.number(value)
            case Record(_, fields), Fields(values):
                return tuple(self.decode(part, of) for part, (_, of) in zip(values, fields, strict=True))
            case Map(key_type, of), Table(entries):
                found: Any = ()
                for key, there, part in entries:
                    if there == TRUE:
                        item = self.decode(part, of)
                        gone = has_zero(of) and item == zero(of)
                        found = with_entry(found, self.decode(known(key), key_type), ABSENT if gone else item)
                assert lookup(found, object()) is ABSENT
                return found
            case Collection("option", of), Maybe(present, item):
                return (self.decode(item, of),) if present == TRUE else None
            case Collection("set", of), Flags(members):
                return frozenset(self.decode(known(one), of) for one, there in members if there == TRUE)
            case Collection("set", of), Slots(count, items):
                return frozenset(self.decode(item, of) for item in items[: self.number(count)])
            case Collection("queue", of), Slots(count, items):
                return tuple(self.decode(item, of) for item in items[: self.number(count)])
            case Collection("sliding array", of), Window(first, following, indexed):
                start, end = self.number(first), self.number(following)
                return start, tuple(self.decode(item, of) for index, item in indexed if start <= index < end)
            case Collection("sliding map", of), Index(following, entries):
                kept = tuple((index, self.decode(item, of)) for index, there, item in entries if there == TRUE)
                return self.number(following), kept
            case _:
                raise AssertionError((value, type_))


@pytest.fixture(scope="session")
def constants() -> Callable[[list[Message]], Constants]:
    return Constants
