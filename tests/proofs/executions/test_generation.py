"""What protocols generate, against the kinds of executions."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run.system import System
from thence.proofs.executions.figures import FIGURES
from thence.proofs.executions.generation import generates, why_not, workload_of
from thence.proofs.executions.kinds import Kind, kinds_of
from thence.proofs.executions.ordering import Ordering, of_programs, orderings
from thence.proofs.executions.reading import read_programs

SMALL = [
    ordering
    for processes, messages in ((2, 1), (2, 2), (3, 2), (2, 3), (3, 3))
    for ordering in orderings(processes, messages)
]
FOUR = [ordering for ordering in orderings(4, 4) if {"fifo"} <= kinds_of(ordering)][::30]
[CROWN] = [ordering for ordering in orderings(4, 4) if kinds_of(ordering) == {"causal", "fifo", "asynchronous"}]


def protocol(name: str) -> ir.Protocol:
    found = load(name).specification
    assert found is not None
    return next(each for each in found.protocols if each.name == name)


@pytest.mark.long(but=("mf_pipelined-buffered", "mf-buffered", "cykas-causal", "fifo-fifo"))
@pytest.mark.parametrize(
    ("name", "kind"),
    [("synchronous", "synchronous"), ("mf", "buffered"), ("mf_pipelined", "buffered"), ("rst", "causal"),
     ("ses", "causal"), ("ks", "causal"), ("cykas", "causal"), ("hybrid_basic", "causal"),
     ("hybrid_optimal", "causal"), ("fifo", "fifo")],
)  # fmt: skip
def test_a_protocol_generates_just_the_executions_of_its_kind(name: str, kind: Kind) -> None:
    subject = protocol(name)
    for ordering in (*SMALL, CROWN, *(FOUR if name in ("synchronous", "mf", "rst") else ())):
        assert generates(subject, ordering).generated is (kind in kinds_of(ordering)), ordering


@pytest.mark.parametrize(
    ("name", "generated"), [("rst", True), ("mf", False), ("cykas", True), ("tree", False), ("synchronous", False)]
)
def test_nested_crowns(name: str, generated: bool) -> None:
    """Mattern and Fünfrocken, Figure 8: the matrix protocol generates it, the buffer protocol cannot."""
    assert generates(protocol(name), FIGURES["Figure 8"]).generated is generated


CROSSING_RELAYS = """\
0: send to 1; send to 2; receive from 2; receive from 1
1: send to 0; send to 3; receive from 3; receive from 0
2: receive from 0; send to 0
3: receive from 1; send to 1
"""


@pytest.mark.parametrize(
    ("name", "generated"),
    [("rst", True), ("hybrid_optimal", True), ("cykas", False), ("hybrid_basic", False)],
)
def test_crossing_relays_are_causal_and_what_csps_excludes(name: str, generated: bool) -> None:
    (crossing,) = of_programs(read_programs(CROSSING_RELAYS))
    assert "causal" in kinds_of(crossing)
    assert generates(protocol(name), crossing).generated is generated


def test_the_tree_is_in_between() -> None:
    assert generates(protocol("tree"), CROWN).generated is True
    assert "buffered" not in kinds_of(CROWN)


def test_the_run_that_is_found_has_this_execution() -> None:
    subject, ordering = protocol("mf"), FIGURES["Figure 7"]
    found = generates(subject, ordering)
    system = System(subject, workload_of(subject, ordering))
    assert found.system is not None
    system.adopt_packets(found.system)
    state = system.initial()
    for action in found.run:
        assert action.kind in ("send", "receive")
        state = system.apply(state, action).state
    assert state.places == tuple(len(line) for line in ordering.processes)


def test_a_search_that_is_given_up_says_so() -> None:
    found = generates(protocol("mf"), FIGURES["Figure 8"], limit=3)
    assert found.generated is None
    assert found.states > 3


def test_a_broadcast_protocol_is_not_asked() -> None:
    ordering: Ordering = SMALL[0]
    assert why_not(protocol("cbcast")) is not None
    with pytest.raises(ValueError, match="broadcast"):
        generates(protocol("cbcast"), ordering)
