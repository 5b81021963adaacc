"""What timers send again and again, until it arrives: how steps of a machine come about where packets may be lost.

NOTE(sent again): suppose that a step which the machine's statement waits for stays enabled for ever without being
taken, from some moment on. A *way* to it is a timer, a process, and kinds of packets, each with a condition on its
packets. In each state between steps from then on

1. the timer of this process, if it fires, sends a packet of the first kind;
2. a packet of a kind that is in flight and arrives is the step, or takes something from what is left; or its receiver
   sends a packet of the next kind at once.

The timer fires again and again, so that packets of the first kind are sent again and again. Where packets may be lost,
it is shown besides that

3. the packets in flight of each kind that the condition is true of say but finitely many things: numbers and messages
   in them are values of terms, and no step of the machine changes these while the step is left.

So one and the same packet is sent again and again, and arrives again and again. By 2 the same is true of the next kind.
Of the last kind the arrival is the step, or takes something from what is left: a contradiction.
docs/explanation/liveness.md has the proof.

The conditions are found backwards. A packet of the last kind is one whose arrival is the step, by a clause of the link;
or one about the same messages. A packet of a kind before it is one whose receiver answers with such a packet, by what
the two packets say alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import rigid_symbols
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Type
from thence.dsl.write.show import show_expression
from thence.proofs.fairness.fairness import fair_timers
from thence.proofs.logic.formula import (
    Unsupported,
    conj,
    disj,
    equal,
    holds,
    local,
    negation,
    substitute,
    symbols_of,
)
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.steps.leads_to import Pursuit, Step, takes_something
from thence.proofs.machine.transitions import Action, actions, after, symbols
from thence.proofs.refinement.carrying.sends import SentAtOnce, sent_at_once
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.obligations import Facts
from thence.proofs.refinement.shapes.flat import term_of
from thence.proofs.refinement.shapes.kinds import Leaf, Shape, Term
from thence.proofs.refinement.states import flying_name, packet_sort, said_of

_LONGEST = 3
"""So many kinds of packets a way has at most."""

Condition: TypeAlias = Callable[[Sequence[Shape]], Term]
"""A condition on what a packet says: its parameters, its sender and its receiver; the same in every state."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of packets of a way, and which of them are meant. `behind`: so many kinds come after it.

    NOTE(names): a condition is evaluated inside what sends the packet, and that on the next kind inside it. So the
    names that each of them binds begin differently, by `behind`: none of them captures a name of another one.
    """

    packet: ir.PacketKind
    meant: Condition
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Way:
    """How a step comes about: a timer of a process, and what is sent then; the arrival of the last is the step."""

    timer: ir.Handler
    process: Term
    kinds: tuple[Kind, ...]

    @property
    def words(self) -> str:
        """`periodically of src(x) sends MSG again, which is answered with ACK`."""
        first, *answers = (each.packet.name for each in self.kinds)
        answered = "".join(f", which is answered with {each}" for each in answers)
        return f"{self.timer.timer} of {_words(self.process)} sends {first} again{answered}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A step that is waited for, with what is known while it is: in a state between steps of the protocol, and in any
    state of the machine."""

    link: ir.Link
    claim: Pursuit
    step: Step
    facts: Facts
    known: tuple[ir.NamedFormula, ...]

    @property
    def waited_for(self) -> tuple[ir.NamedFormula, ...]:
        """That the statement is pending, and the step is left and enabled."""
        return (
            ir.NamedFormula("pending", self.claim.pending),
            ir.NamedFormula("left", self.step.left),
            ir.NamedFormula("enabled", self.step.enabled),
        )

    def taken(self, action: Action, arguments: Sequence[Term]) -> Term:
        """That the transition, with these arguments, makes what is waited for true, or takes something from what is
        left of some step."""
        given = dict(zip((each.name for each in action.parameters), arguments, strict=True))
        return substitute(self.less(action), given)

    def less(self, action: Action) -> Term:
        """The same with the transition's own parameters."""
        gone = takes_something(self.claim.steps, action)
        return disj((after(self.claim.goal, action), after(negation(self.step.left), action), gone))


# --- ways ------------------------------------------------------------------------------------------


