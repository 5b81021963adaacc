"""The end of a run: whether everything that was to happen has happened.

A run is at its end when no packet can arrive and the application can do nothing; timers are given every chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE
from thence.dsl.run.actions import State
from thence.dsl.run.causality import Finding
from thence.dsl.run.system import System
from thence.dsl.text.programs import waits


def blocked(system: System, state: State) -> Finding | None:
    """A process that has still something to do where nothing can happen any more."""
    if not system.is_quiet(state) or _can_do(system, state):
        return None
    waiting = [process for process in range(system.workload.processes) if not _is_done(system, state, process)]
    if not waiting:
        return None
    if system.interpreter.has_timer and any(_goes_on(system, state, after) for after in system.settling(state)):
        return None
    said = " and ".join(_waiting_for(system, state, process) for process in waiting)
    return Finding(DEADLOCK_FREE, waiting[0], detail=f"nothing can happen any more: {said}")


def unkept(system: System, state: State) -> Iterator[Finding]:
    """What is promised, and can never come from here on if the application does nothing more of its own accord.

    Judged when nothing can arrive. As with `stuck`, this is for one run at its end.
    """
    promises = system.promises
    if promises is None or not state.owed or not system.is_quiet(state) or system.goes_on(state):
        return
    owed = state.owed
    if system.interpreter.has_timer:
        for after in system.settling(state):
            owed &= after.owed
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
