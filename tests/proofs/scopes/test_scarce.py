"""Refutations that come of a scope with too few inputs or messages: the note says what is missing, and it is true."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import workload_for
from thence.dsl.load import load_bytes
from thence.proofs.scopes.scopes import explore_scope
from thence.spec.verdict import Result, Verdict

VOTES = """
protocol votes:
  network reliable
  role keeper: process = 0
  message VOTE()
  state:
    seen: nat
    open: bool
  on request(): send VOTE() to keeper
  on receive VOTE() from j:
    seen := seen + 1
    if seen = {needed}: open := {becomes}
  eventually opens under fair receive{fair}: open@keeper
  at rest opened: open@keeper
"""

LATE = """
protocol late:
  network reliable
  message MSG(m: message) carries m
  state:
    last: option of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if last is not none: deliver last.value
    last := some(m)
  eventually delivered under fair receive{fair}
"""

PERMIT = """
protocol permit:
  network reliable
  state:
    taken: bool
  on causal_send(m) when not taken: taken := true
  on free() when taken: taken := false
  property deadlock_free
"""


def protocol_of(text: str) -> ir.Protocol:
    loaded = load_bytes(Path("scarce.thence"), text.encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return loaded.specification.protocols[0]


def votes(needed: int, *, becomes: str = "true", fair: bool = True) -> ir.Protocol:
    return protocol_of(VOTES.format(needed=needed, becomes=becomes, fair=", request" if fair else ""))


def requests(protocol: ir.Protocol, *limits: int) -> ir.Workload:
    plain = workload_for(protocol, (0,) * len(limits))
    return replace(plain, inputs=(ir.InputUse("request", limits),) if any(limits) else ())


def judged(protocol: ir.Protocol, workload: ir.Workload, name: str) -> Result:
    return next(each for each in explore_scope(protocol, "s", workload) if each.facts["property"] == name)


def test_the_note_says_the_least_that_helps_and_the_larger_scope_keeps_the_promise() -> None:
    draw = Random(0)
    for _ in range(12):
        needed, limits = draw.randint(1, 4), [draw.randint(0, 2), draw.randint(0, 2)]
        protocol = votes(needed)
        result = judged(protocol, requests(protocol, *limits), "opens")
        note = result.facts.get("asks_for_more", "")
        assert (result.verdict is Verdict.REFUTED) == (sum(limits) < needed) == bool(note), (needed, limits)
        if not note:
            continue
        words = {"once": 1, "twice": 2, "3 times": 3, "4 times": 4}
        for number, process in re.findall(r"`request` (\w+|\d times) at p(\d)", note):
            limits[int(process)] = words[number]
        assert sum(limits) == needed, note
        assert judged(protocol, requests(protocol, *limits), "opens").verdict is Verdict.HOLDS


def test_a_wrong_protocol_has_no_note() -> None:
    wrong = votes(2, becomes="false")
    assert "asks_for_more" not in judged(wrong, requests(wrong, 1, 1), "opens").facts


def test_more_than_is_tried_is_not_named() -> None:
    greedy = votes(12)
    assert "asks_for_more" not in judged(greedy, requests(greedy, 0, 1), "opens").facts


def test_what_is_not_fair_is_named_and_not_counted_where_the_scope_gives_enough() -> None:
    lazy = votes(2, fair=False)
    enough = judged(lazy, requests(lazy, 0, 2), "opens")
    assert (
        enough.facts["asks_for_more"]
        == "with `request`, `opens` comes, but `request` need not happen: not declared fair"
    )
    few = judged(lazy, requests(lazy, 0, 1), "opens")
    assert few.facts["asks_for_more"] == (
        "with `request` twice at p1 (the scope says once), `opens` comes, "
        "but `request` need not happen: not declared fair"
    )


def test_a_run_that_would_go_on_is_not_at_rest() -> None:
    protocol = votes(2)
    said = judged(protocol, requests(protocol, 0, 1), "opened").facts["asks_for_more"]
    assert said == "with `request` once at p0 (the scope says never), the run does not end there"
    lazy = votes(2, fair=False)
    assert "asks_for_more" not in judged(lazy, requests(lazy, 0, 1), "opened").facts


@pytest.mark.parametrize(
    ("fair", "rest"), [(", causal_send", ""), ("", ", but `causal_send` need not happen: not declared fair")]
)
def test_messages_count_as_inputs_do(fair: str, rest: str) -> None:
    late = protocol_of(LATE.format(fair=fair))
    said = judged(late, workload_for(late, (1, 0)), "delivered").facts["asks_for_more"]
    assert said == f"with `causal_send` twice at p0 (the scope says once), `delivered` comes{rest}"


def test_a_deadlock_that_an_input_ends() -> None:
    permit = protocol_of(PERMIT)
    few = replace(workload_for(permit, (3, 0)), inputs=(ir.InputUse("free", (1, 0)),))
    said = judged(permit, few, "deadlock_free").facts["asks_for_more"]
    assert said == "with `free` twice at p0 (the scope says once), more can happen"


def test_a_mutant_that_is_expected_to_be_refuted_is_not_gone_on_with() -> None:
    protocol = votes(2)
    results = explore_scope(protocol, "s", requests(protocol, 0, 1), (_refuted("opens"),), ("opens",))
    assert results[0].verdict is Verdict.REFUTED and "asks_for_more" not in results[0].facts


def _refuted(name: str) -> ir.Expectation:
    text = VOTES.format(needed=2, becomes="true", fair=", request") + (
        "\nscope s of votes:\n  processes 2\n  request 0, 1\n  expect refuted " + name + "\n"
    )
    loaded = load_bytes(Path("scarce.thence"), text.encode())
    assert loaded.specification is not None
    return loaded.specification.scopes[0].expects[0]


def test_what_a_timer_would_bring_that_need_not_fire_is_not_asked_of_the_application() -> None:
    """Nothing is wanted of the application, so there is no note; before, it began "with , `delivered` comes"."""
    put_off = protocol_of(
        """
protocol put_off:
  network reliable
  message MSG(m: message) carries m
  state:
    kept: option of message
  on causal_send(m): kept := some(m)
  on receive MSG(m) from j: deliver m
  periodically send_it:
    if kept is not none: send MSG(kept.value) to kept.value.dst
  periodically idle: pass
  eventually delivered under fair receive, idle
"""
    )
    result = judged(put_off, workload_for(put_off, (1, 0)), "delivered")
    assert result.verdict is Verdict.REFUTED and "asks_for_more" not in result.facts
