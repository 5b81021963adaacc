"""Workers that have the same program as this machine: what another one finds is no finding of this one.

NOTE(same program): a task names its function, and a worker runs what it has under this name. So each task says what
the machine has that gave it, and a worker that has something else refuses it. Files of the library count, too: an
implementation is held against the protocol of its row, which a worker reads from its own library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from typing import TypeVar

from thence.conformance.campaign.case import built, run_cases, runner_facts
from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.campaign.store import changed_facts, code_fingerprint
from thence.conformance.tasks.kept_results import SOLVERS

THENCE = "Thence"

EDITED = (
    "a file of the library that was edited here is another Thence, too: put it back, and edit a copy of it outside of"
    " Thence"
)
"""What helps where only a file of the library differs."""

T = TypeVar("T")
R = TypeVar("R")


class UnlikeWorkerError(CampaignError):
    """A worker has another program, or other files, than the machine that gave it a task; the message says which."""


@cache
def program_here() -> Mapping[str, str]:
    """What results rest on, as this process has it: the hash of Thence, and the versions of solvers, by name."""
    return {THENCE: code_fingerprint(), **{name: version(name) for name in SOLVERS}}


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
                " them, and name their interpreter by PYSPARK_PYTHON" + (f"; {EDITED}" if name == THENCE else "")
            )
    return function(task)


def run_cases_alike(
    facts_json: str, runner: str, params_json: str, case_limit_s: float, seeds: Iterable[int]
) -> Iterator[bytes]:
    """As `run_cases`, on a worker where the runner has these facts: it found the same protocol and the same system.

    Raises:
        UnlikeWorkerError: it has others. CampaignError: as `load_runner`.
    """
    changed = changed_facts(json.loads(facts_json), runner_facts(built(runner, params_json)))
    if changed:
        raise UnlikeWorkerError(
            f"a worker has another {' and '.join(changed[:5])} than this machine: send the code with --py-files or"
            " --archives, or have the same files on all of them, by the same absolute names"
        )
    return run_cases(runner, params_json, case_limit_s, seeds)
