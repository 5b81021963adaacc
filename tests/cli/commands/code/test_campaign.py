"""`thence campaign` without Spark: what cannot be started, and what a campaign on disk says of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from thence.conformance.campaign import CampaignParameters
from thence.conformance.campaign.case import load_runner, run_cases, runner_facts
from thence.conformance.campaign.parameters import canonical_json
from thence.conformance.campaign.store import create, locked, write_batch
from thence.conformance.campaign.tally_rows import tally_rows

Thence = Callable[..., Any]

SYSTEMS = [
    {"system": "thence.impl.rst:RST", "protocol": "rst"},
    {"system": "thence.impl.fifo:Fifo", "protocol": "fifo"},
]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "what is to be tested"),
        (["--protocol", "nf"], "did you mean mf"),
        (["--protocol", "hybrid_basic_printed"], "no implementation of hybrid_basic_printed is shipped"),
        (["--library", "--protocol", "mf"], "leave out the other options"),
        (["--library", "--systems", "list.json"], "not both"),
        (["--systems", "none.json"], "none.json cannot be read"),
        (["--systems", "text.json"], "text.json is not JSON"),
        (["--systems", "object.json"], "is not a list"),
        (["--systems", "list.json"], 'is not {"system": NAME, "protocol": NAME}'),
        (["--protocol", "mf", "--py-files", "none.py"], "there is no file"),
        (["--exec", "./tools/run", "--archives", "text.json#tools"], "is not unpacked on the workers"),
        (["--protocol", "mf", "--scheduler", "chance"], "scheduler"),
        (["--exec", "cat", "--memory-limit", "3"], "--memory-limit 3: give a size from 1M up"),
        (["--protocol", "mf:nf"], "there is no protocol nf"),
        (["--protocol", "mf", "--links", "0 to 1"], "the network of mf is none"),
        (["--protocol", "dijkstra_scholten", "--links", "0 to 7"], "--links"),
    ],
)
def test_what_cannot_be_started_is_said_and_leaves_nothing(
    arguments: list[str], said: str, thence: Thence, tmp_path: Path
) -> None:
    (tmp_path / "text.json").write_text("dear")
    (tmp_path / "object.json").write_text("{}")
    (tmp_path / "list.json").write_text('[{"system": "thence.impl.mf:MF", "seed": 1}]')
    done = thence("campaign", "start", "runs", *arguments)
    assert done.rejects(said)
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A campaign of two systems, with two of its three batches."""
    runner = "thence.conformance.campaign.several_systems:several_runner"
    parameters = CampaignParameters(runner, {"systems": SYSTEMS}, cases=60, batch=20)
    place = tmp_path / "runs"
    place.mkdir()
    create(place, parameters, runner_facts(load_runner(runner, parameters.params)))
    for seeds in parameters.batches()[:2]:
        [stream] = run_cases(runner, canonical_json(parameters.params), 60.0, seeds)
        rows = pa.ipc.open_stream(stream).read_all()
        write_batch(place, parameters, seeds, rows, tally_rows(rows), 2.0)
    return place


def test_the_status_of_each_system(directory: Path, thence: Thence) -> None:
    found = thence("campaign", "status", directory, "--json").object["campaign"]
    assert (found["cases"], found["complete"], found["running"], found["cases_per_second"]) == (40, False, False, 10.0)
    assert {name: of["cases"] for name, of in found["systems"].items()} == {each["system"]: 20 for each in SYSTEMS}
    printed = thence("campaign", "status", directory)
    assert (printed.code, f"incomplete: thence campaign resume {directory} goes on" in printed.out) == (0, True)


def test_the_status_while_another_process_works_on_it(directory: Path, thence: Thence) -> None:
    with locked(directory):
        assert "running: about 2 s left" in thence("campaign", "status", directory).out
        assert thence("campaign", "resume", directory).rejects("another process works on the campaign")


def test_a_report_elsewhere_has_its_cases_beside_it(directory: Path, thence: Thence, tmp_path: Path) -> None:
    before = sorted(path.name for path in directory.iterdir())
    done = thence("campaign", "report", directory, "--html", "page.html", "--json")
    assert done.object["report"]["reached"].keys() == {each["system"] for each in SYSTEMS}
    assert [point["cases"] for point in done.object["report"]["curve"]] == [20, 40]
    page = (tmp_path / "page.html").read_text()
    assert all(each["system"] in page for each in SYSTEMS)
    assert sorted(path.name for path in directory.iterdir()) == before


def test_the_manifest_is_read_by_people(directory: Path) -> None:
    text = (directory / "campaign.json").read_text()
    assert json.loads(text)["parameters"]["cases"] == 60
    assert len(text.splitlines()) == len(json.loads(text)) + 2
