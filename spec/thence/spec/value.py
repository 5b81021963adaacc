"""Immutable values: events, packets and commands, which are made by the million.

A frozen dataclass sets each of its fields through `object.__setattr__`, by name, which takes most of the time that it
takes to make one. A `value` is a frozen dataclass whose `__init__` stores into the slots
directly.

A `record` is the same for classes of trees, of which there are two hundred: a dataclass compiles six texts, and to make
the classes takes longer than to read a file. Records with so many fields share one text, compiled once; each gives its
own names to what was compiled.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from functools import cache
from types import CodeType, FunctionType
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
        """As `@dataclass(frozen=True, slots=True)`, defaults included, in less time for each class. No default is
        made anew for each instance, and nothing happens after `__init__`; a record extends records only."""
        assert frozen and slots, "a record is frozen, and has slots"
        return _record


def _record(cls: type[T]) -> type[T]:
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    assert not hasattr(made, "__post_init__"), "nothing happens after `__init__`"
    every = sorted(fields(made), key=lambda field: bool(field.kw_only))  # the order of parameters
    assert all(field.init and field.default_factory is MISSING for field in every), "a record has plain fields"
    names = [field.name for field in every]
    given = {field.name: field.default for field in every if field.default is not MISSING}
    named = sum(bool(field.kw_only) for field in every)
    first = names[: len(names) - named]
    stores = {f"_{index}": getattr(made, name).__set__ for index, name in enumerate(names)}
    template = _templates(len(names))[0].replace(co_argcount=1 + len(first), co_kwonlyargcount=named)
    init = _like(template, names, stores)
    init.__defaults__ = tuple(given[name] for name in first if name in given) or None
    init.__kwdefaults__ = {name: given[name] for name in names[len(first) :] if name in given} or None
    init.__annotations__ = {field.name: field.type for field in fields(made)} | {"return": None}
    compared = [field.name for field in fields(made) if field.compare]
    _, eq, hashed = _templates(len(compared))
    for method in (init, _like(eq, compared, {}), _like(hashed, compared, {})):
        method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
        if method.__name__ not in cls.__dict__:
            setattr(made, method.__name__, method)
    for name, held in _OF_RECORDS.items():
        if name not in cls.__dict__:
            setattr(made, name, held)
    return made  # type: ignore[no-any-return]


@cache
def _templates(count: int) -> tuple[CodeType, CodeType, CodeType]:
    """`__init__`, `__eq__` and `__hash__` of records with so many fields, here called `f0`, `f1` and so on."""
    names = [f"f{index}" for index in range(count)]
    here, there = (f"({''.join(f'{of}.{name}, ' for name in names)})" for of in ("self", "other"))
    stores = "; ".join(f"_{index}(self, {name})" for index, name in enumerate(names)) or "pass"
    text = [
        f"def __init__({', '.join(['self', *names])}): {stores}",
        f"def __eq__(self, other): return {here} == {there} if other.__class__ is self.__class__ else NotImplemented",
        f"def __hash__(self): return hash({here})",
    ]
    methods: dict[str, Any] = {}
    exec("\n".join(text), methods)
    return methods["__init__"].__code__, methods["__eq__"].__code__, methods["__hash__"].__code__


def _like(template: CodeType, names: Sequence[str], objects: dict[str, Any]) -> FunctionType:
    """A function like the template, with these names in the place of `f0`, `f1` and so on."""
    own = {f"f{index}": name for index, name in enumerate(names)}
    attributes = tuple(own.get(name, name) for name in template.co_names)
    parameters = tuple(own.get(name, name) for name in template.co_varnames)
    code = template.replace(co_names=attributes, co_varnames=parameters)
    return FunctionType(code, {"__builtins__": builtins, **objects}, template.co_name)


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
