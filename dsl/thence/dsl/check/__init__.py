"""From the syntax tree to the typed IR: names, types, and the rules of each kind of declaration.

Begin with `elaborate`, which calls a module for each kind of declaration; `terms` has their common parts.
Knows nothing of how a specification is run or proved.
"""
