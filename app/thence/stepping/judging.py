"""What a property says of a run that stands at some step: where it was violated, or that it was not, so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from thence.dsl.find import known
from thence.dsl.ir.observability import unobservable
from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED, undefined
from thence.dsl.run.actions import State
from thence.dsl.run.causality import WATCHED, Finding
from thence.dsl.run.narrate import describe, replay
from thence.dsl.run.quiescence import Unsettled, blocked, completed, stuck, unkept
from thence.dsl.run.scoped import watching
from thence.proofs.scopes.scopes import judgeable
from thence.stepping.session import Session

Standing: TypeAlias = Literal["violated", "not violated", "open", "reached", "not reached", "unknown"]
"""`open`: the property is about the end of a run, and this one can go on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a property says of the run.

    Attributes:
        step: the step after which it was first violated or reached, from 1; 0 is the beginning; None where it was not.
        why: in words; empty where there is nothing to add.
        here: of invariants: whether the formula is true in the state where the run stands; of formulas about actions
            only where the last step decides: it makes one false, or one that some run is to reach true.
    """

    property: str
    standing: Standing
    step: int | None = None
    why: str = ""
    here: bool | None = None


def properties(session: Session) -> tuple[str, ...]:
    """The names that can be asked for: what the protocol states first, then what is judged of any protocol."""
    return judgeable(session.protocol, session.workload)


def promised(session: Session) -> tuple[str, ...]:
    """The names of what the protocol promises: its properties and invariants, and that no step is at fault."""
    protocol = session.protocol
    formulas = (*protocol.invariants, *protocol.rest)
    stated = tuple(each.name for each in formulas if each.name not in protocol.witnesses)
    return tuple(dict.fromkeys((*protocol.properties, *protocol.liveness, *stated, "fault")))


def judge(session: Session, name: str) -> Answer:
    """What the property says of the run. Raises: NotThere, where there is none of this name."""
    known(name, properties(session), "property")
    why_not = unobservable(session.protocol, name)
    if why_not is not None:
        return Answer(name, "unknown", why=why_not)
    if name in WATCHED and name not in session.protocol.properties:
        session = _watching(session, name)
    ends = (*session.protocol.liveness, *(each.name for each in session.protocol.rest))
    if name in (DELIVERED, DEADLOCK_FREE, COMPLETES, *ends):
        return _at_the_end(session, name)
    if name in session.system.of_steps:
        return _of_steps(session, name)
    if name in {each.name for each in session.protocol.invariants}:
        return _of_states(session, name)
    for number, step in enumerate(session.steps, 1):
        for finding in step.outcome.findings:
            if finding.property == name:
                return Answer(name, "violated", number, describe(finding))
    return Answer(name, "not violated")


def violated(session: Session) -> tuple[Answer, ...]:
    """The promises of the protocol that the run violates."""
    answers = (judge(session, name) for name in promised(session))
    return tuple(answer for answer in answers if answer.standing == "violated")


def _watching(session: Session, name: str) -> Session:
    """The same run, in a system that judges the property: some are judged only where they are claimed."""
    again = Session(session.subject, watching(session.protocol, (name,)), session.workload)
    again.steps = list(replay(again.system, session.recorded()))
    return again


def _of_steps(session: Session, name: str) -> Answer:
    """Of a formula about an action: it is judged right after each step."""
    witness = name in session.protocol.witnesses
    found = [next((one for one in step.outcome.findings if one.property == name), None) for step in session.steps]
    first = next((at for at, finding in enumerate(found, 1) if finding is not None), None)
    here = witness if found and found[-1] is not None else None
    if witness:
        return Answer(name, "not reached" if first is None else "reached", first, here=here)
    why = "" if first is None or (finding := found[first - 1]) is None else describe(finding)
    return Answer(name, "not violated" if first is None else "violated", first, why, here)


def _of_states(session: Session, name: str) -> Answer:
    """Of an invariant, or of a formula that some run is to reach."""
    witness = name in session.protocol.witnesses
    found = [_broken(session, state, name) for state in session.states]
    first = next((at for at, finding in enumerate(found) if finding is not None), None)
    if witness:
        here = found[-1] is not None
        return Answer(name, "not reached" if first is None else "reached", first, here=here)
    why = "" if first is None or (finding := found[first]) is None else describe(finding)
    return Answer(name, "not violated" if first is None else "violated", first, why, found[-1] is None)


def _broken(session: Session, state: State, name: str) -> Finding | None:
    findings = [finding for finding in session.broken(state) if finding.property in (name, undefined(name))]
    return next((finding for finding in findings if finding.property == name), None)


def _at_the_end(session: Session, name: str) -> Answer:
    """Of a property that is about the end of a run."""
    system, state, at = session.system, session.state, len(session.steps)
    if session.failed:
        return Answer(name, "unknown", why="the run ended in a step at fault")
    if name == COMPLETES:
        done = completed(system, state)
        return Answer(name, "not reached" if done is None else "reached", None if done is None else at)
    try:
        finding = _never_comes(session, name)
    except Unsettled as why:
        return Answer(name, "unknown", why=str(why))
    if finding is not None:
        return Answer(name, "violated", at, describe(finding))
    if session.at_rest:
        return Answer(name, "not violated", why="nothing can happen any more")
    return Answer(name, "open", why="it is judged where nothing can happen any more")


def _never_comes(session: Session, name: str) -> Finding | None:
    """What is wrong with the end of the run, if it is one. Raises: Unsettled."""
    system, state = session.system, session.state
    if name == DEADLOCK_FREE:
        return blocked(system, state)
    if name == DELIVERED:
        return stuck(system, state)
    promised = {promise.name for promise in session.protocol.promises}
    found = (*session.broken(state), *(unkept(system, state, name) if name in promised else ()))
    return next((each for each in found if each.property == name), None)
