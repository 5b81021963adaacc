"""Costs of systems, counted: sizes, operations, steps of latency; compared with Table 1 of Almeida's paper."""
