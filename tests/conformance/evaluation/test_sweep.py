"""Sweeps on a real Spark: the runs of a study, one row each; stopped, resumed, damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.evaluation import sweep as sweeping
from thence.conformance.evaluation.study import Study, read_study
from thence.conformance.evaluation.summary import cell_at, cells
from thence.conformance.evaluation.sweep import as_records, read_sweep, run_point, run_sweep

pytestmark = pytest.mark.spark

TEXT = """
title = "A small one"
systems = ["mf", "rst"]
repeat = 3
[settings]
messages = 5
[sweep]
processes = [3, 4, 5, 6, 7]
"""


def small() -> Study:
    return read_study("small", TEXT)


@pytest.mark.long
def test_a_sweep_is_stopped_and_goes_on(tmp_path: Path) -> None:
    folder, study = tmp_path / "small", small()
    seen: list[int] = []

    def stop(done: int, runs: int) -> None:
        seen.append(done)
        if done:
            raise KeyboardInterrupt

    stopped = run_sweep(folder, study, "local[2]", stop)
    assert stopped.interrupted and not stopped.complete and len(stopped.rows) == seen[-1] == sweeping.BATCH
    whole = run_sweep(folder, None, "local[2]", lambda done, runs: seen.append(done))
    assert whole.complete and whole.runs == 30 and seen == [0, 24, 24, 30]

    here = [run_point(point)["figures"] for point in study.points()]
    assert [None if row.figures is None else row.figures.to_json() for row in whole.rows] == here
    assert [record["processes"] for record in as_records(whole)] == [
        point.varied["processes"] for point in study.points()
    ]

    with pytest.raises(CampaignError, match="another study"):
        run_sweep(folder, read_study("small", TEXT.replace("= 5\n", "= 6\n")), "local[2]", lambda done, runs: None)
    first = sorted((folder / "batches").iterdir())[0]
    first.write_bytes(first.read_bytes()[:100])
    with pytest.raises(CampaignError, match="is damaged"):
        read_sweep(folder)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(CampaignError, match="is not empty"):
        run_sweep(tmp_path, small(), "local[2]", lambda done, runs: None)
    with pytest.raises(CampaignError, match="is not a sweep"):
        run_sweep(tmp_path / "new", None, "local[2]", lambda done, runs: None)


def test_means_and_ratios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark: the rows of the points themselves."""
    study = small()
    rows = [row for point in study.points() for row in _row(study, run_point(point))]
    found = cells(sweeping.Sweep(study, tuple(rows), len(rows)))
    assert len(found) == 10 and all(len(cell.rows) == 3 for cell in found)
    mf, rst = (cell_at(found, {"processes": 5}, system) for system in ("mf", "rst"))
    assert mf is not None and rst is not None
    mean, ratio, one = mf.mean("mean"), mf.ratio(rst, "mean"), rst.ratio(rst, "mean")
    assert mean is not None and ratio is not None and one is not None
    assert mean.mean > 1 and ratio.mean > 1 and (one.mean, one.half) == (1, 0)


def _row(study: Study, found: dict[str, object]) -> list[sweeping.Row]:
    point = study.points()[int(str(found["number"]))]
    figures = sweeping.Figures(**found["figures"])  # type: ignore[arg-type]
    return [sweeping.Row(point.number, point.system, point.seed, point.varied, figures)]
