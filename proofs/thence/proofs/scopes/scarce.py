"""What is refuted only because the application of a scope may do so little: a note beside the verdict.

A promise that needs two requests is broken by every run of a scope that gives one. The run that refutes it is gone on
with in a larger scope, where the application does more: what it has to do more, in order that the refutation is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count, islice

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import domain
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.ir.properties import DEADLOCK_FREE, DELIVERED, FAULT
from thence.dsl.run.actions import Action, State
from thence.dsl.run.promises import Instance
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import Violation, path_to

MORE = 4
"""How often each process may send or have an input beyond what the scope says."""

MOST_STATES = 3_000
"""Limit on the states that are looked at beyond the end of a run."""


def asks_for_more(violation: Violation) -> str | None:
    """What the application would have to do beyond what it does in the run, so that the run refutes nothing; None where
    nothing is known to help.

    Of `delivered` and of promises: they come after all. Of formulas at rest, and of `deadlock_free`: the run goes on.
    """
    system = violation.system
    if not isinstance(system.workload.sending, ir.Finite) or system.workload.programs:
        return None
    wider = System(system.protocol, with_more(system.protocol, system.workload))
    wider.adopt_packets(system)
    end = wider.initial()
    for step in violation.steps:
        end = wider.apply(end, step.action).state
    went_on = _gone_on(wider, violation, end)
    return None if went_on is None else _told(wider, system.workload, went_on[0], end, went_on[1])


def with_more(protocol: ir.Protocol, workload: ir.Workload) -> ir.Workload:
    """The workload, in which each process sends and has each input `MORE` times beyond what the scope says."""
    given = {use.name: use for use in workload.inputs}
    processes = workload.processes
    inputs = []
    for name, parameters in kind_of(protocol).inputs:
        own = tuple((parameter, domain(type_, processes)) for parameter, type_ in parameters)
        use = given.get(name, ir.InputUse(name, (0,) * processes, own))
        inputs.append(replace(use, limits=tuple(limit + MORE for limit in use.limits)))
    sends = tuple(number + MORE if workload.choices(p) else number for p, number in enumerate(workload.sends))
    return replace(workload, sends=sends if protocol.sends else workload.sends, inputs=tuple(inputs))


def _gone_on(wider: System, violation: Violation, end: State) -> tuple[str, list[Action]] | None:
    """How the run goes on so that it refutes nothing, and what is then true, in words."""
    name = violation.finding.property
    if name == DEADLOCK_FREE:
        able = list(islice(wider.application_inputs(end), 1))
        return (_POSSIBLE, able) if able else None
    if any(formula.name == name for formula in wider.protocol.rest):
        able = list(islice((each for each in _application(wider, end) if _is_assumed(wider, each)), 1))
        return ("the run does not end there", able) if able else None
    comes = _coming(wider, violation, end)
    way = None if comes is None else _least_application(wider, violation.system.workload, end, comes)
    if way is None or not any(action.kind in ("send", "input") for action in way):
        return None  # it comes without the application, by what need not happen: a timer that is not fair, say
    return f"`{name}` comes", way


def _coming(wider: System, violation: Violation, end: State) -> Callable[[State], bool] | None:
    """Whether what never comes has come in a state; None: the property is about something else."""
    name, message = violation.finding.property, violation.finding.message
    if name == DELIVERED and message is not None:
        return lambda state: all(entry.message != message for entry in state.history.pending)
    if wider.promises is None or not (owed := end.owed & wider.promises.of(name)):
        return None
    instance = violation.owed
    if isinstance(instance, Instance):
        owed = 1 << wider.promises.instances.index(instance)
    return lambda state: not state.owed & owed


def _least_application(
    wider: System, workload: ir.Workload, end: State, comes: Callable[[State], bool]
) -> list[Action] | None:
    """A way to a state in which it comes on which the application does as little as possible beyond the workload, and
    then as little as possible; None: none was found. Nothing is lost or duplicated on it; arrivals and timers are free.
    """
    origins: dict[State, tuple[State, Action] | None] = {}
    number = count()
    waiting: list[tuple[int, int, State, tuple[State, Action] | None]] = [(0, next(number), end, None)]
    while waiting and len(origins) < MOST_STATES:
        cost, _, state, origin = heappop(waiting)
        if state in origins:
            continue
        origins[state] = origin
        if comes(state):
            return path_to(origins, state)
        for action in (*wider.every_arrival(state), *wider.late_timers(state), *_application(wider, state)):
            outcome = wider.apply(state, action)
            if outcome.state not in origins and not any(finding.property == FAULT for finding in outcome.findings):
                added = _cost(wider, workload, outcome.state, action)
                heappush(waiting, (cost + added, next(number), outcome.state, (state, action)))
    return None


def _cost(wider: System, workload: ir.Workload, after: State, action: Action) -> int:
    """What an action costs that leads to the state `after`: most what the workload never lets the process do."""
    if action.kind not in ("send", "input"):
        return 0
    _, limit, number = _uses(wider, workload, after, action)
    if number <= limit:
        return 1
    return _BEYOND if limit else 2 * _BEYOND


_POSSIBLE = "more can happen"
"""What is true where a run is no deadlock: it need not happen, whatever is fair."""

_BEYOND = 2 * MOST_STATES
"""The cost of what goes beyond the workload: above all that a way of `MOST_STATES` states may do within it."""


def _uses(wider: System, workload: ir.Workload, after: State, action: Action) -> tuple[str, int, int]:
    """The name of what the application does, how often the workload lets the process do it, and how often it has."""
    if action.kind == "send":
        return "causal_send", workload.sends[action.process], after.sends[action.process]
    limits = next((use.limits for use in workload.inputs if use.name == action.name), None)
    slot = wider.slot(action)
    assert slot is not None
    return action.name, 0 if limits is None else limits[action.process], after.ticks[slot]


def _application(wider: System, state: State) -> Iterator[Action]:
    yield from wider.application_sends(state)
    yield from wider.application_inputs(state)


def _is_assumed(wider: System, action: Action) -> bool:
    """Whether the application does it as far as it can, by assumption."""
    return wider.sends_on if action.kind == "send" else action.name in wider.protocol.fair_inputs


def _told(wider: System, workload: ir.Workload, what: str, end: State, way: list[Action]) -> str:
    """The note: what the application does more often than the workload lets it, and what it need not do."""
    beyond: dict[tuple[str, int], str] = {}
    unfair: dict[str, None] = {}
    after = end
    for action in way:
        after = wider.apply(after, action).state
        if action.kind not in ("send", "input"):
            continue
        name, limit, number = _uses(wider, workload, after, action)
        if number > limit:
            beyond[name, action.process] = (
                f"`{name}` {_times(number)} at p{action.process} (the scope says {_times(limit)})"
            )
        if what != _POSSIBLE and not _is_assumed(wider, action):
            unfair[f"`{name}`"] = None
    with_ = " and ".join(beyond.values() or unfair)
    need_not = f", but {' and '.join(unfair)} need not happen: not declared fair" if unfair else ""
    return f"with {with_}, {what}{need_not}"


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")
