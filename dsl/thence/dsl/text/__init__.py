"""From characters to the syntax tree of a file, or to the diagnostics of a text that has none.

Begin with `syntax` (the tree), then `parse` (the way to it). Knows nothing of names, types or meaning.
"""
