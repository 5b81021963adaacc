"""Scenarios as results: whether an execution is one of the protocol, and whether the assertions about it are true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.observability import unobservable
from thence.dsl.ir.properties import undefined
from thence.dsl.run.narrate import describe, execution, record, text
from thence.dsl.run.scenario import Played, in_words, play
from thence.proofs.scopes.reports import ORACLE_KINDS
from thence.proofs.scopes.scopes import LIVE
from thence.proofs.workload_facts import workload_facts
from thence.spec.diagram import draw_svg, draw_text, highlight_of
from thence.spec.events import Execution, Input
from thence.spec.oracle import Finding, Oracle
from thence.spec.verdict import Level, Result, Verdict


def play_scenario(scenario: ir.Scenario) -> tuple[Result, ...]:
    """Plays a scenario: one result about the execution itself, and one for each property that is expected of it.

    The execution `holds` if each step is possible, each assertion true, and no property that the protocol claims is
    violated without being expected to be. Undelivered messages at the end count only where `delivered` is expected.
    """
    played = play(scenario)
    violated = _violated(scenario, played)
    wanted = {name: expect.verdict for expect in scenario.expects for name in (expect.names or ("",))}
    return (
        _execution_result(scenario, played, violated, wanted),
        *(_property_result(scenario, played, violated, name, wanted[name]) for name in wanted if name),
    )


def missed(scenario: ir.Scenario) -> str:
    """The first expectation of a scenario that is not met, in words, or "": `play_scenario` without pictures."""
    played = play(scenario)
    violated = _violated(scenario, played)
    wanted = {name: expect.verdict for expect in scenario.expects for name in (expect.names or ("",))}
    whole = "refuted" if played.failure is not None or _surprises(scenario, violated, wanted) else "holds"
    if whole != wanted.get("", "holds"):
        where = f", line {played.failure.line}" if played.failure is not None else ""
        return f"{scenario.name} is {whole}{where}"
    for name, verdict in wanted.items():
        if name and (played.failure is not None or verdict != _judged(played, violated, name)[0].value):
            return f"{scenario.name}: {name} is not {verdict}"
    return ""


def _violated(scenario: ir.Scenario, played: Played) -> set[str]:
    """The properties and invariants that the execution violates."""
    reached = {*scenario.protocol.witnesses, *map(undefined, scenario.protocol.witnesses)}
    return {finding.property for finding in played.violated} - reached


def _judged(played: Played, violated: set[str], name: str) -> tuple[Verdict, str]:
    """The verdict on a property of the execution; where it is unknown, why."""
    if name in violated:
        return Verdict.REFUTED, ""
    if played.failure is not None:
        return Verdict.UNKNOWN, f"the execution is not one of the protocol: line {played.failure.line}"
    if name in played.open:
        return Verdict.UNKNOWN, "the execution ends before everything that can happen has happened"
    why = unobservable(played.system.protocol, name)
    return (Verdict.HOLDS, "") if why is None else (Verdict.UNKNOWN, why)


def _surprises(scenario: ir.Scenario, violated: set[str], wanted: Mapping[str, str]) -> list[str]:
    """The properties that the protocol claims and the execution violates, against the expectations of the file."""
    claimed = {
        *scenario.protocol.properties,
        *(one.name for one in (*scenario.protocol.invariants, *scenario.protocol.rest)),
        "fault",
    }
    return sorted((violated & claimed) - {*wanted})


def _execution_result(scenario: ir.Scenario, played: Played, violated: set[str], wanted: Mapping[str, str]) -> Result:
    surprises = _surprises(scenario, violated, wanted)
    facts = _facts(scenario, played, violated)
    said = ""
    if played.failure is not None:
        said = f"\n\nLine {played.failure.line}: {played.failure.why}."
        facts["line"] = played.failure.line
    elif surprises:
        said = f"\n\nViolated, and not expected to be: {', '.join(surprises)}."
    verdict = Verdict.REFUTED if said else Verdict.HOLDS
    facts["counterexample" if said else "steps"] = record(played.system, played.steps)
    shown, picture = _shown(scenario, played, surprises[0] if said and surprises else None)
    return Result(
        scenario.name, "scenario", scenario.subject, verdict, Level.L1, verdict.value == wanted.get("", "holds"),
        0.0, facts, shown + said, picture, Verdict(wanted[""]) if "" in wanted else None,
    )  # fmt: skip


def _property_result(scenario: ir.Scenario, played: Played, violated: set[str], name: str, wanted: str) -> Result:
    verdict, why = _judged(played, violated, name)
    facts = {"property": name, **_facts(scenario, played, violated), **({"unknown": why} if why else {})}
    facts["counterexample" if verdict is Verdict.REFUTED else "steps"] = record(played.system, played.steps)
    shown, picture = _shown(scenario, played, name if verdict is Verdict.REFUTED else None)
    if verdict is Verdict.REFUTED:
        finding = next(finding for finding in played.violated if finding.property == name)
        shown += f"\n\n{in_words(describe(finding), _called(scenario, played))}."
    return Result(
        f"{scenario.name}: {name}", "scenario", scenario.subject, verdict, Level.L1,
        verdict.value == wanted and played.failure is None, 0.0, facts, shown, picture, Verdict(wanted),
    )  # fmt: skip


def _called(scenario: ir.Scenario, played: Played) -> dict[str, str]:
    """The names of the scenario, by the names that a narration has."""
    processes = {f"p{number}": name for number, name in enumerate(scenario.processes)}
    return processes | {message.name: name for message, name in played.messages.items()}


def _facts(scenario: ir.Scenario, played: Played, violated: set[str]) -> dict[str, Any]:
    return {
        "scope": workload_facts(scenario.name, scenario.workload, scenario.protocol),
        "cast": list(scenario.processes),
        "messages": {name: message.name for message, name in played.messages.items()},
        "events": len(played.steps),
        "assertions": played.assertions,
        "violated": sorted(violated),
        "buffered": {name: list(interval) for name, interval in played.buffered.items()},
    }


def observed(scenario: ir.Scenario, played: Played) -> Execution:
    """The execution as an outside observer sees it, with the names of the scenario."""
    seen = execution(played.system, played.steps)
    names = _called(scenario, played)
    events = tuple(
        event if isinstance(event, Input) else replace(event, message=names[event.message]) for event in seen.events
    )
    asides = tuple(replace(aside, message=names.get(aside.message or "", aside.message)) for aside in seen.asides)
    return replace(seen, events=events, names=scenario.processes, asides=asides)


def _shown(scenario: ir.Scenario, played: Played, property_: str | None) -> tuple[str, str]:
    """The steps with a diagram for a reader, and the diagram as SVG; with a violation of the property brought out."""
    seen = observed(scenario, played)
    finding = None if property_ is None else _confirmed(seen, property_)
    highlight = None if finding is None else highlight_of(finding)
    parts = [text(played.steps)]
    if played.buffered:
        waits = ", ".join(f"{name} {_interval(*steps)}" for name, steps in played.buffered.items())
        parts.append(f"Buffered at the sender: {waits}.")
    if seen.events or seen.asides:
        parts.append(draw_text(seen, highlight))
    return "\n\n".join(parts), draw_svg(seen, highlight)


def _interval(sent: int, left: int | None) -> str:
    return f"from step {sent} on" if left is None else f"from step {sent} to {left}"


def _confirmed(seen: Execution, property_: str) -> Finding | None:
    """The finding of the oracle, which knows nothing of the protocol; None for properties that it does not judge."""
    kind = ORACLE_KINDS.get(property_)
    if kind is None:
        return None
    oracle = Oracle(seen.processes)
    found = [finding for event in seen.events for finding in oracle.observe(event)]
    if property_ == LIVE:
        found += oracle.at_quiescence()
    confirming = next((finding for finding in found if finding.kind == kind), None)
    assert confirming is not None, f"the oracle does not confirm the violation of {property_}"
    return confirming
