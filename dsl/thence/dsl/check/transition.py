"""One transition of a machine: guards and parallel updates. And the updates that give its initial states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from thence.dsl import ir
from thence.dsl.check.terms.binders import bind, introduce
from thence.dsl.check.terms.environment import UNKNOWN, Vocabulary, a, declare
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.inference import infer_types
from thence.dsl.check.terms.types import resolve_type
from thence.dsl.ir.machine_builtins import HISTORY_TRANSITIONS, built_in_symbols, history_parameters
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, Nat, Sort, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_expression


def check_transition(transition: syntax.Transition, checker: ExpressionChecker) -> ir.Transition | None:
    """The typed transition; None if its parameters are erroneous."""
    before = checker.reporter.errors
    parameters = _parameters(transition, checker)
    inner = checker
    for parameter, type_ in parameters:
        inner = inner.within({parameter.text: introduce(inner, parameter, type_, "parameter")})
    requires: list[ir.NamedFormula] = []
    for statement in transition.body:
        if isinstance(statement, syntax.Require):
            guard = inner.check(statement.condition, BOOL, "a guard is true or false")
            if guard is not None:
                requires.append(ir.NamedFormula(show_expression(guard), guard, span=statement.span))
    updates = _updates(
        [statement for statement in transition.body if not isinstance(statement, syntax.Require)],
        inner,
        "a transition consists of `require` and updates",
        "all updates happen at once: write the condition into the value, `r(m) := P and ...`",
    )
    if checker.reporter.errors > before:
        return None
    typed = tuple(ir.Variable(name.text, type_) for name, type_ in parameters if type_ is not None)
    return ir.Transition(transition.name.text, typed, tuple(requires), tuple(updates), span=transition.span)


def check_initial(
    initial: syntax.Initial, checker: ExpressionChecker, changing: Collection[str]
) -> tuple[ir.Update, ...]:
    """The updates of `initial`. `changing`: what transitions change, and what is built in and changes."""
    updates = _updates(
        initial.body,
        checker,
        "`initial` consists of updates",
        "what is true of what never changes is an `axiom`; a value that may be any is a `constant`",
    )
    given = {*changing, *(update.symbol for update in updates)}
    for update in updates:
        read = {node.symbol for node in nodes(update.value) if isinstance(node, ir.Apply)}
        for symbol in sorted(read & given):
            checker.reporter.error(
                "E0523",
                update.span,
                f"a first value cannot be given by `{symbol}`, which changes",
                "it is a term of constants, and of what else never changes",
            )
    return tuple(updates)


def _updates(body: Iterable[syntax.Stmt], checker: ExpressionChecker, what: str, note: str) -> list[ir.Update]:
    """The updates, each of another symbol; `what` and `note` are said of any other statement."""
    updates: list[ir.Update] = []
    for statement in body:
        match statement:
            case syntax.Assign():
                update = _update(statement, checker)
                if update is not None:
                    _check_first(update, updates, checker)
                    updates.append(update)
            case syntax.Pass():
                pass
            case _:
                made = _as_update(statement, checker)
                checker.reporter.error("E0501", statement.span, what, f"write `{made}`" if made else note)
    return updates


def _as_update(statement: syntax.Stmt, checker: ExpressionChecker) -> str:
    """The update that is meant by `r(x)` or `r.add(x)`; empty where none is."""
    match statement:
        case syntax.Call(procedure=name, arguments=arguments):
            value = "true"
        case syntax.Mutate(place=syntax.Variable(name=text), method=method, arguments=arguments):
            name, value = syntax.Name(text, span=statement.span), "true" if method.text == "add" else "false"
        case _:
            return ""
    symbol = checker.vocabulary.symbols.get(name.text)
    if symbol is None or symbol.result != BOOL:
        return ""
    names = [argument.name if isinstance(argument, syntax.Variable) else "..." for argument in arguments]
    return f"{name.text}({', '.join(names)}) := {value}"


def _check_first(update: ir.Update, earlier: Sequence[ir.Update], checker: ExpressionChecker) -> None:
    first = next((other for other in earlier if other.symbol == update.symbol), None)
    if first is not None:
        symbol = checker.vocabulary.symbols[update.symbol]
        names = "" if symbol is None else ", ".join("xyzuvw"[: len(symbol.parameters)])
        one = f"make it one, `forall {names}: {update.symbol}({names}) := ...`" if names else "keep one of them"
        note = f"the first update is on line {first.span.line}; {one}, or two transitions"
        checker.reporter.error("E0504", update.span, f"`{update.symbol}` is updated twice at once", note)


def _parameters(transition: syntax.Transition, checker: ExpressionChecker) -> list[tuple[syntax.Name, Type | None]]:
    """The parameters with their types: written, given by the transition's name, or inferred from the body."""
    name, report = transition.name.text, checker.reporter.error
    given = _given(transition, checker)
    if given is not None and len(transition.parameters) != len(given):
        what = "exactly one parameter, the message"
        other = ", or give the transition another name" if checker.vocabulary.delivery == "off" else ""
        report(
            "E0507",
            transition.name.span,
            f"`{name}` has {what if len(given) == 1 else 'two parameters, the message and the process'}",
            f"write `transition {name}({', '.join(parameter.name for parameter in given)}):`{other}",
        )
    types = _given_types(transition, given)
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
                    "E0313",
                    parameter.span,
                    f"a parameter of a transition is a process, a message or a number, not {a(type_)}",
                )
                type_ = None
        elif given is not None:
            type_ = types.get(parameter.name.text)
        elif type_ is None and not checker.vocabulary.has_faulty_symbols():
            report(
                "E0303",
                parameter.name.span,
                f"the type of `{parameter.name.text}` cannot be found out from its use",
                f"write `{parameter.name.text}: TYPE`",
            )
        expected = types.get(parameter.name.text)
        if expected is not None and type_ is not None and type_ != expected:
            report("E0507", parameter.span, f"this parameter of `{name}` is {a(expected)}, not {a(type_)}")
        found.append((parameter.name, type_))
    return found


