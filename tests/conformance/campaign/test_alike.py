"""A worker does a task only where it has the program of the machine that gave it."""

from __future__ import annotations

import pickle

import pytest

from thence.conformance.campaign.alike import UnlikeWorkerError, done_alike, program_here


def test_the_same_program_does_the_task() -> None:
    assert done_alike(program_here(), len, "four") == 4


@pytest.mark.parametrize("name", [*program_here()])
def test_another_one_refuses_it_and_names_what_differs(name: str) -> None:
    wanted = {**program_here(), name: "another"}
    with pytest.raises(UnlikeWorkerError, match=f"a worker has another {name} ") as refused:
        done_alike(wanted, len, "four")
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
