"""Machines: their statements as obligations, proved for any number of processes or refuted by a run.

Begin with `obligations`, then `prover`. Knows nothing of protocols.
"""
