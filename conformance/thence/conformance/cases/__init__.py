"""What a case is made of: a network, a schedule, the scheduler that draws it, its file; and counts over many cases.

Begin with `schedule`, then `network`. Knows nothing of systems under test and of protocols.
"""
