"""Executions: all of a given size, their kinds, and whether a protocol generates them."""
