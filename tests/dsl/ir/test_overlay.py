"""Overlays: the links of a scope, and a protocol that keeps to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.overlay import spelled_out
from thence.dsl.ir.topology import directed, fault_of_links, overlay
from thence.dsl.load import load_bytes
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.interpreter import Interpreter
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.proofs.refinement.obligations import refusals
from thence.proofs.scopes.scenarios import missed

from ..conftest import Specify

FLOOD = """
protocol flood:
  delivery broadcast
  network reliable, fifo, overlay
  message MSG(m: message) carries m
  state:
    seen: set of message
  on causal_send(m):
    seen.add(m)
    for p in {first}: send MSG(m) to p
  on receive MSG(m) from j:
    if m in seen: return
    seen.add(m)
    deliver m
    for p in neighbors:
      if p != j: send MSG(m) to p
  invariant apart: forall p: process. p not in neighbors@p and neighbors@p.size <= 2
  property causal, at_most_once, no_creation
  eventually delivered under fair receive

scope ring of flood:
  processes 3
  links 0 to 1; 1 to 2; 2 to 0

scope line of flood:
  processes 3
  links 0 with 1; 1 with 2

scope all of flood:
  processes 3

scope gap of flood:
  processes 3
  links 1 with 0; 2 to 1

scenario around of flood:
  processes Ann, Ben, Cy
  link Ann to Ben
  link Ben with Cy
  Ann sends m to Ben, Cy
  Ben receives MSG(m) from Ann
  Cy receives MSG(m) from Ben
  assert neighbors@Ben = {{Cy}} and m in seen@Cy

machine idea:
  delivery broadcast
  transition causal_send(m: message):
    require true
  transition deliver(m: message, p: process):
    require true
  stable kept(m): sent(m)
"""

LINKS = {
    "ring": ((0, 1), (1, 2), (2, 0)),
    "line": ((0, 1), (1, 0), (1, 2), (2, 1)),
    "all": (),
    "gap": ((0, 1), (1, 0), (2, 1)),
}


def flood(specify: Specify, first: str = "neighbors") -> ir.Specification:
    text = FLOOD.format(first=first)
    return specify(text[: text.index("machine idea")])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, tuple[tuple[int, int], ...]]:
    count = draw(st.integers(2, 6))
    process = st.integers(0, count - 1)
    return count, tuple(draw(st.lists(st.tuples(process, process), min_size=1, max_size=12)))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(graphs())
def test_neighbors_are_the_ends_of_links(graph: tuple[int, tuple[tuple[int, int], ...]]) -> None:
    count, links = graph
    near = overlay(links, count)
    assert {(a, b) for a in range(count) for b in near[a]} == {*links}
    faulty = len({*links}) < len(links) or any(a == b for a, b in links)
    assert (fault_of_links(links) is not None) == faulty
    assert overlay((), count) == tuple(frozenset(range(count)) - {process} for process in range(count))


def test_a_link_in_each_direction() -> None:
    assert directed(1, (0, 2), False) == ((1, 0), (1, 2))
    assert directed(1, (0, 2), True) == ((1, 0), (1, 2), (0, 1), (2, 1))


def test_scopes_give_links(specify: Specify) -> None:
    for scope in flood(specify).scopes:
        assert scope.workload.links == LINKS[scope.name]
        interpreter = system_of(flood(specify).protocols[0], scope.workload).interpreter
        assert [interpreter.initial(process)[-1] for process in range(3)] == [*overlay(LINKS[scope.name], 3)]


@pytest.mark.parametrize("scope", [*LINKS])
def test_messages_go_over_links(specify: Specify, scope: str) -> None:
    found = flood(specify)
    workload = next(known.workload for known in found.scopes if known.name == scope)
    judged = ("causal", "at_most_once", "no_creation", "delivered", "apart", "fault")
    by_interpreter, natively, reduced = (
        explore(found.protocols[0], workload, judged, method=Method(engine, reductions=reductions))
        for engine, reductions in (("interpreted", ()), ("native", ()), ("native", ("symmetry",)))
    )
    expected = {"delivered"} if scope == "gap" else set()
    assert by_interpreter.complete
    assert by_interpreter.violations.keys() == natively.violations.keys() == reduced.violations.keys() == expected
    assert (natively.states, natively.transitions) == (by_interpreter.states, by_interpreter.transitions)
    assert reduced.states <= natively.states <= 6 * reduced.states


def test_symmetry_keeps_the_links(specify: Specify) -> None:
    """A ring of three has three renamings, a line two, a complete graph six; none where the links differ."""
    protocol = flood(specify).protocols[0]
    groups = tuple((tuple(q for q in range(3) if q != p),) for p in range(3))
    states = {}
    for name, links in {**LINKS, "fork": ((0, 1), (0, 2), (1, 2))}.items():
        workload = ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1)), groups=groups, links=links)
        plain, reduced = (
            explore(protocol, workload, ("causal", "apart"), method=Method("native", reductions=reductions))
            for reductions in ((), ("symmetry",))
        )
        assert plain.violations.keys() == reduced.violations.keys()
        states[name] = (plain.states, reduced.states, "symmetry" in reduced.refused)
        most = {"ring": 3, "line": 2, "all": 6}.get(name, 1)
        assert plain.states <= most * reduced.states, name
        assert (reduced.states < plain.states) == (most > 1), name


@pytest.mark.parametrize("scope", [*LINKS])
def test_a_packet_to_another_than_a_neighbor_is_a_fault(specify: Specify, scope: str) -> None:
    """So is one to oneself, which comes first here."""
    found = flood(specify, "process")
    workload = next(known.workload for known in found.scopes if known.name == scope)
    for engine in ("interpreted", "native"):
        explored = explore(found.protocols[0], workload, ("fault",), method=Method(engine))
        finding = explored.violations["fault"].finding
        assert "is not a neighbor" in finding.detail


def test_a_scenario_has_links(specify: Specify) -> None:
    (scenario,) = flood(specify).scenarios
    assert scenario.workload.links == ((0, 1), (1, 2), (2, 1))
    assert not missed(scenario)


def test_what_is_spelled_out_has_no_overlay(specify: Specify) -> None:
    protocol = flood(specify).protocols[0]
    plain = spelled_out(protocol, 3)
    assert not plain.network.overlay and spelled_out(plain, 3) == plain


def test_a_link_on_an_overlay_has_no_proof(specify: Specify) -> None:
    found = specify(
        FLOOD.format(first="neighbors")
        + "\nconforms flood to idea:\n  causal_send(m) is causal_send(m)\n  deliver m is deliver(m, self)\n"
    )
    assert "overlays" in refusals(found.links[0])


STARTS = """
protocol starts:
  network reliable, overlay
  role root: process = 0
  message MSG(m: message) carries m
  state:
    near: nat = neighbors.size
    parent: option of process = if root in neighbors then some(root) else none
    last: bool = (self != root and not exists q in neighbors. root < q and q != self)
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  invariant counted: forall p: process. near@p = neighbors@p.size
  invariant below: forall p: process. parent@p is none iff root not in neighbors@p
