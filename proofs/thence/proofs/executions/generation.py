"""Whether a protocol generates an execution: exhaustive search of its runs, with the execution as the application.

The application of each process sends and receives as the execution says. A receive is a delivery: a step that would
deliver another message, or deliver before the application receives, does not happen, and the packet arrives later
(`thence.dsl.text.programs`). The network loses and duplicates nothing; only a lossy network loses a packet that a timer
repeats while the first copy is in flight. So a protocol *generates* an execution if some run of the published handlers
has these sends and deliveries, in this order at each process. It does not if no run has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.execute import Delivered
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.system import System
from thence.proofs.executions.ordering import Ordering

MOST_STATES = 20_000
"""Limit on the states of the search, for each numbering of the processes."""

_Wanted: TypeAlias = tuple[tuple[tuple[int, int] | None, ...], ...]
"""For each step of each process, the sender and number of the message that it receives; None for a send."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Whether the protocol generates the execution; None: the search reached its limit.

    If it does, `run` is such a run, in `system`.
    """

    generated: bool | None
    states: int
    run: tuple[Action, ...] = ()
    system: System | None = None


def why_not(protocol: ir.Protocol) -> str | None:
    """The reason why the protocol does not admit the question; None if it does."""
    if protocol.inputs:
        return "the application has inputs besides causal sends, and an execution does not say when they come"
    if protocol.delivery == "broadcast":
        return "a broadcast goes to everybody; these executions are of messages to one process"
    return None


def generates(protocol: ir.Protocol, ordering: Ordering, *, limit: int = MOST_STATES) -> Generation:
    """Searches the runs of the protocol for one with this execution, depth first.

    An execution has no process numbers, but numbers may matter to a protocol (a server, places in a tree). So all
    numberings of the processes are tried, until one has such a run.

    Raises: ValueError where `why_not` says why.
    """
    if (reason := why_not(protocol)) is not None:
        raise ValueError(reason)
    states, given_up = 0, False
    for names in permutations(range(len(ordering.processes))):
        found = _search(protocol, ordering.renamed(names), limit)
        states += found.states
        if found.generated:
            return replace(found, states=states)
        given_up |= found.generated is None
    return Generation(None if given_up else False, states)


def _search(protocol: ir.Protocol, ordering: Ordering, limit: int) -> Generation:
    """Searches the runs with the given numbering of the processes."""
    system = system_of(protocol, workload_of(protocol, ordering))
    wanted = _deliveries(ordering)
    start = system.initial()
    seen = {_key(start)}
    stack: list[tuple[State, tuple[Action, ...]]] = [(start, ())]
    while stack:
        state, run = stack.pop()
        if all(place == len(line) for place, line in zip(state.places, ordering.processes, strict=True)):
            return Generation(True, len(seen), run, system)
        if len(seen) > limit:
            return Generation(None, len(seen))
        for action, after in _steps(system, state, wanted):
            if _key(after) not in seen:
                seen.add(_key(after))
                stack.append((after, (*run, action)))
    return Generation(False, len(seen))


def _steps(system: System, state: State, wanted: _Wanted) -> Iterator[tuple[Action, State]]:
    """The steps that fit the execution. Timers fire when no arrival does, and all sends have been tried as well."""
    arrives = False
    for action in system.enabled(state):
        if action.kind != "tick":
            outcome = system.apply(state, action)
            if _fits(state, action, outcome, wanted):
                arrives |= action.kind == "receive"
                yield action, outcome.state
    if arrives or not system.interpreter.has_timer:
        return
    for action in (each for tick in system.ticks() for each in system.by_choice(state, tick)):
        outcome = system.apply(state, action)
        if _fits(state, action, outcome, wanted):
            yield action, _without_copies(system, state, outcome.state)


def _without_copies(system: System, before: State, after: State) -> State:
    """The state after, without packets that a timer repeats while a copy is in flight: the network may lose them."""
    if not system.protocol.network.lossy or not system.protocol.network.reordering:
        return after
    return after._replace(network=tuple(sorted(before.network + tuple(set(after.network) - set(before.network)))))


def workload_of(protocol: ir.Protocol, ordering: Ordering) -> ir.Workload:
    """The scope whose application follows the execution."""
    programs = ordering.programs()
    targets: list[set[int]] = [set() for _ in programs]
    sends = [0] * len(programs)
    for sender, receiver in ordering.ends:
        targets[sender].add(receiver)
        sends[sender] += 1
    destinations = tuple(tuple(sorted(some)) for some in targets)
    groups = () if protocol.delivery == "unicast" else tuple(tuple((to,) for to in some) for some in destinations)
    return ir.Workload(len(programs), tuple(sends), destinations, groups=groups, sending=ir.Finite(programs=programs))


_Key: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _key(state: State) -> _Key:
    """The part of a state that decides its continuations: not the history, nor the sends, which the places give."""
    return state.locals, state.network, state.places


def _deliveries(ordering: Ordering) -> _Wanted:
    """For each step of each process, the sender and number of the message that it receives; None for a send."""
    number: dict[int, tuple[int, int]] = {}
    for process, line in enumerate(ordering.processes):
        for count, event in enumerate(event for event in line if event.kind == "send"):
            number[event.message] = (process, count)
    return tuple(
        tuple(number[event.message] if event.kind == "receive" else None for event in line)
        for line in ordering.processes
    )


def _fits(state: State, action: Action, outcome: Outcome, wanted: _Wanted) -> bool:
    """Whether the step delivers the messages that the execution has next at the process; a faulty step does not fit."""
    if any(finding.property == "fault" for finding in outcome.findings):
        return False
    process = action.process
    place = state.places[process] + (action.kind == "send")
    for emission in outcome.emissions:
        if isinstance(emission, Delivered):
            message = emission.message
            if wanted[process][place : place + 1] != ((message.src, message.number),):
                return False
            place += 1
    return True
