"""The types of the language."""

from __future__ import annotations

from typing import Literal, TypeAlias

from thence.spec.value import record


@record(frozen=True, slots=True)
class Sort:
    """A sort without structure: `process`, `message`, or a sort that a theory declares (`time`)."""

    name: str

    def __str__(self) -> str:
        return self.name


@record(frozen=True, slots=True)
class Bool:
    def __str__(self) -> str:
        return "bool"


@record(frozen=True, slots=True)
class Nat:
    """Natural numbers; a step that takes one below zero is a fault of the protocol."""

    def __str__(self) -> str:
        return "nat"


@record(frozen=True, slots=True)
class Record:
    """Named fields in declaration order; two records are equal by name and fields."""

    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return self.name

    def field(self, name: str) -> Type | None:
        return next((type_ for label, type_ in self.fields if label == name), None)


@record(frozen=True, slots=True)
class Collection:
    """`option of T`, `set of T`, `queue of T`, `sliding array of T`, `sliding map of T`."""

    kind: Literal["option", "set", "queue", "sliding array", "sliding map"]
    item: Type

    def __str__(self) -> str:
        return f"{self.kind} of {self.item}"


@record(frozen=True, slots=True)
class Map:
    """A map; a key that is not mapped reads as the zero of the value type, where that has one."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"map {self.key} to {self.value}"


Type: TypeAlias = Sort | Bool | Nat | Record | Collection | Map

PROCESS = Sort("process")
MESSAGE = Sort("message")
BOOL = Bool()
NAT = Nat()


def has_zero(type_: Type) -> bool:
    """Whether the type has a value that a variable or map entry starts from.

    Processes, messages, sorts and records have none: a map to them is partial.
    """
    return not isinstance(type_, Sort | Record)
