"""Protocols: packets, state, handlers, network, and what is stated of them."""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from thence.dsl.ir.declarations import Declaration, Definition, Delivery, NamedFormula, Variable
from thence.dsl.ir.remembered import remembered
from thence.dsl.ir.statements import Choose, Either, For, Stmt
from thence.dsl.ir.terms import Bound, Expr
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Record, Type
from thence.dsl.text.syntax import NOWHERE, Span
from thence.spec.value import record

PERIODICALLY: Final = "periodically"
"""The name in results of the timer that has none."""


@record(frozen=True, slots=True)
class PacketKind:
    """`carries` is the index of the parameter that the packet moves, or None for a control packet."""

    name: str
    parameters: tuple[Variable, ...]
    carries: int | None


@record(frozen=True, slots=True)
class StateVariable:
    name: str
    type: Type
    initial: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Constant:
    """A constant (nat or bool) or a role (process) of a protocol, with its value where a scope gives no other one.

    In expressions it is an Apply of its name, which `ir.constants` replaces by the value.
    """

    name: str
    type: Type
    value: int | bool
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Handler:
    """`kind` is set for receive handlers and inputs, and has the name of a timer that has one; `sender` is the name
    bound to the packet's sender.

    `guard`: the application sends a message, or has this input, only where this is true; None: at any time.
    """

    event: Literal["causal_send", "receive", "periodically", "input"]
    kind: str | None
    parameters: tuple[Variable, ...]
    sender: str | None
    body: tuple[Stmt, ...]
    guard: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    @property
    def timer(self) -> str | None:
        """The timer that this is run by: its name, `periodically` for the one that has none; None for no timer."""
        return (self.kind or PERIODICALLY) if self.event == "periodically" else None


@record(frozen=True, slots=True)
class Procedure:
    name: str
    parameters: tuple[Variable, ...]
    body: tuple[Stmt, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Network:
    """The faults of the network; without `reordering`, each channel is FIFO.

    `tree`: packets go between neighbors in a tree of the processes only. `overlay`: they go by given links only, which
    have a direction; `links` has those that a scope has given, in ascending order, and without them each process has a
    link to each other one. See `thence.dsl.ir.topology`.
    """

    lossy: bool = False
    duplicating: bool = False
    reordering: bool = True
    tree: bool = False
    overlay: bool = False
    links: tuple[tuple[int, int], ...] = ()


@record(frozen=True, slots=True)
class Promise:
    """In every fair run, whenever `given` is true, `goal` is true then or later; without `given`, `goal` is true once.

    For each process as a value of each variable.
    """

    name: str
    variables: tuple[Bound, ...]
    given: Expr | None
    goal: Expr
    doc: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Protocol(Declaration):
    """`properties` are names of built-in properties; `eventually` too (`delivered`).

    `witnesses` names the invariants that are there to be violated: each is the denial of a `reachable` formula.
    `fairness` names what happens again and again if it can: `receive`, a packet kind, `periodically`,
    `causal_send`; with `weakly` only if from some moment on it can always.
    `rest` are formulas about states in which nothing has to happen any more.
    `definitions` are for the links and scenarios of the protocol; all else has them expanded. `constants` are there
    until a scope has given them their values.
    """

    network: Network
    packets: tuple[PacketKind, ...]
    records: tuple[Record, ...]
    state: tuple[StateVariable, ...]
    handlers: tuple[Handler, ...]
    procedures: tuple[Procedure, ...]
    invariants: tuple[NamedFormula, ...]
    properties: tuple[str, ...]
    eventually: tuple[str, ...]
    fairness: tuple[str, ...]
    delivery: Delivery = field(default="unicast", kw_only=True)
    weakly: bool = field(default=False, kw_only=True)
    witnesses: tuple[str, ...] = field(default=(), kw_only=True)
    definitions: tuple[Definition, ...] = field(default=(), kw_only=True, compare=False, repr=False)
    constants: tuple[Constant, ...] = field(default=(), kw_only=True)
    rest: tuple[NamedFormula, ...] = field(default=(), kw_only=True)
    promises: tuple[Promise, ...] = field(default=(), kw_only=True)

    @property
    def formulas(self) -> tuple[NamedFormula | Promise, ...]:
        """All that the protocol states by formulas about the states of all processes."""
        return (*self.invariants, *self.rest, *self.promises)

    @property
    def chooses(self) -> bool:
        """Whether some handler chooses, so that what happens at a process may have several outcomes."""
        return _choose(self.handlers) or _choose(self.procedures)

    @property
    def liveness(self) -> tuple[str, ...]:
        """The names of what happens in every fair run: `delivered`, where it is stated, and the promises."""
        return (*self.eventually, *(promise.name for promise in self.promises))

    @property
    def fair_inputs(self) -> tuple[str, ...]:
        """The inputs that the application has again and again where it can."""
        return tuple(
            handler.kind for handler in self.inputs if handler.kind is not None and handler.kind in self.fairness
        )

    @property
    def inputs(self) -> tuple[Handler, ...]:
        """The handlers of the application's inputs besides causal sends, in the order of the text."""
        return tuple(handler for handler in self.handlers if handler.event == "input")

    @property
    def sends(self) -> bool:
        """Whether the application sends messages at all."""
        return any(handler.event == "causal_send" for handler in self.handlers)

    @property
    def timers(self) -> tuple[str, ...]:
        """The names of the timers, in the order of the text."""
        return tuple(handler.timer for handler in self.handlers if handler.timer is not None)


@remembered
def _choose(bodies: tuple[Handler, ...] | tuple[Procedure, ...]) -> bool:
    return any(
        isinstance(node, Choose | Either) or (isinstance(node, For) and node.any_order) for node in nodes(bodies)
    )
