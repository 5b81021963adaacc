"""Names of a protocol in TLA+, where some of them are words."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from thence.dsl.export.tla.names import Names, field_name
from thence.dsl.export.tla.protocol import export_protocol
from thence.dsl.load import load_bytes
from thence.proofs.engines import explore
from thence.proofs.scopes.scopes import properties_of

from .test_tlc import needs_tlc, states, tlc, workload

WORDS = ("CHOOSE", "AXIOM", "LEMMA", "WF_a", "SF_a", "TRUE", "_", "_1", "IN", "a", "x", "y_", "Len")

TEXT = """
protocol words:
  network reliable, reordering
  record TRUE_: LEMMA: nat; x: bool
  message WF_(AXIOM: message, THEOREM: nat) carries AXIOM
  state:
    CHOOSE: queue of nat
    IN: sliding array of nat
    SF_a: option of TRUE_
    xIN: nat
    LET: map process to queue of nat
  procedure CASE(WF_b: nat):
    LET[self].push(WF_b)
  on causal_send(m):
    CHOOSE.push(1)
    IN.add(xIN)
    SF_a := some(TRUE_(LEMMA: 1, x: false))
    for ref n in LET[m.dst]:
      for ref k in CHOOSE: k := k + n
    for ref UNION in IN: UNION := UNION + 1
    CASE(xIN)
    for ref k in LET[self]: k := k + 1
    send WF_(m, SF_a.value.LEMMA) to m.dst
  on receive WF_(EXCEPT, THEN) from j:
    xIN := xIN + THEN
    for ref k in CHOOSE:
      k := k + 1
      for ref n in IN: n := n + k
    deliver EXCEPT
  invariant few: forall p: process. xIN@p < 3
  property causal

scope two of words:
  processes 2
  sends 2, 1
"""


@pytest.mark.parametrize("prefix", ["", "x", "xx"])
def test_different_names_have_different_fields(prefix: str) -> None:
    names = [f"{before}{word}" for before, word in product(("", prefix, f"{prefix}x"), WORDS)]
    assert len({*map(field_name, names)}) == len({*names})
    for name in {*names}:
        assert field_name(name) not in ("CHOOSE", "AXIOM", "WF_a", "_", "_1", "TRUE")


def test_what_is_a_name_keeps_it() -> None:
    assert [field_name(name) for name in ("a", "x", "y_", "Len", "xLen")] == ["a", "x", "y_", "Len", "xLen"]
    assert [Names().fresh(name) for name in ("WF_a", "_", "CHOOSE")] == ["xWF_a", "x_", "xCHOOSE"]


@needs_tlc
def test_words_of_tla(tmp_path: Path) -> None:
    found = load_bytes(Path("words.thence"), TEXT.encode()).specification
    assert found is not None
    (protocol,) = found.protocols
    own = explore(protocol, workload(found, "two"), properties_of(protocol))
    said = tlc(export_protocol(protocol, workload(found, "two"), "two"), tmp_path, "-continue")
    assert states(said) == (own.states, own.transitions)
