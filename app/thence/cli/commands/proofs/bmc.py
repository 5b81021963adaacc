"""`thence bmc`: violations within so many steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional, TypeAlias

import typer

from thence.api.proving import timeout_ms
from thence.api.targets import Choice, Target, targets
from thence.cli.options import File, Json, ScopeName, Seed, Sends, Verbose
from thence.cli.output import BadInput, Output, exit_incomplete
from thence.cli.session import Session, run_command
from thence.dsl import ir
from thence.dsl.find import known, mutants_named, specification
from thence.proofs.bounded.history import JUDGED
from thence.proofs.bounded.machine import Reach, bounded_statements
from thence.proofs.bounded.results import Case, machine_results, protocol_results
from thence.proofs.bounded.search import BoundedProgress
from thence.proofs.machine.prover import stating
from thence.proofs.machine.steps.prover import step_statements
from thence.proofs.prove import expected_names
from thence.proofs.scopes.scopes import properties_of
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Result
from thence.spec.words import counted


def bmc(
    file: File,
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A machine, a protocol, or a mutant. By default, every machine and protocol."),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, max=1000, help="The number of steps.")] = 6,
    property_: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--property", help="Judge only this invariant or property. Repeatable."),
    ] = None,
    scope: ScopeName = None,
    processes: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1,
            help="The number of processes: of a protocol, or of the universe in which runs of machines are looked for.",
        ),
    ] = None,
    sends: Sends = None,
    messages: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="The number of messages of the universe in which runs of machines are looked for."),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1, help="The time limit for a protocol in a scope, or for each question about a machine, in seconds."
        ),
    ] = 60.0,
    seed: Seed = 0,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Looks for violations within so many steps, of everything in the file or of `name`."""
    request = BmcRequest(file, name, depth, tuple(property_ or ()), scope, processes, sends, messages, timeout, seed)
    run_command("bmc", json, lambda session: _searched(session, request), verbose)


@dataclass(frozen=True, slots=True)
class BmcRequest:
    """The machines and protocols to search, and how far.

    Attributes:
        name: a machine, a protocol, or a mutant of either; None means every machine and protocol of the file.
        messages: of the universe in which runs of machines are looked for.
        timeout_s: for a whole search of a protocol; for each question about a machine.
    """

    file: str
    name: str | None
    depth: int
    properties: tuple[str, ...]
    scope: str | None
    processes: int | None
    sends: str | None
    messages: int | None
    timeout_s: float
    seed: int


def _searched(session: Session, request: BmcRequest) -> Output:
    """Searches machines, then protocols. Ctrl-C ends it with what was finished."""
    found = specification(request.file)
    machines, choices = _chosen(found, request)
    cases = [_case(target, request) for choice in choices for target in targets(choice) if _is_about(target, request)]
    for machine, _, expects in machines:
        _check_names(request, bounded_statements(stating(machine, expected_names(expects))), bool(cases))
    results: list[Result] = []
    try:
        for machine, subject, expects in machines:
            results += _of_machine(session, machine, subject, expects, request)
        for case in cases:
            some, interrupted = protocol_results(case, request.depth, timeout_ms(request.timeout_s), _report(session))
            results += some
            if interrupted:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        said = "interrupted: incomplete, this was finished\n"
        return Output(tuple(results), notes=said, fields={"complete": False}, exit=exit_incomplete(results))
    if not results:
        raise BadInput(
            f"{request.file} has nothing that bmc could look at: no protocol, and no machine with a statement"
        )
    asked = request.name is not None or bool(request.properties)
    notes = "" if request.properties else "".join(_passed_over(*each) for each in machines)
    return Output(tuple(results), notes=notes, files=((Path(request.file).stem, len(results)),), asked=asked)


