"""Replay of what a protocol promises: in lock step, and where the steps part, by the events of the case.

The text of a protocol fixes more than the protocol promises: which of several messages comes first that nothing is
missing for, and in which order a step sends its packets. A subject that differs in that conforms, in another order.
Where a step of it has no counterpart, the protocol may still have a run with what is seen of the case: then the case
conforms as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.partial_observation import PartialObservationReplay, ended_early, nonconformance
from thence.conformance.replay.replay import Replay


@dataclass(slots=True)
class PermissiveReplay(Replay):
    """A replay that is settled by what was observed, unless it is `strict`: then by the text's own order."""

    strict: bool = False
    undecided: int = field(init=False, default=0)
    """Number of cases that could not be decided: too many possible states."""
    _observed: PartialObservationReplay = field(init=False)

    def __post_init__(self) -> None:
        Replay.__post_init__(self)
        self._observed = PartialObservationReplay(self.protocol, self.processes)

    @property
    def is_strict(self) -> bool:
        """Whether the text's own order is demanded."""
        return self.strict

    def settled(self, outcome: CaseOutcome) -> CaseOutcome:
        """The case, whose steps have parted from the text's: has the protocol a run with its events? If it has, the
        subject conforms, as a whole; if not, the step at which they parted is the finding."""
        parted = outcome.unsettled
        if parted is None:
            return outcome
        if parted.divergence is None:  # Several steps of the protocol did what the subject did.
            answer = self._observed.answer(outcome)
            if answer is None:  # Nobody sent what it delivers: no run has that.
                return outcome.settled_with(None)
            self.undecided += answer.verdict == "unknown"
            return outcome.settled_with(nonconformance(answer, parted.event_index))
        verdict = self._observed.verdict(outcome)
        self.undecided += verdict == "unknown"
        if verdict == "conforming" and ended_early(outcome) is None:
            return replace(outcome.settled_with(None), as_a_whole=parted.text)
        return outcome.settled_with(parted if verdict in ("nonconforming", None) else None)
