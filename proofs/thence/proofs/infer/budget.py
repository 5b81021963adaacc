"""The time limit of a search: processor time, its own and that of its solvers.

A busy machine takes longer by the clock, and asks the same questions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf


class OutOfTime(Exception):
    """The time limit is over, or a solver does not answer."""


LOOK_S = 0.01
"""`check` looks at the meters no more often than this, by the clock: loops call it in each round."""


OVER_S = 1.0
"""A question that is still without an answer so long after the end of the whole time is given up."""


@dataclass(slots=True)
class Budget:
    """How much processor time a search may take, in seconds.

    `seconds` may be set lower for a part of the search; `whole` is the limit of all of it.
    """

    seconds: float
    whole: float = -inf
    _meters: list[Callable[[], float]] = field(default_factory=list)
    _started: float = field(default_factory=time.process_time)
    _seen: float = 0.0
    _look_at: float = 0.0

    def __post_init__(self) -> None:
        self.whole = max(self.whole, self.seconds)

    def count(self, meter: Callable[[], float]) -> None:
        """Counts from now on what else takes time, by a meter in seconds."""
        before = meter()
        self._meters.append(lambda: meter() - before)

    def part(self, seconds: float) -> Budget:
        """The same time, with another limit."""
        return replace(self, seconds=seconds)

    @property
    def spent(self) -> float:
        return time.process_time() - self._started + sum(meter() for meter in self._meters)

    @property
    def left(self) -> float:
        """In seconds; negative where the limit is over."""
        return self.seconds - self.spent

    def at_most(self, limit_ms: int) -> int:
        """The limit of a question, in ms, or what is left, if that is less. Raises: OutOfTime."""
        self.check()
        return max(1, min(limit_ms, int(self.left * 1000)))

    def check(self) -> None:
        """Raises: OutOfTime, where the limit is over."""
        now = time.monotonic()
        if now >= self._look_at:
            self._seen, self._look_at = self.spent, now + LOOK_S
        if self._seen >= self.seconds:
            raise self.over()

    @property
    def is_overrun(self) -> bool:
        """Whether the whole time is over, and a little more."""
        return self.spent >= max(self.seconds, self.whole) + OVER_S

    def look(self) -> None:
        """Raises: OutOfTime, where the whole time is over, and a little more."""
        if self.is_overrun:
            raise self.over()

    def over(self) -> OutOfTime:
        return OutOfTime(f"the time limit is over, {self.spent:.0f} s of processor time")


@dataclass(slots=True)
class FirstPart:
    """The part of a budget that the first of two attempts has, beside what goes on anyway (`beside`, in seconds)."""

    budget: Budget
    seconds: float
    beside: Callable[[], float]

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """What goes on beside it takes nothing from it."""
        self.budget.seconds = self.seconds + self.beside()

    def lengthen(self, more: float, most: float) -> None:
        """It has so many seconds from now on, if it had fewer, and `most` in all."""
        self.seconds = max(self.seconds, min(self.budget.spent - self.beside() + more, most))
        self.renew()