def _passed_over(machine: ir.Machine, subject: str, expects: Sequence[ir.Expectation]) -> str:
    """A line about the statements of a machine that are not about its states, of which `bmc` says nothing; of a mutant
    about those that are expected of it."""
    wanted = expected_names(expects)
    names = [name for name in step_statements(machine) if subject == machine.name or name in wanted]
    what = f"only what is true of states is judged, not {', '.join(names)}; 'thence prove' judges these"
    return f"{subject}: {what}\n" if names else ""


Chosen: TypeAlias = tuple[list[tuple[ir.Machine, str, tuple[ir.Expectation, ...]]], list[Choice]]


def _chosen(found: ir.Specification, request: BmcRequest) -> Chosen:
    """The machines, and the choices of protocols, that the request is about. Raises: BadInput."""
    machines = {machine.name: machine for machine in found.machines}
    protocols = [protocol.name for protocol in found.protocols]
    whole = Choice(request.file, request.scope, request.processes, request.sends)
    if request.name is None:
        of_scope = request.scope is not None or request.sends is not None
        every = [] if of_scope else [(machine, machine.name, machine.expects) for machine in found.machines]
        return every, [whole] if protocols else []
    mutants = mutants_named(found, request.name)
    if not mutants:
        known(
            request.name, (*machines, *protocols, *(each.name for each in found.mutants)), "machine, protocol or mutant"
        )
    elif request.name not in (*machines, *protocols):
        return _of_mutants(mutants, request)
    if request.name in machines:
        machine = machines[request.name]
        return [(machine, machine.name, machine.expects)], []
    return [], [whole]


def _of_mutants(mutants: Sequence[ir.Mutant], request: BmcRequest) -> Chosen:
    """All mutants of the name, each of its own subject."""
    named = [(each.mutated, f"{each.subject}/{each.name}", each.expects) for each in mutants]
    machines = [(mutated, name, expects) for mutated, name, expects in named if isinstance(mutated, ir.Machine)]
    of_protocols = [name for mutated, name, _ in named if isinstance(mutated, ir.Protocol)]
    return machines, [
        Choice(request.file, request.scope, request.processes, request.sends, name) for name in of_protocols
    ]


def _is_about(target: Target, request: BmcRequest) -> bool:
    """Whether the target is asked for; scopes in which messages are sent for ever only by their name."""
    if (target.workload.prompt or not target.workload.ends) and request.scope is None:
        return False
    return request.name is None or request.name in (target.subject, *target.subject.split("/"))


def _case(target: Target, request: BmcRequest) -> Case:
    """Raises: BadInput for a property that there is not."""
    judged = tuple(dict.fromkeys((*properties_of(target.protocol), *JUDGED, "delivered", "fault")))
    for name in request.properties:
        known(name, judged, "property")
    properties = request.properties
    if not properties and "/" in target.subject:
        named = (name for expect in target.expects for name in expect.names if name in judged)
        properties = tuple(dict.fromkeys(named))
    properties = properties or properties_of(target.protocol)
    return Case(target.subject, target.protocol, target.scope, target.workload, target.expects, properties)


def _check_names(request: BmcRequest, stated: Sequence[str], elsewhere: bool) -> None:
    for name in request.properties:
        if not elsewhere:
            known(name, tuple(stated), "statement")


def _of_machine(
    session: Session, machine: ir.Machine, subject: str, expects: tuple[ir.Expectation, ...], request: BmcRequest
) -> tuple[Result, ...]:
    reach = Reach(request.depth, request.processes or 3, request.messages or 3)
    options = Options(timeout_ms=timeout_ms(request.timeout_s), seed=request.seed)
    session.status(f"{subject}: within {counted(request.depth, 'step')}")
    return tuple(machine_results(machine, subject, expects, request.properties, reach, options))


def _report(session: Session) -> Callable[[str, BoundedProgress], None]:
    def report(label: str, made: BoundedProgress) -> None:
        session.status(f"{label}: {counted(made.depth, 'step')}, {counted(made.gates, 'gate')}")

    return report
