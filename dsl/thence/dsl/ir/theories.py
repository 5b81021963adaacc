"""Theories and theorems."""

from __future__ import annotations

from dataclasses import field

from thence.dsl.ir.declarations import Declaration, Expectation, NamedFormula, Symbol, Variable
from thence.dsl.ir.types import Sort
from thence.spec.value import record


@record(frozen=True, slots=True)
class Inductive:
    """The least relation closed under the rules."""

    name: str
    parameters: tuple[Variable, ...]
    rules: tuple[NamedFormula, ...]


@record(frozen=True, slots=True)
class Theory(Declaration):
    """`ordered` names the sorts with a strict total order."""

    sorts: tuple[Sort, ...]
    ordered: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    axioms: tuple[NamedFormula, ...]
    inductives: tuple[Inductive, ...]
    properties: tuple[NamedFormula, ...]


@record(frozen=True, slots=True)
class Induction:
    """What is true of all that the relation relates. The claims have the variables free; they are shown together, so
    that each step may use all of them."""

    relation: str
    variables: tuple[Variable, ...]
    claims: tuple[NamedFormula, ...]


@record(frozen=True, slots=True)
class Theorem(Declaration):
    """An induction may use the claims of those before it. `lemmas` are theorems that stand before this one."""

    theory: Theory
    assume: tuple[NamedFormula, ...]
    prove: tuple[NamedFormula, ...]
    inductions: tuple[Induction, ...]
    needs: tuple[str, ...]
    expects: tuple[Expectation, ...]
    lemmas: tuple[Theorem, ...] = field(default=(), kw_only=True)
