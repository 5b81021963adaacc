"""`thence repl`: a protocol stepped through by hand, in a terminal or from a pipe.

Begin with `loop`. What a run is and what can be asked of it is in `thence.stepping`; here are the commands and their
words.
"""
