"""Constants and roles of a protocol: `constant quorum: nat = 2`, `role coordinator: process = 0`.

They have the same value at all processes, all the time. A scope or a scenario may give another value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thence.dsl import ir
from thence.dsl.check.terms.environment import a, declare
from thence.dsl.check.terms.types import resolve_type
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Type
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span


def check_constants(
    written: Sequence[syntax.NamedValue], names: dict[str, Span], types: dict[str, Type | None], reporter: Reporter
) -> tuple[ir.Constant, ...]:
    """The typed constants and roles, whose names are entered in `names`; what is wrong is reported."""
    found: list[ir.Constant] = []
    for one in written:
        name = one.name.text
        type_ = resolve_type(one.type, types, reporter)
        fresh = declare(one.name, one.keyword, names, reporter)
        if fresh and name in types:
            reporter.error("E0209", one.name.span, f"`{name}` hides the type of this name")
            continue
        if type_ is None or not fresh:
            continue
        if one.keyword == "role" and type_ != PROCESS:
            said = f"role `{name}` is {a(type_)}: a role is a process"
            other = f"write `constant {name}: {type_} = ...`" if type_ in (NAT, BOOL) else "write `: process`"
            reporter.error("E0425", one.type.span, said, other)
        elif one.keyword == "constant" and type_ not in (NAT, BOOL):
            said = f"constant `{name}` is {a(type_)}: a constant is a `nat` or a `bool`"
            hint = (f"write `role {name}: process = ...`",) if type_ == PROCESS else ()
            reporter.error("E0425", one.type.span, said, *hint)
        elif isinstance(one.value, bool) != (type_ == BOOL):
            reporter.error("E0426", one.span, f"`{name}` is {a(type_)}, but its value is {wrong_value(one.value)}")
        else:
            found.append(ir.Constant(name, type_, one.value, span=one.span))
    return tuple(found)


def wrong_value(value: int | bool) -> str:
    """A value of the wrong type, for a message."""
    return f"`{str(value).lower()}`, a truth value" if isinstance(value, bool) else f"the number {value}"


def kinds_of(written: Sequence[syntax.NamedValue]) -> tuple[tuple[str, str, int | bool], ...]:
    """Name, type and value of each constant and role, for scopes; what is at fault is reported with the protocol."""
    return tuple(
        (one.name.text, one.type.name, one.value)
        for one in written
        if isinstance(one.type, syntax.NamedType) and one.type.name in ("nat", "bool", "process")
    )


def types_of(constants: Sequence[ir.Constant], written: Sequence[syntax.NamedValue]) -> Mapping[str, Type | None]:
    """The types by name; None for what is at fault."""
    return {**dict.fromkeys(one.name.text for one in written), **{one.name: one.type for one in constants}}
