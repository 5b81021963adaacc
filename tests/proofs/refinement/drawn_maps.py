"""Drawn links about maps of all kinds, timers with names, and inputs with values, for `test_kept_invariants`.

Keys of maps come and go, and values are records, options, queues and sets; packets say sets; what an application says
may be refused; which process is the boss, and what is true at first, is not the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.proofs.refinement.test_execution import written

HEAD = """
machine anything:
  delivery off
  relation told(p: process, q: process)
  relation heard(p: process)
  function seen(p: process): nat
  transition tell(p: process, q: process):
    told(p, q) := true
  transition hear(p: process):
    heard(p) := true
  transition add(p: process, k: nat):
    seen(p) := seen(p) + k
  transition nothing(p: process): pass
  invariant all: true

protocol drawn:
  network NETWORK
  role boss: process = 0
  constant top: nat = 1
  record Pair: n: nat; who: process
  record Deep: s: set of process; k: nat
  message A(x: nat, w: process)
  message B(s: set of process)
  message TOKEN()
  state:
    n: nat
    b: bool = (self = boss)
    k: nat = if self = boss then top else 0
    L: option of nat
    Z: option of Pair
    Q: queue of Pair
    H: map process to Pair
    G: map nat to process
    Y: map process to queue of nat
    P: map process to bool
    O: map process to option of nat
    S: set of process = {self}
    E: sliding array of Pair = window(1)
    C: queue of process
    J: map process to Deep
  procedure bump(by: nat):
    if n + by > 2: return
    for q in process:
      if b and q = self:
        n := n + by
        return
    k := n
  procedure drop(w: process):
    for x in Q:
      if x.who = w:
        Q.remove(x)
        return
    b := false
  procedure pass_on(w: process):
    if not b: return
    b := false
    send TOKEN() to w
