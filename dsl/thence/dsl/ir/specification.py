"""A whole file: its declarations, and those that relate others: scopes, links, mutants and scenarios."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from typing import Literal

from thence.dsl.ir.declarations import Declaration, Expectation, NamedFormula, Variable
from thence.dsl.ir.machines import Machine
from thence.dsl.ir.protocols import Protocol
from thence.dsl.ir.terms import Expr
from thence.dsl.ir.theories import Theorem, Theory
from thence.dsl.ir.workloads import Workload
from thence.dsl.text.syntax import NOWHERE, Span
from thence.spec.value import record


@record(frozen=True, slots=True)
class Scope(Declaration):
    protocol: str
    workload: Workload
    expects: tuple[Expectation, ...]


@record(frozen=True, slots=True)
class Target:
    """A transition of the machine that an event is, with its arguments: None for one that the machine finds."""

    transition: str
    arguments: tuple[Expr | None, ...]


@record(frozen=True, slots=True)
class Clause:
    """An event of the protocol and the machine's transition that it is: the first of `targets` that is enabled.

    `kind` is the packet kind, or the name of an input or timer; `parameters` are the names the pattern binds (the
    packet's parameters, the input's, or the message), `peer` the name of the receiver (send) or sender (receive). Where
    `when` is false, the event is silent.
    """

    event: Literal["causal_send", "deliver", "send", "receive", "input", "periodically"]
    kind: str | None
    parameters: tuple[Variable, ...]
    peer: str | None
    targets: tuple[Target, ...]
    once: bool
    when: Expr | None = field(default=None, kw_only=True)
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Link(Declaration):
    """`conforms PROTOCOL to MACHINE`; `scopes` says where it is checked; the machine takes `internal` by itself.

    `invariants` are true of the states of both after each step of the protocol; those that `between` names are not
    claimed at the heads of loops inside a step. `delivered_by` names the machine's statement by which the protocol
    delivers each message in the end. `reactive`: it is about applications that send inside a delivery, too.
    """

    protocol: Protocol
    machine: Machine
    clauses: tuple[Clause, ...]
    scopes: tuple[Scope, ...]
    expects: tuple[Expectation, ...]
    internal: tuple[str, ...] = field(default=(), kw_only=True)
    invariants: tuple[NamedFormula, ...] = field(default=(), kw_only=True)
    between: frozenset[str] = field(default=frozenset(), kw_only=True)
    delivered_by: str | None = field(default=None, kw_only=True)
    reactive: bool = field(default=False, kw_only=True)

    def claimed(self, *, inside: bool, also: Collection[str] = ()) -> tuple[NamedFormula, ...]:
        """The invariants between two steps, or those that are true `inside` a step, too, at the heads of loops; and
        `also` these."""
        left_out = self.between.difference(also) if inside else ()
        return tuple(each for each in self.invariants if each.name not in left_out)


@record(frozen=True, slots=True)
class Mutant(Declaration):
    """`mutated` is the whole subject with the changes in; `link` is the subject's link, with it in place."""

    subject: str
    mutated: Protocol | Machine
    expects: tuple[Expectation, ...]


@record(frozen=True, slots=True)
class ScenarioStep:
    """A step of an execution: what `process` does with `peers`; `subject` is a message's name, a packet kind, an
    input or a timer.

    `arguments` are the first ones of the packet, all of them without `rest`. `text` is the step as it is written.
    """

    event: Literal["sends", "receives", "cannot", "ticks", "does", "loses", "duplicates"]
    process: int
    peers: tuple[int, ...]
    subject: str
    arguments: tuple[Expr, ...]
    rest: bool
    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Scenario(Declaration):
    """One execution. `subject` is `PROTOCOL`, or `PROTOCOL/MUTANT`; a formula among the steps is an assertion.

    `processes` are the processes' names; `workload` allows the execution and little else.
    """

    subject: str
    protocol: Protocol
    processes: tuple[str, ...]
    steps: tuple[ScenarioStep | NamedFormula, ...]
    workload: Workload
    expects: tuple[Expectation, ...]


@record(frozen=True, slots=True)
class Specification:
    """A whole file, typed."""

    file: str
    doc: str
    theories: tuple[Theory, ...] = ()
    theorems: tuple[Theorem, ...] = ()
    machines: tuple[Machine, ...] = ()
    protocols: tuple[Protocol, ...] = ()
    scopes: tuple[Scope, ...] = ()
    links: tuple[Link, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
