"""Output for readers: the answer first, in lines that fit the terminal.

Begin with `printing`: an `Output` becomes diagnostics, verdicts, counterexamples and a sum. `blocks` puts results
together as rows, `sums` counts them, `layout` fits rows into columns, `colours` paints, `progress` says how far long
work is. Nothing here knows of commands.
"""
