"""Invariants of links, found: what variables and packets of a protocol have to do with the relations of its machine.

Begin with `inference`. Nothing here is trusted: what is found, the prover of links proves. The room does not know how
files are written.
"""
