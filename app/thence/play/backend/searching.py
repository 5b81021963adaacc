"""The questions that take a search: a scope explored, a state looked for, a mutant beside the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from thence.api.exploring import explored
from thence.api.statements import Explored
from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.find import known_mutants, mutant_of_a_protocol
from thence.dsl.load import Loaded, load_bytes
from thence.dsl.run.actions import Action
from thence.dsl.run.narrate import record
from thence.dsl.run.system import System
from thence.play.backend.places import BadQuestion, number_of, target_of, text_of, texts_of
from thence.play.backend.summary import diagnostic
from thence.proofs.explore.exploration import Engine, Progress, Resources
from thence.proofs.scopes.scopes import Options
from thence.spec.verdict import Verdict
from thence.stepping.session import Session

MOST_STATES = 50_000_000
"""The largest limit that a question may name."""

MEMORY_BYTES = 2 * 2**30
"""The most that the states of a search take."""

Tell: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Is told how far a search is. It ends the search by raising KeyboardInterrupt."""


def options_of(asked: Mapping[str, Any], engine: Engine, tell: Tell) -> Options:
    """How to search: at most `limit` states."""
    limit = number_of(asked, "limit", 1, MOST_STATES, 1_000_000)

    def report(label: str, progress: Progress) -> None:
        tell(
            {
                "label": label,
                "states": progress.states,
                "transitions": progress.transitions,
                "depth": progress.depth,
                "frontier": progress.frontier,
                "expected_depth": progress.expected_depth,
            }
        )

    return Options(limit, report, engine, Resources(memory=MEMORY_BYTES, threads=1))


def explore(loaded: Loaded, asked: Mapping[str, Any], engine: Engine, tell: Tell) -> dict[str, Any]:
    """The verdicts on a protocol, or a mutant of it, in a scope; each counterexample as recorded steps."""
    content = _content(loaded)
    target = target_of(content, str(loaded.path), asked)
    found = explored([target], texts_of(asked, "properties"), options_of(asked, engine, tell))
    return {
        "complete": found.complete,
        "scope": target.scope,
        "subject": target.subject,
        "results": [result_document(each) for each in found],
    }


def result_document(found: Explored) -> dict[str, Any]:
    """A verdict, and the run that shows it, if there is one."""
    facts = found.facts
    return {
        "name": found.name,
        "subject": found.subject,
        "property": facts.get("property"),
        "verdict": found.verdict.value,
        "level": found.level.name,
        "expected": found.expected,
        "wanted": None if found.wanted is None else found.wanted.value,
        "states": facts.get("states"),
        "transitions": facts.get("transitions"),
        "depth": facts.get("depth"),
        "complete": facts.get("complete"),
        "seconds": round(found.seconds, 3),
        "engine": facts.get("engine"),
        "unknown": facts.get("unknown"),
        "not_tried": facts.get("not_tried", []),
        "timers": facts.get("timers"),
        "explanation": found.explanation,
        "steps": [dict(step) for step in found.steps],
        "lasso": facts.get("lasso"),
    }


def find(loaded: Loaded, asked: Mapping[str, Any], engine: Engine, tell: Tell) -> dict[str, Any]:
    """A shortest run to a state where a formula is true. Faults of the formula are diagnostics, columns from its start.

    The formula is put into the protocol as a `reachable` statement of its own, and means what it means there.
    """
    content = _content(loaded)
    formula = text_of(asked, "formula")
    if not formula or not formula.strip() or "\n" in formula or "#" in formula:
        raise BadQuestion("formula is not a line with a formula")
    target = target_of(content, str(loaded.path), asked)
    protocol = next(one for one in content.protocols if one.name == target.subject.partition("/")[0])
    name, again = _with_formula(loaded, protocol, formula.strip())
    own, faults = again.source.text.split("\n").index(_line(name, formula.strip())) + 1, []
    for each in again.diagnostics:
        if each.severity == "error":
            column = each.span.column - len(_line(name, "")) if each.span.line == own else 1
            faults.append({**diagnostic(each), "line": 1, "column": max(column, 1)})
    if again.specification is None:
        return {"diagnostics": faults}
    target = target_of(again.specification, str(loaded.path), asked)
    [result] = explored([target], (name,), options_of(asked, engine, tell))
    reached = result.verdict is Verdict.HOLDS
    said = "reached" if reached else "unreachable" if result.verdict is Verdict.REFUTED else "unknown"
    return {"diagnostics": [], "answer": said, "scope": target.scope, "result": result_document(result)}


