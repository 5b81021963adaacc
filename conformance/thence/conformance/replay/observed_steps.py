"""The steps of a protocol as far as logs show them: which deliveries of a step are logged, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thence.conformance.replay.process_logs import Delivery, Entry, ProcessLogs, Sending
from thence.conformance.replay.replay import Expected, Input, Replay, Seen


@dataclass(frozen=True, slots=True)
class ObservedSteps:
    """A protocol's steps, seen through the logs of a run.

    Attributes:
        replay: takes the steps.
        logs: what each process logged.
        promises: the properties that deliveries in one step are held to: `total_order`, `causal`, `fifo`.
    """

    replay: Replay
    logs: ProcessLogs
    promises: frozenset[str]

    def step(self, process: int, state: int, given: Input) -> Expected:
        """The step of the process from the state of that number."""
        return self.replay.expected(process, state, given)

    def deliveries(self, process: int, expected: Expected) -> list[tuple[int, str]]:
        """The deliveries of a step that a log would show, with their numbers in the step."""
        delivered = [one[0] for one in expected.signature if len(one) == 1]
        return [(number, name) for number, name in enumerate(delivered) if self.logs.shows(process, name)]

    def must_keep(self, first: str, second: str) -> bool:
        """Whether two messages that the protocol delivers in this order in one step must be logged in this order."""
        if "total_order" in self.promises:
            return True
        if "causal" in self.promises:
            return self.logs.before(first, second)
        if "fifo" in self.promises:
            return self.logs.messages[first].src == self.logs.messages[second].src
        return False

    def matches(self, process: int, state: int, start: int, given: Input, own: int) -> Iterator[tuple[Expected, int]]:
        """The steps by this input whose deliveries are found in the log from the place `start` on, each with the number
        of matched entries. `own`: 1 if the input is an entry.

        A send between its deliveries is the application's reaction to the delivery before it, see NOTE(answers). A
        send after the last one is a step of its own.
        """
        for alternative in self.replay.alternatives(process, state, given):
            yield from self._matches_of((process, state, start), given, own, alternative.seen)

    def _matches_of(
        self, where: tuple[int, int, int], given: Input, own: int, seen: Seen
    ) -> Iterator[tuple[Expected, int]]:
        """The same, for what the protocol chooses by the script of `seen`."""
        process, state, start = where
        log, script = self.logs.entries[process], seen.script
        for _ in range(len(log) - start + 1):
            expected = self.replay.expected(process, state, given, seen)
            if expected.fault is not None:
                return
            found = self._found(self.deliveries(process, expected), log, start + own)
            if found is None:
                return
            at, wanted = found[0], found[1]._replace(script=script)
            if not wanted.answers or wanted == seen:
                if at > start:
                    yield expected, at - start
                return
            # Who sends in between does so in the state that the deliveries before it have left.
            seen = wanted

    def _found(self, left: list[tuple[int, str]], log: Sequence[Entry], at: int) -> tuple[int, Seen] | None:
        """The place in the log after these deliveries, and what was seen of the step; None where they are not there."""
        order: list[str] = []
        answers: list[tuple[str, int, tuple[int, ...]]] = []
        while left:
            entry = log[at] if at < len(log) else None
            if isinstance(entry, Delivery):
                taken = self._takes(left, entry.message)
                if taken < 0:
                    return None
                order.append(left.pop(taken)[1])
            elif isinstance(entry, Sending) and order:
                answers.append((order[-1], entry.number, entry.destinations))
            else:
                return None
            at += 1
        return at, Seen(tuple(answers), tuple(order))

    def _takes(self, left: list[tuple[int, str]], message: str) -> int:
        """The index of the message in `left`, if it may be delivered before those ahead of it; otherwise -1."""
        for at, (_, name) in enumerate(left):
            if name == message:
                return at
            if self.must_keep(name, message):
                return -1
        return -1
