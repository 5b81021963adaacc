"""A run as JSON values: its steps, states, packets, and the ways of its steps through the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.ir.properties import undefined
from thence.dsl.run.actions import State
from thence.dsl.run.causality import Finding
from thence.dsl.run.narrate import NarratedStep, describe, events_of, execution, flights_of, record, show_packet
from thence.dsl.run.values import show
from thence.play.backend.places import Place
from thence.proofs.workload_words import describe as describe_workload
from thence.spec.events import Deliver, Event, Input, Receive, Send
from thence.stepping.session import Choice, Session
from thence.stepping.trail import Follower, Trail

MOST_TRAILS = 400
"""Steps of which a document has the ways through the text; of longer runs they are asked for one by one."""


def run_document(place: Place, follower: Follower) -> dict[str, Any]:
    """The run from its beginning, all that a page needs to show it."""
    session = place.session
    return {
        **_head(place),
        "initial": [_values(session, session.system.initial(), process) for process in _everyone(session)],
        **extension(session, follower, 0),
    }


def _head(place: Place) -> dict[str, Any]:
    session, target = place.session, place.target
    protocol = session.system.protocol
    scenario = place.scenario
    return {
        "subject": session.subject,
        "scope": target.scope,
        "words": describe_workload(session.workload),
        "settings": list(lines_of(session.workload, kind_of(protocol))),
        "processes": session.workload.processes,
        "names": dict(place.names),
        "scenario": None if scenario is None else scenario.name,
        "doc": "" if scenario is None else scenario.doc,
        "variables": [{"name": one.name, "type": str(one.type), "line": one.span.line} for one in protocol.state],
        "kinds": [{"name": one.name, "carries": one.carries is not None} for one in protocol.packets],
        "network": {"fifo": not protocol.network.reordering},
        **({} if scenario is None else {"played": _played(place)}),
    }


def _played(place: Place) -> dict[str, Any]:
    """Of a scenario: the lines of its steps, its assertions with the step that each stands after, and its failure."""
    scenario, played = place.scenario, place.played
    assert scenario is not None and played is not None
    lines: list[int] = []
    assertions: list[dict[str, Any]] = []
    for step in scenario.steps:
        late = played.failure is not None and step.span.line >= played.failure.line
        if isinstance(step, ir.NamedFormula):
            held = None if late and played.failure and step.span.line > played.failure.line else not late
            assertions.append({"after": len(lines), "line": step.span.line, "text": step.name, "holds": held})
        elif step.event != "cannot" and not late:
            lines.append(step.span.line)
        elif step.event == "cannot":
            held = None if late and played.failure and step.span.line > played.failure.line else not late
            assertions.append({"after": len(lines), "line": step.span.line, "text": step.text, "holds": held})
    failure = None if played.failure is None else {"line": played.failure.line, "why": played.failure.why}
    return {"lines": lines, "assertions": assertions, "failure": failure}


def extension(session: Session, follower: Follower, since: int) -> dict[str, Any]:
    """The steps of a run after so many, and what is true of the run as a whole."""
    states = session.states
    recorded = record(session.system, session.steps[since:])
    events = _events(session)
    steps = [
        {
            **_step(session, states[number - 1], session.steps[number - 1]),
            "recorded": entry,
            "events": events.get(number, []),
            **({"trail": trail_document(follower.trail(states[number - 1], session.steps[number - 1].action))}
               if len(session.steps) - since <= MOST_TRAILS else {}),
        }
        for number, entry in enumerate(recorded, since + 1)
    ]  # fmt: skip
    return {"since": since, "steps": steps, "packets": _packets(session), "end": _end(session)}


def _end(session: Session) -> str:
    if session.failed:
        return "fault"
    return "rest" if session.at_rest else "open"


def _step(session: Session, before: State, step: NarratedStep) -> dict[str, Any]:
    action, after = step.action, step.outcome.state
    changed = [] if after.locals == before.locals else [_values(session, after, action.process)]
    found: dict[str, Any] = {
        "title": step.title,
        "kind": action.kind,
        "process": action.process,
        "details": list(step.details),
    }
    if changed:
        found["values"] = changed[0]
    wrong = list(_violations(session, step.outcome.findings, after, before))
    if wrong:
        found["violations"] = wrong
    return found


def _violations(session: Session, findings: Sequence[Finding], after: State, before: State) -> Iterator[dict[str, Any]]:
    """What the step violates, and the invariants that it makes false."""
    protocol = session.system.protocol
    of_steps = session.system.of_steps - {*protocol.witnesses}
    claimed = {*protocol.properties, *protocol.liveness, *of_steps, "fault"}
    reached = {*protocol.witnesses, *map(undefined, protocol.witnesses)}
    for finding in findings:
        if finding.property in reached:
            continue
        yield {
            "property": finding.property,
            "claimed": finding.property in claimed,
            "text": describe(finding),
            "process": finding.process,
            "message": None if finding.message is None else finding.message.name,
            "missing": None if finding.missing is None else finding.missing.name,
        }
    was = {finding.property for finding in session.broken(before)}
    invariants = {one.name for one in (*protocol.invariants, *protocol.rest)} - {*protocol.witnesses}
    for finding in session.broken(after):
        if finding.property in invariants and finding.property not in was:
            yield {"property": finding.property, "claimed": True, "text": describe(finding), "process": None}


def _events(session: Session) -> dict[int, list[list[Any]]]:
    """The events of each step. A message that has an identity again is `m0.1/2`, and so on."""
    found: dict[int, list[list[Any]]] = {}
    seen = execution(session.system, session.steps)
    for event, step in zip(seen.events, seen.steps, strict=True):
        found.setdefault(step, []).append(_event(event))
    return found


def _event(event: Event) -> list[Any]:
    match event:
        case Send(process, message, destinations):
            return ["send", process, message, list(destinations)]
        case Receive(process, message, sender):
            return ["receive", process, message, sender]
        case Deliver(process, message):
            return ["deliver", process, message]
        case Input(process):
            return ["input", process, event.label]


def _values(session: Session, state: State, process: int) -> list[str]:
    values = session.system.local(state.locals[process])
    return [show(value, variable.type) for value, variable in zip(values, session.system.protocol.state, strict=True)]


def _everyone(session: Session) -> range:
    return range(session.workload.processes)


def _packets(session: Session) -> list[list[Any]]:
    """Kind, message, sender, receiver, and the steps that send, let arrive and lose it; and the packet as text."""
    system = session.system
    texts: dict[int, str] = {}
    names = _Names(session)
    found = []
    for flight in flights_of(system, session.steps):
        one, number = flight.passage, flight.packet
        if number not in texts:
            texts[number] = show_packet(system, system.packet(number))
        message = None if one.message is None else names.at(one.message, one.sent)
        found.append(
            [one.kind, message, one.source, one.destination, one.sent, one.arrived, flight.lost, texts[number]]
        )
    return found


class _Names:
    """The names of messages whose identities are used again, by step. Steps are asked for in ascending order."""

    def __init__(self, session: Session) -> None:
        self._sent = [
            (number, event.message)
            for number, step in enumerate(session.steps, 1)
            for event in events_of(session.system, step)
            if isinstance(event, Send)
        ]
        self._seen = 0
        self._uses: dict[str, int] = {}

    def at(self, message: str, step: int) -> str:
        """The name of the message that a packet carries which a step sends."""
        while self._seen < len(self._sent) and self._sent[self._seen][0] <= step:
            name = self._sent[self._seen][1]
            self._uses[name] = self._uses.get(name, 0) + 1
            self._seen += 1
        use = self._uses.get(message, 1)
        return message if use == 1 else f"{message}/{use}"


def trail_document(trail: Trail) -> dict[str, Any]:
    """The way of a step through the text."""
    return {
        "handler": None if trail.handler is None else list(trail.handler),
        "lines": list(trail.lines),
        "decisions": [
            [one.line, one.condition, one.outcome, [list(value) for value in one.values]] for one in trail.decisions
        ],
        "fault": trail.fault,
    }


def choice_document(choice: Choice) -> dict[str, Any]:
    """A step that can be made."""
    action = choice.step.action
    return {
        "number": choice.number,
        "title": choice.title,
        "kind": action.kind,
        "process": action.process,
        "idle": choice.idle,
        "details": list(choice.step.details),
        "packet": action.packet,
        "violates": [found.partition(":")[0].removeprefix("VIOLATES ") for found in choice.step.details
                     if found.startswith("VIOLATES ")],
    }  # fmt: skip
