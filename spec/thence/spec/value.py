"""Immutable values: events, packets and commands, which are made by the million.

A frozen dataclass sets each of its fields through `object.__setattr__`, by name, which takes most of the time that it
takes to make one. A `value` is a frozen dataclass whose `__init__` stores into the slots
directly.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """As `@dataclass(frozen=True, slots=True)`, for classes whose fields have no defaults; making one is faster."""
    made: Any = dataclass(frozen=True, slots=True, init=False)(cls)
    names = []
    for field in fields(made):
        assert field.default is MISSING and field.default_factory is MISSING, "a value is given all that it has"
        names.append(field.name)
    stores = {f"_{name}": made.__dict__[name].__set__ for name in names}
    body = "; ".join(f"_{name}(self, {name})" for name in names) or "pass"
    exec(f"def __init__({', '.join(['self', *names])}): {body}", stores)
    made.__init__ = stores["__init__"]
    made.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return made  # type: ignore[no-any-return]
