"""Certificates: proved statements with everything that a recheck needs, so that the prover need not be trusted.

Begin with `manifest`, then `build` (a certificate is made) and `recheck` (a certificate is checked).
"""
