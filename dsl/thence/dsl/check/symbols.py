"""Relations and functions as theories and machines declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.check.terms.environment import declare
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.types import resolve_sort
from thence.dsl.ir.types import BOOL, Type
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span


@dataclass(slots=True)
class SymbolTable:
    """Relations and functions in the order of their declaration; an erroneous one is known without a signature.

    `where` completes a sentence: `in a machine`, `in a theory`. `results` are the types that functions may have.
    """

    types: Mapping[str, Type | None]
    results: Mapping[str, Type | None]
    reporter: Reporter
    where: str
    kept: frozenset[str] = frozenset()
    spans: dict[str, Span] = field(default_factory=dict)
    known: dict[str, ir.Symbol | None] = field(default_factory=dict)

    def add(self, declaration: syntax.RelationDecl | syntax.FunctionDecl) -> None:
        """Enters the names of a declaration."""
        parameters = self._parameters(declaration.parameters)
        result: Type | None = BOOL
        what = "relation"
        if isinstance(declaration, syntax.FunctionDecl):
            what = "function"
            result = resolve_sort(
                declaration.result, self.results, self.reporter, f"as a function's result {self.where}"
            )
        for name in declaration.names:
            if name.text in self.kept:
                self.reporter.error(
                    "E0502", name.span, f"`{name.text}` is kept by the tool and cannot be declared", "use it as it is"
                )
            elif declare(name, what, self.spans, self.reporter):
                complete = parameters is not None and result is not None
                symbol = ir.Symbol(name.text, parameters or (), result or BOOL, span=name.span)
                self.known[name.text] = symbol if complete else None

    def _parameters(self, written: Sequence[syntax.Parameter]) -> tuple[ir.Variable, ...] | None:
        names: dict[str, Span] = {}
        found: list[ir.Variable] = []
        for position, parameter in enumerate(written, start=1):
            name = parameter.name.text
            fresh = not name or declare(parameter.name, "parameter", names, self.reporter)
            if parameter.type is None:
                self.reporter.error(
                    "E0303", parameter.span, f"`{name}` needs a type", f"write `{name}: TYPE`, as in `m: message`"
                )
                continue
            type_ = resolve_sort(parameter.type, self.types, self.reporter, f"as a parameter {self.where}")
            if type_ is not None and fresh:
                found.append(ir.Variable(name or f"x{position}", type_))
        return tuple(found) if len(found) == len(written) else None

    @property
    def symbols(self) -> tuple[ir.Symbol, ...]:
        """Those without errors."""
        return tuple(symbol for symbol in self.known.values() if symbol is not None)


def check_formulas(
    formulas: Sequence[syntax.Formula],
    what: str,
    checker: ExpressionChecker,
    names: dict[str, Span],
) -> tuple[ir.NamedFormula, ...]:
    """Named formulas of one kind (`axiom`, `invariant`, `property`); one without a name is named by its position."""
    found: list[ir.NamedFormula] = []
    for position, formula in enumerate(formulas, start=1):
        name = formula.name.text or f"{what}_{position}"
        if formula.name.text:
            declare(formula.name, what, names, checker.reporter)
        body = checker.check(
            formula.body, BOOL, f"an {what} is true or false" if what[0] in "ai" else f"a {what} is true or false"
        )
        if body is not None:
            found.append(ir.NamedFormula(name, body, formula.doc, span=formula.span))
    return tuple(found)