def ways(waiting: Waiting) -> Iterator[Way]:
    """All ways that the text allows, short ones first."""
    chains: list[tuple[Kind, ...]] = [(each,) for each in _last_kinds(waiting)]
    for _ in range(_LONGEST):
        for timer, process, chain in product(_timers(waiting.link.protocol), _processes(waiting), chains):
            if any(node.kind == chain[0].packet.name for node in nodes(timer.body) if isinstance(node, ir.Send)):
                yield Way(timer, process, chain)
        chains = [(each, *chain) for chain in chains for each in _kinds_before(waiting, chain[0])]


def _timers(protocol: ir.Protocol) -> tuple[ir.Handler, ...]:
    """The timers that fire again and again in every process."""
    fair = fair_timers(protocol)
    return tuple(handler for handler in protocol.handlers if handler.timer in fair)


def _processes(waiting: Waiting) -> tuple[Term, ...]:
    """Terms for a process that the step is about, the same in every state while the step is left."""
    step, machine = waiting.step, waiting.link.machine
    messages = [local(each) for each in (*step.variables, *waiting.claim.parameters) if each.type == MESSAGE]
    ends = ("src", "dst") if machine.delivery == "unicast" else ("src",)
    of_messages = (ir.Apply(PROCESS, end, (message,)) for message in messages for end in ends)
    given = (each for each in step.arguments if each.type == PROCESS)
    named = (local(each) for each in (*step.variables, *waiting.claim.parameters) if each.type == PROCESS)
    return tuple(dict.fromkeys((*given, *of_messages, *named)))


def _last_kinds(waiting: Waiting) -> Iterator[Kind]:
    """The kinds of packets whose arrival is the step, or the same step of the machine about the same messages."""
    for clause in waiting.link.clauses:
        if clause.event != "receive" or clause.when is not None or len(clause.targets) != 1:
            continue
        (target,) = clause.targets
        if target.transition != waiting.step.action.name or not all(
            is_fixed(each, waiting.link.machine) for each in target.arguments
        ):
            continue
        packet = next(each for each in waiting.link.protocol.packets if each.name == clause.kind)
        wanted = tuple(enumerate(waiting.step.arguments))
        messages = tuple((at, each) for at, each in wanted if each.type == MESSAGE)
        for some in dict.fromkeys((wanted, messages)):
            if some:
                yield Kind(packet, _arriving_as(waiting, clause, some))


def _arriving_as(waiting: Waiting, clause: ir.Clause, wanted: Sequence[tuple[int, Term]]) -> Condition:
    """The arrival of the packet is a step of the machine with these arguments, at these places."""
    (target,) = clause.targets

    def condition(said: Sequence[Shape]) -> Term:
        evaluation = _at_arrival(waiting, clause, said)
        found = [(evaluation.value(argument), value) for at, value in wanted if (argument := target.arguments[at])]
        return conj((*(one.defined for one, _ in found), *(equal(one.term, value) for one, value in found)))

    return condition


def _at_arrival(waiting: Waiting, clause: ir.Clause, said: Sequence[Shape]) -> Evaluation:
    """Evaluates what a clause says of a packet's arrival."""
    names: dict[str, Shape] = {one.name: shape for one, shape in zip(clause.parameters, said, strict=False)}
    if clause.peer is not None:
        names[clause.peer] = said[-2]
    return Evaluation(waiting.link.protocol, waiting.facts.state, own=term_of(said[-1]), locals=names, prefix="t")


def is_fixed(argument: ir.Expr | None, machine: ir.Machine) -> bool:
    """Whether it has the same value in every state: it speaks of a packet, its ends, and what never changes."""
    for node in nodes(argument):
        if isinstance(node, ir.StateOf | ir.Quantified):
            return False
        if isinstance(node, ir.Apply) and node.symbol not in rigid_symbols(machine.delivery):
            return False
    return argument is not None


def _kinds_before(waiting: Waiting, kind: Kind) -> Iterator[Kind]:
    """The kinds of packets that a receiver answers at once with a packet of this kind."""
    received = {each.kind for each in waiting.link.protocol.handlers if each.event == "receive"}
    for packet in waiting.link.protocol.packets:
        if packet.name not in received:
            continue
        names = _names(_handler(waiting.link.protocol, packet))
        answers = [
            each
            for each in _answers(waiting, packet, said_of(packet, local(_packet(packet))).fields)
            if each.statement.kind == kind.packet.name and _says_what_came(waiting, each.statement, names)
        ]
        statements = tuple(dict.fromkeys(each.statement for each in answers))
        if statements:
            behind = kind.behind + 1
            yield Kind(packet, _answered_with(waiting, packet, statements, kind.meant, f"k{behind}"), behind)


