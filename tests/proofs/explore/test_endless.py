"""Timers that change something without bound: every phase of a search comes to an end, at its limit at the latest."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.proofs.fairness.random_protocols import random_text, random_workload
from tests.proofs.fairness.test_random_promises import PROMISES, REST
from tests.proofs.random_choices import with_choices

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run import choices, machine_run, quiescence
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method
from thence.proofs.fairness import tails
from thence.proofs.scopes.link import check_link
from thence.proofs.scopes.scopes import Options, explore_scope
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

ENDLESS = """
protocol endless:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    n: nat
    done: bool
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: pass
  periodically: n := n + 1
  property causal
  invariant low: forall p: process. n@p < 2
  eventually finished: forall p: process. done@p
  eventually back: forall p: process. n@p > 0 leads to n@p = 0
  eventually delivered

scope two of endless:
  processes 2
  sends 1, 0

scope short of endless:
  processes 2
  sends 1, 0
  ticks 1
"""


def test_what_was_refuted_stays_refuted(specify: Specify) -> None:
    """A counterexample is replayed by its property alone: what may follow from its end is not asked for."""
    content = specify(ENDLESS)
    results = explore_scope(content.protocols[0], "two", content.scopes[0].workload, options=Options(limit=300))
    found = {result.facts["property"]: result for result in results}
    assert found["low"].verdict is Verdict.REFUTED
    assert {name for name, result in found.items() if result.verdict is Verdict.UNKNOWN} == found.keys() - {"low"}
    assert "stopped at 300 states" in found["finished"].facts["unknown"]


def test_the_runs_after_a_finite_scope_have_a_limit(specify: Specify) -> None:
    """The scope itself has few states: what is judged in them holds."""
    content = specify(ENDLESS)
    results = explore_scope(content.protocols[0], "short", content.scopes[1].workload, options=Options(limit=300))
    found = {result.facts["property"]: result for result in results}
    live = ("finished", "back", "delivered")
    assert {name: found[name].verdict for name in live} == dict.fromkeys(live, Verdict.UNKNOWN)
    assert all("have more than 300 states, which is the limit" in found[name].facts["unknown"] for name in live)
    assert found["low"].verdict is found["fault"].verdict is Verdict.HOLDS


@pytest.mark.parametrize("method", [Method("interpreted"), Method("native"), Method()])
def test_every_engine_keeps_the_limit(specify: Specify, method: Method) -> None:
    protocol = specify(ENDLESS).protocols[0]
    found = explore(protocol, ir.Workload(2, (1, 0), ((1,), (0,))), ["delivered", "causal"], limit=200, method=method)
    assert found.why_incomplete == "stopped at 200 states" and not found.violations


GATED = """
protocol gated:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    n: nat
    open: bool = true
  on causal_send(m) when open:
    open := false
    send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  periodically: n := n + 1
  property deadlock_free
"""


def test_whether_something_happens_again_is_unknown(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = specify(GATED).protocols[0]
    found = explore(protocol, ir.Workload(2, (2, 0), ((1,), (0,))), ["deadlock_free"], limit=100)
    assert found.undecided == {"deadlock_free": "timers and arrivals lead on to more than 100 states"}
    monkeypatch.setattr(quiescence, "MOST_SETTLING", 100)
    blocked = explore(specify(GATED.replace("n := n + 1", "pass")).protocols[0], ir.Workload(2, (2, 0), ((1,), (0,))),
                      ["deadlock_free"], limit=100)  # fmt: skip
    assert blocked.violations.keys() == {"deadlock_free"}


def test_reasons_name_what_is_there(specify: Specify) -> None:
    """Where the interpreter explores, it is said why; and where processes are compared, no engine could rename them."""
    scope = ir.Workload(2, (1, 0), ((1,), (0,)), sending=ir.Finite(prompt=True, reactive=True))
    asked = ["deadlock_free"]
    waiting = explore(specify(GATED).protocols[0], scope, asked, limit=50, method=Method(reductions=["symmetry"]))
    assert waiting.refused == {"symmetry": "sends are prompt, and inside deliveries, too"}
    ordered = GATED.replace("n := n + 1", "if self < 1: n := n + 1").replace("self < 1", "forall p. self <= p")
    compared = explore(specify(ordered).protocols[0], scope, asked, limit=50, method=Method(reductions=["symmetry"]))
    assert "compares processes" in compared.refused["symmetry"]


FAR = """
protocol far:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    n: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    n := n + 1
    deliver m
  reachable late: when p delivers m: n@p > 5
  reachable many: exists p: process. n@p > 5

scope two of far:
  processes 2
  sends 1, 0
