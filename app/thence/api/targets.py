"""The protocols and scopes that a request chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from thence.api.errors import BadRequest
from thence.dsl import ir
from thence.dsl.check.workloads.defaults import (
    DEFAULT_PROCESSES,
    MOST_MULTICAST,
    all_choices,
    default_sends,
    default_workloads,
    domain,
    workload_for,
)
from thence.dsl.check.workloads.inputs import inputs_told
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import Unsettled, about_single_processes, adapt, names_given
from thence.dsl.check.workloads.workload import MOST_OF_ANYTHING, MOST_PROCESSES
from thence.dsl.find import known, known_mutants, mutant_of_a_protocol, specification
from thence.dsl.text.programs import NAME as PROGRAM
from thence.dsl.write.settings import setting_text

Sends: TypeAlias = int | Sequence[int] | str | None
"""Messages of each process: one number for all, or one each; as a text as on the command line. None: not chosen."""


def sends_text(sends: Sends) -> str | None:
    """The same as the command line takes it."""
    if sends is None or isinstance(sends, str):
        return sends
    return str(sends) if isinstance(sends, int) else ",".join(map(str, sends))


@dataclass(frozen=True, slots=True)
class Choice:
    """The settings that name a protocol, a scope or a mutant."""

    file: str
    scope: str | None = None
    processes: int | None = None
    sends: str | None = None
    mutant: str | None = None
    settings: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the settings make a workload of their own."""
        return self.processes is not None or self.sends is not None or bool(self.settings)


@dataclass(frozen=True, slots=True)
class Target:
    """A protocol, or a mutant of it, in a workload.

    Attributes:
        subject: of results: `PROTOCOL` or `PROTOCOL/MUTANT`.
        scope: its name; None for a workload that the file does not name.
        expects: the file's expectations of that protocol in that workload.
    """

    subject: str
    protocol: ir.Protocol
    scope: str | None
    workload: ir.Workload
    expects: tuple[ir.Expectation, ...]


def targets(choice: Choice, found: ir.Specification | None = None) -> list[Target]:
    """The chosen protocol in the chosen scopes; by default in all scopes of the file.

    A mutant is by default taken in the scopes that its expectations name. `found` is the content of the file, where
    it is known already.

    Raises:
        BadRequest: for a name that the file does not have, or numbers that make no workload.
    """
    found = specification(choice.file) if found is None else found
    if not found.protocols:
        proved = "; `thence prove` proves what it has" if found.machines or found.theorems else ""
        raise BadRequest(f"{choice.file} has no protocol to explore{proved}")
    if choice.mutant is None:
        scopes = _scopes(found, choice, found.scopes)
        by_name = {protocol.name: protocol for protocol in found.protocols}
        protocols = list(dict.fromkeys(scope.protocol for scope in scopes)) or list(by_name)
        if not choice.changes and not scopes:
            return [target for name in protocols for target in _default_targets(by_name[name])]
        if choice.changes:
            return [_adapted(found, by_name[name], by_name[name], name, choice, scopes, ()) for name in protocols]
        return [
            Target(scope.protocol, by_name[scope.protocol], scope.name, scope.workload, scope.expects)
            for scope in scopes
        ]
    mutant, mutated = _mutant(found, choice.mutant)
    subject = f"{mutant.subject}/{mutant.name}"
    original = next(protocol for protocol in found.protocols if protocol.name == mutant.subject)
    own = tuple(scope for scope in found.scopes if scope.protocol == mutant.subject)
    if choice.changes:
        scopes = _scopes(found, choice, own)
        return [_adapted(found, original, mutated, subject, choice, scopes, mutant.expects)]
    chosen: list[tuple[str | None, ir.Workload]]
    if choice.scope is not None:
        chosen = [(scope.name, scope.workload) for scope in _scopes(found, choice, own)]
    else:
        chosen = [
            (expect.scope, expect.settings)
            for expect in mutant.expects
            if expect.settings is not None and set(expect.names) != {"link"}
        ]
        chosen = list(dict.fromkeys(chosen)) or [(scope.name, scope.workload) for scope in own]
    if not chosen:
        return [_adapted(found, original, mutated, subject, choice, (), ())]
    return [Target(subject, mutated, name, workload, _expected(mutant.expects, workload)) for name, workload in chosen]


