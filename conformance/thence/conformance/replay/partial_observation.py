"""Replay of a partial observation: has the protocol a run with the events of an execution?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final, Literal

from thence.conformance.replay.configuration import Conditions, Configuration
from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.each_alone import EachAlone
from thence.conformance.replay.findings import CaseFinding, CaseOutcome
from thence.conformance.replay.guards import DecidingGuard
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.process_logs import ProcessLogs, logs_of, require_fit
from thence.conformance.replay.replay import Replay
from thence.conformance.replay.state_estimate import MOST_STATES, RunSearch
from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.spec.diagram import Highlight
from thence.spec.events import Deliver, Event, Execution, Receive, Send, message_of
from thence.spec.trace import may_lose

Verdict = Literal["conforming", "nonconforming", "unknown"]

FEW_STATES: Final = 300
"""Configurations that a search for a verdict visits before each process is tried by itself."""

DRAWN: Final = 30
"""Events before the failing one that are drawn."""

_ENDED_EARLY: Final = frozenset({"crash", "hang", "memory", "endless", "aliasing"})

_MESSAGE: Final = re.compile(r"\bm\d+\.\d+\b")


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict of the replay of an execution.

    Attributes:
        verdict: `conforming`: the protocol has a run with these events. `nonconforming`: it has none. `unknown`: the
            state estimate was too large.
        matched: number of events, from the first, that the protocol can do: all, or the longest prefix that was found.
        events: their number.
        divergence: the step that the protocol cannot do then, and the deciding guard; None where it conforms.
        states: configurations visited beyond those of the first attempt.
    """

    verdict: Verdict
    matched: int
    events: int
    divergence: Divergence | None
    states: int

    def __str__(self) -> str:
        if self.divergence is None:
            return "the one event" if self.events == 1 else f"all {self.events:,} events"
        said = str(self.divergence)
        if self.verdict == "unknown":
            return f"too many possible states ({self.states:,} looked at); the best attempt: {said}"
        return said


def nonconformance(answer: Answer, event_index: int) -> CaseFinding | None:
    """The finding that no run of the protocol has the events; None where one has, or may have."""
    found = answer.divergence
    if answer.verdict != "nonconforming" or found is None:
        return None
    return CaseFinding("nonconformance", found.process, str(found), event_index, divergence=found)


