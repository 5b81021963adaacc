"""Proofs of everything that a file states for any number of processes: theorems, machines, their mutants, and links."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import HISTORY, VACUITY
from thence.dsl.ir.observability import own_invariants
from thence.dsl.ir.properties import DELIVERED
from thence.proofs.links.breaking import run_that_breaks
from thence.proofs.links.witness import says_nothing
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.prover import (
    prove_machine,
    proved_set,
    refuted,
    search_violations,
    statements,
    stating,
)
from thence.proofs.machine.steps.prover import prove_steps, refuted_steps, step_statements
from thence.proofs.machine.vacuity import check_vacuity
from thence.proofs.machine.witness import guarded
from thence.proofs.refinement.carrying.invariants import prove_invariant
from thence.proofs.refinement.carrying.progress import prove_progress
from thence.proofs.refinement.carrying.properties import (
    carries,
    follows_statement,
    link_statement,
    named_by,
    own_statement,
    progress_statement,
)
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.answer_cache import AnswerCache
from thence.proofs.solving.assessment import Assessment, Proof, unknown
from thence.proofs.solving.discharge import Note, Options, ProofProgress
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.proofs.theory.prover import prove_theorem
from thence.spec.verdict import Level, Result, Verdict

Report = Callable[[ProofProgress], None]


class UnknownName(ValueError):
    """No unbounded statement of the file has this name; the message lists the names that it has."""


def prove_specification(
    specification: ir.Specification,
    names: Sequence[str] = (),
    options: Options | None = None,
    progress: Report | None = None,
) -> tuple[Result, ...]:
    """The results of a file's theorems, machines, mutants of machines, and links that it says are proved.

    Args:
        names: of theorems, machines, mutants of machines, statements of machines, or links; none means all, of links
            those that the file says are proved. A statement is proved with its whole machine, and only its result is
            returned; so is the link of a protocol that states it, too, if the file says that the link is proved.

    Raises:
        UnknownName: for another name.
        CrossCheckError: a solver and the evaluator disagree about a finite model, which is a defect of Thence.
    """
    return tuple(proof.result for proof in proofs(specification, names, options, progress))


def proofs(
    specification: ir.Specification,
    names: Sequence[str] = (),
    options: Options | None = None,
    progress: Report | None = None,
) -> Generator[Proof, None, None]:
    """The results one by one, each with its evidence. Arguments and errors as of `prove_specification`."""
    options = options or Options()
    with solver_pool(options) as pool:
        yield from proofs_by(pool, specification, names, options, progress)


def solver_pool(options: Options) -> SolverPool:
    """Solver processes as the options say, with the cache that they name."""
    return SolverPool(options.workers, AnswerCache(options.cache) if options.cache is not None else None)


def proofs_by(
    pool: SolverPool,
    specification: ir.Specification,
    names: Sequence[str],
    options: Options,
    progress: Report | None = None,
) -> Generator[Proof, None, None]:
    """As `proofs`, by the solver processes of a pool that is open already."""
    session = ProofSession(pool, options)
    machines = [mutant for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine)]
    _check_names(specification, machines, names)
    inductive: dict[str, InductiveSet | None] = {}
    for theorem in specification.theorems:
        if not names or theorem.name in names:
            note = _note(progress, theorem.theory.name, theorem.name)
            yield prove_theorem(ProofSession(pool, options, note), theorem)
    for machine in specification.machines:
        wanted = _wanted(machine, (*names, *_carried_from(specification, machine, names)))
        if wanted:
            stated = stating(machine, expected_names(machine.expects))
            inductive[machine.name] = yield from _machine_proofs(session, stated, wanted, progress)
    for mutant in machines:
        if not names or mutant.name in names:
            yield from _mutant_proofs(session, mutant, progress)
    for link in specification.links:
        claimed = is_claimed(link) and (not names or any(carries(link, name) for name in names))
        if claimed or link.name in names:
            shown = _link_proof(session, link, inductive, progress)
            yield shown
            whole, own = not names or link.name in names, inductive[link.machine.name]
            if link.delivered_by is not None and (whole or DELIVERED in names):
                yield _progress_proof(session, link, own, shown.assessment, progress)
            asked = (*(expected_names(link.expects) if whole else ()), *names)
            for name in dict.fromkeys(name for name in asked if name in own_invariants(link.protocol)):
                yield _invariant_proof(session, link, name, own, shown.assessment, progress)


def _carried_from(specification: ir.Specification, machine: ir.Machine, names: Sequence[str]) -> Iterator[str]:
    """The machine's statements, of another name, from which protocols have what is named."""
    for link in specification.links:
        for name in names:
            own = own_statement(link, name)
            if own is not None and own != name and link.machine.name == machine.name and carries(link, name):
                yield own


