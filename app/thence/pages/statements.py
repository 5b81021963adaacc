"""The statements of a library file, in sections: one for each declaration, with its documentation and its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import VACUITY
from thence.proofs.prove import expected_names, provable_names
from thence.spec.words import counted

Key = tuple[str, str, str]
"""Kind, subject, name of a result."""


@dataclass(frozen=True, slots=True)
class Section:
    """The statements of one declaration of a file; `doc` is its documentation, which cites its source."""

    title: str
    doc: str
    rows: tuple[Mapping[str, Any], ...]


def by_key(results: Iterable[Mapping[str, Any]]) -> dict[Key, Mapping[str, Any]]:
    """The results, the last one of each statement."""
    return {(result["kind"], result["subject"], result["name"]): result for result in results}


def sections(specification: ir.Specification, known: Mapping[Key, Mapping[str, Any]]) -> Iterator[Section]:
    """The sections of a file, in its order of kinds; a declaration without results has none."""
    for theory in specification.theories:
        theorems = {theorem.name: theorem for theorem in specification.theorems if theorem.theory.name == theory.name}
        found = [row for row in _about(known, "theorem", theory.name) if row["name"] in theorems]
        documented = [{**row, "doc": one_line(theorems[row["name"]].doc)} for row in found]
        yield from _section(f"theory {theory.name}", theory.doc, documented)
    for machine in specification.machines:
        names = {*_machine_names(machine)}
        rows = [row for row in _about(known, "machine", machine.name) if row["name"] in names]
        yield from _section(f"machine {machine.name}", machine.doc, rows)
    for protocol in specification.protocols:
        own = {scope.name for scope in specification.scopes if scope.protocol == protocol.name}
        rows = [row for row in _about(known, "scope", protocol.name) if not own or row["name"].split(": ")[0] in own]
        yield from _section(f"protocol {protocol.name}", protocol.doc, rows)
    for link in specification.links:
        name = f"{link.protocol.name} to {link.machine.name}"
        yield from _section(f"conforms {name}", link.doc, _about(known, "link", name))
    for scenario in specification.scenarios:
        rows = [row for row in _about(known, "scenario", scenario.subject) if _of_scenario(row, scenario.name)]
        yield from _section(f"scenario {scenario.name} of {scenario.subject}", scenario.doc, rows)
    for mutant in specification.mutants:
        named = f"{mutant.subject}/{mutant.name}"
        of_machine = isinstance(mutant.mutated, ir.Machine)
        rows = (
            [row for row in _about(known, "mutant", mutant.subject) if row["name"].partition(": ")[0] == mutant.name]
            if of_machine
            else _about(known, "mutant", named)
        )
        yield from _section(f"mutant {mutant.name} of {mutant.subject}", mutant.doc, rows)


def _of_scenario(result: Mapping[str, Any], name: str) -> bool:
    return str(result["name"]).partition(": ")[0] == name


def stated(specification: ir.Specification) -> set[str]:
    """The entries that a page needs for a file, as section and statement; of bounded statements the sections alone."""
    found = {f"theory {theorem.theory.name}: {theorem.name}" for theorem in specification.theorems}
    for machine in specification.machines:
        names = {*provable_names(specification)} & {*_machine_names(machine)}
        found |= {f"machine {machine.name}: {name}" for name in names}
    found |= {f"protocol {scope.protocol}" for scope in specification.scopes}
    found |= {f"conforms {link.protocol.name} to {link.machine.name}" for link in specification.links}
    found |= {f"scenario {scenario.name} of {scenario.subject}" for scenario in specification.scenarios}
    return found | {f"mutant {mutant.name} of {mutant.subject}" for mutant in specification.mutants if mutant.expects}


def _machine_names(machine: ir.Machine) -> Iterator[str]:
    from thence.proofs.machine.prover import statements
    from thence.proofs.machine.steps.prover import step_statements

    yield from statements(machine)
    yield from step_statements(machine)
    yield from expected_names(machine.expects)
    yield VACUITY


def _about(known: Mapping[Key, Mapping[str, Any]], kind: str, subject: str, name: str | None = None) -> list[Any]:
    return [result for key, result in known.items() if key[:2] == (kind, subject) and (name is None or key[2] == name)]


def _section(title: str, doc: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Section]:
    if rows:
        yield Section(title, doc, tuple(rows))


def details(result: Mapping[str, Any]) -> str:
    """The documentation, assumptions and counts of a result, in one line."""
    parts: list[str] = [result["doc"]] if result.get("doc") else []
    for assumption in result.get("assumptions", ()):
        needed = {True: "needed", False: "not needed", None: "not known to be needed"}[assumption["needed"]]
        parts.append(f"assumes {assumption['name']} ({needed})")
    if "states" in result:
        parts.append(counted(result["states"], "state"))
    if "obligations" in result and result["verdict"] == "proved":
        parts.append(counted(result["obligations"], "obligation"))
    if "depth" in result and result["verdict"] == "refuted":
        parts.append(f"counterexample of {counted(result['depth'], 'step')}")
    if "unknown" in result:
        parts.append(str(result["unknown"]))
    return "; ".join(parts)


def one_line(doc: str) -> str:
    """Documentation as one paragraph of Markdown."""
    return " ".join(doc.split()).replace("|", "/").replace("<", "&lt;")