@dataclass(slots=True)
class PartialObservationReplay:
    """A protocol among `processes` processes, in which executions are replayed. It remembers steps.

    `most_states`: configurations that a search visits, beyond those of the first attempt, before the answer is unknown.
    """

    protocol: ir.Protocol
    processes: int
    most_states: int = MOST_STATES
    undecided: int = field(init=False, default=0)
    """Number of cases that `follow` could not decide."""
    _replay: Replay = field(init=False)
    _only_sends_send: bool = field(init=False)

    def __post_init__(self) -> None:
        self._replay = Replay(self.protocol, self.processes)
        self._only_sends_send = only_sends_send(self.protocol)

    def conditions(
        self, execution: Execution, header: Mapping[str, Any] | None = None, *, ordered: bool = False
    ) -> Conditions:
        """The faults of the protocol's network, and those that a recording shows or states in its header.

        Where arrivals are logged, a message that arrives twice shows duplication. Otherwise the header states it.
        """
        network, said = self.protocol.network, header or {}
        channels = said.get("channels")
        arrivals = Counter((event.process, event.message, event.sender)
                           for event in execution.events if isinstance(event, Receive))  # fmt: skip
        repeated = max(arrivals.values()) > 1 if arrivals else (said.get("duplication") is True or channels == "lossy")
        return Conditions(
            reordering=network.reordering or channels in ("reordering", "lossy"),
            duplicating=network.duplicating or repeated,
            lossy=network.lossy or may_lose(said),
            ordered=ordered,
        )

    def judge(self, execution: Execution, conditions: Conditions) -> Answer:
        """Whether the protocol has a run with these events.

        Raises:
            Unfit: a message goes where none of the protocol's can go.
            ValueError: the events are no execution, or one of another number of processes.
        """
        logs = self._logs(execution)
        if conditions.ordered or self._only_sends_send:
            search = self._search(logs, conditions)
            if search.run():
                return self._found(execution, search)
            if not search.given_up and (conditions.ordered or not self._could_be_early(logs, conditions)):
                return self._refused(logs, search, "nonconforming")
            if conditions.ordered:
                return self._refused(logs, search, "unknown")
        search = self._search(logs, conditions, free=True)
        if search.run():
            return self._found(execution, search)
        return self._refused(logs, search, "unknown" if search.given_up else "nonconforming")

    def follow(self, outcome: CaseOutcome) -> CaseOutcome:
        """The outcome of a case with the findings of the replay of its log. A case that has the delivery of a message
        that nobody sent stays as it is."""
        answer = self.answer(outcome)
        if answer is None:
            return outcome
        matched = replace(outcome, matched=answer.matched)
        if answer.verdict == "unknown":
            self.undecided += 1
        found = nonconformance(answer, answer.matched)
        return matched if found is None else matched.settled_with(found)

    def answer(self, outcome: CaseOutcome) -> Answer | None:
        """Whether the protocol has a run with the events of the case; None where it has the delivery of a message that
        nobody sent. Of a case that ended early, the last steps of the process that ended it are left out."""
        given = self._observed(outcome)
        return None if given is None else self.judge(*given)

    def verdict(self, outcome: CaseOutcome) -> Verdict | None:
        """The verdict of `answer`, sooner: without the longest prefix, a refusal need not take the whole search."""
        given = self._observed(outcome)
        if given is None:
            return None
        execution, conditions = given
        if not conditions.duplicating:  # By itself, a process may get a packet twice, which a text need not stand.
            return self.judge(execution, conditions).verdict
        logs = self._logs(execution)
        search = self._search(logs, conditions, most_states=FEW_STATES)
        if search.run():
            return "conforming"
        if not search.given_up or self._refused_alone(logs, conditions):
            return "nonconforming"
        return self.judge(execution, conditions).verdict

    def _refused_alone(self, logs: ProcessLogs, conditions: Conditions) -> bool:
        steps = ObservedSteps(self._replay, logs, frozenset(self.protocol.properties))
        return EachAlone(steps, Configuration(self._replay, logs, conditions)).refuses()

    def _observed(self, outcome: CaseOutcome) -> tuple[Execution, Conditions] | None:
        """The events of a case, and the network that it had; see `answer`."""
        findings = (*outcome.findings, *outcome.noted)
        if any(finding.kind == "phantom" for finding in findings):
            return None
        execution = outcome.execution
        ended = ended_early(outcome)
        if ended is not None:
            execution = without_last(execution, ended)
        settings = outcome.settings
        conditions = Conditions(
            reordering=settings.channels == "reordering",
            duplicating=settings.duplication or self.protocol.network.duplicating,
            lossy=settings.loss or self.protocol.network.lossy,
            ordered=True,
        )
        return execution, conditions

    def _logs(self, execution: Execution) -> ProcessLogs:
        """The logs, of as many processes and of such messages as the protocol has. Raises: as `judge`."""
        if execution.processes != self.processes:
            raise ValueError(f"the execution has {execution.processes} processes, the replay {self.processes}")
        logs = logs_of(execution)
        require_fit(logs, self.protocol)
        return logs

    def _search(
        self,
        logs: ProcessLogs,
        conditions: Conditions,
        *,
        free: bool = False,
        watch_early: bool = False,
        most_states: int | None = None,
    ) -> RunSearch:
        most_states = self.most_states if most_states is None else min(most_states, self.most_states)
        steps = ObservedSteps(self._replay, logs, frozenset(self.protocol.properties))
        return RunSearch(steps, conditions, free=free, watch_early=watch_early, most_states=most_states)

    def _could_be_early(self, logs: ProcessLogs, conditions: Conditions) -> bool:
        """Whether another order of events at different processes could make a difference."""
        search = self._search(logs, conditions, watch_early=True)
        search.run()
        return search.may_be_early or search.given_up

    @staticmethod
    def _found(execution: Execution, search: RunSearch) -> Answer:
        events = len(execution.events)
        return Answer("conforming", events, events, None, search.states)

    @staticmethod
    def _refused(logs: ProcessLogs, search: RunSearch, verdict: Verdict) -> Answer:
        divergence = renamed(search.explain(), logs.names)
        return Answer(verdict, search.matched, len(logs.execution.events), divergence, search.states)


