"""Which name means what in expressions, statements and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from thence.dsl.ir.types import Record, Type
from thence.dsl.text import syntax
from thence.dsl.text.syntax import Span
from thence.lsp.naming.explanations import BUILT_IN
from thence.lsp.naming.members import Members, Names, built_in, parameter_text
from thence.lsp.naming.symbols import Occurrence, Symbol, SymbolKind


@dataclass(slots=True)
class Bodies:
    """Collects the occurrences of names. `types` are those that the checker found, by place; `shared` are the file's.

    `locals` are the names in reach; each method leaves them as they were, unless it says otherwise.
    """

    types: Mapping[Span, Type]
    shared: Names = field(default_factory=dict)
    found: list[Occurrence] = field(default_factory=list)

    def name(self, symbol: Symbol | None, span: Span, declares: bool = False) -> None:
        """Something is named here; None: nobody knows it, or it needs no explanation."""
        if symbol is not None and span.line >= 1:
            self.found.append(Occurrence(span, symbol, declares))

    def local(self, kind: SymbolKind, name: syntax.Name, region: Span, detail: str = "") -> Symbol:
        """A new local name."""
        type_ = self.types.get(name.span)
        told = detail or (f"{name.text}: {type_}" if type_ is not None else name.text)
        symbol = Symbol(kind, name.text, name.span, detail=told, region=region)
        self.name(symbol, name.span, declares=True)
        return symbol

    def parameters(self, written: Iterable[syntax.Parameter], region: Span, members: Members) -> Names:
        """The names of parameters, which are declared here."""
        names: Names = {}
        for parameter in written:
            if parameter.type is not None:
                self.type(parameter.type, members)
            if parameter.name.text:
                detail = parameter_text(parameter) if parameter.type is not None else ""
                names[parameter.name.text] = self.local("parameter", parameter.name, region, detail)
        return names

    def type(self, written: syntax.TypeExpr, members: Members) -> None:
        """A type as written."""
        match written:
            case syntax.NamedType(name=name):
                self.name(members.types.get(name) or _known(name), written.span)
            case syntax.CollectionType(item=item):
                self.type(item, members)
            case syntax.MapType(key=key, value=value):
                self.type(key, members)
                self.type(value, members)
            case _:
                assert_never(written)

    # --- expressions -----------------------------------------------------------------------------

    def all(self, written: Iterable[syntax.Expr], members: Members, names: Names) -> None:
        """Several expressions."""
        for expr in written:
            self.expression(expr, members, names)

    def expression(self, expr: syntax.Expr, members: Members, names: Names) -> None:
        """An expression and all that is in it."""
        match expr:
            case syntax.Number() | syntax.Truth() | syntax.Nothing() | syntax.Empty():
                pass
            case syntax.Variable(name=name):
                self.name(self.value(name, members, names), expr.span)
            case syntax.FieldAccess(target=target, name=name):
                self.expression(target, members, names)
                self.name(self._field(target, name, members), name.span)
            case syntax.IndexAccess(target=target, key=key):
                self.all((target, key), members, names)
            case syntax.Apply(function=function, arguments=arguments, process=process):
                if process is not None:
                    self.expression(process, members, names)
                called = members.functions.get(function.text)
                self.name(called or self.value(function.text, members, names), function.span)
                self.all(arguments, members, names)
            case syntax.Construct(record=record, fields=fields):
                self.name(members.types.get(record.text), record.span)
                for part in fields:
                    self.name(members.fields.get((record.text, part.name.text)), part.name.span)
                    self.expression(part.value, members, names)
            case syntax.SetDisplay(items=items):
                self.all(items, members, names)
            case syntax.Not(operand=operand):
                self.expression(operand, members, names)
            case syntax.Binary(left=left, right=right):
                self.all((left, right), members, names)
            case syntax.IsTest(target=target):
                self.expression(target, members, names)
            case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
                self.all((condition, then, otherwise), members, names)
            case syntax.Quantified(binders=binders, body=body):
                self.expression(body, members, self.bind(binders, expr.span, members, names))
            case syntax.At(variable=variable, process=process):
                self.name(members.values.get(variable.text), variable.span)
                self.expression(process, members, names)
            case _:
                assert_never(expr)

    def value(self, name: str, members: Members, names: Names) -> Symbol | None:
        """What a name means as a value, a function or a domain."""
        for known in (names, members.values, members.types, members.procedures, self.shared):
            if name in known:
                return known[name]
        return _known(name)

    def bind(self, binders: Sequence[syntax.Binder], region: Span, members: Members, names: Names) -> Names:
        """The names in reach behind a quantifier."""
        names = dict(names)
        for binder in binders:
            if binder.packet is not None:
                self.name(members.kinds.get(binder.name.text), binder.name.span)
                names |= {name.text: self.local("bound variable", name, region) for name in binder.names}
                continue
            if binder.action is not None:
                self._action(binder.action, members)
                names |= {name.text: self.local("bound variable", name, region) for name in binder.names}
                continue
            if binder.type is not None:
                self.type(binder.type, members)
            if binder.domain is not None:
                self.expression(binder.domain, members, names)
            names[binder.name.text] = self.local("bound variable", binder.name, region)
        return names

    def _action(self, action: syntax.ActionPattern, members: Members) -> None:
        """The packet kind or the input of an action."""
        if action.kind is not None:
            known = members.kinds if action.verb == "receives" else members.events
            self.name(known.get(action.kind.text), action.kind.span)

    def _field(self, target: syntax.Expr, name: syntax.Name, members: Members) -> Symbol | None:
        type_ = self.types.get(target.span)
        if isinstance(type_, Record):
            return members.fields.get((type_.name, name.text))
        return _known(f".{name.text}")

    # --- statements ------------------------------------------------------------------------------

    def block(self, statements: Sequence[syntax.Stmt], region: Span, members: Members, names: Names) -> None:
        """The statements of a block; a name that one brings is in reach of those behind it."""
        names = dict(names)
        for statement in statements:
            self._statement(statement, region, members, names)

    def _statement(self, statement: syntax.Stmt, region: Span, members: Members, names: Names) -> None:
        """One statement. A `let` or `ref` adds its name."""
        match statement:
            case syntax.Let(name=name, value=value, ref=ref):
                self.expression(value, members, names)
                here = Span(statement.span.line, statement.span.column, region.end_line, region.end_column)
                names[name.text] = self.local("reference" if ref else "constant", name, here)
            case syntax.Var(name=name, type=type_, value=value):
                if type_ is not None:
                    self.type(type_, members)
                self.expression(value, members, names)
                here = Span(statement.span.line, statement.span.column, region.end_line, region.end_column)
                names[name.text] = self.local("variable", name, here)
            case syntax.Assign(place=place, value=value, binders=binders):
                inner = self.bind(binders, statement.span, members, names)
                self.all((place, value), members, inner)
            case syntax.Mutate(place=place, method=method, arguments=arguments):
                self.expression(place, members, names)
                self.name(_known(f".{method.text}()"), method.span)
                self.all(arguments, members, names)
            case syntax.Call(procedure=procedure, arguments=arguments):
                self.name(members.procedures.get(procedure.text), procedure.span)
                self.all(arguments, members, names)
            case syntax.If(condition=condition, then=then, otherwise=otherwise):
                self.expression(condition, members, names)
                self.block(then, _around(then, statement.span), members, names)
                self.block(otherwise, _around(otherwise, statement.span), members, names)
            case syntax.While(condition=condition, body=body):
                self.expression(condition, members, names)
                self.block(body, statement.span, members, names)
            case syntax.For(name=name, domain=domain, body=body):
                self.expression(domain, members, names)
                inner = {**names, name.text: self.local("loop variable", name, statement.span)}
                self.block(body, statement.span, members, inner)
            case syntax.Choose(name=name, domain=domain, condition=condition, body=body, otherwise=otherwise):
                self.expression(domain, members, names)
                inner = {**names, name.text: self.local("constant", name, statement.span)}
                if condition is not None:
                    self.expression(condition, members, inner)
                self.block(body, _around(body, statement.span), members, inner)
                self.block(otherwise, _around(otherwise, statement.span), members, names)
            case syntax.Either(branches=branches):
                for branch in branches:
                    self.block(branch, _around(branch, statement.span), members, names)
            case syntax.Return() | syntax.Pass():
                pass
            case syntax.Send(kind=kind, arguments=arguments, to=to):
                self.name(members.kinds.get(kind.text), kind.span)
                self.all((*arguments, to), members, names)
            case syntax.Deliver(message=message):
                self.expression(message, members, names)
            case syntax.Require(condition=condition):
                self.expression(condition, members, names)
            case _:
                assert_never(statement)


def _known(name: str) -> Symbol | None:
    """What the language brings under a name."""
    return built_in(name, name.strip(".")) if name in BUILT_IN else None


def _around(statements: Sequence[syntax.Stmt], otherwise: Span) -> Span:
    """The stretch from the first to the last statement."""
    if not statements:
        return otherwise
    first, last = statements[0].span, statements[-1].span
    return Span(first.line, first.column, last.end_line, last.end_column)