def _line(name: str, formula: str) -> str:
    return f"  reachable {name}: {formula}"


def _with_formula(loaded: Loaded, protocol: ir.Protocol, formula: str) -> tuple[str, Loaded]:
    """The file with the formula as the last line of the protocol, and the name of the statement."""
    name = "asked_for"
    while name in loaded.source.text:
        name += "_"
    lines = loaded.source.text.split("\n")
    lines.insert(protocol.span.end_line, _line(name, formula))
    return name, load_bytes(Path(str(loaded.path)), "\n".join(lines).encode())


def compare(loaded: Loaded, asked: Mapping[str, Any], engine: Engine, tell: Tell) -> dict[str, Any]:
    """A mutant's shortest counterexample, and what the original does in the same steps, as far as they are possible.

    The scope is the one asked for, or the first in which something is expected to be refuted.
    """
    content = _content(loaded)
    name = text_of(asked, "mutant")
    if name is None:
        raise BadQuestion("no mutant is named")
    known_mutants(content, name)
    mutant = mutant_of_a_protocol(content, name)
    if mutant is None:
        raise BadQuestion(
            f"{name} is a mutant of a machine, which has no runs to show: thence prove {loaded.path} {name}"
        )
    place, properties = _where(mutant, name, asked)
    target = target_of(content, str(loaded.path), place)
    found = explored([target], properties, options_of(asked, engine, tell))
    shown = next((each for each in found if each.counterexample), None)
    results = [result_document(each) for each in found]
    if shown is None:
        return {"results": results, "mutant": None, "original": None}
    session = Session(target.subject, target.protocol, target.workload)
    session.follow(shown.steps)
    protocol = next(one for one in content.protocols if one.name == mutant.subject)
    original, why = alike(Session(protocol.name, protocol, target.workload), session)
    begun = {key: value for key, value in place.items() if key != "mutant"}
    return {
        "results": results,
        "property": shown.property_,
        "mutant": {"start": place, "steps": [dict(step) for step in shown.steps], "lasso": shown.facts.get("lasso")},
        "original": {"start": begun, "steps": original.recorded(), "stopped": why},
    }


def _where(mutant: ir.Mutant, name: str, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The scope that shows a mutant, and the properties that fail there."""
    chosen = {key: asked[key] for key in ("scope", "processes", "sends", "settings") if asked.get(key)}
    refuted = [one for one in mutant.expects if one.verdict == "refuted" and {*one.names} - {"link"}]
    if chosen or not refuted:
        return {"mutant": name, **chosen}, ()
    first = refuted[0]
    names = tuple(each for each in first.names if each != "link")
    if first.scope is not None:
        return {"mutant": name, "scope": first.scope}, names
    assert first.settings is not None and isinstance(mutant.mutated, ir.Protocol)
    lines = list(lines_of(first.settings, kind_of(mutant.mutated)))
    return {"mutant": name, "processes": first.settings.processes, "settings": lines}, names


def alike(session: Session, model: Session) -> tuple[Session, str]:
    """Goes the steps of another run as far as they are possible: the same packets arrive, whatever else they say.

    Returns the run, and why it ends where it ends; empty where it is as long as the other one.
    """
    for number, step in enumerate(model.steps, 1):
        wanted = _shape(model.system, step.action)
        choices = [each for each in session.choices if _shape(session.system, each.step.action) == wanted]
        if not choices:
            return session, f"step {number} is not possible here: {step.title}"
        [entry] = record(model.system, [step])
        exact = [each for each in choices if record(session.system, [each.step]) == [entry]]
        session.take((exact or choices)[0].number)
    return session, ""


def _shape(system: System, action: Action) -> tuple[object, ...]:
    if action.packet < 0:
        return (action.kind, action.process, action.destinations, action.reactions)
    packet = system.packet(action.packet)
    carried = system.carried(packet)
    named = None if carried is None else carried.name
    return (action.kind, action.process, packet.kind, packet.src, packet.dst, named, action.reactions)


def _content(loaded: Loaded) -> ir.Specification:
    if loaded.specification is None:
        raise BadQuestion("the text has errors")
    return loaded.specification