def _default_targets(protocol: ir.Protocol) -> list[Target]:
    """The protocol in the scopes that it is explored in where nobody states one."""
    return [Target(protocol.name, protocol, None, workload, ()) for workload in default_workloads(protocol)]


def _mutant(found: ir.Specification, name: str) -> tuple[ir.Mutant, ir.Protocol]:
    first = known_mutants(found, name)[0]
    mutant = mutant_of_a_protocol(found, name)
    if mutant is None:
        raise BadRequest(f"{name} is a mutant of the machine {first.subject}: thence prove {found.file} {first.name}")
    assert isinstance(mutant.mutated, ir.Protocol)
    return mutant, mutant.mutated


def _scopes(found: ir.Specification, choice: Choice, scopes: tuple[ir.Scope, ...]) -> tuple[ir.Scope, ...]:
    if choice.scope is None:
        return scopes
    known(choice.scope, tuple(scope.name for scope in scopes), "scope")
    return tuple(scope for scope in scopes if scope.name == choice.scope)


def _expected(expects: tuple[ir.Expectation, ...], workload: ir.Workload) -> tuple[ir.Expectation, ...]:
    """What is expected of an exploration of the workload. Links are checked, not explored: see `scopes.check_links`."""
    explored = (
        replace(expect, names=tuple(name for name in expect.names if name != "link"))
        for expect in expects
        if expect.settings == workload and set(expect.names) != {"link"}
    )
    return tuple(explored)


def _adapted(
    found: ir.Specification,
    original: ir.Protocol,
    protocol: ir.Protocol,
    subject: str,
    choice: Choice,
    scopes: tuple[ir.Scope, ...],
    expects: tuple[ir.Expectation, ...],
) -> Target:
    """The protocol in a workload made of the settings, on top of the scope if one is named."""
    base = scopes[0].workload if choice.scope is not None and scopes else None
    try:
        if base is not None and choice.processes not in (None, base.processes):
            _check_kept(base, choice, protocol)
        workload = _workload(base, choice, protocol)
        settled = adapt(workload, choice.settings, kind_of(protocol))
    except Unsettled as reason:
        raise BadRequest(f"{'--setting' if choice.settings else '--processes'}: {reason}") from reason
    workload = settled if choice.settings else workload
    same = [scope for scope in found.scopes if scope.protocol == original.name and scope.workload == workload]
    if protocol is original:
        return Target(subject, protocol, None, workload, same[0].expects if same else ())
    return Target(subject, protocol, None, workload, _expected(expects, workload))


def _check_kept(base: ir.Workload, choice: Choice, protocol: ir.Protocol) -> None:
    """That a workload with another number of processes leaves out nothing that its scope says.

    Raises: BadRequest, Unsettled.
    """
    given = names_given(choice.settings)
    for setting in about_single_processes(base, kind_of(protocol)):
        if setting.name not in given and setting.name != PROGRAM:
            said = f"`{setting_text(setting)}` of scope {choice.scope} is about its {base.processes} processes"
            raise BadRequest(f"--processes {choice.processes}: {said}; say it of {choice.processes} by --setting")


