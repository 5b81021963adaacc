"""A run in which a link says something: a step of the protocol that is one of the machine.

A link is about the events of a protocol. Where no run has such an event, it is true of nothing. Runs are drawn in the
scopes of the link, and in those of a protocol without scopes. Of a machine with messages the step is a delivery, as in
the witness of a machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import default_workloads
from thence.dsl.ir.properties import FAULT
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import bare
from thence.proofs.links.link_run import Follower, LinkRun

RUNS: Final = 60
"""Runs that are drawn in a scope."""

STEPS: Final = 120
"""Steps of a run at most."""


def says_nothing(link: ir.Link) -> str | None:
    """Why the link may say nothing of its protocol; None where a run shows that it says something."""
    wanted, missing = None, "has an event that is a step of the machine"
    if link.machine.delivery != "off":
        wanted, missing = "deliver", "delivers a message"
    if any(_happens(follow, wanted) for follow in followers(link)):
        return None
    return f"holds for nothing: no run was found that {missing}"


def followers(link: ir.Link) -> Iterator[LinkRun]:
    """The link in each scope in which its machine can run along."""
    for workload in (*(scope.workload for scope in link.scopes), *default_workloads(link.protocol)):
        if workload.ends:
            follow = LinkRun(link, system_of(bare(link.protocol), workload))
            if not follow.broken_axioms():
                yield follow


def _happens(follow: LinkRun, wanted: str | None) -> bool:
    """Whether the machine takes the transition in a run that is drawn; without a transition, whether it takes any."""
    transitions = follow.transitions if wanted is None else (wanted,)
    draw = Random(0)
    for _ in range(RUNS):
        _run(follow, transitions, draw)
        if any(follow.took(each) for each in transitions):
            return True
    return False


def _run(follow: LinkRun, transitions: tuple[str, ...], draw: Random) -> None:
    """Follows a run to its end, a fault, an event that the machine refuses, or a step of one of the transitions."""
    system = follow.system
    state, machine = system.initial(), follow.initial()
    for _ in range(STEPS):
        enabled = list(system.enabled(state))
        if not enabled or any(follow.took(each) for each in transitions):
            return
        action = draw.choice(enabled)
        outcome = system.apply(state, action)
        after = follow.follow(machine, state, action, outcome)
        if not isinstance(after, Follower) or any(each.property == FAULT for each in outcome.findings):
            return
        state, machine = outcome.state, after
