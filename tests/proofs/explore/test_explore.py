"""Exploration: pinned counts, shortest counterexamples, limits; the same for every order of the actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.actions import Action, State
from thence.dsl.run.narrate import execution
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.engines import explore
from thence.proofs.explore import exploration
from thence.proofs.explore.exploration import Method, Progress
from thence.proofs.scopes.reports import confirm
from thence.proofs.scopes.scopes import explore_scope, properties_of
from thence.spec.verdict import Verdict

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]

COUNTS = {
    # The first four are published: K sends each among 3 processes, everything delivered collected.
    ("cykas", "one"): (216, 648, 9),
    ("mf", "one"): (216, 648, 9),
    ("cykas", "two"): (52_521, 221_934, 18),
    ("cykas", "links"): (210, 514, 9),
    ("mf", "two"): (6_859, 30_324, 18),
    ("mf", "self_addressed"): (361, 1_064, 12),
    ("mf", "links"): (684, 2_376, 12),
    ("mf", "no_starvation"): (6_084, 25_779, 13),
    ("mf", "figure_7"): (163, 378, 18),
    ("mf", "third_program"): (12, 16, 6),
    ("mf", "answers_inside_deliveries"): (684, 2_692, 9),
    ("rst", "one"): (239, 450, 6),
    ("rst", "figure_8"): (62, 126, 12),
    ("rst", "two"): (5_160, 13_742, 10),
    ("rst", "pair"): (1_081, 2_970, 12),
    ("hybrid_basic", "one"): (343, 882, 9),
    ("hybrid_basic", "two"): (28_652, 90_137, 19),
    ("hybrid_basic", "lost"): (2_769, 7_538, 18),
    ("hybrid_basic", "links"): (2_336, 6_556, 14),
    ("hybrid_basic", "sent_again"): (5_652, 24_014, 19),
    ("hybrid_basic", "pair"): (4_459, 13_508, 16),
}

SHORTEST = {
    ("cykas", "no_secret_mode", "two"): {"csps": 4, "causal": 5},
    ("cykas", "answers_the_eager_sender", (2, 2, 1)): {"causal": 8},
    ("cykas", "as_printed", "two"): {"delivered": 4},
    ("cykas", "yct_comes_twice", (2, 2, 1)): {"causal": 13, "causally_ordered": 14},
    ("cykas", "as_printed", (5, 0, 1)): {"causal": 17},
    ("cykas", "as_printed_for_every_process", (3, 0, 1)): {"causal": 10, "causally_ordered": 11},
    ("cykas", "notes_ycts", (3, 0, 0)): {"yct_when_all_acked": 7},
    ("cykas", "acknowledges_ycts", (4, 0, 0)): {"fifo": 11, "causal": 11, "causally_ordered": 12},
    ("cykas", "rule_7", "two"): {"fault": 5},
    ("cykas", "tells_too_early", "two"): {"fault": 5},
    ("mf", "posts_at_once", "two"): {"causal": 3, "fifo": 3},
    ("mf", "acknowledges_nothing", "two"): {"delivered": 3},
    ("mf", "takes_the_newest", (3, 0)): {"causal": 6, "fifo": 6},
    ("rst", "no_merge", "two"): {"causal": 5},
    ("rst", "compares_matrices", "one"): {"matrices_agree_at_the_end": 2},
    ("rst", "counts_its_own_column", "broadcasts"): {"causal": 4, "matrices_agree_at_the_end": 3},
    ("rst", "no_condition", "two"): {"causal": 3, "fifo": 3},
    ("rst", "delivered_again", (1, 0)): {"at_most_once": 4},
    ("rst", "self_addressed", (2, 0)): {"delivered": 4, "deliv_is_redundant": 1},
    ("hybrid_basic", "ids_from_zero", "one"): {"delivered": 3},
    ("hybrid_basic", "ids_from_zero", (2, 0)): {"causal": 3, "fifo": 3},
    ("hybrid_basic", "duplicates_unacknowledged", "lost"): {"delivered": 11},  # the last 4 repeat for ever
    ("hybrid_basic", "without_timer", "two"): {"delivered": 8},
    ("hybrid_basic", "asks_for_no_permits", "two"): {"delivered": 8},
    ("hybrid_basic", "repeats_no_messages", "lost"): {"delivered": 2},
    ("hybrid_basic", "never_flags", "two"): {"csps": 4, "causal": 5},
    ("hybrid_basic", "forgets_permits", "two"): {"causal": 5},
    ("hybrid_basic", "repeats_unflagged", "sent_again"): {"causal": 6, "csps": 5},
    ("hybrid_basic", "delivers_on_arrival", "two"): {"fifo": 3, "causal": 3},
}


OTHERS: dict[tuple[str, str], tuple[int, int, int, set[str]]] = {
    ("mf_receive", "two_received"): (3_094, 8_066, 16, set()),
    ("mf_receive", "received_at_any_moment"): (11_475, 43_724, 15, set()),
    ("mf_receive", "third_program_received"): (25, 34, 8, {"delivered"}),
    ("mf_unreliable", "one_is_lost"): (15, 18, 6, {"delivered"}),
    ("mf_unreliable", "one_comes_twice"): (227, 502, 11, {"at_most_once", "causal", "fifo"}),
}


def scope_of(specification: ir.Specification, name: str) -> ir.Workload:
    return next(scope.workload for scope in specification.scopes if scope.name == name)


@pytest.mark.long(but=("mf-one", "mf-figure_7", "mf-self_addressed", "mf-links"))
@pytest.mark.parametrize(("name", "scope"), COUNTS)
def test_pinned_counts(library: Library, name: str, scope: str) -> None:
    specification = library(name)
    protocol = specification.protocols[0]
    found = explore(protocol, scope_of(specification, scope), properties_of(protocol))
    assert found.complete
    assert found.violations == {}
    assert (found.states, found.transitions, found.depth) == COUNTS[name, scope]


@pytest.mark.parametrize("name", ["cykas", "mf", "rst", "hybrid_basic"])
def test_every_scope_is_pinned(library: Library, name: str) -> None:
    elsewhere = {
        *(("cykas", "starvation"), ("cykas", "starvation_on_fifo_channels")),  # test_lasso.py
        ("rst", "links"),  # tests/quality/test_library_rst.py
        *(("mf", "figure_8"), ("rst", "answers_inside_deliveries")),  # refuted: below
        *(("cykas", "any_number_of_two_senders"), ("mf", "any_number")),  # abstraction/test_search.py
        *(("rst", "no_starvation"), ("hybrid_basic", "no_starvation")),  # liveness/test_order.py
        ("hybrid_basic", "no_starvation_with_permits"),
        *((each, "no_starvation_on_fifo_channels") for each in ("mf", "rst", "hybrid_basic")),
    }
    first = library(name).protocols[0].name
    own = [scope for scope in library(name).scopes if scope.protocol == first]
    finite = {scope.name for scope in own if (name, scope.name) not in elsewhere}
    assert {(name, scope) for scope in finite} <= COUNTS.keys()


def test_the_other_protocols_of_mf_are_pinned(library: Library) -> None:
    specification = library("mf")
    others = {protocol.name: protocol for protocol in specification.protocols[1:]}
    counts = {}
    for scope in specification.scopes:
        if scope.protocol in others:
            protocol = others[scope.protocol]
            found = explore(protocol, scope.workload, properties_of(protocol))
            assert found.complete
            counts[scope.protocol, scope.name] = (found.states, found.transitions, found.depth, {*found.violations})
    assert counts == OTHERS


@pytest.mark.parametrize(
    ("name", "scope", "refuted"),
    [("mf", "figure_8", {"delivered", "completes"}), ("rst", "answers_inside_deliveries", {"causal"})],
)
def test_what_a_scope_refutes(library: Library, name: str, scope: str, refuted: set[str]) -> None:
    specification = library(name)
    found = next(each for each in specification.scopes if each.name == scope)
    results = explore_scope(specification.protocols[0], scope, found.workload, found.expects)
    assert {each.name.partition(": ")[2] for each in results if each.verdict is Verdict.REFUTED} == refuted
    assert all(each.expected for each in results)


def refutations(specification: ir.Specification) -> Iterator[tuple[str, str | tuple[int, ...], ir.Workload, str]]:
    """What the file expects its mutants of protocols to violate: mutant, scope (or sends), workload, property."""
    for mutant in specification.mutants:
        for expect in mutant.expects:
            if isinstance(mutant.mutated, ir.Protocol) and expect.verdict == "refuted":
                assert expect.settings is not None
                for property_ in expect.names:
                    if property_ != "link":
                        yield mutant.name, expect.scope or expect.settings.sends, expect.settings, property_


@pytest.mark.parametrize("name", ["cykas", "mf", "rst", "hybrid_basic"])
def test_shortest_counterexamples(library: Library, name: str) -> None:
    specification = library(name)
    lengths: dict[tuple[str, str, str | tuple[int, ...]], dict[str, int]] = {}
    for mutant, scope, workload, property_ in refutations(specification):
        subject = next(known.mutated for known in specification.mutants if known.name == mutant)
        assert isinstance(subject, ir.Protocol)
        found = explore(subject, workload, [property_], stop_when_refuted=True)
        violation = found.violations[property_]
        confirm(violation, execution(violation.system, violation.steps))
        lengths.setdefault((name, mutant, scope), {})[property_] = len(violation.steps)
    assert lengths == {known: pinned for known, pinned in SHORTEST.items() if known[0] == name}


class Backwards(System):
    """The same system; its actions are enumerated last to first."""

    def enabled(self, state: State) -> Iterator[Action]:
        return reversed(list(super().enabled(state)))


@pytest.mark.parametrize(
    ("name", "scope"), [("cykas", "one"), ("mf", "two"), ("rst", "two"), ("hybrid_basic", "lost"), ("mf", "links")]
)
def test_order_of_actions_changes_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch, name: str, scope: str
) -> None:
    monkeypatch.setattr(exploration, "System", Backwards)
    specification = library(name)
    protocol = specification.protocols[0]
    found = explore(protocol, scope_of(specification, scope), properties_of(protocol), method=Method("interpreted"))
    assert (found.states, found.transitions, found.depth) == COUNTS[name, scope]
    assert found.violations == {}


@pytest.mark.long(
    but=(
        "mf-posts_at_once-two",
        "mf-acknowledges_nothing-two",
        "hybrid_basic-repeats_no_messages-lost",
        "hybrid_basic-delivers_on_arrival-two",
    )
)
@pytest.mark.parametrize(
    ("name", "mutant", "scope"), [known for known in SHORTEST if isinstance(known[2], str)], ids=str
)
def test_order_of_actions_keeps_counterexamples_as_short(
    library: Library, monkeypatch: pytest.MonkeyPatch, name: str, mutant: str, scope: str
) -> None:
    monkeypatch.setattr(exploration, "System", Backwards)
    specification = library(name)
    subject = next(known.mutated for known in specification.mutants if known.name == mutant)
    assert isinstance(subject, ir.Protocol)
    wanted = SHORTEST[name, mutant, scope]
    workload = scope_of(specification, scope)
    found = explore(subject, workload, wanted, stop_when_refuted=True, method=Method("interpreted"))
    assert {property_: len(violation.steps) for property_, violation in found.violations.items()} == wanted


def test_a_limit_leaves_it_incomplete(library: Library) -> None:
    specification = library("cykas")
    found = explore(specification.protocols[0], scope_of(specification, "two"), ["causal"], limit=500)
    assert not found.complete
    assert 500 <= found.states < 520
    assert found.why_incomplete == "stopped at 500 states"


def test_an_interrupt_leaves_what_was_covered(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "PROGRESS_SECONDS", 0)
    reports: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        reports.append(progress)
        if progress.states > 100:
            raise KeyboardInterrupt

    specification = library("cykas")
    found = explore(specification.protocols[0], scope_of(specification, "two"), ["causal"], progress=interrupt)
    assert not found.complete
    assert found.why_incomplete == "interrupted"
    assert found.states >= reports[-1].states > 100
    assert [report.states for report in reports] == sorted(report.states for report in reports)


FAULTY = """
protocol faulty:
  network reliable, fifo
  message MSG(m: message) carries m
  state:
    n: nat
    room: nat = 1
  on causal_send(m):
    n := n + 1
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    room := room - 1
    deliver m
  invariant few: forall p: process. n@p <= 1
  property causal, at_most_once
  eventually delivered under fair receive
