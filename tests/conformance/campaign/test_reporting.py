"""The status, the result and the report of a campaign on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thence.conformance.campaign import (
    CampaignError,
    CampaignParameters,
    failing_cases,
    failure_bound,
    report,
    result,
    status,
    write_report,
)
from thence.conformance.campaign.store import create, finished_batches, read_rows, write_batch
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.cases.tally import Count
from thence.spec.verdict import Level, Verdict

WALK = CampaignParameters("campaign_demo:walk", {"system": "<b>walk", "steps": 20, "limit": 6}, cases=60, batch=20)

Write = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path, rows_of: Callable[[CampaignParameters], pa.Table]) -> Write:
    """Write a campaign without Spark, up to a number of batches."""

    def write(parameters: CampaignParameters, batches: int | None = None) -> Path:
        directory = tmp_path / "campaign"
        directory.mkdir()
        create(directory, parameters, {})
        table = rows_of(parameters)
        for seeds in parameters.batches()[:batches]:
            rows = table.slice(seeds.start, len(seeds))
            write_batch(directory, parameters, seeds, rows, tally_rows(rows))
        return directory

    return write


def test_a_campaign_with_failures_is_refuted_even_when_incomplete(written: Write) -> None:
    now = status(written(WALK, 2))
    assert not now.complete
    assert now.tally.failures > 0
    assert now.verdict is Verdict.REFUTED


def test_a_complete_campaign_without_failures_is_tested(written: Write) -> None:
    now = status(written(replace(WALK, params={"steps": 20, "limit": 20})))
    assert now.complete
    assert now.verdict is Verdict.TESTED
    said = result(now, 1.5)
    assert said.expected
    assert said.level is Level.L0
    assert said.kind == "campaign"
    assert said.facts["cases"] == 60
    assert said.facts["failures"] == 0
    assert said.facts["failure_rate_bound"] == failure_bound(60, 0)
    assert said.facts["seeds"] == [0, 60]
    assert "unknown" not in said.facts


def test_an_incomplete_campaign_without_failures_is_unknown(written: Write) -> None:
    said = result(status(written(replace(WALK, params={"steps": 20, "limit": 20}), 1)), 1.5)
    assert said.verdict is Verdict.UNKNOWN
    assert not said.expected
    assert said.facts["unknown"] == "40 cases not run, 0 ended without an outcome"


MUTE = CampaignParameters(
    "thence.conformance.campaign.one_system:campaign_runner",
    {"system": "campaign_demo:Mute", "delivered": False}, cases=20, batch=10,
)  # fmt: skip


def test_a_campaign_in_which_nothing_is_delivered_is_unknown(written: Write) -> None:
    now = status(written(MUTE))
    assert (now.complete, now.tally.failures, now.tally.errors, now.tally.count.vacuous) == (True, 0, 0, 20)
    said = result(now, 1.5)
    assert (said.verdict, said.expected) == (Verdict.UNKNOWN, False)
    assert said.facts["unknown"].startswith("no case says anything about campaign_demo:Mute: nothing was delivered")
    assert said.facts["failure_rate_bound"] == 1


def test_a_case_that_says_nothing_is_no_trial() -> None:
    assert Count(cases=60, errors=5, vacuous=20).bound == Count(cases=35).bound
    assert Count(cases=60, failures=2, vacuous=20).bound == failure_bound(40, 2)


def test_one_of_several_systems_that_delivers_nothing_makes_the_campaign_unknown(written: Write) -> None:
    systems = [{"system": "campaign_demo:Mute"}, {"system": "thence.impl.rst:RST"}]
    runner = "thence.conformance.campaign.several_systems:several_runner"
    now = status(written(replace(MUTE, runner=runner, params={"systems": systems, "delivered": False})))
    assert {name: count.says_nothing for name, count in now.tally.systems.items()} == {
        "campaign_demo:Mute": True, "thence.impl.rst:RST": False,
    }  # fmt: skip
    assert now.verdict is Verdict.UNKNOWN and "RST" not in now.unknown


def test_a_campaign_that_can_refute_nothing_that_is_claimed_is_unknown(written: Write) -> None:
    unclaimed = dict.fromkeys(("causal", "fifo", "delivered", "once"), False)
    params = {"system": "thence.impl.rst:RST", **unclaimed, "total_order": True}
    assert status(written(replace(MUTE, params=params))).verdict is Verdict.UNKNOWN


def test_a_promise_of_delivery_is_refuted_by_a_mute_system(written: Write) -> None:
    now = status(written(replace(MUTE, params={"system": "campaign_demo:Mute"})))
    assert now.verdict is Verdict.REFUTED and not now.tally.count.says_nothing


def test_a_case_without_an_outcome_makes_the_campaign_unknown(written: Write) -> None:
    directory = written(replace(WALK, runner="campaign_demo:troubled", params={"how": "raise", "at": 3}))
    said = result(status(directory), 1.5)
    assert said.verdict is Verdict.UNKNOWN
    assert said.facts["errors"] == 1
    [case] = failing_cases(directory)
    assert (case.seed, case.error) == (3, "RuntimeError: the case fell over")


def test_an_expected_refutation(written: Write) -> None:
    said = result(status(written(WALK)), 1.5, expected=Verdict.REFUTED)
    assert said.expected
    assert said.subject == "<b>walk"
    assert said.explanation.startswith("findings: above in ")


def test_every_failing_case_is_stored_with_its_operations(written: Write) -> None:
    directory = written(WALK)
    cases = list(failing_cases(directory))
    assert len(cases) == status(directory).tally.failures > 1
    assert all(case.operations_json is not None and case.findings for case in cases)
    assert [case.seed for case in cases] == sorted(case.seed for case in cases)
    assert report(directory).shown == tuple(cases)
    assert report(directory, shown=1).shown == tuple(cases[:1])
    facts = report(directory).to_json()
    assert facts["failures"] == len(facts["failing"])
    assert facts["verdict"] == "refuted"


def test_rows_that_disagree_with_their_tally_are_noticed(
    written: Write, rows_of: Callable[[CampaignParameters], pa.Table]
) -> None:
    directory = written(WALK)
    first = finished_batches(directory, WALK)[0]
    others = rows_of(replace(WALK, first_seed=1, cases=20))
    write_batch(directory, WALK, first.seeds, read_rows(first), tally_rows(others))
    assert status(directory).complete
    with pytest.raises(CampaignError, match="does not agree with its own tally"):
        report(directory)


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name in ("src", "href") and value and value[0] != "#"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_stands_alone(written: Write, tmp_path: Path) -> None:
    directory = written(WALK, 2)
    target = tmp_path / "report.html"
    write_report(report(directory), target)
    page = Page()
    page.feed(target.read_text(encoding="utf-8"))
    assert page.open == []
    assert page.links == []
    assert "<b>walk" in page.text
    assert status(directory).to_json()["digest"] in page.text
    assert "Incomplete: 20 cases have not run." in " ".join(page.text.split())
    assert {path.name for path in tmp_path.iterdir()} == {"campaign", "report.html"}


def test_an_unwritable_report(written: Write, tmp_path: Path) -> None:
    read = report(written(WALK))
    with pytest.raises(CampaignError, match="cannot be written"):
        write_report(read, tmp_path / "nowhere" / "report.html")
    with pytest.raises(CampaignError, match="cannot be written"):
        write_report(read, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"campaign"}


def test_the_rows_are_read_without_thence(written: Write) -> None:
    """As docs/reference/campaigns.md shows it."""
    directory = written(WALK)
    rows = pq.read_table(directory / "batches").to_pylist()
    assert len(rows) == 60
    failing = [row for row in rows if row["findings"]]
    assert len(failing) == status(directory).tally.failures
    assert {row["seed"] for row in failing} == {case.seed for case in failing_cases(directory)}
    columns = {
        "seed",
        "system",
        "group",
        "events",
        "digest",
        "findings",
        "error",
        "operations",
        "covered",
        "states",
        "vacuous",
    }
    assert rows[0].keys() == columns
