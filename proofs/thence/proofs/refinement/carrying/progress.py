"""What a protocol's fair runs do for a machine: what its `eventually` statement waits for happens there, too.

NOTE(progress): a statement of the machine says that each message is delivered in runs that are weakly fair to its
steps. A proved link says that each run of the protocol is a run of the machine. What is left to show is that a step
that the statement waits for, enabled between the steps of the protocol, does not stay enabled for ever without being
taken, where every packet in flight arrives in the end. So, between steps, while the statement is pending, the step is
left, and it is enabled, one of these is to be in flight:

1. a packet whose arrival is this step of the machine, by a clause of the link;
2. a packet that carries the message of the step, of a kind that is sent only when its message is, by its sender.

Packets of the first kind settle it when they arrive. Of the second kind there are finitely many for a message, all in
flight at once when it is sent, so that at some moment between steps none is left. A step for which neither is possible
is to be enabled never between steps: the protocol takes it at once. A step of the protocol may be several of the
machine; so what the statement leads to must be true in no state of the machine, also inside a step, where the message
is not delivered. docs/explanation/liveness.md has the proof.

Where packets may be lost, that one is in flight says nothing. Then a step is enabled never between steps, or comes
about by what timers send again, see NOTE(sent again). Where nothing is lost, that is tried of the steps that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE
from thence.proofs.logic.formula import FALSE, Unsupported, conj, disj, equal, exists, holds, local, negation
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.steps.effort import Shows, attempt
from thence.proofs.machine.steps.leads_to import Pursuit, Step, pursuit
from thence.proofs.refinement.carrying.ending import ends
from thence.proofs.refinement.carrying.sent_again import Waiting, Way, is_fixed, limits, obligations_of, ways
from thence.proofs.refinement.drawing import Reader, constants, reader_of
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.failure import Failure, failure_of
from thence.proofs.refinement.obligations import Claimed, Facts, facts_between_steps
from thence.proofs.refinement.premises import premises
from thence.proofs.refinement.prover import left_at_first, with_a_false_one_first
from thence.proofs.refinement.reactions import sends_change_what_is_in
from thence.proofs.refinement.shapes.flat import term_of
from thence.proofs.refinement.shapes.kinds import Shape, Term
from thence.proofs.refinement.states import flying_name, packet_sort, receiver_of, said_of
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.discharge import LITTLE_MS, QUICK_MS, Discharge, level_of, solver_facts
from thence.proofs.solving.finite_models import Model
from thence.proofs.solving.open_obligation import diagnose, undecided, with_fragment
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict
from thence.spec.words import counted

_ON_ITS_WAY = "is on its way"

_ONLY_THEN = "is true only when the message is delivered"

_LOOPS_END = "each loop comes to its end"


def conditions(link: ir.Link) -> tuple[str, ...]:
    """For which systems it is shown: those of the link, and where loops end of which it is not seen that they do."""
    protocol = link.protocol
    loops = [node for node in nodes((protocol.handlers, protocol.procedures)) if isinstance(node, ir.While)]
    all_end = all(ends(loop) and not sends_change_what_is_in(link, loop) for loop in loops)
    return (*premises(link).words(), *(() if all_end else (_LOOPS_END,)))


def prove_progress(
    session: ProofSession, link: ir.Link, inductive: InductiveSet | None, shown: Assessment
) -> Assessment:
    """The assessment of what the link's machine waits for; `shown` is that of the link, on which it rests.

    Nothing is refuted here: a state in which an obligation fails need not be reachable.
    """
    facts: dict[str, Any] = {"property": "delivered", "machine": link.machine.name, "statement": link.delivered_by}
    if inductive is None or shown.verdict is not Verdict.PROVED:
        return unknown("the link itself is not proved", facts)
    facts |= {"assumes": shown.facts["assumes"]} if "assumes" in shown.facts else {}
    if said := conditions(link):
        facts["where"] = list(said)
    known = tuple(each.formula for each in proved_conjuncts(link.machine, inductive))
    try:
        found, by = progress_obligations(session, link, known)
    except Unsupported as reason:
        return unknown(str(reason), facts)
    facts |= {"by": list(by)} if by else {}
    left, model = with_a_false_one_first(session, left_at_first(session, found))
    if model is not None:
        return _not_proved(session, link, left, facts, model)
    done = session.discharge(found, look_for_models=False)
    open_ = [each for each in done if not each.proved]
    if open_:
        return _not_proved(session, link, open_, facts, session.countermodel(open_[0].obligation))
    everything = (*shown.discharges, *done)
    facts |= {"own_obligations": len(found), **solver_facts(everything, session.options)}
    arrives = (
        "what is sent again and again arrives" if link.protocol.network.lossy else "every packet arrives in the end"
    )
    waits = f"nothing that `{link.delivered_by}` waits for stays enabled for ever where {arrives}"
    text = "\n".join((f"{waits}: {counted(len(found), 'obligation')}", *by))
    proved = Assessment(Verdict.PROVED, level_of(everything), facts, text, "", everything)
    return with_fragment(proved, found) if session.options.fragment else proved


def _not_proved(
    session: ProofSession, link: ir.Link, open_: Sequence[Discharge], facts: dict[str, Any], model: Model | None
) -> Assessment:
    """The first obligation that is open, with the state between steps in which it fails if there is one."""
    first = open_[0].obligation
    others = f", and {counted(len(open_) - 1, 'other')}" if len(open_) > 1 else ""
    reason = f"not proved: {first.name}{others}"
    if model is None:
        return undecided(reason, facts, reason, [diagnose(session.silent(), open_[0])])
    failure = _between_steps(link, first, reader_of(model))
    lines = [reason, f"`{first.name}` fails in this state, which need not be reachable:", *failure.text()]
    return unknown(reason, {**facts, "fails": failure.to_json()}, "\n".join(lines))


def _between_steps(link: ir.Link, obligation: Obligation, reader: Reader) -> Failure:
    """The failure of an obligation about a state between steps, with the values of the statement's names."""
    about = {name.rstrip("'"): value for name, value in constants(link, obligation, reader).items()}
    given = ", ".join(f"{name} = {value}" for name, value in about.items())
    what = "it is not pending"
    if obligation.goal.name.endswith(_ON_ITS_WAY):
        what = "it is enabled, and no packet in flight brings it about"
    elif obligation.name.endswith(_ONLY_THEN):
        what = "what it leads to is true, and the message is not delivered"
    said = f"where {given}, {what}" if given else what
    return replace(failure_of(link, Claimed(obligation), reader), step="", false=(said,))


