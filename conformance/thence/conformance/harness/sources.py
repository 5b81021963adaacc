"""Schedules from elsewhere: whatever a file has of executions, as what the guided scheduler starts from.

A file is what any command printed with `--json` (countermodels of `prove`, runs of machines, counterexamples of
`explore` and `bmc` to protocols, failures of `conform`), a recorded case, a corpus, or a recorded execution in any of
the formats of `thence trace`. `PROVER` in place of a file asks the prover for countermodels to what the specification
itself refutes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from thence.conformance.cases.recorded_case import FORMAT as RECORDED
from thence.conformance.cases.recorded_case import read_case
from thence.conformance.cases.schedule import Schedule, ScheduleError
from thence.conformance.harness.distinguishing import distinguishing, schedule_of
from thence.conformance.harness.guided import Corpus, Script, script_of
from thence.conformance.traces.reading import read
from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import Unsettled, workload_of
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import ReplayError, execution, replay
from thence.proofs.prove import prove_specification
from thence.spec.events import Deliver, Event, Execution, Send
from thence.spec.json_objects import json_value
from thence.spec.trace import TraceError

PROVER: Final = "prover"

_DEPTH: Final = 40
"""How deep results are looked into."""


def known_schedules(
    specification: ir.Specification | None, protocol: ir.Protocol | None, sources: Iterable[str]
) -> Corpus:
    """What a run starts from: the counterexamples to the protocol's mutants, if there is one, and these sources.

    Raises: as `schedules_from`.
    """
    found = Corpus()
    if specification is not None and protocol is not None:
        found = distinguishing(specification, protocol)
    for source in sources:
        found += schedules_from(source, specification)
    return found


def schedules_from(source: str, specification: ir.Specification | None) -> Corpus:
    """The executions of a file, or of the prover. The specification is that of the protocol, for steps of protocols.

    Raises:
        ScheduleError: it has none, or they need a specification that is not there or does not fit.
        TraceError: it is none of these files.
        OSError: it cannot be read.
    """
    if source == PROVER:
        found = _proved(specification)
    elif (value := _json(Path(source))) is None:
        found = Corpus((script_of(read(source).execution),))
    elif isinstance(value, dict) and value.keys() == {"scripts", "schedules"}:
        found = Corpus.from_json(value)
    else:
        scripts: dict[Script, None] = {}
        schedules: dict[Schedule, None] = {}
        for each in _found(value, specification):
            (scripts if _is_script(each) else schedules)[each] = None
        found = Corpus(tuple(filter(None, scripts)), tuple(filter(None, schedules)))
        if not found:
            found = _as_trace(source)
    if not found:
        raise ScheduleError(f"{source} has no execution: neither a counterexample nor a recorded case or trace")
    return found


def _as_trace(source: str) -> Corpus:
    """Some formats of traces are JSON, too; what is none has nothing for us."""
    try:
        return Corpus(tuple(filter(None, [script_of(read(source).execution)])))
    except TraceError:
        return Corpus()


def _proved(specification: ir.Specification | None) -> Corpus:
    """Countermodels to theorems and mutants of machines, as far as the file expects them."""
    if specification is None:
        raise ScheduleError(f"{PROVER}: name a protocol, whose file has something to prove")
    names = [theorem.name for theorem in specification.theorems]
    names += [mutant.name for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine)]
    results = prove_specification(specification, names) if names else ()
    facts = [dict(result.facts) for result in results]
    return Corpus(tuple(filter(None, dict.fromkeys(each for each in _found(facts, None) if _is_script(each)))))


def _json(path: Path) -> Any:
    """The one JSON value in the file; None where there is none."""
    try:
        return json_value(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None


def _found(value: Any, specification: ir.Specification | None, depth: int = 0) -> Iterator[Any]:
    """All scripts and schedules somewhere in a JSON value."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _found(item, specification, depth + 1)
    elif isinstance(value, Mapping):
        steps = value.get("counterexample")
        if value.get("format") == RECORDED:
            yield read_case(json.dumps(value)).operations
        elif isinstance(value.get("events"), list) and isinstance(value.get("processes"), int):
            yield _script(value["processes"], value["events"])
        elif isinstance(steps, list) and isinstance(value.get("scope"), Mapping):
            yield from _replayed(str(value.get("subject")), value["scope"], steps, specification)
        else:
            for item in value.values():
                yield from _found(item, specification, depth + 1)


def _script(processes: int, entries: list[Any]) -> Script:
    events: list[Event] = []
    for entry in entries:
        match entry:
            case {"event": "send", "process": int(process), "message": str(message), "destinations": list(to)} if (
                0 <= process < processes and all(type(one) is int and 0 <= one < processes for one in to)
            ):
                events.append(Send(process, message, tuple(to)))
            case {"event": "deliver", "process": int(process), "message": str(message)} if 0 <= process < processes:
                events.append(Deliver(process, message))
            case _:
                continue
    return script_of(Execution(processes, tuple(events)))


def _replayed(
    subject: str, scope: Mapping[str, Any], steps: list[Any], specification: ir.Specification | None
) -> Iterator[Any]:
    """A counterexample of the explorer to a protocol, run again: as a script and as a schedule."""
    protocol = None if specification is None else _protocol(subject, specification)
    if protocol is None:
        raise ScheduleError(f"the steps are of {subject}: name the file that has it as the protocol")
    system = system_of(protocol, _workload(scope, protocol))
    try:
        taken = replay(system, steps)
    except (ReplayError, TypeError, KeyError, AttributeError) as error:
        raise ScheduleError(f"the steps of {subject} do not fit its text: {error}") from error
    yield script_of(execution(system, taken))
    yield schedule_of(system, taken)


def _protocol(subject: str, specification: ir.Specification) -> ir.Protocol | None:
    name, _, mutant = subject.partition("/")
    if not mutant:
        return next((protocol for protocol in specification.protocols if protocol.name == name), None)
    for known in specification.mutants:
        if (known.subject, known.name) == (name, mutant) and isinstance(known.mutated, ir.Protocol):
            return known.mutated
    return None


def _workload(scope: Mapping[str, Any], protocol: ir.Protocol) -> ir.Workload:
    """The scope that results name by its settings."""
    lines = scope.get("settings")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ScheduleError("the scope of the steps cannot be read: it has no settings")
    try:
        return workload_of(lines, kind_of(protocol))
    except Unsettled as error:
        raise ScheduleError(f"the scope of the steps cannot be read: {error}") from error


def _is_script(found: Any) -> bool:
    """Steps of scripts are plain tuples, operations of schedules are not."""
    return bool(found) and isinstance(found[0], tuple)
