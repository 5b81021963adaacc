"""Faults that the protocols with matrices share; each protocol's own module has them as classes of its own."""

from __future__ import annotations

from typing import Any

from thence.impl.commands import Command, Deliver


class HeadOnly:
    """Only the oldest of the waiting messages is looked at."""

    _waiting: dict[int, Any]

    def _deliver(self, candidates: list[int]) -> list[Command]:
        commands: list[Command] = []
        while self._waiting:
            oldest = next(iter(self._waiting))
            waiting, self._waiting = self._waiting, {oldest: self._waiting[oldest]}
            found = self._deliver_one(oldest)
            self._waiting = {key: packet for key, packet in waiting.items() if key != oldest or not found}
            if not found:
                break
            commands += found
        return commands

    def _deliver_one(self, key: int) -> list[Command]:
        return super()._deliver([key])  # type: ignore[misc, no-any-return]


class NoRescan:
    """A delivery does not make the waiting messages looked at again."""

    _waiting: dict[int, Any]

    def _deliver(self, candidates: list[int]) -> list[Command]:
        waiting, self._waiting = self._waiting, {key: self._waiting[key] for key in candidates}
        found: list[Command] = super()._deliver(candidates)  # type: ignore[misc]
        self._waiting = {key: packet for key, packet in waiting.items() if key not in candidates or not found}
        assert all(isinstance(command, Deliver) for command in found)
        return found


class TimerDelivers:
    """Arriving messages are only looked at when a timer fires."""

    _waiting: dict[int, Any]

    def _deliver(self, candidates: list[int]) -> list[Command]:
        return []

    def tick(self) -> list[Command]:
        return super()._deliver(list(self._waiting))  # type: ignore[misc, no-any-return]
