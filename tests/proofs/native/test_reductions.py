"""Reductions keep verdicts, over the whole library; what they leave is pinned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method, Violation
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.explore.reductions import REDUCTIONS
from thence.proofs.native import engine
from thence.proofs.native.crosscheck import EnginesDisagree, different_states
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.postponing import right_movers
from thence.proofs.native.postponing.right_movers import RightMovers

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]
Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]

ANY = ((1, 2), (0, 2), (0, 1))


@pytest.mark.long(but=("happens_before", "execution", "tree_printed", "hybrid_optimal_printed"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_verdicts_are_kept(explored: Explored, name: str) -> None:
    """By all reductions together, which leave states that cover all."""
    for label, interpretation in explored(name):
        request, expected = interpretation.request, interpretation.result
        native = NativeEngine(replace(request, reductions=frozenset(REDUCTIONS)))
        found = native.run(Sample.of(request.system, interpretation.origins).capacity)
        assert found.complete, label
        assert found.violations.keys() == expected.violations.keys(), label
        assert {*found.reductions, *found.refused} == {*REDUCTIONS}, label
        assert found.states <= expected.states, label
        assert different_states(set(interpretation.origins), native) == [], label


QUOTIENTS = {
    # The factors, and why, are in docs/exploring.md. MF's processes hardly depend on one another: third powers.
    ("mf", 2, ("delay",)): (343, 1_764),
    ("mf", 2, ("symmetry", "delay")): (70, 356),
    ("mf", 3, ("symmetry", "delay")): (190, 1_130),
    ("cykas", 2, ("delay",)): (7_859, 36_720),
    ("cykas", 2, ("symmetry", "delay")): (1_341, 6_362),
    ("cykas", 3, ("symmetry", "delay")): (43_790, 276_092),
}
SAFETY = ("causal", "fifo", "at_most_once", "no_creation", "delivered", "fault")


@pytest.mark.long(but=("mf-2-reductions0",))
@pytest.mark.parametrize(("name", "sends", "reductions"), QUOTIENTS)
def test_quotients(library: Library, name: str, sends: int, reductions: tuple[str, ...]) -> None:
    workload = ir.Workload(3, (sends,) * 3, ANY)
    found = explore(library(name).protocols[0], workload, SAFETY, method=Method("native", reductions=reductions))
    assert (found.complete, found.reductions, found.refused, found.violations) == (True, reductions, {}, {})
    assert (found.states, found.transitions) == QUOTIENTS[name, sends, reductions]


ARMED = """
protocol armed:
  message MSG(m: message) carries m
  message HINT()
  state:
    ready: bool
  on causal_send(m):
    send HINT() to m.dst
    send MSG(m) to m.dst
  on receive HINT() from j:
    HINTED
  on receive MSG(m) from j:
    if CONDITION: deliver m
  property causal, at_most_once
  eventually delivered under fair receive
"""


@pytest.mark.parametrize(
    ("hinted", "condition", "broken"),
    [("ready := true", "ready", True), ("ready := true", "true", False), ("ready := not ready", "true", False)],
)
def test_an_arrival_that_matters_is_not_postponed(specify: Specify, hinted: str, condition: str, broken: bool) -> None:
    """A message that is there before its hint is dropped: the hint has to come both before and after it."""
    protocol = specify(ARMED.replace("HINTED", hinted).replace("CONDITION", condition)).protocols[0]
    workload = ir.Workload(2, (2, 1), ((1,), (0,)))
    whole = explore(protocol, workload, SAFETY, method=Method("interpreted"))
    found = explore(protocol, workload, SAFETY, method=Method("native", reductions=REDUCTIONS))
    assert ("delivered" in whole.violations) == broken
    assert found.violations.keys() == whole.violations.keys()
    assert [len(one.steps) for one in found.violations.values()] == [
        len(one.steps) for one in whole.violations.values()
    ]
    assert (found.states < whole.states) or broken


PAIRS = """
protocol pairs:
  message MSG(m: message) carries m
  message ACK()
  state:
    waiting: queue of message
    acked: nat
  on causal_send(m):
    waiting.push(m)
    if CONDITION: flush()
  procedure flush():
    while waiting is not empty:
      let m = waiting.first
      send MSG(m) to m.dst
      waiting.pop()
  on receive MSG(m) from j:
    deliver m
    send ACK() to j
  on receive ACK() from j:
    acked := acked + 1
    if TRIGGER: flush()
  property causal, at_most_once
  eventually delivered under fair receive
