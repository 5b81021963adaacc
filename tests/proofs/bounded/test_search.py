"""Bounded search against exhaustive exploration: the same violations, at the same depths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.run.narrate import record, replay
from thence.proofs.bounded import search as bounded
from thence.proofs.bounded.operations import Bounds
from thence.proofs.bounded.search import BoundedProgress, search
from thence.proofs.engines import explore
from thence.proofs.scopes.scopes import properties_of

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

ENOUGH_MS = 120_000

CASES = (
    ("mf", "", "one", 10),
    ("mf", "", "two", 5),
    ("mf", "", "self_addressed", 5),
    ("mf", "posts_at_once", "two", 5),
    ("mf", "acknowledges_nothing", "two", 5),
    ("mf", "takes_the_newest", "", 6),
    ("rst", "", "two", 4),
    ("rst", "no_merge", "two", 5),
    ("rst", "no_condition", "two", 4),
    ("rst", "self_addressed", "", 5),
    ("cykas", "", "one", 5),
    ("cykas", "no_secret_mode", "two", 5),
    ("cykas", "as_printed", "two", 4),
    ("cbcast", "gaps_from_others", "two", 4),
    ("cbcast", "delivers_to_itself", "", 3),
    ("hybrid_basic", "", "two", 4),
    ("hybrid_basic", "", "lost", 4),
    ("hybrid_basic", "", "pair", 4),
    ("hybrid_basic", "never_flags", "links", 5),
    ("hybrid_basic", "delivers_on_arrival", "two", 4),
)


def chosen(library: Library, file: str, mutant: str, scope: str) -> tuple[ir.Protocol, ir.Workload]:
    found = library(file)
    scopes = {known.name: known.workload for known in found.scopes}
    if not mutant:
        return found.protocols[0], scopes[scope]
    settings, mutated = mutant_of(found, mutant)
    return mutated, scopes[scope] if scope else settings


def mutant_of(found: ir.Specification, name: str, property_: str = "") -> tuple[ir.Workload, ir.Protocol]:
    """A mutant of a protocol, in the workload of the expectation that names the property, or of the first."""
    for mutant in found.mutants:
        if mutant.name == name and isinstance(mutant.mutated, ir.Protocol):
            expect = next(each for each in mutant.expects if not property_ or property_ in each.names)
            assert expect.settings is not None
            return expect.settings, mutant.mutated
    raise AssertionError(name)


@pytest.mark.long(
    but=("cbcast-delivers_to_itself--3", "mf--self_addressed-5", "mf-takes_the_newest--6", "rst-self_addressed--5")
)
@pytest.mark.parametrize(("file", "mutant", "scope", "depth"), CASES)
def test_both_find_the_same(library: Library, file: str, mutant: str, scope: str, depth: int) -> None:
    protocol, workload = chosen(library, file, mutant, scope)
    timer = any(handler.event == "periodically" for handler in protocol.handlers)
    properties = tuple(name for name in properties_of(protocol) if not (timer and name == "delivered"))
    found = search(protocol, workload, properties, depth, timeout_ms=ENOUGH_MS)
    assert found.undecided == {}
    explored = explore(protocol, workload, properties, limit=60_000)
    expected = {name: len(each.steps) for name, each in explored.violations.items() if len(each.steps) <= depth}
    assert {name: len(each.steps) for name, each in found.violations.items()} == expected
    assert found.depth == depth
    for name, violation in found.violations.items():
        assert violation.finding.property == name
        steps = replay(violation.system, record(violation.system, violation.steps))
        assert len(steps) == len(violation.steps)


def test_every_run_has_ended(library: Library) -> None:
    protocol, workload = chosen(library, "mf", "", "one")
    assert not search(protocol, workload, ("causal",), 8, timeout_ms=ENOUGH_MS).ended
    found = search(protocol, workload, ("causal",), 12, timeout_ms=ENOUGH_MS)
    assert found.ended and found.violations == {} and found.undecided == {}


DEEP = """
protocol deep:
  message A(m: message) carries m
  state:
    q: queue of message
    n: nat
  on causal_send(m):
    send A(m) to m.dst
  on receive A(m) from j:
    {body}
    if n > 30: deliver m
  invariant few: forall p: process. q@p.size <= 1 and n@p <= 30
  property causal, no_creation
