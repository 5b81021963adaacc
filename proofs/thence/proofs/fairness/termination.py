"""Whether arrivals come to an end: whether a run in which packets do nothing but arrive is finite.

If so, a fair run of a finite scope comes to states in which nothing is in flight, and these decide what is delivered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter

from thence.dsl.run.actions import State
from thence.dsl.run.causality import History
from thence.dsl.run.execute import Sent
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault


def every_arrival_ends(system: System, states: Collection[State]) -> bool:
    """Whether no run of arrivals from one of the states is endless. `states`: all those that the system reaches."""
    return packets_end(system) or _is_acyclic(system, states)


def packets_end(system: System) -> bool:
    """Whether no packet leads to an equal one again, by the steps that the system has taken.

    An arrival then puts finitely many packets of higher rank in the place of one, so arrivals come to an end.
    """
    leads: dict[int, set[int]] = {}
    for process, _, cause, came in system.steps.taken():
        if isinstance(cause, int) and not isinstance(came, Fault):
            sent = leads.setdefault(cause, set())
            sent |= {system.packet_number(process, each) for each in came.emissions if isinstance(each, Sent)}
    try:
        TopologicalSorter(leads).prepare()
    except CycleError:
        return False
    return True


def _is_acyclic(system: System, states: Collection[State]) -> bool:
    """Whether arrivals lead from no state back to it. Of a state only processes and packets in flight matter."""
    history = History((0,) * system.workload.processes, ())
    open_: set[State] = set()
    closed: set[State] = set()

    def bare(state: State) -> State:
        return state._replace(history=history, sends=system.workload.sends, ticks=(), duplicates=0, losses=0)

    def after(state: State) -> Iterator[State]:
        for arrival in system.every_arrival(state):
            outcome = system.apply(state, arrival)
            if not any(finding.property == "fault" for finding in outcome.findings):
                yield bare(outcome.state)

    for root in dict.fromkeys(map(bare, states)):
        if root in closed:
            continue
        line = [(root, after(root))]
        open_.add(root)
        while line:
            state, following = line[-1]
            step = next((each for each in following if each not in closed), None)
            if step is None:
                line.pop()
                open_.discard(state)
                closed.add(state)
            elif step in open_:
                return False
            else:
                open_.add(step)
                line.append((step, after(step)))
    return True
