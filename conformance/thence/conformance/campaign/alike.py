"""Workers that have the same program as this machine: what another one finds is no finding of this one.

NOTE(same program): a task names its function, and a worker runs what it has under this name. So each task says what
the machine has that gave it, and a worker that has something else refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import TypeVar

from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.campaign.store import code_fingerprint
from thence.conformance.tasks.kept_results import SOLVERS

T = TypeVar("T")
R = TypeVar("R")


class UnlikeWorkerError(CampaignError):
    """A worker has another program than the machine that gave it a task; the message says what differs."""


@cache
def program_here() -> Mapping[str, str]:
    """What results rest on, as this process has it: the hash of Thence, and the versions of solvers, by name."""
    return {"Thence": code_fingerprint(), **{name: version(name) for name in SOLVERS}}


def done_alike(wanted: Mapping[str, str], function: Callable[[T], R], task: T) -> R:
    """On a worker: the result of the task, where the worker has the program that is wanted.

    Raises:
        UnlikeWorkerError: it has another one. Whatever `function` raises.
    """
    here = program_here()
    for name, asked in wanted.items():
        if here[name] != asked:
            raise UnlikeWorkerError(
                f"a worker has another {name} ({here[name]}) than this machine ({asked}): install the same on all of"
                " them, and name their interpreter by PYSPARK_PYTHON"
            )
    return function(task)
