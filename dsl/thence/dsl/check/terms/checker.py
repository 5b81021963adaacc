"""The interface of the expression checker for its parts: names in reach, the reporter, checks of sub-expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self

from thence.dsl import ir
from thence.dsl.check.terms.environment import Expected, LocalName, Locals, Unknown, Vocabulary
from thence.dsl.ir.types import Type
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span


class Checker(Protocol):
    """See `expressions.ExpressionChecker`, which is the one."""

    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def reporter(self) -> Reporter: ...
    @property
    def locals(self) -> Locals: ...
    @property
    def elsewhere(self) -> Mapping[str, Span]: ...
    @property
    def packet(self) -> ir.Local | None: ...
    @property
    def formal(self) -> bool: ...

    def within(self, names: Mapping[str, LocalName]) -> Self: ...
    @property
    def element(self) -> tuple[ir.Local, ir.Expr] | None: ...
    def about(self, packet: ir.Local | None = None, element: tuple[ir.Local, ir.Expr] | None = None) -> Self: ...
    def check(self, expr: syntax.Expr, expected: Type | Unknown, why: str = "") -> ir.Expr | None: ...
    def infer(self, expr: syntax.Expr, expected: Expected = None) -> ir.Expr | None: ...
    def arguments(
        self,
        what: str,
        written: tuple[syntax.Expr, ...],
        parameters: tuple[ir.Variable, ...] | None,
        span: Span,
        notes: tuple[str, ...] = (),
    ) -> tuple[ir.Expr, ...] | None: ...
