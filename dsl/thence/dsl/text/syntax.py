"""The abstract syntax of `.thence` files, as the parser builds it.

Every node is immutable. A span says where the node stands in the text; spans and line labels take
no part in equality, so that two texts that differ only in layout or comments have equal trees.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from thence.dsl.text.syntax_statements import (
    Assign,
    Call,
    Change,
    Choose,
    Deliver,
    Edit,
    Either,
    For,
    If,
    Let,
    Mutate,
    Pass,
    Require,
    Return,
    Send,
    Statement,
    Stmt,
    Var,
    While,
)
from thence.dsl.text.syntax_terms import (
    NOWHERE,
    ActionPattern,
    Apply,
    At,
    Binary,
    BinaryOperator,
    Binder,
    CollectionType,
    Conditional,
    Construct,
    Empty,
    Expr,
    FieldAccess,
    FieldValue,
    IndexAccess,
    IsTest,
    MapType,
    Name,
    NamedType,
    Node,
    Not,
    Nothing,
    Number,
    PacketPattern,
    Quantified,
    SetDisplay,
    Span,
    Truth,
    TypeExpr,
    Variable,
)
from thence.spec.value import record

__all__ = [
    "NOWHERE",
    "ActionPattern",
    "Apply",
    "Assign",
    "At",
    "Binary",
    "BinaryOperator",
    "Binder",
    "Call",
    "Cast",
    "Change",
    "Choose",
    "CollectionType",
    "Conditional",
    "Construct",
    "Deliver",
    "Edit",
    "Either",
    "Empty",
    "Expr",
    "FieldAccess",
    "FieldValue",
    "For",
    "If",
    "IndexAccess",
    "IsTest",
    "Let",
    "MapType",
    "Mutate",
    "Name",
    "NamedType",
    "Node",
    "Not",
    "Nothing",
    "Number",
    "PacketPattern",
    "Pass",
    "Quantified",
    "Require",
    "Return",
    "Send",
    "SetDisplay",
    "Span",
    "Statement",
    "Stmt",
    "Truth",
    "TypeExpr",
    "Var",
    "Variable",
    "While",
]
"""The nodes of `syntax_terms` and `syntax_statements` are imported from here, too: one vocabulary."""

# --- declarations ------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class Parameter(Node):
    """`m: message`; in a handler or transition the type may be left out where the context gives it."""

    name: Name
    type: TypeExpr | None = None


@record(frozen=True, slots=True)
class Formula(Node):
    """A named formula; a formula that the text does not name has the empty name.

    Only the formulas of `stable` and of a machine's `eventually` have parameters.
    """

    name: Name
    body: Expr
    doc: str = ""
    parameters: tuple[Parameter, ...] = field(default=(), kw_only=True)


@record(frozen=True, slots=True)
class SortDecl(Node):
    """`sort process, message` or `sort time ordered` (a strict total order `<`)."""

    names: tuple[Name, ...]
    ordered: bool = False


@record(frozen=True, slots=True)
class FunctionDecl(Node):
    """`function src, dst: message to process` in a theory; `function num(m: message): nat` in a machine."""

    names: tuple[Name, ...]
    parameters: tuple[Parameter, ...]
    result: TypeExpr
    constant: bool = field(default=False, kw_only=True)


@record(frozen=True, slots=True)
class RelationDecl(Node):
    """`relation sent, delivered: message` in a theory; `relation waits(m: message, x: message)` in a machine.

    Theory form: parameters have the empty name. `constant`: no transition changes it.
    """

    names: tuple[Name, ...]
    parameters: tuple[Parameter, ...]
    constant: bool = field(default=False, kw_only=True)


@record(frozen=True, slots=True)
class Inductive(Node):
    """`inductive hb(a, b):` and its rules; the least relation closed under them."""

    name: Name
    parameters: tuple[Parameter, ...]
    rules: tuple[Formula, ...]


ProgramStep: TypeAlias = tuple[Literal["send", "receive"], tuple[int, ...]]
"""`send to p, q`, or `receive from p, q` (from anybody where none is named)."""


@record(frozen=True, slots=True)
class Setting(Node):
    """A scope setting, by name: see Scope. `about` is the timer of `ticks TIMER N`, the input of `INPUT N per process`
    (`input`), the input and its parameter of `INPUT PARAMETER in 0, 1` (`values`), or the constant or role of
    `quorum = 3` (`given`). `names` are the words of `about`, with their places in the text. `mutual` says of each
    edge of `links` whether it is for both directions: `0 with 1`.
    """

    name: Literal[
        "processes", "sends", "self_sends", "prompt_sends", "reactive_sends", "fifo", "for_ever", "any_number",
        "duplicates", "losses", "ticks", "capacity", "destinations", "tree", "links", "program", "input", "values",
        "given",
    ]  # fmt: skip
    values: tuple[int, ...] = ()
    edges: tuple[tuple[int, tuple[int, ...]], ...] = ()
    mutual: tuple[bool, ...] = ()
    steps: tuple[ProgramStep, ...] = ()
    about: str = ""
    names: tuple[Name, ...] = field(default=(), compare=False)


@record(frozen=True, slots=True)
class NamedValue(Node):
    """`constant quorum: nat = 2`, or `role coordinator: process = 0`: a scope may give another value."""

    keyword: Literal["constant", "role"]
    name: Name
    type: TypeExpr
    value: int | bool


@record(frozen=True, slots=True)
class Expect(Node):
    """`expect VERDICT NAME, ... [in SCOPE | with SETTING, ...]`; without names it is about the declaration."""

    verdict: Literal["proved", "holds", "refuted", "unknown"]
    names: tuple[Name, ...] = ()
    scope: Name | None = None
    settings: tuple[Setting, ...] = ()


@record(frozen=True, slots=True)
class Declaration(Node):
    """A top-level declaration: its name and the documentation string that follows its first line."""

    name: Name
    doc: str = field(default="", kw_only=True)


@record(frozen=True, slots=True)
class Definition(Declaration):
    """`def NAME(PARAMETERS): e`: a name for an expression, in a file, theory, machine or protocol."""

    parameters: tuple[Parameter, ...]
    body: Expr


@record(frozen=True, slots=True)
class Theory(Declaration):
    """Sorts, functions, relations, `axiom`s, one or more `inductive` relations, named `property`s."""

    sorts: tuple[SortDecl, ...] = ()
    functions: tuple[FunctionDecl, ...] = ()
    relations: tuple[RelationDecl, ...] = ()
    axioms: tuple[Formula, ...] = ()
    inductives: tuple[Inductive, ...] = ()
    properties: tuple[Formula, ...] = ()
    definitions: tuple[Definition, ...] = field(default=(), kw_only=True)


@record(frozen=True, slots=True)
class InductionOn(Node):
    """`on hb(a, b) claim: P`, or with several claims in a block."""

    relation: Name
    variables: tuple[Name, ...]
    claims: tuple[Formula, ...]


@record(frozen=True, slots=True)
class Induction(Node):
    """`by induction on hb(a, b) claim: P`, or on several relations, in a block."""

    parts: tuple[InductionOn, ...]


@record(frozen=True, slots=True)
class Theorem(Declaration):
    """`theorem NAME in THEORY:`; `assume` and `prove` name properties of the theory, `use` theorems before it."""

    theory: Name
    assume: tuple[Name, ...] = ()
    prove: tuple[Name, ...] = ()
    inductions: tuple[Induction, ...] = ()
    needs: tuple[Name, ...] = ()
    expects: tuple[Expect, ...] = ()
    lemmas: tuple[Name, ...] = field(default=(), kw_only=True)


@record(frozen=True, slots=True)
class Transition(Node):
    """`transition causal_send(m):`; its body holds `require`s and parallel updates only."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class Initial(Node):
    """`initial:` of a machine; its body holds updates of the state in which everything is false or 0."""

    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class HelpStep(Node):
    """`deliver(x) for x while P`: a line of `by:`. `variables` stand behind `for`, `left` behind `while`."""

    transition: Name
    arguments: tuple[Expr, ...]
    variables: tuple[Parameter, ...] = ()
    left: Expr | None = None


