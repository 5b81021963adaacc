"""Counter abstraction: Cykas and MF for any number of messages; mutants that need many are not shown; exact states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.actions import State
from thence.dsl.run.causality import History
from thence.dsl.run.system import System
from thence.proofs.abstraction.search import SAFETY, explore_abstraction

Library: TypeAlias = Callable[[str], ir.Specification]

ALL = ((1, 2), (0, 2), (0, 1))
TWO_SENDERS = ((1, 2), (), (1,))


def workload(destinations: tuple[tuple[int, ...], ...] = ALL) -> ir.Workload:
    sends = tuple(int(bool(chosen)) for chosen in destinations)
    return ir.Workload(len(destinations), sends, destinations, sending=ir.AnyNumber())


def of(specification: ir.Specification, mutant: str | None = None) -> ir.Protocol:
    if mutant is None:
        return specification.protocols[0]
    mutated = next(each.mutated for each in specification.mutants if each.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    return mutated


@pytest.mark.long(share=0)
def test_cykas_with_three_processes(library: Library) -> None:
    """The number of abstract states is that of an independent prototype, up to symmetry."""
    found = explore_abstraction(of(library("cykas")), workload(), SAFETY)
    assert (found.states, found.depth, found.identities) == (19_518, 29, 2)
    assert found.complete and found.saturated and found.symmetric
    assert not found.suspects and not found.violations
    assert found.silent == {"YCT"}
    assert [str(balance) for balance in found.balances] == ["MODE = EAGER_SENT(for it) + YCT(in) - EAGER(in)"]


@pytest.mark.parametrize(("processes", "states"), [(2, 6), (3, 25), (4, 126)])
def test_mf(library: Library, processes: int, states: int) -> None:
    everyone = tuple(tuple(q for q in range(processes) if q != p) for p in range(processes))
    found = explore_abstraction(of(library("mf")), workload(everyone), SAFETY)
    assert found.saturated and (found.states, found.identities) == (states, 1)
    assert not found.suspects


@pytest.mark.long(but=("as_printed_for_every_process-destinations0",))
@pytest.mark.parametrize("destinations", [ALL, TWO_SENDERS])
@pytest.mark.parametrize("mutant", ["as_printed", "as_printed_for_every_process"])
def test_what_fails_with_many_messages_only_is_not_shown(
    library: Library, mutant: str, destinations: tuple[tuple[int, ...], ...]
) -> None:
    """Both are causal with three messages each, and not with four or five: the search must not end."""
    found = explore_abstraction(of(library("cykas"), mutant), workload(destinations), SAFETY)
    assert not found.complete and not found.saturated
    assert "waiting" in found.why_incomplete
    assert all(found.undecided(name) or name in found.violations for name in SAFETY)


@pytest.mark.long(but=("mf-posts_at_once-refuted3",))
@pytest.mark.parametrize(
    ("file", "mutant", "refuted"),
    [
        ("cykas", "no_secret_mode", {"causal": 5, "csps": 4, "sps": 4}),
        ("cykas", "tells_too_early", {"fault": 5}),
        ("cykas", "answers_the_eager_sender", {"csps": 4}),
        ("mf", "posts_at_once", {"causal": 3, "fifo": 3, "csps": 4, "sps": 4}),
    ],
)
def test_violations_are_runs(library: Library, file: str, mutant: str, refuted: dict[str, int]) -> None:
    found = explore_abstraction(of(library(file), mutant), workload(), SAFETY, limit=1_500)
    assert {name: len(violation.steps) for name, violation in found.violations.items()} == refuted
    assert not found.saturated


@pytest.mark.parametrize(
    ("file", "mutant", "why"),
    [
        ("rst", None, "more than 6 undelivered messages"),
        ("hybrid_basic", None, "has a timer"),
        ("synchronous", None, "keeps the application from sending"),
        ("mf", "takes_the_newest", "not used as a queue only"),
        ("mf", "acknowledges_nothing", ""),
    ],
)
def test_what_is_refused(library: Library, file: str, mutant: str | None, why: str) -> None:
    found = explore_abstraction(of(library(file), mutant), workload(((1,), (0,))), SAFETY)
    assert why in found.why_incomplete
    assert found.saturated is (not why)


def reached(system: System, most: int) -> Iterator[State]:
    """Exact states, nearest first."""
    seen = {system.initial(): None}
    for state in (frontier := list(seen)):
        yield state
        for action in system.enabled(state):
            after = system.apply(state, action).state
            if after not in seen and len(seen) < most:
                seen[after] = None
                frontier.append(after)


def shape(system: System, state: State) -> tuple[object, ...]:
    """Local states and packets, whatever messages are called."""
    packets = (system.packet(number) for number in state.network)
    return (
        tuple(map(system.local, state.locals)),
        tuple(sorted((packet.kind, packet.src, packet.dst) for packet in packets)),
    )


@pytest.mark.long(but=("mf-sends2",))
@pytest.mark.parametrize(("file", "sends"), [("cykas", (3, 0, 1)), ("cykas", (2, 0, 2)), ("mf", (2, 0, 2))])
def test_exact_states_lie_in_the_abstract_ones(library: Library, file: str, sends: tuple[int, ...]) -> None:
    """Bounded workloads, with sends at any time, by the interpreter: all that was sent is in the closed set."""
    protocol = of(library(file))
    found = explore_abstraction(protocol, workload(TWO_SENDERS), SAFETY)
    assert found.saturated and not found.symmetric and found.abstraction is not None
    abstraction = found.abstraction
    abstract = {shape(abstraction.system, state) for state in found.abstract}
    assert len(abstract) > 10
    exact = System(protocol, ir.Workload(3, sends, TWO_SENDERS))
    queue = [variable.name for variable in protocol.state].index("OB")
    met = set()
    for state in reached(exact, 6_000):
        locals_ = (exact.local(number) for number in state.locals)
        sent = (abstraction.system.local_number((*x[:queue], (), *x[queue + 1 :])) for x in locals_)
        network = (abstraction.system.number_of(exact.packet(number)) for number in state.network)
        there = state._replace(locals=tuple(sent), network=abstraction.system.arranged(tuple(network)))
        met.add(shape(abstraction.system, abstraction.normal(there._replace(history=History((0, 0, 0), ())))))
    assert met <= abstract
    assert len(met) > len(abstract) / 4
