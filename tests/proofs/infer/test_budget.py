"""The time limit of a search is kept, and counts processor time."""

from __future__ import annotations

import time

import pytest

from thence.proofs.infer.budget import Budget, FirstPart, OutOfTime
from thence.proofs.infer.finite.solver_process import Asked, SolverProcess

HOLES = 8
"""So many pigeonholes: a solver does not decide in seconds whether one more pigeon fits in."""


def spend(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def pigeons(process: SolverProcess, holes: int) -> int:
    solver = process.new_solver()
    sits = [[f"p{pigeon}_{hole}" for hole in range(holes)] for pigeon in range(holes + 1)]
    somewhere = [f"(or {' '.join(row)})" for row in sits]
    alone = [
        f"(not (and {sits[one][hole]} {sits[other][hole]}))"
        for hole in range(holes)
        for one in range(holes + 1)
        for other in range(one)
    ]
    process.tell(solver, {name: "Bool" for row in sits for name in row}, [*somewhere, *alone])
    return solver


def test_waiting_is_not_counted() -> None:
    budget = Budget(10.0)
    time.sleep(0.3)
    assert budget.spent < 0.2
    spend(0.3)
    assert 0.3 <= budget.spent < 1.0 and budget.left == pytest.approx(10.0 - budget.spent, abs=0.1)


def test_what_others_take_counts_from_when_they_are_named() -> None:
    taken = [5.0]
    budget = Budget(10.0)
    budget.count(lambda: taken[0])
    part = budget.part(3.0)
    assert budget.spent < 1.0
    taken[0] += 4.0
    assert 4.0 <= budget.spent < 5.0 and part.left < 0 < budget.left
    budget.check()
    with pytest.raises(OutOfTime, match=r"time limit is over, 4 s"):
        part.check()


def test_a_question_has_what_is_left() -> None:
    budget = Budget(2.0)
    assert budget.at_most(500) == 500
    assert 1_000 < budget.at_most(5_000) <= 2_000
    budget.seconds = 0.0
    with pytest.raises(OutOfTime):
        budget.at_most(500)


def test_the_time_of_a_solver_counts() -> None:
    budget = Budget(60.0)
    with SolverProcess(budget) as process:
        process.check(pigeons(process, 2), Asked((), ()))
        own = budget.spent
        process.check(pigeons(process, HOLES), Asked((), ()))
        assert budget.spent > own + 0.05


def test_a_hard_question_ends_with_the_time_and_the_process_is_there_for_others() -> None:
    budget = Budget(2.0)
    with SolverProcess(budget) as process:
        hard = pigeons(process, HOLES + 3)
        with pytest.raises(OutOfTime, match="the time limit is over"):
            process.check(hard, Asked((), ()))
        assert 2.0 <= budget.spent < 5.0
        budget.seconds = 60.0
        process.renew()
        assert process.check(pigeons(process, 2), Asked((), ())).values is None


def test_a_question_that_had_less_time_than_it_was_to_have_is_not_answered() -> None:
    with SolverProcess(Budget(600.0)) as process:
        hard = pigeons(process, HOLES + 3)
        assert process.try_check(hard, Asked((), ()), 0.2) is None
        process.budget.seconds = process.budget.spent + 0.2
        with pytest.raises(OutOfTime):
            process.try_check(hard, Asked((), ()), 2.0)


def test_a_question_is_given_up_where_others_take_the_rest_of_the_time() -> None:
    """Its own limit is far off. The meter stands for processes that work meanwhile."""
    budget, started = Budget(10.0), time.monotonic()
    with SolverProcess(budget) as process:
        hard = pigeons(process, HOLES + 5)
        budget.count(lambda: 20 * (time.monotonic() - started))
        with pytest.raises(OutOfTime):
            process.try_check(hard, Asked((), ()), 9.0)
        own = budget.spent - 20 * (time.monotonic() - started)
        assert budget.is_overrun and own < 5.0


def test_a_part_of_the_time_is_not_the_end_of_it() -> None:
    """Questions are given up at the end of the whole time."""
    budget = Budget(60.0)
    budget.seconds = 0.0
    part = budget.part(-5.0)
    assert not budget.is_overrun and not part.is_overrun
    part.look()
    taken = [0.0]
    budget.count(lambda: taken[0])
    taken[0] = 100.0
    assert budget.is_overrun and part.is_overrun
    with pytest.raises(OutOfTime):
        part.look()


def test_a_killed_process_is_replaced() -> None:
    budget = Budget(60.0)
    with SolverProcess(budget) as process:
        process.check(pigeons(process, 2), Asked((), ()))
        process.kill()
        with pytest.raises(OutOfTime):
            process.check(pigeons(process, 2), Asked((), ()))
        budget.seconds = 60.0
        with pytest.raises(OutOfTime, match="died"):
            process.check(pigeons(process, 2), Asked((), ()))
        process.renew()
        assert process.check(pigeons(process, 2), Asked((), ())).values is None


def test_a_loop_notices_the_end_of_its_time_soon() -> None:
    """And at once where the limit is lowered."""
    budget = Budget(0.2)
    with pytest.raises(OutOfTime):
        while True:
            budget.check()
    assert 0.2 <= budget.spent < 1.0
    budget.seconds = 60.0
    budget.check()
    budget.seconds = 0.1
    with pytest.raises(OutOfTime):
        budget.check()


def test_a_first_part_is_lengthened_and_what_goes_on_beside_it_takes_nothing() -> None:
    budget, beside, other = Budget(100.0), [0.0], [0.0]
    budget.count(lambda: beside[0] + other[0])
    part = FirstPart(budget, 50.0, lambda: beside[0])
    assert budget.seconds == 50.0
    beside[0], other[0] = 30.0, 45.0
    part.renew()
    assert budget.seconds == 80.0 and 0.0 < budget.left <= 5.0
    part.lengthen(10.0, 75.0)
    assert 9.0 < budget.left <= 10.0
    part.lengthen(2.0, 75.0)  # it has more than that
    assert 9.0 < budget.left <= 10.0
    part.lengthen(60.0, 75.0)
    assert budget.seconds == 105.0 and budget.whole == 100.0


def test_a_first_part_that_is_over_may_go_on() -> None:
    budget, spent = Budget(100.0), [60.0]
    budget.count(lambda: spent[0])
    spent[0] = 120.0
    part = FirstPart(budget, 50.0, lambda: 0.0)
    with pytest.raises(OutOfTime):
        budget.check()
    part.lengthen(12.0, 75.0)
    assert 0.0 < budget.left <= 12.0
