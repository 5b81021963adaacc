"""Constants and roles of a protocol, replaced by their values: what is left knows nothing of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from thence.dsl.ir.protocols import Protocol
from thence.dsl.ir.terms import Apply, Literal_
from thence.dsl.ir.types import PROCESS
from thence.dsl.text.syntax import Span
from thence.spec.user_error import UserError

Tree = TypeVar("Tree")


class NoSuchProcess(UserError):
    """A role names a process that is not there."""


def values_of(protocol: Protocol, given: Mapping[str, int | bool], processes: int) -> dict[str, int | bool]:
    """The values of the protocol's constants and roles: those that are given, otherwise those of its text.

    Raises: NoSuchProcess.
    """
    values = {one.name: given.get(one.name, one.value) for one in protocol.constants}
    for one in protocol.constants:
        if one.type == PROCESS and values[one.name] >= processes:
            there = f"the processes are 0 to {processes - 1}"
            raise NoSuchProcess(f"role `{one.name}` of `{protocol.name}` is process {values[one.name]}, but {there}")
    return values


def with_values(protocol: Protocol, given: Mapping[str, int | bool], processes: int) -> Protocol:
    """The protocol with the values of its constants and roles in their places. Raises: NoSuchProcess."""
    if not protocol.constants:
        return protocol
    return elaborated(replace(protocol, constants=()), values_of(protocol, given, processes))


def elaborated(tree: Tree, values: Mapping[str, int | bool]) -> Tree:
    """A part of a protocol, or of what is about it, with these constants and roles replaced by their values."""
    return _replaced(tree, values) if values else tree


def _replaced(part: Any, values: Mapping[str, int | bool]) -> Any:
    match part:
        case Apply(symbol=name, arguments=()) if name in values:
            return Literal_(part.type, values[name], span=part.span)
        case tuple():
            changed = [_replaced(each, values) for each in part]
            return part if all(new is old for new, old in zip(changed, part, strict=True)) else tuple(changed)
        case _ if is_dataclass(part) and not isinstance(part, type | Span):
            news = {one.name: _replaced(getattr(part, one.name), values) for one in fields(part) if one.name != "type"}
            news = {name: new for name, new in news.items() if new is not getattr(part, name)}
            return replace(part, **news) if news else part
        case _:
            return part
