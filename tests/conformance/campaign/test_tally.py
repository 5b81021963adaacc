"""Tallies add up in any order, and the bound on the failure rate is the exact one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.campaign import CampaignParameters, Tally, failure_bound
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.cases.tally import kind_of

WALK = CampaignParameters("campaign_demo:walk", {"steps": 20, "limit": 6}, cases=200)


def test_parts_in_any_order_add_up_to_the_whole(rows_of: Callable[[CampaignParameters], pa.Table]) -> None:
    table = rows_of(WALK)
    whole = tally_rows(table)
    parts = [tally_rows(table.slice(first, 30)) for first in range(0, 200, 30)]
    assert reduce(Tally.__add__, parts, Tally()) == whole
    assert reduce(Tally.__add__, reversed(parts), Tally()) == whole
    assert whole.cases == 200
    assert whole.events == 4_000
    assert set(whole.kinds) == {"above"}
    assert whole.kinds["above"] == whole.failures == sum(count.failures for count in whole.groups.values())
    assert {group: count.cases for group, count in whole.groups.items()} == {"even": 100, "odd": 100}


def test_a_lost_or_repeated_case_changes_the_digest(rows_of: Callable[[CampaignParameters], pa.Table]) -> None:
    table = rows_of(WALK)
    digest = tally_rows(table).digest
    assert tally_rows(table.slice(1)).digest != digest
    assert tally_rows(pa.concat_tables([table, table.slice(5, 1)])).digest != digest
    assert tally_rows(pa.concat_tables([table.slice(1), table.slice(5, 1)])).digest != digest


def test_cases_without_an_outcome_are_errors_and_not_failures(
    tally_of: Callable[[CampaignParameters], Tally],
) -> None:
    tally = tally_of(replace(WALK, runner="campaign_demo:troubled", params={"how": "raise", "at": 3}, cases=5))
    assert (tally.cases, tally.errors, tally.failures) == (5, 1, 0)


def test_json_and_back_is_the_same(tally_of: Callable[[CampaignParameters], Tally]) -> None:
    tally = tally_of(WALK)
    assert Tally.from_json(tally.to_json()) == tally
    assert len(tally.to_json()["digest"]) == 16


def test_kind_of_a_finding() -> None:
    assert kind_of("causal: m1 before m0 at p2") == kind_of("causal") == "causal"


@pytest.mark.parametrize(
    ("cases", "failures", "bound"),
    # Clopper and Pearson, one-sided 95 %: quantiles of the beta distribution.
    [(10, 0, 0.2589), (10, 1, 0.3942), (20, 2, 0.2826), (50, 5, 0.1984), (100, 0, 0.0295), (10, 10, 1.0), (0, 0, 1.0)],
)
def test_bound_against_tables(cases: int, failures: int, bound: float) -> None:
    assert failure_bound(cases, failures) == pytest.approx(bound, abs=6e-4)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 300), st.data())
def test_at_the_bound_so_few_failures_have_probability_five_percent(cases: int, data: st.DataObject) -> None:
    failures = data.draw(st.integers(0, cases - 1))
    rate = failure_bound(cases, failures)
    at_most = sum(math.comb(cases, k) * rate**k * (1 - rate) ** (cases - k) for k in range(failures + 1))
    assert at_most == pytest.approx(0.05, rel=1e-5)


def test_bound_for_a_million_cases() -> None:
    assert failure_bound(1_000_000, 0) == pytest.approx(2.9957e-6, rel=1e-3)
    assert failure_bound(1_000_000, 500_000) == pytest.approx(0.5 + 1.645 * 0.0005, rel=1e-4)


@pytest.mark.parametrize(("cases", "failures", "confidence"), [(5, 6, 0.95), (5, -1, 0.95), (5, 1, 1.0), (5, 1, 0.0)])
def test_bound_of_nonsense(cases: int, failures: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="failures"):
        failure_bound(cases, failures, confidence)
