"""Faulty implementations of Dijkstra and Scholten's termination detection."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Command, Send
from thence.impl.dijkstra_scholten import ROOT, DijkstraScholten, Signal


class AnswersTheFirst(DijkstraScholten):
    """The job that engages a process is answered at once (R.3). Finding: nonconformance."""

    FAULT: ClassVar[str] = "acknowledged too early"

    def _receive_job(self, sender: int) -> list[Command]:
        return super()._receive_job(sender) or [Send(sender, Signal())]


class Silent(DijkstraScholten):
    """A job that engages nobody is not answered (R.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "acknowledgement left out"

    def _receive_job(self, sender: int) -> list[Command]:
        super()._receive_job(sender)
        return []


class AnotherParent(DijkstraScholten):
    """A later job gets a process another parent, and the former one an answer (R.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "overwritten instead of kept"

    def _receive_job(self, sender: int) -> list[Command]:
        parent = self._parent
        commands = super()._receive_job(sender)
        if parent is None or self._group.identity == ROOT:
            return commands
        self._parent = sender
        return [Send(parent, Signal())]


class LeavesEarly(DijkstraScholten):
    """Who is done leaves, whatever others owe it (L.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "condition left out"

    def _is_neutral(self) -> bool:
        return not self._active


class LeavesWorking(DijkstraScholten):
    """Who is owed nothing leaves, though it works on (L.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "condition left out"

    def _is_neutral(self) -> bool:
        return not any(self._due.values())


class LooksOnce(DijkstraScholten):
    """A process does not look again when a signal has come (S.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "condition not looked at again"

    def _receive_signal(self, sender: int) -> list[Command]:
        self._due[sender] -= 1
        return []


class TellsTheRoot(DijkstraScholten):
    """The signal of a process that leaves goes to the root (L.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "wrong destination"

    def _leave(self) -> list[Command]:
        return [Send(ROOT, Signal()) for _ in super()._leave()]


FAULTS: list[type] = [
    AnswersTheFirst,
    Silent,
    AnotherParent,
    LeavesEarly,
    LeavesWorking,
    LooksOnce,
    TellsTheRoot,
]
