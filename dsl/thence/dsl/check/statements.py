"""Bodies of handlers and procedures, to typed statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from thence.dsl import ir
from thence.dsl.check.terms.binders import introduce, is_type_name
from thence.dsl.check.terms.environment import UNKNOWN, LocalKind, LocalName, Vocabulary, a, listed
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.places import check_place
from thence.dsl.check.terms.queries import element_type, operations, place_type
from thence.dsl.check.terms.types import resolve_type
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.foreign import FUNCTIONS, OPERATIONS, hint
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_expression

Signature = tuple[ir.Variable, ...] | None
"""Parameters; None where the declaration is erroneous."""


@dataclass(frozen=True, slots=True)
class BodyChecker:
    """Checks the body of one handler or procedure.

    `packets` and `procedures` are the signatures that it may use. `bound` collects every local name of the body,
    for the note on a name that is used outside its block.
    """

    vocabulary: Vocabulary
    reporter: Reporter
    packets: Mapping[str, Signature]
    procedures: Mapping[str, Signature]
    bound: dict[str, Span] = field(default_factory=dict)

    def body(
        self, statements: Sequence[syntax.Stmt], parameters: Sequence[tuple[syntax.Name, Type | None]]
    ) -> tuple[ir.Stmt, ...]:
        """The whole body, under its parameters."""
        checker = ExpressionChecker(self.vocabulary, self.reporter, {}, self.bound)
        for name, type_ in parameters:
            checker = self._introduce(checker, name, type_, "parameter")
        return self._block(statements, checker)

    def guard(self, written: syntax.Expr, parameters: Sequence[tuple[syntax.Name, Type | None]]) -> ir.Expr | None:
        """The condition under which the handler takes its event, under the handler's parameters."""
        checker = ExpressionChecker(self.vocabulary, self.reporter, {}, {})
        for name, type_ in parameters:
            checker = checker.within({name.text: introduce(checker, name, type_, "parameter")})
        return checker.check(written, BOOL, "what follows `when` is true or false")

    def _introduce(
        self, checker: ExpressionChecker, name: syntax.Name, type_: Type | None, kind: LocalKind
    ) -> ExpressionChecker:
        local: LocalName = introduce(checker, name, type_, kind)
        self.bound.setdefault(name.text, name.span)
        return checker.within({name.text: local})

    def _block(self, statements: Sequence[syntax.Stmt], checker: ExpressionChecker) -> tuple[ir.Stmt, ...]:
        found: list[ir.Stmt] = []
        for position, statement in enumerate(statements):
            match statement:
                case syntax.Let(name=name, ref=ref):
                    typed = self._let(statement, checker)
                    type_ = None if typed is None else (typed.place if isinstance(typed, ir.Ref) else typed.value).type
                    checker = self._introduce(checker, name, type_, "reference" if ref else "constant")
                    if typed is not None:
                        found.append(typed)
                case syntax.Var(name=name):
                    variable = self._var(statement, checker)
                    type_ = None if variable is None else variable.value.type
                    checker = self._introduce(checker, name, type_, "variable")
                    if variable is not None:
                        found.append(variable)
                case syntax.Pass():
                    pass
                case _:
                    checked = self._statement(statement, checker)
                    if checked is not None:
                        found.append(checked)
            if isinstance(statement, syntax.Return) and position + 1 < len(statements):
                self.reporter.warning(
                    "W0908", statements[position + 1].span, "this is never reached: the line before it returns"
                )
        return tuple(found)

    def _let(self, statement: syntax.Let, checker: ExpressionChecker) -> ir.Let | ir.Ref | None:
        if statement.ref:
            place = check_place(checker, statement.value, f"make `{statement.name.text}` a reference to this")
            if place is None:
                return None
            return ir.Ref(statement.name.text, place, span=statement.span, label=statement.label)
        value = checker.infer(statement.value)
        return None if value is None else ir.Let(statement.name.text, value, span=statement.span, label=statement.label)

    def _var(self, statement: syntax.Var, checker: ExpressionChecker) -> ir.Var | None:
        if statement.type is None:
            value = checker.infer(statement.value)
        else:
            type_ = resolve_type(statement.type, self.vocabulary.types, self.reporter)
            why = "" if type_ is None else f"`{statement.name.text}` is {a(type_)}"
            value = checker.check(statement.value, UNKNOWN if type_ is None else type_, why)
        return None if value is None else ir.Var(statement.name.text, value, span=statement.span, label=statement.label)

    def _statement(self, statement: syntax.Stmt, checker: ExpressionChecker) -> ir.Stmt | None:
        span, label = statement.span, statement.label
        match statement:
            case syntax.Assign():
                return self._assign(statement, checker)
            case syntax.Mutate():
                return self._mutate(statement, checker)
            case syntax.Call():
                return self._call(statement, checker)
            case syntax.If(condition=written, then=then, otherwise=otherwise):
                condition = checker.check(written, BOOL, "a condition is true or false")
                yes, no = self._block(then, checker), self._block(otherwise, checker)
                return None if condition is None else ir.If(condition, yes, no, span=span, label=label)
            case syntax.While(condition=written, body=body):
                condition = checker.check(written, BOOL, "a condition is true or false")
                inside = self._block(body, checker)
                return None if condition is None else ir.While(condition, inside, span=span, label=label)
            case syntax.For():
                return self._for(statement, checker)
            case syntax.Choose():
                return self._choose(statement, checker)
            case syntax.Either(branches=branches):
                return ir.Either(tuple(self._block(branch, checker) for branch in branches), span=span, label=label)
            case syntax.Return():
                return ir.Return(span=span, label=label)
            case syntax.Send():
                return self._send(statement, checker)
            case syntax.Deliver(message=written):
                message = checker.check(written, MESSAGE, "only messages are delivered")
                return None if message is None else ir.Deliver(message, span=span, label=label)
            case syntax.Require():
                self.reporter.error(
                    "E0407",
                    span,
                    "`require` is of machines",
                    "here, write `if not ...: return`; for an input, `on NAME(...) when P:`",
                )
                return None
            case syntax.Let() | syntax.Var() | syntax.Pass():
                raise AssertionError("handled by the block")
            case _:
                assert_never(statement)

    def _assign(self, statement: syntax.Assign, checker: ExpressionChecker) -> ir.Stmt | None:
        if statement.binders:
            self.reporter.error(
                "E0407", statement.span, "`forall ...: ... := ...` is of machines", "here, write a `for` loop"
            )
            return None
        place = check_place(checker, statement.place, "assign")
        value = checker.check(
            statement.value,
            UNKNOWN if place is None else place.type,
            "" if place is None else f"`{show_expression(place)}` is {a(place.type)}",
        )
        if place is None or value is None:
            return None
        return ir.Assign(place, value, span=statement.span, label=statement.label)

    def _mutate(self, statement: syntax.Mutate, checker: ExpressionChecker) -> ir.Stmt | None:
        method = statement.method.text
        place = check_place(checker, statement.place, f"`{method}`")
        if place is None:
            for argument in statement.arguments:
                checker.infer(argument, UNKNOWN)
            return None
        known = operations(place.type)
        operation = next((one for one in known if one.method == method), None)
        if operation is None:
            names = [one.method for one in known]
            notes = [*(did_you_mean(method, names) or hint(OPERATIONS, method))]
            notes.append(
                f"{a(place.type)} takes {listed(names)}" if names else "it takes no operations; assign with `:=`"
            )
            self.reporter.error("E0213", statement.method.span, f"{a(place.type)} has no operation `{method}`", *notes)
            return None
        parameters = tuple(ir.Variable("", type_) for type_ in operation.parameters)
        arguments = checker.arguments(f"`{method}` of {a(place.type)}", statement.arguments, parameters, statement.span)
        if arguments is None:
            return None
        return ir.Mutate(place, operation.method, arguments, span=statement.span, label=statement.label)

    def _call(self, statement: syntax.Call, checker: ExpressionChecker) -> ir.Stmt | None:
        name = statement.procedure.text
        arguments = checker.arguments(
            f"procedure `{name}`", statement.arguments, self.procedures.get(name), statement.span
        )
        if name not in self.procedures:
            notes = did_you_mean(name, self.procedures) or hint(FUNCTIONS, name)
            if name in self.packets:
                notes = (f"`{name}` is a packet kind: write `send {name}(...) to p`",)
            self.reporter.error("E0203", statement.procedure.span, f"there is no procedure `{name}`", *notes)
        return None if arguments is None else ir.Call(name, arguments, span=statement.span, label=statement.label)

    def _send(self, statement: syntax.Send, checker: ExpressionChecker) -> ir.Stmt | None:
        kind = statement.kind.text
        arguments = checker.arguments(f"packet `{kind}`", statement.arguments, self.packets.get(kind), statement.span)
        to = checker.check(statement.to, PROCESS, "packets are sent to a process")
        if kind not in self.packets:
            self.reporter.error(
                "E0204", statement.kind.span, f"there is no packet kind `{kind}`", *did_you_mean(kind, self.packets)
            )
        if arguments is None or to is None:
            return None
        return ir.Send(kind, arguments, to, span=statement.span, label=statement.label)

    def _for(self, statement: syntax.For, checker: ExpressionChecker) -> ir.Stmt | None:
        name, domain, variable = statement.name.text, None, None
        everyone = is_type_name(checker, statement.domain)
        if everyone:
            variable = self._all_of(statement)
        elif statement.ref:
            domain = check_place(checker, statement.domain, f"make `{name}` a reference into this")
            variable = None if domain is None else place_type(domain.type)
            if domain is not None and variable is None:
                self.reporter.error(
                    "E0417",
                    statement.domain.span,
                    f"the elements of {a(domain.type)} are not places",
                    "`for ref` is for queues, sliding arrays, and the values of maps",
                )
        else:
            domain, variable = self._elements(statement.domain, "go through", checker)
        inner = self._introduce(checker, statement.name, variable, "reference" if statement.ref else "loop")
        body = self._block(statement.body, inner)
        if variable is None or (domain is None and not everyone):
            return None
        return ir.For(name, variable, domain, body, statement.ref, span=statement.span, label=statement.label)

    def _choose(self, statement: syntax.Choose, checker: ExpressionChecker) -> ir.Stmt | None:
        domain, variable = None, None
        everyone = is_type_name(checker, statement.domain)
        if everyone:
            variable = self._all_of(statement)
        else:
            domain, variable = self._elements(statement.domain, "choose from", checker)
        inner = self._introduce(checker, statement.name, variable, "constant")
        condition = None
        if statement.condition is not None:
            condition = inner.check(statement.condition, BOOL, "what follows `such that` is true or false")
        body, otherwise = self._block(statement.body, inner), self._block(statement.otherwise, checker)
        wrong = variable is None or (domain is None and not everyone)
        if variable is None or wrong or (condition is None and statement.condition is not None):
            return None
        return ir.Choose(
            statement.name.text, variable, domain, condition, body, otherwise,
            span=statement.span, label=statement.label,
        )  # fmt: skip

    def _elements(
        self, written: syntax.Expr, verb: str, checker: ExpressionChecker
    ) -> tuple[ir.Expr | None, Type | None]:
        """A collection, and the type of its elements; None for what is at fault."""
        domain = checker.infer(written)
        variable = None if domain is None else element_type(domain.type)
        if domain is not None and variable is None:
            self.reporter.error("E0315", written.span, f"{a(domain.type)} has no elements to {verb}")
        return domain, variable

    def _all_of(self, statement: syntax.For | syntax.Choose) -> Type | None:
        """`for p in process`: no other type can be gone through."""
        assert isinstance(statement.domain, syntax.Variable)
        verb = "go through" if isinstance(statement, syntax.For) else "choose from"
        if statement.domain.name != "process":
            self.reporter.error(
                "E0315",
                statement.domain.span,
                f"cannot {verb} all of `{statement.domain.name}`",
                "`for p in process` goes through all processes; anything else needs a collection",
            )
            return None
        if isinstance(statement, syntax.For) and statement.ref:
            self.reporter.error("E0417", statement.domain.span, "processes are not places", "write `for` without `ref`")
            return None
        return PROCESS
