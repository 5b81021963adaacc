"""Sliding arrays and maps, in variables, maps, records, sets and packets: formulas against the interpreter.

The states and the comparison are those of `test_execution`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.proofs.refinement.link_invariants import true_of
from tests.proofs.refinement.test_execution import Drawn, Reader, compared, drawn_text, linked

from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.proofs.prove import is_claimed
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.states import any_state, protocol_facts

HEAD = """
machine anything:
  relation told(p: process, m: message)
  transition causal_send(m):
    forall p: told(p, m) := p = dst(m)
  transition deliver(m):
    require told(dst(m), m)
  transition tell(p: process, m: message):
    require not told(p, m)
    told(p, m) := true
  prove no_creation

protocol drawn:
  network reliable, reordering
  record Out: m: option of message; n: nat; f: bool
  record Pair: p: process; n: nat
  record Kept: s: sliding map of process; n: nat
  message MSG(m: message, n: nat) carries m
  message ARRAY(a: sliding array of Out)
  message NUMBERS(s: sliding map of Pair, q: process)
  state:
    n: nat
    k: nat = 1
    U: sliding array of Out = window(1)
    V: sliding array of Out
    W: sliding array of process = window(2)
    P: sliding map of Pair = window(1)
    S: sliding map of process
    X: map process to sliding map of process
    Y: map process to sliding array of Out
    Z: map process to Kept
    G: set of sliding map of process
    L: option of message
"""

LINK = """
conforms drawn to anything:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  receive MSG(m, x) from j is tell(j, m), when x < U.next or Pair(p: j, n: x) in P
  invariant one: forall p: process. U@p.first < U@p.next implies U@p.peek.m is none or U@p[U@p.first].n = k@p
  invariant two: forall p: process. forall o in U@p. o.n < n@p or o.m is not none and sent(o.m.value)
  invariant three: exists p: process. forall e in P@p. e.p in S@p or e.n < S@p.first
  invariant four: forall p, q: process. p in X@q implies X@q[p].first < X@q[p].next and q in X@q[p]
  invariant five: forall NUMBERS(s, q) from a to b in flight. s.next <= n@b or Pair(p: a, n: n@a) in s or s is empty
  invariant six: exists ARRAY(a) from p to q in flight. a.size > 1 or a.next = n@q
  invariant seven: forall p: process. p in Y@p implies Y@p[p].size = 1 or exists o in Y@p[p]. o.f
  invariant eight: forall p: process. forall e in P@p. (count d in P@p. d.p = e.p) <= 1
  invariant nine: exists p: process. exists g in G@p. g.next = S@p.next and p in g
  invariant ten: forall p: process. p in Z@p implies Z@p[p].s.first = Z@p[p].n or p in W@p
  invariant eleven: exists p: process. U@p = empty or P@p != empty and S@p is not empty
  invariant twelve: exists p: process, m: message. told(p, m) and U@p.first <= n@p
    and n@p < U@p.next and U@p[n@p].m = some(m)
  invariant thirteen: forall p: process. P@p is empty or P@p[P@p.first].n < k@p or P@p[P@p.first].p in S@p
  invariant fourteen: exists p: process. p in X@p implies X@p[p] is empty or X@p[p][X@p[p].first] = p
