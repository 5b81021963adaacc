"""Exhaustive exploration of a protocol in a finite scope, by the interpreter.

Begin with `exploration` (a request and its result), then `interpreted` (the search that defines the result).
Knows nothing of native code and of what files state.
"""
