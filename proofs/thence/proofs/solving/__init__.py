"""Obligations discharged: solver processes, cached answers, models, unsatisfiable cores, stability.

Begin with `session`, then `discharge` and `solver`. Knows nothing of theories and machines.
"""
