"""The batches of a campaign, run one after the other: all of a new one, the missing ones of one that was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from thence.conformance.campaign.alike import run_cases_alike
from thence.conformance.campaign.case import load_runner, runner_facts
from thence.conformance.campaign.parameters import CampaignError, CampaignParameters, canonical_json
from thence.conformance.campaign.shipping import as_on_a_worker, fingerprints
from thence.conformance.campaign.status import Status, status_of, with_batch
from thence.conformance.campaign.store import (
    SENT,
    SPARK_LOG,
    Manifest,
    check_code,
    check_vacant,
    clear_drafts,
    create,
    finished_batches,
    locked,
    read_manifest,
    write_batch,
)
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.java import JavaMissing, ensure_java

if TYPE_CHECKING:
    from thence.conformance.campaign.cluster import Cluster

Progress: TypeAlias = Callable[[Status], None]
"""Called with the status at the beginning and after each batch."""


def ignore_progress(_status: Status) -> None:
    """No progress wanted."""


def start(
    directory: Path,
    parameters: CampaignParameters,
    progress: Progress = ignore_progress,
    *,
    cluster: Cluster | None = None,
) -> Status:
    """Begin a campaign in `directory`, which is new or empty, and run it to its end, on `cluster` if there is one.

    Ctrl-C ends it early: the status then is `interrupted`, its finished batches are kept, and `resume` goes on.

    Raises:
        CampaignError: the directory is in use, the runner cannot be built, or Spark fails. A campaign that has begun
            can be resumed all the same.
    """
    check_vacant(directory, parameters)
    facts = _facts(parameters)
    _check_java()
    with locked(directory):
        return _run(directory, create(directory, parameters, facts), progress, cluster)


def resume(
    directory: Path,
    progress: Progress = ignore_progress,
    *,
    master: str | None = None,
    partitions: int | None = None,
) -> Status:
    """Run the missing batches of the campaign in `directory`.

    The master and the number of tasks may change, for the digest does not depend on them.

    Raises:
        CampaignError: there is no campaign, another process works on it, the code has changed since it began, its
            runner cannot be built, or Spark fails.
    """
    read_manifest(directory)
    with locked(directory):
        manifest = read_manifest(directory)
        parameters = manifest.parameters
        check_code(directory, manifest, _facts(parameters))
        if master is not None:
            parameters = replace(parameters, master=master)
        if partitions is not None:
            parameters = replace(parameters, partitions=partitions)
        return _run(directory, replace(manifest, parameters=parameters), progress)


def _facts(parameters: CampaignParameters) -> dict[str, Any]:
    """The runner's facts, and a hash of each file that is sent. The runner is built, as on a worker."""
    sent = fingerprints(parameters.py_files, parameters.archives)
    with as_on_a_worker(parameters.py_files, parameters.archives):
        facts = runner_facts(load_runner(parameters.runner, parameters.params))
    return {**facts, SENT: sent} if sent else facts


def _check_java() -> None:
    """Nothing is written for a campaign that cannot run."""
    try:
        ensure_java()
    except JavaMissing as missing:
        raise CampaignError(str(missing)) from missing


def _run(directory: Path, manifest: Manifest, progress: Progress, cluster: Cluster | None = None) -> Status:
    """Run the missing batches, on a Spark of their own unless there is one. The lock is held."""
    parameters = manifest.parameters
    clear_drafts(directory)
    done = finished_batches(directory, parameters)
    now = status_of(directory, manifest, done)
    there = {batch.seeds for batch in done}
    missing = [seeds for seeds in parameters.batches() if seeds not in there]
    if not missing:
        return now
    # Spark is large; commands that only read a campaign do without it.
    from thence.conformance.campaign.cluster import open_cluster

    facts = canonical_json({name: fact for name, fact in manifest.facts.items() if name != SENT})
    work = partial(
        run_cases_alike, facts, parameters.runner, canonical_json(parameters.params), parameters.case_limit_s
    )
    try:
        progress(now)
        shipped = parameters.py_files, parameters.archives
        log = directory / SPARK_LOG
        with nullcontext(cluster) if cluster else open_cluster(parameters.master, log, shipped) as running:
            for seeds in missing:
                started = time.monotonic()
                rows = _rows(running.run(work, seeds, parameters.partitions), seeds)
                seconds = time.monotonic() - started
                batch = write_batch(directory, parameters, seeds, rows, tally_rows(rows), seconds)
                now = with_batch(now, batch)
                progress(now)
    except KeyboardInterrupt:
        return replace(now, interrupted=True)
    return now


def _rows(streams: list[bytes], seeds: range) -> pa.Table:
    """One table of the tasks' results: exactly one row for each seed, in order."""
    table = pa.concat_tables([pa.ipc.open_stream(stream).read_all() for stream in streams])
    if table.column("seed").to_pylist() != list(seeds):
        raise CampaignError(f"Spark returned other seeds than {seeds.start:,} to {seeds.stop - 1:,}")
    return table
