"""Maps in packets, in sets and in queues, broadcasts, and loops that change entries: formulas against the interpreter.

The states and the comparison are those of `test_execution`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.proofs.refinement.link_invariants import true_of
from tests.proofs.refinement.test_execution import Drawn, Reader, compared, drawn_text, linked, written

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.values import Message
from thence.proofs.refinement.effects import takes_out_its_own
from thence.proofs.refinement.entrywise import entries_of
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.states import any_state

HEAD = """
machine anything:
  delivery broadcast
  function clock(p: process, k: process): nat
  relation told(p: process, m: message)
  transition causal_send(m):
    require exists p. to(m, p)
    forall p, k: clock(p, k) := clock(p, k) + if p = src(m) and k = p then 1 else 0
  transition deliver(m, p):
    require sent(m) and to(m, p)
    forall k: clock(p, k) := max(clock(p, k), clock(src(m), k))
  transition tell(p: process, m: message):
    require not told(p, m)
    told(p, m) := true
  prove no_creation

protocol drawn:
  delivery broadcast
  network reliable, reordering
  record Held: m: message; v: map process to nat
  message MSG(m: message, v: map process to nat) carries m
  message MATRIX(x: map process to map process to nat, l: option of process)
  message HELD(h: Held, s: set of process, q: queue of Held)
  state:
    n: nat
    V: map process to nat
    W: map process to nat
    X: map process to map process to nat
    S: set of process
    H: set of Held
    G: set of map process to nat
    Q: queue of Held
    L: option of process
"""

LINK = """
conforms drawn to anything:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m, self)
  receive HELD(h, s, q) from j is tell(j, h.m), when self in s
  invariant one: forall MSG(m, v) from p to q in flight. sent(m) and v[p] <= V@p[q] or to(m, q)
  invariant two: exists MATRIX(x, l) from p to q in flight. x[p] = V@q or l is none and x[q][p] = n@q
  invariant three: forall HELD(h, s, q) from a to b in flight. h in H@b or a in s or h in q
  invariant four: forall p: process. forall h in H@p. (forall k: process. h.v[k] <= V@p[k]) or delivered(h.m, p)
  invariant five: exists p: process. V@p in G@p or exists h in Q@p. h in H@p and h.v[p] = n@p
  invariant six: forall p: process. G@p is empty or W@p = V@p or exists g in G@p. g[p] = clock(p, p)
  invariant seven: forall p, q: process. p = q or H@p = H@q or X@p[q] = W@q
  invariant eight: exists h in H@(src(m)). m = h.m and told(src(m), m)
