"""The obligations of a link: one for each step, way through its handler, and thing to be shown there.

From any state that satisfies the invariants of the link and those of the machine, a step emits only events that the
machine enables, and keeps the invariants of the link. They are true at first. So each run of the protocol is one of
the machine.

NOTE(given): what a run of a link chooses by the numbers of the processes (`dsl.run.machine_run`) is known here: process
`<` is a strict total order, a function of a process to nat is its number, ordered alike, and a role is the process
whose number the text gives it. On a tree network the tree decides, see NOTE(trees).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import DST, SRC
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Type
from thence.dsl.run.machine_run import given_symbols
from thence.proofs.logic.counting import none_but_one
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    children,
    equal,
    forall,
    free_locals,
    holds,
    implies,
    local,
    map_children,
    negation,
    outer_foralls,
    substitute,
)
from thence.proofs.logic.mentions import Mentioned, Mentions
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.machine.obligations import signature_of
from thence.proofs.refinement.execution import Execution
from thence.proofs.refinement.expressions import Evaluation, Value, role, roles
from thence.proofs.refinement.following import Check, Claim, Enabled, Event, Kept, Path
from thence.proofs.refinement.premises import numbers_of_processes, premises
from thence.proofs.refinement.reactions import between_at_heads, sends_between_rounds, sends_inside_matter
from thence.proofs.refinement.shapes.flat import built, leaves
from thence.proofs.refinement.shapes.kinds import Group, Leaf, Shape, Term
from thence.proofs.refinement.states import (
    SELF,
    State,
    any_state,
    flying_name,
    in_flight,
    initial_state,
    is_head,
    keeps_order,
    packet_sort,
    place_facts,
    place_symbol,
    placed,
    protocol_facts,
    protocol_symbols,
    receiver_of,
    said_of,
    types_of_values,
)
from thence.proofs.refinement.symbols import value_sort
from thence.proofs.refinement.trees import constants_of_trees, facts_of_flight, tree_facts, tree_symbols

_P, _Q = ir.Variable("p", PROCESS), ir.Variable("q", PROCESS)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a step is taken, with what is known of it: the state in which the handler begins, and its parameters."""

    name: str
    handler: ir.Handler | None
    path: Path
    events: tuple[Event, ...]


# --- what is known --------------------------------------------------------------------------------


def refusals(link: ir.Link) -> tuple[str, ...]:
    """What has no encoding at all, by name; a link that has any of it is not proved."""
    protocol, machine = link.protocol, link.machine
    found: list[str] = []
    if link.internal:
        found.append("`internal` transitions")
    if any(clause.once for clause in link.clauses):
        found.append("`once`")
    if protocol.network.overlay:
        found.append("overlays")
    if machine.delivery == "off" and protocol.sends:
        found.append("messages under a machine with `delivery off`")
    if link.reactive and not sends_between_rounds(link):
        found.append(
            "`reactive sends` where a step goes on with what a send changes or reads, or with another delivery,"
        )
    return tuple(found)


def setting(link: ir.Link) -> tuple[ir.NamedFormula, ...]:
    """The axioms of the machine, and what is given: see NOTE(given)."""
    return (*link.machine.axioms, *_given(link))


def _given(link: ir.Link) -> tuple[ir.NamedFormula, ...]:
    """The numbers of the processes, and the tree."""
    p, q = local(_P), local(_Q)
    found: list[ir.NamedFormula] = []
    before = ir.Comparison(BOOL, "<", p, q)
    number: str | None = None
    given, numbers = given_symbols(link.machine), numbers_of_processes(link.machine)
    for symbol in link.machine.symbols:
        types = [parameter.type for parameter in symbol.parameters]
        if symbol.name in given and types == [PROCESS, PROCESS] and symbol.result == BOOL:
            same = ir.Connective(BOOL, "iff", holds(symbol.name, p, q), before)
            found.append(ir.NamedFormula(f"{symbol.name} is the order of processes", forall((_P, _Q), same)))
        if symbol.name in numbers:
            one, other = (ir.Apply(NAT, symbol.name, (each,)) for each in (p, q))
            alike = ir.Connective(BOOL, "iff", ir.Comparison(BOOL, "<", one, other), before)
            found.append(ir.NamedFormula(f"{symbol.name} is the number of a process", forall((_P, _Q), alike)))
            number = symbol.name
    if number is not None:
        for constant in roles(link.protocol):
            its = ir.Apply(NAT, number, (role(constant),))
            found.append(ir.NamedFormula(f"role {constant.name}", equal(its, ir.Literal_(NAT, constant.value))))
    return (*found, *_roles_apart(link.protocol), *tree_facts(link.protocol), *constants_of_trees(link))


