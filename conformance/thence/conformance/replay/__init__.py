"""Events held against a protocol: in lock step, or by the set of states that what was seen leaves possible.

Begin with `replay` (lock step), then `state_estimate`. Knows nothing of systems under test.
"""
