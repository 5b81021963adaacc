"""A protocol stepped through by hand: what can happen, what a step changes, what a property says.

Begin with `session`. Nothing here reads, prints or asks: `thence repl`, and whatever else shows a run, drives a session
and shows what it answers.
"""
