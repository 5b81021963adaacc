"""From characters to the syntax tree of a file, and what is said when they do not fit.

Begin with `syntax` (the tree), then `parse` (the way to it). Knows nothing of names, types or meaning.
"""
