"""Links for any number of processes and messages: handlers as formulas, and one obligation for each step.

Begin with `shapes` (values as formulas) and `states`, then `execution` (handlers) and `obligations`; `prover` gives the
verdict, `failure` shows where an obligation fails. Knows nothing of scopes and of explored runs: `proofs.scopes.link`
checks the same statement there.
"""
