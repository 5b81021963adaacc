"""A protocol of turns, and a machine that orders its processes: the first may go, then the next one."""

TURNS = """
protocol turns:
  message GO()
  state:
    done: bool = false
    heard: set of process = empty
  on act() when not done and (forall p: process. p < self implies p in heard):
    done := true
    for p in process: if p != self: send GO() to p
  on receive GO() from j:
    heard.add(j)

machine in_turn:
  delivery off
  sort process ordered
  relation used(p: process)
  transition use(p: process):
    require not used(p) and forall q. q < p implies used(q)
    used(p) := true
  invariant down: forall p, q. used(p) and q < p implies used(q)

scope three of turns:
  processes 3
  act 1 per process

conforms turns to in_turn:
  act() is use(self)
  invariant used: forall p: process. done@p iff used(p)
  invariant heard: forall p, q: process. q in heard@p implies used(q)
  invariant flying: forall GO() from p to q in flight. used(p)
  expect proved
"""

FAULTS = (
    ("p < self implies p in heard", "self < p implies p in heard"),
    ("p < self implies p in heard", "p in heard implies p < self"),
    ("forall q. q < p implies used(q)", "forall q. p < q implies used(q)"),
)
"""The wrong way round, or not at all."""
