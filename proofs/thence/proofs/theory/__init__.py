"""Theorems about executions: their obligations, proofs and countermodels.

Begin with `prover`. Knows nothing of machines and protocols.
"""
