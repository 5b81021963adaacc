"""Events held against a protocol: in lock step, or by a state estimate where they are partially observed.

Begin with `replay` (lock step), then `state_estimate`; `findings` has the outcome of a case.
Knows nothing of systems under test.
"""
