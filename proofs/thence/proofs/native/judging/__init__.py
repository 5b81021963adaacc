"""What the interpreter judges of the states that native code reaches, and the runs that show what it finds.

Begin with `kinds` (which states are judged, one for all that are alike), then `judge`. Knows nothing of who begins a
search, and begins it again.
"""
