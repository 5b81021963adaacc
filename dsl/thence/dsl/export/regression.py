"""A counterexample as a pytest file: it replays the run in the protocol as the file states it today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import workload_of
from thence.dsl.ir.properties import DELIVERED
from thence.dsl.load import load
from thence.dsl.run.actions import State
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import replay
from thence.dsl.run.narrate import violated as violated_at_end
from thence.dsl.run.system import System

_TEMPLATE = '''"""A run of {subject} that violates `{property}`, found by `thence explore`.

It replays the run step by step. The test passes as long as the run is possible and violates the property; where the
protocol has been repaired, turn the assertion round: the run is then not possible, or violates nothing.
"""

from thence.dsl.export.regression import violated

SETTINGS = {settings}

STEPS = {steps}


def test_{name}() -> None:
    assert {property!r} in violated({file!r}, {protocol!r}, {mutant!r}, SETTINGS, STEPS)
'''


def pytest_file(
    file: str,
    protocol: str,
    mutant: str | None,
    settings: Sequence[str],
    property_: str,
    steps: Sequence[Mapping[str, Any]],
) -> str:
    """The text of the test.

    `settings` are the lines of the scope, `steps` those of `narrate.record`; `file` is a path, or the name of a library
    file.
    """
    subject = protocol if mutant is None else f"{protocol}/{mutant}"
    name = "_".join((protocol, *([mutant] if mutant else []), "violates", property_))
    return _TEMPLATE.format(
        subject=subject,
        property=property_,
        settings=_listed(settings),
        steps=_listed([dict(step) for step in steps]),
        name=name,
        file=file,
        protocol=protocol,
        mutant=mutant,
    )


def _listed(values: Sequence[object]) -> str:
    return "[\n" + "".join(f"    {value!r},\n" for value in values) + "]"


def violated(
    file: str, protocol: str, mutant: str | None, settings: Sequence[str], steps: Sequence[Mapping[str, Any]]
) -> set[str]:
    """The properties that the run violates at its end; invariants by their names, a step at fault as `fault`.

    A run that comes back to a state violates `delivered`, or a promise, if the same message or promise waits all the
    way round; whether the cycle is fair was decided when it was found. So does one that ends where something waits and
    nothing has to happen.

    Raises: ReplayError where a step of the run is not possible, SourceError where there is no such file, ValueError
    where the file has errors or no such protocol, or the settings make no scope.
    """
    specification = load(file).specification
    if specification is None:
        raise ValueError(f"{file} has errors: thence check {file}")
    subject = next((known for known in specification.protocols if known.name == protocol), None)
    if mutant is not None:
        subject = next(
            (
                known.mutated
                for known in specification.mutants
                if (known.subject, known.name) == (protocol, mutant) and isinstance(known.mutated, ir.Protocol)
            ),
            None,
        )
    if subject is None:
        raise ValueError(f"{file} has no protocol {protocol}" + (f" with a mutant {mutant}" if mutant else ""))
    system = system_of(subject, workload_of(settings, kind_of(subject)))
    taken = replay(system, [dict(step) for step in steps])
    states = [system.initial(), *(step.outcome.state for step in taken)]
    return violated_at_end(system, taken) | _starved(system, states)


def _starved(system: System, states: Sequence[State]) -> set[str]:
    """The names of what waits in all states from the one on that is the last one again; if there is none before it, of
    what waits in the last one, where nothing has to happen."""
    turn = states[next(at for at, state in enumerate(states) if state == states[-1]) :]
    if len(turn) == 1 and not _may_end(system, turn[0]):
        return set()
    messages = set.intersection(*({entry.message for entry in state.history.pending} for state in turn))
    found = {DELIVERED} if messages else set[str]()
    if system.promises is not None:
        owed = reduce(and_, (state.owed for state in turn))
        found |= {instance.name for instance in system.promises.in_bits(owed)}
    return found


def _may_end(system: System, state: State) -> bool:
    """Whether a fair run may end in the state: no packet of a fair kind is in flight, there are no timers, and the
    application has to do nothing."""
    fair = system.protocol.fairness
    every = "receive" in fair or not fair
    arrives = any(every or system.packet(number).kind in fair for number in system.receivable(state))
    return not arrives and not system.interpreter.has_timer and not system.goes_on(state)


def here(file: str) -> str:
    """The name of the file in a test: that of a library file, else an absolute path."""
    return str(Path(file).resolve()) if Path(file).exists() else file
