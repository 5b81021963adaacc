"""Mutants: what they restate, and what they edit, in the place of what their subject has."""
