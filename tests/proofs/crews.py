"""Crews in this process: each task is sent as bytes, as to another machine, and some are lost and done again."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from thence.proofs.explore.crew import CrewLost

Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(slots=True)
class Shaky:
    """Tasks are done in any order, and every third one twice: the first result is lost, its files stay.

    `fails_at`: the number of the job that is lost, half done.
    """

    fails_at: int | None = None
    width: int = 2
    jobs: int = field(init=False, default=0)
    _random: Random = field(init=False, default_factory=lambda: Random(0))

    def map(self, function: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """The results, in the order of the tasks."""
        self.jobs += 1
        order = list(range(len(tasks)))
        self._random.shuffle(order)
        if self.jobs == self.fails_at:
            for at in order[: len(order) // 2]:
                _away(function, tasks[at])
            raise CrewLost("all workers are gone")
        done = {}
        for at in order:
            if self._random.random() < 1 / 3:
                _away(function, tasks[at])
            done[at] = _away(function, tasks[at])
        return [done[at] for at in range(len(tasks))]


def _away(function: Callable[[Task], Done], task: Task) -> Done:
    there, given = pickle.loads(pickle.dumps((function, task)))
    done: Done = pickle.loads(pickle.dumps(there(given)))
    return done
