"""A worker does a task only where it has the program of the machine that gave it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from thence.conformance.campaign.alike import UnlikeWorkerError, done_alike, program_here, run_cases_alike
from thence.conformance.campaign.case import load_runner, run_cases, runner_facts
from thence.conformance.campaign.parameters import canonical_json

RUNNER = "thence.conformance.campaign.several_systems:several_runner"
PARAMS = {"systems": [{"system": "thence.impl.rst:RST", "protocol": "rst"}, {"system": "thence.impl.fifo:Fifo"}]}


def test_the_same_program_does_the_task() -> None:
    assert done_alike(program_here(), len, "four") == 4


@pytest.mark.parametrize("name", [*program_here()])
def test_another_one_refuses_it_and_names_what_differs(name: str) -> None:
    wanted = {**program_here(), name: "another"}
    with pytest.raises(UnlikeWorkerError, match=f"a worker has another {name} ") as refused:
        done_alike(wanted, len, "four")
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def facts() -> dict[str, Any]:
    return runner_facts(load_runner(RUNNER, PARAMS))


def test_cases_run_where_the_runner_found_the_same_files() -> None:
    work = (RUNNER, canonical_json(PARAMS), 60.0, range(4))
    assert [*run_cases_alike(canonical_json(facts()), *work)] == [*run_cases(*work)]


@pytest.mark.parametrize(("system", "fact"), [("thence.impl.rst:RST", "protocol"), ("thence.impl.fifo:Fifo", "system")])
def test_no_case_runs_where_a_file_is_another_one(system: str, fact: str) -> None:
    """Of another text of a protocol or a class, a worker would give the outcomes under the name of this one."""
    other = facts()
    other["systems"][system][fact] = "another"
    with pytest.raises(UnlikeWorkerError, match=f"a worker has another {fact} of {system} than this machine"):
        run_cases_alike(canonical_json(other), RUNNER, canonical_json(PARAMS), 60.0, range(4))
