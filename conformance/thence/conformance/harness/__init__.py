"""One case: a system under test, a schedule, a network, and the judgement of what the system did.

Begin with `harness`, then `schedule` and `network`. Knows nothing of campaigns and of the command line.
"""
