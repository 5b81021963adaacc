"""Generated code: how a packed state is read, changed, hashed, stored and expanded, as LLVM instructions.

Begin with `assembly` (instructions as text) and `emit` (the hand that writes them), then `expansion` (the inner loop of
the search).
Knows nothing of the interpreter: it is told layouts and table addresses.
"""
