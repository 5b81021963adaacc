"""A way through a handler, what is checked on it, and the machine that follows its events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.substitution import instantiated
from thence.dsl.ir.types import MESSAGE, PROCESS, Type
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    conj,
    disj,
    equal,
    exists,
    negation,
)
from thence.proofs.machine.transitions import Action
from thence.proofs.refinement.expressions import Evaluation, Value
from thence.proofs.refinement.shapes.flat import term_of
from thence.proofs.refinement.shapes.kinds import Group, Shape, Term
from thence.proofs.refinement.states import SELF, State
from thence.proofs.refinement.transitions import action_of, enabled, taken
from thence.proofs.refinement.trees import is_linked


@dataclass(frozen=True, slots=True)
class Path:
    """A way through a handler, up to some statement. `variables` are the locals that statements change."""

    state: State
    locals: Mapping[str, Shape]
    conditions: tuple[ir.NamedFormula, ...] = ()
    variables: frozenset[str] = frozenset()

    def knowing(self, facts: Sequence[ir.NamedFormula]) -> Path:
        """The same with more that is true on the way."""
        return replace(self, conditions=(*self.conditions, *facts))

    def where(self, name: str, *conditions: Term) -> Path:
        new = tuple(ir.NamedFormula(name, each) for each in conditions if each != TRUE)
        return replace(self, conditions=(*self.conditions, *new))

    @property
    def possible(self) -> bool:
        return all(condition.body != FALSE for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Kept:
    """A goal that is an invariant of the link in a state."""

    invariant: ir.NamedFormula
    state: State


@dataclass(frozen=True, slots=True)
class Taking:
    """A transition that an event may be; `found` are the arguments that the machine finds."""

    action: Action
    arguments: tuple[Term, ...]
    found: tuple[ir.Variable, ...]
    defined: Term

    def choice(self, state: State) -> tuple[Term, ...]:
        """Of the found arguments: that they are processes or sent messages, and enable the transition."""
        messages = (one for one in self.found if one.type == MESSAGE)
        sent = (state.machine["sent"]((ir.Local(MESSAGE, one.name),)) for one in messages)
        return (*sent, enabled(state, self.action, self.arguments))

    def possible(self, state: State) -> Term:
        return exists(self.found, conj(self.choice(state)))


@dataclass(frozen=True, slots=True)
class Enabled:
    """A goal that one of these transitions is enabled in a state."""

    targets: tuple[Taking, ...]
    state: State


Claim: TypeAlias = Kept | Enabled
"""What a goal says in the words of the file."""


@dataclass(frozen=True, slots=True)
class Check:
    """The goal is true where the conditions are. `claim` is None where the name of the check says it all."""

    name: str
    conditions: tuple[ir.NamedFormula, ...]
    goal: Term
    claim: Claim | None = None


Then: TypeAlias = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the protocol, as `scopes.link` has it: its kind, the values that a clause names, the peer."""

    event: str
    kind: str | None
    values: tuple[Shape, ...]
    peer: Shape | None = None


