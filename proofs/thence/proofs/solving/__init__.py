"""Obligations discharged: solver processes, cached answers, models, unsatisfiable cores, stability.

Begin with `discharge`, then `solver`. Knows nothing of theories and machines.
"""
