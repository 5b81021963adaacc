"""Machines: their statements as obligations, proved for any number of processes or refuted by a run.

Begin with `obligations`, then `prover`. `steps` has the statements about steps; `goals`, `unrolling` and `reachability`
look for runs. Knows nothing of protocols.
"""
