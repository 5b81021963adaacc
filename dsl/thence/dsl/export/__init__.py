"""Specifications and runs for other tools: TLA+ modules, ITF traces, pytest files.

Begin with `tla.protocol`. Nothing else in the language depends on this package.
"""
