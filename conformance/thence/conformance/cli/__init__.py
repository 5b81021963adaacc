"""The command line, `thence`."""

from thence.conformance.cli.app import main

__all__ = ["main"]
