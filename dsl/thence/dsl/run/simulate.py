"""Random runs of a system, fixed by a seed."""

from __future__ import annotations

import random

from thence.dsl.run.narrate import NarratedStep, narrate
from thence.dsl.run.system import System


def simulate(system: System, seed: int, steps: int) -> tuple[NarratedStep, ...]:
    """A run of at most `steps` steps; it ends earlier when nothing can happen or something is violated.

    What happens next is drawn evenly from the enabled actions; timers that change nothing are not drawn.
    """
    draw = random.Random(seed)
    state = system.initial()
    taken: list[NarratedStep] = []
    while len(taken) < steps:
        choices = list(system.enabled(state))
        draw.shuffle(choices)
        for action in choices:
            outcome = system.apply(state, action)
            if outcome.state != state or outcome.findings:
                break
        else:
            break
        taken.append(narrate(system, state, action, outcome))
        state = outcome.state
        if outcome.findings:
            break
    return tuple(taken)
