"""A protocol that hands every message over as it comes, so that nothing is in order; tests add to it what they need."""

EAGER = """protocol eager:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m):
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    deliver m
"""
