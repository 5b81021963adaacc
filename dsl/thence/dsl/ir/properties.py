"""Names of properties that are about the end of a run."""

from typing import Final

DELIVERED: Final = "delivered"
"""Property: in every fair run each message that is sent is delivered at each of its destinations."""

DEADLOCK_FREE: Final = "deadlock_free"
"""Property: a run does not end before every message is sent that is to be sent, and every program has ended."""

COMPLETES: Final = "completes"
"""Witness: some run brings every program to its end."""
