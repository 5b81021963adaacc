"""The typed intermediate representation: names resolved, every expression with its type.

One IR serves every back end. It is built by `elaborate` only, which guarantees: every name refers to
something; every expression is well typed; no local shadows another; `X@p` stands in properties only;
transitions hold `require`s and updates only.
"""

from __future__ import annotations

from dataclasses import field
from itertools import product
from typing import Final, Literal, TypeAlias, assert_never

from thence.dsl.ir.remembered import remembered
from thence.dsl.ir.statements import Choose, Either, For, Stmt
from thence.dsl.ir.terms import Bound, Expr
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Record, Sort, Type
from thence.dsl.text.syntax import NOWHERE, ProgramStep, Span
from thence.spec.value import record

# --- declarations ------------------------------------------------------------------------------

PERIODICALLY: Final = "periodically"
"""The name in results of the timer that has none."""

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
class Symbol:
    """A relation (result bool) or function of a theory or machine."""

    name: str
    parameters: tuple[Variable, ...]
    result: Type
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Inductive:
    """The least relation closed under the rules."""

    name: str
    parameters: tuple[Variable, ...]
    rules: tuple[NamedFormula, ...]


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


@record(frozen=True, slots=True)
class Finite:
    """Each process sends a fixed number of messages.

    `prompt`: a message is sent only when the protocol network-sends it at once. `reactive`: a message may be sent
    inside a delivery, too. `programs`, where it is not empty, has the application's sends and receives of each
    process, in order (None: it does as it likes); see `text.programs`.
    """

    prompt: bool = False
    reactive: bool = False
    programs: tuple[tuple[ProgramStep, ...] | None, ...] = ()


@record(frozen=True, slots=True)
class ForEver:
    """Process i sends for ever, with `identities[i]` identities; 0: it sends a fixed number of messages.

    `prompt` is as in `Finite`. `capacity`: the processes that send for ever send only while each collection of every
    process has fewer elements. See `run.identity_reuse`.
    """

    identities: tuple[int, ...]
    prompt: bool = False
    capacity: int | None = None


@record(frozen=True, slots=True)
class AnyNumber:
    """Any number of messages, sent at any time by the processes that send at all; see `thence.proofs.abstraction`."""


Sending: TypeAlias = Finite | ForEver | AnyNumber


@record(frozen=True, slots=True)
class InputUse:
    """How often each process has an input (`limits`), and the values of its parameters, by name."""

    name: str
    limits: tuple[int, ...]
    parameters: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def choices(self) -> tuple[tuple[int, ...], ...]:
        """The arguments with which it happens."""
        return tuple(product(*(values for _, values in self.parameters)))


@record(frozen=True, slots=True)
class Workload:
    """The environment of a protocol: how many processes, who sends how many messages to whom, and the faults.

    `sends[i]` is how many messages process i may send, as far as `sending` does not say otherwise; `destinations[i]` to
    whom. `groups[i]` are the sets of processes that a message of i may go to, where delivery is multicast or broadcast;
    in unicast there are none. `ticks` None: timers fire only when no packet is in flight (or at any moment, see
    `run.identity_reuse`); a number: each at most so often a process, at any moment; `timers` has other numbers for
    some timers, by name. `inputs`: what the application does besides sending; inputs that no process has are left out.
    `tree` has the edges of a tree network; empty where the processes form a line. `links` has those of an overlay, in
    ascending order; empty where each process has a link to each other one. `fifo`: channels keep their order, whatever
    the protocol's network may do.
    `constants` has the values of constants and roles that are not those of the protocol's text, by name.
    """

    processes: int
    sends: tuple[int, ...]
    destinations: tuple[tuple[int, ...], ...]
    duplicates: int = 0
    losses: int = 0
    ticks: int | None = None
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    sending: Sending = Finite()
    tree: tuple[tuple[int, int], ...] = ()
    fifo: bool = False
    timers: tuple[tuple[str, int], ...] = ()
    inputs: tuple[InputUse, ...] = ()
    constants: tuple[tuple[str, int | bool], ...] = ()
    links: tuple[tuple[int, int], ...] = ()

    def ticks_of(self, timer: str) -> int | None:
        """How often the timer of a process may fire at any moment; None: only when no packet is in flight."""
        return dict(self.timers).get(timer, self.ticks)

    @property
    def ends(self) -> bool:
        """Whether every process sends a fixed number of messages."""
        match self.sending:
            case Finite():
                return True
            case ForEver(identities):
                return not any(identities)
            case AnyNumber():
                return False
            case _:
                assert_never(self.sending)

    @property
    def prompt(self) -> bool:
        """Whether a message is sent only when the protocol network-sends it at once."""
        return isinstance(self.sending, AnyNumber) or self.sending.prompt

    @property
    def reactive(self) -> bool:
        """Whether a message may be sent inside a delivery, too."""
        return isinstance(self.sending, Finite) and self.sending.reactive

    @property
    def programs(self) -> tuple[tuple[ProgramStep, ...] | None, ...]:
        """The application's sends and receives of each process; empty where no process has a program."""
        return self.sending.programs if isinstance(self.sending, Finite) else ()

    @property
    def capacity(self) -> int | None:
        """The bound on collections beyond which processes that send for ever do not send."""
        return self.sending.capacity if isinstance(self.sending, ForEver) else None

    def identities(self, process: int) -> int:
        """With how many identities the process sends for ever, to begin with; 0: it sends a fixed number."""
        match self.sending:
            case Finite():
                return 0
            case ForEver(identities):
                return identities[process]
            case AnyNumber():
                return self.sends[process]
            case _:
                assert_never(self.sending)

    def choices(self, process: int) -> tuple[tuple[int, ...], ...]:
        """The sets of destinations, each ascending, that a message of the process may have."""
        if self.groups:
            return self.groups[process]
        return tuple((destination,) for destination in self.destinations[process])


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
    delivers each message in the end.
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

    def claimed(self, *, inside: bool) -> tuple[NamedFormula, ...]:
        """The invariants between two steps, or those that are true `inside` a step, too, at the heads of loops."""
        return tuple(each for each in self.invariants if not (inside and each.name in self.between))


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


@remembered
def _choose(bodies: tuple[Handler, ...] | tuple[Procedure, ...]) -> bool:
    return any(
        isinstance(node, Choose | Either) or (isinstance(node, For) and node.any_order) for node in nodes(bodies)
    )