def parts(specification: ir.Specification) -> Iterator[tuple[str, ir.Specification]]:
    """What can be proved apart, each with a name: the theorems, under ""; and each machine, with its mutants and links.

    Together they have all the results of the file, theorems first.
    """
    if specification.theorems:
        yield "", replace(specification, machines=(), mutants=(), links=())
    for machine in specification.machines:
        mutants = (mutant for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine))
        own = tuple(mutant for mutant in mutants if mutant.subject == machine.name)
        links = tuple(link for link in specification.links if link.machine.name == machine.name)
        yield machine.name, replace(specification, theorems=(), machines=(machine,), mutants=own, links=links)


def is_claimed(link: ir.Link) -> bool:
    """Whether the file says that the link is proved, and not only checked in scopes."""
    return any(expect.verdict == "proved" for expect in link.expects)


def link_names(specification: ir.Specification) -> tuple[str, ...]:
    """The names of links; of those that the file does not say to be proved, a proof is tried where they are named."""
    return tuple(link.name for link in specification.links)


def provable_names(specification: ir.Specification) -> tuple[str, ...]:
    """The names that `names` may contain."""
    found: list[str] = [theorem.name for theorem in specification.theorems]
    for machine in specification.machines:
        found.extend((machine.name, *_statements(machine)))
    found.extend(mutant.name for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine))
    claimed = [link for link in specification.links if is_claimed(link)]
    found.extend(link.name for link in claimed)
    found.extend(name for link in claimed for name in named_by(link))
    return tuple(dict.fromkeys(found))


def _statements(machine: ir.Machine) -> tuple[str, ...]:
    """The names of a machine's results: its statements, the statements expected of it, and vacuity."""
    stated = (*statements(machine), *step_statements(machine))
    return tuple(dict.fromkeys((*stated, *expected_names(machine.expects), VACUITY)))


def _check_names(specification: ir.Specification, machines: Sequence[ir.Mutant], names: Sequence[str]) -> None:
    known = (*provable_names(specification), *link_names(specification))
    for name in names:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) or "nothing"
            raise UnknownName(f"{specification.file} states nothing named {name} to prove; it states {listed}")


def _note(progress: Report | None, subject: str, statement: str) -> Note | None:
    if progress is None:
        return None
    report = progress
    return lambda done, total, current: report(ProofProgress(subject, statement, done, total, current))


def _tell(progress: Report | None, subject: str, statement: str, total: int) -> None:
    """Reports the beginning of work whose obligations are not counted."""
    if progress is not None and total:
        progress(ProofProgress(subject, statement, 0, total))


def _wanted(machine: ir.Machine, names: Sequence[str]) -> tuple[str, ...]:
    everything = _statements(machine)
    if not names or machine.name in names:
        return everything
    return tuple(name for name in everything if name in names)


def _machine_proofs(
    session: ProofSession, machine: ir.Machine, wanted: Sequence[str], progress: Report | None
) -> Generator[Proof, None, InductiveSet | None]:
    started = time.monotonic()
    assessments, inductive = prove_machine(replace(session, note=_note(progress, machine.name, "invariants")), machine)
    whole = any(not expectation.names for expectation in machine.expects)
    steps = [name for name in step_statements(machine) if whole or name in wanted]
    _tell(progress, machine.name, "steps", len(steps))
    assessments |= prove_steps(session, machine, steps, inductive)
    known = proved_conjuncts(machine, inductive) if inductive is not None else ()
    assessments = guarded(session, machine, known, assessments)
    assessments |= {name: _unsayable(name) for name in expected_names(machine.expects) if name not in assessments}
    middle = time.monotonic()
    share = (middle - started) / len(assessments)
    for name, assessment in assessments.items():
        if name in wanted:
            yield _proof(machine, name, assessment, assessments, share)
    if VACUITY in wanted:
        _tell(progress, machine.name, VACUITY, len(machine.transitions))
        assessment = check_vacuity(session, machine, known)
        yield _proof(machine, VACUITY, assessment, None, time.monotonic() - middle)
    return inductive