def _answered_with(
    waiting: Waiting, packet: ir.PacketKind, statements: Sequence[ir.Send], meant: Condition, prefix: str
) -> Condition:
    """What is sent in answer to the packet, by one of these statements, is meant. `prefix`: see NOTE(names)."""

    def condition(said: Sequence[Shape]) -> Term:
        evaluation = _at_receiver(waiting, packet, said, prefix)
        found: list[Term] = []
        for statement in statements:
            *given, to = (evaluation.value(each) for each in (*statement.arguments, statement.to))
            answer = (*(each.shape for each in given), Leaf(evaluation.own), to.shape)
            found.append(conj((*(each.defined for each in (*given, to)), meant(answer))))
        return disj(found)

    return condition


def _says_what_came(waiting: Waiting, statement: ir.Send, names: frozenset[str]) -> bool:
    """Whether all that the packet says is said by the one that came, and by nothing else."""
    parts = (*statement.arguments, statement.to)
    given = {node.name for node in nodes(parts) if isinstance(node, ir.Local)}
    return given <= names and all(is_fixed(each, waiting.link.machine) for each in parts)


def _handler(protocol: ir.Protocol, packet: ir.PacketKind) -> ir.Handler:
    return next(each for each in protocol.handlers if (each.event, each.kind) == ("receive", packet.name))


def _names(handler: ir.Handler) -> frozenset[str]:
    """The names of the packet's parameters and its sender, where the handler gives them to nothing else."""
    assert handler.sender is not None
    given = {getattr(node, "name", None) for node in nodes(handler.body) if isinstance(node, ir.Statement | ir.Bound)}
    return frozenset({*(each.name for each in handler.parameters), handler.sender} - given)


def _at_receiver(waiting: Waiting, packet: ir.PacketKind, said: Sequence[Shape], prefix: str) -> Evaluation:
    """Evaluates what the handler of an arriving packet says."""
    handler = _handler(waiting.link.protocol, packet)
    assert handler.sender is not None
    names: dict[str, Shape] = {one.name: shape for one, shape in zip(handler.parameters, said, strict=False)}
    names[handler.sender] = said[-2]
    return Evaluation(waiting.link.protocol, waiting.facts.state, own=term_of(said[-1]), locals=names, prefix=prefix)


def _answers(waiting: Waiting, packet: ir.PacketKind, said: Sequence[Shape]) -> tuple[SentAtOnce, ...]:
    """What the receiver of a packet sends at once."""
    return sent_at_once(_at_receiver(waiting, packet, said, "h"), _handler(waiting.link.protocol, packet).body)


def _packet(packet: ir.PacketKind) -> ir.Variable:
    return ir.Variable(f"#packet {packet.name}", packet_sort(packet))


# --- obligations -----------------------------------------------------------------------------------


def obligations_of(waiting: Waiting, way: Way) -> Iterator[Obligation]:
    """1 and 2 of NOTE(sent again)."""
    name = f"{waiting.step.words} of {waiting.claim.name}"
    yield waiting.facts.make(
        f"{name}: {way.timer.timer} of {_words(way.process)} sends {way.kinds[0].packet.name}",
        (*waiting.facts.known, *waiting.waited_for),
        _sends(waiting, way),
    )
    for at, kind in enumerate(way.kinds):
        following = way.kinds[at + 1] if at + 1 < len(way.kinds) else None
        brings = "is the step" if following is None else f"is answered with {following.packet.name}"
        goal = disj(
            (_arrival_takes(waiting, kind), *(() if following is None else (_is_answered(waiting, kind, following),)))
        )
        yield waiting.facts.make(f"{name}: {kind.packet.name} {brings}", _in_flight(waiting, kind), goal)


def _sends(waiting: Waiting, way: Way) -> Term:
    """The timer sends a packet of the first kind."""
    evaluation = Evaluation(waiting.link.protocol, waiting.facts.state, own=way.process, prefix="h")
    first = way.kinds[0]
    found = (each for each in sent_at_once(evaluation, way.timer.body) if each.statement.kind == first.packet.name)
    return disj(each.is_sent(first.meant(each.said)) for each in found)


