"""Workers of Spark for an exploration: see `proofs.explore.crew`. Spark starts when the first of them is needed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkstemp
from typing import Final, TypeVar

from thence.conformance.campaign.cluster import Cluster, SparkLost, is_embedded, open_cluster
from thence.conformance.campaign.parameters import CampaignError
from thence.proofs.explore.crew import CrewLost
from thence.spec.words import counted

SETTINGS: Final[Mapping[str, str]] = {"spark.app.name": "thence explore", "spark.executor.memory": "512m"}
"""Java only passes tasks and results on: the states are in the memory of Python's processes, and in files."""

_MASTER: Final = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?|local-cluster\[.*\]|spark://.+|k8s://.+|yarn")

Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(slots=True)
class SparkCrew:
    """The workers of a Spark. `tasks`: how many they have done."""

    master: str
    tasks: int = field(init=False, default=0)
    _stack: ExitStack = field(init=False, default_factory=ExitStack)
    _cluster: Cluster | None = field(init=False, default=None)
    _log: Path | None = field(init=False, default=None)
    _asked: bool = field(init=False, default=False)
    _lost: bool = field(init=False, default=False)

    def __str__(self) -> str:
        done = counted(self.tasks, "task") if self.tasks else "no task"
        why = "" if self._asked else ", since there were too few states to send away"
        return f"workers of {self.master} did {done}{why}"

    @property
    def log(self) -> Path:
        """What Spark writes, once it runs."""
        assert self._log is not None, "Spark was not started"
        return self._log

    @property
    def cluster(self) -> Cluster:
        """The running Spark. Raises CampaignError where it does not start."""
        if self._cluster is None:
            descriptor, name = mkstemp(prefix="thence-spark-", suffix=".log")
            os.close(descriptor)
            self._log = Path(name)
            self._cluster = self._stack.enter_context(open_cluster(self.master, self._log, settings=SETTINGS))
        return self._cluster

    @property
    def width(self) -> int:
        """How many tasks are done at the same time, as far as Spark knows by now.

        Raises:
            CampaignError: Spark does not start. CrewLost: it is lost.
        """
        cluster = self.cluster
        try:
            return cluster.parallelism
        except SparkLost as error:
            raise CrewLost(str(error)) from error

    def map(self, function: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """The results, in the order of the tasks.

        Raises:
            CrewLost: a task failed again and again.
        """
        self._asked = True
        try:
            done = self.cluster.each(function, tasks)
        except CrewLost:
            self._lost = True
            raise
        self.tasks += len(tasks)
        return done

    def close(self) -> None:
        """Ends Spark, if it runs. Its log goes with it, unless it was named in an error."""
        self._stack.close()
        if self._cluster is not None and not self._lost:
            self.log.unlink(missing_ok=True)


@contextmanager
def spark_crew(master: str) -> Iterator[SparkCrew]:
    """The workers of the Spark at `master`, ended with the block."""
    crew = SparkCrew(master)
    try:
        yield crew
    finally:
        crew.close()


def sees_files(master: str) -> bool:
    """Whether the workers see all files of this machine.

    Raises:
        CampaignError: this names no Spark.
    """
    if not _MASTER.fullmatch(master):
        raise CampaignError(f"--master {master}: give local[N], spark://HOST:PORT, k8s://..., or yarn")
    return is_embedded(master) or master.startswith("local-cluster")
