"""The search for the invariants of a machine, from its samples to the proof.

Begin with `inference`. `strengthening` closes the goals in small universes, with clauses that `proposals` has.
"""
