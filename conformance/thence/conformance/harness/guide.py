"""The guide of a run: known counterexamples come first, each as it is; then the schedules that reached something new on
the system under test are bent and continued.
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
    """Learns as a run goes on. Its schedules depend on its known and its learned schedules and on nothing else."""

    def __init__(self, known: Corpus) -> None:
        self._known = known + BUILT_IN
        self._learned: list[Schedule] = []

    @property
    def directed(self) -> tuple[Scheduler, ...]:
        """Schedulers of the known counterexamples, one each."""
        scripts = tuple(_script(script) for script in self._known.scripts)
        return (*(_schedule(schedule) for schedule in self._known.schedules), *scripts)

    @property
    def scheduler(self) -> Scheduler:
        """The guided scheduler, with the schedules learned so far."""
        return guided(Corpus(self._known.scripts, (*self._known.schedules, *self._learned)))

    def learn(self, schedule: Schedule) -> None:
        """Learns a schedule that reached something new."""
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