"""

CONDITIONS = (
    "U is empty", "P is empty", "S is not empty", "U.size > 1", "W.size = 2", "n < U.first", "P.first < n",
    "self in S", "Pair(p: self, n: n) in P", "self in W", "U.next = n", "n < U.size and U.peek.m is not none",
    "U.first <= n and n < U.next and U[n].f", "exists o in U. o.n = n", "forall e in P. e.n > 0", "self in X",
    "X[self].first = n", "Y[self] is empty", "Y[self].size = 1", "self in Z and Z[self].s.next > n",
    "G is empty", "P.next = S.next", "exists p in X. p in X[p]", "P = empty", "V = empty", "U != empty",
    "S.first = k", "X[self] is not empty",
)  # fmt: skip
STEPS = (
    "U.add(Out(m: none, n: n, f: true))", "U.remove()", "if U.size > 0: U.remove()", "U.clear()", "U[n].m := none",
    "U[U.first].n := k", "if U is not empty: n := U.peek.n; U.remove()", "V := U", "U := V", "U := window(n)",
    "W.add(self)", "W[k] := self", "if W is not empty: W.remove()", "P.add(Pair(p: self, n: n))",
    "P.remove(Pair(p: self, n: n))", "S.add(self)", "S.remove(self)", "P.clear()", "S.clear()", "P := empty",
    "n := P.first", "n := S.next", "k := U.next", "n := U.size", "X[self].add(self)", "X[self].remove(self)",
    "X[self] := S", "S := X[self]", "X[self].clear()", "X.remove(self)", "Y[self] := U", "Y[self].clear()",
    "Y[self].add(Out(m: L, n: k, f: false))", "if Y[self].size > 0: Y[self].remove()", "Y[self][n].f := true",
    "Z[self] := Kept(s: S, n: n)", "Z[self].s.add(self)", "if self in Z: Z[self].s.remove(self)",
    "if self in Z: Z[self].s := X[self]", "G.add(S)", "G.clear()", "n := n + 1", "k := 2",
    "for o in U: if o.m is not none: send MSG(o.m.value, o.n) to self", "for e in P: send MSG(L.value, e.n) to e.p",
    "for p in S: send NUMBERS(P, p) to p", "for p in W: if p != self: send ARRAY(U) to p",
    "send ARRAY(Y[self]) to self",
    "for o in U: n := max(n, o.n)", "for o in Y[self]: if o.f: U.add(o)",
    "while U.size > 0 and U.peek.m is none: U.remove()",
    "while P.first < n and self in S: P.add(Pair(p: self, n: k)); S.remove(self)",
    "for p in process: send NUMBERS(P, p) to p", "if U.first < U.next: let head = U.peek; L := head.m",
)  # fmt: skip
WITH_MESSAGE = (
    "U.add(Out(m: some(m), n: n, f: false))", "U[n].m := some(m)", "P.add(Pair(p: m.dst, n: n))", "L := some(m)",
    "P.remove(Pair(p: m.src, n: n))", "S.add(m.src)", "S.remove(m.dst)", "X[m.src].add(m.dst)",
    "X[m.src].remove(m.dst)",
    "Z[m.dst] := Kept(s: S, n: n)", "W.add(m.dst)", "send MSG(m, U.next) to m.dst", "send NUMBERS(P, m.src) to m.dst",
    "deliver m", "Y[m.src].add(Out(m: some(m), n: n, f: true))", "send ARRAY(U) to m.dst",
)  # fmt: skip
HANDLERS = {
    "on causal_send(m):": WITH_MESSAGE,
    "on receive MSG(m, x) from j:": (
        *WITH_MESSAGE, "deliver m", "deliver m",
        "P.remove(Pair(p: j, n: x))", "U[x].m := none", "if x < U.first: return", "S.remove(j)",
        "if x = U.first: U.remove()",
    ),
    "on receive ARRAY(a) from j:": (
        "U := a", "Y[j] := a", "for o in a: U.add(o)", "if a.size > 0: n := a.peek.n", "send ARRAY(a) to j",
        "n := a.next", "V := a",
    ),
    "on receive NUMBERS(s, q) from j:": (
        "P := s", "for e in s: send MSG(L.value, e.n) to e.p", "n := s.first", "P.remove(Pair(p: q, n: n))",
        "S.remove(q)", "X[q].remove(j)", "X[j].add(q)", "for e in s: P.remove(e)",
    ),
    "periodically:": (),
}  # fmt: skip


def drawn_link(seed: int) -> ir.Link:
    handlers = {head: (*more, *more, *STEPS) for head, more in HANDLERS.items()}
    return linked(drawn_text(Random(seed), HEAD, handlers, CONDITIONS) + LINK)


@pytest.mark.long(but=("range(0, 8)",))
@pytest.mark.parametrize("seeds", [range(start, start + 8) for start in range(0, 32, 8)], ids=str)
def test_random_protocols(seeds: range) -> None:
    happened: Counter[str] = Counter()
    for seed in seeds:
        happened += compared(drawn_link(seed), range(12), rounds=3)
    assert happened["alike"] > 100
    assert happened["fault"]
    assert happened["refused"]
    assert happened["longer"] < happened["alike"] / 10


def test_algorithm_1() -> None:
    """Two rounds of each loop. The invariants of the link have no value in most drawn states, and are not compared."""
    specification = load("hybrid_basic").specification
    assert specification is not None
    link = next(each for each in specification.links if is_claimed(each))
    invariants = tuple(each for each in link.invariants if each.name in ("clock", "numbers", "posted", "oldest_first"))
    happened = compared(replace(link, invariants=invariants), range(60), rounds=2)
    assert happened["alike"] > 40
    assert happened["fault"]
    assert happened["refused"]
    assert not happened["unsupported"]


def test_the_least_number_that_is_left() -> None:
    """A sliding map that loses an element, and has others before and behind it."""
    lines = ["  on causal_send(m): deliver m", "  on receive MSG(m, x) from j:", "    S.remove(m.src)"]
    text = "\n".join([HEAD.rstrip(), *lines, "    P.remove(Pair(p: j, n: x))", "    n := P.first"]) + "\n" + LINK
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None
    happened = compared(loaded.specification.links[0], range(150))
    assert happened["alike"] > 80


def test_invariants() -> None:
    """Their formulas have the interpreter's values, and what is true by definition is true of every drawn state."""
    link = drawn_link(0)
    state = any_state(link)
    formulas = {one.name: Evaluation(link.protocol, state, prefix="i").formula(one.body) for one in link.invariants}
    happened: Counter[tuple[str, bool]] = Counter()
    for number in range(80):
        drawn = Drawn(link, 2, Random(number))
        reader = Reader(drawn, drawn.structure, {})
        assert all(reader.truth(fact.body) for fact in protocol_facts(link.protocol))
        true = true_of(link, drawn.locals, drawn.packets, drawn.structure, drawn.messages)
        for name, formula in formulas.items():
            assert reader.truth(formula) == true[name], name
            happened[name, true[name]] += 1
    assert len(happened) >= 2 * len(formulas) - 2