scope s of deep:
  processes 2
  sends 2 per process
"""


@pytest.mark.parametrize(
    ("body", "tight", "said"),
    [
        ("q.push(m)\n    q.push(m)", Bounds(1, 2, 9), "a queue, a set or a map needs more than 1 elements"),
        ("n := n + 9", Bounds(4, 2, 8), "a number above 8 is needed"),
        ("while n < 5: n := n + 1", Bounds(4, 3, 9), "a loop needs more than 3 iterations"),
    ],
)
def test_room_that_is_short_is_unknown(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, body: str, tight: Bounds, said: str
) -> None:
    specification = specify(DEEP.replace("{body}", body))
    (protocol,), (scope,) = specification.protocols, specification.scopes
    monkeypatch.setattr(bounded, "MOST", tight)
    monkeypatch.setattr(bounded, "_first_bounds", lambda workload: replace(tight))
    found = search(protocol, scope.workload, ("causal", "few"), 3, timeout_ms=ENOUGH_MS)
    assert set(found.undecided) == {"causal", "few"}
    assert all(said in reason for reason in found.undecided.values())
    assert "no violation within 1 step" in found.undecided["causal"]
    monkeypatch.undo()
    roomy = search(protocol, scope.workload, ("causal", "few"), 3, timeout_ms=ENOUGH_MS)
    assert roomy.undecided == {"causal": "no run delivers a message within 3 steps"}
    assert ("few" in roomy.violations) == ("queue" in said)


def test_faults_and_invariants(specify: Specify) -> None:
    specification = specify(DEEP.replace("{body}", "n := n - 1"))
    (protocol,), (scope,) = specification.protocols, specification.scopes
    found = search(protocol, scope.workload, ("fault", "few", "delivered"), 3, timeout_ms=ENOUGH_MS)
    assert {name: len(each.steps) for name, each in found.violations.items()} == {"fault": 2}
    explored = explore(protocol, scope.workload, ("fault", "few"))
    assert len(explored.violations["fault"].steps) == 2


def test_fifo_channels(specify: Specify) -> None:
    """The second packet cannot arrive before the first where channels are FIFO."""
    text = DEEP.replace("{body}", "deliver m")
    (scope,) = specify(text).scopes
    reordering = search(specify(text).protocols[0], scope.workload, ("fifo",), 4, timeout_ms=ENOUGH_MS)
    assert len(reordering.violations["fifo"].steps) == 3
    (ordered,) = specify(text.replace("  message A", "  network reliable, fifo\n  message A")).protocols
    in_order = search(ordered, scope.workload, ("fifo",), 5, timeout_ms=ENOUGH_MS)
    assert in_order.violations == {} and in_order.undecided == {}


def test_duplication_and_loss(specify: Specify) -> None:
    text = DEEP.replace("{body}", "deliver m").replace("  message A", "  network lossy, duplicating\n  message A")
    (protocol,) = specify(text).protocols
    workload = ir.Workload(2, (1, 0), ((1,), ()), duplicates=1, losses=1)
    properties = ("at_most_once", "delivered", "no_creation")
    found = search(protocol, workload, properties, 5, timeout_ms=ENOUGH_MS)
    assert {name: len(each.steps) for name, each in found.violations.items()} == {"at_most_once": 4, "delivered": 2}
    explored = explore(protocol, workload, properties)
    assert {name: len(each.steps) for name, each in explored.violations.items()} == {"at_most_once": 4, "delivered": 2}


def test_several_destinations(library: Library) -> None:
    """Total order is judged where it is claimed; Newtop without its wait for the others refutes it."""
    workload, mutated = mutant_of(library("newtop"), "does_not_wait", "total_order")
    explored = explore(mutated, workload, ("total_order",), limit=60_000, stop_when_refuted=True)
    depth = len(explored.violations["total_order"].steps)
    found = search(mutated, workload, ("total_order",), depth, timeout_ms=ENOUGH_MS)
    assert {name: len(each.steps) for name, each in found.violations.items()} == {"total_order": depth}


def test_what_it_cannot_take_is_said(library: Library, specify: Specify) -> None:
    hybrid, workload = chosen(library, "hybrid_basic", "", "one")
    found = search(hybrid, workload, ("delivered",), 2, timeout_ms=ENOUGH_MS)
    assert "timers" in found.undecided["delivered"]
    endless = replace(workload, sending=ir.ForEver((1, 0, 0)))
    assert "for ever" in search(hybrid, endless, ("causal",), 2).undecided["causal"]
    keyed = DEEP.replace("  state:", "  record Pair: a: nat\n  state:\n    by: map Pair to nat").replace(
        "{body}", "pass"
    )
    specification = specify(keyed)
    (protocol,), (scope,) = specification.protocols, specification.scopes
    assert "map Pair to nat" in search(protocol, scope.workload, ("causal",), 2).undecided["causal"]
    assert "does not judge" in search(protocol, scope.workload, ("beauty",), 2).undecided["beauty"]


def test_no_time(library: Library) -> None:
    protocol, workload = chosen(library, "cykas", "", "two")
    found = search(protocol, workload, ("causal",), 9, timeout_ms=1_500)
    assert "causal" in found.undecided and "no violation within" in found.undecided["causal"]
    assert found.depth < 9


def test_progress(library: Library) -> None:
    protocol, workload = chosen(library, "mf", "", "one")
    made: list[BoundedProgress] = []
    search(protocol, workload, ("causal",), 3, timeout_ms=ENOUGH_MS, progress=made.append)
    assert [each.depth for each in made] == [1, 2, 3]
    assert made[0].gates < made[-1].gates


FAULTY_DELIVERY = """\
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message BACK(m: message)
  state: ready: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    send BACK(m) to j
    deliver m
  on receive BACK(m) from j:
    ready := ready - 1
    deliver m
  periodically: ready := 1
  property no_creation

