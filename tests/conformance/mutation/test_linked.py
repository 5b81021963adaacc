"""A link to mutants of its machine: where they do what it did, it is what it was; else it is followed again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from thence.conformance.mutation import linked
from thence.conformance.mutation.linked import EARLY, LinkedScope, linked_scopes
from thence.conformance.mutation.protocol_judge import baseline, judge_protocol
from thence.dsl import ir
from thence.dsl.load import load, load_bytes, locate
from thence.proofs.scopes.link import check_link

FEW = 25
"""Random runs."""


def link_of(name: str, old: str = "", new: str = "") -> ir.Link:
    """The link of a library file in which a piece of text is replaced."""
    text = locate(name).read_text(encoding="utf-8")
    assert old in text
    found = load_bytes(Path(name), text.replace(old, new, 1).encode()).specification
    assert found is not None
    return found.links[0]


@pytest.fixture(scope="module")
def scopes() -> tuple[LinkedScope, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linked, "RUNS", FEW)
        return tuple(linked_scopes(link_of("mf")))


def tried(
    scopes: tuple[LinkedScope, ...], old: str, new: str, changed: str
) -> Iterator[tuple[LinkedScope, str | None]]:
    machine = link_of("mf", old, new).machine
    for scope in scopes:
        yield scope, scope.tried(machine, (changed,)).broken


def test_a_link_is_explored_in_small_scopes_and_run_in_larger_ones(scopes: tuple[LinkedScope, ...]) -> None:
    explored = [scope for scope in scopes if not scope.runs]
    assert len(explored) == 3 and len(scopes) == 3 + 4, "the file's own scope is one of the small ones"
    for scope in scopes:
        assert not scope.runs or (len(scope.runs) == FEW and all(scope.runs))


@pytest.mark.long
def test_the_machine_itself_is_what_it_was(scopes: tuple[LinkedScope, ...]) -> None:
    for scope in scopes:
        for transition in ("network_send", "get", "deliver"):
            found = scope.tried(scope.follow.link.machine, (transition,))
            assert (found.broken, found.happened) == (None, {transition})


GUARDS = {
    "network_send": "forall a. network_sent(a) implies delivered(a)",
    "get": "forall x. got(x) implies dst(x) != dst(m)",
    "deliver": "forall a. dst(a) = src(m) implies sent(a)",
}


@pytest.mark.parametrize("transition", GUARDS)
def test_a_stronger_guard_is_found_where_the_link_breaks(scopes: tuple[LinkedScope, ...], transition: str) -> None:
    """As exploring the link to the mutant finds it, with the same shortest run."""
    head = f"  transition {transition}(m):"
    stricter = f"{head}\n    require {GUARDS[transition]}"
    machine = link_of("mf", head, stricter).machine
    broken = 0
    for scope, where in tried(scopes, head, stricter, transition):
        if scope.runs:
            broken += where is not None and "random run" in where
            continue
        link = scope.follow.link
        check = check_link(replace(link, machine=machine), link.protocol, scope.follow.system.workload)
        assert (where is None) == (check.broken is None)
        assert where is None or where.startswith(f"after {len(check.steps)} steps")
    assert broken


def test_a_transition_that_never_happens_has_not_happened(scopes: tuple[LinkedScope, ...]) -> None:
    head = "  transition deliver(m):"
    machine = link_of("mf", head, f"{head}\n    require false").machine
    for scope in scopes:
        found = scope.tried(machine, ("deliver",))
        assert found.broken is not None and not found.happened


def test_timers_fire_early_along_random_runs_too() -> None:
    """A null message with a clock that its receiver has not caught up with: only an early timer sends one."""
    specification = load("newtop").specification
    assert specification is not None
    (link,) = specification.links
    small = replace(link, scopes=link.scopes[:1])
    guard = "sent(a) and src(a) = q and stamp(a) <= n implies received(a, p)"
    stricter = link_of("newtop", guard, guard.replace("src(a) = q and ", "")).machine
    broken = {
        scope.follow.system.workload.ticks
        for scope in linked_scopes(small)
        if scope.tried(stricter, ("receive_null",)).broken is not None
    }
    assert broken == {EARLY}


USED = """\
machine inside:
  delivery off
  relation inside: process
  transition enter(p: process):
    inside(p) := true
  reachable entered: exists p. inside(p)

protocol one:
  state: using: bool
  on use() when not using: using := true

conforms one to inside in two:
  use() is enter(self)
  invariant the_same: forall p: process. using@p iff inside(p)

scope two of one:
  processes 2
  use 1 per process
"""


def specify(text: str) -> ir.Specification:
    found = load_bytes(Path("used.thence"), text.encode()).specification
    assert found is not None
    return found


def test_a_machine_that_disagrees_in_an_invariant_is_found() -> None:
    """It takes every event, and its relation is another one."""
    (link,) = specify(USED).links
    (other,) = specify(USED.replace("inside(p) := true", "inside(p) := inside(p)")).machines
    found = [scope.tried(other, ("enter",)).broken for scope in linked_scopes(link)]
    assert found and None not in found


def test_a_protocol_that_disagrees_in_an_invariant_is_found() -> None:
    found, changed = specify(USED), specify(USED.replace("using := true", "using := false"))
    fate = judge_protocol(baseline(found, found.protocols[0]), changed.protocols[0])
    assert (fate.outcome, fate.reason.partition(":")[0]) == ("killed", "link to inside")
