"""A file as the player shows it: its faults, and what it declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thence.dsl import ir
from thence.dsl.find import mutants_named
from thence.dsl.load import Loaded
from thence.dsl.text.diagnostics import Diagnostic
from thence.proofs.workload_words import describe


def diagnostic(found: Diagnostic) -> dict[str, Any]:
    """A fault of the text, with its place."""
    return {
        "severity": found.severity,
        "code": found.code,
        "message": found.message,
        "line": found.span.line,
        "column": found.span.column,
        "end_line": found.span.end_line,
        "end_column": found.span.end_column,
        "notes": list(found.notes),
    }


def summary(loaded: Loaded) -> dict[str, Any] | None:
    """What a file declares, in the order of its text; None where it has errors."""
    content = loaded.specification
    if content is None:
        return None
    return {
        "doc": content.doc,
        "protocols": [_protocol(content, one) for one in content.protocols],
        "machines": [_declared(one) for one in content.machines],
        "theorems": [_declared(one) for one in content.theorems],
        "scenarios": [_scenario(one) for one in content.scenarios],
        "machine_mutants": [_declared(one) for one in content.mutants if isinstance(one.mutated, ir.Machine)],
    }


def _declared(one: ir.Machine | ir.Theorem | ir.Protocol | ir.Scope | ir.Mutant | ir.Scenario) -> dict[str, Any]:
    return {"name": one.name, "doc": one.doc, "line": one.span.line}


def _protocol(content: ir.Specification, protocol: ir.Protocol) -> dict[str, Any]:
    return {
        **_declared(protocol),
        "scopes": [_scope(one) for one in content.scopes if one.protocol == protocol.name],
        "mutants": [
            _mutant(content, one)
            for one in content.mutants
            if isinstance(one.mutated, ir.Protocol) and one.subject == protocol.name
        ],
        "properties": [*protocol.properties, *protocol.liveness, *(one.name for one in protocol.rest)],
        "invariants": [one.name for one in protocol.invariants],
    }


def _scope(scope: ir.Scope) -> dict[str, Any]:
    return {
        **_declared(scope),
        "words": describe(scope.workload),
        "ends": scope.workload.ends,
        "expects": list(_expectations(scope.expects)),
    }


def _mutant(content: ir.Specification, mutant: ir.Mutant) -> dict[str, Any]:
    """Named with its protocol where another protocol has a mutant of this name."""
    alike = [one for one in mutants_named(content, mutant.name) if isinstance(one.mutated, ir.Protocol)]
    name = mutant.name if len(alike) == 1 else f"{mutant.subject}/{mutant.name}"
    return {**_declared(mutant), "name": name, "expects": list(_expectations(mutant.expects))}


def _scenario(scenario: ir.Scenario) -> dict[str, Any]:
    return {**_declared(scenario), "subject": scenario.subject, "expects": list(_expectations(scenario.expects))}


def _expectations(expects: tuple[ir.Expectation, ...]) -> Iterator[dict[str, Any]]:
    for expect in expects:
        words = "" if expect.settings is None else describe(expect.settings)
        yield {"verdict": expect.verdict, "names": list(expect.names), "scope": expect.scope, "words": words}
