"""The typed intermediate representation: names resolved, every expression with its type.

One IR serves every back end. It is built by `elaborate` only, which guarantees: every name refers to
something; every expression is well typed; no local shadows another; `X@p` stands in properties only;
transitions hold `require`s and updates only.

Here is what all declarations are made of; `theories`, `machines`, `protocols`, `workloads` and `specification` have
the declarations themselves.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from thence.dsl.ir.terms import Expr
from thence.dsl.ir.types import Type
from thence.dsl.ir.workloads import Workload
from thence.dsl.text.syntax import NOWHERE, Span
from thence.spec.value import record

Delivery: TypeAlias = Literal["unicast", "multicast", "broadcast"]
MachineDelivery: TypeAlias = Literal["unicast", "multicast", "broadcast", "off"]
"""The destinations of a message: one process; a set of processes; every process but its sender, and perhaps it."""


@record(frozen=True, slots=True)
class Variable:
    """A typed name: a parameter, a field, or a bound variable."""

    name: str
    type: Type


@record(frozen=True, slots=True)
class NamedFormula:
    """A property, axiom, invariant or rule. Free variables only in rules: the inductive relation's parameters."""

    name: str
    body: Expr
    doc: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Symbol:
    """A relation (result bool) or function of a theory or machine."""

    name: str
    parameters: tuple[Variable, ...]
    result: Type
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Declaration:
    name: str
    doc: str = field(default="", compare=False, kw_only=True)
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Definition(Declaration):
    """A name for an expression, which has taken its place wherever it is used.

    `reads`: no state; that of the process itself; or that of all processes or messages, which only properties can.
    """

    parameters: tuple[Variable, ...]
    body: Expr
    reads: Literal["nothing", "self", "all"]


@record(frozen=True, slots=True)
class Expectation:
    """A verdict that the file expects. `settings` overrides those of the scope (or of the default scope)."""

    verdict: Literal["proved", "holds", "refuted", "unknown"]
    names: tuple[str, ...]
    scope: str | None
    settings: Workload | None
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