def _in_flight(waiting: Waiting, kind: Kind) -> tuple[ir.NamedFormula, ...]:
    """What is known while a packet that is meant is in flight, and the step is waited for."""
    packet = local(_packet(kind.packet))
    flying = conj((holds(flying_name(kind.packet.name), packet), kind.meant(said_of(kind.packet, packet).fields)))
    return (*waiting.facts.known, *waiting.waited_for, ir.NamedFormula(f"{kind.packet.name} in flight", flying))


def _is_answered(waiting: Waiting, kind: Kind, following: Kind) -> Term:
    """The receiver answers at once with a packet of the following kind."""
    found = _answers(waiting, kind.packet, said_of(kind.packet, local(_packet(kind.packet))).fields)
    return disj(
        each.is_sent(following.meant(each.said)) for each in found if each.statement.kind == following.packet.name
    )


def _arrival_takes(waiting: Waiting, kind: Kind) -> Term:
    """The arrival is a step of the machine that takes something from what is left. It is never the step for which
    nothing is taken, since the statement itself says that the step takes something."""
    said = said_of(kind.packet, local(_packet(kind.packet))).fields
    for clause in waiting.link.clauses:
        if (clause.event, clause.kind) != ("receive", kind.packet.name) or clause.when is not None:
            continue
        if len(clause.targets) != 1 or None in clause.targets[0].arguments:
            continue
        evaluation = _at_arrival(waiting, clause, said)
        found = [evaluation.value(each) for each in clause.targets[0].arguments if each is not None]
        action = next(each for each in actions(waiting.link.machine) if each.name == clause.targets[0].transition)
        taken = waiting.taken(action, [each.term for each in found])
        return conj((*(each.defined for each in found), taken))
    return disj(())


def limits(waiting: Waiting, kind: Kind) -> Iterator[tuple[tuple[Obligation, ...], ...]]:
    """3 of NOTE(sent again): for each number and message that a packet says, what shows that it is the value of a term,
    for each of some terms; one of them is enough. Raises: Unsupported where a packet says something else."""
    said = said_of(kind.packet, local(_packet(kind.packet))).fields
    name = f"{waiting.step.words} of {waiting.claim.name}"
    types = (*(each.type for each in kind.packet.parameters), PROCESS, PROCESS)
    for parameter, shape, type_ in zip((*kind.packet.parameters, None, None), said, types, strict=True):
        if type_ in (BOOL, PROCESS):
            continue
        if type_ not in (NAT, MESSAGE) or parameter is None:
            raise Unsupported(f"`{type_}` in a packet that is sent again: it is not known that it says the same")
        yield tuple(
            (
                waiting.facts.make(
                    f"{name}: {parameter.name} of {kind.packet.name} is {_words(term)}",
                    _in_flight(waiting, kind),
                    equal(term_of(shape), term),
                ),
                *_fixed(waiting, term),
            )
            for term in _terms(waiting, type_)
        )


def _terms(waiting: Waiting, type_: Type) -> tuple[Term, ...]:
    """Terms of a type that say something of what the step is about."""
    step = waiting.step
    names = [local(each) for each in (*step.variables, *waiting.claim.parameters)]
    if type_ == MESSAGE:
        return tuple(each for each in names if each.type == MESSAGE)
    given = [each for each in step.arguments if each.type == type_]
    functions = [each for each in symbols(waiting.link.machine) if each.result == type_ and len(each.parameters) == 1]
    applied = [
        ir.Apply(type_, each.name, (about,))
        for about in names
        for each in functions
        if each.parameters[0].type == about.type
    ]
    return tuple(dict.fromkeys((*given, *applied)))


def _fixed(waiting: Waiting, term: Term) -> Iterator[Obligation]:
    """Each step of the machine keeps the value of the term, or takes something from what is left."""
    machine, step = waiting.link.machine, waiting.step
    for action in actions(machine):
        if symbols_of(term) & action.changed:
            yield Obligation(
                f"{action.name} keeps {_words(term)} while {step.words} of {waiting.claim.name} is left",
                signature_of(machine),
                (*machine.axioms, *waiting.known, *action.guards, *waiting.waited_for),
                ir.NamedFormula("goal", disj((equal(after(term, action), term), waiting.less(action)))),
                (*waiting.claim.parameters, *step.variables, *action.parameters),
            )


def _words(term: Term) -> str:
    """A term as a text says it; names of the statement have two primes."""
    return show_expression(term).replace("'", "")
