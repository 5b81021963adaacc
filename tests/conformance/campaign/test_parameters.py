"""Campaign parameters: bad ones are refused, and the identity is that of the cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.campaign import CampaignError, CampaignParameters

GOOD = CampaignParameters("package.module:factory", {"system": "mf", "processes": 3}, first_seed=10, cases=7, batch=3)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("runner", "module", "module:factory"),
        ("runner", "module:", "module:factory"),
        ("runner", "../x.py:f", "module:factory"),
        ("runner", 3, "module:factory"),
        ("cases", 0, "cases is 0"),
        ("cases", True, "cases is True"),
        ("cases", "10", "cases is '10'"),
        ("cases", 2**63, "cases is"),
        ("cases", 10**12, "more than 100,000 batches"),
        ("first_seed", -1, "first_seed is -1"),
        ("batch", 0, "batch is 0"),
        ("batch", 1_000_000, "batch is 1000000"),
        ("partitions", -2, "partitions is -2"),
        ("master", " ", "master is empty"),
        ("case_limit_s", 0, "case_limit_s is 0"),
        ("case_limit_s", float("nan"), "case_limit_s is nan"),
        ("params", {"of": object()}, "not JSON"),
        ("params", {"of": float("inf")}, "not JSON"),
        ("params", {1: "one"}, "not JSON"),
        ("params", {"of": (1, 2)}, "not JSON"),
    ],
)
def test_a_bad_value_is_refused_by_name(field: str, value: Any, says: str) -> None:
    with pytest.raises(CampaignError, match=says):
        replace(GOOD, **{field: value})


def test_json_and_back_is_the_same() -> None:
    assert CampaignParameters.from_json(GOOD.to_json()) == GOOD


@pytest.mark.parametrize("value", [None, [], {}, {**GOOD.to_json(), "more": 1}])
def test_other_json_is_refused(value: object) -> None:
    with pytest.raises(CampaignError, match="the parameters of a campaign are"):
        CampaignParameters.from_json(value)


def test_the_identity_is_that_of_the_cases_and_not_of_how_they_are_cut_up() -> None:
    assert replace(GOOD, batch=5, partitions=7, master="local[1]", case_limit_s=1.0).identity() == GOOD.identity()
    others = [
        replace(GOOD, runner="package.module:other"),
        replace(GOOD, params={"system": "mf", "processes": 4}),
        replace(GOOD, first_seed=11),
        replace(GOOD, cases=8),
    ]
    assert len({GOOD.identity(), *(other.identity() for other in others)}) == 5


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 500), st.integers(1, 200))
def test_every_seed_is_in_exactly_one_batch(first: int, cases: int, batch: int) -> None:
    parameters = replace(GOOD, first_seed=first, cases=cases, batch=batch)
    seeds = [seed for part in parameters.batches() for seed in part]
    assert seeds == list(range(first, parameters.end_seed))
    assert all(0 < len(part) <= batch for part in parameters.batches())
