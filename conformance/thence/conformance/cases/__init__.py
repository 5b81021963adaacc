"""The parts of a case: network, schedule, scheduler, file; and counts over many cases.

Begin with `schedule`, then `network`. Knows nothing of systems under test and of protocols.
"""