@record(frozen=True, slots=True)
class LeadsTo(Node):
    """`eventually NAME(m): P leads to Q by:` of a machine, with the steps that bring Q about; P may be left out."""

    formula: Formula
    steps: tuple[HelpStep, ...]


@record(frozen=True, slots=True)
class Machine(Declaration):
    """State over any number of processes and messages; see the language reference for what comes built in.

    `delivery` is the word of the delivery line: `unicast`, `multicast`, `broadcast`, or `off`. Under `prove` and in
    expectations, `without deadlock` and `without starvation T` are names of several words.
    """

    relations: tuple[RelationDecl, ...] = ()
    functions: tuple[FunctionDecl, ...] = ()
    axioms: tuple[Formula, ...] = ()
    transitions: tuple[Transition, ...] = ()
    invariants: tuple[Formula, ...] = ()
    prove: tuple[Name, ...] = ()
    expects: tuple[Expect, ...] = ()
    delivery: tuple[Name, ...] = ()
    stable: tuple[Formula, ...] = field(default=(), kw_only=True)
    reachable: tuple[Formula, ...] = field(default=(), kw_only=True)
    eventually: tuple[LeadsTo, ...] = field(default=(), kw_only=True)
    definitions: tuple[Definition, ...] = field(default=(), kw_only=True)
    sorts: tuple[SortDecl, ...] = field(default=(), kw_only=True)
    initial: Initial | None = field(default=None, kw_only=True)

    @property
    def eventual(self) -> tuple[Formula, ...]:
        """The formulas of `eventually`."""
        return tuple(each.formula for each in self.eventually)


