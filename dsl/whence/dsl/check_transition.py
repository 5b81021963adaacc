"""One transition of a machine: guards and parallel updates."""

from __future__ import annotations

from collections.abc import Sequence

from whence.dsl import ir, syntax
from whence.dsl.check_binders import bind, introduce
from whence.dsl.check_expressions import ExpressionChecker
from whence.dsl.check_types import resolve_type
from whence.dsl.diagnostics import did_you_mean
from whence.dsl.inference import infer_types
from whence.dsl.machine_builtins import SYMBOLS
from whence.dsl.names import UNKNOWN, Vocabulary, a, declare
from whence.dsl.show import show_expression
from whence.dsl.syntax import Span
from whence.dsl.types import BOOL, MESSAGE, Nat, Sort, Type

_BUILT_IN = frozenset(symbol.name for symbol in SYMBOLS)
_OF_ONE_MESSAGE = ("causal_send", "deliver")


def check_transition(transition: syntax.Transition, checker: ExpressionChecker) -> ir.Transition | None:
    """The typed transition; None if its parameters are erroneous."""
    before = checker.reporter.errors
    parameters = _parameters(transition, checker)
    inner = checker
    for parameter, type_ in parameters:
        inner = inner.within({parameter.text: introduce(inner, parameter, type_, "parameter")})
    requires: list[ir.NamedFormula] = []
    updates: list[ir.Update] = []
    for statement in transition.body:
        match statement:
            case syntax.Require(condition=condition):
                guard = inner.check(condition, BOOL, "a guard is true or false")
                if guard is not None:
                    requires.append(ir.NamedFormula(show_expression(guard), guard, span=statement.span))
            case syntax.Assign():
                update = _update(statement, inner)
                if update is not None:
                    _check_first(update, updates, inner)
                    updates.append(update)
            case syntax.Pass():
                pass
            case _:
                checker.reporter.error(
                    "W0501",
                    statement.span,
                    "a transition consists of `require` and updates",
                    "all updates happen at once: write the condition into the value, `r(m) := P and ...`",
                )
    if checker.reporter.errors > before:
        return None
    typed = tuple(ir.Variable(name.text, type_) for name, type_ in parameters if type_ is not None)
    return ir.Transition(transition.name.text, typed, tuple(requires), tuple(updates), span=transition.span)


def _check_first(update: ir.Update, earlier: Sequence[ir.Update], checker: ExpressionChecker) -> None:
    first = next((other for other in earlier if other.symbol == update.symbol), None)
    if first is not None:
        checker.reporter.error(
            "W0504",
            update.span,
            f"`{update.symbol}` is updated twice in one transition",
            f"the first update is on line {first.span.line}; make it one with `forall`, or two transitions",
        )


def _parameters(transition: syntax.Transition, checker: ExpressionChecker) -> list[tuple[syntax.Name, Type | None]]:
    """The parameters with their types: written, given by the transition's name, or inferred from the body."""
    name, report = transition.name.text, checker.reporter.error
    if name in _OF_ONE_MESSAGE and len(transition.parameters) != 1:
        report(
            "W0507",
            transition.name.span,
            f"`{name}` has exactly one parameter, the message",
            f"write `transition {name}(m):`",
        )
    names: dict[str, Span] = {}
    for parameter in transition.parameters:
        declare(parameter.name, "parameter", names, checker.reporter)
    inferred = _infer(transition, checker.vocabulary)
    found: list[tuple[syntax.Name, Type | None]] = []
    for parameter in transition.parameters:
        type_: Type | None = inferred.get(parameter.name.text)
        if parameter.type is not None:
            type_ = resolve_type(parameter.type, checker.vocabulary.types, checker.reporter)
            if type_ is not None and not isinstance(type_, Sort | Nat):
                report(
                    "W0313",
                    parameter.span,
                    f"a parameter of a transition is a process, a message or a number, not {a(type_)}",
                )
                type_ = None
        elif name in _OF_ONE_MESSAGE:
            type_ = MESSAGE
        elif type_ is None:
            report(
                "W0303",
                parameter.name.span,
                f"the type of `{parameter.name.text}` cannot be found out from its use",
                f"write `{parameter.name.text}: TYPE`",
            )
        if name in _OF_ONE_MESSAGE and len(transition.parameters) == 1 and type_ not in (None, MESSAGE):
            report("W0507", parameter.span, f"the parameter of `{name}` is a message, not {a(type_)}")
            type_ = MESSAGE
        found.append((parameter.name, type_))
    return found


