"""Results on scopes in words, as JSON values, and as pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.check.terms.environment import listed
from thence.dsl.ir.properties import COMPLETES
from thence.dsl.run.narrate import execution, record, text
from thence.dsl.run.promises import Instance
from thence.proofs.abstraction.report import abstraction_facts, describe_abstraction
from thence.proofs.abstraction.search import AbstractExploration
from thence.proofs.explore.exploration import Coverage, Exploration, Violation
from thence.proofs.explore.reductions import kept_by
from thence.proofs.fairness.fairness import fair_timers, need_not_happen
from thence.proofs.liveness.lasso import Lasso, LassoSearch, explain_lasso
from thence.proofs.liveness.order_lines import Lines
from thence.proofs.scopes.link import LinkCheck
from thence.spec.delivery_order import first_crossing
from thence.spec.diagram import draw_svg, draw_text, highlight_of
from thence.spec.events import Execution
from thence.spec.judgement import judge
from thence.spec.oracle import Finding, Oracle
from thence.spec.words import counted

_SATURATED = (
    "any number of messages of each process that sends for ever: none of them ever lacked an identity, so more"
    " identities would reach no new state"
)

ORACLE_KINDS = {
    "causal": "causal", "fifo": "fifo", "at_most_once": "duplicate", "no_creation": "phantom", "delivered": "stuck",
}  # fmt: skip
"""Which finding of the metadata-free oracle confirms a violation of which property."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """No verdict, and why not; with a run to the state that is in the way, where there is one."""

    why: str
    shown: Violation | None = None


@dataclass(frozen=True, slots=True)
class Exhausted:
    """All states were covered: none violates the property, or none is the state to be reached."""


Evidence: TypeAlias = Violation | Lasso | Undecided | Exhausted
"""The ground of a verdict on a property."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result for a reader: facts as JSON values, an explanation, and a picture as SVG."""

    facts: dict[str, Any] = field(default_factory=dict)
    explanation: str = ""
    picture: str = ""


def timers_fire(protocol: ir.Protocol, workload: ir.Workload) -> str:
    """When the timers of a scope fire, on which a verdict on `delivered` depends; "" if there are none."""
    if not protocol.timers:
        return ""
    fair = fair_timers(protocol)
    rest = [timer for timer in protocol.timers if timer not in fair]
    unfair = f"; {listed(rest)} need never fire" if rest else ""
    return f"{_moments(protocol, workload)}{unfair}"


def _moments(protocol: ir.Protocol, workload: ir.Workload) -> str:
    """When timers fire."""
    reordering = protocol.network.reordering and not workload.fifo
    if not isinstance(workload.sending, ir.Finite) and reordering:
        return "timers fire at any moment, again and again and in any order"
    said = "timers fire when nothing is in flight, again and again and in any order"
    limits = {timer: workload.ticks_of(timer) for timer in protocol.timers}
    if not any(limits.values()) or not workload.ends:
        return said
    if len(set(limits.values())) == 1:
        return f"{said}; before that at any moment, each at most {_times(next(iter(limits.values())))}"
    each = [f"{timer} at most {_times(limit)}" for timer, limit in limits.items() if limit]
    return f"{said}; before that at any moment, {', '.join(each)} each"


def _times(number: int | None) -> str:
    return f"{number} {'time' if number == 1 else 'times'}"


def is_witness(protocol: ir.Protocol, name: str) -> bool:
    """Whether the name is of something that holds when some run reaches it."""
    return name in protocol.witnesses or name == COMPLETES


# --- coverage --------------------------------------------------------------------------------


def coverage_facts(covered: Coverage) -> dict[str, Any]:
    """How much was covered, and in which manner."""
    return {**_counts(covered), **_manner(covered)}


def _counts(coverage: Coverage) -> dict[str, Any]:
    return {
        "states": coverage.states,
        "transitions": coverage.transitions,
        "depth": coverage.depth,
        "complete": coverage.complete,
    }


def _manner(covered: Coverage) -> dict[str, Any]:
    """The engine, and the reductions up to which states were counted; why one that was asked for was not made."""
    if isinstance(covered, AbstractExploration):
        return abstraction_facts(covered)
    if isinstance(covered, LassoSearch):
        lines = covered.lines
        found: dict[str, Any] = {}
        if lines is not None:
            found["levels"] = {"near": lines.near, "numbers": list(lines.names())}
        return found | ({"refused": dict(covered.refused)} if covered.refused else {})
    if not isinstance(covered, Exploration):
        return {}
    found = {"engine": covered.engine, "reductions": list(covered.reductions)}
    if covered.reductions:
        found["keeps"] = list(kept_by(covered.reductions))
    if covered.refused:
        found["refused"] = dict(covered.refused)
    if covered.storage != "exact":
        found["storage"] = covered.storage
    return found


def incomplete(coverage: Coverage) -> str:
    """Why a coverage that is not complete decides nothing."""
    why = coverage.why_incomplete
    return (
        f"incomplete: {why}"
        if why.startswith("stopped at")
        else f"incomplete: {why} after {counted(coverage.states, 'state')}"
    )


# --- evidence --------------------------------------------------------------------------------


