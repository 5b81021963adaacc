"""Places: the state that statements of a protocol may change."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.text import syntax


def check_place(checker: ExpressionChecker, written: syntax.Expr, change: str) -> ir.Expr | None:
    """The place that the expression names; reports what cannot be changed. `change` says what is about to happen."""
    expr = checker.infer(written)
    if expr is None:
        return None
    root = expr
    while True:
        match root:
            case ir.StateOf(name=name) if name in checker.vocabulary.fixed:
                said = f"`{name}` never changes: the links of the scope give it"
                checker.reporter.error("E0403", written.span, said)
                return None
            case ir.Apply(symbol=name) if name in checker.vocabulary.constants:
                note = "what has to change is a state variable"
                checker.reporter.error("E0403", written.span, f"`{name}` never changes: it is a constant", note)
                return None
            case ir.StateOf():
                return expr
            case ir.Local(name=name):
                return expr if _is_changeable(checker, name, written, change) else None
            case ir.FieldOf(target=target) | ir.Lookup(target=target) | ir.ElementAt(target=target):
                root = target
            case ir.Attribute(name=attribute):
                checker.reporter.error(
                    "E0403", written.span, f"`{attribute}` of a message never changes: it is given when it is sent"
                )
                return None
            case ir.SelfProcess():
                note = "a process names its own state and procedures without `self`"
                checker.reporter.error("E0403", written.span, "`self` never changes", note)
                return None
            case _:
                checker.reporter.error(
                    "E0403",
                    written.span,
                    f"cannot {change}: this is a value, not a place",
                    "a place is a state variable, a `var`, a `ref`, or a part of one",
                )
                return None


def _is_changeable(checker: ExpressionChecker, name: str, written: syntax.Expr, change: str) -> bool:
    local = checker.locals[name]
    match local.kind:
        case "reference" | "variable":
            return True
        case "constant":
            checker.reporter.error(
                "E0404",
                written.span,
                f"cannot {change}: `{name}` is a constant, made by `let` on line {local.span.line}",
                f"`ref {name} = ...` names a place that can be changed, `var {name} = ...` makes a variable; "
                "what has to last is a state variable",
            )
            return False
        case "parameter":
            what = "a parameter"
        case "loop":
            what = "the variable of a `for`"
        case "bound":
            what = "a bound variable"
    hint = (f"`for ref {name} in ...` names each element in place",) if local.kind == "loop" else ()
    checker.reporter.error("E0405", written.span, f"cannot {change}: `{name}` is {what}", *hint)
    return False
