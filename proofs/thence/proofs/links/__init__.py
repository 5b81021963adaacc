"""Protocols with their machines running along: each event of a step is replayed in the machine.

Begin with `link_run`, the meaning of a link; `following` numbers what it comes to, for engines.
"""