def progress_obligations(
    session: ProofSession, link: ir.Link, known: tuple[ir.NamedFormula, ...]
) -> tuple[tuple[Obligation, ...], tuple[str, ...]]:
    """What is to be shown, see NOTE(progress); and for each step that comes about by what is sent again, how, in words.

    The session tries which steps come about so. `known`: the proved invariants of the machine. Raises: Unsupported.
    """
    protocol = link.protocol
    if not packets_arrive(protocol):
        raise Unsupported(f"packets need not arrive in runs that are fair to {', '.join(protocol.fairness)}")
    if protocol.network.lossy and not protocol.network.reordering:
        raise Unsupported("packets may be lost on channels that keep their order: those behind others need not arrive")
    if protocol.network.lossy and protocol.weakly:
        raise Unsupported("packets may be lost, and under weak fairness what is sent again and again need not arrive")
    facts = facts_between_steps(link, known)
    claim = _statement(link)
    found, by = [_undelivered_is_pending(link, claim, facts), *_true_when_delivered(link, claim, known)], list[str]()
    for step in claim.steps:
        waiting = Waiting(link, claim, step, facts, known)
        at_once = _on_its_way(waiting)
        chosen = None
        for limit_ms in (LITTLE_MS, QUICK_MS):  # what is so is often seen soon, what is not so takes all the time
            shows = attempt(session, limit_ms)
            if shows((at_once,)) or (chosen := _way(shows, waiting)) is not None:
                break
        if chosen is None:
            found.append(at_once)
        else:
            way, obligations = chosen
            found += obligations
            by.append(f"{step.words}: {way.words}")
    return tuple(found), tuple(by)


def _way(shows: Shows, waiting: Waiting) -> tuple[Way, tuple[Obligation, ...]] | None:
    """The first way in which the step comes about, with what shows it."""
    for way in ways(waiting):
        found: list[Obligation] = []
        for each in obligations_of(waiting, way):
            if not shows((each,)):
                break
            found.append(each)
        else:
            limited = _limited(shows, waiting, way) if waiting.link.protocol.network.lossy else ()
            if limited is not None:
                return way, (*found, *limited)
    return None


def _limited(shows: Shows, waiting: Waiting, way: Way) -> tuple[Obligation, ...] | None:
    """What shows that the packets of a way say but finitely many things; None: nothing does."""
    found: list[Obligation] = []
    for kind in way.kinds:
        try:
            said = tuple(limits(waiting, kind))
        except Unsupported:
            return None
        for terms in said:
            shown = next((each for each in terms if shows(each)), None)
            if shown is None:
                return None
            found += shown
    return tuple(dict.fromkeys(found))


def _statement(link: ir.Link) -> Pursuit:
    statement = next(each for each in link.machine.eventually if each.name == link.delivered_by)
    return pursuit(link.machine, statement)


def _undelivered_is_pending(link: ir.Link, claim: Pursuit, facts: Facts) -> Obligation:
    """While a message that was sent is not delivered, the statement is pending: then it says that it is delivered."""
    message, *rest = (local(each) for each in claim.parameters)
    there = [holds("sent", message), *(holds("to", message, process) for process in rest)]
    undelivered = conj((*there, negation(holds("delivered", message, *rest))))
    known = (*facts.known, ir.NamedFormula("sent and not delivered", undelivered))
    return facts.make(f"{claim.name} is pending while a message is not delivered", known, claim.pending)