@record(frozen=True, slots=True)
class MessageKind(Node):
    """`message NORMAL(m: message) carries m`: a packet kind; `carries` names the parameter it moves."""

    name: Name
    parameters: tuple[Parameter, ...] = ()
    carries: Name | None = None


@record(frozen=True, slots=True)
class RecordDecl(Node):
    """`record Msg: rcv: process; mid: nat` or one field a line."""

    name: Name
    fields: tuple[Parameter, ...]


@record(frozen=True, slots=True)
class StateVar(Node):
    """`OB: queue of message` or `ck: nat = 1`; without an initial value, the zero of its type."""

    name: Name
    type: TypeExpr
    initial: Expr | None = None


@record(frozen=True, slots=True)
class Handler(Node):
    """`on causal_send(m) when P:`, `on receive KIND(x, y) from j:`, `on INPUT(k: nat) when P:`, `periodically:`,
    `periodically TIMER:`.

    `kind`: the packet kind, the input, or the name of a timer that has one; `sender`: the `from` name; `guard`: `when`.
    """

    event: Literal["causal_send", "receive", "periodically", "input"]
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]
    kind: Name | None = None
    sender: Name | None = None
    guard: Expr | None = None


@record(frozen=True, slots=True)
class Procedure(Node):
    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class Promise(Node):
    """`eventually NAME: P`, or `eventually NAME: forall p. P leads to Q`; `under fair ...` may follow the name."""

    formula: Formula
    fairness: tuple[Name, ...] = ()
    weakly: bool = False


