"""What invariants are made of: atoms and formulas from a machine's text, and the clauses over them.

Begin with `vocabulary`. Knows neither states that are reached nor solvers.
"""
