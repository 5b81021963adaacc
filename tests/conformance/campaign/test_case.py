"""Rows of cases: whatever a runner does ends as a row."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from thence.conformance.campaign import CampaignError, SeedOutcome
from thence.conformance.campaign.case import SCHEMA, load_runner, row_digest, run_cases

WALK = json.dumps({"steps": 20, "limit": 6})


def rows(runner: str, params: str, seeds: range, limit_s: float = 10.0) -> pa.Table:
    return pa.concat_tables(
        [pa.ipc.open_stream(stream).read_all() for stream in run_cases(runner, params, limit_s, seeds)]
    )


def test_one_row_a_seed_with_the_operations_of_failing_cases_only() -> None:
    table = rows("campaign_demo:walk", WALK, range(100, 300))
    assert table.schema == SCHEMA
    assert table.column("seed").to_pylist() == list(range(100, 300))
    found = table.to_pylist()
    failing = [row for row in found if row["findings"]]
    assert 0 < len(failing) < len(found)
    assert all(row["operations"] is not None for row in failing)
    assert all(row["operations"] is None for row in found if not row["findings"])


def test_no_seeds_give_nothing() -> None:
    assert list(run_cases("campaign_demo:walk", WALK, 10.0, range(0))) == []


def test_rows_do_not_depend_on_what_ran_before() -> None:
    whole = rows("campaign_demo:walk", WALK, range(0, 60)).to_pylist()
    last, middle, first = (rows("campaign_demo:walk", WALK, range(at, at + 20)).to_pylist() for at in (40, 20, 0))
    assert [*first, *middle, *last] == whole


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("raise", "RuntimeError: the case fell over"),
        ("exit", "SystemExit: 3"),
        ("hang", "CaseTimeout: no outcome after 0.2 s"),
        ("other seed", "ValueError: the runner returned the outcome of seed 4"),
        ("bad findings", "TypeError: findings are a tuple of texts, not ['a list']"),
    ],
)
def test_a_case_without_an_outcome_is_an_error_and_the_next_one_runs(how: str, error: str) -> None:
    table = rows("campaign_demo:troubled", json.dumps({"how": how, "at": 3}), range(0, 6), limit_s=0.2)
    assert table.column("error").to_pylist() == [None, None, None, error, None, None]
    assert table.column("events").to_pylist() == [1, 1, 1, 0, 1, 1]


def test_outside_the_main_thread_cases_run_without_a_limit() -> None:
    tables: list[pa.Table] = []
    thread = threading.Thread(target=lambda: tables.append(rows("campaign_demo:walk", WALK, range(0, 5))))
    thread.start()
    thread.join()
    assert tables[0].num_rows == 5


def test_a_process_builds_the_case_function_once(tmp_path: Path) -> None:
    params = json.dumps({"built": str(tmp_path)})
    for first in (0, 10, 20):
        assert rows("campaign_demo:counted", params, range(first, first + 10)).num_rows == 10
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("runner", "says"),
    [
        ("no_such_module:walk", "no_such_module does not import: ModuleNotFoundError"),
        ("campaign_demo:no_such_function", "has no function no_such_function"),
        ("campaign_demo:NOT_A_FUNCTION", "has no function NOT_A_FUNCTION"),
        ("campaign_demo:refusing", "does not take the parameters: ValueError: unknown system 'mf'"),
        ("campaign_demo:walk", "does not take the parameters: KeyError: 'steps'"),
        ("campaign_demo:useless", "made int, not a function of a seed"),
    ],
)
def test_a_runner_that_cannot_be_built_is_explained(runner: str, says: str) -> None:
    with pytest.raises(CampaignError, match=says):
        load_runner(runner, {"system": "mf"})


def test_the_row_digest_sees_everything_but_the_wording_of_an_error() -> None:
    outcome = SeedOutcome(seed=1, events=2, findings=("causal",), digest=3, group="uniform")
    others = [
        SeedOutcome(seed=2, events=2, findings=("causal",), digest=3, group="uniform"),
        SeedOutcome(seed=1, events=3, findings=("causal",), digest=3, group="uniform"),
        SeedOutcome(seed=1, events=2, findings=("fifo",), digest=3, group="uniform"),
        SeedOutcome(seed=1, events=2, findings=("causal",), digest=4, group="uniform"),
        SeedOutcome(seed=1, events=2, findings=("causal",), digest=3, group="starve"),
    ]
    digests = {row_digest(each, None) for each in (outcome, *others)}
    assert len(digests) == 6
    assert all(-(2**63) <= digest < 2**63 for digest in digests)
    assert row_digest(outcome, "TypeError: at 0x1") == row_digest(outcome, "TypeError: at 0x2")
    assert row_digest(outcome, "TypeError: at 0x1") != row_digest(outcome, None)
