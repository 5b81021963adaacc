"""Many cases of one system: sought, judged, shortened, run again; what a system claims, and under which assumptions.

Begin with `conform`, then `trials`. Knows nothing of campaigns and of the command line.
"""
