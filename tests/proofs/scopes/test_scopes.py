"""What a file states of finite scopes, as results: verdicts, facts, expectations met and missed, explanations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.narrate import execution, replay
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Violation
from thence.proofs.scopes.reports import confirm, explain
from thence.proofs.scopes.scopes import Options, check_links, check_mutant, explore_scope, properties_of
from thence.proofs.workload_words import describe
from thence.spec.verdict import Level, Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]
Library: TypeAlias = Callable[[str], ir.Specification]
ANY = ((1, 2), (0, 2), (0, 1))


def workload(library: Library, name: str, scope: str) -> ir.Workload:
    return next(known.workload for known in library(name).scopes if known.name == scope)


def mutant(library: Library, name: str, mutant: str) -> ir.Mutant:
    return next(known for known in library(name).mutants if known.name == mutant)


def violation(library: Library, name: str, known: str, scope: str, property_: str) -> Violation:
    mutated = mutant(library, name, known).mutated
    assert isinstance(mutated, ir.Protocol)
    return explore(mutated, workload(library, name, scope), [property_], stop_when_refuted=True).violations[property_]


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (ir.Workload(3, (2, 2, 2), ANY), "3 processes, 2 sends each"),
        (ir.Workload(3, (2, 0, 1), ANY), "3 processes, sends 2, 0, 1"),
        (ir.Workload(2, (1, 1), ((0, 1), (0, 1))), "2 processes, 1 send each, to anybody, oneself included"),
        (ir.Workload(3, (1, 0, 0), ((2,), (), ())), "3 processes, sends 1, 0, 0, 0 to 2"),
        (
            ir.Workload(3, (2, 2, 2), ANY, duplicates=1, losses=2, ticks=3),
            "3 processes, 2 sends each, 1 duplicated, 2 lost, 3 ticks each",
        ),
        (
            ir.Workload(2, (0, 0), ((), ()), inputs=(ir.InputUse("ask", (1, 1)), ir.InputUse("end", (1, 0)))),
            "2 processes, ask 1 each, end 1, 0",
        ),
        (ir.Workload(2, (0, 0), ((), ())), "2 processes, 0 sends each"),
    ],
)
def test_workloads_in_words(scope: ir.Workload, words: str) -> None:
    assert describe(scope) == words


def test_everything_of_a_protocol_is_judged(library: Library) -> None:
    assert properties_of(library("rst").protocols[0]) == (
        "causal", "fifo", "at_most_once", "no_creation", "delivered", "deliv_is_redundant", "fault",
    )  # fmt: skip


def test_a_scope_that_holds(library: Library) -> None:
    protocol = library("mf").protocols[0]
    results = explore_scope(protocol, "one", workload(library, "mf", "one"))
    assert [result.facts["property"] for result in results] == list(properties_of(protocol))
    for result in results:
        assert (result.verdict, result.level, result.expected) == (Verdict.HOLDS, Level.L1, True)
        assert (result.kind, result.subject, result.name) == ("scope", "mf", f"one: {result.facts['property']}")
        assert (result.facts["states"], result.facts["transitions"], result.facts["complete"]) == (216, 648, True)
        assert "counterexample" not in result.facts
        json.dumps(result.facts)


def test_an_incomplete_exploration_is_unknown(library: Library) -> None:
    results = explore_scope(
        library("cykas").protocols[0], "two", workload(library, "cykas", "two"), (), ["causal"], Options(limit=1000)
    )
    (result,) = results
    assert (result.verdict, result.expected) == (Verdict.UNKNOWN, False)
    assert result.facts["unknown"] == "incomplete: stopped at 1,000 states"


def test_a_refuted_property_has_a_counterexample_that_replays(library: Library) -> None:
    known = mutant(library, "mf", "posts_at_once")
    assert isinstance(known.mutated, ir.Protocol)
    scope = workload(library, "mf", "two")
    (result,) = explore_scope(known.mutated, "two", scope, (), ["causal"])
    assert (result.verdict, result.expected) == (Verdict.REFUTED, False)
    recorded = json.loads(json.dumps(result.facts["counterexample"]))
    steps = replay(System(known.mutated, scope), recorded)
    assert "causal" in {finding.property for finding in steps[-1].outcome.findings}
    assert result.explanation.startswith("1  p")


MUTANTS = [
    (name, known)
    for name, known in {
        "cykas": ["no_secret_mode", "tells_too_early"],
        "mf": ["posts_at_once", "acknowledges_nothing", "takes_the_newest"],
        "rst": ["no_merge", "no_condition", "self_addressed"],
        "hybrid_basic": ["ids_from_zero", "never_flags", "forgets_permits", "delivers_on_arrival"],
    }.items()
    for known in known
]


@pytest.mark.long(
    but=("mf-takes_the_newest", "mf-posts_at_once", "hybrid_basic-delivers_on_arrival", "hybrid_basic-ids_from_zero")
)
@pytest.mark.parametrize(("name", "known"), MUTANTS)
def test_mutants_do_what_the_library_says(library: Library, name: str, known: str) -> None:
    subject = mutant(library, name, known)
    results = check_mutant(library(name), subject)
    stated = sorted((property_, expect.verdict) for expect in subject.expects for property_ in expect.names)
    assert sorted((result.facts["property"], result.verdict.value) for result in results) == stated
    for result in results:
        assert result.expected
        assert result.subject == f"{name}/{known}"
        assert (result.verdict is Verdict.REFUTED) == bool(result.explanation)


def test_a_surprise_in_either_direction_is_not_expected(library: Library) -> None:
    specification = library("mf")
    known = mutant(library, "mf", "posts_at_once")
    contrary = tuple(
        replace(expect, verdict="holds" if expect.verdict == "refuted" else "refuted") for expect in known.expects
    )
    assert not any(result.expected for result in check_mutant(specification, replace(known, expects=contrary)))
    harmless = replace(known, mutated=specification.protocols[0], expects=known.expects[:2])
    results = check_mutant(specification, replace(harmless))
    assert {(result.verdict, result.expected) for result in results} == {(Verdict.HOLDS, False)}


def test_links(library: Library) -> None:
    link = library("hybrid_basic").links[0]
    small = ir.Scope("small", "hybrid_basic", ir.Workload(2, (1, 1), ((1,), (0,))), ())
    (result,) = check_links(replace(link, scopes=(small,)))
    assert (result.kind, result.verdict, result.expected, result.level) == ("link", Verdict.HOLDS, True, Level.L1)
    assert result.name == "small: every event is enabled in permits"
    wants_refuted = ir.Expectation("refuted", (), None, None)
    (result,) = check_links(replace(link, scopes=(small,), expects=(wants_refuted,)))
    assert not result.expected


def test_a_broken_link_says_what_the_machine_refuses(library: Library) -> None:
    specification = library("mf")
    events_only = tuple(replace(link, invariants=()) for link in specification.links)
    results = check_mutant(replace(specification, links=events_only), mutant(library, "mf", "posts_at_once"))
    broken = next(result for result in results if result.facts["property"] == "link")
    assert broken.facts["machine"] == "buffers"
    refused = (
        "p0: send MSG(m0.2) to p1 is network_send(m0.2), which the machine refuses: "
        "forall a. waiting(a) implies src(a) != src(m) (src(m0.2) = p0)"
    )
    assert refused in broken.explanation.splitlines()


def test_a_message_that_is_stuck_is_named(library: Library) -> None:
    found = violation(library, "mf", "acknowledges_nothing", "two", "delivered")
    words, picture = explain(found)
    assert "\n\nNothing is in flight, and p1 never delivers m0.2.\n" in words
    assert picture.startswith("<svg")


def test_an_unconfirmed_violation_is_a_defect_of_ours(library: Library) -> None:
    """The oracle sees the run only; a finding that it does not share must not be printed."""
    found = violation(library, "mf", "posts_at_once", "two", "causal")
    confirm(found, execution(found.system, found.steps))
    with pytest.raises(AssertionError, match="does not confirm the violation of causal"):
        confirm(found, execution(found.system, found.steps[:-1]))


def test_progress_is_reported_with_what_it_is_about(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.proofs.explore.exploration.PROGRESS_SECONDS", 0)
    labels = set()
    options = Options(report=lambda label, progress: labels.add(label))
    explore_scope(library("mf").protocols[0], "one", workload(library, "mf", "one"), (), ["causal"], options)
    check_mutant(library("mf"), mutant(library, "mf", "takes_the_newest"), options)
    assert labels == {"mf one", "takes_the_newest 2 processes, sends 3, 0"}


def test_any_number_of_messages_is_of_those_that_send_for_ever_only(specify: Specify) -> None:
    """With two messages of p1 the formula is false; one is all that it sends in this scope."""
    content = specify("""\
protocol once:
  network reliable, reordering
  role first: process = 0
  message MSG(m: message) carries m
  message ACK()
  state:
    open: bool = true
    got: nat
  on causal_send(m) when open:
    open := false
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    got := min(got + 1, 2)
    deliver m
    send ACK() to j
  on receive ACK() from j: open := true
  property causal
  invariant few: got@first <= 1

scope s of once:
  processes 2
  sends 1, 1
  for ever 0
  prompt sends
  expect holds few
""")
    (few,) = explore_scope(content.protocols[0], "s", content.scopes[0].workload, (), ["few"])
    assert few.verdict is Verdict.HOLDS and few.facts["saturated"]
    assert few.explanation.startswith("any number of messages of each process that sends for ever: ")