def _workload(base: ir.Workload | None, choice: Choice, protocol: ir.Protocol) -> ir.Workload:
    """The workload of so many processes and messages. With another number of processes than its scope has, it keeps
    of the scope what is not about single processes, and inputs; see `_inputs`.
    """
    usual, delivery = base.processes if base else DEFAULT_PROCESSES, protocol.delivery
    processes = usual if choice.processes is None else choice.processes
    if not 1 <= processes <= MOST_PROCESSES:
        raise BadRequest(f"--processes {processes}: give a number from 1 to {MOST_PROCESSES}")
    if base is not None and base.programs and (choice.processes is not None or choice.sends is not None):
        raise BadRequest("--processes and --sends: the scope has programs, which say that themselves")
    if choice.sends is not None and not protocol.sends:
        said = f"--sends: the application of {protocol.name} sends no messages, since it has no `on causal_send`"
        raise BadRequest("; ".join((said, *(f"{note} by --setting" for note in inputs_told(kind_of(protocol))))))
    sends = _sends(choice.sends, processes) if choice.sends is not None else None
    if base is not None and base.processes == processes:
        if sends is None:
            return base
        if isinstance(base.sending, ir.ForEver):
            identities = tuple(count if had else 0 for count, had in zip(sends, base.sending.identities, strict=True))
            return replace(base, sends=sends, sending=replace(base.sending, identities=identities))
        return replace(base, sends=_told_of_sends(base, sends))
    if delivery == "multicast" and processes > MOST_MULTICAST:
        raise BadRequest(
            f"--processes {processes}: multicast scopes of more than {MOST_MULTICAST} processes are written in the file"
        )
    to_itself = base is not None and any(process in base.destinations[process] for process in range(base.processes))
    choices = all_choices(processes, delivery, to_itself)
    destinations = tuple(tuple(q for q in range(processes) if to_itself or q != p) for p in range(processes))
    if processes == 1 and not to_itself:
        sends = (0,) if sends is None else sends
        if any(sends):
            raise BadRequest("--processes 1: a single process has nobody to send to")
    if not protocol.sends:
        sends = (0,) * processes
    groups = () if delivery == "unicast" else choices
    inputs = _inputs(base, protocol, processes)
    sends = sends or default_sends(processes)
    found = ir.Workload(processes, sends, destinations, groups=groups, inputs=inputs)
    if base is None:
        return found
    return replace(
        found,
        sends=_told_of_sends(base, sends),
        duplicates=base.duplicates,
        losses=base.losses,
        ticks=base.ticks,
        timers=base.timers,
        fifo=base.fifo,
        constants=base.constants,
        sending=replace(base.sending, identities=sends) if isinstance(base.sending, ir.ForEver) else base.sending,
    )


def _told_of_sends(base: ir.Workload, sends: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of messages; where the scope has any number of them, they say only who sends any."""
    return tuple(min(count, 1) for count in sends) if isinstance(base.sending, ir.AnyNumber) else sends


def _inputs(base: ir.Workload | None, protocol: ir.Protocol, processes: int) -> tuple[ir.InputUse, ...]:
    """The inputs of so many processes: as often as in the scope, and never in a process that the scope has not, unless
    it says the same of all. Without a scope, an application that sends no messages has each input once.
    """
    if base is None:
        return () if protocol.sends else workload_for(protocol, (0,) * processes).inputs
    types = {(name, parameter): type_ for name, of_it in kind_of(protocol).inputs for parameter, type_ in of_it}
    found: list[ir.InputUse] = []
    for use in base.inputs:
        beyond = use.limits[0] if len(set(use.limits)) == 1 else 0
        limits = (*use.limits, *(beyond,) * processes)[:processes]
        parameters = tuple(
            (name, domain("process", processes) if types[use.name, name] == "process" else values)
            for name, values in use.parameters
        )
        if any(limits):
            found.append(ir.InputUse(use.name, limits, parameters))
    return tuple(found)


def _sends(given: str, processes: int) -> tuple[int, ...]:
    try:
        numbers = [int(part) for part in given.replace(",", " ").split()]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        numbers *= processes
    if len(numbers) != processes or not all(0 <= number <= MOST_OF_ANYTHING for number in numbers):
        each = f"each of the {processes} processes" if processes > 1 else "the one process"
        raise BadRequest(
            f"--sends {given}: give one number from 0 to {MOST_OF_ANYTHING}, or one for {each}, such as 2,1,1"
        )
    return tuple(numbers)