"""


def test_a_step_that_is_never_taken_is_no_state(specify: Specify) -> None:
    content = specify(FAR)
    found = explore_scope(content.protocols[0], "two", content.scopes[0].workload, properties=["late", "many"])
    assert [result.verdict for result in found] == [Verdict.REFUTED] * 2
    assert "no step" in found[0].explanation and "no state" in found[1].explanation


def test_no_choice_is_fair_and_what_to_write_is_said() -> None:
    text = LOOPING.replace("property causal", "eventually delivered under fair choose")
    (found,) = load_bytes(Path("looping.thence"), text.encode()).diagnostics
    assert any("`under fair NAME`" in note for note in found.notes)


LOOPING = """
protocol looping:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    kept: queue of message
    flag: bool
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    kept.push(m)
    while kept is not empty:
      either: kept.pop()
      or: flag := not flag
  property causal
"""


def test_a_loop_that_chooses_for_ever_ends(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "MOST_CHOICES", 500)
    found = explore(specify(LOOPING).protocols[0], ir.Workload(2, (1, 0), ((1,), (0,))), ["causal"])
    assert not found.complete and "choices" in found.why_incomplete


LINKED = """
protocol counting:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    n: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  periodically: n := n + 1
  property causal

machine steps:
  function height(p: process): nat
  transition causal_send(m): pass
  transition climb(p: process): height(p) := height(p) + 1
  transition deliver(m): pass
  prove no_creation

scope two of counting:
  processes 2
  sends 1, 0

conforms counting to steps in two:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  internal climb
"""


def test_a_link_has_a_limit(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_run, "MOST_INTERNAL", 50)
    content = specify(LINKED)
    (link,), workload = content.links, content.scopes[0].workload
    endless = check_link(link, link.protocol, workload, limit=100)
    assert not endless.complete and "go on for more than 50 steps" in endless.why_incomplete
    silent = check_link(replace(link, internal=()), link.protocol, workload, limit=100)
    assert silent.why_incomplete == "stopped at 100 states" and silent.refuted is None


LIVE = ("pass", "flag := not flag", "flag := true", "kept.clear()")


def drawn(seed: int, growing: str) -> tuple[ir.Protocol, ir.Workload]:
    """A random protocol in which timers count by this statement."""
    draw = random.Random(seed)
    text, workload = random_text(draw), random_workload(draw)
    if seed % 3 == 0:
        text = with_choices(text, seed, LIVE)
    if "  periodically" not in text:
        text = text.replace("  eventually delivered", "  periodically:\n    pass\n  eventually delivered")
    lines = []
    for line in text.splitlines():
        lines.append(line)
        if line.startswith("  periodically"):
            lines.append(f"    {growing}")
        if line.startswith("    kept: queue"):
            lines.append("    n: nat")
    text = "\n".join(lines) + "\n" + "".join(f"  eventually {name}: {said[0]}\n" for name, said in PROMISES.items())
    text += "".join(f"  at rest {name}: {formula}\n" for name, (formula, _) in REST.items())
    text += "  invariant low: forall p: process. n@p < 2\n"
    loaded = load_bytes(Path("random.thence"), text.encode())
    assert loaded.specification is not None, (text, [each.message for each in loaded.diagnostics])
    return loaded.specification.protocols[0], replace(workload, ticks=1 if seed % 2 else None)


NAMES = ("low", "causal", "delivered", *PROMISES, *REST)


def verdicts(found: Exploration, names: Collection[str] = NAMES) -> dict[str, str]:
    known = dict.fromkeys(names, "holds" if found.complete else "unknown")
    return known | dict.fromkeys(found.undecided, "unknown") | dict.fromkeys(found.violations, "refuted")


@pytest.mark.long(share=2)
@pytest.mark.parametrize("growing", ["n := n + 1", "if n < 2: n := n + 1"])
def test_searches_end_and_agree(monkeypatch: pytest.MonkeyPatch, growing: str) -> None:
    """What a search under a small limit decides is what one under a larger limit decides."""
    monkeypatch.setattr(tails, "MOST_STATES", 400)
    tally = Counter[str]()
    for seed in range(24):
        protocol, workload = drawn(seed, growing)
        little, much = (explore(protocol, workload, NAMES, limit=limit) for limit in (60, 400))
        assert little.complete or little.states < 100, seed
        few, many = verdicts(little), verdicts(much)
        for name, verdict in few.items():
            assert verdict in ("unknown", many[name]), (seed, name)
            tally[f"{verdict} then {many[name]}"] += 1
    decided = tally["refuted then refuted"] + tally["holds then holds"]
    assert min(decided, tally["unknown then unknown"]) >= 20, tally
    assert tally["unknown then refuted"] + tally["unknown then holds"] >= 3, tally


def test_an_interrupt_ends_every_phase(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the search of what may follow keeps what was found."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    protocol = specify(ENDLESS).protocols[0]
    monkeypatch.setattr(tails.Tails, "_look", interrupt)
    found = explore(protocol, ir.Workload(2, (1, 0), ((1,), (0,))), ["finished", "low"], limit=200)
    assert found.why_incomplete == "interrupted" and not found.complete
