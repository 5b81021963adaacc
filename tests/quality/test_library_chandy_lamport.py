"""Distributed snapshots: the recorded state is judged by Theorem 1 of the paper, in every run of a scope."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run.actions import State
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Verdict

GlobalState: TypeAlias = tuple[tuple[Any, ...], tuple[tuple[tuple[int, int], tuple[Any, ...]], ...]]
"""A state of the computation, without markers: (tokens, sent, received) of each process; of each channel that is not
empty, its ends and its messages in order."""

COUNTS = {"pair": (886, 2_510), "third": (2_733, 8_167), "answers": (435, 742)}
LINKS = {"pair": (1_479, 4_045), "third": (3_492, 9_912)}


@pytest.fixture(scope="module")
def snapshots() -> ir.Specification:
    found = load("chandy_lamport").specification
    assert found is not None
    return found


def workload(snapshots: ir.Specification, scope: str) -> ir.Workload:
    return next(known.workload for known in snapshots.scopes if known.name == scope)


def test_every_scope_is_pinned(snapshots: ir.Specification) -> None:
    assert {scope.name for scope in snapshots.scopes} == set(COUNTS)
    assert {scope.name for link in snapshots.links for scope in link.scopes} == set(LINKS)


@pytest.mark.long(but=("pair", "answers"))
@pytest.mark.parametrize("scope", COUNTS)
def test_states_of_the_scopes(snapshots: ir.Specification, scope: str) -> None:
    (protocol,) = snapshots.protocols
    explored = explore(protocol, workload(snapshots, scope), protocol.properties)
    assert explored.complete
    assert (explored.states, explored.transitions) == COUNTS[scope]


@pytest.mark.long(but=("pair",))
@pytest.mark.parametrize("scope", LINKS)
def test_the_protocol_conforms_to_its_machine(snapshots: ir.Specification, scope: str) -> None:
    (link,) = snapshots.links
    found = check_link(link, link.protocol, workload(snapshots, scope))
    assert (found.complete, found.broken) == (True, None)
    assert (found.states, found.transitions) == LINKS[scope]


@pytest.mark.long
def test_proved_by_two_solvers(snapshots: ir.Specification) -> None:
    alone = replace(snapshots, mutants=())
    results = {result.name: result for result in prove_specification(alone, options=Options(workers=2))}
    assert [result.name for result in results.values() if not result.expected] == []
    for stated in ("no_effect_without_cause", "closed", "channels", "in_order", "fifo"):
        assert results[stated].verdict is Verdict.PROVED, stated


# --- Theorem 1 ----------------------------------------------------------------------------------


def fields(protocol: ir.Protocol, system: System, state: State) -> list[dict[str, Any]]:
    """The variables of each process, by name."""
    names = [variable.name for variable in protocol.state]
    return [dict(zip(names, system.local(number), strict=True)) for number in state.locals]


def computation(protocol: ir.Protocol, system: System, state: State) -> GlobalState:
    """The state of the computation, markers left out."""
    channels: dict[tuple[int, int], tuple[Any, ...]] = {}
    for number in state.network:
        packet = system.packet(number)
        if packet.kind == "TOKEN":
            ends = packet.src, packet.dst
            channels[ends] = (*channels.get(ends, ()), packet.arguments[0])
    processes = fields(protocol, system, state)
    return tuple((one["tokens"], one["sent"], one["received"]) for one in processes), tuple(sorted(channels.items()))


def recorded(protocol: ir.Protocol, system: System, state: State) -> GlobalState | None:
    """The recorded global state; None until all processes and channels are recorded."""
    processes = fields(protocol, system, state)
    if any(one["recorded"] is None or len(one["marked"]) < len(processes) - 1 for one in processes):
        return None
    channels = {(p, q): messages for q, one in enumerate(processes) for p, messages in one["channel"]}
    return tuple(one["recorded"][0] for one in processes), tuple(sorted(channels.items()))


def begun(protocol: ir.Protocol, system: System, state: State) -> bool:
    return any(one["recorded"] is not None for one in fields(protocol, system, state))


class Computation:
    """The computation alone: its states, and which of them can follow which."""

    def __init__(self, protocol: ir.Protocol, undisturbed: ir.Workload) -> None:
        system = System(protocol, undisturbed)
        first = system.initial()
        self.after: dict[GlobalState, set[GlobalState]] = {}
        seen, frontier = {first}, [first]
        while frontier:
            state = frontier.pop()
            following = self.after.setdefault(computation(protocol, system, state), set())
            for action in system.enabled(state):
                next_state = system.apply(state, action).state
                following.add(computation(protocol, system, next_state))
                if next_state not in seen:
                    seen.add(next_state)
                    frontier.append(next_state)
        self._reachable: dict[GlobalState, set[GlobalState]] = {}

    def reachable(self, start: GlobalState) -> set[GlobalState]:
        """The states to which a run leads from this one, itself included."""
        known = self._reachable.get(start)
        if known is None:
            known, frontier = {start}, [start]
            while frontier:
                new = self.after[frontier.pop()] - known
                known |= new
                frontier += new
            self._reachable[start] = known
        return known


def judged(protocol: ir.Protocol, scope: ir.Workload) -> tuple[int, int, int]:
    """How many snapshots there are in the scope, with the states in which they begin and end; of how many the recorded
    state is not one on a way from the one to the other; in how many it is the state of no moment of the run."""
    alone = Computation(protocol, replace(scope, inputs=()))
    system = System(protocol, scope)
    first = system.initial()
    Moments: TypeAlias = frozenset[GlobalState]
    start: tuple[State, GlobalState | None, Moments] = (first, None, frozenset())
    seen, frontier = {start}, [start]
    snapshots = wrong = never = 0
    while frontier:
        state, initiation, moments = frontier.pop()
        for action in system.enabled(state):
            after = system.apply(state, action).state
            now = computation(protocol, system, after)
            assert now in alone.after, "the computation is disturbed"
            since = initiation or (now if begun(protocol, system, after) else None)
            met = moments if since is None else moments | {now}
            snapshot = recorded(protocol, system, after)
            if snapshot is not None:
                snapshots += 1
                known = snapshot in alone.after and since is not None
                wrong += not (known and snapshot in alone.reachable(since) and now in alone.reachable(snapshot))
                never += snapshot not in met
                continue
            following = (after, since, met)
            if following not in seen:
                seen.add(following)
                frontier.append(following)
    return snapshots, wrong, never


@pytest.mark.long(but=("pair", "answers"))
@pytest.mark.parametrize("scope", COUNTS)
def test_theorem_1(snapshots: ir.Specification, scope: str) -> None:
    """The recorded state is reachable from the state in which the snapshot begins, and the state in which it ends is
    reachable from it; it need not occur (section 4). The computation is not disturbed."""
    (protocol,) = snapshots.protocols
    found, wrong, never = judged(protocol, workload(snapshots, scope))
    assert found > 20
    assert wrong == 0
    assert never > 0


@pytest.mark.parametrize(
    "mutant", ["overtaking", "markers_first", "channels_left_out", "never_closed", "records_again"]
)
def test_theorem_1_is_false_of_mutants(snapshots: ir.Specification, mutant: str) -> None:
    mutated = next(known.mutated for known in snapshots.mutants if known.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    found, wrong, _ = judged(mutated, workload(snapshots, "pair"))
    assert found > 20
    assert wrong > 0
