"""What schedulers reached, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.cli.reaching import reach_line, seen_and_missing
from thence.conformance.conform.outcomes import Reach
from thence.conformance.harness.coverage import Features, ProtocolCoverage
from thence.dsl.load import load_bytes

TEXT = """
protocol p:
  network reliable, reordering
  message A()
  state:
    n: nat
  on ACT
  on receive A() from j: n := n + 1
  reachable two: exists q: process. n@q = 2
"""


@pytest.mark.parametrize(
    ("act", "said", "kind"),
    [
        ("go(): send A() to self", "0 of 1 `reachable`", "reachable two"),
        ("causal_send(m): send A() to m.dst", "0 of 8 scenarios", "reachable two"),
    ],
)
def test_reachable_statements_are_called_so(act: str, said: str, kind: str) -> None:
    loaded = load_bytes(Path("p.thence"), TEXT.replace("ACT", act).encode())
    assert loaded.specification is not None, loaded.diagnostics
    whole = Reach("all", ProtocolCoverage(Features.of(loaded.specification.protocols[0])))
    assert said in reach_line(whole)
    assert f"not reached: {kind}" in seen_and_missing(whole)
