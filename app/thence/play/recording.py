"""Recorded executions, and cases of systems under test, as the player shows them: events in place of steps.

Of a long recording the part is shown that leads to its first finding: the events in the causal past of the finding,
the last ones, and those of the messages that the finding is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.rerun import rerun_against
from thence.conformance.systems.trust import consequence, named_by
from thence.conformance.traces.reading import read
from thence.dsl.find import named_protocol
from thence.play.backend.backend import Backend
from thence.play.page import page
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send, message_of, printable
from thence.spec.oracle import Finding, first_finding
from thence.spec.words import counted

MOST_EVENTS: Final = 2_000
"""Events that are shown of a recording with a finding."""

MOST_WHOLE: Final = 10_000
"""A recording of so many events is shown whole, with or without a finding."""

PROPERTIES: Final = {"causal": "causal", "fifo": "fifo", "duplicate": "at_most_once", "phantom": "no_creation"}
"""The properties that the oracle judges of a recording, by the kind of its finding."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, at the event of that number, from 0.

    Attributes:
        property: in the words of the player.
        text: in a sentence.
    """

    property: str
    text: str
    event: int
    process: int
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of an execution that is shown: the positions of its events, ascending."""

    execution: Execution
    positions: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.positions) == len(self.execution.events)


def fault_of(found: Finding) -> Fault:
    """The oracle's finding."""
    said = str(found).partition(": ")[2]
    return Fault(PROPERTIES.get(found.kind, found.kind), said, found.event_index, found.process, found.message)


def in_sight(execution: Execution, found: Finding | None) -> Shown:
    """The whole of an execution that is short; of a long one what leads to the finding, or its beginning."""
    count = len(execution.events)
    if count <= MOST_WHOLE:
        return Shown(execution, tuple(range(count)))
    if found is None:
        return Shown(execution, tuple(range(MOST_WHOLE)))
    wanted = {found.message, *found.missing[:1], *found.chain}
    chosen = set(_cone(execution, found.event_index))
    chosen |= {at for at, event in enumerate(execution.events[: found.event_index + 1]) if message_of(event) in wanted}
    return Shown(execution, tuple(sorted(chosen)))


def _cone(execution: Execution, last: int) -> Sequence[int]:
    """The last events of the causal past of an event, itself included; the latest first."""
    events = execution.events
    processes, messages = {events[last].process}, set[str]()
    found: list[int] = []
    for at in range(last, -1, -1):
        event = events[at]
        if isinstance(event, Send) and event.message in messages:
            processes.add(event.process)
        if event.process not in processes:
            continue
        found.append(at)
        if isinstance(event, Receive | Deliver):
            messages.add(event.message)
        if len(found) == MOST_EVENTS:
            break
    return found


def document(shown: Shown, faults: Sequence[Fault], title: str) -> dict[str, Any]:
    """The execution as a run of the player: each event is a step."""
    execution = shown.execution
    count = len(execution.events)
    said = f"{counted(execution.processes, 'process')}, {counted(count, 'event')}"
    words = said if shown.whole else f"{said}, of which {len(shown.positions):,} are shown"
    at_event: dict[int, list[Fault]] = {}
    for fault in faults:
        at_event.setdefault(fault.event, []).append(fault)
    steps = [_step(execution, at, at_event.get(at, ())) for at in shown.positions]
    return {
        "subject": title, "scope": None, "words": words, "settings": [], "processes": execution.processes,
        "names": {f"p{number}": name for number, name in enumerate(execution.names)}, "scenario": None, "doc": "",
        "variables": [], "kinds": [{"name": "message", "carries": True}], "network": {"fifo": False},
        "initial": [[] for _ in range(execution.processes)], "since": 0, "steps": steps,
        "packets": _packets(execution, shown.positions), "end": "rest",
    }  # fmt: skip


def _step(execution: Execution, at: int, faults: Sequence[Fault]) -> dict[str, Any]:
    event = execution.events[at]
    step: dict[str, Any] = {
        "title": f"event {at + 1:,}: {_said(execution, event)}",
        "kind": "event",
        "process": event.process,
        "details": [f"VIOLATES {fault.property}: {fault.text}" for fault in faults],
        "events": [_as_json(event)],
        "recorded": {"event": at + 1},
        "trail": {"handler": None, "lines": [], "decisions": [], "fault": ""},
    }
    if faults:
        step["violations"] = [
            {"property": fault.property, "claimed": True, "text": fault.text, "process": fault.process,
             "message": fault.message} for fault in faults
        ]  # fmt: skip
    return step


def _said(execution: Execution, event: Event) -> str:
    name, message = printable(execution.name_of(event.process)), printable(message_of(event) or "")
    match event:
        case Send(destinations=to):
            others = ", ".join(printable(execution.name_of(one)) for one in to) or "nobody"
            return f"{name} sends {message} to {others}"
        case Receive(sender=sender):
            return f"{message} arrives at {name} from {printable(execution.name_of(sender))}"
        case Deliver():
            return f"{name} delivers {message}"
        case Input():
            return f"{name} does {printable(event.label)}"


