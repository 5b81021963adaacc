"""The tasks of open files: what is running, what came out, and what stands beside the lines because of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lsprotocol import types

from thence.dsl.text import syntax
from thence.lsp.analysis import Analysis
from thence.lsp.conversions import verdict_diagnostics
from thence.lsp.outcomes import Outcome, summary, told
from thence.lsp.positions import Positions
from thence.lsp.running import Limits, ask
from thence.lsp.tasks import VERBS, Place, Task, places

RUN, CANCEL, SHOW = "thence.run", "thence.cancel", "thence.show"
"""The commands. Each takes the address of a file and a task."""


Announce: TypeAlias = Callable[[Task, "asyncio.Task[None]"], Awaitable[Callable[[str], None]]]
"""Shows the progress of a task, and returns who is told of it."""


@dataclass(slots=True)
class Running:
    """A task that is under way, and its latest progress."""

    work: asyncio.Task[None]
    progress: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """What came out of a task, and what it was about; it is valid while that stays the same."""

    outcome: Outcome
    basis: tuple[syntax.TopLevel, ...]


@dataclass(slots=True)
class Verdicts:
    """All tasks, by file and task. `changed` is told when something beside the lines of a file has changed."""

    changed: Callable[[str], None]
    limits: Limits = field(default_factory=Limits)
    running: dict[tuple[str, Task], Running] = field(default_factory=dict)
    finished: dict[tuple[str, Task], Finished] = field(default_factory=dict)

    def start(
        self,
        uri: str,
        place: Place,
        analysis: Analysis,
        announce: Announce,
    ) -> asyncio.Task[None]:
        """Begins a task, if it is not under way already."""
        key = uri, place.task
        known = self.running.get(key)
        if known is not None:
            return known.work
        work = asyncio.create_task(self._run(uri, place, analysis, announce))
        self.running[key] = Running(work)
        return work

    async def _run(
        self,
        uri: str,
        place: Place,
        analysis: Analysis,
        announce: Announce,
    ) -> None:
        key = uri, place.task
        self.finished.pop(key, None)
        self.changed(uri)
        say: Callable[[str], None] | None = None

        def tell(said: str) -> None:
            if key in self.running:
                self.running[key].progress = said
            if say is not None:
                say(said)

        try:
            work = asyncio.current_task()
            assert work is not None
            say = await announce(place.task, work)
            outcome = await ask(place.task, analysis.file, analysis.text, self.limits, tell)
            self.finished[key] = Finished(outcome, place.basis)
        finally:
            self.running.pop(key, None)
            if say is not None:
                say("")
            self.changed(uri)

    def cancel(self, uri: str, task: Task) -> bool:
        """Ends a task; False if it is not under way."""
        running = self.running.get((uri, task))
        return running is not None and running.work.cancel()

    async def close(self, uri: str | None = None) -> None:
        """Ends the tasks of a file, or all of them, and waits for their processes."""
        ended = [running.work for (of, _), running in self.running.items() if uri in (None, of)]
        for work in ended:
            work.cancel()
        await asyncio.gather(*ended, return_exceptions=True)
        for key in [key for key in self.finished if uri in (None, key[0])]:
            del self.finished[key]

    def outcome(self, uri: str, place: Place) -> Outcome | None:
        """What is known about a place, as the text is now."""
        found = self.finished.get((uri, place.task))
        return found.outcome if found is not None and found.basis == place.basis else None

    def lenses(self, uri: str, analysis: Analysis, positions: Positions) -> Iterator[types.CodeLens]:
        """What stands above the lines: what can be asked, what is under way, what came out."""
        sound = analysis.is_sound
        for place in places(analysis):
            where = positions.range(place.span)
            arguments: list[Any] = [uri, place.task.to_json()]
            running, outcome = self.running.get((uri, place.task)), self.outcome(uri, place)
            verb = VERBS[place.task.kind]
            if running is not None:
                progress = f": {running.progress}" if running.progress else ""
                yield types.CodeLens(where, types.Command(f"cancel{progress}", CANCEL, None, arguments))
                continue
            if outcome is not None:
                said = summary(outcome, place.expects)
                yield types.CodeLens(where, types.Command(said, SHOW, None, arguments))
            if sound:
                again = f"{verb} again" if outcome is not None else verb
                yield types.CodeLens(where, types.Command(again, RUN, None, arguments))

    def diagnostics(self, uri: str, analysis: Analysis, positions: Positions) -> Iterator[types.Diagnostic]:
        """The verdicts that are shown in the text."""
        if not any(of == uri for of, _ in tuple(self.finished)):
            return
        for place in places(analysis):
            outcome = self.outcome(uri, place)
            if outcome is not None:
                yield from verdict_diagnostics(place, outcome, positions)

    def told(self, uri: str, analysis: Analysis, line: int | None = None, task: Task | None = None) -> str:
        """Everything that came out at a line, or of a task; empty where nothing is known."""
        if not any(of == uri for of, _ in tuple(self.finished)):
            return ""
        for place in places(analysis):
            outcome = self.outcome(uri, place)
            if outcome is not None and (place.task == task or place.span.line == line):
                return f"{place.task.title}: {told(outcome, place.expects)}"
        return ""
