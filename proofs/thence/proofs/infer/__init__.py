"""Invariants of machines, found: what is proposed here is proved by `machine`, and is never trusted.

Begin with `search.inference`. Samples of reachable states propose clauses; finite universes refuse those that no
induction keeps; the prover of machines has the last word. Knows nothing of protocols.
"""
