"""The search for a run that breaks a link, held against the exploration of the same scopes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import default_sends, workload_for
from thence.dsl.load import load, load_bytes
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import replay
from thence.dsl.run.scoped import bare
from thence.proofs.links.breaking import run_that_breaks
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.spec.verdict import Verdict


def mutants_of(name: str) -> list[ir.Link]:
    """The first link of a file, and the same of each mutant of its protocol."""
    specification = load(name).specification
    assert specification is not None
    link = specification.links[0]
    protocols = [each.mutated for each in specification.mutants if each.subject == link.protocol.name]
    mutated = [replace(link, protocol=each) for each in protocols if isinstance(each, ir.Protocol)]
    return [link, *mutated]


@pytest.mark.parametrize("name", ["ricart_agrawala", "mf"])
def test_a_run_is_as_short_as_that_of_the_exploration(name: str) -> None:
    broken = 0
    for link in mutants_of(name):
        small = min(link.scopes, key=lambda each: (each.workload.processes, sum(each.workload.sends)))
        here = replace(link, scopes=(small,))
        found = run_that_breaks(here, 60).run
        check = check_link(link, link.protocol, small.workload, limit=4_000)
        if found is None:
            assert check.refuted is None
        elif found.facts["scope"]["name"] == small.name:
            assert check.refuted is not None
            assert len(found.facts["counterexample"]) == len(check.steps)
            assert str(check.refuted).split()[0] in found.explanation
            broken += 1
    assert broken


TEXT = """
machine told_once:
  delivery off
  relation told(p: process)
  transition tell(p: process):
    require not told(p)
    told(p) := true
  invariant anything: forall p: process. told(p) or not told(p)
  prove anything

protocol teller:
  network reliable, reordering
  message CTL(n: nat)
  state:
    n: nat
  on act() when n < LIMIT:
    n := n + 1
    send CTL(n) to self
  on receive CTL(x) from j: n := n

conforms teller to told_once:
  act() is tell(self)
  invariant counted: forall p: process. n@p > 0 implies told(p)
  expect proved
"""


def linked(limit: int, old: str = "", new: str = "") -> tuple[ir.Specification, ir.Link]:
    text = TEXT.replace("LIMIT", str(limit)).replace(old or "\0", new)
    loaded = load_bytes(Path("told.thence"), text.encode())
    assert loaded.specification is not None, [each.message for each in loaded.diagnostics]
    return loaded.specification, loaded.specification.links[0]


def test_a_link_that_a_run_breaks_is_refuted_with_the_run() -> None:
    specification, link = linked(2)
    (result,) = prove_specification(specification, [link.name])
    assert result.verdict is Verdict.REFUTED and not result.expected
    assert "unknown" not in result.facts
    assert result.facts["fails"]["machine"]["before"] == ["told(p0)"]
    assert result.explanation.startswith("this run breaks the link after 2 steps:")  # the answer stands first
    assert result.facts["scope"]["processes"] == 2
    workload = workload_for(link.protocol, default_sends(2), inputs=2)
    steps = replay(system_of(bare(link.protocol), workload), result.facts["counterexample"])
    assert [step.title for step in steps] == ["p0: act()"] * 2


def test_a_state_that_no_run_reaches_leaves_the_link_unknown() -> None:
    """The invariant does not say that whoever was told has acted."""
    specification, link = linked(1)
    (result,) = prove_specification(specification, [link.name])
    assert result.verdict is Verdict.UNKNOWN
    assert "counterexample" not in result.facts
    fails = result.facts["fails"]
    assert fails["machine"]["before"] == ["told(p0)"]
    assert fails["protocol"]["before"] == [] and fails["step"] == "p0: act"
    assert "no run breaks the link in these scopes" in result.explanation
    assert "need not be reachable" in result.explanation
    specification, link = linked(1, "n@p > 0 implies", "n@p > 0 iff")
    (result,) = prove_specification(specification, [link.name])
    assert result.verdict is Verdict.PROVED


def test_a_search_without_time_says_so() -> None:
    """It finds nothing, whatever there is to find, and claims of no scope that it was searched to its end."""
    _, link = linked(2)
    assert run_that_breaks(link, 60).run is not None
    found = run_that_breaks(link, 0)
    assert found.run is None and "the time limit ended this search" in found.said
    assert "no run breaks the link in these scopes" not in found.said