def _proof(
    machine: ir.Machine, name: str, assessment: Assessment, beside: Mapping[str, Assessment] | None, seconds: float
) -> Proof:
    """The proof of a statement. `beside`: all statements of the machine; None where `proved` is always expected."""
    wanted = None if beside is None else _wanted_of(machine, name)
    expected = assessment.verdict is Verdict.PROVED if beside is None else _as_expected(machine, name, beside)
    result = Result(
        name,
        "machine",
        machine.name,
        assessment.verdict,
        assessment.level,
        expected,
        seconds,
        assessment.facts,
        assessment.text,
        assessment.picture,
        wanted,
    )
    return Proof(result, assessment)


def _unsayable(name: str) -> Assessment:
    return unknown(f"`{name}` speaks about something that the machine does not declare")


def expected_names(expects: Sequence[ir.Expectation]) -> tuple[str, ...]:
    """The statements that expectations name, each once."""
    return tuple(dict.fromkeys(name for expectation in expects for name in expectation.names))


def _as_expected(machine: ir.Machine, name: str, assessments: Mapping[str, Assessment]) -> bool:
    """Whether the verdict is the expected one: of the statement by name, else of the whole machine, else `proved`."""
    for expectation in machine.expects:
        if name in expectation.names:
            return assessments[name].verdict is Verdict(expectation.verdict)
    for expectation in machine.expects:
        if not expectation.names:
            return worst(assessments.values()).verdict is Verdict(expectation.verdict)
    return assessments[name].verdict is Verdict.PROVED


def _wanted_of(machine: ir.Machine, name: str) -> Verdict | None:
    """The verdict that the file states of a statement by name; None where it states none."""
    return next((Verdict(each.verdict) for each in machine.expects if name in each.names), None)


def worst(assessments: Iterable[Assessment]) -> Assessment:
    """The assessment that decides about a whole machine: a refuted one, else an unknown one, else a proved one."""
    order = (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.PROVED)
    return min(assessments, key=lambda assessment: order.index(assessment.verdict))


# --- links -------------------------------------------------------------------------------------


def _link_proof(
    session: ProofSession, link: ir.Link, inductive: dict[str, InductiveSet | None], progress: Report | None
) -> Proof:
    """The proof of a link, on the proved invariants of its machine."""
    started = time.monotonic()
    machine = link.machine
    if machine.name not in inductive:
        noted = replace(session, note=_note(progress, machine.name, "invariants"))
        inductive[machine.name] = proved_set(noted, machine)
    noted = replace(session, note=_note(progress, link.name, "any number"))
    assessment = prove_link(noted, link, inductive[machine.name])
    if assessment.verdict is Verdict.PROVED and (nothing := says_nothing(link)) is not None:
        assessment = unknown(nothing, assessment.facts, assessment.text)
    if "fails" in assessment.facts:
        assessment = _with_run(link, assessment, session.options)
    return _about_link(link, link_statement(link), assessment, started, claimed=is_claimed(link))


def _progress_proof(
    session: ProofSession, link: ir.Link, inductive: InductiveSet | None, shown: Assessment, progress: Report | None
) -> Proof:
    """The proof that the protocol's fair runs do what the machine waits for, on the proof of the link."""
    started = time.monotonic()
    statement = progress_statement(link)
    noted = replace(session, note=_note(progress, link.name, statement))
    assessment = prove_progress(noted, link, inductive, shown)
    return _about_link(link, statement, assessment, started, claimed=is_claimed(link))


def _invariant_proof(
    session: ProofSession,
    link: ir.Link,
    name: str,
    inductive: InductiveSet | None,
    shown: Assessment,
    progress: Report | None,
) -> Proof:
    """The proof that an invariant of the protocol follows from the link, on the proof of the link."""
    started = time.monotonic()
    statement = follows_statement(name)
    noted = replace(session, note=_note(progress, link.name, statement))
    assessment = prove_invariant(noted, link, name, inductive, shown)
    return _about_link(link, statement, assessment, started, claimed=name in expected_names(link.expects))


