"""A study on disk, run by Spark, stopped and resumed.

    study.toml      the study
    sweep.json      its identity, and the versions and the hash of the code that it began with
    batches/        one Parquet file for each finished batch of runs
    lock, spark.log as a campaign has them

A run is one row. The rows do not depend on the batches, the cluster, or on how often the sweep was stopped.
"""

from __future__ import annotations

import io
import json
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeAlias

from thence.conformance.extras import require

require("spark", "sweeps run on Spark")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from thence.conformance.campaign.parameters import CampaignError  # noqa: E402
from thence.conformance.campaign.store import (  # noqa: E402
    BATCHES,
    DRAFT_PREFIX,
    SPARK_LOG,
    check_no_links,
    clear_drafts,
    code_fingerprint,
    locked,
    write_whole,
)
from thence.conformance.evaluation.measures import Figures, figures  # noqa: E402
from thence.conformance.evaluation.processing import measured  # noqa: E402
from thence.conformance.evaluation.simulation import simulate  # noqa: E402
from thence.conformance.evaluation.study import Point, Study, Value, read_study  # noqa: E402
from thence.conformance.implementations import SHIPPED  # noqa: E402

FORMAT: Final = "thence-sweep/1"
STUDY, MANIFEST = "study.toml", "sweep.json"
BATCH: Final = 24
"""Runs in a batch, each a task of its own."""