def _infer(transition: syntax.Transition, vocabulary: Vocabulary) -> dict[str, Type | None]:
    """What the body tells about the parameters. An update is read as an equation under its binders."""
    formulas: list[syntax.Expr] = []
    for statement in transition.body:
        match statement:
            case syntax.Require(condition=condition):
                formulas.append(condition)
            case syntax.Assign(place=place, value=value, binders=binders):
                equation: syntax.Expr = syntax.Binary("=", place, value)
                formulas.append(syntax.Quantified("forall", binders, equation) if binders else equation)
            case _:
                pass
    names = [parameter.name.text for parameter in transition.parameters if parameter.type is None]
    if transition.name.text in _OF_ONE_MESSAGE:
        return dict.fromkeys(names, MESSAGE)
    return infer_types(names, formulas, vocabulary, {}) if names else {}


def _update(statement: syntax.Assign, checker: ExpressionChecker) -> ir.Update | None:
    report, place = checker.reporter.error, statement.place
    bounds, inner = bind(checker, statement.binders, (place, statement.value))
    if not isinstance(place, syntax.Apply):
        inner.infer(statement.value, UNKNOWN)
        report(
            "W0505",
            place.span,
            "an update is of a relation or function at its arguments",
            "write `r(m) := ...`, or `forall x: r(m, x) := ...`",
        )
        return None
    name = place.function.text
    symbol = checker.vocabulary.symbols.get(name)
    if name in _BUILT_IN:
        inner.infer(statement.value, UNKNOWN)
        report(
            "W0502",
            place.function.span,
            f"`{name}` is kept by the tool and cannot be updated",
            "it changes by `causal_send` and `deliver` alone",
        )
        return None
    if name not in checker.vocabulary.symbols:
        inner.infer(statement.value, UNKNOWN)
        declared = set(checker.vocabulary.symbols) - _BUILT_IN
        report(
            "W0503", place.function.span, f"there is no relation or function `{name}`", *did_you_mean(name, declared)
        )
        return None
    arguments = inner.arguments(f"`{name}`", place.arguments, None if symbol is None else symbol.parameters, place.span)
    value = inner.check(
        statement.value,
        UNKNOWN if symbol is None else symbol.result,
        f"`{name}` is a relation" if symbol is not None and symbol.result == BOOL else "",
    )
    if symbol is None or arguments is None or bounds is None or not _are_names(statement, arguments, bounds, inner):
        return None
    if value is None:
        return None
    binders = tuple(ir.Variable(bound.name, bound.type) for bound in bounds)
    return ir.Update(name, arguments, value, binders, span=statement.span)


def _are_names(
    statement: syntax.Assign,
    arguments: tuple[ir.Expr, ...],
    bounds: tuple[ir.Bound, ...],
    checker: ExpressionChecker,
) -> bool:
    """Whether each argument is a parameter or a `forall` name, and each `forall` name is one argument."""
    assert isinstance(statement.place, syntax.Apply)
    fine = True
    used: set[str] = set()
    bound = {variable.name for variable in bounds}
    for written, argument in zip(statement.place.arguments, arguments, strict=True):
        if not isinstance(argument, ir.Local):
            checker.reporter.error(
                "W0505",
                written.span,
                "an argument of an update is a parameter of the transition or a `forall` name",
                "bind a name and say what it is in the value: `forall x: r(x) := if x = ... then ... else r(x)`",
            )
            fine = False
        elif argument.name in bound & used:
            checker.reporter.error("W0505", written.span, f"`{argument.name}` stands twice among the arguments")
            fine = False
        else:
            used.add(argument.name)
    for binder in statement.binders:
        if fine and binder.name.text not in used:
            checker.reporter.error(
                "W0505", binder.name.span, f"`{binder.name.text}` is not an argument of what is updated"
            )
            return False
    return fine
