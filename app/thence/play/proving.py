"""Proofs in the player: the verdict on each statement, and a countermodel or a failing induction step as a run.

A counterexample to induction is a state that all conjuncts allow, and one step. The run that is shown is the history of
that state, then the step: the pictures before and after it are those of its last two positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from thence.dsl.find import known
from thence.dsl.load import Loaded
from thence.play.backend.places import BadQuestion, text_of
from thence.play.backend.searching import Tell
from thence.play.recording import Fault, Shown, document
from thence.proofs.prove import provable_names, prove_specification
from thence.proofs.solving.answer_cache import FOLDER
from thence.proofs.solving.discharge import Options, ProofProgress
from thence.spec.cache_folder import cache_folder
from thence.spec.events import Deliver, Event, Execution, Send
from thence.spec.verdict import Result
from thence.spec.words import counted

_EVENTS: Final = ("causal_send(", "deliver(")
"""How the names of transitions begin that are events of an execution."""


def prove(loaded: Loaded, asked: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The verdicts on a theorem, a machine or a mutant of one, by name."""
    content = loaded.specification
    name = text_of(asked, "name")
    if content is None or name is None:
        raise BadQuestion("the text has errors" if name else "no theorem or machine is named")
    names = [*provable_names(content), *(one.name for one in content.mutants)]
    known(name, names, "theorem or machine")

    def report(progress: ProofProgress) -> None:
        tell({"said": f"{progress.subject}, {progress.statement}: {progress.done} of {progress.total} obligations"})

    results = prove_specification(content, (name,), Options(cache=cache_folder(FOLDER)), report)
    return {"results": [result_document(each) for each in results]}


def result_document(result: Result) -> dict[str, Any]:
    """A verdict, and what refutes it as a run of the player, if it has a picture."""
    found = result.facts.get("counterexample")
    return {
        "name": result.name,
        "subject": result.subject,
        "verdict": result.verdict.value,
        "level": result.level.name,
        "expected": result.expected,
        "unknown": result.facts.get("unknown"),
        "explanation": result.explanation,
        "run": run_of(result.name, found) if isinstance(found, Mapping) else None,
    }


def run_of(name: str, found: Mapping[str, Any]) -> dict[str, Any] | None:
    """A counterexample of a machine or a theorem as a run; None where it is no execution."""
    executed = found if found.get("kind") == "execution" else found.get("execution")
    if not isinstance(executed, Mapping) or not executed["events"]:
        return None
    execution = Execution(executed["processes"], tuple(map(_event, executed["events"])))
    run = document(Shown(execution, tuple(range(len(execution.events)))), (), name)
    run["words"] = f"{counted(execution.processes, 'process')}: a countermodel, evaluated again"
    steps = [{**step, "title": step["title"].partition(": ")[2]} for step in run["steps"]]
    match found.get("kind"):
        case "induction":
            steps = _before_and_after(steps, found)
        case "run":
            steps = _with_changes(steps, found.get("steps", ()))
        case _:
            pass
    wrong = _said(found)
    if wrong and steps:
        last = steps[-1]
        fault = Fault(wrong[0], wrong[1], len(steps) - 1, 0)
        last["violations"] = [{"property": fault.property, "claimed": True, "text": fault.text, "process": None}]
        last["details"] = [*last["details"], f"VIOLATES {fault.property}: {fault.text}"]
    return {**run, "steps": steps, "frozen": True, "since": 0, "packets": _renumbered(run["packets"], steps)}


def _event(entry: Mapping[str, Any]) -> Event:
    if entry["event"] == "send":
        return Send(entry["process"], entry["message"], tuple(entry["destinations"]))
    return Deliver(entry["process"], entry["message"])


def _before_and_after(steps: list[dict[str, Any]], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The history, then the step; the last position before it has the state that the conjuncts allow."""
    call = str(found["transition"])
    is_event = call.startswith(_EVENTS)
    history, step = (steps[:-1], steps[-1]) if is_event else (steps, _other(call))
    before = [f"before: {fact}" for fact in found["before"]] or ["before: nothing has happened"]
    if history:
        history = [*history[:-1], {**history[-1], "details": [*history[-1]["details"], *before]}]
        before = []
    after = [f"changes: {change}" for change in found["changes"]] or ["nothing changes"]
    return [*history, {**step, "title": f"the step that breaks it: {call}", "details": [*before, *after]}]


def _with_changes(steps: Sequence[dict[str, Any]], told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The steps of the machine; those that are events of the execution have them."""
    events = iter(steps)
    found = []
    for each in told:
        call = str(each["step"])
        event = next(events, None) if call.startswith(_EVENTS) else None
        found.append({**(event or _other(call)), "title": call, "details": list(each["changes"])})
    return found


def _other(call: str) -> dict[str, Any]:
    """A step that an observer does not see."""
    trail: dict[str, Any] = {"handler": None, "lines": [], "decisions": [], "fault": ""}
    shown: dict[str, Any] = {"title": call, "kind": "event", "process": None, "details": [], "events": []}
    return {**shown, "recorded": {}, "trail": trail}


def _said(found: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is false at the end, and of what."""
    if found.get("kind") == "induction":
        return str(found["conjunct"]), f"false{_instance(found.get('instance') or {})}, so it is not inductive"
    violated = found.get("violated")
    if isinstance(violated, Mapping) and violated:
        name, instance = next(iter(violated.items()))
        return str(name), f"false{_instance(instance if isinstance(instance, Mapping) else {})}"
    return None


def _instance(instance: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name} = {value}" for name, value in instance.items())
    return f" with {shown}" if shown else ""


def _renumbered(packets: Sequence[Sequence[Any]], steps: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """The packets, by the numbers of the steps instead of those of the events."""
    numbers = [number for number, step in enumerate(steps, 1) if step["events"]]
    return [
        [*packet[:4], numbers[packet[4] - 1], None if packet[5] is None else numbers[packet[5] - 1], *packet[6:]]
        for packet in packets
    ]
