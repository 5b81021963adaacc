"""A network that is worse than the one at hand: loss, duplication, delays that reorder, and one slow channel.

It stands between an endpoint and its carrier. A seed fixes what happens to the k-th frame; when it happens is up to the
clock, and so is everything that follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What happens to the frames that an endpoint sends.

    Attributes:
        loss: the probability that a frame is dropped.
        duplication: the probability that a frame is sent twice.
        delay_ms: a frame is delayed by up to so many milliseconds, and so may be overtaken.
        slow: this destination's frames are delayed by twenty times as much.
        seed: fixes the choices.

    Raises:
        ValueError: a probability is not in 0 .. 0.95, or the delay is negative.
    """

    loss: float = 0.0
    duplication: float = 0.0
    delay_ms: float = 0.0
    slow: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("loss", "duplication"):
            if not 0 <= getattr(self, name) <= 0.95:
                raise ValueError(f"{name} is a probability from 0 to 0.95, not {getattr(self, name)}")
        if not 0 <= self.delay_ms <= 10_000:
            raise ValueError(f"a delay is 0 to 10,000 ms, not {self.delay_ms}")

    def start(self, transmit: Callable[[int, bytes], None]) -> Disturbed:
        """A disturbed way to `transmit`, to be used in a running event loop."""
        return Disturbed(self, transmit)


SLOWER = 20
"""The frames to the slow destination are delayed by so many times as much."""


class Disturbed:
    """Sends frames as `Disturbance` says. `lost` and `duplicated` count what it did."""

    __slots__ = ("_choice", "_loop", "_settings", "_timers", "_transmit", "duplicated", "lost")

    def __init__(self, settings: Disturbance, transmit: Callable[[int, bytes], None]) -> None:
        self._settings = settings
        self._transmit = transmit
        self._choice = Random(settings.seed)
        self._loop = asyncio.get_running_loop()
        self._timers: set[asyncio.TimerHandle] = set()
        self.lost = 0
        self.duplicated = 0

    def send(self, destination: int, frame: bytes) -> None:
        """Loses, duplicates and delays a frame, or just sends it."""
        choice, settings = self._choice, self._settings
        if choice.random() < settings.loss:
            self.lost += 1
            return
        copies = 1
        if choice.random() < settings.duplication:
            self.duplicated += 1
            copies = 2
        for _ in range(copies):
            delay_ms = choice.random() * settings.delay_ms * (SLOWER if destination == settings.slow else 1)
            if delay_ms:
                self._later(delay_ms / 1000, destination, frame)
            else:
                self._transmit(destination, frame)

    def close(self) -> None:
        """What is delayed is lost."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _later(self, delay_s: float, destination: int, frame: bytes) -> None:
        def fire() -> None:
            self._timers.discard(timer)
            self._transmit(destination, frame)

        timer = self._loop.call_later(delay_s, fire)
        self._timers.add(timer)
