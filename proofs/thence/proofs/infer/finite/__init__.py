"""Small universes: states that random runs reach, runs against clauses and goals, and steps that lose what is true.

Begin with `steps`. A solver of its own decides each question there; nothing here says anything of larger universes.
"""
