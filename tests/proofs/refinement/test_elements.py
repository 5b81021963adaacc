"""Loops that change elements in place, and counts of packets and elements: formulas against the interpreter.

The states and the comparison are those of `test_execution`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.proofs.refinement.link_invariants import true_of
from tests.proofs.refinement.test_execution import Drawn, Reader, compared, drawn_text, linked

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.refinement.elementwise import changes_elements
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.states import any_state

HEAD = """
machine anything:
  function steps(p: process): nat
  relation told(p: process, q: process)
  transition causal_send(m):
    require told(src(m), dst(m))
  transition deliver(m): pass
  transition advance(p: process):
    steps(p) := steps(p) + 1
  transition tell(p: process, q: process):
    require not told(p, q)
    told(p, q) := true
  prove at_most_once

protocol drawn:
  network reliable, reordering
  record Held: m: message; s: set of process; q: queue of nat
  message MSG(m: message, s: set of process) carries m
  message ACK(n: nat)
  message YCT()
  state:
    n: nat
    S: set of process
    B: queue of set of process
    E: map process to queue of set of process
    N: queue of nat
    V: map process to nat
    H: queue of Held
    D: map process to Held
    L: queue of option of process
    Q: queue of message
"""

LINK = """
conforms drawn to anything:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  send YCT() to j is tell(self, j)
  receive ACK(x) from j is advance(self)
  invariant one: forall p: process. (count YCT() from a to b in flight. b = p) = steps(p)
  invariant two: forall p, q: process. (count YCT() from a to b in flight. a = p and b = q) + n@p <= V@p[q] + steps(q)
  invariant three: forall p: process. forall s in B@p. p in s implies (count x ahead. true) < n@p
  invariant four: forall p, q: process. forall s in E@p[q]. q in s or V@p[q] = n@p + (count x ahead. true)
  invariant five: forall p: process. (count q in S@p. V@p[q] > 0) >= steps(p)
  invariant six: exists p: process. (count MSG(m, s) from a to b in flight. p in s) + (count q in S@p. q != p) > 2
  invariant seven: forall p: process. forall h in H@p. h.q.size <= n@p or (count x ahead. x.m = h.m) = 1
  invariant eight: forall m: message. (count MSG(x, s) in flight. x = m) < 2 + n@(src(m))
  invariant nine: forall p: process. forall s in B@p, t ahead. (count x ahead. true) = 0 or s = t