def _roles_apart(protocol: ir.Protocol) -> Iterator[ir.NamedFormula]:
    found = roles(protocol)
    for at, one in enumerate(found):
        for other in found[:at]:
            same = equal(role(one), role(other))
            if one.value != other.value:
                same = negation(same)
            yield ir.NamedFormula(f"roles {other.name}, {one.name}", same)
            if one.value != other.value:
                first, last = sorted((one, other), key=lambda each: each.value)
                order = ir.Comparison(BOOL, "<", role(first), role(last))
                yield ir.NamedFormula(f"roles {first.name} < {last.name}", order)


OF_MESSAGES = frozenset({"sent", "to", "src", "dst"})
"""What protocols and machines both know of messages."""


def signature(link: ir.Link, more: Sequence[ir.Symbol] = ()) -> Signature:
    """Sorts and symbols of machine and protocol; processes are ordered.

    Raises: Unsupported where a machine without messages of its own gives another meaning to a name about messages.
    """
    machine = signature_of(link.machine)
    if link.machine.delivery == "off" and (own := OF_MESSAGES & {symbol.name for symbol in machine.symbols}):
        raise Unsupported(f"`{sorted(own)[0]}` is not what a protocol knows by that name: no encoding")
    packets = (packet_sort(kind) for kind in link.protocol.packets)
    values = (value_sort(type_) for type_ in types_of_values(link.protocol))
    sorts = (*machine.sorts, *packets, *values)
    ends = () if any(one.name == "src" for one in machine.symbols) else (SRC, DST)
    tree = tree_symbols(link.protocol)
    symbols = (*machine.symbols, *ends, *protocol_symbols(link.protocol), *tree, *more)
    assert len({symbol.name for symbol in symbols}) == len(symbols), "two meanings of one symbol"
    return Signature(sorts, tuple(dict.fromkeys(("process", *machine.ordered))), symbols)


# --- the causes of steps --------------------------------------------------------------------------


def causes(link: ir.Link) -> Iterator[Cause]:
    """Each cause of a step, in any state."""
    before = any_state(link)
    for handler in link.protocol.handlers:
        match handler.event:
            case "causal_send":
                yield _causal_send(before, handler)
            case "periodically":
                event = Event("periodically", handler.kind, ())
                yield Cause(handler.timer or "", handler, Path(before, {}), (event,))
            case "input":
                shapes = {one.name: _parameter(one) for one in handler.parameters}
                event = Event("input", handler.kind, tuple(shapes.values()))
                yield Cause(handler.kind or "", handler, Path(before, shapes), (event,))
            case "receive":
                pass
    arrivals = {one.kind: one for one in link.protocol.handlers if one.event == "receive"}
    for kind in link.protocol.packets:
        yield _arrival(before, kind, arrivals.get(kind.name))


def _parameter(parameter: ir.Variable) -> Shape:
    terms = [ir.Local(leaf, f"#{parameter.name}.{at}") for at, leaf in enumerate(leaves(parameter.type))]
    if MESSAGE in leaves(parameter.type):
        raise Unsupported("an input with a message")
    return built(parameter.type, terms)


def _causal_send(before: State, handler: ir.Handler) -> Cause:
    message = ir.Local(MESSAGE, "#m")
    (parameter,) = handler.parameters
    new = negation(before.machine["sent"]((message,)))
    own = equal(ir.Apply(PROCESS, "src", (message,)), SELF)
    path = Path(before, {parameter.name: Leaf(message)}).where("a new message of the process", new, own)
    return Cause("causal_send", handler, path, (Event("causal_send", None, (Leaf(message),)),))


