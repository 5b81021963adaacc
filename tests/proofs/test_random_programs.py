"""Drawn protocols whose applications follow drawn programs, with `when`, choices and timers, and sends inside
deliveries: the engines agree.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.proofs.random_choices import with_choices
from tests.proofs.test_random_protocols import CONDITIONS, JUDGED, Draw, Specify, Tally, compare, keep_small

from thence.dsl import ir
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import asked_of
from thence.proofs.closed.check import untried
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.proofs.scopes.scopes import explore_scope


def drawn_program(draw: Random, process: int, count: int) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """What an application does; None: as it likes."""
    if draw.random() < 0.2:
        return None
    others = [other for other in range(count) if other != process]
    steps: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(draw.randint(0, 3)):
        if draw.random() < 0.5:
            steps.append(("send", (draw.choice(others),)))
        else:
            steps.append(("receive", draw.choice(((), (draw.choice(others),)))))
    return tuple(steps)


def drawn(specify: Specify, seed: int) -> tuple[ir.Protocol, ir.Workload]:
    """A protocol for single destinations, and programs."""
    more = Random(~seed)
    timed = seed >= 40 and more.random() < 0.4  # these take long
    draw = next(each for each in (Draw(seed + 10_000 * step) for step in range(1_000)) if suits(each, timed=timed))
    text = draw.text()
    if more.random() < 0.3:
        text = text.replace("on causal_send(m):", f"on causal_send(m) when {more.choice(CONDITIONS)}:", 1)
    if more.random() < 0.3:
        text = with_choices(text, seed)
    (protocol,) = specify(text).protocols
    workload = draw.workload(protocol)
    programs = tuple(drawn_program(more, process, workload.processes) for process in range(workload.processes))
    if not any(programs):
        programs = ((("send", (1,)), ("receive", ())), *programs[1:])
    sends = tuple(
        workload.sends[process] if program is None else sum(verb == "send" for verb, _ in program)
        for process, program in enumerate(programs)
    )
    everybody = range(workload.processes)
    others = tuple(tuple(other for other in everybody if other != process) for process in everybody)
    if timed and more.random() < 0.6:  # timers fire when nothing can arrive, and at no other moment
        workload = replace(workload, ticks=None, timers=())
    sending = ir.Finite(programs=programs, reactive=more.random() < 0.3)
    programmed = replace(workload, sends=sends, destinations=others, sending=sending)
    return protocol, programmed


def suits(draw: Draw, *, timed: bool) -> bool:
    text = Draw(draw.seed).text()
    return "delivery unicast" in text and ("periodically" in text) == timed


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 120, 5))
def test_every_engine_follows_programs(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    keep_small(monkeypatch)
    tally = Tally()
    for seed in range(start, start + 5):
        compare(*drawn(specify, seed), tally, most=800, judged=(*JUDGED, "completes"))
    assert tally.compared and tally.violating


POLITE = """
protocol polite:
  message MSG(m: message) carries m
  state:
    waiting: bool
  on causal_send(m):
    waiting := true
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    if not waiting: deliver m
  property causal

scope each of polite:
  processes 2
  program 0: send to 1; receive
  program 1: {second}
"""


def test_what_no_run_does_is_known_under_programs(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process could deliver by its state, and its program does not let it: no run delivers."""
    keep_small(monkeypatch)
    idle = set()
    for seed in range(24):
        protocol, workload = drawn(specify, seed)
        found = explore(protocol, workload, ("causal",), limit=400)
        if found.complete and not found.violations:
            runs = untried(system_of(asked_of(protocol, ("causal",)), workload), ("causal",))
            assert ("delivers" in found.never) == bool(runs)
            idle.add(bool(runs))
    assert idle == {True, False}


@pytest.mark.parametrize(("second", "verdict"), [("send to 0; receive", "unknown"), ("receive; send to 0", "holds")])
def test_nothing_holds_of_deliveries_where_each_waits_for_the_other(
    specify: Specify, second: str, verdict: str
) -> None:
    content = specify(POLITE.format(second=second))
    found = {
        result.name: result.verdict.value
        for result in explore_scope(content.protocols[0], "each", content.scopes[0].workload)
    }
    assert found["each: causal"] == verdict


PAIR = """
protocol pair:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    held: queue of message
    n: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    held.push(m)
    if held.size = 2: give()
  procedure give():
    while held is not empty:
      deliver held.first
      held.pop()
  periodically: if n < 1: n := n + 1
  invariant idle: forall p: process. n@p = 0

scope s of pair:
  processes 2
  program 0: send to 1; send to 1
  program 1: receive; send to 0; receive
  reactive sends
"""


def test_timers_fire_where_packets_only_arrive_with_an_answer(specify: Specify) -> None:
    """The application may send between two deliveries of a step; as long as it does not, nothing arrives."""
    content = specify(PAIR)
    (protocol,), (scope,) = content.protocols, content.scopes
    found = explore(protocol, scope.workload, ["fault", "completes", "idle"], method=Method("both"))
    assert found.complete and found.violations.keys() == {"completes", "idle"}
