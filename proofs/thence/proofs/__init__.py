"""Obligations, solvers, countermodels and exhaustive exploration."""