def show(evidence: Evidence, covered: Coverage, witness: bool, sought: str = "state") -> Shown:
    """The evidence for a verdict; `witness`: a violation is a run that reaches what is `sought`, a state or a step."""
    match evidence:
        case Violation():
            facts: dict[str, Any] = {"steps" if witness else "counterexample": record(evidence.system, evidence.steps)}
            if evidence.cycle:
                facts["lasso"] = _lasso_facts(_as_lasso(evidence))
            return Shown(facts, *explain(evidence))
        case Lasso(stem=stem, cycle=cycle):
            facts = {
                "counterexample": record(evidence.system, (*stem, *cycle)),
                "lasso": _lasso_facts(evidence),
            }
            return Shown(facts, *explain_lasso(evidence))
        case Undecided(why, shown):
            if shown is None:
                return Shown({"unknown": why})
            return Shown({"unknown": why, "steps": record(shown.system, shown.steps)}, *explain(shown))
        case Exhausted():
            return _show_exhausted(covered, witness, sought)
        case _:
            assert_never(evidence)


def _as_lasso(violation: Violation) -> Lasso:
    """A violation whose last steps repeat for ever."""
    owed, turn = violation.owed, len(violation.steps) - violation.cycle
    assert owed is not None
    return Lasso(owed, violation.system, violation.steps[:turn], violation.steps[turn:])


def _lasso_facts(lasso: Lasso) -> dict[str, Any]:
    owed = {"owed": str(lasso.owed)} if isinstance(lasso.owed, Instance) else {"message": lasso.owed.name}
    return {**owed, "stem": len(lasso.stem), "cycle": len(lasso.cycle)}


def _show_exhausted(covered: Coverage, witness: bool, sought: str) -> Shown:
    if witness and sought == "step":
        return Shown(explanation="no step of any run of the scope is one after which it is true")
    if witness:
        return Shown(explanation="no state that is reachable in the scope is one")
    if covered.saturated:
        words = describe_abstraction(covered) if isinstance(covered, AbstractExploration) else _SATURATED
        return Shown({"saturated": True}, words)
    if isinstance(covered, LassoSearch) and covered.lines is not None:
        return Shown(explanation=_order(covered.lines, covered.piles))
    return Shown()


def _order(lines: Lines, piles: bool) -> str:
    named = ", ".join(lines.names())
    repeated = "packets that timers repeat count as one or more\n" if piles else ""
    return repeated + (
        f"numbers that grow count by their order, and by distances up to {lines.near}: {named}"
        if named
        else "no number of the protocol grows"
    )


def show_link(check: LinkCheck) -> Shown:
    """A link's check: where it is broken, the run that breaks it."""
    facts = _counts(check)
    if check.refuted is not None:
        assert check.system is not None
        facts["counterexample"] = record(check.system, check.steps)
        observed = execution(check.system, check.steps)
        explanation = f"{text(check.steps)}\n\n{check.refuted}\n\n{draw_text(observed)}"
        return Shown(facts, explanation, draw_svg(observed))
    if not check.complete:
        return Shown({**facts, "unknown": incomplete(check)})
    return Shown({**facts, "unknown": "no run has an event that is a step of the machine"} if check.idle else facts)


def explain(violation: Violation) -> tuple[str, str]:
    """The counterexample for a reader: as steps with a space-time diagram, and the diagram as SVG.

    The independent oracle must confirm it, as far as it judges the property.
    """
    if violation.cycle:
        return explain_lasso(_as_lasso(violation))
    observed = execution(violation.system, violation.steps)
    seen = confirm(violation, observed)
    finding = violation.finding
    last = violation.steps[-1].outcome.findings if violation.steps else ()
    lines = [text(violation.steps)] if violation.steps else []
    if finding.property == "delivered" and finding.message is not None:
        left = violation.steps and violation.steps[-1].outcome.state.network
        ending = "Nothing that is in flight has to arrive" if left else "Nothing is in flight"
        lines.append(f"\n{ending}, and p{finding.process} never delivers {finding.message.name}.")
    elif is_witness(violation.system.protocol, finding.property):
        lines.append(f"\n{finding.detail if finding.property == COMPLETES else f'{finding.property} is reached'}.")
    elif finding.property not in {each.property for each in last}:
        lines.append(f"\n{finding.detail or finding.property}")
    if any(promise.name == finding.property for promise in violation.system.protocol.promises):
        state = violation.steps[-1].outcome.state if violation.steps else violation.system.initial()
        free = need_not_happen(violation.system, state)
        lines += [f"nothing more has to happen: {free}"] if free else []
    highlight = None if seen is None else highlight_of(seen)
    if observed.events or observed.asides:
        lines.append(f"\n{draw_text(observed, highlight)}")
    return "\n".join(lines).removeprefix("\n"), draw_svg(observed, highlight)


def confirm(violation: Violation, observed: Execution) -> Finding | None:
    """Holds a violation against the metadata-free oracle, which knows nothing of the protocol.

    Returns the oracle's finding; None for properties that it does not judge.
    """
    if violation.finding.property == "total_order":
        assert first_crossing(observed) is not None, "the deliveries of the run agree"
    if violation.finding.property == "causally_ordered":
        assert not judge(observed).causal, "the deliveries of the run are in causal order"
    kind = ORACLE_KINDS.get(violation.finding.property)
    if kind is None:
        return None
    oracle = Oracle(observed.processes)
    seen = [finding for event in observed.events for finding in oracle.observe(event)]
    if kind == "stuck":
        seen += oracle.at_quiescence()
    confirming = next((finding for finding in seen if finding.kind == kind), None)
    assert confirming is not None, f"the oracle does not confirm the violation of {violation.finding.property}"
    return confirming
