"""The commands: the function `verify` of the module `verify` is `thence verify`, and its parameters are the options.

A module is imported when its command runs; `thence.cli.app` has the help texts. `thence.cli` has the modules that
several commands share.
"""
