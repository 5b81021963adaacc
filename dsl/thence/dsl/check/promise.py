"""`eventually NAME: ...`: what is to happen in every fair run."""

from __future__ import annotations

from dataclasses import replace

from thence.dsl import ir
from thence.dsl.check.terms.environment import Vocabulary
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.ir.types import BOOL, PROCESS
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter


def check_promise(promise: syntax.Promise, vocabulary: Vocabulary, reporter: Reporter) -> ir.Promise | None:
    """The typed promise; None if anything in it is erroneous.

    A promise with `leads to` is checked as an implication under the same quantifiers, and then taken apart.
    """
    written = _as_implication(promise.body)
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    body = checker.check(written or promise.body, BOOL, "what is promised is true or false")
    if body is None:
        return None
    name, variables = promise.name.text, tuple[ir.Bound, ...]()
    if written is None:
        return ir.Promise(name, (), None, body, promise.doc, span=promise.span)
    while isinstance(body, ir.Quantified):
        variables += body.variables
        body = body.body
    assert isinstance(body, ir.Connective)
    for variable in variables:
        if variable.domain is not None or variable.type != PROCESS:
            said = f"`{name}` is for each `{variable.name}`, which is not any process"
            reporter.error("E0434", promise.name.span, said, "put the quantifier around one side only, in parentheses")
            return None
    return ir.Promise(name, variables, body.left, body.right, promise.doc, span=promise.span)


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
