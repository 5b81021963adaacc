"""What `--help` shows and what a shell completes. Begin with `page`.

`groups` is the order of the commands, `examples` the end of each page, `values` the names and completions of
arguments and options, `names` what a file declares, `shells` the scripts. Nothing here imports the language: help and
completion start as fast as the interpreter.
"""
