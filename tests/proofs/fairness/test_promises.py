"""Promises, and what is said of states at rest: runs that refute them, and what decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Engine, Method
from thence.proofs.scopes.scenarios import play_scenario
from thence.proofs.scopes.scopes import check_mutant, explore_scope
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "language.md"

ECHO = """
protocol echo:
  network lossy, reordering
  message MSG(m: message) carries m
  message ACK(m: message)
  state:
    unacked: set of message
    got: set of message
  on causal_send(m):
    unacked.add(m)
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    if m not in got:
      got.add(m)
      deliver m
    send ACK(m) to j
  on receive ACK(m) from j: unacked.remove(m)
  periodically:
    for m in unacked: send MSG(m) to m.dst
  at rest done: forall p: process. unacked@p is empty
  eventually acknowledged under fair receive: forall p: process. unacked@p is not empty leads to unacked@p is empty
  property causal

scope two of echo:
  processes 2
  sends 1, 1
  losses 1

mutant silent of echo:
  on receive MSG(m) from j:
    if m not in got:
      got.add(m)
      deliver m
      send ACK(m) to j
  expect refuted acknowledged in two

mutant restless of echo:
  state:
    beat: bool
  periodically:
    beat := not beat
    for m in unacked: send MSG(m) to m.dst
  expect unknown done in two

scenario halfway of echo:
  processes Ann, Ben
  Ann sends m to Ben
  expect holds acknowledged, done
"""


def test_what_holds_and_what_does_not(specify: Specify) -> None:
    content = specify(ECHO)
    (scope,) = content.scopes
    results = explore_scope(content.protocols[0], "two", scope.workload)
    found = {result.facts["property"]: result.verdict for result in results}
    assert found == dict.fromkeys(("causal", "acknowledged", "done", "fault"), Verdict.HOLDS)
    silent, restless = ((check_mutant(content, mutant))[0] for mutant in content.mutants)
    assert silent.expected and silent.facts["lasso"]["cycle"] == 3 and "never comes" in silent.explanation
    assert restless.expected
    assert restless.facts["unknown"] == (
        "no run comes to a state in which nothing can happen any more; "
        "a timer that goes on changing or sending something keeps a run from it"
    )


def test_a_run_that_can_go_on_decides_nothing(specify: Specify) -> None:
    (scenario,) = specify(ECHO).scenarios
    judged = [result for result in play_scenario(scenario) if result.facts.get("property") in ("acknowledged", "done")]
    assert len(judged) == 2 and all(each.verdict is Verdict.UNKNOWN and not each.expected for each in judged)


ANSWER = """
protocol ping:
  network reliable, reordering
  message A()
  state:
    answered: bool
    ticks: nat
  on go(): for p in process: if p != self: send A() to p
  on receive A() from j: answered := true
  periodically tick: pass
  periodically tock: ticks := 1
  eventually answer FAIR: forall p: process. answered@p

scope s of ping:
  processes 2
  go 1, 1
"""


@pytest.mark.parametrize(
    ("fair", "free"),
    [
        ("under fair receive, tick", "the application need not have the input `go`; the timer `tock` need not fire"),
        ("under fair receive", "the application need not have the input `go`"),
    ],
)
def test_what_need_not_happen_is_named(specify: Specify, fair: str, free: str) -> None:
    content = specify(ANSWER.replace("FAIR", fair))
    result = explore_scope(content.protocols[0], "s", content.scopes[0].workload)[0]
    assert result.verdict is Verdict.REFUTED
    said = f"nothing more has to happen: {free}. Name what has to happen after `fair`, as in `{fair}, "
    assert said in result.explanation.replace("Nothing", "nothing")
    assert not result.explanation.startswith("\n")


def test_what_is_not_asked_for_keeps_no_engine_away(specify: Specify) -> None:
    content = specify(ECHO)
    protocol, workload = content.protocols[0], content.scopes[0].workload
    natively = explore(protocol, workload, ["causal", "done"], method=Method("both"))
    assert natively.complete and natively.engine == "both"
    with pytest.raises(ValueError, match="needs all states at hand: `acknowledged`"):
        explore(protocol, workload, ["acknowledged"], method=Method("native", storage="disk"))


@pytest.mark.parametrize(("fairness", "verdict"), [("receive, release", "holds"), ("receive", "refuted")])
def test_inputs_are_fair_where_it_is_said(specify: Specify, fairness: str, verdict: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index("protocol permit:")
    permit = text[begin : text.index("```", begin)].replace("under fair receive, release", f"under fair {fairness}")
    content = specify(permit)
    found = explore_scope(content.protocols[0], "three", content.scopes[0].workload, properties=["served"])
    assert [result.verdict.value for result in found] == [verdict]


CRASHING = """
protocol crashing:
  network reliable, reordering
  message TELL()
  state:
    crashed: bool
    knows: bool
  on crash(): crashed := true
  on learn():
    if crashed: return
    knows := true
    for p in process: if p != self: {told}
  on receive TELL() from p: if not crashed: knows := true
  at rest agree: forall p, q: process. crashed@p or crashed@q or knows@p = knows@q
  at rest all_know: forall p: process. knows@p or crashed@p
  eventually spreads under fair receive{fair}: forall p: process. (exists q: process. not crashed@q and knows@q)
    leads to knows@p or crashed@p

scope two of crashing:
  processes 2
  crash 1 per process
  learn 1 per process
"""


@pytest.mark.parametrize("engine", ["interpreted", "native"])
@pytest.mark.parametrize(
    ("told", "fair", "refuted"),
    [
        ("send TELL() to p", "", {"all_know"}),
        ("send TELL() to p", ", learn", set()),
        ("pass", "", {"agree", "all_know", "spreads"}),
        ("pass", ", crash", set()),
    ],
)
def test_nobody_has_to_crash(specify: Specify, told: str, fair: str, refuted: set[str], engine: Engine) -> None:
    """At rest nothing fair can be done; a crash that is not fair need not come, though the scope allows it."""
    found = specify(CRASHING.format(told=told, fair=fair))
    judged = ["agree", "all_know", *(["spreads"] if engine == "interpreted" else [])]
    explored = explore(found.protocols[0], found.scopes[0].workload, judged, method=Method(engine))
    assert explored.complete and explored.violations.keys() == refuted & {*judged}
