"""Runs that never come to rest, and timers that alternate: what `delivered` says of them in every kind of scope."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.proofs.fairness.by_definition import assert_every_packet_arrives

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.export.regression import violated
from thence.dsl.load import load
from thence.dsl.run.narrate import record, replay
from thence.proofs.bounded.search import search
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Engine, Method
from thence.proofs.scopes.scopes import explore_scope
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

CASES = Path(__file__).with_name("cases")

FINITE = [("alternate", "at_rest"), ("alternate", "any_moment"), ("livelock", "s"), ("gate", "finite")]


@pytest.mark.parametrize("name", ["alternate", "livelock", "gate"])
def test_every_kind_of_scope_refutes_it(name: str) -> None:
    specification = load(str(CASES / f"{name}.thence")).specification
    assert specification is not None
    for scope in specification.scopes:
        results = explore_scope(specification.protocols[0], scope.name, scope.workload, scope.expects)
        verdicts = {result.facts["property"]: result.verdict for result in results}
        assert verdicts.pop("delivered") is Verdict.REFUTED
        assert Verdict.REFUTED not in verdicts.values()


@pytest.mark.parametrize("engine", ["interpreted", "native"])
@pytest.mark.parametrize(("name", "scope"), FINITE)
def test_the_run_is_fair_and_replays(name: str, scope: str, engine: Engine) -> None:
    specification = load(str(CASES / f"{name}.thence")).specification
    assert specification is not None
    workload = next(known.workload for known in specification.scopes if known.name == scope)
    found = explore(specification.protocols[0], workload, ["delivered"], method=Method(engine))
    violation = found.violations["delivered"]
    assert violation.cycle
    assert_every_packet_arrives(violation.system, violation.steps, violation.cycle, turns=10)
    again = replay(violation.system, record(violation.system, violation.steps))
    assert [step.outcome.state for step in again] == [step.outcome.state for step in violation.steps]
    steps, lines = record(violation.system, violation.steps), lines_of(workload, kind_of(specification.protocols[0]))
    assert "delivered" in violated(str(CASES / f"{name}.thence"), name, None, lines, steps)


LATE = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message PING()
  state:
    kept: queue of message
  on causal_send(m):
    kept.push(m)
    send PING() to m.dst
  on receive PING() from j: send PING() to j
  on receive MSG(m) from j: deliver m
  periodically:
    while kept is not empty:
      send MSG(kept.first) to kept.first.dst
      kept.pop()
  eventually delivered under fair receive, periodically
"""


@pytest.mark.parametrize("engine", ["interpreted", "native"])
def test_a_timer_that_never_gets_to_fire_decides_nothing(specify: Specify, engine: Engine) -> None:
    """The token goes round for ever, and in this scope timers wait until nothing is in flight."""
    protocol = specify(LATE).protocols[0]
    found = explore(protocol, ir.Workload(2, (1, 0), ((1,), ())), ["delivered"], method=Method(engine))
    assert not found.violations and "timers fire when nothing is in flight" in found.undecided["delivered"]


FORWARDS = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if self = m.dst: {arrival}
    else: send MSG(m) to m.dst
  eventually delivered under {fairness}
"""


@pytest.mark.parametrize(
    ("arrival", "fairness", "verdict"),
    [
        ("deliver m", "fair receive", Verdict.HOLDS),
        ("deliver m", "fair causal_send", Verdict.REFUTED),
        ("send MSG(m) to m.src", "fair receive", Verdict.REFUTED),
        ("send MSG(m) to self", "weakly fair receive", Verdict.REFUTED),
    ],
)
def test_what_is_fair_is_what_is_declared(specify: Specify, arrival: str, fairness: str, verdict: Verdict) -> None:
    protocol = specify(FORWARDS.format(arrival=arrival, fairness=fairness)).protocols[0]
    (result,) = explore_scope(protocol, None, ir.Workload(2, (1, 0), ((1,), ())), properties=["delivered"])
    assert result.verdict is verdict
    assert ("Nothing that is in flight has to arrive" in result.explanation) == (fairness == "fair causal_send")


WAITS_FOR_A_SEND = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    sent: bool
    kept: queue of message
  on causal_send(m):
    sent := true
    send MSG(m) to m.dst
    while kept is not empty:
      deliver kept.first
      kept.pop()
  on receive MSG(m) from j:
    if sent: deliver m
    else: kept.push(m)
  eventually delivered under fair {fairness}
"""


@pytest.mark.parametrize(("fairness", "verdict"), [("receive, causal_send", "holds"), ("receive", "refuted")])
def test_an_application_that_sends_fairly_makes_all_its_sends(specify: Specify, fairness: str, verdict: str) -> None:
    protocol = specify(WAITS_FOR_A_SEND.format(fairness=fairness)).protocols[0]
    for engine in ("interpreted", "native", "both"):
        found = explore(protocol, ir.Workload(2, (1, 1), ((1,), (0,))), ["delivered"], method=Method(engine))
        assert ("refuted" if found.violations else "holds") == verdict and not found.undecided
    bounded = search(protocol, ir.Workload(2, (1, 1), ((1,), (0,))), ["delivered"], 8)
    assert ("delivered" in bounded.violations) == (verdict == "refuted")


def test_a_run_that_ends_in_a_fault_delivers_nothing_and_proves_nothing(specify: Specify) -> None:
    text = FORWARDS.format(arrival="\n      let n = 0\n      if n - 1 = 0: deliver m", fairness="fair receive")
    protocol = specify(text).protocols[0]
    for engine in ("interpreted", "native"):
        found = explore(protocol, ir.Workload(2, (1, 0), ((1,), ())), ["delivered"], method=Method(engine))
        assert "fault" in found.undecided["delivered"]
