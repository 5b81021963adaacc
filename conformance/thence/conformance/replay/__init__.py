"""Events held against a protocol: in lock step, or by the set of states that what was seen leaves possible.

Begin with `replay` (lock step), then `state_estimate`; `findings` is what can be wrong with a case.
Knows nothing of systems under test.
"""
