"""Certificates: proved statements with everything that a recheck needs, so that nobody has to trust who proved them.

Begin with `manifest`, then `build` (a certificate is made) and `recheck` (a certificate is checked).
"""
