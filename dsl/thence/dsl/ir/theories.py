"""Theories and theorems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from thence.dsl.ir.declarations import Declaration, Expectation, NamedFormula, Symbol, Variable
from thence.dsl.ir.terms import Apply
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Sort
from thence.spec.components import components
from thence.spec.value import record


@record(frozen=True, slots=True)
class Inductive:
    """The least relation closed under the rules. Relations that are built from each other are the least together."""

    name: str
    parameters: tuple[Variable, ...]
    rules: tuple[NamedFormula, ...]


def built_together(inductives: Sequence[Inductive]) -> tuple[tuple[Inductive, ...], ...]:
    """Groups of relations that are built from each other; each group after those that its rules speak of."""
    by_name = {inductive.name: inductive for inductive in inductives}
    groups = components(by_name, lambda name: (used.symbol for used in _used(by_name[name])))
    return tuple(tuple(each for each in inductives if each.name in group) for group in groups)


def _used(inductive: Inductive) -> Iterator[Apply]:
    parts = (part for rule in inductive.rules for part in nodes(rule.body))
    return (part for part in parts if isinstance(part, Apply))


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
class InductionOn:
    """What is claimed of all that the relation relates. The claims have the variables free."""

    relation: str
    variables: tuple[Variable, ...]
    claims: tuple[NamedFormula, ...]


@record(frozen=True, slots=True)
class Induction:
    """Claims that are shown together, so that each step may use all of them; perhaps of several relations."""

    parts: tuple[InductionOn, ...]

    @property
    def claims(self) -> tuple[NamedFormula, ...]:
        return tuple(claim for part in self.parts for claim in part.claims)


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
