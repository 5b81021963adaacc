"""Names of properties that are about the end of a run."""

from typing import Final

DEADLOCK_FREE: Final = "deadlock_free"
"""Property: a run does not end before every message is sent that is to be sent, and every program has ended."""

COMPLETES: Final = "completes"
"""Witness: some run brings every program to its end."""
