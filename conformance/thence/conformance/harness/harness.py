"""One case from its beginning to its outcome: the operations of a schedule or a scheduler, then the drain.

Nothing is random, so that (settings, operations) fix the case.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Operation
from thence.conformance.cases.schedulers import Scheduler
from thence.conformance.cases.surroundings import Surroundings
from thence.conformance.cases.time_limit import PATIENCE, OutOfTime, limited
from thence.conformance.harness.case import Case
from thence.conformance.harness.drain import drain
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.subject import MakeProcess


def run_case(
    make_process: MakeProcess,
    schedule: Iterable[Operation],
    settings: Settings,
    replay: Replay | None = None,
    *,
    limit_s: float | None = None,
) -> CaseOutcome:
    """Leads fresh processes through a schedule and the drain, and judges the case.

    A subject that takes longer than `limit_s` over the case hangs (in the main thread; elsewhere, no limit); where the
    process gets little processor time meanwhile, up to `PATIENCE` times as much again.
    """
    return _carried_through(Case(settings, replay), make_process, schedule, limit_s)


def run_scheduled(
    make_process: MakeProcess,
    scheduler: Scheduler,
    seed: int,
    operations: int,
    settings: Settings,
    replay: Replay | None = None,
    *,
    limit_s: float | None = None,
) -> CaseOutcome:
    """As `run_case`, with the operations that a scheduler chooses from `seed` as it goes."""
    case = Case(settings, replay)
    chosen = scheduler(Random(seed), settings, case.network, operations)
    return _carried_through(case, make_process, chosen, limit_s)


def _carried_through(
    case: Case, make_process: MakeProcess, schedule: Iterable[Operation], limit_s: float | None
) -> CaseOutcome:
    try:
        with Surroundings(), limited(limit_s, PATIENCE):
            case.start(make_process)
            for operation in schedule:
                case.perform(operation)
            drain(case)
    except OutOfTime:
        if limit_s is None:
            raise  # The limit is the caller's, and so is its meaning.
        case.give_up(limit_s)
    return case.settled()
