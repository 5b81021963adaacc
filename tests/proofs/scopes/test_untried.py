"""Where nothing happens, nothing holds: every property of every scope in which no run has a step, or none delivers."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl.load import load_bytes
from thence.proofs.explore.exploration import Engine
from thence.proofs.scopes.scopes import Options, explore_scope, judgeable
from thence.spec.verdict import Verdict

TEXT = """
protocol held_back:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    n: nat
    open: bool
  on causal_send(m) when open: send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  on count_up() when STARTS: n := n + 1
  invariant few: forall p: process. n@p <= 1
  reachable none_yet: forall p: process. n@p = 0
  at rest quiet: forall p: process. not open@p
  eventually over under fair receive: true
  property causal, fifo, total_order, at_most_once, no_creation, deadlock_free, csps

scope here of held_back:
  processes 2
  SETTING
"""
OF_DELIVERIES = ("causal", "fifo", "total_order", "at_most_once", "no_creation", "csps", "delivered")


def holding(starts: str, setting: str, engine: Engine) -> set[str]:
    loaded = load_bytes(Path("held_back.thence"), TEXT.replace("STARTS", starts).replace("SETTING", setting).encode())
    assert loaded.specification is not None, [each.message for each in loaded.diagnostics]
    (protocol,), (scope,) = loaded.specification.protocols, loaded.specification.scopes
    judged = judgeable(protocol, scope.workload) if scope.workload.ends else ("delivered", "over")
    found = explore_scope(protocol, "here", scope.workload, properties=judged, options=Options(engine=engine))
    assert all(each.verdict is not Verdict.UNKNOWN or each.facts["unknown"] for each in found)
    return {str(each.facts["property"]) for each in found if each.verdict is Verdict.HOLDS}


STILL = ("sends 0 per process", "sends 1 per process", "sends 1 per process\n  for ever")
PROMPT = "sends 2, 0\n  prompt sends"
SEARCHES: tuple[tuple[str, Engine], ...] = (
    (PROMPT, "interpreted"),
    *((setting, "interpreted") for setting in STILL),
    *((setting, "native") for setting in STILL),
)


@pytest.mark.parametrize(("setting", "engine"), SEARCHES)
def test_where_no_run_has_a_step_only_what_is_reached_holds(setting: str, engine: Engine) -> None:
    assert holding("open", f"{setting}\n  count_up 1 per process", engine) <= {"none_yet"}


@pytest.mark.parametrize(("setting", "engine"), SEARCHES)
def test_where_nothing_is_delivered_nothing_of_messages_holds(setting: str, engine: Engine) -> None:
    found = holding("true", f"{setting}\n  count_up 1 per process", engine)
    assert not found & {*OF_DELIVERIES}
    assert "for ever" in setting or {"few", "fault"} <= found


def test_where_messages_are_delivered_it_holds() -> None:
    """Reachability: the same text, when the application may send."""
    loaded = TEXT.replace("when open: send", "when not open: send").replace("STARTS", "true")
    specification = load_bytes(Path("open.thence"), loaded.replace("SETTING", "sends 1, 0").encode()).specification
    assert specification is not None
    (protocol,), (scope,) = specification.protocols, specification.scopes
    found = explore_scope(protocol, "here", scope.workload, properties=("causal", "delivered"))
    assert [each.verdict for each in found] == [Verdict.HOLDS, Verdict.HOLDS]


PROMISING = """
protocol counts:
  network reliable, reordering
  state:
    n: nat
    first: bool = (self = FIRST)
  on go() when n = 0: BODY
  eventually comes under fair receive, go: PROMISE

scope here of counts:
  processes 2
  go 1 per process
"""
PROMISES = (
    "forall p: process. n@p = 0",
    "forall p: process. n@p = 1",
    "exists p: process. n@p = 1",
    "exists p: process. first@p",
    "forall p: process. first@p",
    "forall p: process. first@p or n@p = 1",
    "forall p, q: process. n@p = n@q",
)


def promised(promise: str, body: str, first: str = "false") -> tuple[Verdict, str | None]:
    """The verdict on a promise, and why it cannot be refuted."""
    text = PROMISING.replace("PROMISE", promise).replace("BODY", body).replace("(self = FIRST)", first)
    loaded = load_bytes(Path("counts.thence"), text.encode())
    assert loaded.specification is not None, [each.message for each in loaded.diagnostics]
    (protocol,), (scope,) = loaded.specification.protocols, loaded.specification.scopes
    (found,) = explore_scope(protocol, "here", scope.workload, properties=("comes",), options=Options())
    return found.verdict, found.facts.get("cannot_refute")


@pytest.mark.parametrize("first", ("false", "true"))
@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_is_kept_from_the_start_if_a_protocol_that_does_nothing_keeps_it(promise: str, first: str) -> None:
    idle, _ = promised(promise, "pass", first)
    verdict, limit = promised(promise, "n := n + 1", first)
    assert (limit is not None) == (idle is Verdict.HOLDS)
    assert limit is None or (verdict is Verdict.HOLDS and "true at the beginning" in limit)


def test_what_leads_to_something_is_no_promise_from_the_start() -> None:
    assert promised("forall p: process. n@p = 0 leads to n@p = 1", "n := n + 1") == (Verdict.HOLDS, None)
