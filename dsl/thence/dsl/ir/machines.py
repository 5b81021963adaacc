"""Machines: state, transitions, and what is stated of them."""

from __future__ import annotations

from dataclasses import field

from thence.dsl.ir.declarations import (
    Declaration,
    Definition,
    Expectation,
    MachineDelivery,
    NamedFormula,
    Symbol,
    Variable,
)
from thence.dsl.ir.terms import Expr
from thence.dsl.ir.types import Sort
from thence.dsl.text.syntax import NOWHERE, Span
from thence.spec.value import record


@record(frozen=True, slots=True)
class Stable:
    """A formula that is true for ever once it is true, for each value of its parameters (UNITY's `stable`)."""

    formula: NamedFormula
    parameters: tuple[Variable, ...]


@record(frozen=True, slots=True)
class HelpStep:
    """Steps that a `leads to` of a machine waits for: `transition(arguments)`, for each value of the variables of which
    `left` is true.
    """

    transition: str
    arguments: tuple[Expr, ...]
    variables: tuple[Variable, ...]
    left: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class LeadsTo:
    """In every run that is weakly fair to the transitions of `steps`: whenever `given` is true, `goal` is true then or
    later, for each value of the parameters. `steps`, in order, are the measure of what is left to do.
    """

    name: str
    parameters: tuple[Variable, ...]
    given: Expr
    goal: Expr
    steps: tuple[HelpStep, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Update:
    """`symbol(arguments) := value` for every value of the binders; all read the state before the step.

    Each argument is a Local: a parameter of the transition or one of the binders.
    """

    symbol: str
    arguments: tuple[Expr, ...]
    value: Expr
    binders: tuple[Variable, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Transition:
    """A guarded transition with parallel updates. Built-in updates of `causal_send` and `deliver` are not listed."""

    name: str
    parameters: tuple[Variable, ...]
    requires: tuple[NamedFormula, ...]
    updates: tuple[Update, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Machine(Declaration):
    """`symbols` are the declared ones; the built-in ones are in `machine_builtins`.

    `prove` names invariants, built-in properties, and statements about steps (see `progress`). `constants` are the
    symbols that are declared as constants: arbitrary, and the same in every state of a run. `sorts` are the machine's
    own, besides processes and messages; `ordered` names the sorts with a strict total order, of its own sorts and
    `process`. With `delivery` off, nothing is built in: there is no history of messages. `initial` has the first values
    of what is not false or 0 at first: each is of all arguments, and a term of what never changes.
    `definitions` are for links: whatever the machine states has them written out.
    """

    symbols: tuple[Symbol, ...]
    axioms: tuple[NamedFormula, ...]
    transitions: tuple[Transition, ...]
    invariants: tuple[NamedFormula, ...]
    prove: tuple[str, ...]
    expects: tuple[Expectation, ...]
    delivery: MachineDelivery = field(default="unicast", kw_only=True)
    stable: tuple[Stable, ...] = field(default=(), kw_only=True)
    reachable: tuple[NamedFormula, ...] = field(default=(), kw_only=True)
    eventually: tuple[LeadsTo, ...] = field(default=(), kw_only=True)
    constants: tuple[str, ...] = field(default=(), kw_only=True)
    sorts: tuple[Sort, ...] = field(default=(), kw_only=True)
    ordered: tuple[str, ...] = field(default=(), kw_only=True)
    initial: tuple[Update, ...] = field(default=(), kw_only=True)
    definitions: tuple[Definition, ...] = field(default=(), kw_only=True, compare=False)