scope one of p:
  processes 2
  sends 1, 0
  ticks 1
"""


def test_a_step_at_fault_violates_nothing_else(specify: Specify) -> None:
    """What it would have delivered behind the fault is not delivered."""
    specification = specify(FAULTY_DELIVERY)
    (protocol,), (scope,) = specification.protocols, specification.scopes
    found = search(protocol, scope.workload, ("no_creation", "fault"), 4, timeout_ms=ENOUGH_MS)
    lengths = {name: len(each.steps) for name, each in found.violations.items()}
    assert lengths == {"fault": 3, "no_creation": 4}
    explored = explore(protocol, scope.workload, ("no_creation", "fault"))
    assert lengths == {name: len(each.steps) for name, each in explored.violations.items()}


def test_where_no_run_has_a_step_nothing_holds(specify: Specify) -> None:
    specification = specify(
        DEEP.replace("{body}", "n := n").replace("on causal_send(m):", "on causal_send(m) when n > 0:")
    )
    (protocol,), (scope,) = specification.protocols, specification.scopes
    found = search(protocol, scope.workload, ("causal", "few", "fault"), 3, timeout_ms=ENOUGH_MS)
    assert found.undecided == dict.fromkeys(("causal", "few", "fault"), "no run has a step")


GROWING = """
protocol growing:
  state:
    zs: queue of nat
    ready: bool
    n: nat
  on wrong(): n := n - 1
  on start(): ready := true
  on causal_send(m) when ready:
    zs.push(0)
    zs.push(0)
    for ref z in zs:
      zs.push(z)
    n := 1
  invariant seen: forall p: process. n@p = 0
"""


@pytest.mark.parametrize("wrong", [0, 1])
def test_nothing_counts_behind_a_bound_that_is_too_small(specify: Specify, wrong: int) -> None:
    """The queue grows past the first bound. Its places have no values then, which is no fault of the protocol."""
    (protocol,) = specify(GROWING).protocols
    uses = (ir.InputUse("wrong", (wrong, 0), ()), ir.InputUse("start", (1, 0), ()))
    workload = ir.Workload(2, (1, 0), ((1,), (0,)), inputs=uses)
    found = search(protocol, workload, ["fault", "seen"], 2, timeout_ms=ENOUGH_MS)
    lengths = {name: len(violation.steps) for name, violation in found.violations.items()}
    assert lengths == {"seen": 2, **({"fault": 1} if wrong else {})}
