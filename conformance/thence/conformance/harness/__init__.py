"""One case run and judged: a system, a schedule, a network; where guided schedules come from, and what they reach.

Begin with `harness`. Knows nothing of runs of many cases, which are in `conform`.
"""
