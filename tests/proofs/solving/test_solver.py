"""Solver processes: limits are kept, dead processes are unknown answers, searches go stage by stage."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from thence.proofs.solving import solver
from thence.proofs.solving.solver import Answer, Check, SolverName, SolverPool, Stage, StagedSearch, Worker
from thence.proofs.solving.solver_worker import SMALL
from thence.proofs.solving.worker_process import WorkerProcess


def pigeons(holes: int) -> str:
    """One pigeon more than holes: hard for every solver that reasons by resolution."""
    sits = {(p, h): f"s{p}_{h}" for p in range(holes + 1) for h in range(holes)}
    lines = [f"(declare-const {name} Bool)" for name in sits.values()]
    lines += [f"(assert (or {' '.join(sits[p, h] for h in range(holes))}))" for p in range(holes + 1)]
    pairs = [(p, q) for p in range(holes + 1) for q in range(p)]
    lines += [f"(assert (not (and {sits[p, h]} {sits[q, h]})))" for h in range(holes) for p, q in pairs]
    return "\n".join(["(set-logic ALL)", *lines, "(check-sat)"])


HARD = pigeons(14)


def test_both_solvers_answer(pool: SolverPool) -> None:
    text = "(set-logic ALL)(declare-const p Bool)(assert p)(assert (not p))(check-sat)"
    answers = dict(pool.answers([Check("z3", text, 5_000, 0), Check("cvc5", text, 5_000, 0)]))
    assert {answer.status for answer in answers.values()} == {"unsat"}


@pytest.mark.parametrize(
    ("declared", "asserted"),
    [
        ("(declare-const k Bool)", "(and k (not k))"),
        ("(declare-sort S 0)(declare-fun f (S) S)", "(exists ((x S)) (distinct x (f x) (f (f x)) x))"),
        ("", "(< 1 0)"),
        ("(declare-const k Int)", "(and (< k 1) (< 0 k))"),
        ("(declare-sort S 0)(declare-fun f (S Bool) Int)", "(exists ((x S)) (< (f x true) (- (f x true) 1)))"),
        ("", "(exists ((x Int)) (= (ite (<= x 1) 2 x) (- x 1)))"),
    ],
)
def test_cvc5_knows_what_a_text_speaks_of(pool: SolverPool, declared: str, asserted: str) -> None:
    """It is asked in a logic without numbers where a text has none, and refuses what is not in its logic."""
    for stated, status in ((asserted, "unsat"), (f"(=> {asserted} false)", "sat")):
        answer = pool.ask(Check("cvc5", f"(set-logic ALL)\n{declared}(assert {stated})(check-sat)\n", 5_000, 0))
        assert (answer.status, answer.reason) == (status, "")


def test_text_that_is_wrong_is_unknown_with_the_solvers_words(pool: SolverPool) -> None:
    names: tuple[SolverName, ...] = ("z3", "cvc5")
    for name in names:
        answer = pool.ask(Check(name, "(set-logic ALL)(assert undeclared)(check-sat)", 5_000, 0))
        assert answer.status == "unknown"
        assert "undeclared" in answer.reason


def test_a_limit_counts_as_effort_and_not_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    names: tuple[SolverName, ...] = ("z3", "cvc5")
    for name in names:
        monkeypatch.setattr(solver, "PATIENCE", 100_000)
        worker = Worker()
        try:
            answer = worker.ask(Check.within(name, HARD, 50, 0))
        finally:
            worker.close()
        assert (answer.status, answer.reason, answer.lost) == ("unknown", "timeout", False)


def test_what_was_decided_within_other_limits_is_not_asked_again() -> None:
    with SolverPool(1) as own:
        small = pigeons(3)
        first = own.ask(Check.within("z3", small, 1_000, 0))
        assert own.ask(Check.within("z3", small, 2_000, 0)) == first and own.solved == 1
        assert own.ask(Check.within("z3", small, 2_000, 1)).status == "unsat" and own.solved == 2
        assert own.ask(Check.within("z3", HARD, 50, 0)).status == "unknown"
        assert own.ask(Check.within("z3", HARD, 60, 0)).status == "unknown" and own.solved == 4


def test_what_was_decided_later_within_a_larger_limit_is_not_unknown_any_more() -> None:
    with SolverPool(1) as own:
        short, long = (Check("z3", pigeons(5), 60_000, 0, effort=effort) for effort in (100, 100_000_000))
        assert own.ask(short).status == "unknown"
        assert own.ask(long).status == "unsat"
        assert own.ask(short).status == "unsat" and own.solved == 2


def test_the_time_limit_is_kept_by_killing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "GRACE_MS", -5_900)
    worker = Worker()
    try:
        started = time.monotonic()
        answer = worker.ask(Check("cvc5", HARD, 1_500, 0))
        assert time.monotonic() - started < 5
        assert answer.status == "unknown"
        assert "killed" in answer.reason
        monkeypatch.setattr(solver, "GRACE_MS", 2_000)
        assert worker.ask(Check("z3", "(check-sat)", 5_000, 0)).status == "sat"
    finally:
        worker.close()


SLOW = """
import runpy, time
time.sleep(2.5)
runpy.run_module("thence.proofs.solving.solver_worker", run_name="__main__")
"""


def test_to_start_takes_no_time_of_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a process takes longer to start than a short question has."""
    (tmp_path / "slow_solver_worker.py").write_text(SLOW, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(solver, "WorkerProcess", lambda _module: WorkerProcess("slow_solver_worker"))
    monkeypatch.setattr(solver, "GRACE_MS", 0)
    worker = Worker()
    try:
        assert worker.ask(Check("z3", "(check-sat)", 2_000, 0)).status == "sat"
        assert worker.ask(Check("cvc5", "(set-logic ALL)(check-sat)", 2_000, 0)).status == "sat"
    finally:
        worker.close()


def test_a_process_that_dies_is_unknown_and_replaced() -> None:
    worker = Worker()
    try:
        assert worker.ask(Check("z3", "(check-sat)", 5_000, 0)).status == "sat"
        assert worker._process is not None
        number = worker._process.pid
        threading.Timer(0.5, lambda: os.kill(number, signal.SIGKILL)).start()
        answer = worker.ask(Check("cvc5", HARD, 10_000, 0))
        assert answer.status == "unknown"
        assert "died" in answer.reason
        assert worker.ask(Check("z3", "(check-sat)", 5_000, 0)).status == "sat"
        assert worker._process is not None and worker._process.pid != number
    finally:
        worker.close()


def test_closing_the_pool_leaves_no_process() -> None:
    with SolverPool(2) as pool:
        assert len(dict(pool.answers([Check("z3", "(check-sat)", 5_000, 0)] * 4))) == 4
        processes = [worker._process for worker in pool._workers if worker._process is not None]
        assert processes
    assert all(process.poll() is not None for process in processes)


def test_leaving_the_pool_does_not_wait_for_what_runs() -> None:
    started = time.monotonic()
    with SolverPool(1) as pool:
        running, waiting = pool.submit(Check("cvc5", HARD, 60_000, 0)), pool.submit(Check("z3", HARD, 60_000, 0))
        time.sleep(0.5)
    assert time.monotonic() - started < 10
    assert waiting.cancelled()
    assert running.exception() is not None or running.result().status == "unknown"


@pytest.mark.parametrize("delay_s", [0, 0.001, 0.01, 0.05])
def test_a_pool_left_while_its_process_starts_does_not_wait(delay_s: float) -> None:
    started = time.monotonic()
    with SolverPool(2) as pool:
        asked = [pool.submit(Check("cvc5", HARD, 60_000, seed)) for seed in range(2)]
        time.sleep(delay_s)
    assert time.monotonic() - started < 10
    assert all(future.cancelled() or future.result().status == "unknown" for future in asked)


def test_a_question_is_asked_once() -> None:
    check = Check("z3", "(declare-const a Bool)(assert a)(check-sat)", 5_000, 0)
    with SolverPool(1) as pool:
        assert [pool.ask(each).status for each in (check, check, replace(check, seed=1))] == ["sat"] * 3
        assert pool.solved == 2
        pool.ask(check, anew=True)
        assert pool.solved == 3
        pool.forget()
        assert pool.ask(check).status == "sat" and pool.solved == 4


def test_obligations_of_different_names_that_ask_the_same_are_asked_once() -> None:
    texts = [f"; {name}\n(declare-const a Bool) ; {name}\n(assert {said})\n(check-sat)" for name, said in
             (("one", "a"), ("two", "(and a (not a))"), ("three", "a"))]  # fmt: skip
    with SolverPool(2) as pool:
        answers = dict(pool.answers([Check("z3", text, 5_000, 0) for text in texts]))
        assert [answers[number].status for number in range(3)] == ["sat", "unsat", "sat"]
        assert pool.solved == 2
        assert pool.ask(Check("z3", texts[0].replace("one", "four"), 5_000, 0)).status == "sat" and pool.solved == 2


def test_an_answer_that_was_lost_is_asked_for_again() -> None:
    check = Check("z3", "(check-sat)", 5_000, 0)
    with SolverPool(1) as pool:
        (worker,) = pool._workers
        ask, worker.ask = worker.ask, lambda _: Answer("unknown", "killed", 0.0, lost=True)  # type: ignore[method-assign]
        assert pool.ask(check).status == "unknown"
        worker.ask = ask  # type: ignore[method-assign]
        assert pool.ask(check).status == "sat"


def test_one_goal_of_a_group_is_enough(pool: SolverPool) -> None:
    goals = {"one": "g1", "other": "g2", "alone": "g3"}
    stages = (Stage(("(not |g1|)",), {"one": "g1"}), Stage((), goals), Stage((), goals))
    constants = dict.fromkeys(["g1", "g2", "g3"], "Bool")
    groups = {"one": "pair", "other": "pair", "alone": "alone"}
    alone = pool.ask(StagedSearch(constants, stages, (), 5_000, 0))
    assert alone.models.keys() == {"other", "alone"}
    grouped = pool.ask(StagedSearch(constants, stages, (), 5_000, 0, alternatives=groups))
    assert grouped.models.keys() == {"other", "alone"} and grouped.models["other"].stage == 1
    free = (Stage((), goals),)
    assert pool.ask(StagedSearch(constants, free, (), 5_000, 0, alternatives=groups)).models.keys() == {"one", "alone"}


def test_a_search_stops_at_the_first_stage_with_a_model(pool: SolverPool) -> None:
    stages = (
        Stage(("(or |a| |b|)", "(=> |g0| (and |a| (not |a|)))"), {"goal": "g0"}),
        Stage(("(=> |g1| |b|)",), {"goal": "g1"}),
        Stage(("(=> |g2| true)",), {"goal": "g2"}),
    )
    constants = dict.fromkeys(["a", "b", "g0", "g1", "g2"], "Bool")
    answer = pool.ask(StagedSearch(constants, stages, (), 5_000, 0))
    assert answer.status == "done"
    assert answer.models["goal"].stage == 1
    assert answer.models["goal"].values["b"] is True


def test_a_search_without_a_model_is_done_and_empty(pool: SolverPool) -> None:
    stage = Stage(("(=> |g| (and |a| (not |a|)))",), {"goal": "g"})
    answer = pool.ask(StagedSearch({"a": "Bool", "g": "Bool"}, (stage,), (), 5_000, 0))
    assert answer.status == "done" and not answer.models


def test_models_are_minimal(pool: SolverPool) -> None:
    names = [f"x{number}" for number in range(12)]
    assertion = f"(or {' '.join(f'|{name}|' for name in names)})"
    constants = dict.fromkeys([*names, "goal"], "Bool")
    answer = pool.ask(StagedSearch(constants, (Stage((assertion,), {"goal": "goal"}),), tuple(names), 5_000, 0))
    assert sum(bool(answer.models["goal"].values[name]) for name in names) == 1


@pytest.mark.parametrize("kind", ["Bool", "Int"])
def test_models_have_as_few_true_facts_as_can_be(pool: SolverPool, kind: str) -> None:
    """Each of ten ways out is minimal by itself, with 10, 9, ... 1 facts; the one with a single fact is taken."""
    ways = [[f"w{way}_{number}" for number in range(10 - way)] for way in range(10)]
    assertion = f"(or {' '.join('(and ' + ' '.join(f'|{name}|' for name in way) + ')' for way in ways)})"
    names = [name for way in ways for name in way]
    constants = {**dict.fromkeys([*names, "goal"], "Bool"), "other": kind}
    answer = pool.ask(StagedSearch(constants, (Stage((assertion,), {"goal": "goal"}),), tuple(names), 5_000, 0))
    assert sum(bool(answer.models["goal"].values[name]) for name in names) == 1


def test_numbers_are_searched_too(pool: SolverPool) -> None:
    stage = Stage(("(< 3 |n|)", "(< |n| 5)"), {"goal": "goal"})
    answer = pool.ask(StagedSearch({"n": "Int", "goal": "Bool"}, (stage,), (), 5_000, 0))
    assert answer.models["goal"].values["n"] == 4


@pytest.mark.parametrize(("below", "found"), [(None, True), (8, True), (7, False)])
def test_numbers_can_be_kept_small(pool: SolverPool, below: int | None, found: bool) -> None:
    stage = Stage(
        ("(=> |goal| (= |n| (+ |m| 3)))", "(=> |goal| (<= 4 |m|))", "(=> |goal| (<= 0 |n|))"), {"goal": "goal"}
    )
    constants = {"n": "Int", "m": "Int", "goal": "Bool"}
    answer = pool.ask(StagedSearch(constants, (stage,), (), 5_000, 0, below))
    assert answer.status == "done"
    assert ("goal" in answer.models) == found


def test_what_was_found_in_time_is_kept(pool: SolverPool) -> None:
    """The second stage puts twelve pigeons into eleven holes."""
    inside = [[f"|p{pigeon}h{hole}|" for hole in range(11)] for pigeon in range(12)]
    somewhere = [f"(or {' '.join(holes)})" for holes in inside]
    alone = [
        f"(not (and {inside[one][hole]} {inside[other][hole]}))"
        for hole in range(11)
        for one in range(12)
        for other in range(one)
    ]
    stages = (Stage((), {"easy": "easy"}), Stage((*somewhere, *alone), {"easy": "easy", "hard": "hard"}))
    constants = dict.fromkeys(["easy", "hard", *(name.strip("|") for holes in inside for name in holes)], "Bool")
    answer = pool.ask(StagedSearch(constants, stages, (), 1_500, 0))
    assert answer.status == "unknown"
    assert answer.models.keys() == {"easy"}


def test_a_pool_needs_a_worker() -> None:
    with pytest.raises(ValueError, match="worker"):
        SolverPool(0)


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_little_effort_gives_up_where_more_does_not(pool: SolverPool, solver: SolverName) -> None:
    """Not by the clock, so that the same is decided on every machine."""
    text = pigeons(6)
    assert pool.ask(Check(solver, text, 20_000, 0, effort=10)).status == "unknown"
    assert pool.ask(Check(solver, text, 20_000, 0)).status == "unsat"


def test_numbers_are_as_small_as_one_of_the_bounds_allows(pool: SolverPool) -> None:
    """Of random points, one is taken below the first bound that has any."""
    constants = {"x": "Int", "y": "Int", "goal": "Bool"}
    smaller = 0
    for seed in range(30):
        one = Random(seed)
        points = [tuple(one.choice((1, 3, 12, 30, 21_238)) for _ in constants if _ != "goal") for _ in range(3)]
        way = " ".join(f"(and (= |x| {x}) (= |y| {y}))" for x, y in points)
        stage = Stage((f"(or {way})",), {"goal": "goal"})
        found = {}
        for asked in ((), ("x", "y")):
            values = pool.ask(StagedSearch(constants, (stage,), asked, 5_000, 0)).models["goal"].values
            found[asked] = values["x"], values["y"]
            assert found[asked] in points
        bound = next((each for each in SMALL if any(max(point) < each for point in points)), None)
        assert bound is None or max(found["x", "y"]) < bound
        smaller += found["x", "y"] < found[()]
    assert smaller


def test_small_numbers_cost_no_true_facts(pool: SolverPool) -> None:
    """The number is small with two facts, and large with one: few facts come first."""
    constants = {"a": "Bool", "b": "Bool", "c": "Bool", "n": "Int", "goal": "Bool"}
    stage = Stage(("(or (and |a| |b| (= |n| 1)) (and |c| (> |n| 30)))",), {"goal": "goal"})
    values = pool.ask(StagedSearch(constants, (stage,), ("a", "b", "c", "n"), 5_000, 0)).models["goal"].values
    assert [values["a"], values["b"], values["c"]] == [False, False, True]


def test_a_watch_gives_up_what_is_waited_for_and_the_pool_goes_on(pool: SolverPool) -> None:
    """One answer that is waited for, and several of which one is there."""

    class Over(Exception):
        pass

    easy = Check("z3", "(set-logic ALL)(declare-const q Bool)(assert q)(check-sat)", 5_000, 0)
    hard = Check("z3", HARD, 600_000, 0)

    def over() -> None:
        raise Over

    with pool.watched(over):
        with pytest.raises(Over):
            pool.ask(hard)
        there: list[Answer] = []
        with pytest.raises(Over):
            there.extend(answer for _, answer in pool.answers([easy, hard, replace(hard, seed=1)]))
    assert pool.ask(easy).status == "sat"
    with pool.watched(lambda: None):
        assert dict(pool.answers([replace(easy, seed=2), replace(easy, seed=3)]))[0].status == "sat"
