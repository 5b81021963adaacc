"""Immutable values: events, packets and commands, which are made by the million.

A frozen dataclass sets each of its fields through `object.__setattr__`, by name, which takes most of the time that it
takes to make one. A `value` is a frozen dataclass whose `__init__` stores into the slots
directly.

A `record` is the same for classes of trees, of which there are two hundred: a dataclass compiles six texts, and to make
the classes takes longer than to read a file. A record compiles one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

__all__ = ["record", "value"]

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


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, slots: bool) -> Callable[[type[T]], type[T]]:
        """As `@dataclass(frozen=True, slots=True)`, defaults included, in half the time for each class. No default is
        made anew for each instance, and nothing happens after `__init__`; a record extends records only."""
        assert frozen and slots, "a record is frozen, and has slots"
        return _record


def _record(cls: type[T]) -> type[T]:
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    objects: dict[str, Any] = {}
    first: list[str] = ["self"]
    named: list[str] = []
    stores: list[str] = []
    for field in fields(made):
        assert field.init and field.default_factory is MISSING, "a record has plain fields"
        name = field.name
        objects[f"_{name}"] = getattr(made, name).__set__
        stores.append(f"_{name}(self, {name})")
        if field.default is not MISSING:
            objects[f"_of_{name}"] = field.default
            name = f"{name}=_of_{name}"
        (named if field.kw_only else first).append(name)
    assert not hasattr(made, "__post_init__"), "nothing happens after `__init__`"
    compared = [field.name for field in fields(made) if field.compare]
    here, there = (f"({''.join(f'{of}.{name}, ' for name in compared)})" for of in ("self", "other"))
    parameters = [*first, *(["*", *named] if named else [])]
    text = [
        f"def __init__({', '.join(parameters)}): {'; '.join(stores) or 'pass'}",
        f"def __eq__(self, other): return {here} == {there} if other.__class__ is self.__class__ else NotImplemented",
        f"def __hash__(self): return hash({here})",
    ]
    exec("\n".join(text), objects)
    objects["__init__"].__annotations__ = {field.name: field.type for field in fields(made)} | {"return": None}
    methods = {name: objects[name] for name in ("__init__", "__eq__", "__hash__")}
    for name, method in methods.items():
        method.__qualname__ = f"{cls.__qualname__}.{name}"
    for name, method in {**methods, **_OF_RECORDS}.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _shown(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_to_set(_: Any, name: str, __: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, held in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, held)


_OF_RECORDS: dict[str, Any] = {
    "__repr__": _shown, "__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete,
    "__getstate__": _state, "__setstate__": _set_state,
}  # fmt: skip
"""The methods that all records have as they are."""