LARGEST_FILE: Final = 1 << 20
_NAME: Final = re.compile(r"runs-(\d{6})-(\d{6})\.parquet")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the finished runs, and all runs, at the beginning and after each batch."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run and its outcome.

    Attributes:
        varied: the values of the settings that vary.
        figures: None, if nothing was delivered.
    """

    number: int
    system: str
    seed: int
    varied: Mapping[str, Value]
    figures: Figures | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """The state of a sweep: the finished runs, in the study's order. `interrupted`: by Ctrl-C."""

    study: Study
    rows: tuple[Row, ...]
    runs: int
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether no run is missing."""
        return len(self.rows) == self.runs


def run_sweep(directory: Path, study: Study | None, master: str, progress: Progress) -> Sweep:
    """Runs a study in `directory`, or what is missing there. Without a study, the one that is there.

    Ctrl-C ends it early, and keeps the finished batches.

    Raises:
        CampaignError: another study is there, the code has changed since it began, or Spark fails.
    """
    from thence.conformance.campaign.cluster import open_cluster

    check_no_links(directory, STUDY, MANIFEST)
    with locked(directory):
        clear_drafts(directory)
        study = _begun(directory, study)
        points = study.points()
        batches = [range(at, min(at + BATCH, len(points))) for at in range(0, len(points), BATCH)]
        missing = [numbers for numbers in batches if not _path(directory, numbers).exists()]
        done = len(points) - sum(map(len, missing))
        progress(done, len(points))
        if not missing:
            return read_sweep(directory)
        work = partial(run_points, study.name, study.text)
        try:
            with open_cluster(master, directory / SPARK_LOG) as cluster:
                for numbers in missing:
                    found = [json.loads(line) for line in cluster.run(work, numbers, len(numbers))]
                    if [row["number"] for row in found] != list(numbers):
                        raise CampaignError(f"Spark returned other runs than {numbers.start} to {numbers.stop - 1}")
                    _write_batch(_path(directory, numbers), found)
                    done += len(numbers)
                    progress(done, len(points))
        except KeyboardInterrupt:
            here = read_sweep(directory)
            return Sweep(here.study, here.rows, here.runs, interrupted=True)
    return read_sweep(directory)


def read_sweep(directory: Path) -> Sweep:
    """The finished runs of a sweep.

    Raises:
        CampaignError: there is none, or a file is damaged.
    """
    study = _study_there(directory)
    points = study.points()
    rows: list[Row] = []
    for path in sorted((directory / BATCHES).glob("*.parquet")):
        if path.name.startswith(DRAFT_PREFIX):
            continue
        rows += _read_batch(path, points)
    return Sweep(study, tuple(rows), len(points))


def run_points(name: str, text: str, numbers: Iterable[int]) -> Iterator[bytes]:
    """The runs of a study with these numbers, as lines of JSON. Called on a worker."""
    points = _points(name, text)
    for number in numbers:
        yield json.dumps(run_point(points[number])).encode()


def run_point(point: Point) -> dict[str, Any]:
    """One run: its number, and its figures; None, if nothing was delivered."""
    impl, settings = SHIPPED[point.system], point.settings
    costs = measured(impl, settings.workload, settings.network, point.seed) if settings.processing else {}
    found = figures(simulate(impl, settings.workload, settings.network, point.seed, costs=costs))
    return {"number": point.number, "figures": None if found is None else found.to_json()}


@lru_cache(maxsize=1)
def _points(name: str, text: str) -> tuple[Point, ...]:
    return read_study(name, text).points()


def _begun(directory: Path, study: Study | None) -> Study:
    """The study in the directory, which is a sweep from now on."""
    if (directory / MANIFEST).exists():
        there = _study_there(directory)
        if study is not None and study.identity() != there.identity():
            raise CampaignError(f"{directory} holds the runs of another study: choose another directory")
        code = _manifest(directory)["code"]
        if code != code_fingerprint():
            raise CampaignError(
                f"the sweep in {directory} began with other code: go back to that code, or begin in another directory"
            )
        return there
    if study is None:
        raise CampaignError(f"{directory} is not a sweep: it has no {MANIFEST}; name a study")
    strangers = sorted(path.name for path in directory.iterdir() if path.name not in ("lock", SPARK_LOG, STUDY))
    if strangers:
        raise CampaignError(f"{directory} is not empty: it holds {', '.join(strangers[:5])}")
    versions = {name: version(name) for name in ("thence", "simpy")} | {"python": platform.python_version()}
    manifest = {"format": FORMAT, "study": study.name, "identity": study.identity(), "versions": versions}
    write_whole(directory / STUDY, study.text.encode())
    write_whole(directory / MANIFEST, (json.dumps({**manifest, "code": code_fingerprint()}, indent=2) + "\n").encode())
    (directory / BATCHES).mkdir(exist_ok=True)
    return study


def _study_there(directory: Path) -> Study:
    manifest = _manifest(directory)
    text = _text(directory / STUDY)
    study = read_study(str(manifest["study"]), text)
    if study.identity() != manifest["identity"]:
        raise CampaignError(f"{directory / STUDY} was changed since the sweep began")
    return study


def _manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    try:
        content = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise CampaignError(f"{path} is damaged: {error}") from error
    if (
        not isinstance(content, dict)
        or content.get("format") != FORMAT
        or not {"study", "identity", "code"} <= {*content}
    ):
        raise CampaignError(f"{path} is not the manifest of a sweep in the format {FORMAT}")
    return dict(content)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise CampaignError(f"{path} is larger than {LARGEST_FILE >> 20} MiB")
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CampaignError(f"{path} is not text in UTF-8") from error
    except OSError as error:
        raise CampaignError(
            f"{path} cannot be read: {error.strerror or error}; is this the folder of a sweep?"
        ) from error


def _path(directory: Path, numbers: range) -> Path:
    return directory / BATCHES / f"runs-{numbers.start:06d}-{numbers.stop:06d}.parquet"


_SCHEMA: Final = pa.schema(
    [
        ("number", pa.int64()),
        ("delivered", pa.bool_()),
        *((field.name, pa.int64() if field.type == "int" else pa.float64()) for field in fields(Figures)),
    ]
)


def _write_batch(path: Path, found: list[dict[str, Any]]) -> None:
    rows = [
        {"number": row["number"], "delivered": row["figures"] is not None, **(row["figures"] or {})} for row in found
    ]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=_SCHEMA), sink, compression="zstd")
    write_whole(path, sink.getvalue())


def _read_batch(path: Path, points: tuple[Point, ...]) -> Iterator[Row]:
    name = _NAME.fullmatch(path.name)
    try:
        table = pq.read_table(path)
        if name is None or not table.schema.equals(_SCHEMA, check_metadata=False):
            raise ValueError("it has other columns")
        rows = table.to_pylist()
        if [row["number"] for row in rows] != list(range(int(name[1]), int(name[2]))) or int(name[2]) > len(points):
            raise ValueError("it has other runs")
    except (OSError, ValueError, pa.ArrowException) as error:
        raise CampaignError(f"{path} is damaged ({error}); delete it and go on: its runs are done again") from error
    for row in rows:
        point = points[row.pop("number")]
        found = Figures(**row) if row.pop("delivered") else None
        yield Row(point.number, point.system, point.seed, point.varied, found)


def as_records(sweep: Sweep) -> list[dict[str, Any]]:
    """A plain record for each run: its system, seed, varied settings and figures."""
    return [
        {"system": row.system, "seed": row.seed, **row.varied, **({} if row.figures is None else asdict(row.figures))}
        for row in sweep.rows
    ]
