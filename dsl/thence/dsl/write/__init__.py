"""From trees back to text: canonical files with their comments, and expressions in messages.

Begin with `format`. Knows nothing of checks and runs.
"""