def _given(transition: syntax.Transition, checker: ExpressionChecker) -> tuple[ir.Variable, ...] | None:
    """The parameters that a transition of this name has to have; None where it is free."""
    if transition.name.text not in HISTORY_TRANSITIONS:
        return None
    return history_parameters(transition.name.text, checker.vocabulary.delivery)


def _given_types(transition: syntax.Transition, given: tuple[ir.Variable, ...] | None) -> dict[str, Type]:
    """Their types, by the names that the transition gives them."""
    pairs = zip(transition.parameters, given or (), strict=False)
    return {parameter.name.text: variable.type for parameter, variable in pairs}


def _infer(transition: syntax.Transition, vocabulary: Vocabulary) -> dict[str, Type | None]:
    """The types of parameters, as far as the body tells them. An update is read as an equation under its binders."""
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
    if transition.name.text in HISTORY_TRANSITIONS:
        return {}
    return infer_types(names, formulas, vocabulary, {}) if names else {}


def _update(statement: syntax.Assign, checker: ExpressionChecker) -> ir.Update | None:
    report, place = checker.reporter.error, statement.place
    bounds, inner = bind(checker, statement.binders, (place, statement.value))
    if not isinstance(place, syntax.Apply):
        inner.infer(statement.value, UNKNOWN)
        report(
            "E0505",
            place.span,
            "an update is of a relation or function at its arguments",
            _with_arguments(place, checker) or "write `r(m) := ...`, or `forall x: r(m, x) := ...`",
        )
        return None
    name = place.function.text
    symbol = checker.vocabulary.symbols.get(name)
    built_in = {known.name for known in built_in_symbols(checker.vocabulary.delivery)}
    if name in built_in:
        inner.infer(statement.value, UNKNOWN)
        report(
            "E0502",
            place.function.span,
            f"`{name}` is kept by the tool and cannot be updated",
            "it changes by `causal_send` and `deliver` alone",
        )
        return None
    if name not in checker.vocabulary.symbols:
        inner.infer(statement.value, UNKNOWN)
        declared = set(checker.vocabulary.symbols) - built_in
        report(
            "E0503", place.function.span, f"there is no relation or function `{name}`", *did_you_mean(name, declared)
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


def _with_arguments(place: syntax.Expr, checker: ExpressionChecker) -> str:
    """How `f := e` and `f[x] := e` are written."""
    match place:
        case syntax.Variable(name=name) if (symbol := checker.vocabulary.symbols.get(name)) is not None:
            takes = ", ".join(parameter.name or str(parameter.type) for parameter in symbol.parameters)
        case syntax.IndexAccess(target=syntax.Variable(name=name)) if name in checker.vocabulary.symbols:
            takes = place.key.name if isinstance(place.key, syntax.Variable) else "..."
        case _:
            return ""
    return f"write `{name}({takes}) := ...`"


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
                "E0505",
                written.span,
                "an argument of an update is a parameter of the transition or a `forall` name",
                "bind a name and say what it is in the value: `forall x: r(x) := if x = ... then ... else r(x)`",
            )
            fine = False
        elif argument.name in bound & used:
            checker.reporter.error("E0505", written.span, f"`{argument.name}` stands twice among the arguments")
            fine = False
        else:
            used.add(argument.name)
    for binder in statement.binders:
        if fine and binder.name.text not in used:
            checker.reporter.error(
                "E0505", binder.name.span, f"`{binder.name.text}` is not an argument of what is updated"
            )
            return False
    return fine
