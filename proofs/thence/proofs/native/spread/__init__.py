"""The search in files, level by level, spread over workers that see the same folder.

Begin with `tasks` (what a worker does: a function of files), then `search` (what the driver does between the tasks).
Knows nothing of who the workers are: see `explore.crew`.
"""
