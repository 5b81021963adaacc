"""Bounded model checking by Z3: runs of up to k steps of a machine, and of a protocol in a scope.

Begin with `search` (protocols) and `machine`. `unfolding` turns the steps of a protocol into a circuit; `expressions`
and `statements` are the symbolic counterparts of the interpreter.
"""
