"""Names: what a file declares, which place names what, and what the language brings.

Begin with `symbols`, then `names`. Knows trees and types only, nothing of the protocol.
"""