def prefix(execution: Execution, answer: Answer) -> tuple[Execution, Highlight | None]:
    """The events that the protocol can do and the first step that it cannot, for a picture; of many events the last
    ones, with the sends of their messages."""
    found = answer.divergence
    if found is None:
        return execution, None
    whole = tuple(execution.events)
    events, rest = whole[: answer.matched + 1], whole[answer.matched + 1 :]
    last = events[-1]
    if not isinstance(last, Deliver):
        own = (event for event in rest if event.process == last.process)
        events += tuple(takewhile(lambda event: isinstance(event, Deliver), own))
    start = max(0, len(events) - DRAWN)
    sent = {message_of(event) for event in events[start:]}
    kept: list[Event] = [event for event in events[:start] if isinstance(event, Send) and event.message in sent]
    kept += events[start:]
    wrong = len(kept) - 1 if isinstance(kept[-1], Deliver) else None
    said = found.fault or found.expected or "does nothing more"
    caption = (
        f"event {answer.matched + 1:,} of {answer.events:,}, at {execution.name_of(found.process)}: the protocol {said}"
    )
    return (
        Execution(execution.processes, tuple(kept), execution.names),
        Highlight(found.process, message_of(kept[-1]), (), (), wrong, caption),
    )


def ended_early(outcome: CaseOutcome) -> int | None:
    """The process at which the case ended early, by a crash or the like; None where it was carried through."""
    return next((finding.process for finding in outcome.findings if finding.kind in _ENDED_EARLY), None)


def without_last(execution: Execution, process: int) -> Execution:
    """The execution without the events of the process that are its last ones."""
    events = execution.events
    while events and events[-1].process == process:
        events = events[:-1]
    return replace(execution, events=events)


def only_sends_send(protocol: ir.Protocol) -> bool:
    """Whether packets are sent by causal sends only: not by what receives, by other inputs or by timers."""
    called = {procedure.name: procedure for procedure in protocol.procedures}
    for handler in protocol.handlers:
        if handler.event == "periodically":
            return False
        if handler.event in ("receive", "input"):
            bodies: list[Any] = [handler.body]
            seen: set[str] = set()
            while bodies:
                for node in nodes(bodies.pop()):
                    if isinstance(node, ir.Send):
                        return False
                    if isinstance(node, ir.Call) and node.procedure not in seen:
                        seen.add(node.procedure)
                        bodies.append(called[node.procedure].body)
    return True


def renamed(divergence: Divergence, names: dict[str, str]) -> Divergence:
    """The same, with the execution's names of messages."""

    def say(text: str) -> str:
        return _MESSAGE.sub(lambda found: names.get(found[0], found[0]), text)

    guard = divergence.guard
    if guard is not None:
        values = tuple((say(expression), say(value)) for expression, value in guard.values)
        guard = DecidingGuard(guard.condition, guard.outcome, guard.label, guard.line, values)
    return replace(
        divergence,
        input=say(divergence.input),
        expected=None if divergence.expected is None else say(divergence.expected),
        got=None if divergence.got is None else say(divergence.got),
        guard=guard,
        fault=None if divergence.fault is None else say(divergence.fault),
        wrong_message=None if divergence.wrong_message is None else say(divergence.wrong_message),
    )
