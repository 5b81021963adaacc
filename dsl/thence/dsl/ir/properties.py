"""Names of properties that are about the end of a run, and of what is judged beside the properties."""

from typing import Final

DELIVERED: Final = "delivered"
"""Property: in every fair run each message that is sent is delivered at each of its destinations."""

DEADLOCK_FREE: Final = "deadlock_free"
"""Property: a run does not end before every message is sent that is to be sent, and every program has ended."""

COMPLETES: Final = "completes"
"""Witness: some run brings every program to its end."""

FAULT: Final = "fault"
"""Property: no step of the protocol does what has no meaning."""

LINK: Final = "link"
"""Property: every event of the protocol is enabled in the machine that follows it, and both agree."""


def undefined(witness: str) -> str:
    """The name under which a `reachable` formula is found to have no value in a state.

    It is then neither reached there nor known not to be. An invariant without a value is violated, under its own name.
    """
    return f"{witness} has no value"
