"""The command line, `whence`."""

from whence.conformance.cli.app import main

__all__ = ["main"]