"""
"""The machine refuses nothing, so that all depends on the invariants."""

STEPS = (
    "b := false", "n := n + 1", "if n > 0: n := n - 1", "S.add(boss)", "S.remove(self)", "S.clear()", "L := some(n)",
    "L := none", "Z := some(Pair(n: n, who: boss))", "if Z is not none: n := Z.value.n", "Z := none",
    "Q.push(Pair(n: n, who: self))", "Q.push(Pair(n: 0, who: boss))", "if Q is not empty: n := Q.first.n; Q.pop()",
    "for x in Q: if x.n > 0: Q.remove(x)", "for x in Q: if x.who = self: Q.remove(x); k := x.n; return",
    "for x in Q: if x.n > k: k := x.n", "while Q is not empty: send A(Q.first.n, Q.first.who) to boss; Q.pop()",
    "for ref x in Q: x.n := 0", "for ref x in Q: if x.who = self: x.n := k", "if Q is not empty: Q.remove(Q.first)",
    "H[self] := Pair(n: n, who: self)", "H[boss] := Pair(n: k, who: self)", "H.remove(self)",
    "if self in H: H[self].n := 0", "if boss in H: k := H[boss].n", "for p in H: if H[p].n > 0: H.remove(p)",
    "for p in H: n := H[p].n", "for ref x in H: x.n := 1", "for p in H: if p != self: S.add(H[p].who)", "G[n] := self",
    "G[0] := boss", "if n in G: send TOKEN() to G[n]", "G.remove(n)", "G.clear()", "for i in G: if i > 0: G.remove(i)",
    "for i in G: S.add(G[i])", "Y[self].push(n)", "Y[boss].push(1)",
    "if Y[self] is not empty: n := Y[self].first; Y[self].pop()", "for p in Y: Y[p].push(0)",
    "for p in Y: for i in Y[p]: if i > 0: Y[p].remove(i)", "Y.remove(self)", "for ref y in Y: y.push(n)",
    "for ref y in Y: y.clear()", "P[self] := true", "P[boss] := not P[boss]", "for p in process: P[p] := p in S",
    "for p in P: P[p] := false", "for ref y in P: y := false", "for p in P: if p != self: send TOKEN() to p",
    "for p in process: if P[p]: P[p] := false; n := n + 1", "O[self] := some(n)", "O[boss] := none",
    "for p in process: O[p] := if p in S then some(k) else O[p]", "for ref y in O: y := some(0)",
    "E.add(Pair(n: n, who: self))", "E.add(Pair(n: 0, who: boss))", "if E is not empty: k := E.peek.n; E.remove()",
    "if E is not empty: E[E.first].n := 0", "if E is not empty: E[E.first] := Pair(n: 1, who: boss)",
    "while E is not empty and E.peek.n > 0: E.remove()", "for x in E: if x.n > 0: send A(x.n, x.who) to x.who",
    "for x in E: n := x.n", "E.clear()", "C.push(self)", "C.push(boss)",
    "if C is not empty: send TOKEN() to C.first; C.pop()", "C.remove(self)", "for q in C: if q != self: C.remove(q)",
    "for q in C: send B(S) to q", "for q in C: if q in S: pass_on(q); return",
    "for q in C: if q in S: C.remove(q); send TOKEN() to q", "for q in S: C.push(q)",
    "while C is not empty: S.add(C.first); C.pop()", "J[self].s.add(boss)", "J[boss].k := n",
    "for p in J: J[p].k := 0", "for ref x in J: x.s.clear()", "for ref x in J: x.k := x.k + 1",
    "J[self] := Deep(s: S, k: k)", "for p in J: if self in J[p].s: J.remove(p)",
    "for p in J: for q in J[p].s: S.add(q)", "bump(1)", "bump(n)", "drop(self)", "drop(boss)", "pass_on(boss)",
    "pass_on(self)", "for p in process: if p < self: send A(n, p) to p",
    "for p in process: if self < p: S.add(p); return", "for p in process: send B(S) to p",
    "for p in S: send A(k, p) to p", "for p in process: if p != self and b: send TOKEN() to p; b := false; return",
    "for p in process: if p != self and P[p]: pass_on(p); return", "for p in process: if p != self: pass_on(p)",
    "for p in S: if n = 0: n := 1 else: return", "if b: n := 0; return", "if n > k: return else: k := n",
    "if k = 0: return", "var few = n; for p in S: few := few + 1; if few > 1: k := 0",
    "var many = 0; for p in process: if p in S: many := many + 1; n := many",
    "var any = false; for x in Q: if x.n > 0: any := true; b := any",
    "let those = S; S.clear(); for p in those: send TOKEN() to p",
    "let these = Q; Q.clear(); for x in these: S.add(x.who)", "n := count p in S. P[p]",
    "k := count p: process. p in S", "n := min(n, k)", "n := max(n, top)",
    "b := exists x in Q. x.who = self and x.n = n", "b := forall p in S. p in H",
    "b := (count p: process. P[p]) <= 1", "b := exists i in G. G[i] = self", "L := if b then some(k) else L",
    "if L is not none: n := L.value", "if O[self] is not none: n := O[self].value",
)  # fmt: skip

CONDITIONS = (
    "b", "not b", "n > 0", "n = 0", "k > 0", "self = boss", "boss in S", "Q is empty", "L is none", "P[self]",
    "self in H", "n in G", "C is empty", "E is empty",
)  # fmt: skip

OF_INPUT = (
    "G[a] := w", "n := a", "H[w] := Pair(n: a, who: w)", "send A(a, w) to w", "pass_on(w)", "C.push(w)",
    "S.add(w)", "Q.push(Pair(n: a, who: w))", "send TOKEN() to w", "Y[w].push(a)", "O[w] := some(a)",
    "E.add(Pair(n: a, who: w))",
)  # fmt: skip

OF_A = (
    "n := v", "k := max(k, v)", "Q.push(Pair(n: v, who: w))", "H[j] := Pair(n: v, who: w)", "G[v] := w",
    "Y[j].push(v)", "O[w] := some(v)", "E.add(Pair(n: v, who: j))", "C.push(w)", "S.add(w)",
    "if w != self: send A(v, w) to w", "P[w] := true", "if v > 0: send A(v - 1, w) to j", "drop(w)",
)  # fmt: skip

OF_B = (
    "S := s", "for p in s: S.add(p)", "for p in s: P[p] := true", "J[j].s := s", "if self in s: send TOKEN() to j",
    "for p in s: if p != self: send TOKEN() to p", "b := j in s", "for p in s: if p in S: S.remove(p)",
    "for p in s: if p = self: return",
)  # fmt: skip

OF_TOKEN = (
    "b := true", "pass_on(j)", "C.push(j)", "n := n + 1", "P[j] := true", "S.add(j)", "if j != self: send TOKEN() to j",
    "if b: send TOKEN() to j; return",
)  # fmt: skip

GUARDS = (
    "", "", " when b", " when n = 0", " when w != self", " when self < w", " when a > 0 and self = boss",
)  # fmt: skip

HANDLERS = {
    "on go(a: nat, w: process)": OF_INPUT,
    "on receive A(v, w) from j": OF_A,
    "on receive B(s) from j": OF_B,
    "on receive TOKEN() from j": OF_TOKEN,
    "periodically one": ("pass_on(boss)", "send B(S) to boss"),
    "periodically two": (),
}
"""What is more often in a handler than elsewhere."""

CLAUSES = {
    "go(i, w)": ("nothing(self)", "add(self, i)", "add(w, 1)", "hear(w), when b", "hear(self)"),
    "send TOKEN() to j": ("tell(self, j)", "tell(j, self), when b", "hear(j)", "hear(self)"),
    "receive A(v, w) from j": ("add(self, v)", "tell(j, w), when v > 0", "hear(self)", "add(j, v), when n = 0"),
    "periodically one": ("add(self, 1)", "hear(self), when b", "hear(self)"),
}

INVARIANTS = (
    "forall p: process. n@p = 0", "forall p: process. n@p <= 1", "forall p: process. n@p <= k@p",
    "forall p: process. k@p <= 1", "forall p: process. k@p = 0 or p = boss", "forall p: process. b@p implies p = boss",
    "forall p, q: process. b@p and b@q implies p = q", "(count p: process. b@p) <= 1",
    "(count p: process. b@p) + (count TOKEN() in flight. true) <= 1",
    "(count p: process. b@p) + (count TOKEN() in flight. true) = 1",
    "forall p: process. b@p implies not exists TOKEN() in flight. true", "b@boss",
    "forall p: process. p = boss or not b@p", "n@boss = 0", "forall p: process. L@p is none",
    "forall p: process. L@p is not none implies L@p.value = 0",
    "forall p: process. Z@p is none or Z@p.value.who = boss",
    "forall p: process. Z@p is not none implies Z@p.value.n <= n@p", "forall p: process. Q@p is empty",
    "forall p: process. forall x in Q@p. x.n = 0", "forall p: process. forall x in Q@p. x.who = p",
    "forall p: process. forall x in Q@p, y ahead. y.n <= x.n", "forall p: process. forall x in Q@p, y ahead. y != x",
    "forall p: process. Q@p.size <= 1", "forall p: process. forall x in Q@p. x.n <= n@p",
    "forall p: process. H@p is empty", "forall p, q: process. q in H@p implies H@p[q].n = 0",
    "forall p, q: process. q in H@p implies H@p[q].who = q", "forall p, q: process. q in H@p implies p = q",
    "forall p: process. p in H@p or n@p = 0", "forall p: process. forall q in H@p. q in S@p",
    "forall p: process. G@p is empty", "forall p: process. forall i in G@p. i <= 1",
    "forall p: process. forall i in G@p. G@p[i] = p", "forall p: process. forall i in G@p. i <= n@p",
    "forall p: process. 0 in G@p implies G@p[0] = boss", "forall p, q: process. Y@p[q] is empty",
    "forall p, q: process. forall i in Y@p[q]. i = 0", "forall p, q: process. Y@p[q].size <= 1",
    "forall p: process. forall q in Y@p. q = p", "forall p, q: process. q in Y@p implies Y@p[q] is not empty",
    "forall p, q: process. not P@p[q]", "forall p, q: process. P@p[q] implies q in S@p",
    "forall p, q: process. q in P@p implies P@p[q]", "forall p: process. P@p[p] implies b@p",
    "forall p, q: process. P@p[q] implies p = q", "forall p: process. (count q: process. P@p[q]) <= 1",
    "forall p, q: process. O@p[q] is none", "forall p, q: process. O@p[q] is none or O@p[q].value = 0",
    "forall p, q: process. O@p[q] is not none implies O@p[q].value <= n@p", "forall p: process. p in S@p",
    "forall p: process. forall q in S@p. q = p", "forall p: process. forall q in S@p. q = p or q = boss",
    "forall p: process. (count q in S@p. true) <= 1", "forall p: process. S@p is not empty",
    "forall p: process. E@p is empty", "forall p: process. E@p.first = 1", "forall p: process. E@p.next <= 2",
    "forall p: process. forall x in E@p. x.n = 0", "forall p: process. forall x in E@p. x.who = p",
    "forall p: process. E@p.size <= 1", "forall p: process. E@p.first + E@p.size = E@p.next",
    "forall p: process. E@p is not empty implies E@p.peek.n <= n@p", "forall p: process. C@p is empty",
    "forall p: process. C@p.size <= 1", "forall p: process. forall q in C@p. q = boss",
    "forall p: process. forall x in C@p, y ahead. x != y", "forall p: process. forall q in C@p. q in S@p",
    "forall p: process. C@p is not empty implies C@p.first = p", "forall p, q: process. J@p[q].k = 0",
    "forall p, q: process. J@p[q].s is empty", "forall p: process. forall q in J@p. q = p",
    "forall p, q: process. forall r in J@p[q].s. r in S@p",
    "forall p, q: process. q in J@p implies J@p[q].s is not empty", "forall A(x, w) from p to q in flight. x = 0",
    "forall A(x, w) from p to q in flight. x <= 1", "forall A(x, w) from p to q in flight. w = q",
    "forall A(x, w) from p to q in flight. p != q", "forall A(x, w) from p to q in flight. p < q",
    "forall A(x, w) from p to q in flight. x <= n@p",
    "forall A(x, w) from p to q in flight. forall A(y, v) in flight ahead. y <= x",
    "forall A(x, w) from p to q in flight. not exists A(y, v) in flight ahead. true",
    "forall A(x, w) from p to q in flight. not exists B(...) in flight ahead. true",
    "forall B(s) from p to q in flight. p in s", "forall B(s) from p to q in flight. q in s",
    "forall B(s) from p to q in flight. forall r in s. r = p", "forall B(s) from p to q in flight. s is not empty",
    "forall B(s) from p to q in flight. forall r in S@p. r in s",
    "forall B(s) from p to q in flight. forall TOKEN() in flight ahead. false",
    "forall TOKEN() from p to q in flight. p != q", "forall TOKEN() from p to q in flight. q = boss",
    "not exists TOKEN() in flight. true", "(count TOKEN() in flight. true) <= 1",
    "forall p: process. (count TOKEN() from a to c in flight. c = p) <= 1",
    "forall TOKEN() from p to q in flight. not b@p", "forall TOKEN() from p to q in flight. p in S@q",
    "forall TOKEN() from p to q in flight. told(p, q)", "forall p, q: process. told(p, q) implies q in S@p",
    "forall p: process. heard(p) implies b@p", "forall p: process. not heard(p)", "forall p: process. seen(p) = n@p",
    "forall p: process. seen(p) <= n@p", "forall p: process. seen(p) = 0 or heard(p)",
    "forall p: process. n@p <= seen(p)",
)  # fmt: skip

NETWORKS = (
    "reliable, reordering", "reliable, fifo", "lossy, reordering", "lossy, fifo", "duplicating, fifo",
    "lossy, duplicating, fifo", "lossy, duplicating, reordering",
)  # fmt: skip

CLAIMED = 8
"""Invariants of a link."""


def text_about_maps(seed: int) -> str:
    """The text of a machine, a protocol, a scope and a link."""
    one = Random(seed)
    network = one.choice(NETWORKS)
    lines = [HEAD.replace("NETWORK", network).rstrip()]
    for head, more in HANDLERS.items():
        if head != "periodically two" or one.random() < 0.4:
            guard = one.choice(GUARDS) if head.startswith("on go") else ""
            lines += [f"  {head}{guard}:", *_body(one, (*STEPS, *more * 5))]
    lines += ["scope small of drawn:", f"  processes {one.choice((2, 2, 3))}", f"  go {one.choice((1, 2))} per process"]
    lines += ["  ticks 1", *(f"  {said} 1" for word, said in FAULTS.items() if word in network)]
    lines.append("conforms drawn to anything:")
    lines += [f"  {event} is {one.choice(targets)}" for event, targets in CLAUSES.items() if one.random() < 0.7]
    for at, body in enumerate(one.sample(INVARIANTS, CLAIMED)):
        lines.append(f"  {'between steps' if one.random() < 0.3 else 'invariant'} i{at}: {body}")
    return "\n".join(lines) + "\n"


FAULTS = {"lossy": "losses", "duplicating": "duplicates"}


def _body(one: Random, steps: tuple[str, ...]) -> Iterator[str]:
    for step in one.sample(steps, one.choice((1, 1, 2, 3))):
        if one.random() < 0.3:
            yield f"    if {one.choice(CONDITIONS)}:"
            yield from written(step, "      ")
        else:
            yield from written(step, "    ")
