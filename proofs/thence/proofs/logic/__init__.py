"""Formulas, proof obligations and finite structures, and their SMT-LIB2 text.

Begin with `formula` and `obligation`. `structure` evaluates formulas without a solver. Nothing here solves anything.
"""
