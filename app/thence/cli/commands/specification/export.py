"""`thence export`: a protocol in a scope, or a machine over a finite universe, for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from thence.api.targets import Choice, targets
from thence.cli.options import File, Json, MutantName, Processes, Sends
from thence.cli.output import BadInput, Output
from thence.cli.session import run_command, write_text
from thence.dsl import ir
from thence.dsl.export.tla.exported import Exported
from thence.dsl.export.tla.expressions import Unsupported
from thence.dsl.export.tla.machine import export_machine
from thence.dsl.export.tla.protocol import export_protocol
from thence.dsl.find import known, specification
from thence.proofs.machine.transitions import actions, rigid
from thence.proofs.workload_words import describe

DEFAULT_UNIVERSE = (2, 2)
"""Processes and messages of an exported machine."""


def export(
    file: File,
    name: Annotated[Optional[str], typer.Argument(help="A machine or protocol. By default, the protocol.")] = None,  # noqa: UP045
    output: Annotated[str, typer.Option(help="The directory that gets the modules.")] = "tla",
    scope: Annotated[Optional[str], typer.Option(help="The scope of the protocol, where the file has several.")] = None,  # noqa: UP045
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    messages: Annotated[Optional[int], typer.Option(min=1, help="The number of messages of a machine.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Writes the modules of a protocol or machine into the directory `output`."""
    choice = Choice(file, scope, processes, sends, mutant)
    run_command("export", json, lambda session: _exported(choice, name, messages, output))


def _exported(choice: Choice, name: str | None, messages: int | None, directory: str) -> Output:
    """Writes the modules.

    Raises: BadInput where the file has nothing of that name, or TLA+ no word for something in it.
    """
    found = specification(choice.file)
    names = tuple(declared.name for declared in (*found.machines, *found.protocols))
    if name is not None:
        known(name, names, "protocol or machine")
    machine = next((machine for machine in found.machines if machine.name == name), None)
    if machine is None and messages is not None:
        raise BadInput("--messages is for machines; a protocol sends what its scope or --sends says")
    try:
        exported = _protocol(choice, name) if machine is None else _machine(machine, choice, messages)
    except Unsupported as reason:
        raise BadInput(f"not exported: {reason}") from reason
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{directory} cannot be made: {error.strerror or error}") from error
    for file, content in exported.files.items():
        write_text(str(folder / file), content)
    said = [f"{folder / file}" for file in exported.files]
    said += [f"note: {note}" for note in exported.notes]
    said.append(f"to check it: cd {directory} && java -cp tla2tools.jar tlc2.TLC {exported.module}.tla")
    fields = {"module": exported.module, "files": [str(folder / file) for file in exported.files]}
    return Output((), text="\n".join(said), fields=fields, table=False)


def _protocol(choice: Choice, name: str | None) -> Exported:
    chosen = [target for target in targets(choice) if name in (None, target.protocol.name)]
    if not chosen:
        raise BadInput(f"{choice.scope} is no scope of {name}")
    if name is None and len({target.protocol.name for target in chosen}) > 1:
        listed = ", ".join(dict.fromkeys(target.protocol.name for target in chosen))
        raise BadInput(f"name one protocol: {listed}")
    if len(chosen) > 1:
        raise BadInput(f"name one scope with --scope: {', '.join(target.scope or '?' for target in chosen)}")
    target = chosen[0]
    return export_protocol(target.protocol, target.workload, describe(target.workload))


def _machine(machine: ir.Machine, choice: Choice, messages: int | None) -> Exported:
    for option, value in (("--scope", choice.scope), ("--sends", choice.sends), ("--mutant", choice.mutant)):
        if value is not None:
            raise BadInput(f"{option} is for protocols; a machine has --processes and --messages")
    complete = tuple(
        ir.Transition(action.name, action.parameters, action.guards, action.updates) for action in actions(machine)
    )
    processes = choice.processes or DEFAULT_UNIVERSE[0]
    return export_machine(machine, complete, rigid(machine), processes, messages or DEFAULT_UNIVERSE[1])
