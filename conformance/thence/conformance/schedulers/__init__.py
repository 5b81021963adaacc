"""Where schedules come from: random and guided schedulers, recorded and directed schedules, and what they reach.

Begin with `schedulers`.
"""