def _as_json(event: Event) -> list[Any]:
    match event:
        case Send(process, message, destinations):
            return ["send", process, message, list(destinations)]
        case Receive(process, message, sender):
            return ["receive", process, message, sender]
        case Deliver(process, message):
            return ["deliver", process, message]
        case Input(process):
            return ["input", process, event.label]


def _packets(execution: Execution, positions: Sequence[int]) -> list[list[Any]]:
    """The way of each message to each destination: to its arrival, or where arrivals are not recorded its delivery."""
    sent: dict[str, tuple[int, int, tuple[int, ...]]] = {}
    ended: dict[tuple[str, int], int] = {}
    for step, at in enumerate(positions, 1):
        match execution.events[at]:
            case Send(process, message, destinations):
                sent.setdefault(message, (step, process, destinations))
            case Receive(process, message) | Deliver(process, message):
                ended.setdefault((message, process), step)
    return [
        ["message", message, process, to, step, ended.get((message, to)), None, message]
        for message, (step, process, destinations) in sent.items()
        for to in destinations
        if (message, to) not in ended or ended[message, to] > step
    ]


def recording_page(execution: Execution, title: str) -> str:
    """The player with a recorded execution, at its first finding."""
    found = first_finding(execution)
    shown = in_sight(execution, found)
    faults = () if found is None else (fault_of(found),)
    run = document(shown, faults, title)
    at = len(run["steps"]) if found is None else shown.positions.index(found.event_index) + 1
    said = "The oracle finds nothing wrong." if found is None else f"{found}."
    if not shown.whole:
        said += f" {run['words']}."
    return _page(run, at, said, f"thence trace check {title}")


def case_page(
    execution: Execution, faults: Sequence[Fault], reference: Execution | None, title: str, system: str = ""
) -> str:
    """The player with a case of a system under test, and below it what the protocol does in the same case.

    Args:
        faults: the findings; an event at the end stands for what is missing there.
        reference: None where the case names no protocol.
        system: the option that names it to the command that the page shows; "" where the file is enough.
    """
    last = max(len(execution.events) - 1, 0)
    placed = [replace(fault, event=min(fault.event, last)) for fault in faults] if execution.events else []
    run = document(Shown(execution, tuple(range(len(execution.events)))), placed, title)
    first = min((fault.event + 1 for fault in placed), default=len(run["steps"]))
    said = "; ".join(f"{fault.property}: {fault.text}" for fault in faults) or "Nothing is wrong with this case."
    beside = None
    if reference is not None:
        other = document(Shown(reference, tuple(range(len(reference.events)))), (), "the protocol, in the same case")
        pairs = zip(execution.events, reference.events, strict=False)
        same = next((at for at, (one, two) in enumerate(pairs) if one != two), None)
        shorter = min(len(execution.events), len(reference.events))
        differs = shorter if same is None and len(execution.events) != len(reference.events) else same
        beside = {"run": other, "divergence": None if differs is None else differs + 1}
    command = " ".join(("thence conform", *filter(None, (system,)), f"--replay {title}"))
    return _page(run, first, said, command, beside)


def played_file(path: Path) -> str:
    """The player with the recorded execution in a file. Raises: TraceError."""
    return recording_page(read(path).execution, path.name)


def played_case(case: RecordedCase, title: str) -> str:
    """The player with a recorded case, which is run again, and the protocol in the same case, if it names one.

    Raises: as `rerun`.
    """
    protocol = None if case.protocol is None else named_protocol(case.protocol)
    outcome = rerun_against(case, protocol)
    faults = [
        Fault(one.kind, one.text, one.event_index, one.process, None if one.judged is None else one.judged.message)
        for one in outcome.findings
    ]
    named = named_by(case.system) if consequence(case.system) else ""
    if case.protocol is None:
        return case_page(outcome.execution, faults, None, title, named)
    again = replace(case, system=f"protocol:{case.protocol}", protocol=None, operations=outcome.operations)
    return case_page(outcome.execution, faults, rerun_against(again, None).execution, title, named)


def _page(run: Mapping[str, Any], at: int, said: str, command: str, beside: Mapping[str, Any] | None = None) -> str:
    return page(config_of_run(run, at, said, command, beside), title=f"{run['subject']}: Thence player")


def config_of_run(
    run: Mapping[str, Any], at: int, said: str, command: str, beside: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The configuration of the page with one run that has no source, at a step, with what is said of it."""
    summary = {"doc": "", "protocols": [], "machines": [], "theorems": [], "scenarios": [], "machine_mutants": []}
    kept = {
        "rules": Backend().about({})["rules"], "name": run["subject"], "text": "", "summary": summary, "judged": [],
        "properties": list(PROPERTIES.values()), "command": command, "run": run, "beside": beside, "said": said,
    }  # fmt: skip
    return {"mode": "kept", "name": run["subject"], "at": at, "start": {}, "command": command, "kept": kept}
