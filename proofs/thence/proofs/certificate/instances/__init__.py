"""Proof objects for obligations with quantifiers that SMTInterpol does not instantiate itself.

The instances are found here, by Z3; SMTInterpol proves what follows from them, which has no quantifiers; its proof and
the rules for quantifiers are put together to one proof of the obligation. Nothing here is trusted: the checker
reads the whole proof, and the obligation. Begin with `proofs`, then `ground`, `search` and `composition`.
"""
