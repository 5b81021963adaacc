"""Workers beside this process, whoever they are: they do tasks, each a function of its argument and of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Done = TypeVar("Done")


class CrewLost(Exception):
    """A task has no result: a worker failed again and again, or there are none; the message says why."""


class Crew(Protocol):
    """Workers that can import this program, and that see the files that this process sees, by the same names."""

    @property
    def width(self) -> int:
        """How many tasks are done at the same time. Raises CrewLost."""
        ...

    def map(self, function: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """The results, in the order of the tasks. A task may be begun several times; one of its results counts.

        Raises:
            CrewLost: there is none.
        """
        ...
