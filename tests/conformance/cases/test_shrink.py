"""Delta debugging."""

from __future__ import annotations

import time
from itertools import combinations

from hypothesis import given, settings

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Lose, Operation, React, Receive, Schedule, Send, Tick, schedules
from thence.conformance.cases.shrink import Budget, minimise
from thence.conformance.harness.harness import run_case
from thence.conformance.replay.findings import DELIVERED, SENT
from thence.impl.mf import MF


def wanted(schedule: Schedule) -> Schedule | None:
    """Fails when process 2 sends twice and a timer fires somewhere after the first of the two."""
    sends = [index for index, operation in enumerate(schedule) if operation == Send(2, 0)]
    ticks = [index for index, operation in enumerate(schedule) if isinstance(operation, Tick)]
    return schedule if len(sends) >= 2 and ticks and ticks[-1] > sends[0] else None


@settings(derandomize=True, deadline=None, max_examples=50)
@given(schedules(Settings(), 30))
def test_only_what_is_needed_is_left(noise: Schedule) -> None:
    schedule = (*noise, Send(2, 0), *noise, Tick(1), Send(2, 0), *noise)
    shortest = minimise(schedule, wanted)
    assert len(shortest) == 3
    assert wanted(shortest) == shortest


def test_no_operation_and_no_pair_can_be_left_out() -> None:
    def stuck(schedule: Schedule) -> Schedule | None:
        outcome = run_case(MF, schedule, Settings(loss=True))
        return outcome.operations if "stuck" in outcome.kinds else None

    shortest = minimise((Send(1, 2), Tick(0), Send(2, 0), Receive(0), Lose(0), React(0, 1), Lose(500), Tick(1)), stuck)
    assert stuck(shortest) is not None
    for count in (1, 2):
        for left_out in combinations(range(len(shortest)), count):
            fewer = tuple(operation for index, operation in enumerate(shortest) if index not in left_out)
            assert stuck(fewer) is None
    assert shortest == (Send(0, 1), Lose(0, (0, 1)))


def test_processes_are_numbered_as_they_appear() -> None:
    def attempt(schedule: Schedule) -> Schedule | None:
        match schedule:
            case (Send(a, b), Receive(_, (c, d)), *_) if (a, b) == (c, d):
                return schedule
        return None

    assert minimise((Send(2, 1), Receive(3, (2, 1)), Tick(0)), attempt) == (Send(0, 1), Receive(0, (0, 1)))


def test_an_answer_becomes_a_send_at_the_place_where_it_was_given() -> None:
    def attempt(schedule: Schedule) -> Schedule | None:
        made = [
            (operation.destination, isinstance(operation, React))
            for operation in schedule
            if isinstance(operation, Send | React)
        ]
        return schedule if made in ([(1, True), (2, False)], [(2, False), (1, False)]) else None

    assert attempt((React(0, 1), Send(0, 2))) is not None
    shortest = minimise((React(0, 1), Send(0, 2), Receive(0)), attempt)
    assert not any(isinstance(operation, React) for operation in shortest)
    assert len(shortest) == 2


def test_what_does_not_fail_comes_back() -> None:
    schedule = (Send(0, 1), Tick(0))
    assert minimise(schedule, lambda _: None) == schedule


def test_the_budget_bounds_the_search() -> None:
    attempts = 0

    def attempt(schedule: Schedule) -> Schedule | None:
        nonlocal attempts
        attempts += 1
        return schedule if len(schedule) > 5 else None

    assert len(minimise((Tick(0),) * 40, attempt, Budget(3))) > 6
    assert attempts == 3


def test_a_slow_machine_comes_to_the_same_minimum() -> None:
    """Nothing looks at a clock: what is paid for is attempts, and hangs by their limit."""
    noise = (Send(0, 1), Tick(1), Send(1, 2), Receive(3)) * 6

    def slow(schedule: Schedule) -> Schedule | None:
        time.sleep(0.001)
        return wanted(schedule)

    schedule = (*noise, Send(2, 0), *noise, Tick(1), Send(2, 0), *noise)
    budgets = Budget(), Budget()
    assert minimise(schedule, wanted, budgets[0]) == minimise(schedule, slow, budgets[1])
    assert budgets[0].left == budgets[1].left > 0


def test_hangs_use_up_the_budget() -> None:
    budget, hangs = Budget(1_000), 0

    def hanging(schedule: Schedule) -> Schedule | None:
        nonlocal hangs
        hangs += 1
        budget.charge_hang(5.0)
        return schedule if Tick(1) in schedule else None

    minimise((*(Send(0, 1), Send(1, 2)) * 30, Tick(1)), hanging, budget)
    assert hangs == 4


def test_a_send_after_an_arrival_becomes_an_answer() -> None:
    """One operation less than the arrival and the send; the drain brings the delivery."""

    def attempt(schedule: Schedule) -> Schedule | None:
        outcome = run_case(MF, schedule, Settings())
        return outcome.operations if [entry[1] for entry in outcome.log if entry[0] == SENT] == [0, 1] else None

    schedule = (Send(0, 1), Receive(0, (0, 1)), Send(1, 2))
    assert attempt(schedule) == schedule
    assert minimise((Send(0, 1), Receive(0), Tick(2), Send(1, 2)), attempt) == (Send(0, 1), Send(1, 2))

    def after(schedule: Schedule) -> Schedule | None:
        outcome = run_case(MF, schedule, Settings())
        log = [entry[:2] for entry in outcome.log]
        return outcome.operations if (SENT, 1) in log and (DELIVERED, 1) in log[: log.index((SENT, 1))] else None

    assert minimise(schedule, after) == (React(1, 2), Send(0, 1))


def test_two_multicasts_become_one() -> None:
    def attempt(schedule: Schedule) -> Schedule | None:
        reached = {one for operation in schedule for one in TO.get(operation, ())}
        return schedule if reached >= {1, 2} else None

    assert minimise((Send(0, (2,)), Tick(1), Send(0, (1,)), Tick(2)), attempt) == (Send(0, (1, 2)),)


TO: dict[Operation, tuple[int, ...]] = {Send(0, to): to for to in ((1,), (2,), (1, 2))}