"""


def test_a_fault_ends_what_it_faults(specify: Specify) -> None:
    """A handler at fault has done nothing: the packet is still there, so the message is not stuck for it."""
    protocol = specify(FAULTY).protocols[0]
    workload = ir.Workload(2, (2, 0), ((1,), (0,)))
    found = explore(protocol, workload, properties_of(protocol))
    assert found.complete
    assert {name: len(violation.steps) for name, violation in found.violations.items()} == {"few": 2, "fault": 4}
    # Sends 0, 1, 2, with none or one received after them; the second receipt is at fault.
    assert (found.states, found.transitions) == (5, 6)
    fault = found.violations["fault"].steps[-1]
    assert fault.outcome.findings[0].detail == "a nat goes below zero"


def test_an_invariant_without_a_value_is_violated(specify: Specify) -> None:
    text = FAULTY.replace("n@p <= 1", "3 - n@p > 0").replace("room - 1", "room")
    protocol = specify(text).protocols[0]
    found = explore(protocol, ir.Workload(2, (4, 0), ((1,), (0,))), properties_of(protocol))
    assert {name: len(violation.steps) for name, violation in found.violations.items()} == {"few": 3}
    assert found.violations["few"].finding.detail == "invariant few is false"
    found = explore(protocol_without_value(specify), ir.Workload(2, (4, 0), ((1,), (0,))), ("few", "fault"))
    assert {name: len(violation.steps) for name, violation in found.violations.items()} == {"few": 1}
    assert found.violations["few"].finding.detail == "invariant few has no value: a nat goes below zero"


def protocol_without_value(specify: Specify) -> ir.Protocol:
    text = FAULTY.replace("n@p <= 1", "0 - n@p = 0").replace("room - 1", "room")
    return specify(text).protocols[0]


def test_only_what_is_asked_for_is_judged(library: Library) -> None:
    specification = library("mf")
    subject = next(known.mutated for known in specification.mutants if known.name == "posts_at_once")
    assert isinstance(subject, ir.Protocol)
    workload = replace(scope_of(specification, "two"), sends=(2, 0, 0))
    assert explore(subject, workload, ["at_most_once"]).violations == {}
    found = explore(subject, workload, ["fifo"]).violations["fifo"]
    assert found.finding.message == Message(0, 1, (1,))
    assert found.finding.missing == Message(0, 0, (1,))