def _about_link(link: ir.Link, statement: str, assessment: Assessment, started: float, *, claimed: bool) -> Proof:
    """The proof of a statement about the link, begun at that time. `claimed`: the file says that it is proved."""
    result = Result(
        statement,
        "link",
        link.name,
        assessment.verdict,
        assessment.level,
        assessment.verdict is Verdict.PROVED,
        time.monotonic() - started,
        assessment.facts,
        assessment.text,
        assessment.picture,
        Verdict.PROVED if claimed else None,
    )
    return Proof(result, assessment)


def _with_run(link: ir.Link, failed: Assessment, options: Options) -> Assessment:
    """The assessment of a link of which an obligation fails: refuted if a run breaks it, otherwise as it was.

    The run is the answer, so it stands first. It is looked for as long as a solver has for a question.
    """
    found = run_that_breaks(link, options.timeout_ms / 1_000)
    if found.run is None:
        return replace(failed, text=f"{failed.text}\n{found.said}")
    facts = {key: value for key, value in failed.facts.items() if key != "unknown"} | found.run.facts
    text = f"{found.said}\n\n{found.run.explanation.rstrip()}\n\n{failed.text}"
    return Assessment(Verdict.REFUTED, Level.L1, facts, text, found.run.picture)


# --- mutants -----------------------------------------------------------------------------------


def _mutant_proofs(session: ProofSession, mutant: ir.Mutant, progress: Report | None) -> Iterator[Proof]:
    """A result for every expectation and name: refuted by a run, or the outcome of a proof of the mutant."""
    assert isinstance(mutant.mutated, ir.Machine)
    started = time.monotonic()
    named = expected_names(mutant.expects)
    machine = stating(mutant.mutated, named)
    assessments = _mutant_assessments(session, mutant, machine, progress)
    share = (time.monotonic() - started) / max(1, len(mutant.expects))
    for expectation in mutant.expects:
        for name in expectation.names or ("",):
            assessment = assessments.get(name, _unsayable(name)) if name else worst(assessments.values())
            facts = {"mutant": mutant.name, **({"property": name} if name else {}), **assessment.facts}
            result = Result(
                f"{mutant.name}: {name}" if name else mutant.name,
                "mutant",
                mutant.subject,
                assessment.verdict,
                assessment.level,
                assessment.verdict is Verdict(expectation.verdict),
                share / max(1, len(expectation.names)),
                facts,
                assessment.text,
                assessment.picture,
                Verdict(expectation.verdict),
            )
            yield Proof(result, assessment)


def _mutant_assessments(
    session: ProofSession, mutant: ir.Mutant, machine: ir.Machine, progress: Report | None
) -> dict[str, Assessment]:
    """Runs for the statements that should be refuted; a proof of the mutant if an expectation is left open."""
    about_steps = step_statements(machine)
    known = (*statements(machine), *about_steps)
    wanted = [(name, each.verdict) for each in mutant.expects for name in each.names or known]
    refutable = [name for name, verdict in wanted if verdict == "refuted" and name in known and name != HISTORY]
    assessments: dict[str, Assessment] = {}
    _tell(progress, mutant.subject, mutant.name, len(wanted))
    try:
        searched = search_violations(session, machine, [name for name in refutable if name not in about_steps])
        steps = refuted_steps(session, machine, [name for name in refutable if name in about_steps])
    except Unsupported as reason:
        return {name: unknown(str(reason)) for name in known}
    if searched is not None:
        facts = {"seed": session.options.seed, "timeout_ms": session.options.timeout_ms}
        assessments = {name: refuted(machine, name, searched, facts) for name in refutable if name in searched.runs}
    assessments |= steps
    settled = all(
        all(name in assessments for name in each.names)
        if each.names
        else bool(assessments) and each.verdict == "refuted"
        for each in mutant.expects
    )
    if not settled:
        proved, inductive = prove_machine(replace(session, note=_note(progress, mutant.subject, mutant.name)), machine)
        asked = {name for name, _ in wanted}
        left = [name for name in about_steps if name in asked and name not in steps]
        proved |= prove_steps(session, machine, left, inductive)
        conjuncts = proved_conjuncts(machine, inductive) if inductive is not None else ()
        assessments = {**guarded(session, machine, conjuncts, proved), **assessments}
    return assessments
