"""The deciding guard of a step: the condition that kept an event from happening, or that let it happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from thence.dsl import ir
from thence.dsl.run.execute import Guard
from thence.dsl.run.values import Value, show
from thence.dsl.write.show import show_expression

Block: TypeAlias = tuple[ir.Stmt, ...]


def conditionals_of(protocol: ir.Protocol) -> Iterator[ir.If | ir.While]:
    """Every `if` and `while` of the protocol, in the text's order."""
    for body in (*(handler.body for handler in protocol.handlers), *(each.body for each in protocol.procedures)):
        yield from conditionals(body)


def conditionals(block: Block) -> Iterator[ir.If | ir.While]:
    """Every `if` and `while` of the block, in the text's order."""
    for statement in block:
        match statement:
            case ir.If(then=then, otherwise=otherwise):
                yield statement
                yield from conditionals(then)
                yield from conditionals(otherwise)
            case ir.While(body=body):
                yield statement
                yield from conditionals(body)
            case ir.For(body=body):
                yield from conditionals(body)
            case ir.Choose(body=body, otherwise=otherwise):
                yield from conditionals((*body, *otherwise))
            case ir.Either(branches=branches):
                for branch in branches:
                    yield from conditionals(branch)
            case _:
                continue


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event to look for in the text: the sending of a packet `kind` to `to`, or with `kind` None a delivery."""

    kind: str | None
    to: Any = None


@dataclass(frozen=True, slots=True)
class DecidingGuard:
    """The guard that decided.

    Attributes:
        condition: as in the protocol's text.
        outcome: its value.
        label: the paper's line, where the text has one.
        line: in the protocol's file, from 1.
        values: the values that it depends on, as (expression, value) texts.
    """

    condition: str
    outcome: bool
    label: str | None
    line: int
    values: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        where = f"line {self.line}{f', # {self.label}' if self.label else ''}"
        values = ", ".join(f"{expression} = {value}" for expression, value in self.values)
        return f"[{where}] {self.condition} was {'true' if self.outcome else 'false'}{f' ({values})' if values else ''}"


@dataclass(slots=True)
class GuardFinder:
    """Looks for guards in the text of a protocol."""

    protocol: ir.Protocol
    _procedures: dict[str, ir.Procedure] = field(init=False)
    _owners: dict[int, Block] = field(init=False)
    """The body of the handler or procedure in which an `if` or `while` stands, by the identity of the statement."""

    def __post_init__(self) -> None:
        self._procedures = {procedure.name: procedure for procedure in self.protocol.procedures}
        bodies = [handler.body for handler in self.protocol.handlers]
        bodies += [procedure.body for procedure in self.protocol.procedures]
        self._owners = {id(statement): body for body in bodies for statement in conditionals(body)}

    def preventing(self, guards: Sequence[Guard], wanted: Wanted, emitted: int) -> DecidingGuard | None:
        """The last guard that kept the event from happening: the event stands in the branch that was not taken, or the
        branch that was taken returns from a body that has the event. Guards evaluated after `emitted` emissions come
        first.
        """
        for guard in _by_moment(guards, emitted):
            taken, other = _branches(guard)
            bound = dict(guard.locals)
            if self._has(other, wanted, bound, frozenset()):
                return _decided(guard)
            owner = self._owners.get(id(guard.statement), ())
            if _returns(taken) and self._has(owner, wanted, bound, frozenset()):
                return _decided(guard)
        return None

    def allowing(self, guards: Sequence[Guard], wanted: Wanted, emitted: int) -> DecidingGuard | None:
        """The last guard before the event that led to it: the event stands in the branch that was taken."""
        for guard in reversed([guard for guard in guards if guard.emitted <= emitted]):
            taken, _ = _branches(guard)
            if self._has(taken, wanted, dict(guard.locals), frozenset()):
                return _decided(guard)
        return None

    def _has(self, block: Block, wanted: Wanted, bound: Mapping[str, Value], inside: frozenset[str]) -> bool:
        """Whether the event can happen in the block. `bound` are the locals whose values are known."""
        bound = dict(bound)
        for statement in block:
            match statement:
                case ir.Send(kind=kind, to=to):
                    if kind == wanted.kind and not (
                        isinstance(to, ir.Local) and to.name in bound and bound[to.name] != wanted.to
                    ):
                        return True
                case ir.Deliver():
                    if wanted.kind is None:
                        return True
                case ir.Let(name=name) | ir.Ref(name=name) | ir.Var(name=name):
                    bound.pop(name, None)
                case ir.If(then=then, otherwise=otherwise):
                    if self._has(then, wanted, bound, inside) or self._has(otherwise, wanted, bound, inside):
                        return True
                case ir.While(body=body):
                    if self._has(body, wanted, bound, inside):
                        return True
                case ir.For(name=name, body=body):
                    within = {known: value for known, value in bound.items() if known != name}
                    if self._has(body, wanted, within, inside):
                        return True
                case ir.Choose(name=name, body=body, otherwise=otherwise):
                    within = {known: value for known, value in bound.items() if known != name}
                    if self._has(body, wanted, within, inside) or self._has(otherwise, wanted, bound, inside):
                        return True
                case ir.Either(branches=branches):
                    if any(self._has(branch, wanted, bound, inside) for branch in branches):
                        return True
                case ir.Call(procedure=procedure, arguments=arguments) if procedure not in inside:
                    called = self._procedures[procedure]
                    passed = {
                        parameter.name: bound[argument.name]
                        for parameter, argument in zip(called.parameters, arguments, strict=True)
                        if isinstance(argument, ir.Local) and argument.name in bound
                    }
                    if self._has(called.body, wanted, passed, inside | {procedure}):
                        return True
                case _:
                    continue
        return False


def _by_moment(guards: Sequence[Guard], emitted: int) -> Iterator[Guard]:
    """From the last to the first; those of the moment in which the event should have happened, before the others."""
    yield from reversed([guard for guard in guards if guard.emitted == emitted])
    yield from reversed([guard for guard in guards if guard.emitted < emitted])


def _branches(guard: Guard) -> tuple[Block, Block]:
    """The branch that was taken, and the one that was not."""
    match guard.statement:
        case ir.If(then=then, otherwise=otherwise):
            return (then, otherwise) if guard.outcome else (otherwise, then)
        case ir.While(body=body):
            return (body, ()) if guard.outcome else ((), body)


def _returns(block: Block) -> bool:
    """Whether the block ends by leaving its procedure or handler."""
    match block[-1] if block else None:
        case ir.Return():
            return True
        case ir.If(then=then, otherwise=otherwise):
            return _returns(then) and _returns(otherwise)
        case _:
            return False


def _decided(guard: Guard) -> DecidingGuard:
    statement = guard.statement
    values = tuple((expression, show(value, type_)) for expression, value, type_ in guard.values)
    return DecidingGuard(
        show_expression(statement.condition), guard.outcome, statement.label, statement.span.line, values
    )
