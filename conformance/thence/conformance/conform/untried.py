"""Claims that no case of a run could have refuted, whatever the system did: of these nothing was tried."""

from __future__ import annotations

from collections.abc import Mapping

from thence.conformance.cases.network import Claim, Settings
from thence.conformance.conform.trials import Opposite

NO_ARRIVAL = "no packet says which message it moves, so nothing shows when a message arrives"
ONE_DESTINATION = "each message has one destination, so no two processes deliver the same messages"
NEVER_REFUSED = (
    "nothing is seen of the protocol but inputs, and it takes each of them at any time: whatever the system does is as"
    " the protocol"
)


def untried(against: Opposite | None, settings: Settings, arrivals: int) -> Mapping[Claim, str]:
    """Why nothing was tried, by claim. `arrivals`: the messages of all cases that were seen to arrive."""
    found: dict[Claim, str] = {}
    if settings.sends and not arrivals:
        found["prompt"] = NO_ARRIVAL
    if settings.delivery == "unicast":
        found["total_order"] = ONE_DESTINATION
    observed = against.protocol if against is not None and against.closely == "as observed" else None
    if observed is not None and not settings.sends and all(handler.guard is None for handler in observed.inputs):
        found["conforming"] = NEVER_REFUSED
    return found
