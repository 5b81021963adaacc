"""The steps of a protocol as far as logs show them: which deliveries of a step are logged, and in which order."""

from __future__ import annotations

from dataclasses import dataclass

from thence.conformance.replay.process_logs import ProcessLogs
from thence.conformance.replay.replay import Expected, Input, Replay


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