def _true_when_delivered(link: ir.Link, claim: Pursuit, known: tuple[ir.NamedFormula, ...]) -> Iterator[Obligation]:
    """What the statement leads to is true in no state of the machine in which the message is not delivered.

    So it is not true inside a step either, and the statement stays pending from step to step of the machine, not only
    between those of the protocol. Nothing is to be shown where it says just that the message is delivered.
    """
    delivered = holds("delivered", *map(local, claim.parameters))
    if claim.goal != delivered:
        machine = link.machine
        yield Obligation(
            f"{claim.name} {_ONLY_THEN}",
            signature_of(machine),
            (*machine.axioms, *known, ir.NamedFormula("true", claim.goal)),
            ir.NamedFormula("delivered", delivered),
            claim.parameters,
        )


def _on_its_way(waiting: Waiting) -> Obligation:
    """A packet is in flight that brings the step about, wherever it is enabled between steps and waited for; where
    packets may be lost, it is not enabled there.
    """
    link, step, facts = waiting.link, waiting.step, waiting.facts
    goal = FALSE if link.protocol.network.lossy else disj(_packets(link, step, facts))
    name = f"{step.words} of {waiting.claim.name} {_ON_ITS_WAY}"
    return facts.make(name, (*facts.known, *waiting.waited_for), goal)


def _packets(link: ir.Link, step: Step, facts: Facts) -> Iterator[Term]:
    """For each kind of packets that brings the step about, that such a packet is in flight."""
    protocol = link.protocol
    for kind in protocol.packets:
        packet = ir.Variable(f"#packet {kind.name}", packet_sort(kind))
        flying = holds(flying_name(kind.name), local(packet))
        ways = disj((_is_the_step(link, kind, packet, step, facts), _carries_its_message(protocol, kind, packet, step)))
        if ways != FALSE:
            yield exists((packet,), conj((flying, ways)))


def packets_arrive(protocol: ir.Protocol) -> bool:
    """Whether each packet arrives in each fair run. Where one need not, it may hold back others on a channel that keeps
    its order, as those of a `fifo` scope do.
    """
    fair = protocol.fairness
    return not fair or "receive" in fair or all(kind.name in fair for kind in protocol.packets)


def _is_the_step(link: ir.Link, kind: ir.PacketKind, packet: ir.Variable, step: Step, facts: Facts) -> Term:
    """The packet's arrival is the step, whenever it comes: the clause speaks of the packet alone."""
    for clause in link.clauses:
        if (clause.event, clause.kind) != ("receive", kind.name) or clause.when is not None or len(clause.targets) != 1:
            continue
        (target,) = clause.targets
        arguments = [each for each in target.arguments if each is not None]
        if target.transition != step.action.name or len(arguments) < len(target.arguments):
            continue
        if not all(is_fixed(each, link.machine) for each in arguments):
            continue
        value = said_of(kind, local(packet))
        names: dict[str, Shape] = {one.name: shape for one, shape in zip(clause.parameters, value.fields, strict=False)}
        if clause.peer is not None:
            names[clause.peer] = value.fields[-2]
        evaluation = Evaluation(link.protocol, facts.state, own=receiver_of(value), locals=names, prefix="t")
        found = [evaluation.value(each) for each in arguments]
        same = (equal(term_of(one.shape), other) for one, other in zip(found, step.arguments, strict=True))
        return conj((*(one.defined for one in found), *same))
    return FALSE


def _carries_its_message(protocol: ir.Protocol, kind: ir.PacketKind, packet: ir.Variable, step: Step) -> Term:
    """The packet carries a message that the step is about, and no other step sends such packets again."""
    if kind.carries is None or protocol.network.duplicating or not is_sent_once(protocol, kind):
        return FALSE
    carried = term_of(said_of(kind, local(packet)).fields[kind.carries])
    return disj(equal(carried, argument) for argument in step.arguments if argument.type == MESSAGE)


def is_sent_once(protocol: ir.Protocol, kind: ir.PacketKind) -> bool:
    """Whether packets of this kind are sent only in the step in which their message is: by its handler's own name."""
    assert kind.carries is not None
    own = next((each for each in protocol.handlers if each.event == "causal_send"), None)
    others = (protocol.procedures, *(each.body for each in protocol.handlers if each is not own))
    if own is None or any(isinstance(node, ir.Send) and node.kind == kind.name for node in nodes(others)):
        return False
    (message,) = own.parameters
    if any(getattr(node, "name", None) == message.name for node in nodes(own.body) if not isinstance(node, ir.Local)):
        return False  # another thing has its name somewhere in the handler
    sends = [node for node in nodes(own.body) if isinstance(node, ir.Send) and node.kind == kind.name]
    return all(_names(each.arguments[kind.carries], message) for each in sends)


def _names(expr: ir.Expr, variable: ir.Variable) -> bool:
    return isinstance(expr, ir.Local) and expr.name == variable.name