"""

CONDITIONS = (
    "n > 1", "self in S", "B is empty", "B is not empty and self in B.first", "n in N", "V[self] > n", "E is empty",
    "exists s in B. s is empty", "forall x in N. x > 0", "E[self] is not empty and E[self].first is empty",
    "H is not empty and H.first.s = S", "self in D", "(count x in S. V[x] > 0) > n", "(count x in S. true) < n",
    "L is not empty and L.first is none", "S in B",
)  # fmt: skip
STEPS = (
    "for ref x in B: x.remove(self)", "for ref x in E[self]: x.remove(self)", "for ref x in B: x.add(self)",
    "for p in process: for ref x in E[self]: x.remove(p)", "for ref x in N: x := x + n", "for ref x in N: x := x - 1",
    "for ref x in B: x := S", "for ref x in V: x := x + 1", "for ref x in V: x := 0",
    "for ref x in V: if x > 1: x := n",
    "for ref h in H: h.s.add(self)", "for ref h in H: if n in h.q: h.s := S else: h.q.push(n)",
    "for ref h in H: for ref i in h.q: i := i + n", "for ref h in H: h.q.pop()", "for ref h in D: h.q.push(n)",
    "for ref h in H: h.s := empty", "for ref h in D: if self in h.s: h.s.remove(self) else: h.q.clear()",
    "for ref q in E: q.push(S)", "for ref q in E: q.clear()", "for ref q in E: for ref x in q: x.remove(self)",
    "for ref x in L: x := some(self)", "for ref x in L: if x is none: x := some(self) else: x := none",
    "for ref x in B: if self in x: x.clear()", "for ref x in N: if x = 0: x := max(n, 1) else: x := 0",
    "B.push(S)", "E[self].push(S)", "N.push(n)", "B.pop()", "if B is not empty: S := B.first", "S.add(self)",
    "S.remove(self)", "n := n + 1", "n := count x in S. V[x] > 0", "V[self] := n", "if N is not empty: n := N.first",
    "if B is not empty: B.push(B.first); B.pop()", "send YCT() to self", "send ACK(n) to self", "D.remove(self)",
    "for p in S: send YCT() to p", "for p in process: send ACK(V[p]) to p", "for ref x in B: pass",
    "if true: let t = S; for ref x in B: x := t",
    "for ref h in H: let old = h.q.size; h.q.push(old); h.q.push(n + old)",
    "while E[self] is not empty and E[self].first is empty: E[self].pop()",
    "B.push({self}); for ref x in B: x.remove(self); if exists y in B. self in y: n := n + 1",
    "N.push(7); for ref x in N: x := n; if 7 in N: n := 0",
)  # fmt: skip
WITH_MESSAGE = (
    "H.push(Held(m: m, s: S, q: N))", "D[self] := Held(m: m, s: S, q: N)", "send MSG(m, S) to m.dst", "Q.push(m)",
    "E[m.dst].push(S)", "E[m.dst].push(S); for ref x in E[self]: x.remove(self)", "for ref x in E[m.src]: x.add(m.dst)",
    "for ref x in Q: x := m", "for ref h in H: if h.m = m: h.s.clear()", "for ref h in H: h.m := m", "deliver m",
    "for ref h in D: h.m := m; h.s.add(m.src)",
)  # fmt: skip
HANDLERS = {
    "on causal_send(m):": WITH_MESSAGE,
    "on receive MSG(m, s) from j:": (
        "B.push(s); for ref x in B: x.remove(j)", "for ref x in E[j]: x.remove(j)", "for ref x in B: x := s",
        "for ref h in H: if j in h.s: h.s := s", *WITH_MESSAGE,
    ),
    "on receive ACK(a) from j:": (
        "for ref y in B: y.remove(j)", "for ref y in N: if y = a: y := n", "for ref y in E[j]: if j in y: y.remove(j)",
        "for r in process: for ref y in E[self]: y.remove(r)", "N.push(a); for ref y in N: y := y + a",
    ),
    "on receive YCT() from j:": ("S.remove(j)", "for ref y in V: y := y + n", "for ref h in H: h.q.push(V[j])"),
}  # fmt: skip


def drawn_link(seed: int) -> ir.Link:
    handlers = {head: (*more, *more, *STEPS) for head, more in HANDLERS.items()}
    return linked(drawn_text(Random(seed), HEAD, handlers, CONDITIONS) + LINK)


@pytest.mark.long(but=("range(0, 8)",))
@pytest.mark.parametrize("seeds", [range(start, start + 8) for start in range(0, 40, 8)], ids=str)
def test_random_protocols(seeds: range) -> None:
    happened: Counter[str] = Counter()
    for seed in seeds:
        happened += compared(drawn_link(seed), range(12))
    assert happened["alike"] > 60
    assert happened["fault"] or happened["refused"]
    assert happened["longer"] < happened["alike"] / 10


def test_invariants() -> None:
    """Counts as numbers: of packets, of elements of sets, of the elements ahead of one."""
    link = drawn_link(0)
    state = any_state(link)
    formulas = {one.name: Evaluation(link.protocol, state, prefix="i").formula(one.body) for one in link.invariants}
    happened: Counter[tuple[str, bool]] = Counter()
    for number in range(60):
        drawn = Drawn(link, 2, Random(number))
        reader = Reader(drawn, drawn.structure, {})
        true = true_of(link, drawn.locals, drawn.packets, drawn.structure, drawn.messages)
        for name, formula in formulas.items():
            assert reader.truth(formula) == true[name], name
            happened[name, true[name]] += 1
    assert len(happened) >= 2 * len(formulas) - 2, happened


@pytest.mark.parametrize(
    ("loop", "by_itself"),
    [
        ("for ref x in B: x.remove(self)", True),
        ("for ref x in E[self]: if self in x: x.clear()", True),
        ("for ref h in H: for ref i in h.q: i := i + n", True),
        ("for ref h in D: h.q.push(n)", True),
        ("for ref x in N: x := x + N.first", False),
        ("for ref x in B: x := B.first", False),
        ("for ref x in E[self]: x := if E[self] is empty then S else empty", False),
        ("for ref x in B: n := n + 1", False),
        ("for ref x in B: S.add(self)", False),
        ("for ref x in N: send ACK(x) to self", False),
        ("for ref h in H: h.q.remove(n)", False),
        ("for ref h in H: for ref x in N: x := h.q.size", False),
        ("for ref h in H: for ref i in h.q: i := h.q.size", False),
        ("for ref x in N: while x > 0: x := x - 1", False),
    ],
)
def test_which_loops_change_elements_by_themselves(loop: str, by_itself: bool) -> None:
    """A round that reads another element, or changes anything else, depends on the order of the rounds."""
    loaded = load_bytes(Path("drawn.thence"), f"{HEAD}  on causal_send(m):\n    {loop}\n".encode())
    assert loaded.specification is not None, [(one.message, one.span.line) for one in loaded.diagnostics]
    ((handler, *_), *_) = (protocol.handlers for protocol in loaded.specification.protocols)
    (statement,) = handler.body
    assert isinstance(statement, ir.For)
    assert changes_elements(statement) is by_itself
