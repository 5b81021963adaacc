"""A run that breaks a link: the machine refuses an event of it, or an invariant of the link is false after it.

An obligation of a link fails in a state that need not be reachable. A run decides; it may break the link elsewhere.
The search is breadth first, by the interpreter, so that the run is a shortest one of its scope.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import default_sends, default_workloads, least_processes, workload_for
from thence.dsl.ir.properties import FAULT
from thence.dsl.run.actions import Action, State
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import execution, record, run, text
from thence.dsl.run.scoped import bare
from thence.dsl.run.values import Fault
from thence.proofs.links.link_run import Follower, LinkRun
from thence.proofs.workload_facts import workload_facts
from thence.proofs.workload_words import describe
from thence.spec.diagram import draw_svg, draw_text
from thence.spec.words import counted

LIMIT: Final = 4_000
"""States that are searched in a scope at most."""

SCOPES: Final = 4
"""Scopes that are searched at most, those with few processes and messages first."""

_Reached: TypeAlias = tuple[State, Follower]


@dataclass(frozen=True, slots=True)
class Breaking:
    """A run that breaks a link, as JSON values, as text and as SVG."""

    facts: dict[str, Any]
    explanation: str
    picture: str


@dataclass(frozen=True, slots=True)
class Search:
    """The run, or None; and in a sentence what was searched, or how the run breaks the link."""

    said: str
    run: Breaking | None = None


def run_that_breaks(link: ir.Link, seconds: float) -> Search:
    """Searches scopes of the link, also with each fault of the network once; and those of a protocol without scopes,
    also with each input twice.

    Args:
        seconds: of processor time, for all scopes together.
    """
    end = time.process_time() + seconds
    searched: list[str] = []
    for name, workload in _scopes(link):
        if time.process_time() >= end:
            break
        follow = LinkRun(link, system_of(bare(link.protocol), workload))
        if follow.broken_axioms():
            continue
        where = name or describe(workload)
        actions, states, whole = _shortest(follow, end)
        if actions is not None:
            return Search(*_shown(follow, actions, workload_facts(name, workload, link.protocol)))
        searched.append(f"{where} ({counted(states, 'state')}{'' if whole else ' of more'})")
    over = "; the time limit ended this search" if time.process_time() >= end else ""
    if not searched:
        return Search(f"no scope could be searched for a run that breaks the link{over}")
    more = "the state need not be reachable, and then the invariants are too weak"
    return Search(f"no run breaks the link in these scopes: {'; '.join(searched)}{over}; {more}")


def _scopes(link: ir.Link) -> Iterator[tuple[str | None, ir.Workload]]:
    every: list[tuple[str | None, ir.Workload]] = [(scope.name, scope.workload) for scope in link.scopes]
    every += [(None, workload) for workload in default_workloads(link.protocol)]
    if link.protocol.inputs:
        least = max(2, least_processes(link.protocol))
        every.append((None, workload_for(link.protocol, default_sends(least), inputs=2)))
    network = link.protocol.network
    twice, lost = int(network.duplicating), int(network.lossy)
    if twice or lost:
        quiet = [each.workload for each in link.scopes if not each.workload.duplicates + each.workload.losses]
        every += [(None, replace(workload, duplicates=twice, losses=lost)) for workload in quiet]
    every.sort(key=lambda each: (each[1].processes, sum(each[1].sends)))
    chosen = [each for each in every if each[1].ends][:SCOPES]
    if link.reactive:
        chosen += [(None, found) for _, workload in chosen for found in _with_reactive_sends(workload)]
    yield from chosen


def _with_reactive_sends(workload: ir.Workload) -> Iterator[ir.Workload]:
    """The same for applications that send inside a delivery, too."""
    sending = workload.sending
    if isinstance(sending, ir.Finite) and not sending.reactive and not sending.programs:
        yield replace(workload, sending=replace(sending, reactive=True))


def _shortest(follow: LinkRun, end: float) -> tuple[list[Action] | None, int, bool]:
    """The actions of a shortest run that breaks the link, if one is found; how many states were reached; whether these
    are all. `end` is when the time is over, by the processor time of this process."""
    system = follow.system
    start = (system.initial(), follow.initial())
    if follow.disagreement(start[1], start[0]) is not None:
        return [], 1, False
    came: dict[_Reached, tuple[_Reached, Action] | None] = {start: None}
    left = deque([start])
    while left and len(came) < LIMIT and time.process_time() < end:
        here = left.popleft()
        for action in system.enabled(here[0]):
            outcome = system.apply(here[0], action)
            if any(each.property == FAULT for each in outcome.findings):
                continue
            try:
                after = follow.follow(here[1], here[0], action, outcome)
            except Fault:  # internal transitions without an end
                continue
            if not isinstance(after, Follower):
                return [*_actions(came, here), action], len(came), False
            there = (outcome.state, after)
            if there not in came:
                came[there] = here, action
                left.append(there)
    return None, len(came), not left


def _actions(came: dict[_Reached, tuple[_Reached, Action] | None], to: _Reached) -> list[Action]:
    found: list[Action] = []
    step = came[to]
    while step is not None:
        found.append(step[1])
        step = came[step[0]]
    return found[::-1]


def _shown(follow: LinkRun, actions: list[Action], scope: dict[str, Any]) -> tuple[str, Breaking]:
    """The run, replayed by the interpreter with the machine along."""
    system = follow.system
    steps = tuple(run(system, actions))
    after = follow.what_breaks(system.initial(), steps)
    observed = execution(system, steps)
    facts = {"scope": scope, "counterexample": record(system, steps)}
    shown = f"{text(steps)}\n\n{after}\n\n{draw_text(observed)}"
    return f"this run breaks the link after {counted(len(steps), 'step')}:", Breaking(facts, shown, draw_svg(observed))
