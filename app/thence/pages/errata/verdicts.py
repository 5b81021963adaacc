"""The statements that the errata rest on, checked; the record that is kept of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from thence.dsl import ir
from thence.dsl.load import load, locate
from thence.pages.errata.fault import Errata, Statement
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.scenarios import play_scenario
from thence.proofs.scopes.scopes import check_mutant, explore_scope
from thence.proofs.solving.discharge import Options as ProofOptions
from thence.spec.verdict import Result

Report = Callable[[str], None]
"""Called with a line on the next check."""

KEPT: Final = ("states", "obligations", "engine", "lasso")
"""The facts of a result that the page shows."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The record of a result: JSON values, and the picture."""

    record: Mapping[str, Any]
    picture: str


def sources_of(errata: Errata) -> dict[str, str]:
    """The SHA-256 of each library file with a statement of the errata: verdicts and counts are about this text."""
    files = sorted({one.file for one in errata.statements})
    return {file: sha256(locate(file).read_bytes()).hexdigest() for file in files}


def check(wanted: Iterable[Statement], report: Report | None = None) -> dict[str, Checked]:
    """Checks the statements; by key.

    Raises:
        LookupError: if the library does not state one of them.
    """
    wanted = tuple(wanted)
    found: dict[str, Checked] = {}
    for file in dict.fromkeys(one.file for one in wanted):
        here = [one for one in wanted if one.file == file]
        specification = load(file).specification
        assert specification is not None, file
        if report is not None:
            report(f"{file}: {len(here)} statements")
        results = {(one.kind, one.subject, one.name): one for one in _results(specification, here)}
        for statement in here:
            result = results.get((statement.kind, statement.subject, statement.name))
            if result is None:
                raise LookupError(f"the library does not state {statement.key}")
            found[statement.key] = _checked(result)
    return found


def _results(specification: ir.Specification, wanted: list[Statement]) -> Iterator[Result]:
    """The results of the runs and proofs behind the statements of one file."""
    scopes = {one.name.partition(": ")[0] for one in wanted if one.kind == "scope"}
    for scope in specification.scopes:
        if scope.name in scopes:
            protocol = next(known for known in specification.protocols if known.name == scope.protocol)
            yield from explore_scope(protocol, scope.name, scope.workload, scope.expects)
    played = {one.name.partition(": ")[0] for one in wanted if one.kind == "scenario"}
    for scenario in specification.scenarios:
        if scenario.name in played:
            yield from play_scenario(scenario)
    changed = {one.subject for one in wanted if one.kind == "mutant"}
    for mutant in specification.mutants:
        if isinstance(mutant.mutated, ir.Protocol) and f"{mutant.subject}/{mutant.name}" in changed:
            yield from check_mutant(specification, mutant)
    names = dict.fromkeys(_provable(one) for one in wanted)
    proved = tuple(name for name in names if name is not None)
    if proved:
        yield from prove_specification(specification, proved, ProofOptions(workers=2), None)


def _provable(statement: Statement) -> str | None:
    """The statement's name for `prove`; None for a statement that it does not prove."""
    match statement.kind:
        case "theorem" | "machine":
            return statement.name
        case "mutant" if "/" not in statement.subject:
            return statement.name.partition(": ")[0]
        case _:
            return None


def _checked(result: Result) -> Checked:
    facts: dict[str, Any] = {name: result.facts[name] for name in KEPT if name in result.facts}
    run = result.facts.get("counterexample")
    if isinstance(run, list):
        facts["steps"] = len(run)
    record = {
        "verdict": result.verdict.value,
        "level": result.level.name,
        "expected": result.expected,
        **facts,
        "explanation": "\n".join(line.rstrip() for line in result.explanation.strip("\n").splitlines()),
    }
    return Checked(record, result.picture)