@dataclass(slots=True)
class Following:
    """Values, checks and events on ways through handlers of the link's protocol, from the state `before`.

    `known` are the machine's invariants.
    """

    link: ir.Link
    before: State
    known: tuple[ir.NamedFormula, ...] = ()
    checks: list[Check] = field(default_factory=list)
    symbols: list[ir.Symbol] = field(default_factory=list)
    _numbers: int = 0

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _evaluation(self, state: State, locals: Mapping[str, Shape]) -> Evaluation:
        return Evaluation(self.link.protocol, state, locals=locals, prefix=f"e{self._number()}")

    def _value(self, path: Path, expr: ir.Expr, more: Sequence[Term] = ()) -> Value:
        """The value of an expression on the way; that it has one is checked, and known from then on."""
        found = self._evaluation(path.state, path.locals).value(expr)
        self._check(f"no fault on line {expr.span.line}", path, found.defined, more)
        return found

    def _check(self, name: str, path: Path, goal: Term, more: Sequence[Term] = (), claim: Claim | None = None) -> None:
        if goal != TRUE and path.possible:
            inner = tuple(ir.NamedFormula("in the loop", each) for each in more)
            self.checks.append(Check(name, (*path.conditions, *inner), goal, claim))

    def _goes_to_neighbor(self, path: Path, line: int, to: Term, more: Sequence[Term] = ()) -> None:
        """A packet is sent: on a tree network to a neighbor, or the step is a fault."""
        if self.link.protocol.network.tree:
            self._check(f"no fault on line {line}", path, is_linked(SELF, to), more)

    def invariants(
        self, state: State, *, inside: bool = False, also: Collection[str] = ()
    ) -> tuple[ir.NamedFormula, ...]:
        """The invariants of the link in a state: each has a value, and is true. `inside`, `also`: see `kept`."""
        return tuple(goal for goal, _ in self.kept(state, inside=inside, also=also))

    def kept(
        self, state: State, *, inside: bool = False, also: Collection[str] = ()
    ) -> Iterator[tuple[ir.NamedFormula, Kept]]:
        """The invariants of the link in a state, as goals; `inside` a step without those that are for between steps,
        but `also` these of them."""
        for one in self.link.claimed(inside=inside, also=also):
            said = Evaluation(self.link.protocol, state, prefix="i").formula(one.body)
            yield ir.NamedFormula(one.name, said), Kept(one, state)

    def invariants_of_self(self, state: State) -> tuple[ir.NamedFormula, ...]:
        """What the invariants say inside a step where one of their processes is the one that takes it.

        They follow from the invariants, and spare a solver to find that its variables are those of any process.
        """
        found: list[ir.NamedFormula] = []
        for one in self.link.claimed(inside=True):
            for said in _of_self(one.body):
                formula = Evaluation(self.link.protocol, state, prefix="i").formula(said)
                found.append(ir.NamedFormula(f"{one.name} of self", formula))
        return tuple(found)

    def _kind(self, name: str) -> ir.PacketKind:
        return next(kind for kind in self.link.protocol.packets if kind.name == name)

    def _domain(self, path: Path, statement: ir.For) -> tuple[tuple[Group, ...], Term]:
        bound = ir.Bound(statement.variable, statement.name, statement.domain)
        return self._evaluation(path.state, path.locals).groups(bound, path.locals)

    def _loop_variables(self, types: Sequence[Type]) -> tuple[ir.Variable, ...]:
        return tuple(ir.Variable(f"#each {self._number()}", type_) for type_ in types)

    # --- events ------------------------------------------------------------------------------

    def accepted(self, path: Path, guard: ir.Expr) -> Path:
        """The application has an input or sends, which the protocol accepts."""
        found = self._value(path, guard)
        return sure(path, found).where("accepted", found.term)

    def happen(self, path: Path, event: Event, then: Then) -> None:
        """The machine takes the transition that the event is."""
        clause = self._clause(event)
        if clause is None:
            then(path)
            return
        if event.event == "deliver" and self.link.machine.delivery == "unicast":
            (message,) = (term_of(each) for each in event.values)
            at = equal(ir.Apply(PROCESS, "dst", (message,)), SELF)
            self._check("deliver is where the message goes", path, at)
            path = path.where("delivered where it goes", at)
        evaluation = self._of_clause(clause, event)
        what = f"{clause.event}{f' {clause.kind}' if clause.kind else ''}"
        if clause.when is not None:
            when = evaluation.value(clause.when)
            self._check(f"the condition of {what} has a value", path, when.defined)
            path = sure(path, when)
            then(path.where(f"{what} is silent", opposite(when.term)))
            path = path.where(f"{what} is an event", when.term)
            if not path.possible:
                return
        targets = [self._target(path, target, evaluation) for target in clause.targets]
        for target in targets:
            self._check(f"the arguments of {what} have a value", path, target.defined)
            path = path.where("a value", target.defined)
        possible = disj(target.possible(path.state) for target in targets)
        self._check(f"{what} is enabled", path, possible, claim=Enabled(tuple(targets), path.state))
        refused: list[Term] = []
        for target in targets:
            here = path.where(f"{what} is refused", *refused).where(f"{what} is enabled", *target.choice(path.state))
            after = taken(path.state, target.action, target.arguments)
            then(replace(here, state=replace(path.state, machine=after)))
            refused.append(opposite(target.possible(path.state)))

    def _clause(self, event: Event) -> ir.Clause | None:
        for clause in self.link.clauses:
            known = (clause.event, clause.kind)
            if known == (event.event, event.kind):
                if clause.once:
                    raise Unsupported("`once` in a link has no encoding")
                return clause
        return None

    def _of_clause(self, clause: ir.Clause, event: Event) -> Evaluation:
        names = {one.name: shape for one, shape in zip(clause.parameters, event.values, strict=False)}
        if clause.peer is not None:
            assert event.peer is not None
            names[clause.peer] = event.peer
        return self._evaluation(self.before, names)

    def _target(self, path: Path, target: ir.Target, evaluation: Evaluation) -> Taking:
        action = action_of(self.link.machine, target.transition)
        arguments: list[Term] = []
        found: list[ir.Variable] = []
        defined: list[Term] = []
        for parameter, argument in zip(action.parameters, target.arguments, strict=True):
            if argument is None:
                found.append(ir.Variable(f"#any {self._number()}", parameter.type))
                arguments.append(ir.Local(parameter.type, found[-1].name))
            else:
                value = evaluation.value(argument)
                defined.append(value.defined)
                arguments.append(value.term)
        return Taking(action, tuple(arguments), tuple(found), conj(defined))


def sure(path: Path, *found: Value) -> Path:
    """The way from there on: the values were there."""
    return path.where("a value", *(each.defined for each in found))


def restored(after: Path, before: Path) -> Path:
    """After a block: the names of the block are gone."""
    kept = {name: after.locals[name] for name in before.locals}
    return replace(after, locals=kept, variables=before.variables)


def opposite(term: Term) -> Term:
    if term in (TRUE, FALSE):
        return FALSE if term == TRUE else TRUE
    return negation(term)


def _of_self(formula: ir.Expr) -> Iterator[ir.Expr]:
    """The formula with `self` in the place of one of the processes for all of which it is true."""
    if not isinstance(formula, ir.Quantified) or formula.kind != "forall":
        return
    for own in formula.variables:
        if own.type == PROCESS and own.domain is None:
            others = tuple(each for each in formula.variables if each is not own)
            said = instantiated(formula.body, {own.name: ir.SelfProcess(PROCESS)}, None, ())
            yield replace(formula, variables=others, body=said) if others else said
    for said in _of_self(formula.body):
        yield replace(formula, body=said)
