"""The line of progress of long work: done of all, the time so far, about how long it still takes, what is done now.

On a terminal it is one line of standard error that changes; elsewhere a line of its own each minute.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any

from thence.cli.streams import is_open
from thence.spec.events import printable

AFTER_S = 0.5
"""A run that ends sooner has no line of progress."""

QUIET_EVERY_S = 60.0
"""Where there is no terminal, the pause between two lines."""

LEAST_SHARE, LEAST_PARTS, LEAST_S = 0.1, 3, 5.0
"""The share of the work, the number of its parts and the seconds that must be over before the rest is estimated: parts
are of unlike size, and the first ones say little."""


UNLIKE = 0.0
"""The share of the time where pieces of work are of unlike size, and nobody knows which: nothing is estimated."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A moment of the work: what is done now, and how much of all is done, in any unit; `share` if units differ.

    Attributes:
        all: 0 where it is not known.
        share: of the time, between 0 and 1, where that is better known than by `done` of `all`; or UNLIKE.
        noun: the unit, in the plural; empty where `doing` names it.
    """

    doing: str
    done: int = 0
    all: int = 0
    noun: str = ""
    share: float | None = None

    def said(self, elapsed_s: float, reached_s: float | None = None) -> str:
        """`12 of 45 tasks, 0:35, about 1:20 left: scope cykas`. `reached_s`: when so much was done; None: just now."""
        parts = []
        if self.all:
            parts.append(f"{self.done:,} of {self.all:,} {self.noun}".rstrip())
        parts.append(duration(elapsed_s))
        left = self.left(elapsed_s, elapsed_s if reached_s is None else reached_s)
        if left is not None:
            parts.append(f"about {duration(left)} left")
        return f"{', '.join(parts)}: {self.doing}" if self.doing else ", ".join(parts)

    def left(self, elapsed_s: float, reached_s: float) -> float | None:
        """Seconds that are left, if the rest goes as fast as what was done by `reached_s`.

        None where that says nothing, or is over."""
        few = self.share is None and self.done < LEAST_PARTS
        if few or reached_s < LEAST_S or not LEAST_SHARE <= self.part <= 1:
            return None
        left = reached_s / self.part - elapsed_s
        return left if left >= 0 else None

    @property
    def part(self) -> float:
        """The share of the work that is done."""
        return self.share if self.share is not None else self.done / self.all if self.all else 0.0


def duration(seconds: float) -> str:
    """`0:35`, `12:03`, `1:05:10`."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@dataclass(slots=True)
class ProgressLine:
    """Shows stages. `began` is when the work began, by `time.perf_counter`."""

    name: str
    began: float
    stage: Stage | None = None
    _reached: float = field(default=0.0)
    """When as much was done as is done now."""
    _live: Any = None
    _said: float = field(default=0.0)

    def show(self, stage: Stage) -> None:
        """Replaces what is shown."""
        now = time.perf_counter()
        if self.stage is None or stage.part != self.stage.part:
            self._reached = now
        self.stage = stage
        if now - self.began < AFTER_S or not is_open(sys.stderr):
            return
        if not sys.stderr.isatty():
            self._say_sometimes(now)
        elif self._live is None:
            self._start()

    def end(self) -> None:
        """Removes the line."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say_sometimes(self, now: float) -> None:
        if now - max(self._said, self.began) >= QUIET_EVERY_S:
            self._said = now
            print(f"thence {self.name}: {printable(self._text())}", file=sys.stderr, flush=True)

    def _text(self) -> str:
        assert self.stage is not None
        return self.stage.said(time.perf_counter() - self.began, self._reached - self.began)

    def _start(self) -> None:
        """A line that is drawn anew several times a second, so that its time goes on while one piece of work lasts."""
        from rich.console import Console

        console = Console(stderr=True)
        self._live = console.status(_Shown(self, console.width - 4))
        self._live.start()


@dataclass(frozen=True, slots=True)
class _Shown:
    """The present text of a line, cut to a width."""

    line: ProgressLine
    width: int

    def __rich__(self) -> Any:
        from rich.text import Text

        shown = Text(printable(self.line._text()))
        shown.truncate(self.width, overflow="ellipsis")
        return shown
