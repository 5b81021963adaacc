"""Tasks on Spark: each is a job of its own, so that its result is here as soon as it is done.

Spark repeats a task whose executor is lost. What a task raises is no reason to repeat it: it comes back like a result.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from thence.conformance.campaign.alike import done_alike, program_here
from thence.conformance.campaign.cluster import Cluster, SparkLost, open_cluster
from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.tasks.pool import PoolLost

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE: Final = 128
"""Jobs that Spark has at a time. It runs as many as it has cores for, those first that came first."""


class Scattered:
    """The workers of a cluster."""

    def __init__(self, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
        self.cluster = cluster
        self.at_once = AT_ONCE
        self._threads = threads
        self._pending: set[Future[Any]] = set()

    def submit(self, work: Callable[[T], R], task: T, /) -> Future[R]:
        future = self._threads.submit(self._result, work, task)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def repair(self) -> int:
        """Spark repairs itself: no task is lost here."""
        return 0

    def abandon(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        # A job that a thread was about to submit is there a moment after the others were cancelled.
        while left := [*self._pending]:
            self.cluster.cancel()
            wait(left, timeout=0.2)

    def _result(self, work: Callable[[T], R], task: T) -> R:
        alike = partial(done_alike, program_here(), work)
        try:
            found = pickle.loads(self.cluster.one(partial(_pickled, alike), task))
        except SparkLost as error:
            raise PoolLost(str(error)) from error
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
    with TemporaryDirectory(prefix="thence-spark-") as folder, ExitStack() as stack:
        try:
            cluster = stack.enter_context(open_cluster(master, Path(folder) / "spark.log"))
        except CampaignError as error:
            # The log goes with its folder; its line with the reason is the first one of the message.
            raise CampaignError(str(error).partition("\n")[0]) from error
        scattered = Scattered(cluster, ThreadPoolExecutor(AT_ONCE, thread_name_prefix="task"))
        try:
            yield scattered
        finally:
            scattered.abandon()


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
