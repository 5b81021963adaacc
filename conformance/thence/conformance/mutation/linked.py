"""A link's protocol and its machine: in explored scopes, and along random runs in larger workloads.

All steps of the machine are remembered. A mutant of the machine differs in one transition, or a few: if they do the
same in all steps in which they were tried, the link to it is what it was, and nothing has to be followed again.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from thence.conformance.mutation.protocol_judge import larger_workload, usual_workloads
from thence.dsl import ir
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import bare
from thence.dsl.run.system import System
from thence.proofs.links.link_run import Broken, Disagreement, Follower, LinkRun
from thence.proofs.scopes.link import explore_link
from thence.proofs.workload_words import describe
from thence.spec.words import counted

SMALL: Final = 3
"""Usual workloads that are explored beside a link's own."""

RUNS: Final = 150
"""Random runs of a link in each larger workload."""

MORE: Final = 2
"""Messages of each sender of a link's own scope, in addition, along random runs."""

EARLY: Final = 2
"""Timers that each process may fire at any moment, along random runs of the same workloads once more."""

STEPS: Final = 120
"""Most steps of a random run."""

_Step: TypeAlias = tuple[State, Action, Outcome]


@dataclass(frozen=True, slots=True)
class Tried:
    """A link to a mutant: the event that is not enabled in it, and those of its changed transitions that happened."""

    broken: str | None
    happened: frozenset[str]


@dataclass(frozen=True, slots=True)
class LinkedScope:
    """A link that holds in a workload.

    Attributes:
        follow: the link, with the steps that its machine took.
        runs: of the protocol, along which it was followed; none where all of the workload was explored.
    """

    follow: LinkRun
    runs: tuple[tuple[_Step, ...], ...] = ()

    def tried(self, machine: ir.Machine, changed: Collection[str]) -> Tried:
        """The link to a mutant of the machine that differs in the transitions `changed`."""
        other = self.follow.with_machine(machine, changed)
        if self.follow.agrees_with(other, changed):
            return Tried(None, _taken(other, changed))
        other = self.follow.with_machine(machine, changed)
        among = describe(other.system.workload)
        if not self.runs:
            check = explore_link(other)
            broken = None if check.refuted is None else f"after {counted(len(check.steps), 'step')} among {among}"
        else:
            refused = (number for number, run in enumerate(self.runs) if _followed(other, run) is not None)
            number = next(refused, None)
            broken = None if number is None else f"among {among}, random run {number}"
        return Tried(broken, _taken(other, changed))


def _taken(follow: LinkRun, transitions: Collection[str]) -> frozenset[str]:
    return frozenset(name for name in transitions if follow.took(name))


def linked_scopes(link: ir.Link) -> Iterator[LinkedScope]:
    """Where the link holds: in its own scopes, small ones, and along random runs. Raises: KeyboardInterrupt."""
    protocol = link.protocol
    small = usual_workloads(protocol)[:SMALL]
    for workload in dict.fromkeys((*small, *(scope.workload for scope in link.scopes))):
        follow = LinkRun(link, system_of(bare(protocol), workload))
        check = explore_link(follow)
        if check.why_incomplete == "interrupted":
            raise KeyboardInterrupt
        if check.complete:
            yield LinkedScope(follow)
    larger = [larger_workload(protocol, processes, sends) for processes, sends in ((3, 2), (3, 4), (4, 3))]
    larger += [grown for scope in link.scopes if (grown := _grown(scope.workload)) is not None]
    if any(handler.event == "periodically" for handler in protocol.handlers):
        larger += [replace(workload, ticks=EARLY, timers=()) for workload in larger]
    for workload in dict.fromkeys(larger):
        follow = LinkRun(link, system_of(bare(protocol), workload))
        if follow.broken_axioms():
            continue
        runs = tuple(_random_run(follow.system, seed) for seed in range(RUNS))
        held = tuple(run for run in runs if _followed(follow, run) is None)
        if held:
            yield LinkedScope(follow, held)


def _grown(workload: ir.Workload) -> ir.Workload | None:
    """The same with more messages; None where programs fix them."""
    if any(program is not None for program in workload.programs):
        return None
    return replace(workload, sends=tuple(sends and sends + MORE for sends in workload.sends))


def _random_run(system: System, seed: int) -> tuple[_Step, ...]:
    """Steps that change something, up to a fault."""
    draw = random.Random(seed)
    state = system.initial()
    run: list[_Step] = []
    for _ in range(STEPS):
        choices = list(system.enabled(state))
        while choices:
            action = choices.pop(draw.randrange(len(choices)))
            outcome = system.apply(state, action)
            if any(finding.property == "fault" for finding in outcome.findings):
                return tuple(run)
            if outcome.state != state:
                run.append((state, action, outcome))
                state = outcome.state
                break
        else:
            break
    return tuple(run)


def _followed(follow: LinkRun, run: tuple[_Step, ...]) -> Broken | Disagreement | None:
    """The first event of the run that the machine refuses, or what the two disagree on after it."""
    follower = follow.initial()
    for before, action, outcome in run:
        after = follow.follow(follower, before, action, outcome)
        if not isinstance(after, Follower):
            return after
        follower = after
    return None