def test_an_element_of_a_sliding_map_by_its_number() -> None:
    """An invariant that names a number without an element has no value, and its formula is false."""
    content = f"{HEAD}  on causal_send(m): deliver m\n" + LINK.partition("  invariant ")[0]
    content += "  invariant named: forall p: process. P@p[n@p].n >= k@p\n"
    loaded = load_bytes(Path("drawn.thence"), content.encode())
    assert loaded.specification is not None
    (link,) = loaded.specification.links
    formula = Evaluation(link.protocol, any_state(link), prefix="i").formula(link.invariants[0].body)
    happened: Counter[str] = Counter()
    for number in range(300):
        drawn = Drawn(link, 2, Random(number))
        expected = true_of(link, drawn.locals, drawn.packets, drawn.structure, drawn.messages)["named"]
        happened[str(expected)] += 1
        assert Reader(drawn, drawn.structure, {}).truth(formula) == expected
    assert len(happened) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("deliver m\n", "deliver m\n    n := P[n].n\n"),
        ("deliver m\n", "deliver m\n  invariant named: forall p: process. P@p[0].n = 0\n"),
        ("deliver m is deliver(m)\n", "deliver m is deliver(m)\n  receive MSG(m, x) from j is tell(P[x].p, m)\n"),
    ],
)
def test_only_invariants_of_links_name_elements_of_sliding_maps(old: str, new: str) -> None:
    content = f"{HEAD}  on causal_send(m):\n    deliver m\n" + LINK.partition("  receive ")[0]
    assert load_bytes(Path("drawn.thence"), content.encode()).specification is not None
    found = load_bytes(Path("drawn.thence"), content.replace(old, new, 1).encode()).diagnostics
    assert "E0306" in [each.code for each in found if each.severity == "error"]
