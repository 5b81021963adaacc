"""Executions: all of a given size, their kinds, and whether a protocol generates them.

Begin with `ordering`, then `kinds` and `generation`.
"""
