"""Where a system and its protocol part."""

from __future__ import annotations

from dataclasses import dataclass

from thence.conformance.replay.guards import DecidingGuard
from thence.spec.words import counted


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
        wrong_message: what is wrong with the `message` of the subject's packet, where that is the difference.
    """

    process: int
    input: str
    expected: str | None
    got: str | None
    matched: int
    guard: DecidingGuard | None
    fault: str | None = None
    wrong_message: str | None = None

    def __str__(self) -> str:
        decided = "" if self.guard is None else f"; {self.guard}"
        said = f"p{self.process}, {self.input}: {', '.join(self._parting())}"
        return f"{said}, after {counted(self.matched, 'matching event')}{decided}"

    def lines(self) -> tuple[str, ...]:
        """The same on several lines: the step, what each of the two does, the condition that decided."""
        step = f"p{self.process}, {self.input}, after {counted(self.matched, 'matching event')}:"
        return step, *self._parting(), *(() if self.guard is None else (str(self.guard),))

    def _parting(self) -> tuple[str, ...]:
        if self.fault is not None:
            return (f"the protocol cannot take this step: {self.fault}",)
        nothing = "does nothing more"
        parting = f"the protocol {self.expected or nothing}", f"the subject {self.got or nothing}"
        return parting if self.wrong_message is None else (*parting, self.wrong_message)
