"""A small protocol on trees of any size: names walk up to the root. And its faults."""

WALKS = """
machine walks:
  delivery off
  constant function root(): process
  constant function nxt(x: process, y: process): process
  constant relation btw(x: process, w: process, z: process)
  relation known(p: process, q: process)
  axiom begins: forall x, z. btw(x, x, z)
  axiom onward: forall x, w, z. btw(x, w, z) and w != z implies btw(x, nxt(w, z), z)
  transition begin(p: process):
    known(p, p) := true
  transition arrive(p: process, q: process):
    require exists w. known(p, w) and w != root() and nxt(w, root()) = q
    known(p, q) := true
  invariant on_the_way: forall p, q. known(p, q) implies btw(p, q, root())

protocol walk:
  network reliable, reordering, tree
  role top: process = 0
  message UP(p: process)
  message PING()
  message PONG()
  state:
    up: process = if self = top then self else next_hop[top]
    heard: set of process
  on walk():
    if self != top: send UP(self) to up
  on call():
    for q in neighbors: send PING() to q
  on receive UP(p) from j:
    heard.add(p)
    if self != top: send UP(p) to up
  on receive PING() from j:
    if self != top and next_hop[top] = j: heard.add(j)
    send PONG() to j
  on receive PONG() from j: heard.add(j)

scope four of walk:
  processes 4
  walk 0, 0, 1, 1
  call 0, 1, 0, 0
  tree 0 to 1; 1 to 2, 3

conforms walk to walks:
  walk() is begin(self)
  receive UP(p) from j is arrive(p, self)
  invariant upwards: forall p: process. up@p = nxt(p, root())
  invariant under_way: forall UP(p) from q to r in flight. known(p, q) and q != root() and r = nxt(q, root())
  expect proved
"""

FAULTS = (
    ("    if self != top: send UP(p) to up", "    if self != top: send UP(p) to top"),
    ("    if self != top: send UP(p) to up", "    send UP(p) to up"),
    ("    if self != top: send UP(p) to up", "    if self != j: send UP(p) to j"),
    ("    if self != top: send UP(self) to up", "    for q in neighbors: send UP(self) to q"),
    ("for q in neighbors: send PING() to q", "for q in process: send PING() to q"),
    ("for q in neighbors: send PING() to q", "for q in process: if q != self: send PING() to q"),
    ("    if self != top and next_hop[top] = j:", "    if next_hop[top] = j:"),
    ("    send PONG() to j", "    send PONG() to top"),
    ("    up: process = if self = top then self else next_hop[top]", "    up: process = next_hop[top]"),
    ("    up: process = if self = top then self else next_hop[top]", "    up: process = self"),
    ("  role top: process = 0", "  role top: process = 1"),
    ("and w != root() and nxt", "and nxt(w, root()) != root() and nxt"),
)
"""None of these is a link, in some tree."""

NO_TREES = (
    "forall x, y. x != y implies nxt(x, y) = y",
    "forall x, y, z. btw(x, y, z) or btw(y, x, z) or btw(x, z, y)",
    "forall x. nxt(root(), x) = root()",
    "forall x, y, z. btw(x, y, z) implies x = y or y = z",
)
"""Axioms that are false of some tree."""
