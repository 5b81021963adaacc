"""A type behind several names is that of all of them, and an error about one of the earlier names says so."""

from __future__ import annotations

import pytest

from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.parse import parse

MACHINE = """machine k:
  function turns(p: process): nat
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m)
  transition turn(p: process):
    turns(p) := turns(p) + 1
  invariant told: {formula}
"""

PROTOCOL = """protocol p:
  message MSG(m: message) carries m
  state:
    held: set of nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  invariant told: {formula}
"""

SAID = "its type is the one behind `n`: a type is that of the names before it that have none, too"


@pytest.mark.parametrize(
    ("text", "formula", "code", "told"),
    [
        (MACHINE, "forall c, n: nat. delivered(c) implies turns(src(c)) >= n", "E0301", True),
        (MACHINE, "forall q, n: nat. src(q) != q or n = n", "E0301", True),
        (MACHINE, "forall c, n: nat, q. delivered(c) implies turns(q) >= n", "E0301", True),
        (MACHINE, "forall c: nat, n: nat. delivered(c) implies n >= 0", "E0301", False),
        (MACHINE, "forall c: message, n: nat. delivered(c) implies delivered(n)", "E0301", False),
        (PROTOCOL, "forall p, n: nat. n in held@p", "E0308", True),
        (PROTOCOL, "forall a, n: process. a.src = n", "E0206", True),
        (PROTOCOL, "forall n: process. n.src = n", "E0206", False),
    ],
)
def test_the_note(text: str, formula: str, code: str, told: bool) -> None:
    tree, _ = parse(text.replace("{formula}", formula), "x")
    assert tree is not None
    one = next(each for each in elaborate(tree, "x")[1] if each.code == code)
    assert (SAID in one.notes) is told
