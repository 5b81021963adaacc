"""Systems under test: a class of Python, a program in any language, a protocol played by the interpreter.

Begin with `subject` (which system a name means), then `contract` (what a foreign program answers).
Knows nothing of schedules and of judgement.
"""
