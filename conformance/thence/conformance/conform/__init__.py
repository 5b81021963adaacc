"""Many cases of one system: sought, judged, shortened, run again; its claims and their assumptions.

Begin with `conform`, then `trials`. Knows nothing of campaigns and of the command line.
"""
