"""Random runs of a system, fixed by a seed."""

from __future__ import annotations

import random
from collections.abc import Collection

from thence.dsl.ir.properties import FAULT
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.broken import disturbs
from thence.dsl.run.causality import Finding
from thence.dsl.run.narrate import NarratedStep, narrate
from thence.dsl.run.system import System


def simulate(system: System, seed: int, steps: int, judged: Collection[str] | None = None) -> tuple[NarratedStep, ...]:
    """A run of at most `steps` steps; it ends earlier when nothing can happen or something is violated.

    What happens next is drawn evenly from the enabled actions; timers that change nothing are not drawn. A run goes on
    after violations of what is not `judged`; by default, every property of steps is.
    """
    draw = random.Random(seed)
    state = system.initial()
    taken: list[NarratedStep] = []
    while len(taken) < steps:
        choices = list(system.enabled(state))
        draw.shuffle(choices)
        chosen = _first_step(system, state, choices)
        if chosen is None:
            break
        action, outcome = chosen
        taken.append(narrate(system, state, action, outcome))
        state = outcome.state
        if any(_ends(finding, judged) for finding in outcome.findings):
            break
        if judged and any(_ends(finding, judged) for finding in system.broken(state)):
            break
    return tuple(taken)


def at_rest(system: System, state: State) -> bool:
    """Whether nothing can happen any more in the state."""
    outcomes = (system.apply(state, action) for action in system.enabled(state))
    return not any(outcome.state != state or disturbs(outcome.findings, system.of_steps) for outcome in outcomes)


def _first_step(system: System, state: State, actions: list[Action]) -> tuple[Action, Outcome] | None:
    """The first of the actions that changes something, and its outcome."""
    for action in actions:
        outcome = system.apply(state, action)
        if outcome.state != state or outcome.findings:
            return action, outcome
    return None


def _ends(finding: Finding, judged: Collection[str] | None) -> bool:
    """Whether the run ends with the finding. A step at fault is the end of every run."""
    return judged is None or finding.property in judged or finding.property == FAULT
