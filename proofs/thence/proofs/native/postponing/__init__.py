"""The reduction `delay`: which steps are postponed, what must come before others, and whether that loses states.

Begin with `right_movers`; `plans` tells native code of it, `transitions` does the same by the interpreter.
"""
