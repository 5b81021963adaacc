"""Everything that a file states for any number of processes: theorems, machines, mutants of machines, as results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from whence.dsl import ir
from whence.proofs.discharge import Note, Options, Progress
from whence.proofs.formula import Unsupported
from whence.proofs.machine_prover import (
    Finding,
    prove_machine,
    proved_conjuncts,
    refuted,
    search_violations,
    statements,
    unknown,
)
from whence.proofs.solver import SolverPool
from whence.proofs.theory_prover import prove_theorem
from whence.proofs.vacuity import check_vacuity
from whence.spec.verdict import Result, Verdict

VACUITY = "vacuity"
"""The name under which it is reported whether every transition can happen."""

Report = Callable[[Progress], None]


class UnknownName(ValueError):
    """A name that the file does not state anything unbounded under; the message lists those that it has."""


def prove_specification(
    specification: ir.Specification,
    names: Sequence[str] = (),
    options: Options | None = None,
    progress: Report | None = None,
) -> tuple[Result, ...]:
    """The results of a file's theorems, machines and mutants of machines, in the file's order.

    Args:
        names: theorems, machines, mutants of machines, or statements of machines; none means all. A statement
            is proved with its whole machine, and its result alone is returned.

    Raises:
        UnknownName: for a name that is none of these.
        CrossCheckError: where a solver and the evaluator disagree about a finite model: a defect of ours.
    """
    return tuple(results(specification, names, options or Options(), progress))


def results(
    specification: ir.Specification, names: Sequence[str], options: Options, progress: Report | None = None
) -> Iterator[Result]:
    """The results one by one, as they come: what `prove_specification` collects."""
    machines = [mutant for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine)]
    _check_names(specification, machines, names)
    with SolverPool(options.workers) as pool:
        for theorem in specification.theorems:
            if not names or theorem.name in names:
                note = _note(progress, theorem.theory.name, theorem.name)
                yield prove_theorem(pool, theorem, options, note)
        for machine in specification.machines:
            wanted = _wanted(machine, names)
            if wanted:
                yield from _machine_results(pool, machine, wanted, options, progress)
        for mutant in machines:
            if not names or mutant.name in names:
                yield from _mutant_results(pool, mutant, options, progress)


def provable_names(specification: ir.Specification) -> tuple[str, ...]:
    """What `names` may contain."""
    found: list[str] = [theorem.name for theorem in specification.theorems]
    for machine in specification.machines:
        found.extend((machine.name, *statements(machine), VACUITY))
    found.extend(mutant.name for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine))
    return tuple(dict.fromkeys(found))


def _check_names(specification: ir.Specification, machines: Sequence[ir.Mutant], names: Sequence[str]) -> None:
    known = provable_names(specification)
    for name in names:
        if name not in known:
            listed = ", ".join(known) or "nothing"
            raise UnknownName(f"{specification.file} states nothing named {name} to prove; it states {listed}")


def _note(progress: Report | None, subject: str, statement: str) -> Note | None:
    if progress is None:
        return None
    report = progress
    return lambda done, total: report(Progress(subject, statement, done, total))


def _wanted(machine: ir.Machine, names: Sequence[str]) -> tuple[str, ...]:
    everything = (*statements(machine), VACUITY)
    if not names or machine.name in names:
        return everything
    return tuple(name for name in everything if name in names)


def _machine_results(
    pool: SolverPool, machine: ir.Machine, wanted: Sequence[str], options: Options, progress: Report | None
) -> Iterator[Result]:
    started = time.monotonic()
    findings, inductive = prove_machine(pool, machine, options, _note(progress, machine.name, "invariants"))
    middle = time.monotonic()
    share = (middle - started) / len(findings)
    for name, finding in findings.items():
        if name in wanted:
            yield _result(machine, name, finding, _expectation(machine, name), share)
    if VACUITY in wanted:
        known = proved_conjuncts(machine, inductive) if inductive is not None else ()
        finding = check_vacuity(pool, machine, known, options)
        yield _result(machine, VACUITY, finding, Verdict.PROVED, time.monotonic() - middle)


def _result(machine: ir.Machine, name: str, finding: Finding, wanted: Verdict, seconds: float) -> Result:
    expected = finding.verdict is wanted
    return Result(
        name, "machine", machine.name, finding.verdict, finding.level, expected, seconds, finding.facts, finding.text
    )


def _expectation(machine: ir.Machine, name: str) -> Verdict:
    """The verdict that the file expects of a statement; without a word, `proved`."""
    wanted = Verdict.PROVED
    for expectation in machine.expects:
        if not expectation.names or name in expectation.names:
            wanted = Verdict(expectation.verdict)
    return wanted


# --- mutants -----------------------------------------------------------------------------------


def _mutant_results(
    pool: SolverPool, mutant: ir.Mutant, options: Options, progress: Report | None
) -> Iterator[Result]:
    """A result for every expectation and name: refuted by a run, or whatever the proof of the mutant comes to."""
    assert isinstance(mutant.mutated, ir.Machine)
    started = time.monotonic()
    machine = mutant.mutated
    wanted = [(name, expectation.verdict) for expectation in mutant.expects for name in expectation.names]
    refutable = [name for name, verdict in wanted if verdict == "refuted"]
    findings: dict[str, Finding] = {}
    try:
        searched = search_violations(pool, machine, refutable, options)
    except Unsupported as reason:
        findings = {name: unknown(str(reason)) for name in refutable}
        searched = None
    if searched is not None:
        facts = {"seed": options.seed, "timeout_ms": options.timeout_ms}
        findings = {name: refuted(machine, name, searched, facts) for name in refutable if name in searched.runs}
    if any(name not in findings for name, _ in wanted):
        proved, _ = prove_machine(pool, machine, options, _note(progress, mutant.subject, mutant.name))
        findings = {**proved, **findings}
    share = (time.monotonic() - started) / max(1, len(wanted))
    for name, verdict in wanted:
        finding = findings[name] if name in findings else unknown(f"`{name}` is not proved for this machine")
        yield Result(
            f"{mutant.name}: {name}",
            "mutant",
            mutant.subject,
            finding.verdict,
            finding.level,
            finding.verdict is Verdict(verdict),
            share,
            {"mutant": mutant.name, "property": name, **finding.facts},
            finding.text,
        )
