"""The meaning of a protocol, and of a machine over concrete messages: its steps.

Begin with `interpreter` (one process), then `system` (processes, network, workload). `evaluate`, `places` and
`execute` are the one definition of expressions and statements. Knows nothing of searches and solvers.
"""