"""
LINK = LINK.replace("eight: exists h", "eight: exists m: message. exists h")

CONDITIONS = (
    "V = W", "V[self] < n", "X[self] = V", "V in G", "G is empty", "H is not empty", "exists h in H. h.v[self] = n",
    "forall h in H. forall k: process. h.v[k] <= V[k]", "exists h in Q. h in H", "G = {V, W}", "{V} = {W}",
    "Q is not empty and Q.first.v = W", "L is none", "self in S", "exists g in G. g[self] > W[self]", "X is empty",
    "H is empty or exists h in H. h.m.src = self",
)  # fmt: skip
STEPS = (
    "V := W", "V[self] := V[self] + 1", "X[self] := V", "W.clear()", "n := V[self]", "G.add(V)", "G.remove(W)",
    "G := {V, W}", "S.add(self)", "L := some(self)", "G.clear()", "if Q is not empty: H.add(Q.first)",
    "if Q is not empty: H.remove(Q.first); Q.pop()", "send MATRIX(X, L) to self", "X.remove(self)", "G.add(X[self])",
    "for k in process: V[k] := max(V[k], W[k])", "for k in S: V[k] := W[k]", "for k in W: V[k] := 0",
    "for k in process: if V[k] < W[k]: V[k] := V[k] + 2", "for k in process: W[k] := V[self]",
    "for k in process: for i in process: X[k][i] := max(X[k][i], V[i])", "for k in S: X[self][k] := n",
    "for k in process: for i in S: X[i][k] := X[i][k] + W[k]", "for k in process: V[k] := V[k] - W[k]",
    "for k in process: V[k] := max(V[k], n); for i in process: if i != self: X[i][k] := X[i][k] + W[k]",
    "for k in S: if W[k] < n: V[k] := V[k] + 1; X[k] := W", "for k in process: X[k] := V",
    "for k in V: X[k] := X[self]", "for k in process: send MATRIX(X, some(k)) to k",
    "for p in S: send MATRIX(X, L) to p", "for k in process: if k in S: W[k] := if V = W then 1 else n",
    "for i in Q: if i.v[self] > n: n := i.v[self]", "for i in Q: if i.v = V: Q.remove(i); n := n + 1",
    "for i in Q: if i.v[self] = n: V := i.v", "if Q is not empty: Q.push(Q.first); Q.pop()",
    "for i in Q: if i.v[self] = n: V := i.v; Q.remove(i); return", "for k in process: if V[k] < n: W[k] := n; return",
    "for i in Q: if i in H or i.v = V: n := n + 1; return",
    "for k in process: if X[k] = W: V[k] := 0; S.add(k); return",
    "if true: let old = V; for k in process: V[k] := old[self]", "for k in V: send MATRIX(X, L) to k",
)  # fmt: skip
WITH_MESSAGE = (
    "H.add(Held(m: m, v: V))", "H.remove(Held(m: m, v: W))", "Q.push(Held(m: m, v: W))", "deliver m",
    "Q.remove(Held(m: m, v: W))", "Q.remove(Held(m: m, v: V)); Q.push(Held(m: m, v: V))",
    "for p in m.dsts: send MSG(m, V) to p", "for p in process: send HELD(Held(m: m, v: W), S, Q) to p",
    "send HELD(Held(m: m, v: X[self]), m.dsts, Q) to m.src", "if self in m.dsts: deliver m", "S := m.dsts",
    "for p in m.dsts: V[p] := W[p]", "for p in m.dsts: if p != self: send MSG(m, X[p]) to p",
    "if Held(m: m, v: V) in H: V.clear()", "H := {Held(m: m, v: V), Held(m: m, v: W)}",
)  # fmt: skip
HANDLERS = {
    "on causal_send(m):": WITH_MESSAGE,
    "on receive MSG(m, v) from j:": (
        "V := v", "for k in process: V[k] := max(V[k], v[k])", "H.add(Held(m: m, v: v))", "G.add(v)", "X[j] := v",
        "H.remove(Held(m: m, v: v))", "for p in process: send MSG(m, v) to p", *WITH_MESSAGE,
    ),
    "on receive MATRIX(x, l) from j:": (
        "X := x", "for k in process: for i in process: X[k][i] := max(X[k][i], x[k][i])", "G.add(x[j])", "L := l",
        "for k in x: V[k] := x[k][self]", "for k in process: send MATRIX(x, l) to k", "V := x[self]",
    ),
    "on receive HELD(y, s, q) from j:": (
        "H.add(y)", "H.remove(y)", "Q := q", "S := s", "G.add(y.v)", "Q.push(y)", "Q.remove(y)", "V := y.v",
        "send HELD(y, s, q) to j", "for k in s: V[k] := y.v[k]", "for p in s: send HELD(y, s, Q) to p",
        "if y in H: deliver y.m",
    ),
    "periodically:": (),
}  # fmt: skip


def drawn_link(seed: int) -> ir.Link:
    handlers = {head: (*more, *more, *STEPS) for head, more in HANDLERS.items()}
    return linked(drawn_text(Random(seed), HEAD, handlers, CONDITIONS) + LINK)


@pytest.mark.long(but=("range(0, 6)",))
@pytest.mark.parametrize("seeds", [range(start, start + 6) for start in range(0, 18, 6)], ids=str)
def test_random_protocols(seeds: range) -> None:
    happened: Counter[str] = Counter()
    for seed in seeds:
        happened += compared(drawn_link(seed), range(10))
    assert happened["alike"] > 60
    assert happened["refused"]
    assert not happened["longer"]


def test_invariants() -> None:
    link = drawn_link(0)
    state = any_state(link)
    formulas = {one.name: Evaluation(link.protocol, state, prefix="i").formula(one.body) for one in link.invariants}
    happened: Counter[tuple[str, bool]] = Counter()
    for number in range(50):
        drawn = Drawn(link, 2, Random(number))
        reader = Reader(drawn, drawn.structure, {})
        true = true_of(link, drawn.locals, drawn.packets, drawn.structure, drawn.messages)
        for name, formula in formulas.items():
            assert reader.truth(formula) == true[name], name
            happened[name, true[name]] += 1
    assert len(happened) >= 2 * len(formulas) - 2


@pytest.mark.parametrize(
    ("loop", "entrywise"),
    [
        ("for k in process: V[k] := max(V[k], W[k])", True),
        ("for k in S: if V[k] < n: X[self][k] := V[k]", True),
        ("for k in process: for l in process: X[l][k] := X[l][k] + 1", True),
        ("for k in process: V[k] := V[self]", False),
        ("for k in process: V[self] := V[self] + W[k]", False),
        ("for k in V: V[k] := 0", False),
        ("for k in process: if V = W: V[k] := 0", False),
        ("for k in process: for l in process: X[k][k] := l_is(l)", False),
        ("for k in process: for l in process: X[self][l] := W[k]", False),
        ("for k in process: X[k][self] := X[self][k]", False),
        ("for k in process: V[k] := count p: process. V[p] > 0", False),
        ("for k in process: V[k] := n; n := n + 1", False),
        ("for k in process: V[k] := max(V[k], n); W[k] := W[k] + 1", True),
        ("for k in process: V[k] := n; X[self][k] := max(X[self][k], 1)", True),
        ("for k in process: V[k] := W[k]; W[k] := 0", False),
        ("for k in process: V[k] := 0; W[k] := V[k]", False),
        ("for k in W: V[k] := 0; W[k] := 0", False),
        ("for k in process: V[k] := 0; V[k] := 1", False),
        ("for k in process: V[k] := 0; n := 1", False),
    ],
)
def test_which_loops_change_entries(loop: str, entrywise: bool) -> None:
    """A round that reads the entry of another one depends on the order of the rounds."""
    loop = loop.replace("l_is(l)", "W[l]")
    head, _, body = loop.rpartition(": ") if "; " in loop else (loop, "", "")
    text = f"    {head}:\n      {body.replace('; ', chr(10) + '      ')}" if body else f"    {loop}"
    loaded = load_bytes(Path("drawn.thence"), f"{HEAD}  on causal_send(m):\n{text}\n".encode())
    assert loaded.specification is not None, [(one.message, one.span.line) for one in loaded.diagnostics]
    ((handler, *_), *_) = (protocol.handlers for protocol in loaded.specification.protocols)
    (statement,) = handler.body
    assert isinstance(statement, ir.For)
    assert bool(entries_of(statement)) is entrywise


ALONE = (
    "for k in process: V[k] := max(V[k], n); for i in process: if i != self: X[i][k] := X[i][k] + W[k]",
    "for k in S: if W[k] < n: V[k] := V[k] + 1; X[k] := W",
    "for k in process: if V[k] < n: W[k] := n; return",
    "for k in process: if k in V: S.add(k); deliver m; return",
    "for i in Q: if i.v[self] < n: V := i.v; Q.remove(i); return",
    "for i in Q: if Q.first != i: n := n + 1; Q.pop(); return",
)  # fmt: skip
"""Loops that are executed without a cut; what follows them shows whether they return."""


@pytest.mark.parametrize("loop", ALONE)
def test_loops_without_a_cut(loop: str) -> None:
    lines = [*written(loop, "    "), "    n := n + 5"]
    text = f"{HEAD}  on causal_send(m):\n" + "\n".join(lines) + "\n" + LINK
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, [(one.message, one.span.line) for one in loaded.diagnostics]
    (link,) = loaded.specification.links
    happened = compared(link, range(40))
    assert happened["alike"] > 5
    assert not {"longer", "unsupported"} & {*happened}


# --- loops that take out what they visit ----------------------------------------------------------

VISITS = (
    ("if n < 2: COLLECTION.remove(i); n := n + 1", True),
    ("if n != 1: n := n + 1; COLLECTION.remove(i) else: n := n + 1", True),
    ("COLLECTION.remove(i); V[self] := V[self] + 1; for k in process: W[k] := V[k]", True),
    ("COLLECTION.remove(i); COLLECTION.remove(i)", False),
    ("COLLECTION.remove(i); if n < 1: COLLECTION.clear()", False),
    ("for k in process: COLLECTION.remove(i)", False),
    ("if n < 2: COLLECTION.remove(OTHER)", False),
    ("COLLECTION.remove(i); tidy()", False),
)


def visiting(collection: str, item: str, body: str) -> ir.Specification:
    """A loop with this body, which counts in `gone` the rounds that begin without their element."""
    first = "if i not in COLLECTION: gone := gone + 1"
    lines = ["    for i in COLLECTION:", *written(first, "      ")]
    for step in split(body):
        lines += written(step, "      ")
    head = HEAD.replace("    n: nat\n", "    n: nat\n    gone: nat\n")
    tidy = "  procedure tidy():\n    if n = 0: COLLECTION.clear()\n"
    text = f"{head}{tidy}  on causal_send(m):\n" + "\n".join(lines) + "\n" + LINK
    content = text.replace("COLLECTION", collection).replace("OTHER", item)
    loaded = load_bytes(Path("drawn.thence"), content.encode())
    assert loaded.specification is not None, [(one.message, one.span.line) for one in loaded.diagnostics]
    return loaded.specification


def split(body: str) -> list[str]:
    """The steps of a body; what stands behind `if` and `for` belongs to these."""
    steps: list[str] = []
    for part in body.split("; "):
        steps.append(part)
        if part.startswith(("if ", "for ")):
            steps[-1] = "; ".join([part, *body.split(part + "; ")[1:]])
            break
    return steps


@pytest.mark.parametrize(("collection", "item"), [("Q", "Held(m: m, v: V)"), ("H", "Held(m: m, v: V)"), ("S", "self")])
@pytest.mark.parametrize(("body", "own"), VISITS)
def test_an_element_is_there_when_its_round_begins(collection: str, item: str, body: str, own: bool) -> None:
    """Where all that rounds do is to take out their own element, by the text; in runs of other loops it may be gone."""
    specification = visiting(collection, item, body)
    (link,) = specification.links
    ((handler, *_), *_) = (protocol.handlers for protocol in specification.protocols)
    (loop,) = handler.body
    assert isinstance(loop, ir.For)
    assert takes_out_its_own(link, loop) is own
    interpreter = Interpreter(link.protocol, 3)
    gone = [variable.name for variable in link.protocol.state].index("gone")
    lost = 0
    for number in range(40):
        drawn = Drawn(link, 3, Random(number))
        for process in range(3):
            state = [*drawn.locals[process]]
            state[gone] = 0
            state[gone + 1 :] = [doubled(value) for value in state[gone + 1 :]]
            after = interpreter.step(process, tuple(state), Message(process, 9, (process,))).state
            lost += after[gone]
    assert lost == 0 if own else lost or "clear" not in body


def doubled(value: Any) -> Any:
    """A queue of records with each element twice; any other value as it is."""
    is_queue = isinstance(value, tuple) and value and isinstance(value[0], tuple) and isinstance(value[0][0], Message)
    return value + value if is_queue else value
