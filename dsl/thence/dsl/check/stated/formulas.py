"""Invariants, formulas at rest, and what is promised: formulas over the states of all processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.check.result_names import is_kept
from thence.dsl.check.stated.claims import LIVENESS, PROTOCOL_PROPERTIES
from thence.dsl.check.terms.environment import Vocabulary, declare
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.ir.observability import sees_network
from thence.dsl.ir.properties import COMPLETES
from thence.dsl.ir.types import BOOL, PROCESS
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span

REACHABLE = "reachable formula"


def check_formulas(
    formulas: Sequence[syntax.Formula], what: str, names: dict[str, Span], vocabulary: Vocabulary, reporter: Reporter
) -> tuple[ir.NamedFormula, ...]:
    """Formulas over the states of all processes, with names that are not taken."""
    found: list[ir.NamedFormula] = []
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    for position, formula in enumerate(formulas, start=1):
        name = formula.name.text or f"invariant_{position}"
        if formula.name.text:
            _declare_statement(formula.name, what, names, reporter)
        elif name in names:
            said = f"{what} {position} has no name, and `{name}`, by which results name it, is taken"
            reporter.error("E0641", formula.span, said, f"declared on line {names[name].line}")
        else:
            names[name] = formula.span
        written = _some_action(formula.body) if what == REACHABLE else formula.body
        body = checker.check(written, BOOL, f"{'an' if what[0] == 'i' else 'a'} {what} is true or false")
        if body is not None:
            found.append(ir.NamedFormula(name, body, formula.doc, span=formula.span))
    return tuple(found)


def _some_action(body: syntax.Expr) -> syntax.Expr:
    """A `reachable` formula about an action is reached by one such action for which it is true."""
    if isinstance(body, syntax.Quantified) and body.kind == "when":
        return replace(body, kind="exists")
    return body


def _declare_statement(name: syntax.Name, what: str, names: dict[str, Span], reporter: Reporter) -> None:
    """A name by which results call what the protocol states."""
    if name.text in (*PROTOCOL_PROPERTIES, *LIVENESS, "fault", "link", COMPLETES):
        reporter.error("E0519", name.span, f"`{name.text}` is the name of a built-in property")
    elif is_kept(name.text):
        reporter.error("E0640", name.span, f"{what} `{name.text}` takes a name that the tool keeps")
    else:
        declare(name, what, names, reporter)


def check_promises(
    promises: Sequence[syntax.Promise], names: dict[str, Span], vocabulary: Vocabulary, reporter: Reporter
) -> tuple[ir.Promise, ...]:
    found: list[ir.Promise] = []
    for promise in promises:
        _declare_statement(promise.formula.name, "promise", names, reporter)
        checked = _promise(promise, vocabulary, reporter)
        if checked is not None:
            found.append(checked)
    return tuple(found)


def _promise(promise: syntax.Promise, vocabulary: Vocabulary, reporter: Reporter) -> ir.Promise | None:
    """The typed promise; None if anything in it is erroneous.

    A promise with `leads to` is checked as an implication under the same quantifiers, and then taken apart.
    """
    written = _as_implication(promise.formula.body)
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    body = checker.check(written or promise.formula.body, BOOL, "what is promised is true or false")
    if body is None:
        return None
    name, variables = promise.formula.name.text, tuple[ir.Bound, ...]()
    if sees_network(body):
        said = f"`{name}` speaks of packets in flight, which is not available in a promise"
        note = "promises are about the states of processes; invariants and formulas at rest may speak of packets"
        reporter.error("E0435", promise.formula.name.span, said, note)
        return None
    if written is None:
        return ir.Promise(name, (), None, body, promise.formula.doc, span=promise.span)
    while isinstance(body, ir.Quantified):
        variables += body.variables
        body = body.body
    assert isinstance(body, ir.Connective)
    for variable in variables:
        if variable.domain is not None or variable.type != PROCESS:
            said = f"`{name}` is for each `{variable.name}`, which is not any process"
            reporter.error(
                "E0434", promise.formula.name.span, said, "put the quantifier around one side only, in parentheses"
            )
            return None
    return ir.Promise(name, variables, body.left, body.right, promise.formula.doc, span=promise.span)


def _as_implication(body: syntax.Expr) -> syntax.Expr | None:
    """`forall p. P leads to Q` as `forall p. P implies Q`; None without `leads to`."""
    match body:
        case syntax.Quantified(kind="forall", body=inner):
            changed = _as_implication(inner)
            return None if changed is None else replace(body, body=changed)
        case syntax.Binary(operator="leads to"):
            return replace(body, operator="implies")
        case _:
            return None