"""


@pytest.mark.parametrize(
    ("condition", "trigger", "stuck"),
    [
        ("waiting.size = 2", "false", True),  # the next send makes this one leave
        ("acked = 0", "acked = 1", True),  # whoever comes after the first acknowledgement never leaves
        ("acked = 0", "true", True),
        ("true", "false", False),
    ],
)
def test_a_send_that_matters_is_not_postponed(specify: Specify, condition: str, trigger: str, stuck: bool) -> None:
    protocol = specify(PAIRS.replace("CONDITION", condition).replace("TRIGGER", trigger)).protocols[0]
    workload = ir.Workload(2, (3, 1), ((1,), (0,)))
    whole = explore(protocol, workload, SAFETY, method=Method("interpreted"))
    assert ("delivered" in whole.violations) == stuck
    for reductions in (("delay",), tuple(REDUCTIONS)):
        found = explore(protocol, workload, SAFETY, method=Method("both", reductions=reductions))
        assert found.violations.keys() == whole.violations.keys(), reductions


@pytest.mark.parametrize("trusting", ["_is_needed", "_commute"])
def test_a_wrong_order_would_be_seen(library: Library, monkeypatch: pytest.MonkeyPatch, trusting: str) -> None:
    """Where nothing has to come before anything, or all orders are taken for the same, states are missed."""
    protocol = library("cykas").protocols[0]
    workload = ir.Workload(3, (2, 1, 0), ANY)
    assert explore(protocol, workload, SAFETY, method=Method("both", reductions=["delay"])).reductions == ("delay",)
    monkeypatch.setattr(RightMovers, trusting, lambda self, *place, **how: trusting == "_commute")
    with pytest.raises(EnginesDisagree, match="states only by the interpreter"):
        explore(protocol, workload, SAFETY, method=Method("both", reductions=["delay"]))


BETWEEN_TWO = [
    ("mf", "not (waiting@p and waiting@q)", True),
    ("mf", "OB@p.size + OB@q.size <= 1", True),
    ("mf", "OB@q is empty or waiting@p", True),
    ("cykas", "OB@p is empty or MODE@q = 0", False),
    ("cykas", "not (p in UNACK@q and q in UNACK@p)", True),
]


@pytest.mark.long(but=("mf-OB@p.size + OB@q.size <= 1-True",))
@pytest.mark.parametrize(("name", "said", "is_violated"), BETWEEN_TWO)
def test_invariants_of_two_processes(specify: Specify, name: str, said: str, is_violated: bool) -> None:
    """What puts steps off must not put off what such an invariant reads."""
    text = next(path for path in library_files() if path.stem == name).read_text(encoding="utf-8")
    stated = f"  invariant between_two: forall p, q: process. p = q or {said}\n  property "
    protocol = specify(text.replace("  property ", stated, 1)).protocols[0]
    violated = set()
    for sends in ((2, 1), (2, 2), (1, 1, 1)):
        others = tuple(tuple(q for q in range(len(sends)) if q != p) for p in range(len(sends)))
        workload = ir.Workload(len(sends), sends, others)
        for reductions in (["delay"], REDUCTIONS):
            found = explore(protocol, workload, [*SAFETY, "between_two"], method=Method("both", reductions=reductions))
            violated |= found.violations.keys()
    assert violated == ({"between_two"} if is_violated else set())


def test_too_many_orders(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is postponed; symmetry is made all the same."""
    monkeypatch.setattr(right_movers, "_MOST_TRIED", 2)
    workload = ir.Workload(3, (2, 1, 1), ANY)
    found = explore(
        library("cykas").protocols[0], workload, SAFETY, method=Method("both", reductions=["symmetry", "delay"])
    )
    assert found.reductions == ("symmetry",)
    assert "too many orders" in found.refused["delay"]


def test_duplicates_in_order(library: Library) -> None:
    """The copy comes after what was sent in the meantime, so sends may not be put off; losses do not matter."""
    protocol = library("tree").protocols[0]
    workload = ir.Workload(2, (3, 1), ((1,), (0,)))
    twice, less = replace(workload, duplicates=1), replace(workload, losses=1)
    assert "FIFO" in explore(protocol, twice, SAFETY, method=Method("both", reductions=["delay"])).refused["delay"]
    assert explore(protocol, less, SAFETY, method=Method("both", reductions=["delay"])).reductions == ("delay",)


def test_messages_delivered_again(library: Library) -> None:
    """Where a message is delivered more than once, nothing is postponed."""
    mutant = next(known for known in library("mf").mutants if known.name == "posts_at_once")
    assert isinstance(mutant.mutated, ir.Protocol)
    workload = ir.Workload(2, (1, 1), ((1,), (0,)), duplicates=1)
    found = explore(mutant.mutated, workload, SAFETY, method=Method("native", reductions=["delay"]))
    assert "at_most_once" in found.violations
    assert found.reductions == ()
    assert "more than once" in found.refused["delay"]


def test_a_longer_counterexample_is_said_to_be(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = next(known for known in library("cykas").mutants if known.name == "no_secret_mode")
    protocol = mutant.mutated
    assert isinstance(protocol, ir.Protocol)
    workload = ir.Workload(3, (2, 2, 2), ANY)

    def counterexample(protocol: ir.Protocol = protocol) -> Violation:
        found = explore(protocol, workload, ["causal"], method=Method("native", reductions=["delay"]))
        return found.violations["causal"]

    assert (counterexample().shortest, len(counterexample().steps)) == (True, 5)
    monkeypatch.setattr(engine, "_again", lambda *search: {})  # as if it came to no end
    assert not counterexample().shortest
