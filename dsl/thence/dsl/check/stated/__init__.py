"""What a protocol states, checked: `formulas` over the states of all processes, and `claims` of built-in properties.

Knows nothing of handlers.
"""
