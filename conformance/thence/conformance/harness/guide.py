"""What leads the guided scheduler through a run: counterexamples that are known come first, each as it is; then
whatever reached something new on the system under test itself is bent and continued.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from thence.conformance.cases.network import Network, Settings
from thence.conformance.cases.schedule import Operation, Schedule
from thence.conformance.cases.schedulers import Scheduler
from thence.conformance.harness.guided import BUILT_IN, MOST_SCHEDULES, Corpus, Script, followed, guided

DIRECTED = "directed"
"""The name of the cases that follow known counterexamples."""


class Guide:
    """Learns as a run goes on. What it has the run do depends on what it knew and was taught, and on nothing else."""

    def __init__(self, known: Corpus) -> None:
        self._known = known + BUILT_IN
        self._learned: list[Schedule] = []

    @property
    def directed(self) -> tuple[Scheduler, ...]:
        """Schedulers that follow what was known, one after the other, and do nothing else."""
        scripts = tuple(_script(script) for script in self._known.scripts)
        return (*(_schedule(schedule) for schedule in self._known.schedules), *scripts)

    @property
    def scheduler(self) -> Scheduler:
        """The guided scheduler, with what has been learned so far."""
        return guided(Corpus(self._known.scripts, (*self._known.schedules, *self._learned)))

    def learn(self, schedule: Schedule) -> None:
        """This one reached something new."""
        if len(self._learned) < MOST_SCHEDULES:
            self._learned.append(schedule)


def _script(script: Script) -> Scheduler:
    def follow(random: Random, settings: Settings, network: Network, _operations: int) -> Iterator[Operation]:
        return followed(random, settings, network, script)

    return follow


def _schedule(schedule: Schedule) -> Scheduler:
    def follow(_random: Random, _settings: Settings, _network: Network, _operations: int) -> Iterator[Operation]:
        return iter(schedule)

    return follow
