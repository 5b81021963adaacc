"""Limits hold for all that a search does: whoever explores, memory and states end it with what was covered."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.explore import memory_limit
from thence.proofs.explore.exploration import Engine, Resources
from thence.proofs.scopes.scopes import Options, explore_scope
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

EATS = """
protocol eats:
  network reliable, reordering
  message MSG(m: message) carries m
  message GROW(n: nat)
  state:
    Q: queue of nat
    R: queue of process
  on causal_send(m):
    send GROW(0) to m.dst
    send MSG(m) to m.dst
  on receive GROW(n) from j:
    Q.push(n)
    send GROW(n + 1) to j
  on receive MSG(m) from j:
    R.push(j)
    deliver m
  property at_most_once
  eventually delivered under fair receive

scope s of eats:
  processes 2
  sends 2, 1
"""
FEW = 24 * 2**20
SENDING: dict[str, ir.Sending] = {"for ever": ir.ForEver((1, 1)), "any number": ir.AnyNumber()}


def test_it_is_an_error_once() -> None:
    kept = []
    with memory_limit.memory_limit(2**20), pytest.raises(MemoryError):
        while True:
            kept.append(bytearray(2**20))
    with memory_limit.memory_limit(2**30):
        kept.append(bytearray(2**20))


class Deaf:
    """Takes memory until there is an error, which Python throws away, since it is in a `__del__`."""

    def __init__(self, kept: list[bytearray]) -> None:
        self._kept = kept

    def __del__(self) -> None:
        grow(self._kept)


def grow(kept: list[bytearray]) -> None:
    for _ in range(400):
        kept.append(bytearray(2**20))
        time.sleep(0.002)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_error_that_is_thrown_away_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limit, "ALLOWANCE", 2**24)
    kept: list[bytearray] = []
    with memory_limit.memory_limit(2**20):
        Deaf(kept)
        thrown_away = len(kept)
        with pytest.raises(MemoryError):
            grow(kept)
    assert 10 < thrown_away < 400


@pytest.mark.long(but=("interpreted-",))
@pytest.mark.parametrize(("engine", "sending"), [("interpreted", ""), ("native", ""), ("auto", "for ever")])
def test_memory_ends_every_search(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, engine: Engine, sending: str
) -> None:
    monkeypatch.setattr(memory_limit, "ALLOWANCE", FEW if engine != "native" else 8 * FEW)
    specification = specify(EATS)
    (protocol,), (scope,) = specification.protocols, specification.scopes
    workload = replace(scope.workload, sending=SENDING.get(sending, scope.workload.sending))
    judged = ["delivered"] if sending == "for ever" else ["at_most_once"]
    options = Options(engine=engine, resources=Resources(memory=FEW, threads=1))
    (result,) = explore_scope(protocol, "s", workload, (), judged, options)
    assert result.verdict is Verdict.UNKNOWN
    assert "memory" in result.facts["unknown"] or "used up" in result.facts["unknown"]
    assert result.facts["states"] > 10


@pytest.mark.parametrize("sending", ["", *SENDING])
def test_a_number_of_states_ends_every_search(specify: Specify, sending: str) -> None:
    specification = specify(EATS)
    (protocol,), (scope,) = specification.protocols, specification.scopes
    workload = replace(scope.workload, sending=SENDING.get(sending, scope.workload.sending))
    judged = ["delivered"] if sending == "for ever" else ["at_most_once"]
    (result,) = explore_scope(protocol, "s", workload, (), judged, Options(limit=60))
    assert result.verdict is Verdict.UNKNOWN
    assert 30 < result.facts["states"] < 200


def test_a_packet_that_bounces(specify: Specify) -> None:
    """Reductions that looked for orders of steps never ended here."""
    specification = specify((Path(__file__).parents[1] / "explored" / "bounce.thence").read_text(encoding="utf-8"))
    (protocol,), (scope,) = specification.protocols, specification.scopes
    for reductions in ((), ("auto",)):
        found = explore_scope(protocol, "small", scope.workload, (), (), Options(limit=70_000, reductions=reductions))
        assert {result.verdict for result in found} == {Verdict.HOLDS}
        assert found[0].facts["states"] == (30_880 if reductions else 61_724)
