"""The end of a run: whether everything that was to happen has happened.

A run is at its end when no packet can arrive and the application can do nothing; timers are given every chance. A timer
that counts without bound has endlessly many, so what is asked of all that may follow can be `Unsettled`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED
from thence.dsl.run.actions import State
from thence.dsl.run.causality import Finding
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.dsl.text.programs import waits
from thence.spec.user_error import UserError

MOST_SETTLING = 50_000
"""Limit on the states that are looked at to find out what may follow from one."""


class Unsettled(UserError, ValueError):
    """So many states follow from one that what comes of it in the end is not known."""


def settling(system: System, state: State, most: int = MOST_SETTLING) -> Iterator[State]:
    """The states that arrivals, timers and an application that sends on lead to; no more is lost or duplicated.

    Raises: Unsettled, after `most` states.
    """
    start = state._replace(
        duplicates=system.workload.duplicates, losses=system.workload.losses, ticks=system.without_counts(state)
    )
    seen, frontier = {start}, [start]
    while frontier:
        current = frontier.pop()
        for action in system.continuing(current, sending=system.sends_on):
            after = system.apply(current, action).state
            if after not in seen:
                if len(seen) > most:
                    raise Unsettled(f"timers and arrivals lead on to more than {most:,} states")
                seen.add(after)
                frontier.append(after)
                yield after


def stuck(system: System, state: State) -> Finding | None:
    """A message that can never be delivered from here on, if nothing more is sent; judged when nothing can arrive.

    An application that sends on does so as far as it can. With timers, the message counts as stuck only if no
    continuation by timers and arrivals, without further loss, delivers it. That is for one run at its end. Whether
    every fair run delivers it is another question: `thence.proofs.fairness.tails`. Raises: Unsettled.
    """
    if not state.history.pending or not system.is_quiet(state) or system.goes_on(state):
        return None
    waiting = {entry.message for entry in state.history.pending}
    if system.interpreter.has_timer:
        waiting = _never_delivered(system, state, waiting)
    if not waiting:
        return None
    message = min(waiting)
    due = next(entry.due for entry in state.history.pending if entry.message == message)
    return Finding(DELIVERED, due[0], message)


def _never_delivered(system: System, state: State, waiting: set[Message]) -> set[Message]:
    for after in settling(system, state):
        waiting = waiting & {entry.message for entry in after.history.pending}
        if not waiting:
            break
    return waiting


def blocked(system: System, state: State, most: int = MOST_SETTLING) -> Finding | None:
    """A process that has still something to do where nothing can happen any more. Raises: Unsettled."""
    if not system.is_quiet(state) or _can_do(system, state):
        return None
    waiting = [process for process in range(system.workload.processes) if not _is_done(system, state, process)]
    if not waiting:
        return None
    if system.interpreter.has_timer and any(_goes_on(system, state, after) for after in settling(system, state, most)):
        return None
    said = " and ".join(_waiting_for(system, state, process) for process in waiting)
    return Finding(DEADLOCK_FREE, waiting[0], detail=f"nothing can happen any more: {said}")


def unkept(system: System, state: State, name: str | None = None) -> Iterator[Finding]:
    """What is promised, and can never come from here on if the application does nothing more of its own accord; with
    `name`, of this promise only.

    Judged when nothing can arrive. As with `stuck`, this is for one run at its end. Raises: Unsettled.
    """
    promises = system.promises
    if promises is None or not state.owed or not system.is_quiet(state) or system.goes_on(state):
        return
    owed = state.owed if name is None else state.owed & promises.of(name)
    if owed and system.interpreter.has_timer:
        for after in settling(system, state):
            owed &= after.owed
            if not owed:
                break
    for instance in promises.in_bits(owed):
        yield Finding(instance.name, instance.process, detail=f"{instance} never comes")


def completed(system: System, state: State) -> Finding | None:
    """That every program has come to its end."""
    programs = system.workload.programs
    if not programs or not all(_is_done(system, state, process) for process in range(len(programs))):
        return None
    return Finding(COMPLETES, 0, detail="every program has come to its end")


def _is_done(system: System, state: State, process: int) -> bool:
    program = system.workload.programs[process] if system.workload.programs else None
    if program is not None:
        return state.places[process] == len(program)
    return not system.has_to_send(state, process)


def _goes_on(system: System, before: State, after: State) -> bool:
    """Whether the application can do something again, or has."""
    return after.places != before.places or _can_do(system, after)


def _can_do(system: System, state: State) -> bool:
    """Whether the application can do something."""
    actions = (*islice(system.application_sends(state), 1), *islice(system.application_inputs(state), 1))
    return bool(actions)


def _waiting_for(system: System, state: State, process: int) -> str:
    program = system.workload.programs[process] if system.workload.programs else None
    if program is None:
        return f"p{process} has still to send, and may not"
    return f"p{process} is before `{waits(program, state.places[process])}`"
