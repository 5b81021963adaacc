"""Protocols with their machines running along: each event of a step is replayed in the machine.

Begin with `link_run`, the meaning of a link; `following` numbers what it comes to, for engines; `breaking` searches for
a run that breaks a link of which an obligation fails.
"""
