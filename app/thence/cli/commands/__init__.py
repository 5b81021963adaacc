"""The commands, in a folder for each heading of `thence -h`: `thence verify` is the function `verify` of the module
`verify` in the folder of its heading, and its parameters are the options.

A module is imported when its command runs; `thence.cli.app` has the help texts, `thence.cli.help.groups` the headings
with their folders. `thence.cli` has the modules that several commands share.
"""
