"""A protocol stepped through by hand: what can happen, what a step changes, what a property says.

Begin with `session`. Nothing here reads, prints or asks: the command `thence repl`, and whatever else shows a run, drive
a session and show what it answers.
"""
