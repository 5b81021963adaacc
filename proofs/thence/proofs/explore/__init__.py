"""Exhaustive exploration of a protocol in a finite scope, by the interpreter.

Begin with `exploration` (what is asked, and what comes of it), then `interpreted` (the search that defines it).
Knows nothing of native code and of what files state.
"""
