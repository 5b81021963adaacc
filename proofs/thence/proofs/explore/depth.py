"""An estimate of the depth of an exploration: for its line of progress, never for a verdict."""

from __future__ import annotations

from thence.dsl.run.actions import Action, State
from thence.dsl.run.system import System

_MOST_STEPS = 10_000


def expected_depth(system: System) -> int | None:
    """The length of a run in which every packet arrives before the next message is sent, plus faults of the network.

    Most states are at a depth of about so many steps at most. None where messages are sent for ever, or the run does
    not end.
    """
    if not system.workload.ends:
        return None
    state = system.initial()
    for length in range(_MOST_STEPS):
        following = _next(system, state)
        if following is None:
            return length + 2 * system.workload.duplicates + system.workload.losses
        state = following
    return None


def _next(system: System, state: State) -> State | None:
    """The state after an arrival; if there is none, after a timer that changes something, or a send."""
    for action in sorted(system.enabled(state), key=_urgency):
        if action.kind not in ("duplicate", "lose"):
            after = system.apply(state, action).state
            if after != state:
                return after
    return None


def _urgency(action: Action) -> int:
    return ("receive", "tick", "send", "input", "duplicate", "lose").index(action.kind)
