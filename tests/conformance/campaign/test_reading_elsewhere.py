"""A campaign's files are read without Thence, in the words of docs/reference/campaigns.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from thence.conformance.campaign import CampaignParameters
from thence.conformance.campaign.store import create, write_batch
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.java import ensure_java

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "campaigns.md"
BLOCKS = dict(re.findall(r"```python\n((?:import|from) (\w+).*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
SHOWN = {library: text for text, library in BLOCKS.items()}
SYSTEMS = [
    {"system": "thence.impl.rst:RST", "protocol": "rst"},
    {"system": "faults.rst:MergeDiscarded", "protocol": "rst"},
    {"system": "faults.rst:HeadOnly", "protocol": "rst"},
]


@pytest.fixture
def first(tmp_path: Path, rows_of: Callable[[CampaignParameters], pa.Table]) -> dict[str, float]:
    """A campaign called `first`, and the hit rates that its tallies give."""
    parameters = CampaignParameters(
        "thence.conformance.campaign.several_systems:several_runner", {"systems": SYSTEMS}, cases=150, batch=60
    )
    directory = tmp_path / "first"
    directory.mkdir()
    create(directory, parameters, {})
    table = rows_of(parameters)
    for seeds in parameters.batches():
        rows = table.slice(seeds.start, len(seeds))
        write_batch(directory, parameters, seeds, rows, tally_rows(rows))
    return {system: count.failures / count.cases for system, count in tally_rows(table).systems.items()}


def test_every_library_is_shown() -> None:
    assert set(SHOWN) == {"pyarrow", "pandas", "polars", "duckdb", "pyspark"}


@pytest.mark.long(but=("pyarrow",))
@pytest.mark.spark
@pytest.mark.parametrize("library", [library for library in SHOWN if find_spec(library) is not None])
def test_the_shown_lines_give_the_rates(library: str, first: dict[str, float], tmp_path: Path) -> None:
    script = f"{SHOWN[library]}\nimport json\nprint(json.dumps(rates))\n"
    environment = {**os.environ, "JAVA_HOME": str(ensure_java()), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == pytest.approx(first)
    assert 0 == first["thence.impl.rst:RST"] < first["faults.rst:MergeDiscarded"]
