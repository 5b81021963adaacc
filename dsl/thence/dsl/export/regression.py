"""A counterexample as a pytest file: it replays the run in the protocol as the file states it today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thence.dsl import ir
from thence.dsl.check.settings import workload_of
from thence.dsl.check.workload import kind_of
from thence.dsl.load import load
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import replay
from thence.dsl.run.narrate import violated as violated_at_end
from thence.dsl.run.system import State

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

    A run that comes back to a state, where messages are sent for ever, violates `delivered` if some message waits all
    the way round; whether the cycle is fair was decided when it was found.

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
                if known.name == mutant and isinstance(known.mutated, ir.Protocol)
            ),
            None,
        )
    if subject is None:
        raise ValueError(f"{file} has no protocol {protocol}" + (f" with a mutant {mutant}" if mutant else ""))
    system = system_of(subject, workload_of(settings, kind_of(subject)))
    taken = replay(system, [dict(step) for step in steps])
    found = violated_at_end(system, taken)
    if _starves([system.initial(), *(step.outcome.state for step in taken)]):
        found.add("delivered")
    return found


def _starves(states: Sequence[State]) -> bool:
    """Whether the last state is an earlier one again, and a message waits in all from there on."""
    start = next(at for at, state in enumerate(states) if state == states[-1])
    waiting = [{entry.message for entry in state.history.pending} for state in states[start:]]
    return len(waiting) > 1 and bool(set.intersection(*waiting))


def here(file: str) -> str:
    """The name of the file in a test: that of a library file, else an absolute path."""
    return str(Path(file).resolve()) if Path(file).exists() else file
