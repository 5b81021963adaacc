"""Trees of processes: neighbors, ways, and what is no tree; a protocol on one keeps to its links."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.topology import Edges, fault_of, line, neighbors, next_hops
from thence.dsl.run.identity_reuse import system_of
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method

from ..conftest import Specify

HOPS = """
protocol hops:
  network reliable, fifo, tree
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to {first}
  on receive MSG(m) from j:
    if m.dst = self: deliver m
    else: send MSG(m) to next_hop[m.dst]
  invariant beside: forall p, q: process. q in neighbors@p implies next_hop@p[q] = q and p in neighbors@q
  property causal, fifo, at_most_once, no_creation
  eventually delivered under fair receive

scope line of hops:
  processes 4
  sends 1 per process
  destinations 0 to 3; 3 to 0; 2 to 0

scope star of hops:
  processes 4
  tree 1 to 0, 2, 3
"""


@st.composite
def trees(draw: st.DrawFn) -> tuple[int, Edges]:
    count = draw(st.integers(1, 8))
    return count, tuple((draw(st.integers(0, new - 1)), new) for new in range(1, count))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(trees())
def test_next_hops_lead_there(tree: tuple[int, Edges]) -> None:
    count, edges = tree
    assert fault_of(edges, count) is None
    for source, target in product(range(count), repeat=2):
        here, steps = source, 0
        while here != target:
            following = dict(next_hops(edges, here))[target]
            assert following in neighbors(edges, here)
            here, steps = following, steps + 1
        assert steps < count
    assert all(process not in neighbors(edges, process) for process in range(count))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(trees(), st.integers(0, 7), st.integers(0, 7))
def test_one_edge_more_or_less_is_no_tree(tree: tuple[int, Edges], one: int, other: int) -> None:
    count, edges = tree
    assert fault_of((*edges, (one % count, other % count)), count) is not None
    if edges:
        assert fault_of(edges[1:], count) is not None


def test_without_a_tree_the_processes_form_a_line(specify: Specify) -> None:
    found = specify(HOPS.format(first="next_hop[m.dst]"))
    by_line, star = (system_of(found.protocols[0], scope.workload) for scope in found.scopes)
    assert by_line.interpreter.tree == line(4) == ((0, 1), (1, 2), (2, 3))
    near, way = by_line.interpreter.initial(1)
    assert (near, way) == (frozenset((0, 2)), ((0, 0), (2, 2), (3, 2)))
    assert star.interpreter.initial(3) == (frozenset((1,)), ((0, 1), (1, 1), (2, 1)))


@pytest.mark.parametrize("scope", ["line", "star"])
def test_messages_go_hop_by_hop(specify: Specify, scope: str) -> None:
    found = specify(HOPS.format(first="next_hop[m.dst]"))
    workload = next(known.workload for known in found.scopes if known.name == scope)
    judged = ("causal", "fifo", "at_most_once", "no_creation", "delivered", "beside", "fault")
    by_interpreter, natively = (
        explore(found.protocols[0], workload, judged, method=Method(engine)) for engine in ("interpreted", "native")
    )
    assert by_interpreter.complete and not by_interpreter.violations
    assert (natively.states, natively.transitions) == (by_interpreter.states, by_interpreter.transitions)


def test_a_packet_to_another_than_a_neighbour_is_a_fault(specify: Specify) -> None:
    found = specify(HOPS.format(first="m.dst"))
    explored = explore(found.protocols[0], found.scopes[0].workload, ("fault",))
    finding = explored.violations["fault"].finding
    assert "is sent to p3, which is not a neighbor" in finding.detail


def test_symmetry_keeps_the_tree(specify: Specify) -> None:
    """Of a line of three, the ends may be exchanged, if they do the same; the middle stays what it is."""
    found = specify(HOPS.format(first="next_hop[m.dst]"))
    for sends, symmetric in (((1, 1, 1), True), ((1, 0, 1), True), ((1, 1, 0), False)):
        workload = ir.Workload(3, sends, ((1, 2), (0, 2), (0, 1)))
        plain, reduced = (
            explore(found.protocols[0], workload, ("causal",), method=Method("native", reductions=reductions))
            for reductions in ((), ("symmetry",))
        )
        assert ("symmetry" in reduced.refused) != symmetric
        assert (reduced.states < plain.states) == symmetric
        assert plain.states <= 2 * reduced.states
        assert reduced.violations.keys() == plain.violations.keys()
