"""Where a system and its protocol part."""

from __future__ import annotations

from dataclasses import dataclass

from thence.conformance.replay.guards import DecidingGuard


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where the subject and its protocol part.

    Attributes:
        process: of the step.
        input: of the step, in words.
        expected: the protocol's event at this point, or None for nothing (more).
        got: the subject's event, or None for nothing (more).
        matched: number of equal events before: inputs, packets sent, deliveries.
        guard: the condition of the protocol that decided, where one did.
        fault: why the protocol's text has no such step, or None.
    """

    process: int
    input: str
    expected: str | None
    got: str | None
    matched: int
    guard: DecidingGuard | None
    fault: str | None = None

    def __str__(self) -> str:
        if self.fault is not None:
            said = f"the protocol cannot take this step: {self.fault}"
        else:
            said = f"the protocol {self.expected or 'does nothing more'}, the subject {self.got or 'does nothing more'}"
        decided = "" if self.guard is None else f"; {self.guard}"
        return f"p{self.process}, {self.input}: {said}, after {self.matched} matching events{decided}"