def _arrival(before: State, kind: ir.PacketKind, handler: ir.Handler | None) -> Cause:
    packet = ir.Local(packet_sort(kind), "#packet")
    value = said_of(kind, packet)
    fifo = before.end is not None
    network = {**before.network, kind.name: (in_flight(kind, fifo, without=packet),)}
    names: dict[str, Shape] = {}
    if handler is not None:
        names = {one.name: shape for one, shape in zip(handler.parameters, value.fields, strict=False)}
        if handler.sender is not None:
            names[handler.sender] = value.fields[-2]
    path = Path(replace(before, network=network), names).where(
        "the packet arrives",
        holds(flying_name(kind.name), packet),
        equal(receiver_of(value), SELF),
        is_head(before, kind.name, packet, _in_its_place(kind, packet)),
    )
    event = Event("receive", kind.name, value.fields[:-2], value.fields[-2])
    return Cause(f"receive {kind.name}", handler, path, (event,))


def network_steps(link: ir.Link) -> Iterator[tuple[str, State, tuple[ir.NamedFormula, ...]]]:
    """The network's own steps: a packet is lost, or there is one more of it."""
    before = any_state(link)
    for kind in link.protocol.packets:
        packet = ir.Local(packet_sort(kind), "#packet")
        first = is_head(before, kind.name, packet, _in_its_place(kind, packet))
        there = holds(flying_name(kind.name), packet)
        flying = tuple(ir.NamedFormula("the packet is in flight", each) for each in (there, first) if each != TRUE)
        if link.protocol.network.lossy:
            lost = {**before.network, kind.name: (in_flight(kind, keeps_order(link), without=packet),)}
            yield f"{kind.name} is lost", replace(before, network=lost), flying
        if link.protocol.network.duplicating:
            copied = before.sending(kind.name, _one(said_of(kind, packet)))
            yield f"{kind.name} is duplicated", copied, flying


def _in_its_place(kind: ir.PacketKind, packet: Term) -> Shape:
    """The packet that an element of the packets' sort is, with its place."""
    return placed(said_of(kind, packet), ir.Apply(NAT, place_symbol(kind).name, (packet,)))


def _one(value: Shape) -> Group:
    return Group((), lambda _: (TRUE, value))


# --- obligations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claimed:
    """An obligation, and what its goal says in the words of the file; None where its name says it all."""

    obligation: Obligation
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be shown. Its obligation is made when it is asked for: where few of many claims matter, most are not.

    Attributes:
        known: what is known of the state where the step begins; shared by many.
        conditions: what is known of the way through the handler.
        symbols: those that this way needs besides.
        number: of the way through a handler, where several have this name.
    """

    name: str
    known: tuple[ir.NamedFormula, ...]
    conditions: tuple[ir.NamedFormula, ...]
    goal: Term
    symbols: tuple[ir.Symbol, ...]
    claim: Claim | None
    make: _Maker = field(repr=False)
    number: int = 1

    def claimed(self) -> Claimed:
        """The obligation with its claim. Raises: Unsupported."""
        made = self.make.obligation(self.name, self.known, self.goal, self.symbols, self.conditions)
        name = self.name if self.number == 1 else f"{self.name} ({self.number})"
        return Claimed(replace(made, name=name, about=_about(self.claim)), self.claim)


def obligations(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> tuple[Obligation, ...]:
    """All of them; `known` are the proved invariants of the machine. Raises: Unsupported."""
    return tuple(each.obligation for each in claims(link, known))


def claims(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> tuple[Claimed, ...]:
    """All obligations with their claims, in the order of `obligations`. Raises: Unsupported."""
    return tuple(each.claimed() for each in due(link, known))


def due(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> tuple[Due, ...]:
    """All that is to be shown, in the order of `obligations`. Raises: Unsupported."""
    refused = refusals(link)
    if refused:
        raise Unsupported(f"{', '.join(refused)} of a link: no encoding")
    base = Execution(link, any_state(link), known)
    facts = _between_steps(base)
    make = _Maker(link)
    found = [*_of_axioms(make), *_initially(make)]
    for name, state, conditions in network_steps(link):
        for goal, kept in base.kept(state):
            found.append(Due(f"{name}: keeps {goal.name}", facts, conditions, goal.body, (), kept, make))
    for cause in causes(link):
        found += _of_steps(make, cause, steps_of(link, cause, known), facts)
    if link.reactive and link.between and sends_inside_matter(link):
        inside = (*_known(link, known, base), *base.invariants(base.before, inside=True, also=between_at_heads(link)))
        for cause in causes(link):
            if cause.handler is not None and cause.handler.event == "causal_send":
                named = replace(cause, name=f"{cause.name} inside a step")
                found += _of_steps(make, named, steps_of(link, named, known, inside=True), inside)
    return _numbered(found)


def _of_steps(make: _Maker, cause: Cause, steps: Execution, facts: tuple[ir.NamedFormula, ...]) -> Iterator[Due]:
    """What is to be shown of the ways through a handler, where the facts are known at first."""
    symbols = tuple(steps.symbols)
    for check in steps.checks:
        name = f"{cause.name}: {check.name}"
        yield Due(name, facts, check.conditions, check.goal, symbols, check.claim, make)


def _known(link: ir.Link, known: tuple[ir.NamedFormula, ...], base: Execution) -> tuple[ir.NamedFormula, ...]:
    """What is true of any state without the invariants of the link."""
    by_definition = (
        *protocol_facts(link.protocol),
        *place_facts(base.before),
        *facts_of_flight(link.protocol, base.before),
    )
    return (*setting(link), *known, *by_definition)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a link between two steps of the protocol, in any state; `make` makes obligations about it."""

    state: State
    known: tuple[ir.NamedFormula, ...]
    make: Callable[[str, tuple[ir.NamedFormula, ...], Term], Obligation]


