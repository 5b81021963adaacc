"""What the campaign tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from thence.conformance.campaign import CampaignParameters, Tally
from thence.conformance.campaign.case import run_cases
from thence.conformance.campaign.parameters import canonical_json
from thence.conformance.campaign.tally_rows import tally_rows


@pytest.fixture(autouse=True)
def demo_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`campaign_demo` imports by name, here and in the workers."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture
def rows_of() -> Callable[[CampaignParameters], pa.Table]:
    """All rows of a campaign, computed in this process without Spark."""

    def compute(parameters: CampaignParameters) -> pa.Table:
        seeds = range(parameters.first_seed, parameters.end_seed)
        streams = run_cases(parameters.runner, canonical_json(parameters.params), parameters.case_limit_s, seeds)
        return pa.concat_tables([pa.ipc.open_stream(stream).read_all() for stream in streams])

    return compute


@pytest.fixture
def tally_of(rows_of: Callable[[CampaignParameters], pa.Table]) -> Callable[[CampaignParameters], Tally]:
    """The tally of a campaign, computed in this process without Spark."""
    return lambda parameters: tally_rows(rows_of(parameters))