"""


@settings(derandomize=True, deadline=None, max_examples=50)
@given(graphs())
def test_initial_values_read_the_links(graph: tuple[int, tuple[tuple[int, int], ...]]) -> None:
    """Those of the interpreter and those of the text that is spelled out are the same, for the links of any scope."""
    count, links = graph
    if fault_of_links(links) is not None:
        return
    found = load_bytes(Path("starts.thence"), STARTS.encode()).specification
    assert found is not None
    protocol = replace(found.protocols[0], network=replace(found.protocols[0].network, links=links))
    given_links, spelled = Interpreter(protocol, count), Interpreter(spelled_out(protocol, count), count)
    for process, near in enumerate(overlay(links, count)):
        start = given_links.initial(process)
        assert start == spelled.initial(process)
        assert start[0] == len(near) and (start[1] is not None) == (0 in near)


@pytest.mark.parametrize("links", ["0 with 1; 1 with 2", "0 to 1; 1 to 2; 2 to 0", "2 with 0, 1"])
def test_engines_start_with_the_links(specify: Specify, links: str) -> None:
    found = specify(f"{STARTS}\nscope some of starts:\n  processes 3\n  sends 0 per process\n  links {links}\n")
    (protocol,), (scope,) = found.protocols, found.scopes
    for reductions in ((), ("symmetry",)):
        explored = explore(
            protocol, scope.workload, ("counted", "below"), method=Method("native", reductions=reductions)
        )
        assert explored.complete and not explored.violations


def test_initial_values_read_the_way_through_a_tree(specify: Specify) -> None:
    found = specify(
        "protocol holder:\n  network reliable, fifo, tree\n  role root: process = 1\n"
        "  message MSG(m: message) carries m\n"
        "  state:\n    holder: process = if self = root then self else next_hop[root]\n"
        "  on causal_send(m): send MSG(m) to next_hop[m.dst]\n  on receive MSG(m) from j: deliver m\n"
    )
    interpreter = Interpreter(found.protocols[0], 4, ((0, 2), (2, 1), (2, 3)))
    assert [interpreter.initial(process)[0] for process in range(4)] == [2, 1, 1, 2]
