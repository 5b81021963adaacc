"""Bounded model checking of what a file states, as results."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thence.dsl import ir
from thence.dsl.run.narrate import record
from thence.proofs.bounded.machine import Reach, bounded_statements, check_machine
from thence.proofs.bounded.search import Bounded, BoundedProgress, search
from thence.proofs.machine.prover import stating
from thence.proofs.prove import expected_names, solver_pool
from thence.proofs.scopes.refutable import cannot_refute
from thence.proofs.scopes.reports import explain
from thence.proofs.scopes.untried import not_tried
from thence.proofs.solving.assessment import unknown
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.workload_facts import workload_facts
from thence.spec.verdict import Kind, Level, Result, Verdict
from thence.spec.words import counted

Report = Callable[[str, BoundedProgress], None]
"""Called with the name of the search, and its progress."""


@dataclass(frozen=True, slots=True)
class Case:
    """A protocol, or a mutant of it, in a workload: `scope` is its name, `properties` are judged."""

    subject: str
    protocol: ir.Protocol
    scope: str | None
    workload: ir.Workload
    expects: tuple[ir.Expectation, ...]
    properties: tuple[str, ...]


def machine_results(
    machine: ir.Machine,
    subject: str,
    expects: Sequence[ir.Expectation],
    names: Collection[str],
    reach: Reach,
    options: Options,
) -> Iterator[Result]:
    """One result per statement of a machine, or of a mutant of it (`SUBJECT/MUTANT`).

    Without names: its invariants and properties, or of a mutant the statements that its expectations name.
    """
    machine = stating(machine, (*names, *expected_names(expects)))
    stated = bounded_statements(machine)
    mutant = "/" in subject
    asked = names or (expected_names(expects) if mutant else stated)
    started = time.monotonic()
    with solver_pool(options) as pool:
        session = ProofSession(pool, options)
        assessments = check_machine(session, machine, [name for name in stated if name in asked], reach)
    share = (time.monotonic() - started) / max(1, len(assessments))
    kind: Kind = "mutant" if mutant else "machine"
    for name, assessment in assessments.items():
        wanted = _wanted(expects, name)
        if assessment.verdict is Verdict.HOLDS and wanted is Verdict.REFUTED:
            assessment = unknown(_deeper(reach.depth), assessment.facts)
        yield Result(
            name,
            kind,
            subject,
            assessment.verdict,
            assessment.level,
            _as_wanted(assessment.verdict, wanted or Verdict.PROVED),
            share,
            assessment.facts,
            assessment.text,
            assessment.picture,
            wanted,
        )


def protocol_results(
    case: Case, depth: int, timeout_ms: int, report: Report | None = None
) -> tuple[tuple[Result, ...], bool]:
    """One result per property of a protocol in a scope, and whether it was interrupted."""
    label = f"{case.subject} {case.scope or 'scope'}"
    progress = None if report is None else (lambda made: report(label, made))
    found = search(case.protocol, case.workload, case.properties, depth, timeout_ms=timeout_ms, progress=progress)
    return tuple(_property_result(case, name, found, depth) for name in case.properties), found.interrupted


def _property_result(case: Case, name: str, found: Bounded, depth: int) -> Result:
    facts: dict[str, Any] = {
        "property": name,
        "scope": workload_facts(case.scope, case.workload, case.protocol),
        "bound": {
            "steps": depth,
            "slots": found.bounds.slots,
            "iterations": found.bounds.iterations,
            "number": found.bounds.number,
        },
        "gates": found.gates,
    }
    untried = not_tried(case.protocol, case.workload)
    facts |= {"not_tried": list(untried)} if untried else {}
    picture = ""
    wanted = _wanted(case.expects, name)
    violation = found.violations.get(name)
    if violation is not None:
        verdict = Verdict.REFUTED
        facts |= {"depth": len(violation.steps), "counterexample": record(violation.system, violation.steps)}
        said, picture = explain(violation)
    elif name in found.undecided:
        verdict, said = Verdict.UNKNOWN, found.undecided[name]
        facts["unknown"] = said
    elif wanted is Verdict.REFUTED and not found.ended:
        verdict, said = Verdict.UNKNOWN, _deeper(depth)
        facts["unknown"] = said
    else:
        verdict = Verdict.HOLDS
        weak = cannot_refute(case.workload, name)
        facts |= {"cannot_refute": weak} if weak else {}
        facts |= {"depth": found.depth, "complete": found.ended}
        ended = "; every run has ended by then" if found.ended else ""
        said = f"no violation within {counted(depth, 'step')}{ended}"
    kind: Kind = "mutant" if "/" in case.subject else "scope"
    expected = _as_wanted(verdict, wanted or Verdict.HOLDS)
    label = f"{case.scope or 'scope'}: {name}"
    return Result(label, kind, case.subject, verdict, Level.L1, expected, found.seconds, facts, said, picture, wanted)


def _deeper(depth: int) -> str:
    """Why nothing is said where the file states a violation, and none was found within so many steps."""
    return f"no violation within {counted(depth, 'step')}; the one that the file states may take more: --depth"


def _wanted(expects: Sequence[ir.Expectation], name: str) -> Verdict | None:
    """The verdict that the file states of a statement; None where it states none."""
    named = (Verdict(expect.verdict) for expect in expects if name in expect.names)
    whole = (Verdict(expect.verdict) for expect in expects if not expect.names)
    return next(named, next(whole, None))


def _as_wanted(verdict: Verdict, wanted: Verdict) -> bool:
    """Whether the verdict is the expected one. `holds` within some steps agrees with an expected `proved`."""
    return verdict is wanted or (verdict is Verdict.HOLDS and wanted is Verdict.PROVED)
