"""One module for each command: its options and its body.

Begin with any of them; `thence.cli.session` has what they share.
"""
