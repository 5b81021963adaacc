"""Over-delay: messages that a system keeps back though they are deliverable."""

from __future__ import annotations

from typing import Any

from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.replay.findings import CaseOutcome


def withheld_json(
    arrivals: int, withheld: int, slowest: CaseOutcome | None, system: str, protocol: str | None
) -> dict[str, Any]:
    """Over-delay as JSON values: deliverable messages that were kept back, and the case of the longest delay."""
    found: dict[str, Any] = {
        "arrivals": arrivals,
        "withheld": withheld,
        "per_100_arrivals": round(100 * withheld / arrivals, 3) if arrivals else None,
    }
    delay = None if slowest is None else slowest.longest_delay
    if slowest is not None and delay is not None:
        found["worst"] = {
            "process": delay.process,
            "message": delay.message,
            "arrivals": delay.arrivals,
            "delivered": delay.delivered,
            "case": RecordedCase(system, protocol, slowest.settings, slowest.operations).to_json(),
        }
    return found
