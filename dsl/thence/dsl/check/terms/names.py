"""Names that stand for values: locals, state variables, relations and functions."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.checker import Checker
from thence.dsl.check.terms.delivery import report_dst
from thence.dsl.check.terms.environment import BUILT_IN_FUNCTIONS
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Record
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.foreign import FUNCTIONS, VALUES, hint

SENT_BY = ir.Symbol("sent_by", (ir.Variable("p", PROCESS), ir.Variable("n", NAT)), MESSAGE)
"""In clauses of links: the n-th message, counting from 1, that process p causal-sends."""


def resolve_variable(checker: Checker, expr: syntax.Variable) -> ir.Expr | None:
    """A name used as a value."""
    name, span, words = expr.name, expr.span, checker.vocabulary
    if name in checker.locals:
        local = checker.locals[name]
        return None if local.type is None else ir.Local(local.type, name, span=span)
    if name == "self":
        if words.place in ("handler", "initial", "clause"):
            return ir.SelfProcess(PROCESS, span=span)
        checker.reporter.error(
            "E0414",
            span,
            "`self` is the process that runs a handler; here is none",
            "quantify over all processes: `forall p: process. ...`",
        )
        return None
    if name in words.state:
        return _state(checker, expr)
    _report_unknown(checker, expr)
    return None


def _state(checker: Checker, expr: syntax.Variable) -> ir.Expr | None:
    type_ = checker.vocabulary.state[expr.name]
    match checker.vocabulary.place:
        case "property":
            checker.reporter.error(
                "E0402",
                expr.span,
                f"whose `{expr.name}`? A property speaks of all processes",
                f"write `{expr.name}@p` for process p's",
            )
            return None
        case "initial":
            checker.reporter.error("E0314", expr.span, f"an initial value cannot read the state variable `{expr.name}`")
            return None
        case _:
            return None if type_ is None else ir.StateOf(type_, expr.name, None, span=expr.span)


def _report_unknown(checker: Checker, expr: syntax.Variable) -> None:
    name, words = expr.name, checker.vocabulary
    report = checker.reporter.error
    if name in words.symbols:
        symbol = words.symbols[name]
        if symbol is not None:
            takes = ", ".join(parameter.name or str(parameter.type) for parameter in symbol.parameters)
            report("E0311", expr.span, f"`{name}` stands without arguments", f"write `{name}({takes})`")
    elif name in words.types:
        report("E0311", expr.span, f"`{name}` is a type, but a value is expected")
    elif name in words.procedures:
        report("E0311", expr.span, f"`{name}` is a procedure; procedures have no value")
    elif name in checker.elsewhere:
        line = checker.elsewhere[name].line
        report(
            "E0201",
            expr.span,
            f"`{name}` is not bound here",
            f"it is bound on line {line}, in another block; a name lives to the end of its block",
        )
    else:
        values = [*checker.locals, *words.state, "self"]
        notes = did_you_mean(name, values) or hint(VALUES, name)
        if not notes and words.place == "handler":
            notes = (f"a state variable is declared under `state:`; `let {name} = ...` names a value",)
        report("E0201", expr.span, f"`{name}` is not bound here", *notes)


def resolve_at(checker: Checker, expr: syntax.At) -> ir.Expr | None:
    """`X@p`, in a property."""
    name, words = expr.variable.text, checker.vocabulary
    if words.place != "property":
        checker.reporter.error(
            "E0401",
            expr.span,
            f"`{name}@` can stand in properties only",
            "a process sees its own state only; it learns of another's by messages",
        )
        return None
    process = checker.check(expr.process, PROCESS, "`X@p` is process p's copy of X")
    if name not in words.state:
        checker.reporter.error(
            "E0207", expr.variable.span, f"there is no state variable `{name}`", *did_you_mean(name, words.state)
        )
        return None
    type_ = words.state[name]
    return None if type_ is None or process is None else ir.StateOf(type_, name, process, span=expr.span)


def apply_name(checker: Checker, expr: syntax.Apply) -> ir.Expr | None:
    """`f(a, b)`: a relation or function."""
    name, words = expr.function.text, checker.vocabulary
    symbol = SENT_BY if name == "sent_by" and words.place == "clause" else words.symbols.get(name)
    arguments = checker.arguments(f"`{name}`", expr.arguments, None if symbol is None else symbol.parameters, expr.span)
    if symbol is None:
        if name not in words.symbols:
            _report_unknown_function(checker, expr)
        return None
    return None if arguments is None else ir.Apply(symbol.result, name, arguments, span=expr.span)


def _report_unknown_function(checker: Checker, expr: syntax.Apply) -> None:
    name, words, span = expr.function.text, checker.vocabulary, expr.function.span
    report = checker.reporter.error
    if name in words.procedures:
        report("E0311", span, f"`{name}` is a procedure; procedures have no value", "call it as a statement of its own")
    elif isinstance(words.types.get(name), Record):
        report("E0307", span, f"record `{name}` is constructed by its fields", f"write `{name}(FIELD: VALUE, ...)`")
    elif name in words.state or name in checker.locals:
        report("E0205", span, f"`{name}` is not a function", f"a map at a key is `{name}[...]`")
    elif name == "dst" and words.place == "machine":
        report_dst("dst", words.delivery, span, "that m goes to p is `to(m, p)`", checker.reporter)
    elif name in ("src", "dst", "dsts"):
        report("E0205", span, f"there is no function `{name}` here", f"in a protocol, write `m.{name}`")
    elif name == "some":
        report("E0302", span, "`some` takes 1 argument")
    else:
        known = words.symbols if words.place in ("theory", "machine") else BUILT_IN_FUNCTIONS
        notes = hint(FUNCTIONS, name) if words.place not in ("theory", "machine") else ()
        report("E0205", span, f"there is no relation or function `{name}`", *(notes or did_you_mean(name, known)))
