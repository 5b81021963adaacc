"""Order abstraction: the same as exact states, layer by layer; no starvation where numbers grow; faults are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.actions import State
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.values import Message
from thence.proofs.liveness.lasso import find_lasso, lines_for
from thence.proofs.liveness.order_lines import CONSTANT
from thence.proofs.liveness.order_system import Again, OrderAbstractSystem

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]

BUSY = ir.Workload(3, (1, 2, 1), ((1,), (0, 2), (0, 1)), sending=ir.ForEver((0, 2, 1)))


def near(system: ReusedIdentities, depth: int) -> set[State]:
    """The states that so many steps reach."""
    seen = {system.initial()}
    frontier = list(seen)
    for _ in range(depth):
        after = {system.apply(state, action).state for state in frontier for action in system.enabled(state)}
        frontier = list(after - seen)
        seen |= after
    return seen


@pytest.mark.long
@pytest.mark.parametrize(("file", "depth"), [("rst", 7), ("hybrid_basic", 6), ("ses", 4), ("rst_mf", 6)])
def test_the_same_states_as_exactly(library: Library, file: str, depth: int) -> None:
    """The abstraction of the reachable states is the set of reachable abstract states: the two systems do the same."""
    protocol = library(file).protocols[0]
    lines = find_lasso(protocol, BUSY, limit=1_500).lines
    assert lines is not None
    while True:
        exact, levelled = ReusedIdentities(protocol, BUSY), OrderAbstractSystem(protocol, BUSY, lines)
        try:
            found = near(levelled, depth)
            break
        except Again:
            lines.changed = False

    def abstracted(state: State) -> State:
        locals_ = tuple(levelled.local_number(exact.local(number)) for number in state.locals)
        network = tuple(levelled.number_of(exact.packet(number)) for number in state.network)
        return levelled.normal(state._replace(locals=locals_, network=levelled.arranged(network)))

    there = near(exact, depth)
    assert not lines.changed
    assert {abstracted(state) for state in there} == found
    assert len(found) <= len(there)


@pytest.mark.long(but=("mf-no_starvation_on_fifo_channels-384", "rst-no_starvation_on_fifo_channels-27"))
@pytest.mark.parametrize(
    ("file", "scope", "states"),
    [
        ("rst", "no_starvation", 107),
        ("rst", "no_starvation_on_fifo_channels", 27),
        ("hybrid_basic", "no_starvation_on_fifo_channels", 367),
        ("hybrid_basic", "no_starvation", 6_924),
        ("hybrid_basic", "no_starvation_with_permits", 2_240),
        ("mf", "no_starvation_on_fifo_channels", 384),
    ],
)
def test_nothing_starves(library: Library, file: str, scope: str, states: int) -> None:
    specification = library(file)
    workload = next(each.workload for each in specification.scopes if each.name == scope)
    found = find_lasso(specification.protocols[0], workload)
    assert found.complete and found.lasso is None
    assert found.states == states


def test_exactly_it_would_not_end(library: Library) -> None:
    """Without order abstraction, the matrices of RST alone make more states than any limit."""
    workload = next(each.workload for each in library("rst").scopes if each.name == "no_starvation")
    system = ReusedIdentities(library("rst").protocols[0], workload)
    assert len(near(system, 10)) > 4 * 107


COUNTER = """
protocol counting:
  network reliable, reordering
  message MSG(m: message, n: nat) carries m
  state:
    sent: nat
    last: nat
  on causal_send(m):
    sent := sent + 1
    send MSG(m, sent) to m.dst
  on receive MSG(m, n) from j:
    TEST
    last := max(last, n)
    deliver m
  eventually delivered under fair receive
"""


@pytest.mark.parametrize(
    ("test", "constant"),
    [
        ("if n < last: return", False),
        ("if n < 1: return", True),
        ("if n = 0: return", True),
        ("if n = last: return", False),
        ("if last + n < sent: return", True),
    ],
)
def test_what_is_compared_with_constants_stays_as_it_is(specify: Specify, test: str, constant: bool) -> None:
    protocol = specify(COUNTER.replace("TEST", test)).protocols[0]
    workload = ir.Workload(2, (1, 0), ((1,), ()), sending=ir.ForEver((1, 0)))
    found = find_lasso(protocol, workload, limit=300)
    assert found.lines is not None
    on = found.lines.line(("packet", "MSG", 0, 1, "n"))
    assert (on == CONSTANT) is constant
    assert found.complete is not constant


def test_starvation_is_found_where_numbers_grow(specify: Specify) -> None:
    """A message that a later one overtakes is dropped: nothing more has to happen then."""
    protocol = specify(COUNTER.replace("TEST", "if n < last: return")).protocols[0]
    found = find_lasso(protocol, ir.Workload(2, (2, 0), ((1,), ()), sending=ir.ForEver((2, 0))))
    assert found.lines is not None and found.lasso is not None
    assert isinstance(found.lasso.owed, Message) and found.lasso.owed.src == 0
    assert found.lasso.stem and not found.lasso.cycle


@pytest.mark.parametrize("test", ["if last - 1 < n: return", "if last - 1 < 2: return"])
def test_what_levels_do_not_follow(specify: Specify, test: str) -> None:
    """Then the states are explored as they are."""
    assert lines_for(specify(COUNTER.replace("TEST", test)).protocols[0]) is None
    assert lines_for(specify(COUNTER.replace("TEST", "pass")).protocols[0]) is not None


ONE_HELPER = ir.Workload(3, (1, 1, 0), ((1,), (0, 2), ()), sending=ir.ForEver((0, 1, 0)))
"""One sender, whose messages go to process 0 and to a helper, on the protocol's channels."""


@pytest.mark.long
def test_algorithm_1_where_cykas_starves_on_reordering_channels(library: Library) -> None:
    """Timers fire at any moment, so copies of a packet pile up; each packet arrives in the end."""
    assert find_lasso(library("cykas").protocols[0], ONE_HELPER).lasso is not None
    found = find_lasso(library("hybrid_basic").protocols[0], ONE_HELPER)
    assert found.complete and found.lasso is None and found.piles
    assert found.states == 6_924


def test_algorithm_1_with_permits_on_fifo_channels(library: Library) -> None:
    """Two messages of the sender at a time, so that permits are missing, and at most two elements in a collection."""
    workload = ir.Workload(3, (1, 2, 0), ((1,), (0, 2), ()), sending=ir.ForEver((0, 2, 0), capacity=2), fifo=True)
    found = find_lasso(library("hybrid_basic").protocols[0], workload)
    assert found.complete and found.lasso is None
    assert found.states == 2_240


@pytest.mark.long
def test_algorithm_1_starves_without_its_timer(library: Library) -> None:
    """A permit overtakes its message, and is not asked for again; the sender goes on for ever."""
    mutant = next(each for each in library("hybrid_basic").mutants if each.name == "without_timer").mutated
    assert isinstance(mutant, ir.Protocol)
    workload = ir.Workload(3, (1, 2, 0), ((1,), (0, 2), ()), sending=ir.ForEver((0, 2, 0)))
    lasso = find_lasso(mutant, workload).lasso
    assert lasso is not None and isinstance(lasso.owed, Message) and lasso.owed.src == 0
    assert all(step.outcome.state.history.pending for step in lasso.cycle)
