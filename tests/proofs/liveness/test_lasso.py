"""Lassos: Cykas starves a process, MF does not; fairness as the file says; components against brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.run.values import Message
from thence.proofs.engines import explore
from thence.proofs.liveness.lasso import LassoSearch, explain_lasso, find_lasso
from thence.proofs.scopes.scopes import explore_scope
from thence.spec.components import components
from thence.spec.verdict import Verdict

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]

FIFO = ir.Network(reordering=False)


def for_ever(
    protocol: ir.Protocol, sends: tuple[int, ...], endless: tuple[int, ...], destinations: tuple[tuple[int, ...], ...]
) -> LassoSearch:
    workload = ir.Workload(len(sends), sends, destinations, sending=ir.ForEver(endless))
    return find_lasso(protocol, workload, limit=200_000)


def test_cykas_starves_on_a_reordering_network(library: Library) -> None:
    """One sender and one helper: the secret mode of process 0 never ends."""
    found = for_ever(library("cykas").protocols[0], (1, 2, 0), (0, 2, 0), ((1,), (0, 2), ()))
    assert found.lasso is not None
    assert isinstance(found.lasso.owed, Message) and found.lasso.owed.src == 0
    assert (len(found.lasso.stem), len(found.lasso.cycle)) == (5, 7)
    system = found.lasso.system
    mode = next(at for at, variable in enumerate(system.protocol.state) if variable.name == "MODE")
    assert all(system.local(step.outcome.state.locals[0])[mode] > 0 for step in found.lasso.cycle)


def test_cykas_starves_on_fifo_channels_with_two_senders(library: Library) -> None:
    protocol = replace(library("cykas").protocols[0], network=FIFO)
    found = for_ever(protocol, (1, 1, 1), (0, 1, 1), ((1,), (0, 2), (0, 1)))
    assert found.lasso is not None
    assert (len(found.lasso.stem), len(found.lasso.cycle)) == (5, 14)
    scope = next(known for known in library("cykas").scopes if known.name == "starvation_on_fifo_channels")
    same = find_lasso(library("cykas").protocols[0], scope.workload)
    assert same.lasso is not None and same.states == found.states


def test_mf_does_not_starve(library: Library) -> None:
    (result,) = [
        result
        for scope in library("mf").scopes
        if scope.name == "no_starvation"
        for result in explore_scope(library("mf").protocols[0], scope.name, scope.workload)
    ]
    assert result.verdict is Verdict.HOLDS
    assert result.facts["complete"] and result.facts["states"] == 6_084


@pytest.mark.parametrize(("name", "count"), [("rst", 2), ("hybrid_basic", 2)])
def test_others_end_every_finite_run_in_the_same_scope(library: Library, name: str, count: int) -> None:
    """Their numbers grow for ever, so there are infinitely many states; what a finite run can do is explored."""
    workload = ir.Workload(3, (1, count, 0), ((1,), (0, 2), ()))
    found = explore(library(name).protocols[0], workload, ["delivered"])
    assert found.complete and not found.violations


TOKEN = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message TOKEN()
  on causal_send(m):
    send MSG(m) to m.dst
    send TOKEN() to m.dst
  on receive TOKEN() from j:
    send TOKEN() to j
  on receive MSG(m) from j:
    deliver m
  eventually delivered under {fairness}
"""


@pytest.mark.parametrize(
    ("fairness", "starves"),
    [("fair receive", False), ("weakly fair receive", False), ("fair MSG", False), ("fair TOKEN", True)],
)
def test_what_is_not_fair_may_never_happen(specify: Specify, fairness: str, starves: bool) -> None:
    """A token goes round for ever; only fairness towards MSG makes it arrive."""
    protocol = specify(TOKEN.format(fairness=fairness)).protocols[0]
    found = find_lasso(protocol, ir.Workload(2, (1, 0), ((1,), ()), sending=ir.ForEver((0, 0))))
    assert found.complete or found.lasso is not None
    assert (found.lasso is not None) is starves


DROPS = """
protocol drops:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    heard: set of message
  on causal_send(m):
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    heard.add(m)
  eventually delivered under fair receive
"""


def test_a_run_that_comes_to_rest_starves_what_it_leaves(specify: Specify) -> None:
    """No cycle is left once each identity belongs to a message that is never delivered."""
    found = for_ever(specify(DROPS).protocols[0], (1, 0), (1, 0), ((1,), ()))
    assert found.lasso is not None and not found.lasso.cycle
    text, picture = explain_lasso(found.lasso)
    assert "Nothing more has to happen, and m0.1 is never delivered." in text and picture.startswith("<svg")


WAITS_FOR_A_TIMER = """
protocol p:
  network reliable, ORDER
  message MSG(m: message) carries m
  message TOKEN()
  state:
    waiting: queue of message
  on causal_send(m):
    waiting.push(m)
    send TOKEN() to m.dst
  periodically:
    while waiting is not empty:
      let m = waiting.first
      send MSG(m) to m.dst
      waiting.pop()
  on receive TOKEN() from j:
    send TOKEN() to j
  on receive MSG(m) from j:
    deliver m
  eventually delivered under fair receive
"""


@pytest.mark.parametrize(("order", "verdict"), [("reordering", Verdict.HOLDS), ("fifo", Verdict.UNKNOWN)])
def test_timers_where_something_is_always_in_flight(specify: Specify, order: str, verdict: Verdict) -> None:
    """On reordering channels they fire, at any moment and fairly; on FIFO channels when nothing is, if ever."""
    protocol = specify(WAITS_FOR_A_TIMER.replace("ORDER", order)).protocols[0]
    workload = ir.Workload(2, (1, 0), ((1,), ()), sending=ir.ForEver((1, 0)))
    (found,) = explore_scope(protocol, "s", workload)
    assert found.verdict is verdict
    assert ("which need not come" in str(found.facts.get("unknown"))) == (order == "fifo"), found.facts


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    )
)
@settings(derandomize=True, deadline=None, max_examples=80)
def test_components(graph: tuple[int, set[tuple[int, int]]]) -> None:
    count, edges = graph
    reaches = {(a, b): a == b or (a, b) in edges for a, b in product(range(count), repeat=2)}
    for middle, a, b in product(range(count), repeat=3):
        reaches[a, b] = reaches[a, b] or (reaches[a, middle] and reaches[middle, b])
    expected = {frozenset(b for b in range(count) if reaches[a, b] and reaches[b, a]) for a in range(count)}
    found = list(components(range(count), lambda node: sorted(b for a, b in edges if a == node)))
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
