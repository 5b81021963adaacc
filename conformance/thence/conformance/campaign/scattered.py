"""Tasks on Spark: each is a job of its own, so that its result is here as soon as it is done.

Spark repeats a task whose executor is lost. What a task raises is no reason to repeat it: it comes back like a result.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from thence.conformance.campaign.cluster import Cluster, open_cluster

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE: Final = 128
"""Jobs that Spark has at a time. It runs as many as it has cores for, those first that came first."""


class Scattered:
    """The workers of a cluster."""

    def __init__(self, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
        self.cluster = cluster
        self._threads = threads

    def submit(self, work: Callable[[T], R], task: T, /) -> Future[R]:
        return self._threads.submit(self._result, work, task)

    def abandon(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.cluster.cancel()

    def _result(self, work: Callable[[T], R], task: T) -> R:
        found = pickle.loads(self.cluster.one(partial(_pickled, work), task))
        if isinstance(found, Exception):
            raise found
        result: R = found
        return result


@contextmanager
def open_scattered(master: str) -> Iterator[Scattered]:
    """The workers of the Spark at `master`; they need this Thence installed.

    Raises:
        CampaignError: no usable Java, or Spark does not start.
    """
    with (
        TemporaryDirectory(prefix="thence-spark-") as folder,
        open_cluster(master, Path(folder) / "spark.log") as cluster,
    ):
        threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="task")
        try:
            yield Scattered(cluster, threads)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            cluster.cancel()
            threads.shutdown()


def _pickled(work: Callable[[T], R], task: T) -> bytes:
    """On a worker: the result, or what was raised."""
    try:
        return pickle.dumps(work(task))
    except Exception as error:
        try:
            sent = pickle.dumps(error)
            pickle.loads(sent)
        except Exception:
            return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
        return sent
