"""Formulas for chains of reasons: what one relation says of each message another one says, too."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.proofs.logic.formula import forall, holds, implies, local
from thence.proofs.logic.obligation import Signature

M, X = ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE)


def signature_of(names: tuple[str, ...]) -> Signature:
    """Relations of messages."""
    return Signature((MESSAGE,), (), tuple(ir.Symbol(name, (M,), BOOL) for name in names))


def rule(before: str, after: str) -> ir.NamedFormula:
    return ir.NamedFormula(f"{before}_{after}", forall([M], implies(holds(before, local(M)), holds(after, local(M)))))


def fact(name: str) -> ir.NamedFormula:
    return ir.NamedFormula(f"is_{name}", holds(name, local(X)))
