"""The command line, `thence`."""

from thence.cli.app import main

__all__ = ["main"]
