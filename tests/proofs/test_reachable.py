"""`reachable` in protocols: holds by a run that is shown, refuted when no state of the scope is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from thence.dsl import ir
from thence.proofs.scopes.scopes import Options, check_mutant, explore_scope
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

TEXT = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    held: queue of message
  on causal_send(m):
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    held.push(m)
    if held.size > 1:
      while held is not empty:
        deliver held.first
        held.pop()
  reachable one_waits: exists p: process. held@p is not empty
  reachable two_wait: exists p: process. held@p.size > 1

scope s of p:
  processes 3
  sends 1 per process
  expect refuted two_wait, delivered

mutant keeps of p:
  on receive MSG(m) from j:
    held.push(m)
  expect holds two_wait in s
"""


def test_a_scope_finds_it_or_not(specify: Specify) -> None:
    specification = specify(TEXT)
    scope = specification.scopes[0]
    results = explore_scope(specification.protocols[0], "s", scope.workload, scope.expects)
    found = {str(result.facts["property"]): result for result in results}
    assert {name: result.verdict for name, result in found.items()} == {
        "one_waits": Verdict.HOLDS,
        "two_wait": Verdict.REFUTED,
        "fault": Verdict.HOLDS,
        "delivered": Verdict.REFUTED,
    }
    assert all(result.expected for result in results)
    assert [step["action"] for step in found["one_waits"].facts["steps"]] == ["send", "receive"]
    assert "counterexample" not in found["one_waits"].facts and "steps" not in found["two_wait"].facts


def test_a_limit_leaves_it_open(specify: Specify) -> None:
    specification = specify(TEXT)
    results = explore_scope(
        specification.protocols[0], "s", specification.scopes[0].workload, (), ["two_wait"], Options(limit=20)
    )
    assert [result.verdict for result in results] == [Verdict.UNKNOWN]


def test_of_a_mutant(specify: Specify) -> None:
    specification = specify(TEXT)
    (result,) = check_mutant(specification, specification.mutants[0])
    assert result.verdict is Verdict.HOLDS and result.expected
