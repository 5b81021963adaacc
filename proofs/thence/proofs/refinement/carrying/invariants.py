"""The invariants of a protocol, for any number of processes, by its link.

NOTE(follows): a proved link says, of each state between steps, what the variables of the processes and the packets in
flight have to do with the machine, and what is proved of the machine is true there. An invariant of the protocol is
judged in just these states. So where it follows from both, it is true in every state of every run, among any number of
processes. This is no induction: an invariant that needs itself in the state before is to stand in the link, too.

The formula speaks of the protocol alone. So it is evaluated in a state that knows of the machine only what a protocol
knows of messages, and no name in it can come to mean what the machine calls so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.observability import own_invariants
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.steps.effort import proof_within
from thence.proofs.refinement.drawing import Layers, reader_of
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.failure import failure_of
from thence.proofs.refinement.following import Kept
from thence.proofs.refinement.obligations import OF_MESSAGES, Claimed, facts_between_steps
from thence.proofs.refinement.states import State
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.discharge import QUICK_MS, level_of, solver_facts
from thence.proofs.solving.finite_models import Model
from thence.proofs.solving.open_obligation import diagnose, undecided, with_fragment
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict


def prove_invariant(
    session: ProofSession, link: ir.Link, name: str, inductive: InductiveSet | None, shown: Assessment
) -> Assessment:
    """The assessment that an invariant of the protocol follows, see NOTE(follows); `shown` is that of the link.

    Nothing is refuted here: a state in which it is false need not be reachable.
    """
    facts: dict[str, Any] = {"property": name, "machine": link.machine.name}
    facts |= {each: shown.facts[each] for each in ("where", "assumes") if each in shown.facts}
    if inductive is None or shown.verdict is not Verdict.PROVED:
        return unknown("the link itself is not proved", facts)
    known = tuple(each.formula for each in proved_conjuncts(link.machine, inductive))
    try:
        claimed = claimed_of(link, name, known)
    except Unsupported as reason:
        return unknown(str(reason), facts)
    done = proof_within(session, claimed.obligation, QUICK_MS)
    if not done:
        model = session.countermodel(claimed.obligation)
        if model is not None:  # what is false somewhere is not asked about any longer
            return _false_there(link, claimed, model, facts)
        done = session.discharge((claimed.obligation,), look_for_models=False)
    if not done[0].proved:
        said = _not_proved(claimed)
        return undecided(said, facts, said, [diagnose(session.silent(), done[0])])
    everything = (*shown.discharges, *done)
    facts |= {"own_obligations": 1, **solver_facts(everything, session.options)}
    text = f"between steps, {name} follows from the link and from what is proved of {link.machine.name}"
    proved = Assessment(Verdict.PROVED, level_of(everything), facts, text, "", everything)
    return with_fragment(proved, (claimed.obligation,)) if session.options.fragment else proved


def claimed_of(link: ir.Link, name: str, known: tuple[ir.NamedFormula, ...]) -> Claimed:
    """What is to be shown. `known`: the proved invariants of the machine. Raises: Unsupported."""
    facts = facts_between_steps(link, known)
    invariant = own_invariants(link.protocol)[name]
    goal = Evaluation(link.protocol, _of_protocol(facts.state), prefix="i").formula(invariant.body)
    return Claimed(facts.make(f"{name} follows", facts.known, goal), Kept(invariant, facts.state))


def _of_protocol(state: State) -> State:
    """The state without what the machine alone knows."""
    return replace(state, machine={name: said for name, said in state.machine.items() if name in OF_MESSAGES})


def _not_proved(claimed: Claimed) -> str:
    return f"not proved: {claimed.obligation.name}"


def _false_there(link: ir.Link, claimed: Claimed, model: Model, facts: dict[str, Any]) -> Assessment:
    """That it is open, with the state between steps in which it is false."""
    reason = _not_proved(claimed)
    failure = replace(failure_of(link, claimed, reader_of(model)), step="", changes=Layers((), ()))
    more = "the link and the machine do not exclude this state, which need not be reachable:"
    return unknown(reason, {**facts, "fails": failure.to_json()}, "\n".join((reason, more, *failure.text())))
