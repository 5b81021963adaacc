"""Fairness: which runs count for `eventually delivered`, and how a fair run can leave a message undelivered.

Begin with `fairness`, then `tails`. Knows nothing of the engines that reach states, and nothing of solvers.
"""