def facts_between_steps(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> Facts:
    """The same that `claims` takes for granted where a step begins. Raises: Unsupported."""
    base = Execution(link, any_state(link), known)
    return Facts(base.before, _between_steps(base), _Maker(link).obligation)


def _between_steps(base: Execution) -> tuple[ir.NamedFormula, ...]:
    """What is known of the state in which an execution begins."""
    return (*_known(base.link, base.known, base), *base.invariants(base.before))


def consequences(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> tuple[Obligation, ...]:
    """For each invariant of the link, that it follows from those before it. Raises: Unsupported."""
    base = Execution(link, any_state(link), known)
    facts, make = _known(link, known, base), _Maker(link)
    own = base.invariants(base.before)
    return tuple(make.obligation(each.name, facts, each.body, (), own[:at]) for at, each in enumerate(own))


def contradiction(link: ir.Link) -> Obligation:
    """What is known of the processes, their numbers and the machine's constants contradicts itself."""
    return _Maker(link).obligation("no such processes", setting(link), FALSE)


def steps_of(link: ir.Link, cause: Cause, known: tuple[ir.NamedFormula, ...], *, inside: bool = False) -> Execution:
    """All ways through a handler, each to its end, where the invariants are checked; `inside` another step those of the
    heads of loops that deliver."""
    also = between_at_heads(link) if inside else ()
    execution = Execution(link, cause.path.state if cause.handler is None else any_state(link), known)

    first = execution.invariants(any_state(link)) if link.between else ()
    at_first = {one.name: one.body for one in first if one.name in link.between}

    def parts_of(goal: ir.NamedFormula) -> tuple[Term, ...]:
        known = at_first.get(goal.name)
        return (goal.body,) if known is None else _of_self_and_others(goal.body, known)

    def end(path: Path) -> None:
        for goal, claim in execution.kept(path.state, inside=inside, also=also):
            for part in parts_of(goal):
                execution.checks.append(Check(f"keeps {goal.name}", path.conditions, part, claim))

    through(execution, cause, end)
    return execution


def _of_self_and_others(goal: Term, known: Term) -> tuple[Term, ...]:
    """What a goal about each process says of the one that takes the step, and of all others; `known`: before the step.

    What is only between steps is not known at the head of a loop, so solvers need the two apart. Where a goal is about
    nothing but the variables of its process, it says of all others what is known.
    """
    variables, body = outer_foralls(goal)
    if not variables or variables[0].type != PROCESS:
        return (goal,)
    first, *rest = variables
    own = substitute(body, {first.name: SELF})
    others = _of_another(goal, local(first))
    if others == known:
        if own == substitute(outer_foralls(known)[1], {first.name: SELF}):
            return (known,)
    else:
        others = forall(variables, implies(negation(equal(local(first), SELF)), outer_foralls(others)[1]))
    return forall(rest, own), others


def _of_another(formula: Term, process: Term) -> Term:
    """The formula where the process is not SELF."""
    if isinstance(formula, ir.Conditional) and formula.condition == equal(process, SELF):
        return _of_another(formula.otherwise, process)
    return map_children(formula, lambda part: _of_another(part, process))


def through(execution: Execution, cause: Cause, end: object) -> None:
    """Takes the events with which a step begins, then its handler."""
    assert callable(end)
    handler = cause.handler

    def begin(path: Path, events: tuple[Event, ...]) -> None:
        if events:
            execution.happen(path, events[0], lambda after: begin(after, events[1:]))
        elif handler is None:
            end(path)
        else:
            execution.run(handler.body, path, end, end)

    path = cause.path
    if handler is not None and handler.guard is not None:
        path = execution.accepted(path, handler.guard)
    begin(path, cause.events)


def _of_axioms(make: _Maker) -> Iterator[Due]:
    """The axioms of the machine that follow from what is given and what applications do: see NOTE(premises)."""
    link = make.link
    rests_on = premises(link)
    facts = (*_given(link), *rests_on.systems.facts(link.protocol))
    for axiom in rests_on.shown:
        yield Due(f"axiom {axiom.name}", facts, (), axiom.body, (), None, make)


def _initially(make: _Maker) -> Iterator[Due]:
    link = make.link
    values = {variable.name: variable.initial for variable in link.protocol.state}
    facts = setting(link)

    def value(name: str, process: Term) -> Value:
        return Evaluation(link.protocol, any_state(link), own=process, prefix="s").value(values[name])

    for name in values:
        there = value(name, SELF).defined
        if there != TRUE:
            yield Due(f"initially `{name}` has a value", facts, (), there, (), None, make)

    def initial(name: str, process: Term) -> Shape:
        return value(name, process).shape

    state = initial_state(link, initial)
    for goal, kept in Execution(link, state).kept(state):
        yield Due(f"initially {goal.name}", facts, (), goal.body, (), kept, make)


@dataclass(slots=True)
class _Maker:
    """Makes the obligations of a link. Those with the same symbols share their signature."""

    link: ir.Link
    _mentioned: Mentioned = field(default_factory=Mentioned)
    _of_known: dict[int, tuple[tuple[ir.NamedFormula, ...], Mentions]] = field(default_factory=dict)
    _whole: dict[tuple[ir.Symbol, ...], Signature] = field(default_factory=dict)
    _signatures: dict[tuple[ir.Symbol, ...], Signature] = field(default_factory=dict)
    _named: dict[tuple[int, tuple[Term, ...]], tuple[ir.NamedFormula, ir.NamedFormula]] = field(default_factory=dict)

    def obligation(
        self,
        name: str,
        known: tuple[ir.NamedFormula, ...],
        goal: Term,
        more: Sequence[ir.Symbol] = (),
        conditions: tuple[ir.NamedFormula, ...] = (),
    ) -> Obligation:
        """That the goal follows from what is known and from the conditions."""
        facts = (*known, *conditions)
        mentions = [self._by_all(known), *self._by_each(conditions), self._mentioned.by(goal)]
        if any(each.counts for each in mentions):
            facts, goal = self._counted(facts, goal)
            mentions = [*self._by_each(facts), self._mentioned.by(goal)]
        constants: dict[str, Type] = {}
        for each in mentions:
            constants |= each.free
        free = tuple(ir.Variable(label, type_) for label, type_ in constants.items())
        used = frozenset[str]().union(*(each.symbols for each in mentions))
        symbols = tuple(symbol for symbol in self._signature(tuple(more)).symbols if symbol.name in used)
        kept = self._signatures.setdefault(symbols, replace(self._signature(tuple(more)), symbols=symbols))
        return Obligation(name, kept, facts, ir.NamedFormula(name, goal), free)

    def _signature(self, more: tuple[ir.Symbol, ...]) -> Signature:
        """That of the link, and these symbols."""
        if more not in self._whole:
            self._whole[more] = signature(self.link, more)
        return self._whole[more]

    def _by_each(self, facts: Iterable[ir.NamedFormula]) -> list[Mentions]:
        return [self._mentioned.by(each.body) for each in facts]

    def _by_all(self, known: tuple[ir.NamedFormula, ...]) -> Mentions:
        """What all of them together speak about, found once for what many obligations share."""
        if id(known) not in self._of_known:
            found = self._by_each(known)
            free: dict[str, Type] = {}
            for each in found:
                free |= each.free
            symbols = frozenset[str]().union(*(each.symbols for each in found))
            self._of_known[id(known)] = known, Mentions(symbols, free, any(each.counts for each in found))
        return self._of_known[id(known)][1]

    def _counted(self, facts: tuple[ir.NamedFormula, ...], goal: Term) -> tuple[tuple[ir.NamedFormula, ...], Term]:
        """The same with the goal about processes and messages that have names, and facts that count about these only.

        The facts about counts relate counts that say the same number of names, see NOTE(counting): a count for all p,
        and one for a process with a name, are not related otherwise. Fewer facts are known then, and so less is proved.
        Named are SELF, and what the goal is about; a goal about none in particular is about those that it mentions,
        such as the sender of a packet. Of each count of processes is known besides that no two are counted where it is
        at most 1.
        """
        variables, body = outer_foralls(goal)
        general: list[Term] = [ir.Local(one.type, f"#goal {one.name}") for one in variables]
        goal = substitute(body, {one.name: term for one, term in zip(variables, general, strict=True)})
        named = tuple(dict.fromkeys((SELF, *(general if variables else _mentioned(goal)))))
        found: list[ir.NamedFormula] = []
        counts: dict[ir.Quantified, None] = {}
        for fact in facts:
            if self._mentioned.by(fact.body).counts:
                about = tuple(self._about(fact, named))
                found.extend(about)
                counts |= dict.fromkeys(one for each in about for one in _counts_of(each.body))
            else:
                found.append(fact)
        counts |= dict.fromkeys(_counts_of(goal))
        return (*found, *(_at_most_one(count) for count in counts)), goal

    def _about(self, fact: ir.NamedFormula, named: Sequence[Term]) -> Iterator[ir.NamedFormula]:
        """A fact for all processes and messages, said of each of these; each is made once."""
        outer, inside = outer_foralls(fact.body)
        if all(variable.type in _SAID_OF for variable in outer):
            for values in product(*([term for term in named if term.type == one.type] for one in outer)):
                key = id(fact), values
                if key not in self._named:
                    given = {variable.name: value for variable, value in zip(outer, values, strict=True)}
                    self._named[key] = fact, replace(fact, body=substitute(inside, given))
                yield self._named[key][1]


_SAID_OF = (PROCESS, MESSAGE)


def _mentioned(formula: Term) -> Iterator[Term]:
    """The processes and messages in a formula that have names, and those that a function gives of names only."""
    for part in children(formula):
        names = part.arguments if isinstance(part, ir.Apply) else (part,)
        if part.type in _SAID_OF and all(isinstance(one, ir.Local) and one.name.startswith("#") for one in names):
            yield part
        yield from _mentioned(part)


def _counts_of(formula: Term) -> Iterator[ir.Quantified]:
    """The counts of processes in a formula that are about constants only, not about what is bound around them."""
    if isinstance(formula, ir.Quantified) and formula.kind == "count":
        of_processes = all(bound.type == PROCESS for bound in formula.variables)
        if of_processes and all(name.startswith("#") for name in free_locals(formula)):
            yield formula
        return
    for part in children(formula):
        yield from _counts_of(part)


def _at_most_one(count: ir.Quantified) -> ir.NamedFormula:
    counted = tuple(ir.Variable(bound.name, bound.type) for bound in count.variables)
    few = ir.Comparison(BOOL, "<=", count, ir.Literal_(NAT, 1))
    return ir.NamedFormula("at most one is counted", implies(few, none_but_one(counted, count.body)))


def _numbered(found: Sequence[Due]) -> tuple[Due, ...]:
    """With names that are unique: the ways through a handler are numbered."""
    seen: dict[str, int] = {}
    named: list[Due] = []
    for each in found:
        seen[each.name] = seen.get(each.name, 0) + 1
        named.append(replace(each, number=seen[each.name]))
    return tuple(named)


def _about(claim: Claim | None) -> str:
    """What is claimed, whatever the step."""
    match claim:
        case Kept():
            return claim.invariant.name
        case Enabled():
            return "enabled"
        case None:
            return ""
        case never:
            assert_never(never)
