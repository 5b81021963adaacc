"""The colours of `.thence` texts where no parser runs: one list of rules, for Pygments and for TextMate grammars.

Begin with `rules`. Knows nothing of the language but its words.
"""