@record(frozen=True, slots=True)
class Protocol(Declaration):
    """The algorithm as published: typed per-process state and atomic handlers.

    `network` is the words of the network line, such as `reliable`, `lossy`, `duplicating`, `fifo`,
    `reordering`. `eventually` names what must happen (`delivered`), `fairness` under which handlers. `delivery` is as
    in machines; so is `reachable`. `rest` are the formulas about states in which nothing has to happen any more.
    """

    network: tuple[Name, ...] = ()
    messages: tuple[MessageKind, ...] = ()
    records: tuple[RecordDecl, ...] = ()
    state: tuple[StateVar, ...] = ()
    handlers: tuple[Handler, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    invariants: tuple[Formula, ...] = ()
    reachable: tuple[Formula, ...] = ()
    properties: tuple[Name, ...] = ()
    eventually: tuple[Name, ...] = ()
    fairness: tuple[Name, ...] = ()
    weakly: bool = False
    delivery: tuple[Name, ...] = ()
    rest: tuple[Formula, ...] = field(default=(), kw_only=True)
    promises: tuple[Promise, ...] = field(default=(), kw_only=True)
    definitions: tuple[Definition, ...] = field(default=(), kw_only=True)
    values: tuple[NamedValue, ...] = field(default=(), kw_only=True)


@record(frozen=True, slots=True)
class Scope(Declaration):
    """`scope NAME of PROTOCOL:` a workload.

    How many messages: `processes N`; `sends K per process` (values (K,)) or `sends 2, 1, 1` (a number for each
    process); `for ever P, Q` with `capacity N`; `any number of messages`. To whom: `destinations 0 to 1, 2; 1 to 2`
    (edges; without it, to any other process); `self sends`. When: `prompt sends`, `reactive sends`, `program P: ...`.
    The network: `fifo`; `tree 0 to 1, 2`; `links 0 to 1; 1 with 2`;
    `duplicates N`, `losses N` (at most N in an execution); `ticks N` (each
    timer at most N times a process, at any moment; without it, timers fire only when no packet is in flight), `ticks
    TIMER N` (this timer). What the application does besides: `INPUT 2 per process` or `INPUT 1, 0, 0` (how often each
    process has this input), `INPUT k in 0, 1` (the values of its parameter k). `quorum = 3`, the value of a constant or
    role.
    """

    protocol: Name
    settings: tuple[Setting, ...] = ()
    expects: tuple[Expect, ...] = ()


@record(frozen=True, slots=True)
class AnyThatEnables(Node):
    """`any` in the place of a transition's argument: the machine finds it."""


@record(frozen=True, slots=True)
class Target(Node):
    """A transition of the machine with its arguments, on the right side of a clause."""

    transition: Name
    arguments: tuple[Expr | AnyThatEnables, ...]


@record(frozen=True, slots=True)
class Clause(Node):
    """One line of `conforms`: an event of the protocol `is` a transition of the machine.

    `event` is `causal_send`, `deliver`, `send`, `receive`, `input`, `periodically`; `kind` the packet kind of a send or
    receive, the name of an input, or that of a timer, if it has one; `parameters` the names bound by the pattern;
    `peer` the name bound by `to` or `from`. `targets`, joined by `or`, are tried in order; their arguments are
    expressions over those names, `self` and the protocol's state before the step. With `once`, a second occurrence with
    the same arguments is silent; so is the event where `when` is false. With `rest` the pattern ends in `...`, which
    leaves the packet's remaining parameters unnamed; without it, it names them all.
    """

    event: Literal["causal_send", "deliver", "send", "receive", "input", "periodically"]
    kind: Name | None
    parameters: tuple[Name, ...]
    peer: Name | None
    targets: tuple[Target, ...]
    once: bool = False
    rest: bool = False
    when: Expr | None = None


@record(frozen=True, slots=True)
class Conforms(Declaration):
    """`conforms PROTOCOL to MACHINE in SCOPE, ...:`; its name is `PROTOCOL to MACHINE`.

    `scopes` says where it is checked; `internal` are transitions that the machine takes by itself after each event.
    `invariants` are about the states of both, and so are those `between` steps. `delivered_by` names the statements of
    the machine by which each message is delivered in the end, one for each line. `settings` are `reactive sends`.
    """

    protocol: Name
    machine: Name
    clauses: tuple[Clause, ...] = ()
    scopes: tuple[Name, ...] = ()
    expects: tuple[Expect, ...] = ()
    internal: tuple[Name, ...] = ()
    invariants: tuple[Formula, ...] = ()
    between: tuple[Formula, ...] = ()
    delivered_by: tuple[Name, ...] = ()
    settings: tuple[Setting, ...] = ()


@record(frozen=True, slots=True)
class Mutant(Declaration):
    """`mutant NAME of SUBJECT:` a protocol or machine that restates what it changes, by name.

    The body is that of a protocol or of a machine. A handler, procedure, transition, state variable, constant, role or
    invariant of the same name replaces the subject's; a new one is added. `network` and `initial` replace all that the
    subject says there. `changes` edit single statements.
    """

    subject: Name
    state: tuple[StateVar, ...] = ()
    handlers: tuple[Handler, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    transitions: tuple[Transition, ...] = ()
    invariants: tuple[Formula, ...] = ()
    expects: tuple[Expect, ...] = ()
    stable: tuple[Formula, ...] = field(default=(), kw_only=True)
    reachable: tuple[Formula, ...] = field(default=(), kw_only=True)
    rest: tuple[Formula, ...] = field(default=(), kw_only=True)
    promises: tuple[Promise, ...] = field(default=(), kw_only=True)
    definitions: tuple[Definition, ...] = field(default=(), kw_only=True)
    network: tuple[Name, ...] = field(default=(), kw_only=True)
    values: tuple[NamedValue, ...] = field(default=(), kw_only=True)
    changes: tuple[Change, ...] = field(default=(), kw_only=True)
    initial: Initial | None = field(default=None, kw_only=True)


@record(frozen=True, slots=True)
class ScenarioStep(Node):
    """A step of a scenario: who (`process`) does what with whom (`peers`).

    `p sends m to q, r`, `p receives KIND(x, ...) from q`, `p cannot receive KIND(x, ...) from q`,
    `p ticks`, `p ticks TIMER`, `p does INPUT(x, ...)`,
    `network loses KIND(...) from p to q`, `network duplicates KIND(...) from p to q`. `subject` is the new message,
    the packet kind, the input, or the timer, where it has a name; `rest` says that `...` stands for the packet's other
    arguments.
    """

    event: Literal["sends", "receives", "cannot", "ticks", "does", "loses", "duplicates"]
    process: Name
    peers: tuple[Name, ...] = ()
    subject: Name | None = None
    arguments: tuple[Expr, ...] = ()
    rest: bool = False


@record(frozen=True, slots=True)
class Cast(Node):
    """`processes Alice, Bob`: the processes of a scenario, by name."""

    names: tuple[Name, ...]


@record(frozen=True, slots=True)
class LinkLine(Node):
    """`link p to q, r` in a scenario: edges of a tree network, or links of an overlay. `link p with q`: both ways."""

    process: Name
    peers: tuple[Name, ...]
    mutual: bool = False


@record(frozen=True, slots=True)
class Given(Node):
    """`coordinator = p` or `quorum = 3` in a scenario: the value of a role or constant."""

    name: Name
    value: Name | int | bool


@record(frozen=True, slots=True)
class Assertion(Node):
    """`assert P` in a scenario: P is true of the state that its steps have led to."""

    formula: Expr


@record(frozen=True, slots=True)
class Scenario(Declaration):
    """`scenario NAME of PROTOCOL [with MUTANT]:` one execution, step by step, and what is true on the way.

    `processes Alice, Bob` names the processes 0, 1, ...; expectations are of properties of the execution. `links`
    are of a tree network or an overlay.
    """

    protocol: Name
    mutant: Name | None = None
    processes: tuple[Name, ...] = ()
    steps: tuple[ScenarioStep | Assertion, ...] = ()
    expects: tuple[Expect, ...] = ()
    links: tuple[LinkLine, ...] = ()
    given: tuple[Given, ...] = ()


TopLevel: TypeAlias = Theory | Theorem | Machine | Protocol | Scope | Conforms | Mutant | Scenario | Definition


@record(frozen=True, slots=True)
class Comment:
    """A comment: its text after `#`, stripped; `trailing` when something stands before it on its line."""

    line: int
    column: int
    text: str
    trailing: bool


@record(frozen=True, slots=True)
class File(Node):
    """A whole file. Comments take no part in equality.

    `bare_lines` are the lines on which `else`, a `state` header or a documentation string begins: what
    is written there but has no node, so that comments find their place when the file is printed.
    """

    declarations: tuple[TopLevel, ...]
    doc: str = ""
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    bare_lines: tuple[int, ...] = field(default=(), compare=False)
