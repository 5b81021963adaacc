"""Finite evidence in a certificate, written down and read: executions of theories and runs of machines.

Every kind of evidence has a structure, read in one place: no sort is empty, every value is of its type, and the file is
the one written form of what was read. `evaluation` decides what the evidence shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from thence.dsl import ir
from thence.proofs.certificate.forms.json_form import compact, value_of
from thence.proofs.certificate.manifest import BadManifest, evidence_schema, hold_against
from thence.proofs.logic.structure import Structure, Table
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.transitions import actions
from thence.proofs.solving import assessment
from thence.proofs.solving.finite_models import Model

Read = TypeVar("Read")

MOST_ELEMENTS: Final = 64
"""Limit on the elements of a sort. Searches use a few; an ordered sort has one for each value that may differ."""

MOST_STEPS: Final = 200
HIGHEST: Final = 10_000
"""Limit on the numbers of a structure."""


class FalseEvidence(Exception):
    """A model or run that does not show its claim; the message says where it fails."""


# --- written -----------------------------------------------------------------------------------


def model_bytes(model: Model) -> bytes:
    """The file of a model."""
    environment = dict(sorted(model.environment.items()))
    return compact({"kind": "model", **_structure_json(model.structure), "environment": environment})


def run_bytes(run: assessment.RunEvidence) -> bytes:
    """The file of a run: where it starts, and its transitions."""
    steps = [{"transition": action.name, "arguments": list(arguments)} for action, arguments in run.steps]
    return compact({"kind": "run", **_structure_json(run.start), "steps": steps})


def _structure_json(structure: Structure) -> dict[str, Any]:
    tables = {
        name: [[*key, value] for key, value in sorted(table.items())]
        for name, table in sorted(structure.tables.items())
    }
    return {"universe": dict(sorted(structure.universe.items())), "tables": tables}


# --- read --------------------------------------------------------------------------------------


def form_fault(file: str, content: bytes) -> str | None:
    """The reason why a file is no evidence of any kind, or None."""
    try:
        value = value_of(content)
        hold_against(evidence_schema(value.get("kind") if isinstance(value, dict) else None), value, file)
    except ValueError as fault:
        return f"{file} is not JSON of the form that Thence writes: {fault}"
    except BadManifest as fault:
        return str(fault)
    return None if compact(value) == content else f"{file} is not written as Thence writes it"


def model_of(content: bytes) -> Model:
    """The model in a file that has no fault of form. Raises: FalseEvidence."""
    value = _of_kind(content, "model")
    model = Model(_structure(value), dict(value["environment"]))
    return _the_same(model, model_bytes(model), content)


def run_of(machine: ir.Machine, content: bytes) -> TransitionRun:
    """The run of this machine in a file that has no fault of form. Raises: FalseEvidence."""
    value = _of_kind(content, "run")
    known = {action.name: action for action in actions(machine)}
    if len(value["steps"]) > MOST_STEPS:
        raise FalseEvidence(f"it has more than {MOST_STEPS} steps")
    steps = []
    for number, told in enumerate(value["steps"], 1):
        action = known.get(told["transition"])
        if action is None or len(action.parameters) != len(told["arguments"]):
            raise FalseEvidence(f"step {number} is no transition of {machine.name}")
        steps.append((action, tuple(told["arguments"])))
    run = TransitionRun(_structure(value), tuple(steps))
    return _the_same(run, run_bytes(run), content)


def _of_kind(content: bytes, kind: str) -> Any:
    value = value_of(content)
    if value["kind"] != kind:
        raise FalseEvidence(f"it is a {value['kind']}, and a {kind} is due")
    return value


def _the_same(read: Read, written: bytes, content: bytes) -> Read:
    if written != content:
        raise FalseEvidence("it is not written as Thence writes it")
    return read


def _structure(value: Mapping[str, Any]) -> Structure:
    """The structure of any kind of evidence. Raises: FalseEvidence for an empty sort, a huge one or a huge number."""
    universe: dict[str, int] = dict(value["universe"])
    for sort, size in universe.items():
        if not 1 <= size <= MOST_ELEMENTS:
            raise FalseEvidence(f"{sort} has {size} elements; a sort has at least 1 and, here, at most {MOST_ELEMENTS}")
    tables: dict[str, Table] = {}
    for name, rows in value["tables"].items():
        if any(type(item) is not int for row in rows for item in row[:-1]):
            raise FalseEvidence(f"{name} has a row of something else than elements")
        if any(row[-1] > HIGHEST for row in rows):
            raise FalseEvidence(f"{name} has a number above {HIGHEST}")
        tables[name] = {tuple(row[:-1]): row[-1] for row in rows}
    return Structure(universe, tables)
